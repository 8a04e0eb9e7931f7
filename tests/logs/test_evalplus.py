import pytest


def program(task, base, plus):
    """One program of <samples>_eval_results.json."""
    return {
        "task_id": task,
        "solution": "def f(): ...",
        "base_status": base,
        "plus_status": plus,
        "base_fail_tests": [],
        "plus_fail_tests": [] if plus == "pass" else [[1, "x"]],
    }


@pytest.fixture
def results(write):
    statuses = {
        "HumanEval/0": [("pass", "pass"), ("pass", "fail"), ("pass", "timeout"), ("fail", "fail")],
        "HumanEval/1": [("pass", "pass"), ("pass", "pass"), ("fail", "pass"), ("timeout", "fail")],
    }
    tasks = {task: [program(task, *s) for s in pairs] for task, pairs in statuses.items()}
    content = {"date": "2026-01-01 12:00", "hash": "fe585eb4df8c88d844eeb463ea4d0302"}
    return write("ada_temp_0.8_eval_results.json", {**content, "eval": tasks})


def test_a_program_succeeds_where_both_kinds_of_tests_pass(recipe, results):
    log = recipe.trials(results)
    assert log.columns == ["model", "question", "trial", "category", "base", "plus"]
    assert log["model"].unique().to_list() == ["ada_temp_0.8"]
    assert log["trial"].to_list() == [0, 1, 2, 3] * 2
    assert log["category"].to_list() == [True, False, False, False, True, True, False, False]


def test_base_tests_alone_can_be_asked_for(recipe, results):
    assert recipe.trials(results, "base")["category"].sum() == 5


def test_tests_that_did_not_run_leave_no_outcome(recipe, write):
    content = {"HumanEval/0": [program("HumanEval/0", base, None) for base in ("pass", "fail")]}
    path = write("bob.eval_results.json", {"date": "", "hash": "", "eval": content})
    assert recipe.trials(path)["category"].to_list() == [None, None]
    assert recipe.trials(path, "base")["category"].to_list() == [True, False]
    assert recipe.trials(path)["model"].to_list() == ["bob", "bob"]


def test_the_report_has_pass_at_k(printed, results):
    # 1 and 2 of 4 programs pass: pass@1 = 3/8, pass@2 = (1/2 + 5/6) / 2.
    report = printed(results.parent)
    assert "pass_at_k" in report
    assert "┆ 0.375" in report
    assert "┆ 0.667" in report
    assert "┆ 0.625" in printed(results, "--tests", "base", "--k", "1")
