import pytest


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


def test_infrastructure_errors_have_no_outcome(recipe, run):
    log = recipe.trials(run)
    assert log.row(0)[:4] == ("gpt-4.1", "retail", "0", 0)
    assert log["category"].to_list() == [True, True, False, False, True, None]
    assert log["termination"].to_list()[2:] == [
        "max_steps",
        "agent_error",
        "user_stop",
        "infrastructure_error",
    ]


def test_a_reward_that_an_infrastructure_error_left_is_not_counted(recipe, write):
    crash = simulation("0", 0, 0.0, "infrastructure_error")
    del crash["reward_info"]["db_check"]
    absent = simulation("0", 1, None, "infrastructure_error")
    del absent["reward_info"]
    path = write("results.json", results(simulations=[crash, absent]))
    assert recipe.trials(path)["category"].to_list() == [None, None]


def test_a_reward_of_nan_is_no_outcome(recipe, write):
    path = write("results.json", results(simulations=[simulation("0", 0, float("nan"))]))
    assert "NaN" in path.read_text(encoding="utf-8")
    assert recipe.trials(path)["category"].to_list() == [None]


def test_simulations_in_files_of_their_own_are_read(recipe, run, write):
    index = [{"id": s["id"], "task_id": s["task_id"], "trial": s["trial"]} for s in SIMULATIONS]
    write("parts/results.json", results(simulation_index=index))
    for one in SIMULATIONS:
        path = write(f"parts/simulations/{one['id']}.json", one)
    assert recipe.trials(path.parents[1]).equals(recipe.trials(run))


def test_a_file_with_all_its_simulations_has_no_parts(recipe, run, write):
    write("data/simulations/other.json", results(simulations=[]))
    assert recipe.trials(run).height == len(SIMULATIONS)


def test_dropping_gives_the_numbers_of_tau2(printed, run):
    # tau2 leaves the infrastructure error out: pass^1 = (1 + 0 + 1) / 3.
    report = printed(run, "--missing", "drop")
    assert "┆ 5      ┆ 1       ┆ 0.667" in report
    with pytest.raises(SystemExit, match="1 question has a missing category"):
        printed(run)
