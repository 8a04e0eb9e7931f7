import gc
import importlib.util
import json
import sys
import zipfile

import polars as pl
import pytest

ZSTD = 93  # the number of zstd among the compressions of zip archives
NAN = float("nan")


def sample(question, epoch, scores, error=None):
    """One entry of summaries.json."""
    known = {
        "id": question,
        "epoch": epoch,
        "input": "1 + 1",
        "target": "2",
        "metadata": {"topic": "sums"},
        "scores": {name: {"value": value, "answer": "2"} for name, value in scores.items()},
        "model_usage": {},
        "completed": True,
    }
    return {**known, "error": error} if error else known


@pytest.fixture
def log(tmp_path):
    """Write a .eval log of some samples."""

    def written(name, *samples, model="openai/gpt-5"):
        header = {"version": 2, "status": "success", "eval": {"task": "sums", "model": model}}
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            archive.writestr("summaries.json", json.dumps(samples))
        return tmp_path / name

    return written


@pytest.fixture
def graded(log):
    grades = {"a": "CCPI", 2: "CINP"}
    samples = [
        sample(question, epoch, {"grade": letter})
        for question, letters in grades.items()
        for epoch, letter in enumerate(letters, 1)
    ]
    unscored = sample("c", 2, {"grade": NAN})
    return log("a.eval", *samples, sample("c", 1, {}, error="boom"), unscored)


def test_failed_and_unscored_samples_have_no_outcome(recipe, graded):
    log = recipe.trials(graded)
    assert log.row(0) == ("openai/gpt-5", "sums", "a", 1, "C", None)
    assert log.columns == ["model", "benchmark", "question", "trial", "category", "error"]
    assert log["question"].to_list() == ["a"] * 4 + ["2"] * 4 + ["c"] * 2
    assert log["category"].to_list() == [*"CCPICINP", None, None]
    assert log["error"].to_list() == [None] * 8 + ["boom", None]


def test_polars_does_not_read_the_summaries(graded):
    with zipfile.ZipFile(graded) as archive, pytest.raises(pl.exceptions.ComputeError, match="'N'"):
        pl.read_json(archive.read("summaries.json"))


def test_the_report_weighs_the_letters_as_inspect_does(graded, printed):
    with pytest.raises(SystemExit, match="question='c': 2 trials"):
        printed(graded)
    # a: 2.5 / 4, 2: 1.5 / 4, c: 0; correct are 2, 1 and 0 of 4, 4 and 2.
    report = printed(graded, "--missing", "I")
    assert "┆ avg        ┆ null ┆ 3         ┆ 10     ┆ 0       ┆ 0.333" in report
    assert "┆ pass_at_k  ┆ 1    ┆ 3         ┆ 10     ┆ 0       ┆ 0.250" in report


def test_one_of_several_scorers_has_to_be_named(recipe, log):
    path = log("b.eval", sample("a", 1, {"exact": 1, "judge": 0.5}))
    with pytest.raises(ValueError, match=r"several scorers, \['exact', 'judge'\]: name one"):
        recipe.trials(path)
    assert recipe.trials(path, "judge")["category"].to_list() == [0.5]


def test_numbers_and_truth_values_become_floats(recipe, log, printed):
    path = log("n.eval", sample("a", 1, {"exact": 1}), sample("a", 2, {"exact": 0}))
    assert recipe.trials(path)["category"].to_list() == [1, 0]
    assert "┆ 0.500" in printed(path)
    path = log("p.eval", sample("a", 1, {"exact": 1}), sample("a", 2, {"exact": 0.5}))
    assert recipe.trials(path)["category"].to_list() == [1.0, 0.5]
    path = log("t.eval", sample("a", 1, {"exact": True}), sample("a", 2, {}, "boom"))
    assert recipe.trials(path)["category"].to_list() == [1.0, None]
    assert "┆ 0.500" in printed(path, "--missing", "0")


def test_a_log_of_failures_alone_is_read(recipe, log):
    log = recipe.trials(log("f.eval", sample("a", 1, {}, "boom")))
    assert log.schema["category"] == pl.String
    assert log["category"].to_list() == [None]


