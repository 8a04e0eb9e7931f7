import pytest

import polars_scorio as ps


def simulation(task, trial, reward, termination="user_stop"):
    """One simulation of results.json."""
    played = {"reward": reward, "db_check": None, "reward_basis": ["DB"]}
    return {
        "id": f"{task}-{trial}",
        "task_id": task,
        "timestamp": "2026-01-01T12:00:00",
        "duration": 1.5,
        "termination_reason": termination,
        "agent_cost": 0.1,
        "reward_info": None if reward is None else played,
        "messages": [],
        "trial": trial,
        "seed": 300,
    }


SIMULATIONS = [
    simulation("0", 0, 1.0),
    simulation("0", 1, 0.9999999),
    simulation("1", 0, 0.0, "max_steps"),
    simulation("1", 1, 0.0, "agent_error"),
    simulation("2", 0, 1.0),
    simulation("2", 1, None, "infrastructure_error"),
]


def results(**fields):
    return {
        "timestamp": "2026-01-01T12:00:00",
        "info": {
            "git_commit": "c",
            "num_trials": 2,
            "agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1", "llm_args": {}},
            "environment_info": {"domain_name": "retail", "policy": "..."},
        },
        "tasks": [{"id": task} for task in "012"],
        **fields,
    }


@pytest.fixture
def run(write):
    return write("data/results.json", results(simulations=SIMULATIONS))


def test_infrastructure_errors_have_no_outcome(table, run):
    log = table(run)
    assert log.row(0)[:4] == ("llm_agent / gpt-4.1", "llm_agent", "gpt-4.1", "retail")
    assert log["category"].to_list() == [True, True, False, False, True, None]
    assert log["termination"].to_list()[2:] == [
        "max_steps",
        "agent_error",
        "user_stop",
        "infrastructure_error",
    ]


def test_a_reward_that_an_infrastructure_error_left_is_not_counted(table, write):
    crash = simulation("0", 0, 0.0, "infrastructure_error")
    del crash["reward_info"]["db_check"]
    absent = simulation("0", 1, None, "infrastructure_error")
    del absent["reward_info"]
    path = write("results.json", results(simulations=[crash, absent], tasks=[{"id": "0"}]))
    assert table(path)["category"].to_list() == [None, None]


def test_a_reward_of_nan_is_no_outcome(table, write):
    simulations = [simulation("0", trial, float("nan")) for trial in (0, 1)]
    path = write("results.json", results(simulations=simulations, tasks=[{"id": "0"}]))
    assert "NaN" in path.read_text(encoding="utf-8")
    assert table(path)["category"].to_list() == [None, None]


def test_a_run_that_was_stopped_is_no_whole_run(reader, write):
    path = write("results.json", results(simulations=[simulation("0", 0, 1.0)]))
    with pytest.warns(ps.LogWarning, match="1 of 6 planned trials"):
        log = reader(path)
    assert log.describe()["planned"].to_list() == [6]


def test_simulations_in_files_of_their_own_are_read(table, run, write):
    index = [{"id": s["id"], "task_id": s["task_id"], "trial": s["trial"]} for s in SIMULATIONS]
    write("parts/results.json", results(simulation_index=index))
    for one in SIMULATIONS:
        path = write(f"parts/simulations/{one['id']}.json", one)
    assert table(path.parents[1]).equals(table(run))


def test_a_file_with_all_its_simulations_has_no_parts(table, run, write):
    write("data/simulations/other.json", results(simulations=[]))
    assert table(run).height == len(SIMULATIONS)


def test_dropping_gives_the_numbers_of_tau2(reader, summary, run):
    # tau2 leaves the infrastructure error out: pass^1 = (1 + 0 + 1) / 3.
    assert summary(ps.pass_hat_k(1), run, missing="drop") == [(5, 1, 0.667)]
    with pytest.raises(ValueError, match="1 question has a missing category"):
        reader(run).avg()


def test_a_folder_of_runs_with_names_of_their_own_tells_agents_apart(table, write):
    for agent in ("llm_agent", "llm_agent_solo", "llm_agent_gt"):
        content = results(simulations=SIMULATIONS)
        content["info"]["agent_info"]["implementation"] = agent
        path = write(f"runs/2026_retail_{agent}.json", content)
    write("runs/tasks.json", [{"id": "0"}])  # no run
    log = table(path.parent)
    assert log.height == 3 * len(SIMULATIONS)
    assert log["model"].unique().sort().to_list() == [
        "llm_agent / gpt-4.1", "llm_agent_gt / gpt-4.1", "llm_agent_solo / gpt-4.1"
    ]  # fmt: skip


def test_a_log_without_its_tasks_does_not_say_how_many_there_are(reader, write):
    path = write("results.json", results(simulations=SIMULATIONS, tasks=[]))
    assert "planned" not in reader(path).describe().columns


@pytest.mark.parametrize("field", ["speech_complexity", "retrieval_config", "max_errors"])
def test_runs_with_other_settings_do_not_merge(reader, write, field):
    for value in ("low", "high"):
        content = results(simulations=SIMULATIONS)
        content["info"][field] = value
        path = write(f"runs/{value}.json", content)
    with pytest.raises(ValueError, match=f"with different settings: {field} is 'high' and 'low'"):
        reader(path.parent)


def test_the_role_of_costs_keeps_their_field(reader, run):
    costs = reader(run, cost="usd", missing="drop").report(ps.mean_cost())
    assert costs["estimate"].to_list() == [pytest.approx(0.1)]
