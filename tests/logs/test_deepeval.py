"""The reader of DeepEval."""

import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers


def judged(name, score=None, passed=None, **more):
    """What a metric says of a case."""
    success = passed if passed is not None else score == 1
    known = {} if score is None else {"score": score}
    return {"name": name, "success": success, **known, **more}


def case(question, *metrics, **more):
    """A case, which passes if all metrics do that are not flaky."""
    deciding = [each["success"] for each in metrics if not each.get("flaky")]
    success = {"success": all(deciding)} if deciding else {}
    return {"input": question, **success, "metricsData": [*metrics], **more}


def run(*cases, model="ada", passed=None, **more):
    """What DeepEval writes."""
    passed = sum(bool(each.get("success")) for each in cases) if passed is None else passed
    return {
        "testCases": [*cases],
        "hyperparameters": {"model": model, "prompt": "v1"},
        "testPassed": passed,
        "testFailed": len(cases) - passed,
        **more,
    }


CASES = [
    case("1 + 1", judged("Match", 1.0), judged("Tone", 0.5, passed=True)),
    case("1 + 1", judged("Match", 0.0), judged("Tone", 1.0)),
    case("2 + 2", judged("Match", error="timeout"), judged("Tone", 1.0)),
]


def test_a_question_is_an_input_and_a_trial_its_repetition(table, write):
    log = table(write("results/test_run_20260101_120000.json", run(*CASES)))
    assert log.rows() == [
        ("ada", "1 + 1", "test_run_20260101_120000/0", True, True, None, None),
        ("ada", "1 + 1", "test_run_20260101_120000/1", False, False, None, None),
        ("ada", "2 + 2", "test_run_20260101_120000/0", None, None, None, "timeout"),
    ]


def test_a_metric_that_raised_is_a_missing_outcome(reader, summary, write):
    path = write("test_run_1.json", run(*CASES))
    with pytest.raises(ValueError, match="1 question has a missing category"):
        reader(path).avg()
    assert summary(ps.avg(), path, missing=0) == [(3, 0, 0.25)]
    found = reader(path).describe().select("planned", "reported").row(0)
    assert found == (3, pytest.approx(1 / 3))


def test_flaky_metrics_do_not_decide(table, write):
    flaky = judged("Tone", error="timeout", flaky=True)
    path = write("test_run_1.json", run(case("x", judged("Match", 1.0), flaky), case("y", flaky)))
    assert table(path)["category"].to_list() == [True, None]


def test_the_score_of_one_metric_may_count(reader, table, write):
    scores = {"metric": "Match", "scores": [1.0, 0.0], "passes": 1, "fails": 1, "errors": 1}
    path = write("test_run_1.json", run(*CASES, case("z"), metricsScores=[scores]))
    assert table(path, metric="Match")["category"].to_list() == [1.0, 0.0, None, None]
    assert table(path, metric="Tone", threshold=0.5)["category"].to_list() == [*[True] * 3, None]
    assert reader(path, metric="Match").describe()["reported"].to_list() == [0.5]
    with pytest.raises(ValueError, match=r"the metric 'Tune': they have \['Match', 'Tone'\]"):
        reader(path, metric="Tune")
    with pytest.raises(
        ValueError, match="threshold= belongs to a metric: name the metric with metric="
    ):
        reader(path, threshold=0.5)


def test_the_model_is_in_the_file_or_is_the_folder(table, write):
    for name, more, model in [
        ("a/test_run_1.json", {}, "ada"),
        ("b/test_run_1.json", {"hyperparameters": None, "identifier": "eve"}, "eve"),
        ("c/.deepeval/.latest_run_full.json", {"hyperparameters": {}}, "c"),
    ]:
        assert table(write(name, {**run(*CASES), **more}))["model"].unique().to_list() == [model]


