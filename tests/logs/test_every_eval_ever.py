import json

import polars as pl
import pytest

import polars_scorio as ps


def sample(name, correct, score=None, error=None, **fields):
    """One line of <id>_samples.jsonl."""
    return {
        "schema_version": "0.2.1",
        "evaluation_id": "e",
        "model_id": "openai/gpt2",
        "evaluation_name": "mmlu",
        "sample_id": name,
        "sample_hash": "b4b3",
        "interaction_type": "single_turn",
        "input": {"raw": "Q", "formatted": None, "reference": ["A"], "choices": ["A", "B"]},
        "output": {"raw": [" D"], "reasoning_trace": []},
        "messages": None,
        "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "is_terminal": True}],
        "evaluation": {
            "score": float(correct) if score is None else score,
            "is_correct": correct,
            "num_turns": None,
        },
        "error": error,
        "metadata": None,
        **fields,
    }


@pytest.fixture
def samples(write):
    lines = [
        sample("q1", correct=True),
        sample("q1", correct=False, score=0.5),
        sample("q2", correct=False),
        sample("q2", correct=False, error="APIError: 529"),
    ]
    return write("data/mmlu/openai/gpt2/5f0e_samples.jsonl", *lines)


def test_a_sample_with_an_error_has_no_outcome(reader, samples):
    log = reader(samples).frame
    assert isinstance(log, pl.LazyFrame)
    log = log.collect()
    assert log.drop("run", "source").row(0) == ("openai/gpt2", "mmlu", "", "q1", 1.0, 1.0, None)
    assert log["category"].to_list() == [1.0, 0.0, 0.0, None]


def test_the_score_can_be_the_category(table, samples):
    assert table(samples, threshold=0.5)["category"].to_list() == [True, True, False, None]
    assert table(samples, levels=[0, 0.5, 1])["category"].to_list() == [1.0, 0.5, 0.0, None]


def test_a_line_for_each_metric_is_a_stratum_and_no_trial(summary, write):
    lines = [
        sample("q1", correct=correct, evaluation_result_id=measure)
        for measure, correct in {"exact": False, "judge": True}.items()
    ]
    path = write("a_samples.jsonl", *lines)
    assert summary(ps.avg(), path) == [(1, 0, 0.0), (1, 0, 1.0)]


def test_the_report_says_what_became_of_the_error(samples, summary):
    assert summary(ps.avg(), samples.parents[4], missing="drop") == [(3, 1, 0.25)]


def test_a_copied_file_adds_no_trials(reader, samples):
    copy = samples.with_name("copy_samples.jsonl")
    copy.write_bytes(samples.read_bytes())
    with pytest.raises(ValueError, match="are the same run, 'e': they have the same bytes"):
        reader(samples.parent)


def test_runs_with_other_settings_do_not_merge(reader, write):
    for name, temperature in (("a", 0.0), ("b", 1.0)):
        settings = {"generation_args": {"temperature": temperature}}
        write(f"{name}.json", {"evaluation_results": [{"generation_config": settings}]})
        path = write(f"{name}_samples.jsonl", sample(name, correct=True))
    with pytest.raises(ValueError, match=r"generation_args\.temperature is 0\.0 and 1\.0"):
        reader(path.parent)
    models = reader(path.parent, model="([ab])_samples").frame.collect()["model"].to_list()
    assert models == ["a", "b"]


def test_a_name_of_another_kind_is_refused_with_its_file(reader, write):
    path = write("a_samples.jsonl", sample("a", correct=True, evaluation_name={}))
    with pytest.raises(ValueError, match=r"a_samples\.jsonl: .* line 1 \(the benchmark of the"):
        reader(path)


def summarised(score, kind="accuracy", **fields):
    """A result of the summary beside the samples."""
    metric = {"metric_kind": kind, "metric_unit": fields.pop("unit", "proportion")}
    details = {"score_details": {"score": score}, "metric_config": metric}
    return {"evaluation_name": "mmlu", **details, **fields}


def test_the_summary_says_how_many_lines_there_are_and_their_score(reader, samples):
    side = samples.with_name("5f0e.json")
    detailed = {"detailed_evaluation_results": {"total_rows": 9}}
    side.write_text(
        json.dumps({"evaluation_results": [summarised(75, unit="percent")], **detailed})
    )
    wanted = r"benchmark 'mmlu': 4 of 9 planned trials; the tool reports 0.75, these rows 0.375$"
    with pytest.warns(ps.LogWarning, match=wanted):
        found = reader(samples, missing=0).describe().collect()
    assert found.select("trials", "planned", "reported").row(0) == (3, 9, 0.75)
    side.write_text(json.dumps({"evaluation_results": [summarised(0.9, kind="pass_at_k")]}))
    assert "reported" not in reader(samples).describe().collect_schema()


def test_each_result_of_the_summary_has_its_lines(reader, write):
    marks = {"exact": [True, True], "judge": [True, False]}
    lines = [
        sample(f"q{place}", correct, evaluation_result_id=measure)
        for measure, given in marks.items()
        for place, correct in enumerate(given)
    ]
    path = write("a_samples.jsonl", *lines)
    results = [summarised(1.0, evaluation_result_id=measure) for measure in marks]
    detailed = {"detailed_evaluation_results": {"total_rows": 5}}
    write("a.json", {"evaluation_results": results, **detailed})
    with pytest.warns(
        ps.LogWarning, match=r"4 of 5 planned trials\n.*'judge': the tool reports 1, t"
    ):
        found = reader(path).describe().collect()
    assert found.select("measure", "trials", "reported").rows() == [
        ("exact", 2, 1.0), ("judge", 2, 1.0),
    ]  # fmt: skip
