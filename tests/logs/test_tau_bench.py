import polars as pl
import pytest

# The messages of an exception: tau-bench writes reward 0.0 and no trajectory.
CRASH = {"error": "RateLimitError: slow down", "traceback": "Traceback ..."}


def run(task, trial, reward, info=None):
    """One object of a trajectory file."""
    played = {"task": {"user_id": "u"}, "source": "user", "user_cost": 0.01, "reward_info": None}
    traj = [] if info else [{"role": "user", "content": "hi"}]
    return {
        "task_id": task,
        "reward": reward,
        "info": info or played,
        "traj": traj,
        "trial": trial,
    }


@pytest.fixture
def trajectories(write):
    runs = [
        run(0, 0, 1.0),
        run(0, 1, 0.9999999),
        run(1, 0, 1.0),
        run(1, 1, 0.0),
        run(2, 0, 0.0),
        run(2, 1, 0.0, CRASH),
    ]
    return write("gpt-4o-airline.json", runs)


def test_a_crash_is_told_from_a_failure(recipe, trajectories):
    log = recipe.trials(trajectories)
    assert log.columns == ["model", "question", "trial", "category", "reward", "error"]
    assert log["model"].unique().to_list() == ["gpt-4o-airline"]
    assert log["category"].to_list() == [True, True, True, False, False, None]
    assert log.filter(pl.col("category").is_null())["error"].to_list() == [CRASH["error"]]


def test_missing_says_what_a_crash_means(trajectories, printed):
    with pytest.raises(SystemExit, match=r"the first at model='gpt-4o-airline', question=2"):
        printed(trajectories)
    # tau-bench: pass^1 = (1 + 1/2 + 0) / 3, pass^2 = 1/3.
    failed = printed(trajectories, "--missing", "0")
    assert "┆ 6      ┆ 0       ┆ 0.500" in failed
    assert "┆ 0.333" in failed
    assert "┆ 5      ┆ 1       ┆ 0.500" in printed(trajectories, "--missing", "drop")


def test_a_file_that_was_resumed_twice_is_found(recipe, trajectories, write):
    write("gpt-4o-airline.json", [run(0, 0, 1.0), run(0, 0, 0.0)])
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        recipe.trials(trajectories).scorio.avg()


def test_a_folder_without_logs_is_refused(recipe, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches '\*.json' in"):
        recipe.trials(tmp_path)
