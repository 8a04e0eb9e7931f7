import json

import pytest

import polars_scorio as ps


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


def test_a_program_succeeds_where_both_kinds_of_tests_pass(table, results):
    log = table(results)
    assert log.columns == ["model", "question", "trial", "category", "base", "plus"]
    assert log["model"].unique().to_list() == ["ada_temp_0.8"]
    assert log["trial"].to_list() == [0, 1, 2, 3] * 2
    assert log["category"].to_list() == [True, False, False, False, True, True, False, False]


def test_base_tests_alone_can_be_asked_for(table, results):
    assert table(results, tests="base")["category"].sum() == 5


def test_tests_that_did_not_run_leave_no_outcome(table, write):
    content = {"HumanEval/0": [program("HumanEval/0", base, None) for base in ("pass", "fail")]}
    path = write("bob.eval_results.json", {"date": "", "hash": "", "eval": content})
    assert table(path)["category"].to_list() == [None, None]
    assert table(path, tests="base")["category"].to_list() == [True, False]
    assert table(path)["model"].to_list() == ["bob", "bob"]


def test_the_report_has_pass_at_k(results, summary):
    # 1 and 2 of 4 programs pass: pass@1 = 3/8, pass@2 = (1/2 + 5/6) / 2.
    assert summary(ps.pass_at_k([1, 2]), results.parent) == [(8, 0, 0.375), (8, 0, 0.667)]
    assert summary(ps.pass_at_k(1), results, tests="base") == [(8, 0, 0.625)]


def test_the_lists_of_2023_are_read(write, table):
    old = {"nfiles": 3, "base": [["success", [1]], ["failed", [0]], ["timed out", []]]}
    plus = [["success", [1]], ["success", [1]], ["timed out", []]]
    tasks = {"HumanEval/0": {**old, "plus": plus}, "HumanEval/1": {**old, "plus": None}}
    log = table(write("ada_eval_results.json", {"date": "", "hash": "", "eval": tasks}))
    assert log["base"].to_list() == ["pass", "fail", "timeout"] * 2
    assert log["category"].to_list() == [True, False, False, None, None, None]


def test_default_names_are_told_apart_by_their_folders(write, table):
    content = {"eval": {"HumanEval/0": [program("HumanEval/0", "pass", "pass")]}}
    for folder in ("ada", "bob"):
        path = write(f"{folder}/samples_eval_results.json", content)
    assert table(path.parents[1])["model"].to_list() == ["ada", "bob"]
    write("bob/eval_results.json", content)
    with pytest.raises(ValueError, match=r"eval_results\.json and .*model 'bob': .*model="):
        table(path.parents[1])


def test_the_score_of_the_file_is_compared(reader, results):
    content = json.loads(results.read_text(encoding="utf-8"))
    right = {"base": {"pass@1": 0.625}, "plus": {"pass@1": 0.375}}
    results.write_text(json.dumps(content | {"pass_at_k": right}), encoding="utf-8")
    for tests, score in (("plus", 0.375), ("base", 0.625)):
        assert reader(results, tests=tests).describe()["reported"].to_list() == [score]
    wrong = {"plus": {"pass@1": 0.5}}
    results.write_text(json.dumps(content | {"pass_at_k": wrong}), encoding="utf-8")
    with pytest.warns(ps.LogWarning, match="the tool reports 0.5, these rows 0.375$"):
        reader(results)


def test_runs_on_other_tasks_do_not_merge(reader, results):
    content = json.loads(results.read_text(encoding="utf-8"))
    other = results.with_name("b_eval_results.json")
    other.write_text(json.dumps(content | {"hash": "0"}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"different settings: hash is 'fe585.*' and '0'"):
        reader(results.parent, model="ada")
