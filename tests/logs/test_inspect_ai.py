import gc
import inspect
import json
import zipfile
from functools import partial

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.inspect_ai import find_inspect_logs, read_inspect_log
from tests.logs.inspect_samples import sample, write_samples, write_zstd_archive

NAN = float("nan")


@pytest.fixture
def log(tmp_path):
    """Write a .eval log of some samples."""

    return partial(write_samples, tmp_path)


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


def test_failed_and_unscored_samples_have_no_outcome(table, graded):
    log = table(graded)
    assert log.row(0) == ("openai/gpt-5", "sums", "a", 1, "C", None, None)
    assert log.columns == [
        "model", "benchmark", "question", "trial", "category", "error", "invalidation"
    ]  # fmt: skip
    assert log["question"].to_list() == ["a"] * 4 + ["2"] * 4 + ["c"] * 2
    assert log["category"].to_list() == [*"CCPICINP", None, None]
    assert log["error"].to_list() == [None] * 8 + ["boom", None]


def test_samples_with_an_error_that_were_scored_count_and_are_counted(reader, log):
    samples = [
        sample("a", 1, {"grade": "C"}), sample("a", 2, {"grade": "I"}, error="boom"),
        sample("b", 1, {"grade": "C"}, error="boom"), sample("b", 2, {}, error="boom"),
    ]  # fmt: skip
    with pytest.warns(ps.LogWarning, match="2 trials with an error have a score, which counts$"):
        found = reader(log("a.eval", *samples), missing="drop")
    described = found.describe()
    assert described.select("trials", "nulls", "scored_errors").row(0) == (3, 1, 2)
    assert found.avg()["estimate"].to_list() == [0.75]
    clean = reader(log("b.eval", *samples[:1]))
    assert "scored_errors" not in clean.describe().columns


def test_polars_does_not_read_the_summaries(graded):
    with zipfile.ZipFile(graded) as archive, pytest.raises(pl.exceptions.ComputeError, match="'N'"):
        pl.read_json(archive.read("summaries.json"))


def test_the_report_weighs_the_letters_as_inspect_does(graded, reader, summary):
    with pytest.raises(ValueError, match="question='c': 2 trials"):
        reader(graded).avg()
    # Correct are 2, 1 and 0 of 4, 4 and 2.
    assert summary(ps.pass_at_k(1), graded, missing="I") == [(10, 0, 0.25)]
    # a: 2.5 / 4, 2: 1.5 / 4, c: 0.
    assert summary(ps.avg(), graded, levels=[0, 0.5, 1], missing=0) == [(10, 0, 0.333)]


def test_one_of_several_scorers_has_to_be_named(table, log):
    path = log("b.eval", sample("a", 1, {"exact": 1, "judge": 0.5}))
    with pytest.raises(ValueError, match=r"several scores, \['exact', 'judge'\]: .*scorer='exact'"):
        table(path)
    assert table(path, scorer="judge")["category"].to_list() == [0.5]


def test_numbers_and_truth_values_become_floats(table, log, summary):
    path = log("n.eval", sample("a", 1, {"exact": 1}), sample("a", 2, {"exact": 0}))
    assert table(path)["category"].to_list() == [1, 0]
    assert summary(ps.avg(), path) == [(2, 0, 0.5)]
    path = log("p.eval", sample("a", 1, {"exact": 1}), sample("a", 2, {"exact": 0.5}))
    assert table(path)["category"].to_list() == [1.0, 0.5]
    path = log("t.eval", sample("a", 1, {"exact": True}), sample("a", 2, {}, "boom"))
    assert table(path)["category"].to_list() == [1.0, None]
    assert summary(ps.avg(), path, missing=0) == [(2, 0, 0.5)]


def test_a_log_of_failures_alone_is_read(table, log):
    log = table(log("f.eval", sample("a", 1, {}, "boom")))
    assert log.schema["category"] == pl.Enum(["C", "I", "N", "P"])
    assert log["category"].to_list() == [None]


def test_a_task_that_was_retried_is_found(reader, graded, log):
    log("b.eval", sample("a", 1, {"grade": "C"}))
    both = reader(graded.parent, missing="drop")
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        both.pass_at_k(1)


