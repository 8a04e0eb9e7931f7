import polars as pl
import pytest

import polars_scorio as ps


@pytest.fixture
def results(write):
    outcomes = {
        "HumanEval/0": ["passed", "failed: division by zero", "timed out"],
        "HumanEval/1": ["passed", "passed", "failed: name 'x' is not defined"],
    }
    lines = [
        {"task_id": task, "completion": "x", "result": result, "passed": result == "passed"}
        for task, results in outcomes.items()
        for result in results
    ]
    return write("gpt-4.1.jsonl_results.jsonl", *lines)


def test_one_row_per_program_lazily(reader, results):
    log = reader(results).frame
    assert isinstance(log, pl.LazyFrame)
    assert log.collect_schema().names() == [
        "model",
        "question",
        "category",
        "result",
        "run",
        "source",
    ]
    log = log.collect()
    assert log["model"].unique().to_list() == ["gpt-4.1"]
    assert log["category"].to_list() == [True, False, False, True, True, False]
    assert log["result"].to_list() == [
        "passed",
        "failed",
        "timed out",
        "passed",
        "passed",
        "failed",
    ]


def test_a_program_without_verdict_has_no_outcome(table, write, reader):
    line = {"task_id": "HumanEval/0", "completion": "x", "result": "passed", "passed": True}
    path = write("m.jsonl_results.jsonl", line, {**line, "result": None, "passed": None})
    assert table(path)["category"].to_list() == [True, None]
    with pytest.raises(ValueError, match=r"1 question has a missing category"):
        reader(path).avg().collect()


def test_a_copy_of_the_log_is_a_model_of_its_own(results, table, write):
    lines = results.read_text(encoding="utf-8")
    copy = write("copy/gpt-4.1.jsonl_results.jsonl")
    copy.write_text(lines, encoding="utf-8")
    counts = table(results.parent)["model"].value_counts().sort("model")
    assert counts.rows() == [("copy/gpt-4.1", 6), (f"{results.parent.name}/gpt-4.1", 6)]


def test_the_default_name_leaves_the_folder_to_tell_models_apart(results, write, summary):
    line = {"task_id": "HumanEval/0", "completion": "x"}
    good, bad = {"result": "passed", "passed": True}, {"result": "timed out", "passed": False}
    write("ada/samples.jsonl_results.jsonl", {**line, **good}, {**line, **good})
    path = write("bob/samples.jsonl_results.jsonl", {**line, **good}, {**line, **bad})
    results.unlink()
    assert summary(ps.pass_at_k(1), path.parents[1]) == [(2, 0, 1.0), (2, 0, 0.5)]


def test_the_report_has_pass_at_k(results, summary):
    # 1 and 2 of 3 programs pass: pass@1 = 1/2, pass@2 = (2/3 + 1) / 2.
    passed = ps.pass_at_k([1, 2])
    assert summary(passed, results.parent, n=3) == [(6, 0, 0.5), (6, 0, 0.833)]
