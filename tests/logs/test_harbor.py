import polars as pl
import pytest

TIMEOUT, CRASH = "AgentTimeoutError", "RuntimeError"


def result(task, name, reward, exception=None):
    """The result.json of a trial."""
    raised = {
        "exception_type": exception,
        "exception_message": "",
        "exception_traceback": "Traceback ...",
        "occurred_at": "2026-01-01T12:00:00",
    }
    return {
        "id": "3f0e",
        "task_name": task,
        "trial_name": f"{task}__{name}",
        "trial_uri": "file:///jobs/job",
        "task_id": {"path": f"tasks/{task}"},
        "source": "terminal-bench",
        "task_checksum": "c",
        "config": {"task": {"path": f"tasks/{task}"}},
        "agent_info": {
            "name": "terminus-2",
            "version": "2.0",
            "model_info": {"name": "gpt-5", "provider": "openai"},
        },
        "agent_result": {"n_input_tokens": 10, "rollout_details": None},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": raised if exception else None,
        "started_at": "2026-01-01T12:00:00",
        "finished_at": None,
    }


@pytest.fixture
def jobs(write, tmp_path):
    trials = [
        result("chess", "aB3", 1.0),
        result("chess", "xY7", 1, TIMEOUT),
        result("regex", "k2M", 0.0),
        result("regex", "p9Q", 1.0),
        result("kernel", "q1Z", None, TIMEOUT),
        result("kernel", "w0P", None, CRASH),
        result("kernel", "v8R", 0.0),
    ]
    for trial in trials:
        write(f"jobs/job/{trial['trial_name']}/result.json", trial)
    # The job's own result has no task.
    write("jobs/job/result.json", {"id": "9a", "n_total_trials": 7, "stats": {"n_errors": 3}})
    return tmp_path / "jobs"


def test_a_trial_that_was_not_verified_has_no_outcome(recipe, jobs):
    log = recipe.trials(jobs).sort("trial")
    assert log.columns == ["agent", "model", "question", "trial", "category", "exception"]
    assert log.select("trial", "category", "exception").rows() == [
        ("chess__aB3", 1.0, None),
        ("chess__xY7", 1.0, TIMEOUT),  # the verifier ran after the timeout
        ("kernel__q1Z", None, TIMEOUT),
        ("kernel__v8R", 0.0, None),
        ("kernel__w0P", None, CRASH),
        ("regex__k2M", 0.0, None),
        ("regex__p9Q", 1.0, None),
    ]
    assert log.select("agent", "model").unique().rows() == [("terminus-2", "gpt-5")]


def test_the_rule_of_the_leaderboard_is_a_filter(recipe, jobs):
    kept = pl.col("exception").is_null() | (pl.col("exception") == TIMEOUT)
    report = recipe.trials(jobs).filter(kept).scorio(by="agent", missing=0).avg()
    # The questions chess, kernel and regex: (1 + 0 + 1/2) / 3.
    assert report.select("questions", "trials", "estimate").rows() == [(3, 6, 0.5)]


def test_a_threshold_makes_fractions_a_success(recipe, write):
    write("job/a__1/result.json", result("a", "1", 0.7))
    log = recipe.trials(write("job/a__2/result.json", result("a", "2", None)).parents[1])
    assert log["category"].to_list() == [0.7, None]
    log = recipe.trials(
        write("job/a__2/result.json", result("a", "2", None)).parents[1], threshold=0.5
    )
    assert log["category"].to_list() == [True, None]


def test_the_report_counts_what_was_dropped(jobs, printed):
    with pytest.raises(SystemExit, match="question='kernel': 2 trials"):
        printed(jobs)
    # (1 + 1/2 + 0) / 3, and (1 + 1/2 + 0) / 3 with the crashes as failures.
    assert "┆ 5      ┆ 2       ┆ 0.500" in printed(jobs, "--missing", "drop")
    assert "┆ 7      ┆ 0       ┆ 0.500" in printed(jobs, "--missing", "0")