def test_a_log_with_zstd_entries_has_the_same_table(table, graded, tmp_path):
    packed = tmp_path / "zstd" / graded.name
    packed.parent.mkdir()
    with zipfile.ZipFile(graded) as plain:
        write_zstd_archive(packed, {name: plain.read(name) for name in plain.namelist()})
    assert table(packed).equals(table(graded))


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


@pytest.mark.slow
@pytest.mark.inspect_ai
@inspect_ai
def test_inspects_own_reader_gives_the_same_frame(table, evaluated):
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
    log = table(evaluated.location).drop("invalidation")
    assert log.sort("question", "trial").equals(own.sort("question", "trial"))
    assert log["category"].value_counts().sort("category").rows() == [
        (None, 2),
        ("C", 10),
        ("I", 5),
        ("P", 3),
    ]
    assert log["error"].drop_nulls().to_list() == ["RuntimeError('boom')"]


@pytest.mark.slow
@pytest.mark.inspect_ai
@inspect_ai
def test_pass_at_k_agrees_with_inspects_reducer(table, evaluated):
    log = table(evaluated.location).scorio(success="C", missing="drop")
    reduced = next(r for r in evaluated.reductions if r.reducer == "pass_at_2")
    expected = {sample.sample_id: sample.value for sample in reduced.samples}
    questions = log.pass_at_k(2, per="question")
    assert dict(questions.select("question", "estimate").rows()) == pytest.approx(expected)
    score = next(s for s in evaluated.results.scores if s.reducer == "pass_at_2")
    accuracy = score.metrics["accuracy"].value
    assert log.pass_at_k(2)["estimate"].item() == pytest.approx(accuracy)


@pytest.mark.slow
@pytest.mark.inspect_ai
@inspect_ai
def test_the_average_agrees_with_inspects_mean(reader, evaluated):
    log = reader(evaluated.location, missing="drop", levels=[0, 0.5, 1])
    score = next(s for s in evaluated.results.scores if s.reducer == "mean")
    accuracy = score.metrics["accuracy"].value
    assert log.avg()["estimate"].item() == pytest.approx(accuracy)


def test_a_threshold_and_levels_make_numbers_of_letters(table, graded, log):
    passed = [True, True, True, False, True, False, False, True, None, None]
    assert table(graded, threshold=0.5)["category"].to_list() == passed
    log("f.eval", sample("a", 9, {"grade": 0.7}))
    with pytest.raises(
        ValueError,
        match=r"some scores are words \('C' in .*\) and others numbers \(0\.7 .*levels=",
    ):
        table(graded.parent)
    assert table(graded.parent, levels=[0, 0.5, 0.7, 1])["category"].to_list()[-1] == 0.7


def test_a_score_of_several_values_needs_one_of_them(table, log):
    path = log("d.eval", sample("a", 1, {"judge": {"style": 1, "truth": 0}}))
    with pytest.raises(ValueError, match=r"several scores, \['judge.style', 'judge.truth'\]"):
        table(path)
    assert table(path, scorer="judge.truth")["category"].to_list() == [0.0]
    path = log("l.eval", sample("a", 1, {"judge": [1, 2]}))
    with pytest.raises(ValueError, match=r"neither a word nor a number: \[1, 2\]"):
        table(path)


def test_a_scorer_that_is_not_there_is_refused(table, graded):
    with pytest.raises(ValueError, match=r"a\.eval has no score 'judge': .* of \['grade'\]"):
        table(graded, scorer="judge")


def test_words_that_are_no_grades_are_labels_and_no_numbers(table, log):
    path = log("w.eval", sample("a", 1, {"tone": "kind"}), sample("a", 2, {"tone": "rude"}))
    assert table(path)["category"].to_list() == ["kind", "rude"]
    with pytest.raises(
        ValueError, match="the score 'kind' is not a number; threshold= and levels= need"
    ):
        table(path, threshold=0.5)


def test_a_json_log_has_the_same_table(table, graded, write):
    with zipfile.ZipFile(graded) as archive:
        header, samples = (json.loads(archive.read(f"{n}.json")) for n in ("header", "summaries"))
    for one in samples:
        if "error" in one:
            one["error"] = {"message": one["error"], "traceback": "..."}
    path = write("2026-01-01T12-00-00_sums.json", header | {"samples": samples})
    assert table(path).equals(table(graded))
    assert table([path.parent / "2026*", path]).height == table(graded).height


