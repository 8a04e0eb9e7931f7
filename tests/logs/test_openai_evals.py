"""The reader of OpenAI evals."""

import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers


def spec(run="r1", model="ada", **config):
    known = {"run_id": run, "eval_name": "sums.dev", "completion_fns": [model, "judge"]}
    return {"spec": {**known, "run_config": config}}


def event(sample, kind, **data):
    return {"run_id": "r1", "sample_id": sample, "type": kind, "data": data}


def ended(**report):
    return {"final_report": report, "run_id": "r1"}


EVENTS = [
    event("s0", "sampling", sampled=["4"]),
    event("s0", "match", correct=True),
    event("s1", "match", correct=False),
    event("s2", "sampling", sampled=["4"]),
    event("s3", "error", type="Exception", message="timed out"),
]


def test_a_sample_without_an_outcome_is_missing(reader, table, summary, write):
    path = write("r1_ada_sums.jsonl", spec(), *EVENTS, ended(accuracy=0.5))
    assert table(path).rows() == [
        ("ada", "sums.dev", "s0", "r1", 1.0, 1.0, None, None),
        ("ada", "sums.dev", "s1", "r1", 0.0, 0.0, None, None),
        ("ada", "sums.dev", "s2", "r1", None, None, None, None),
        ("ada", "sums.dev", "s3", "r1", None, None, None, "timed out"),
    ]
    with pytest.raises(ValueError, match="2 questions have a missing category"):
        reader(path).avg()
    assert summary(ps.avg(), path, missing=0) == [(4, 0, 0.25)]
    assert reader(path).describe()["reported"].to_list() == [0.5]


def test_another_accuracy_and_a_run_without_an_end_are_said(reader, write):
    with pytest.warns(ps.LogWarning, match="the tool reports 0.9, these rows 0.5"):
        reader(write("a.jsonl", spec(), *EVENTS, ended(accuracy=0.9)))
    with pytest.warns(ps.LogWarning, match="the status of the run is 'not completed'"):
        reader(write("a.jsonl", spec(), *EVENTS))


def test_a_graded_eval_has_numbers_and_choices(reader, table, write):
    graded = [event("s0", "metrics", choice="A", score=1.0), event("s1", "metrics", choice="B")]
    path = write("a.jsonl", spec(), *graded, ended())
    assert table(path)["category"].to_list() == [1.0, None]
    assert reader(path, metric="choice", success="A").avg()["estimate"].to_list() == [0.5]
    with pytest.raises(ValueError, match=r"no event with 'chose', but with \['choice', 'score'\]"):
        reader(path, metric="chose")
    many = event("s2", "metrics", length=3)
    with pytest.raises(ValueError, match=r"the numbers \['score', 'length'\] in events: name one"):
        reader(write("a.jsonl", spec(), *graded, many, ended()))


def test_two_runs_of_a_model_are_two_trials(reader, summary, write):
    for run, right in {"r1": True, "r2": False}.items():
        events = event("s0", "match", correct=right), ended()
        path = write(f"{run}.jsonl", spec(run, max_samples=5), *events)
    assert summary(ps.pass_at_k(2), path.parent) == [(2, 0, 1.0)]
    write("r2.jsonl", spec("r2", max_samples=9), *events)
    with pytest.raises(ValueError, match=r"run_config\.max_samples is 5 and 9\."):
        reader(path.parent)
    write("r2.jsonl", spec("r1", max_samples=5), *events)
    with pytest.raises(ValueError, match="are the same run, 'r1': they have the same id"):
        reader(path.parent)


def test_what_is_no_log_is_refused(reader, write):
    for lines, found in [
        ([spec(), ended()], "found no sample"),
        ([{"some": 1}], "lacks 'sample_id' in line 1"),
        ([*EVENTS, EVENTS[1]], r"in line 6 \(a sample has two values of \['correct'\]\)"),
    ]:
        with pytest.raises(ValueError, match=found):
            reader(write("a.jsonl", *lines))


def test_real_files_give_the_expected_numbers(reader):
    expected = expected_numbers("openai_evals")
    folder = LOGS / "openai_evals"
    assert_expected(lambda **options: reader(folder, **options), expected["match"])
    told = dict(reader(folder).describe().select("model", "reported").rows())
    assert told == pytest.approx(expected["tool"])
