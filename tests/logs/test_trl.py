import polars as pl
import pytest


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


def test_a_completion_without_reward_has_no_outcome(recipe, completions):
    log = recipe.trials(completions, "accuracy_reward")
    assert isinstance(log, pl.LazyFrame)
    assert log.collect_schema().names() == ["step", "question", "category"]
    first = log.filter(step=100).collect()
    assert first["category"].to_list() == [1, 0, 0, 0, 1, 1, None, 0]
    assert first["question"].unique().sort().to_list() == ["1 + 1", "2 + 2"]


def test_each_step_is_a_stratum(completions, printed):
    with pytest.raises(SystemExit, match=r"1 question has a missing category.*step=100"):
        printed(completions, "--reward", "accuracy_reward")
    report = printed(completions, "--reward", "accuracy_reward", "--missing", "drop")
    assert "┆ 7      ┆ 1       ┆ 0.458" in report  # (1/4 + 2/3) / 2
    assert "┆ 8      ┆ 0       ┆ 0.625" in report  # (2/4 + 3/4) / 2


def test_a_threshold_makes_fractions_a_success(recipe, completions):
    log = recipe.trials(completions, "format_reward", threshold=0.2).collect()
    assert log["category"].to_list() == [True] * 16
    log = recipe.trials(completions, "accuracy_reward", threshold=0.5).collect()
    assert log["category"].null_count() == 1
