"""What errors propose after a second look at the log."""

import re
import warnings

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.counting.refusals import telling_pattern
from tests.made_logs import long

PARTS = pl.DataFrame(
    [("m", part, q, t, (q + t) % 2) for part in ("a", "b") for q in range(5) for t in range(3)],
    schema=["model", "part", "question", "trial", "category"],
    orient="row",
)


def error_of(frame, **roles):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - its words are compared
        frame.scorio(**roles).avg()
    return str(error.value)


def test_the_column_that_makes_ids_unique_is_named():
    text = error_of(PARTS)
    assert "Do questions share their ids? by=['part'] makes them unique." in text
    assert "trial=None" not in text  # it would count questions of both parts as one
    assert PARTS.scorio(by="part").avg().height == 2
    noted = PARTS.with_columns(
        row=pl.int_range(pl.len()), cell=pl.lit("x"), half=pl.col("question") % 2
    )
    assert "by=['part'] makes" in error_of(noted)
    lower = PARTS.with_columns(split=pl.when(pl.col("question") < 2).then(pl.lit("dev")))
    assert "by=['split', 'part'] makes" in error_of(lower, by="split", question=pl.col("question"))


def test_rows_that_no_column_separates_may_be_there_twice():
    for frame in (PARTS.drop("part"), pl.concat([PARTS, PARTS])):
        assert "Was a file read twice, or does by= lack a key? Keep one row of each" in error_of(
            frame
        )


def test_runs_of_one_model_that_collide_get_a_pattern():
    runs = PARTS.select(
        pl.exclude("part"),
        run="part",
        source=pl.col("part").replace_strict({"a": "logs_v1/x.json", "b": "logs_v2/x.json"}),
    )
    text = error_of(runs)
    assert 'as models of their own with model=r"logs_([^/]+)/", or as one, whose trials' in text
    assert 'as in trial=pl.concat_str("run", "trial", separator="/").' in text
    joined = pl.concat_str("run", "trial", separator="/")
    assert runs.scorio(trial=joined).avg()["trials"].item() == 30
    assert "runs of one model, read them as one, whose" in error_of(runs.drop("source"))


@pytest.mark.parametrize(
    ("first", "second", "pattern"),
    [
        ("logs_v1/a.json", "logs_v2/a.json", "logs_([^/]+)/"),
        ("/x/ada-1.json", "/x/ada-2.json", r"ada-([^/]+)\.json$"),
        ("runs/ada/a.json", "runs/bob/a.json", "runs/([^/]+)/"),
        ("v1/x.eval", "v2/x.eval", r"([^/]+)/x\.eval"),
        ("t-ada-0.0_r_1.json", "t-ada-1.0_r_1.json", "t-ada-([^_/]+)_"),
        ("x/gpt-4_a.json", "x/claude_a.json", r"x/([^/]+)\.json$"),
        ("a/x.json", "a/b/x.json", None),
        ("a/x.json", "a/x.json", None),
    ],
)
def test_a_pattern_tells_two_paths_apart(first, second, pattern):
    assert telling_pattern(first, second) == pattern
    if pattern:
        assert re.search(pattern, first)[1] != re.search(pattern, second)[1]


@pytest.mark.parametrize(
    ("words", "roles", "example"),
    [
        (["C", "I", "I", "P", None], {"success": "C"}, 'missing="I",'),
        ([1, 1, None], {}, "missing=0,"),
        ([True, False, None], {}, "missing=0,"),
        ([-1.0, 2.0, None], {}, "missing=-1.0,"),
    ],
)
def test_the_example_of_missing_is_a_category_of_the_log(words, roles, example):
    log = pl.DataFrame({"model": "m", "question": range(len(words)), "category": words})
    text = error_of(log, trial=None, **roles)
    assert f"a category, as in {example} counts them as such." in text


def test_labels_without_a_failure_get_no_example():
    log = pl.DataFrame({"model": "m", "question": [1, 2], "category": ["C", None]})
    assert "; a category counts them as such." in error_of(log, trial=None, success="C")
    declared = log.with_columns(pl.col("category").cast(pl.Enum(["C", "I"])))
    assert 'as in missing="I", counts' in error_of(declared, trial=None, success="C")


def test_the_command_says_it_in_its_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PARTS.write_parquet("parts.parquet")
    assert main(["rank", "parts.parquet"]) == 1
    assert "--by part makes them unique" in capsys.readouterr().err
    for version in (1, 2):
        folder = tmp_path / f"logs_v{version}"
        folder.mkdir()
        trials = [{"task_id": q, "trial": 0, "reward": q % version} for q in range(5)]
        (folder / "ada.json").write_text(pl.DataFrame(trials).write_json())
    command = ["rank", "logs_v1", "logs_v2", "--model", "ada"]
    assert main(command) == 1
    assert '--model "logs_([^/]+)/", or as one' in capsys.readouterr().err
    assert main(["rank", "logs_v1", "logs_v2", "--model", "(logs_v.)/"]) == 0
    assert main([*command, "--trial", "run || '/' || source || trial"]) == 0


