"""The reader of pydantic-evals."""

import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers


def value(given):
    return {"name": "n", "value": given, "source": {"name": "Exact"}}


def case(name, correct=None, source=None, **more):
    """A case, which an evaluator may have judged."""
    judged = {} if correct is None else {"correct": value(correct)}
    return {"name": name, "source_case_name": source, "assertions": judged, **more}


def report(*cases, failures=(), **more):
    """What EvaluationReportAdapter.dump_json writes."""
    known = {"dataset_name": "sums", "experiment_metadata": {"model": "ada", "prompt": "v1"}}
    return {"name": "task", "cases": [*cases], "failures": [*failures], **known, **more}


FAILED = {"name": "b [2/2]", "source_case_name": "b", "error_message": "timeout"}
CASES = [case("a [1/2]", True, "a"), case("a [2/2]", False, "a"), case("b [1/2]", True, "b")]


def test_a_task_that_failed_is_a_missing_trial(reader, table, summary, write):
    path = write("r.json", report(*CASES, failures=[FAILED]))
    assert table(path).rows() == [
        ("ada", "sums", "a", "r/1", 1.0, 1.0, None, None),
        ("ada", "sums", "a", "r/2", 0.0, 0.0, None, None),
        ("ada", "sums", "b", "r/1", 1.0, 1.0, None, None),
        ("ada", "sums", "b", "r/2", None, None, None, "timeout"),
    ]
    with pytest.raises(ValueError, match="1 question has a missing category"):
        reader(path).avg()
    assert summary(ps.avg(), path, missing=0) == [(4, 0, 0.5)]
    assert reader(path).describe()["planned"].to_list() == [4]


def test_an_evaluator_that_failed_is_a_missing_outcome(table, write):
    failure = {"name": "correct", "error_message": "judge timed out"}
    log = table(write("r.json", report(case("a", True), case("b", evaluator_failures=[failure]))))
    assert log.select("question", "trial", "category", "error").rows() == [
        ("a", "r/1", 1.0, None),
        ("b", "r/1", None, "judge timed out"),
    ]


def test_repetitions_that_left_no_trace_are_said(reader, write):
    with pytest.warns(ps.LogWarning, match=r"r\.json: 3 of 4 planned trials$"):
        reader(write("r.json", report(*CASES)))


def test_assertions_scores_and_labels_may_count(reader, table, write):
    more = {"scores": {"close": value(0.25)}, "labels": {"grade": value("C")}}
    path = write("r.json", report(case("a", True, **more), case("b", False)))
    with pytest.raises(
        ValueError, match=r"several metrics among \['correct', 'close', 'grade'\]: n"
    ):
        reader(path)
    with pytest.raises(ValueError, match=r"no metric 'clos' among"):
        reader(path, metric="clos")
    assert table(path, metric="close")["category"].to_list() == [0.25, None]
    assert table(path, metric="close", threshold=0.2)["category"].to_list() == [True, None]
    log = reader(path, metric="grade", success="C", missing="D")
    assert log.avg()["estimate"].to_list() == [0.5]


def test_the_model_is_in_the_metadata_or_is_the_file(table, write):
    path = write("runs/bob.json", report(case("a", True), experiment_metadata=None))
    assert table(path)["model"].to_list() == ["bob"]
    assert table(path, model="eve")["model"].to_list() == ["eve"]


def test_two_reports_of_a_model_are_more_trials(summary, reader, write):
    write("one.json", report(case("a", True)))
    path = write("two.json", report(case("a", False)))
    assert summary(ps.avg(), path.parent) == [(2, 0, 0.5)]
    write("two.json", report(case("a", False), experiment_metadata={"model": "ada", "prompt": 2}))
    with pytest.raises(ValueError, match=r"experiment_metadata\.prompt is 'v1' and 2\."):
        reader(path.parent)
    for name in ("one", "two"):
        write(f"{name}.json", report(case("a", name == "two"), trace_id="5f"))
    with pytest.raises(ValueError, match=r"are the same run, .*they have the same id"):
        reader(path.parent)


def test_a_report_of_another_kind_is_refused(reader, write):
    for content, found in [
        (report(), "found no trial"),
        (report(case("a", {"x": 1})), r"the outcome is \{'x': 1\}"),
        (report({"assertions": {"correct": value(True)}}), "lacks 'name'"),
    ]:
        with pytest.raises(ValueError, match=found):
            reader(write("r.json", content))


@pytest.mark.parametrize("metric", ["correct", "closeness"])
def test_real_files_give_the_expected_numbers(reader, metric):
    part = expected_numbers("pydantic_evals")[metric]
    files = [LOGS / "pydantic_evals" / name for name in ("ada-1.json", "bob-2.json")]
    assert_expected(lambda **options: reader(files, metric=metric, **options), part)
