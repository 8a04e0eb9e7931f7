"""The reader of NeMo Gym."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers


def rollout(task, index, reward=None, agent=None, **more):
    """A line of rollouts; without a reward one of a file beside them."""
    line = {"_ng_task_index": task, "_ng_rollout_index": index, **more}
    if agent is not None:
        line["agent_ref"] = {"name": agent}
    if reward is None:
        return line
    asked = {"temperature": 1.0, "input": "long"}
    response = {"model": "ada", "output": "long", "usage": {"output_tokens": 5}}
    return {"responses_create_params": asked, "response": response, **line, "reward": reward}


LINES = [rollout(1, 0, 1.0), rollout(0, 1, -1), rollout(0, 0, True)]


def test_a_rollout_that_failed_is_a_missing_trial(reader, table, summary, write):
    path = write("r/a.jsonl", *LINES)
    # Each attempt has a line, also of a rollout that succeeded later.
    attempts = [rollout(1, 1, _ng_failure_class="timeout"), {"_ng_failure_class": "lost"}] * 2
    write("r/a_failures.jsonl", rollout(0, 0, _ng_failure_class="judge"), *attempts)
    assert table(path).rows() == [
        ("ada", "agent", 1, 0, 1.0, 1.0, None),
        ("ada", "agent", 0, 1, -1.0, -1.0, None),
        ("ada", "agent", 0, 0, 1.0, 1.0, None),
        ("ada", "agent", 1, 1, None, None, "timeout"),
    ]
    with pytest.raises(ValueError, match="1 question has a missing category"):
        reader(path).avg()
    assert summary(ps.avg(), path.parent, threshold=1, missing=0) == [(4, 0, 0.5)]


def test_the_plan_tells_rollouts_that_left_no_trace(reader, table, write):
    path = write("a.jsonl", *LINES)
    write(
        "a_materialized_inputs.jsonl", *(rollout(*key) for key in [(0, 0), (0, 1), (1, 0), (2, 0)])
    )
    missing = table(path).filter(pl.col("category").is_null())
    assert missing.select("question", "trial", "failure").rows() == [(2, 0, "no rollout")]
    assert reader(path, missing=0).describe()["planned"].to_list() == [4]
    write("a_materialized_inputs.jsonl", rollout(0, 0))
    with pytest.warns(ps.LogWarning, match="3 trials, where 1 were planned"):
        reader(path)


def test_an_old_file_may_have_attempts_that_failed(table, reader, write):
    failed = {**rollout(1, 1, 0.0), "_ng_failure_class": "timeout"}
    log = table(write("a.jsonl", failed, *LINES, rollout(1, 1, 1.0), failed))
    assert log.filter(question=1, trial=1)["category"].to_list() == [1.0]
    assert table(write("a.jsonl", failed, failed, *LINES))["category"].null_count() == 1
    with pytest.raises(ValueError, match=r"in line 4 \(task 1 has rollout 0 twice\)"):
        reader(write("a.jsonl", *LINES, LINES[0]))


def test_agents_are_strata_with_their_mean_rewards(reader, write):
    path = write("a.jsonl", rollout(0, 0, 1.0, "x"), rollout(1, 0, 0.0, "y"))
    write("a_failures.jsonl", rollout(1, 1, _ng_failure_class="timeout"))
    metrics = [
        {"agent_ref": {"name": name}, "agent_metrics": {"mean/reward": mean}}
        for name, mean in {"x": 1.0, "y": 0.0}.items()
    ]
    write("a_aggregate_metrics.json", metrics)
    found = reader(path, missing=0).describe().select("agent", "nulls", "reported")
    assert found.rows() == [("x", 0, 1.0), ("y", 1, 0.0)]
    write("a_aggregate_metrics.json", [{"agent_ref": {"name": "x"}, "agent_metrics": {}}])
    assert "reported" not in reader(path, missing=0).describe().columns
    metrics[0]["agent_metrics"]["mean/reward"] = 0.5
    write("a_aggregate_metrics.json", metrics)
    with pytest.warns(ps.LogWarning, match="agent 'x': the tool reports 0.5, these rows 1"):
        reader(path)


def test_another_reward_may_count(reader, table, write):
    path = write("a.jsonl", {**LINES[0], "exact": 1}, LINES[1])
    assert table(path, reward="exact")["category"].to_list() == [1.0, None]
    with pytest.raises(ValueError, match="lines without the reward 'exakt', see reward="):
        reader(path, reward="exakt")


def test_responses_of_two_models_need_a_name(reader, table, write):
    other = {**LINES[1], "response": {"model": "bob"}}
    path = write("a.jsonl", LINES[0], other)
    with pytest.raises(ValueError, match=r"several models, \['ada', 'bob'\]: name one with model="):
        reader(path)
    nested = {**LINES[0], "response": {"model": {"name": "ada"}}}
    with pytest.raises(ValueError, match=r"b\.jsonl: expected .* another shape \(unhashable"):
        reader(write("b.jsonl", nested))
    assert table(path, model="eve")["model"].unique().to_list() == ["eve"]
    nameless = {**LINES[0], "response": {}}
    assert table(write("runs/a.jsonl", nameless))["model"].to_list() == ["a"]


def test_old_lines_and_files_beside_rollouts_are_refused(reader, write):
    with pytest.raises(ValueError, match="without '_ng_task_index', which old versions of NeMo G"):
        reader(write("a.jsonl", {"reward": 1.0}))
    path = write("b/a_failures.jsonl", rollout(1, 1))
    with pytest.raises(ValueError, match="found only the file beside the rollouts, failures"):
        reader(path.parent)
    write("b/a.jsonl", *LINES)
    write("b/a_failures.jsonl", {"_ng_task_index": "one", "_ng_rollout_index": 1})
    wanted = r"a_failures\.jsonl: expected .* in line 1 \(task and rollout are \('one', 1\)\)"
    with pytest.raises(ValueError, match=wanted):
        reader(path.parent)


def test_runs_with_other_settings_do_not_merge(reader, write):
    path = write("a.jsonl", *LINES)
    hot = {**LINES[0], "responses_create_params": {"temperature": 0.0}, "_ng_rollout_index": 7}
    write("b.jsonl", hot)
    with pytest.raises(ValueError, match=r"params\.temperature is 1\.0 and 0\.0\."):
        reader(path.parent)


@pytest.mark.parametrize(("name", "absent"), [("blackjack", 0), ("aalcr", 0), ("circle_count", 1)])
def test_real_files_give_the_expected_numbers(reader, name, absent):
    part = expected_numbers("nemo_gym")[name]
    folder = LOGS / "nemo_gym" / name
    assert_expected(lambda **o: reader(folder, **o), part, stratum="agent", absent=absent)
    found = reader(folder, missing=0).describe()
    told = part["tool_mean_reward"]
    if told is None:
        assert "reported" not in found.columns
    else:
        assert dict(found.select("agent", "reported").rows()) == pytest.approx(told)
