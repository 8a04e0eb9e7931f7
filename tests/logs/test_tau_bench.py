import polars as pl
import pytest

import polars_scorio as ps

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


def test_a_crash_is_told_from_a_failure(table, trajectories):
    log = table(trajectories)
    assert log.columns == ["model", "question", "trial", "category", "reward", "error"]
    assert log["model"].unique().to_list() == ["gpt-4o-airline"]
    assert log["category"].to_list() == [True, True, True, False, False, None]
    assert log.filter(pl.col("category").is_null())["error"].to_list() == [CRASH["error"]]


@pytest.mark.parametrize("reward", ["NaN", "Infinity", "-Infinity", "1e999", "null"])
def test_a_reward_that_is_no_number_is_missing(reader, table, write, tmp_path, reward):
    file = write("gpt-4o-airline.json", [run(0, 0, 1.0), run(0, 1, 0.25)])
    path = tmp_path / "gpt-4o-airline.json"
    path.write_text(path.read_text().replace("0.25", reward))
    assert table(file)["category"].to_list() == [True, None]
    with pytest.raises(ValueError, match=r"^1 question has a missing category"):
        reader(file).avg()
    assert reader(file, missing=0).avg()["estimate"].item() == 0.5


def test_a_file_that_was_resumed_twice_is_found(reader, trajectories, write):
    write("gpt-4o-airline.json", [run(0, 0, 1.0), run(0, 0, 0.0)])
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        reader(trajectories).avg()


def test_a_folder_without_logs_is_refused(table, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file in .* is called \*\.json"):
        table(tmp_path)


def test_missing_says_what_a_crash_means(trajectories, reader, summary):
    with pytest.raises(ValueError, match=r"the first at model='gpt-4o-airline', question=2"):
        reader(trajectories).avg()
    # tau-bench: pass^1 = (1 + 1/2 + 0) / 3, pass^2 = 1/3.
    passed = ps.pass_hat_k([1, 2])
    assert summary(passed, trajectories, missing=0) == [(6, 0, 0.5), (6, 0, 0.333)]
    assert summary(ps.avg(), trajectories, missing="drop") == [(5, 1, 0.5)]


def test_each_file_is_a_model_also_where_names_are_the_same(write, table):
    for folder in ("ada", "bob"):
        path = write(f"{folder}/run.json", [run(0, 0, 1.0)])
    assert table(path.parents[1])["model"].to_list() == ["ada/run", "bob/run"]
    assert table(path.parents[1], model=r"(\w+)/run")["model"].to_list() == ["ada", "bob"]


def test_the_name_of_a_file_has_its_settings(reader, write):
    for temperature in (0.0, 0.7):
        name = f"tool-calling-gpt-4o-{temperature}_range_0--1_user-gpt-4o-llm_0612012345.json"
        path = write(f"results/{name}", [run(0, int(temperature > 0), 1.0)])
    assert reader(path.parent).frame["model"].n_unique() == 2
    with pytest.raises(ValueError, match=r"'ada', with different settings: temperature is '0\.0'"):
        reader(path.parent, model="ada")
    strata = reader(path.parent, model="ada", by="temperature").avg()
    assert strata["temperature"].to_list() == ["0.0", "0.7"]