def test_each_task_may_have_its_scorer(table, write):
    both = {"match": "C", "judge": "I"}
    for task, scores in {"sums": both, "proofs": both, "roots": {"judge": "P"}}.items():
        run = {"task": task, "model": "m"}
        write(f"2026-01-01_{task}.json", {"eval": run, "samples": [sample("a", 1, scores)]})
    folder = write("notes.txt", {}).parent
    log = table(folder, scorer={"sums": "match", "proofs": "judge"})
    found = {"sums": "C", "proofs": "I", "roots": "P"}
    assert dict(log.select("benchmark", "category").rows()) == found
    with pytest.raises(ValueError, match=r"proofs\.json has several scores"):
        table(folder, scorer={"sums": "match"})
    with pytest.raises(ValueError, match=r"scorer= names the tasks \['sum'\].* 'sums'\]"):
        table(folder, scorer={"sums": "match", "proofs": "judge", "sum": "match"})


def test_words_that_are_no_grades_need_a_success(reader, log):
    path = log("a.eval", sample("a", 1, {"judge": "yes"}), sample("b", 1, {"judge": "no"}))
    with pytest.raises(ValueError, match=r"holds labels .*: name the successes"):
        reader(path).avg()
    assert reader(path, success="yes").avg()["estimate"].item() == 0.5


INVALID = {"author": "ada", "reason": "the question leaked"}


def test_invalid_samples_say_why(table, tmp_path, write):
    samples = [sample("a", 1, {"grade": "C"}), sample("b", 1, {"grade": "I"})]
    whole = [{**samples[0], "invalidation": INVALID}, samples[1]]
    run = {"eval": {"task": "sums", "model": "m"}, "invalidated": True}
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(run))
        archive.writestr("summaries.json", json.dumps(samples))
        for each in whole:
            archive.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))
    path = write("2026-01-01_a.json", {**run, "samples": whole})
    for file in (tmp_path / "a.eval", path):
        assert table(file)["invalidation"].to_list() == ["the question leaked", None]
    nameless = {**samples[0], "invalidation": {"author": "ada"}}
    path = write("2026-01-01_a.json", {**run, "samples": [nameless]})
    assert table(path)["invalidation"].to_list() == ["by ada"]


def test_a_header_alone_is_refused(table, log, write):
    with pytest.raises(
        ValueError, match=r"h\.eval: .*found only a header, whose status is 'success'"
    ):
        table(log("h.eval"))
    header = {"version": 2, "status": "error", "eval": {"task": "t", "model": "m"}}
    with pytest.raises(
        ValueError, match=r"h\.json: .*a run without a trial, whose status is 'error'"
    ):
        table(write("h.json", header))


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_run_that_was_stopped_before_its_first_trial_is_skipped(log, write, status):
    whole = log("a.eval", sample("a", 1, {"grade": "C"}))
    # Its settings differ, and it has another scorer: neither matters without a trial.
    run = {"task": "other", "model": "openai/gpt-5", "task_args": {"shots": 5}}
    write("2026-01-01_b.json", {"version": 2, "status": status, "eval": run})
    message = rf"stopped before their first trial are skipped:\n- .*2026-01-01_b\.json: {status}$"
    with pytest.warns(ps.LogWarning, match=message):
        read = ps.logs.inspect_ai(whole.parent, scorer={"sums": "grade", "other": "exact"})
    assert read.frame["question"].to_list() == ["a"]
    assert "planned" not in read.describe().columns
    read.write_html(whole.with_name("page.html"))
    page = whole.with_name("page.html").read_text("utf-8")
    assert "Skipped runs" in page
    assert "1 run was stopped before the first trial" in page


