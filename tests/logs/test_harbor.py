import polars as pl
import pytest

import polars_scorio as ps

TIMEOUT, CRASH = "AgentTimeoutError", "RuntimeError"
pytestmark = pytest.mark.filterwarnings("ignore:.* ha(s|ve) no outcome:polars_scorio.LogWarning")


def result(task, name, reward, exception=None):
    """The result.json of a trial."""
    raised = {
        "exception_type": exception,
        "exception_message": "",
        "exception_traceback": "Traceback ...",
        "occurred_at": "2026-01-01T12:00:00",
    }
    return {
        "id": f"id of {task}__{name}",
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


def test_a_trial_that_was_not_verified_has_no_outcome(table, jobs):
    log = table(jobs).sort("trial")
    assert log.columns == [
        "model",
        "agent",
        "version",
        "llm",
        "provider",
        "question",
        "trial",
        "category",
        "reward",
        "exception",
    ]
    assert log.select("trial", "category", "exception").rows() == [
        ("chess__aB3", 1.0, None),
        ("chess__xY7", 1.0, TIMEOUT),  # the verifier ran after the timeout
        ("kernel__q1Z", None, TIMEOUT),
        ("kernel__v8R", 0.0, None),
        ("kernel__w0P", None, CRASH),
        ("regex__k2M", 0.0, None),
        ("regex__p9Q", 1.0, None),
    ]
    assert log.select("model", "agent", "llm").unique().rows() == [
        ("terminus-2 / gpt-5", "terminus-2", "gpt-5")
    ]


@pytest.mark.parametrize(
    ("exception", "outcome"),
    [
        *[(name, None) for name in (
            "ApiRateLimitError", "NetworkConnectionError", "EnvironmentStartTimeoutError",
            "AgentSetupTimeoutError", "RewardFileNotFoundError", "NonZeroAgentExitCodeError", CRASH,
        )],
        *[(name, 0.0) for name in (
            TIMEOUT, "VerifierTimeoutError", "ContextWindowExceededError",
            "OutputTokenExceededError", "AgentSafetyRefusalError",
        )],
    ],
)  # fmt: skip
def test_a_failure_that_is_not_the_models_has_no_outcome(table, write, exception, outcome):
    path = write("job/a__1/result.json", result("a", "1", 0.0, exception))
    assert table(path).select("category", "reward", "exception").row(0) == (outcome, 0.0, exception)
    assert table(path, threshold=1)["category"].to_list() == [None if outcome is None else False]


def test_one_warning_says_how_many_trials_have_no_outcome_and_why(reader, write):
    trials = [
        result("a", "1", 1.0), result("a", "2", 0.0, "ApiRateLimitError"),
        result("b", "1", 0.0, "ApiRateLimitError"), result("b", "2", None, CRASH),
        result("b", "3", None),
    ]  # fmt: skip
    trials.append(result("b", "4", 0.0, CRASH))
    trials[-1]["agent_info"]["name"] = "other"
    for trial in trials:
        path = write(f"job/{trial['trial_name']}/result.json", trial)
    with pytest.warns(ps.LogWarning) as caught:
        reader(path.parents[1])
    (message,) = (str(each.message) for each in caught)
    reasons = "2 ApiRateLimitError, 1 RuntimeError, 1 without a reason"
    assert message.splitlines() == [
        "5 trials have no outcome: missing= says what they count as",
        "- other / gpt-5: 1 of 1 trial (1 RuntimeError)",
        f"- terminus-2 / gpt-5: 4 of 5 trials ({reasons})",
    ]


def test_a_trial_of_several_steps_has_their_costs_and_exceptions(table, write):
    def step(exception=None):
        spent = {"cost_usd": 0.25, "n_input_tokens": 5, "n_output_tokens": None}
        times = {"started_at": "2026-01-01T12:00:00", "finished_at": "2026-01-01T12:00:10"}
        raised = {"exception_type": exception} if exception else None
        return {"agent_result": spent, "agent_execution": times, "exception_info": raised}

    keep = ["usd", "input_tokens", "seconds"]
    for name, exceptions in {
        "1": (None, None),
        "2": (TIMEOUT, "ApiError"),
        "3": (TIMEOUT,),
    }.items():
        trial = {**result("a", name, 0.0), "agent_result": None}
        path = write(
            f"job/a__{name}/result.json", {**trial, "step_results": [*map(step, exceptions)]}
        )
    log = table(path.parents[1], keep=keep)
    assert log.select("category", "exception", *keep).rows() == [
        (0.0, None, 0.5, 10, 20.0), (None, f"{TIMEOUT}, ApiError", 0.5, 10, 20.0),
        (0.0, TIMEOUT, 0.25, 5, 10.0),
    ]  # fmt: skip


def test_the_rule_of_the_leaderboard_is_a_filter(table, jobs):
    kept = pl.col("exception").is_null() | (pl.col("exception") == TIMEOUT)
    report = table(jobs).filter(kept).scorio(missing=0).avg()
    # The questions chess, kernel and regex: (1 + 0 + 1/2) / 3.
    assert report.select("questions", "trials", "estimate").rows() == [(3, 6, 0.5)]


def test_a_threshold_makes_fractions_a_success(table, write):
    write("job/a__1/result.json", result("a", "1", 0.7))
    log = table(write("job/a__2/result.json", result("a", "2", None)).parents[1])
    assert log["category"].to_list() == [0.7, None]
    log = table(write("job/a__2/result.json", result("a", "2", None)).parents[1], threshold=0.5)
    assert log["category"].to_list() == [True, None]


def test_the_report_counts_what_was_dropped(jobs, reader, summary):
    with pytest.raises(ValueError, match="question='kernel': 2 trials"):
        reader(jobs).avg()
    # (1 + 1/2 + 0) / 3, and (1 + 1/2 + 0) / 3 with the crashes as failures.
    assert summary(ps.avg(), jobs, missing="drop") == [(5, 2, 0.5)]
    assert summary(ps.avg(), jobs, missing=0) == [(7, 0, 0.5)]


def test_an_agent_without_a_model_goes_by_its_job(table, write):
    oracle = result("a", "1", 1.0)
    oracle["agent_info"]["model_info"] = None
    for job in ("monday", "tuesday"):
        path = write(f"jobs/{job}/a__1/result.json", oracle)
    log = table(path.parents[2])
    assert log["model"].to_list() == ["terminus-2 / monday", "terminus-2 / tuesday"]
    assert log["llm"].to_list() == [None, None]


def test_a_reward_that_no_trial_has_is_named(table, jobs):
    with pytest.raises(ValueError, match=r"found no reward .quality. among \['reward'\]"):
        table(jobs, reward="quality")


@pytest.mark.parametrize(("field", "other"), [("version", "2.1"), ("provider", "azure")])
def test_versions_and_providers_do_not_merge(reader, table, write, field, other):
    for name in ("one", "two"):
        trial = result("chess", name, 1.0)
        if name == "two":
            agent = trial["agent_info"]
            (agent if field == "version" else agent["model_info"])[field] = other
        path = write(f"job/{name}/result.json", trial)
    folder = path.parents[1]
    with pytest.raises(ValueError, match=f"with different settings: {field} is '.*' and '{other}'"):
        reader(folder)
    assert other in reader(folder, by=field).avg()[field].to_list()
    assert table(folder, by=field)[field].n_unique() == 2


def job_result(planned, mean=None, evaluations=1):
    """The result.json of a job."""
    metrics = [] if mean is None else [{"mean": mean}]
    evals = {f"agent {i}": {"n_trials": 1, "metrics": metrics} for i in range(evaluations)}
    return {"id": "9a", "n_total_trials": planned, "stats": {"n_trials": 1, "evals": evals}}


def test_a_job_says_how_many_trials_it_planned_and_what_they_reached(reader, jobs, write):
    write("jobs/job/result.json", job_result(9, 3 / 9))
    wanted = r"job/result\.json: 7 of 9 planned trials; the tool reports 0.3333, these rows 0.4286$"
    with pytest.warns(ps.LogWarning, match=wanted):
        log = reader(jobs, missing=0)
    found = log.describe().select("trials", "planned", "reported").row(0)
    assert found == (5, 9, pytest.approx(1 / 3))
    write("jobs/job/result.json", job_result(7, 3 / 7))
    assert reader(jobs).describe()["planned"].to_list() == [7]


def test_a_mean_over_several_rewards_is_not_compared(reader, jobs, write):
    content = job_result(7, 0.9)
    content["stats"]["evals"]["agent 0"]["reward_stats"] = {"reward": {}, "style": {}}
    write("jobs/job/result.json", content)
    assert reader(jobs).describe().select("planned", "reported").row(0) == (7, None)


def test_a_job_of_two_models_has_one_plan_for_both(reader, write):
    for name in ("one", "two"):
        trial = result("chess", name, 1.0)
        trial["agent_info"]["name"] = name
        path = write(f"job/{name}/result.json", trial)
    write("job/result.json", job_result(4, 1.0, evaluations=2))
    with pytest.warns(ps.LogWarning, match="2 of 4 planned trials$"):
        log = reader(path.parents[1])
    assert "planned" not in log.describe().columns


def test_a_result_of_a_job_of_another_shape_is_named(reader, jobs, write):
    write("jobs/job/result.json", {"n_total_trials": "many"})
    with pytest.raises(ValueError, match=r"job/result\.json: expected result\.json of a job"):
        reader(jobs)
