import polars as pl
import pytest

import polars_scorio as ps


@pytest.fixture
def completions(tmp_path):
    """Two steps of two prompts with four completions each; one was not scored."""
    rewards = {100: [1, 0, 0, 0, 1, 1, None, 0], 200: [1, 1, 0, 0, 1, 1, 1, 0]}
    for step, accuracy in rewards.items():
        columns = {
            "step": [step] * 8,
            "prompt": ["1 + 1"] * 4 + ["2 + 2"] * 4,
            "completion": ["?"] * 8,
            "accuracy_reward": pl.Series(accuracy, dtype=pl.Float64),
            "format_reward": [0.25] * 8,
            "advantage": [0.0] * 8,
        }
        frame = pl.DataFrame(columns)
        # A reward function that was added for the second step.
        if step == 200:
            frame = frame.with_columns(length_reward=0.5)
        frame.write_parquet(tmp_path / f"completions_{step:05}.parquet")
    return tmp_path


def test_a_completion_without_reward_has_no_outcome(reader, completions):
    log = reader(completions, reward="accuracy_reward").frame
    assert isinstance(log, pl.LazyFrame)
    assert log.collect_schema().names() == [
        "step",
        "question",
        "reward",
        "category",
        "run",
        "source",
    ]
    first = log.filter(step=100).collect()
    assert first["category"].to_list() == [1, 0, 0, 0, 1, 1, None, 0]
    assert first["question"].unique().sort().to_list() == ["1 + 1", "2 + 2"]


def test_a_threshold_makes_fractions_a_success(table, completions):
    log = table(completions, reward="format_reward", threshold=0.2)
    assert log["category"].to_list() == [True] * 16
    log = table(completions, reward="accuracy_reward", threshold=0.5)
    assert log["category"].null_count() == 1


def test_each_step_is_a_stratum(completions, reader, summary):
    with pytest.raises(ValueError, match=r"1 question has a missing category.*step=100"):
        reader(completions, reward="accuracy_reward").avg().collect()
    # (1/4 + 2/3) / 2, and (2/4 + 3/4) / 2.
    steps = summary(ps.avg(), completions, reward="accuracy_reward", missing="drop")
    assert steps == [(7, 1, 0.458), (8, 0, 0.625)]


def test_one_of_several_rewards_has_to_be_named(completions, table):
    with pytest.raises(
        ValueError, match=r"_00100.parquet has the rewards \['acc.*'format_.*reward="
    ):
        table(completions)


def test_two_runs_have_to_be_named(completions, table):
    frame = pl.read_parquet(completions / "completions_00100.parquet")
    (completions / "other").mkdir()
    frame.write_parquet(completions / "other" / "completions_00100.parquet")
    with pytest.raises(ValueError, match=r"lie in two folders.*model="):
        table(completions, reward="format_reward")
    log = table(completions / "other", reward="format_reward", model="(other)/")
    assert log["model"].unique().to_list() == ["other"]


def test_another_file_is_refused(tmp_path, table):
    pl.DataFrame({"a": 1}).write_parquet(tmp_path / "completions_1.parquet")
    with pytest.raises(ValueError, match=r"completions_1.parquet: expected .*columns \['a'\]"):
        table(tmp_path)
    (tmp_path / "completions_1.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"completions_1.parquet: expected .*no whole Parquet"):
        table(tmp_path)
