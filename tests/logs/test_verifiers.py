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
    log = table(results)
    assert log.row(0) == ("org/ada", "gsm8k", "0", 1.0, None, True)
    assert log["category"].to_list() == [True, True, False, False, True, None]
    assert log["error"].null_count() == 5
    assert "TimeoutError" in log["error"][5]


def test_without_a_threshold_the_category_is_the_reward(table, results):
    log = table(results, threshold=None)
    assert log["category"].to_list() == [1.0, 0.5, 0.4, 0.0, 1.0, None]


def test_the_report_says_what_became_of_the_error(results, reader, summary):
    folder = results.parents[4]
    with pytest.raises(ValueError, match="benchmark='gsm8k', model='org/ada', question='2'"):
        reader(folder).avg().collect()
    assert summary(ps.avg(), folder, missing="drop") == [(5, 1, 0.667)]
    assert summary(ps.avg(), folder, missing=0) == [(6, 0, 0.5)]


def test_the_side_file_is_needed(results, table):
    results.with_name("metadata.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"metadata\.json is missing, which names the"):
        table(results)


def test_two_versions_are_read_apart(results, table, write):
    write("outputs/e--m/1/traces.jsonl", {})
    with pytest.raises(ValueError, match=r"traces\.jsonl and .*results\.jsonl are of two versions"):
        table(results.parents[4])