def test_a_task_that_was_retried_is_found(recipe, graded, log):
    log("b.eval", sample("a", 1, {"grade": "C"}))
    both = recipe.trials(graded.parent).scorio(success="C", missing="drop", by="benchmark")
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        both.pass_at_k(1)


@pytest.mark.skipif(
    sys.version_info >= (3, 14) or importlib.util.find_spec("zipfile_zstd") is not None,
    reason="zstd can be read here",
)
def test_a_log_with_zstd_entries_says_what_to_install(recipe, graded):
    data = bytearray(graded.read_bytes())
    with zipfile.ZipFile(graded) as archive:
        first, directory = archive.getinfo("header.json").header_offset, archive.start_dir
    # The compression method in the header of the entry and in the directory of the archive.
    data[first + 8] = data[directory + 10] = ZSTD
    graded.write_bytes(data)
    with pytest.raises(NotImplementedError, match=r"a\.eval has zstd entries: pip install"):
        recipe.trials(graded)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """The log of an evaluation that inspect_ai has run, as inspect_ai reads it."""
    for package in ("inspect_ai", "pandas"):
        pytest.importorskip(package, reason=f"{package} is not installed: see the extra `inspect`")
    from tests.logs.inspect_run import evaluation  # noqa: PLC0415 - it imports inspect_ai

    log = evaluation(tmp_path_factory.mktemp("logs"))
    gc.collect()  # what inspect leaves open warns here, and not in another test
    return log


# What inspect_ai 0.3.285 itself sets off, with pandas 3.1.
inspect_ai = pytest.mark.filterwarnings(
    "ignore:The inplace keyword in DataFrame.drop_duplicates",
    "ignore:Unclosed <MemoryObject:ResourceWarning",
    "ignore:The 'initial' parameter:DeprecationWarning",
)


@pytest.mark.inspect_ai
@inspect_ai
def test_inspects_own_reader_gives_the_same_frame(recipe, evaluated):
    from inspect_ai.analysis import EvalModel, EvalTask, SampleSummary, samples_df  # noqa: PLC0415

    columns = EvalModel + EvalTask + SampleSummary
    own = pl.from_pandas(samples_df(evaluated.location, columns=columns, quiet=True)).select(
        "model",
        benchmark="task_name",
        question="id",
        trial="epoch",
        category="score_grade",
        error=pl.col("error").replace("", None),
    )
    log = recipe.trials(evaluated.location)
    assert log.sort("question", "trial").equals(own.sort("question", "trial"))
    assert log["category"].value_counts().sort("category").rows() == [
        (None, 2),
        ("C", 10),
        ("I", 5),
        ("P", 3),
    ]
    assert log["error"].drop_nulls().to_list() == ["RuntimeError('boom')"]


@pytest.mark.inspect_ai
@inspect_ai
def test_pass_at_k_agrees_with_inspects_reducer(recipe, evaluated):
    log = recipe.trials(evaluated.location).scorio(success="C", missing="drop")
    reduced = next(r for r in evaluated.reductions if r.reducer == "pass_at_2")
    expected = {sample.sample_id: sample.value for sample in reduced.samples}
    questions = log.pass_at_k(2, per="question")
    assert dict(questions.select("question", "estimate").rows()) == pytest.approx(expected)
    score = next(s for s in evaluated.results.scores if s.reducer == "pass_at_2")
    accuracy = score.metrics["accuracy"].value
    assert log.pass_at_k(2)["estimate"].item() == pytest.approx(accuracy)


@pytest.mark.inspect_ai
@inspect_ai
def test_the_average_agrees_with_inspects_mean(recipe, evaluated, printed):
    log = recipe.trials(evaluated.location).scorio(missing="drop")
    score = next(s for s in evaluated.results.scores if s.reducer == "mean")
    accuracy = score.metrics["accuracy"].value
    assert log.avg(w=recipe.WEIGHTS)["estimate"].item() == pytest.approx(accuracy)
    assert f"┆ {accuracy:.3f}" in printed(evaluated.location, "--missing", "drop")