def test_a_run_that_was_cut_short_is_read_from_its_journal(table, tmp_path):
    header = {"version": 2, "eval": {"task": "sums", "model": "m"}}
    with zipfile.ZipFile(tmp_path / "j.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        for number in (1, 2):
            part = json.dumps([sample("a", number, {"grade": "C"})])
            archive.writestr(f"_journal/summaries/{number}.json", part)
    assert table(tmp_path)["trial"].to_list() == [1, 2]


def test_a_huge_archive_is_refused_unless_asked_for(table, graded):
    with pytest.raises(
        ValueError, match=r"a\.eval would unpack to [\d,]+ bytes, more than unpack_"
    ):
        table(graded, unpack_limit=1_000)
    assert table(graded, unpack_limit=10_000).height == 10
    limit = inspect.signature(ps.logs.inspect_ai).parameters["unpack_limit"]
    assert limit.default == 10**9


def test_an_archive_that_is_broken_off_is_refused(table, graded, tmp_path):
    graded.write_bytes(graded.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"a\.eval: expected .*found no whole zip archive"):
        table(graded)
    with zipfile.ZipFile(tmp_path / "o.eval", "w") as archive:
        archive.writestr("else.json", "{}")
    with pytest.raises(ValueError, match=r"o\.eval: expected .*an archive without header.json"):
        table(tmp_path / "o.eval")


def attempt(write, name, grades, status="success", **fields):
    """A log of the task `sums` with a grade for each question, in JSON."""
    run = {"task": "sums", "model": "m", "task_id": "t1", "created": name, **fields}
    samples = [sample(question, 1, {"judge": grade}) for question, grade in grades.items()]
    return write(f"{name[:10]}_{status}.json", {"status": status, "eval": run, "samples": samples})


def test_a_retried_task_counts_once(reader, write):
    dataset = {"dataset": {"samples": 2}}
    times = "2026-01-02T00:30:00+02:00", "2026-01-01T23:00:00Z"  # the second is later
    first = attempt(write, times[0], {"a": "I"}, "error", eval_id="e1", **dataset)
    with pytest.warns(ps.LogWarning, match="1 of 2 planned trials; the status of the run is 'err"):
        reader(first)
    folder = attempt(write, times[1], {"a": "C", "b": "I"}, eval_id="e2", **dataset).parent
    with pytest.raises(ValueError, match=r"two attempts at one run, 't1': pass retries=\"latest\""):
        reader(folder)
    latest = reader(folder, retries="latest")
    assert latest.frame.sort("question").select("category", "run").rows() == [
        ("C", "e2"),
        ("I", "e2"),
    ]
    assert latest.describe()["planned"].to_list() == [2]
    assert reader(folder, retries="first").frame.sort("question")["run"].to_list() == ["e1", "e2"]


def test_runs_with_other_settings_do_not_merge(reader, write):
    for day, shots in (("2026-01-01", 0), ("2026-01-02", 5)):
        run = {"eval_id": day, "task_id": day, "task_args": {"fewshot": shots}}
        path = attempt(write, f"{day}T00:00:00Z", {"a": "C"}, **run)
    with pytest.raises(ValueError, match=r"different settings: task_args\.fewshot is 0 and 5"):
        reader(path.parent)


def test_an_accuracy_that_the_samples_do_not_have_is_named(reader, write):
    accuracy = {"accuracy": {"name": "accuracy", "value": 0.9}}
    results = {"total_samples": 2, "scores": [{"name": "judge", "metrics": accuracy}]}
    samples = [sample(question, 1, {"judge": grade}) for question, grade in ("aC", "bP")]
    log = {"status": "success", "eval": {"task": "sums", "model": "m"}, "samples": samples}
    with pytest.warns(ps.LogWarning, match="the tool reports 0.9, these rows 0.75$"):
        reader(write("2026-01-01_a.json", log | {"results": results}))
    pass_at_2 = {"name": "judge", "reducer": "pass_at_2", "metrics": accuracy}
    reader(write("2026-01-01_a.json", log | {"results": {"scores": [pass_at_2]}}))


def test_a_log_without_any_score_has_missing_outcomes_at_a_threshold_too(table, log):
    path = log("n.eval", sample("a", 1, {}), sample("b", 1, {}))
    for options in ({}, {"threshold": 1}, {"levels": [0, 1]}):
        assert table(path, **options)["category"].to_list() == [None, None]


def test_fields_that_summaries_lack_are_kept_of_the_samples(table, tmp_path):
    samples = [
        {"id": name, "epoch": 1, "scores": {"s": {"value": "C"}}, "total_time": 1.5}
        for name in "ab"
    ]
    whole = [{**one, "metadata": {"tags": [one["id"]]}, "messages": ["..."]} for one in samples]
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t", "model": "m"}}))
        archive.writestr("summaries.json", json.dumps(samples))
        for one in reversed(whole):
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    log = table(tmp_path, keep=["metadata.tags", "total_time"])
    kept = log.select("question", "metadata.tags", "total_time").rows()
    assert kept == [("a", '["a"]', 1.5), ("b", '["b"]', 1.5)]
    with pytest.raises(ValueError, match=r"no trial has a value of 'messages'"):
        table(tmp_path, keep="messages")


# Header and samples of inspect_ai, without what fills its files.


LARGE = {"messages": [{"role": "user"}], "events": [{}], "store": {"a": 1}, "attachments": {"b": 2}}


def test_what_no_table_needs_is_left_out(tmp_path):
    path = tmp_path / "2026-01-01_a.json"
    sample = {"id": 1, "epoch": 1, "scores": {}}
    log = {"eval": {"task": "t"}, "samples": [{**sample, **LARGE}, {**LARGE, **sample}]}
    path.write_text(json.dumps(log, indent=2), encoding="utf-8")
    assert read_inspect_log(path, 0) == {"eval": {"task": "t"}, "samples": [sample, sample]}


def test_files_of_other_tools_are_refused(tmp_path):
    path = tmp_path / "2026-01-01_a.json"
    path.write_text('{"samples": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.json: expected a log of inspect_ai.*\['samples'\]"):
        read_inspect_log(path, 0)


def test_folders_hold_logs_without_a_date_too(tmp_path):
    log = {"version": 2, "status": "success", "eval": {"task": "t"}}
    names = ["2026-01-01_a.json", "b.eval", "c.json", "d.json", "e.json"]
    for name in names:
        (tmp_path / name).write_text(json.dumps(log, indent=2), encoding="utf-8")
    (tmp_path / "d.json").write_text('{"eval": {}}', encoding="utf-8")  # a file of EvalPlus
    (tmp_path / "e.json").write_text('{"version": 2, "results": []}', encoding="utf-8")
    assert [file.name for file in find_inspect_logs(tmp_path)] == names[:3]
    assert len(find_inspect_logs([tmp_path / "d.json", tmp_path])) == 4
    assert find_inspect_logs(tmp_path / "e.json") == [tmp_path / "e.json"]


def test_a_folder_without_logs_is_read_to_say_what_is_wrong(tmp_path):
    (tmp_path / "e.json").write_text("[]", encoding="utf-8")
    (tmp_path / "f.json.gz").write_text("no gzip", encoding="utf-8")
    assert len(find_inspect_logs(tmp_path)) == 2


# People graded some of what a judge graded.


@pytest.fixture
def labelled(log):
    """Twenty questions that a judge graded twice; people looked at the first trial of each."""
    samples = []
    for question in range(20):
        for epoch in (1, 2):
            grades = {"judge": "CI"[question % 3 == 0]}
            people = {"human": "CI"[question % 4 == 0]} if epoch == 1 else {}
            samples.append(sample(question, epoch, grades | people))
    return log("labelled.eval", *samples)


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # the grades are made up
def test_the_scores_of_people_are_the_truth(reader, labelled):
    read = reader(labelled, truth_scorer="human")
    assert read.frame["truth"].null_count() == 20
    assert read.frame["category"].null_count() == 0
    row = read.avg().row(0, named=True)
    assert (row["labels"], row["estimate_uncorrected"]) == (20, 13 / 20)
    assert row["estimate"] == pytest.approx(15 / 20)
    numbers = reader(labelled, truth_scorer="human", threshold=0.5).avg()
    assert numbers["estimate"].to_list() == pytest.approx([15 / 20])


def test_a_truth_that_no_sample_has_is_refused(reader, labelled):
    with pytest.raises(ValueError, match="truth_scorer='people' names a score that no sample has"):
        reader(labelled, scorer="judge", truth_scorer="people")


def test_a_truth_of_another_kind_is_refused(reader, log):
    mixed = log("mixed.eval", sample(1, 1, {"judge": "C", "human": 1}))
    with pytest.raises(ValueError, match=r"\['float'\], those of the scorer str: .*threshold="):
        reader(mixed, truth_scorer="human")