def test_readers_take_the_trial_ids_that_the_error_names(tmp_path):
    for run in (1, 2):
        trials = pl.DataFrame([{"task_id": q, "trial": 0, "reward": q % run} for q in range(5)])
        (tmp_path / f"opus_{run}.json").write_text(trials.write_json())
    joined = pl.concat_str("run", "trial", separator="/")
    log = ps.logs.tau_bench(tmp_path, model=r"(opus)_\d+", trial=joined)
    assert log.avg().select("model", "questions", "trials").rows() == [("opus", 5, 10)]


@pytest.mark.parametrize("name", ["run", "seed", "sample", "attempt", "epoch", "repeat"])
def test_a_column_by_the_name_of_trial_ids_is_offered_where_they_are_not_named(name):
    with pytest.raises(pl.exceptions.ColumnNotFoundError) as error:
        PARTS.rename({"trial": name}).scorio(by="part").avg()
    assert str(error.value).endswith(f"carry no trial id. Are they in {name!r}?")
    with pytest.raises(pl.exceptions.ColumnNotFoundError) as error:
        PARTS.rename({"trial": "place"}).scorio(by="part").avg()
    assert str(error.value).endswith("carry no trial id.")


def board(*, sizes=(50, 40, 30, 20, 10, 5)) -> pl.DataFrame:
    """Six benchmarks whose questions are numbered from 0, four trials of each, without ids."""
    random = np.random.default_rng(1)
    rows = [
        (model, f"bench{place}", question, random.integers(2), seed, random.random().hex())
        for model in ("ada", "bob")
        for place, size in enumerate(sizes)
        for question in range(size)
        for seed in range(4)
    ]
    names = ["model", "benchmark", "question", "category", "seed", "answer"]
    return pl.DataFrame(rows, names, orient="row")


SHARED = (
    "questions have 4 to 24 trials, but 4 in each 'benchmark': if questions of several share their "
    "ids, pass by=['benchmark']"
)
NAMED = (
    "no trial ids are named, and 'seed' has another value in each trial of a question: name it "
    "with trial=, which finds trials that the log has twice"
)


def offered(frame, **roles) -> list[str]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ps.LogWarning)
        frame.lazy().scorio(trial=None, **roles).describe().filter(model="ada").collect()
    return [str(each.message) for each in warned]


def test_questions_that_share_ids_unseen_are_told_by_their_numbers_of_trials():
    log = board()
    # 155 questions: 50 by their ids, and numbers that nobody meant.
    assert log.scorio(trial=None).avg()["questions"].to_list() == [50, 50]
    assert offered(log) == offered(log.drop("seed")) == [SHARED]
    assert offered(log, by="benchmark") == [NAMED]
    assert offered(log.drop("seed"), by="benchmark") == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", ps.LogWarning)
        log.scorio(trial=None).avg()  # reports say nothing
        log.scorio(trial="seed", by="benchmark").describe()


def test_ids_are_offered_where_trials_have_no_other():
    log = board(sizes=(9,)).drop("benchmark")
    assert offered(log) == [NAMED]
    assert offered(log.rename({"seed": "Seed"})) == [NAMED.replace("seed", "Seed")]
    twice = pl.concat([log, log])
    assert offered(twice) == offered(log.filter(seed=0)) == []


def test_an_honest_log_without_ids_is_offered_nothing():
    log = board(sizes=(9,)).drop("benchmark", "seed").with_columns(
        row=pl.int_range(pl.len()), part=pl.lit("x"), passed=pl.col("category") == 1
    )  # fmt: skip
    ragged = log.filter((pl.col("question") > 2) | (pl.col("row") % 4 > 0))
    assert offered(ragged) == offered(ragged.clear()) == offered(ragged.head(9)) == []
    assert offered(ragged.select("model", "question", "category")) == []


@pytest.mark.filterwarnings("always::polars_scorio.LogWarning")
@pytest.mark.parametrize("command", ["summary", "describe", "compare", "rank", "gate"])
def test_the_command_offers_ids_and_strata(command, tmp_path, capsys):
    log, file = board(), tmp_path / "log.csv"
    log.write_csv(file)
    baseline = ["--baseline", "ada", "--margin", "0.1"] if command == "gate" else []
    asked = [command] * (command != "summary") + [str(file), *baseline]
    main(asked)
    said = SHARED.replace("by=['benchmark']", "--by benchmark")
    assert capsys.readouterr().err.count(f"warning: {said}\n") == 1
    main([*asked, "--by", "benchmark"])
    assert "name it with --trial, which finds trials" in capsys.readouterr().err
    main([*asked, "--by", "benchmark", "--trial", "seed"])
    assert "warning" not in capsys.readouterr().err


def test_copies_do_not_hide_a_column_of_trial_ids():
    log = long([[0, 1, 1, 0]] * 20).rename({"trial": "Attempt"})
    twice = pl.concat([log, log.head(5)])
    for rows, nearly in ((log, ""), (twice, "nearly ")):
        with pytest.warns(
            ps.LogWarning, match=f"'Attempt' has another value in {nearly}each trial"
        ):
            rows.scorio(trial=None).describe()
