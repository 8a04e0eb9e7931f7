import polars as pl
import pytest


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


def test_one_row_per_program_lazily(recipe, results):
    log = recipe.trials(results)
    assert isinstance(log, pl.LazyFrame)
    assert log.collect_schema().names() == ["model", "question", "category", "result"]
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


def test_a_program_without_verdict_has_no_outcome(recipe, write, printed):
    line = {"task_id": "HumanEval/0", "completion": "x", "result": "passed", "passed": True}
    path = write("m.jsonl_results.jsonl", line, {**line, "result": None, "passed": None})
    assert recipe.trials(path).collect()["category"].to_list() == [True, None]
    with pytest.raises(SystemExit, match=r"1 question has a missing category.*--missing drop"):
        printed(path)


def test_a_copy_of_the_log_is_found_where_n_is_given(results, printed):
    again = results.read_text(encoding="utf-8")
    (results.parent / "copy").mkdir()
    (results.parent / "copy" / results.name).write_text(again, encoding="utf-8")
    with pytest.raises(SystemExit, match="2 questions have not the n=3 trials"):
        printed(results.parent, "--n", "3")
    assert "┆ 0.500" in printed(results, "--n", "3")


def test_the_report_has_pass_at_k(printed, results):
    # 1 and 2 of 3 programs pass: pass@1 = 1/2, pass@2 = (2/3 + 1) / 2.
    report = printed(results.parent)
    assert "┆ 0.500" in report
    assert "┆ 0.833" in report
