import polars as pl
import pytest

import polars_scorio as ps

NAN = float("nan")


def rollout(uid, acc, step=10, **fields):
    """One line of <step>.jsonl: the score of math_dapo is 1 or -1."""
    score = 1.0 if acc == 1 else -1.0
    line = {"input": "1 + 1", "output": "2", "gts": "2", "score": score, "step": step}
    known = {"reward": score, "acc": acc, "pred": "2"}
    return {**line, **known, **({"uid": uid} if uid else {}), **fields}


@pytest.fixture
def validation(write):
    accs = {"a": [1.0, 0.0], "b_1": [1.0, 1.0], "c": [0.0, NAN]}
    for step in (10, 20):
        lines = [
            rollout(f"{sample}_{i}_0", acc, step)
            for sample, found in accs.items()
            for i, acc in enumerate(found)
        ]
        path = write(f"val/{step}.jsonl", *lines)
    return path.parent


def test_the_uid_holds_question_and_trial(table, validation):
    log = table(validation / "10.jsonl")
    assert log.columns == ["step", "question", "trial", "reward", "score", "category"]
    assert log.select("question", "trial").rows() == [
        (sample, f"{i}_0") for sample in ("a", "b_1", "c") for i in (0, 1)
    ]


def test_a_reward_of_nan_is_no_outcome(table, validation):
    assert "NaN" in (validation / "10.jsonl").read_text(encoding="utf-8")
    with pytest.raises(pl.exceptions.ComputeError, match="'N'"):
        pl.read_ndjson(validation / "10.jsonl")
    log = table(validation / "10.jsonl")
    assert log["category"].to_list() == [1.0, 0.0, 1.0, 1.0, 0.0, None]


def test_without_a_uid_the_input_is_the_question(table, write, summary):
    lines = [rollout(None, acc, input=text) for text, acc in [("p", 1), ("p", 0), ("q", 1)]]
    path = write("5.jsonl", *lines)
    assert table(path)["question"].to_list() == ["p", "p", "q"]
    assert table(path)["trial"].null_count() == 3
    assert summary(ps.avg(), path) == [(3, 0, 0.75)]


def test_truth_values_are_rewards_and_words_are_not(table, write):
    path = write("5.jsonl", rollout("a_0_0", True), rollout("a_1_0", None))
    assert table(path)["category"].to_list() == [1.0, None]
    with pytest.raises(ValueError, match="could not convert string to float: 'none'"):
        table(write("6.jsonl", rollout("a_0_0", "none")))


def test_any_reward_can_be_read_with_a_threshold(table, validation, write):
    log = table(validation / "10.jsonl", reward="score", threshold=0)
    assert log["category"].to_list() == [True, False, True, True, False, False]
    # A reward function that returns a plain number leaves no acc.
    plain = {key: value for key, value in rollout(None, 1.0).items() if key != "acc"}
    with pytest.raises(ValueError, match=r"7\.jsonl: expected .*without the reward 'acc'.*'score'"):
        table(write("7.jsonl", plain))


def test_each_step_is_a_stratum(reader, summary, validation):
    with pytest.raises(ValueError, match=r"2 questions have a missing category.*step=10"):
        reader(validation).avg()
    # Questions a, b and c: (1/2 + 1 + 0) / 3.
    assert summary(ps.avg(), validation, missing="drop") == [(5, 1, 0.5), (5, 1, 0.5)]
    assert "model" not in reader(validation, missing="drop").avg().columns


def test_two_runs_have_to_be_named(table, validation, write):
    write("other/10.jsonl", rollout("a_0_0", 1.0))
    with pytest.raises(ValueError, match=r"lie in two folders.*model="):
        table(validation.parent)
    log = table(validation.parent, model=r"(\w+)/\d+\.jsonl")
    assert log["model"].unique().sort().to_list() == ["other", "val"]
