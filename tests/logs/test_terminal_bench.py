import pytest


def trial(task, i, resolved, failure="unset"):
    """One entry of results in results.json."""
    return {
        "id": f"{task}{i}",
        "trial_name": f"{task}.{i}-of-2.2026-01-01__12-00-00",
        "task_id": task,
        "instruction": "...",
        "is_resolved": resolved,
        "failure_mode": failure,
        "parser_results": None if resolved is None else {"test_a": "passed"},
        "total_input_tokens": 10,
    }


@pytest.fixture
def run(write):
    results = [
        trial("chess", 1, True),
        trial("chess", 2, False, "agent_timeout"),
        trial("regex", 1, True),
        trial("regex", 2, None, "test_timeout"),
        trial("kernel", 1, None, "unknown_agent_error"),
        trial("kernel", 2, False),
    ]
    totals = {"n_resolved": 2, "n_unresolved": 4, "accuracy": 1 / 3, "pass_at_k": {"2": None}}
    metadata = {"run_id": "r", "agent_name": "terminus", "model_name": "openai/gpt-5"}
    write("runs/r/run_metadata.json", {**metadata, "n_attempts": 2, "accuracy": 1 / 3})
    return write("runs/r/results.json", {"id": "r", "results": results, **totals})


def test_agent_and_model_come_from_the_metadata(recipe, run):
    log = recipe.trials(run)
    name = "chess.1-of-2.2026-01-01__12-00-00"
    assert log.row(0) == ("terminus", "openai/gpt-5", "chess", name, True, "unset")


def test_a_trial_without_verdict_has_no_outcome(recipe, run):
    log = recipe.trials(run)
    assert log["category"].to_list() == [True, False, True, None, None, False]
    assert log["failure"].to_list()[3:5] == ["test_timeout", "unknown_agent_error"]


def test_counting_them_as_failures_gives_the_accuracy_of_the_run(printed, run):
    with pytest.raises(SystemExit, match="2 questions have a missing category"):
        printed(run)
    assert "┆ 6      ┆ 0       ┆ 0.333" in printed(run.parents[1], "--missing", "0")
    assert "┆ 4      ┆ 2       ┆ 0.500" in printed(run, "--missing", "drop")
