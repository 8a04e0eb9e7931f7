import pytest


def trace(agent="agent", **rewards):
    """One trace of an episode; every reward has the weight 1, style has 1/4."""
    weighted = {
        name: {"score": score, "weight": 0.25 if name == "style" else 1.0}
        for name, score in rewards.items()
    }
    config = {"runtime": {"type": "local"}, "max_turns": 8}
    return {
        "version": 1,
        "id": "t",
        "task": {"type": "Task", "data": {"idx": 0}},
        "agent": {"config": config, "name": agent, "trainable": True},
        "nodes": [],
        "rewards": weighted,
        "metrics": {},
    }


def episode(idx, number, *traces, errors=()):
    """One line of traces.jsonl."""
    return {
        "id": f"{idx}-{number}",
        "env": {"id": "gsm8k"},
        "task": {"type": "Task", "data": {"idx": idx, "prompt": "1 + 1"}, "key": f"k{idx}"},
        "ok": not errors,
        "errors": [{"type": error, "message": "..."} for error in errors],
        "traces": list(traces),
    }


@pytest.fixture
def traces(write):
    episodes = [
        episode(0, 0, trace(correct=1.0, style=0.0)),
        episode(0, 1, trace("judge", correct=0.0), trace(correct=0.4, style=0.5)),
        episode(1, 0, trace(correct=0.0, style=1.0)),
        episode(1, 1, trace()),
        episode(2, 0, trace(correct=1.0), errors=("ProviderError", "TimeoutError")),
        episode(2, 1, errors=("SandboxError",)),
        episode(2, 2, trace(correct=1.0, style=1.0)),
    ]
    return write("outputs/gsm8k--ada/3f0e/traces.jsonl", *episodes)


def test_an_episode_that_failed_or_was_not_scored_has_no_outcome(recipe, traces):
    log = recipe.trials(traces)
    assert log.row(0) == ("ada", "gsm8k", "0", "0-0", True, None)
    assert log["category"].to_list() == [True, True, False, None, None, None, True]
    assert log["error"].to_list()[3:] == [None, "TimeoutError", "SandboxError", None]


def test_without_a_threshold_the_category_is_the_weighted_reward(recipe, traces):
    log = recipe.trials(traces, threshold=None)
    assert log["category"].to_list() == [1.0, 0.525, 0.25, None, None, None, 1.25]
    assert recipe.trials(traces, None, "judge")["category"].to_list()[:2] == [None, 0.0]


def test_a_task_without_index_goes_by_its_key(recipe, write):
    other = episode(3, 0, trace(correct=1.0))
    del other["task"]["data"]["idx"]
    assert recipe.trials(write("e--m/traces.jsonl", other))["question"].to_list() == ["k3"]


def test_an_episode_that_is_read_twice_is_found(recipe, traces, write):
    write("outputs/gsm8k--ada/copy/traces.jsonl", episode(0, 0, trace(correct=1.0)))
    log = recipe.trials(traces.parents[1])
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        log.scorio(missing="drop").avg()


def test_the_report_says_what_became_of_the_errors(traces, printed):
    with pytest.raises(SystemExit, match="2 questions have a missing category"):
        printed(traces)
    # (1 + 0 + 1) / 3, and (1 + 0 + 1/3) / 3 with what is missing as failures.
    assert "┆ 4      ┆ 3       ┆ 0.667" in printed(traces, "--missing", "drop")
    assert "┆ 7      ┆ 0       ┆ 0.444" in printed(traces, "--missing", "0")
