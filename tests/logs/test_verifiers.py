import polars as pl
import pytest

import polars_scorio as ps

FAILED = {"error": "TimeoutError", "error_chain_repr": "...", "error_chain_str": "..."}


def rollout(example, reward, error=None):
    """One line of results.jsonl."""
    return {
        "example_id": example,
        "prompt": [{"role": "user", "content": "1 + 1"}],
        "completion": [{"role": "assistant", "content": "2"}],
        "reward": reward,
        "error": error,
        "timing": {"total_ms": 12.5},
        "is_completed": error is None,
        "is_truncated": False,
        "stop_condition": None,
        "metrics": {"correct": reward},
        "correct": reward,
    }


@pytest.fixture
def results(write):
    lines = [
        rollout(0, 1.0),
        rollout(0, 0.5),
        rollout(1, 0.4),
        rollout(1, 0.0),
        rollout(2, 1.0),
        rollout(2, 0.0, FAILED),
    ]
    folder = "outputs/evals/gsm8k--ada/3f0e"
    metadata = {"env_id": "gsm8k", "model": "org/ada", "num_examples": 3}
    write(f"{folder}/metadata.json", {**metadata, "rollouts_per_example": 2, "avg_reward": 0.48})
    return write(f"{folder}/results.jsonl", *lines)


def test_a_rollout_with_an_error_has_no_outcome(reader, table, results):
    assert isinstance(reader(results).frame, pl.LazyFrame)
    log = table(results, threshold=0.5)
    assert log.row(0) == ("org/ada", "gsm8k", "0", 1.0, None, True)
    assert log["category"].to_list() == [True, True, False, False, True, None]
    assert log["error"].null_count() == 5
    assert "TimeoutError" in log["error"][5]


def test_without_a_threshold_the_category_is_the_reward(reader, results):
    frame = reader(results).frame
    with pytest.warns(ps.LogWarning, match="neither 0 nor 1: the category is the reward") as caught:
        log = frame.collect()
    assert len(caught) == 1
    assert log["category"].to_list() == [1.0, 0.5, 0.4, 0.0, 1.0, None]


def test_levels_say_that_rewards_are_no_outcomes(table, results):
    log = table(results, levels=[0, 0.4, 0.5, 1])
    assert log["category"].to_list() == [1.0, 0.5, 0.4, 0.0, 1.0, None]


def test_rewards_of_0_and_1_are_outcomes_without_a_warning(results, summary, write):
    write("outputs/evals/gsm8k--ada/3f0e/results.jsonl", rollout(0, 1.0), rollout(1, 0.0))
    assert summary(ps.avg(), results) == [(2, 0, 0.5)]


def test_files_before_0_1_8_have_other_names(table, results, write):
    folder = "outputs/evals/gsm8k--ada/3f0e"
    old = {"id": 3, **rollout(0, 1.0)}
    del old["example_id"], old["error"]
    write(f"{folder}/metadata.json", {"env": "gsm8k", "model": "ada"})
    write(f"{folder}/results.jsonl", old)
    assert table(results).row(0) == ("ada", "gsm8k", "3", 1.0, None, 1.0)
    write(f"{folder}/results.jsonl", {"reward": 1.0})
    with pytest.raises(ValueError, match=r"results\.jsonl: expected .*lines without 'example_id'"):
        table(results)


def test_the_report_says_what_became_of_the_error(results, reader, summary):
    folder = results.parents[4]
    with pytest.raises(ValueError, match="benchmark='gsm8k', model='org/ada', question='2'"):
        reader(folder, threshold=0.5).avg().collect()
    assert summary(ps.avg(), folder, threshold=0.5, missing="drop") == [(5, 1, 0.667)]
    assert summary(ps.avg(), folder, threshold=0.5, missing=0) == [(6, 0, 0.5)]


def test_the_side_file_is_needed(results, table):
    results.with_name("metadata.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"metadata\.json is missing, which names the"):
        table(results)


def test_two_versions_are_read_apart(results, table, write):
    write("outputs/e--m/1/traces.jsonl", {})
    with pytest.raises(ValueError, match=r"traces\.jsonl and .*results\.jsonl are of two versions"):
        table(results.parents[4])