def test_both_files_of_the_latest_run_are_read_once(reader, write):
    timed = [{**each, "runDuration": 0.25} for each in CASES]
    wrapped = write("p/.deepeval/.latest_test_run.json", {"testRunData": run(*timed)})
    assert reader(wrapped).frame["run"].unique().to_list() == ["latest_test_run"]
    write("p/.deepeval/.latest_run_full.json", run(*timed))
    assert reader(wrapped.parent).frame["run"].unique().to_list() == ["latest_run_full"]
    write("p/test_run_1.json", run(*timed, official=True))
    with pytest.raises(ValueError, match=r"are the same run, .*: they have the same id"):
        reader(wrapped.parents[1])


def test_two_runs_of_a_model_are_more_trials(summary, reader, write):
    write("test_run_1.json", run(*CASES[:2]))
    path = write("test_run_2.json", run(CASES[0], case("1 + 1", judged("Match", 1.0))))
    assert summary(ps.avg(), path.parent) == [(4, 0, 0.75)]
    other = run(CASES[0], hyperparameters={"model": "ada", "prompt": "v2"})
    write("test_run_3.json", other)
    with pytest.raises(ValueError, match=r"hyperparameters\.prompt is 'v1' and 'v2'\."):
        reader(path.parent)


def test_conversations_are_scenarios(table, reader, write):
    talk = {"turns": [], "scenario": "refund", "success": True, "metricsData": [judged("Tone", 1)]}
    content = {**run(), "conversationalTestCases": [talk, talk]}
    assert table(write("test_run_1.json", content))["question"].to_list() == ["refund", "refund"]
    with pytest.raises(ValueError, match="1 cases and 2 conversations: split the file"):
        reader(write("test_run_1.json", {**content, "testCases": CASES[:1]}))


@pytest.mark.parametrize(("name", "found"), [
    (".temp_test_run_data.json", "the cases of a run that has not ended"),
    (".deepeval-cache.json", "the cache of metrics, which is no run"),
])  # fmt: skip
def test_other_files_of_the_folder_are_no_runs(reader, write, name, found):
    with pytest.raises(ValueError, match=found):
        reader(write(name, run(*CASES)))


def test_a_link_to_a_run_is_no_run(reader, write):
    with pytest.raises(ValueError, match=r"an object with the keys \['testRunLink'\]"):
        reader(write(".latest_test_run.json", {"testRunLink": "https://..."}))


def test_fewer_cases_than_the_run_counted_are_said(reader, write):
    path = write("test_run_1.json", {**run(*CASES[:2]), "testFailed": 7})
    with pytest.warns(ps.LogWarning, match="2 of 8 planned trials; the tool reports 0.125, these"):
        reader(path)


@pytest.mark.parametrize(("part", "metric"), [("exact_match", "Exact Match"), ("length", "Length")])
def test_real_files_give_the_expected_numbers(reader, part, metric):
    expected = expected_numbers("deepeval")[part]
    assert_expected(lambda **o: reader(LOGS / "deepeval", metric=metric, **o), expected)


def test_a_judge_that_timed_out_is_a_failure_if_the_user_says_so(reader):
    # The expected numbers are DeepEval's, which counts it so.
    expected = expected_numbers("deepeval")
    log = reader(LOGS / "deepeval", missing=0)
    report = log.report(ps.pass_at_k([1, 2, 3]), ps.pass_hat_k([1, 2, 3]))
    for group in expected["success"]["groups"]:
        found = report.filter(model=group["model"])["estimate"].to_list()
        wanted = [*group["pass_at_k"].values(), *group["pass_hat_k"].values()]
        assert found == pytest.approx(wanted)
    told = dict(log.describe().select("model", "reported").rows())
    passed = {name: tool["testPassed"] / 18 for name, tool in expected["tool"].items()}
    assert told == pytest.approx(passed)


def test_old_versions_have_other_names(table, write):
    old = {"metric": "Match", "score": 0.5, "success": True}
    content = {"testCases": [{"input": "x", "success": True, "metricsMetadata": [old]}]}
    path = write("p/.deepeval/.latest_test_run.json", {"testRunData": content})
    assert table(path)["category"].to_list() == [True]
    assert table(path, metric="Match")["category"].to_list() == [0.5]
