import gzip

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
    lines = [rollout(question, float(question == 0)) for question in (0, 0, 1, 1, 2, 2)]
    write("outputs/evals/gsm8k--ada/3f0e/results.jsonl", *lines)
    assert summary(ps.avg(), results) == [(6, 0, 0.333)]


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


@pytest.fixture
def run(write):
    """Write a run of two examples, with some settings."""

    def written(folder, rewards=(1.0, 0.0), **settings):
        known = {"env_id": "gsm8k", "model": "org/ada", "num_examples": 2, **settings}
        write(f"evals/{folder}/metadata.json", known)
        lines = [rollout(question, reward) for question, reward in enumerate(rewards)]
        return write(f"evals/{folder}/results.jsonl", *lines).parents[1]

    return written


def test_a_copied_run_adds_no_trials(reader, run):
    run("3f0e")
    with pytest.raises(ValueError, match="are the same run, '3f0e': they have the same bytes"):
        reader(run("copy"))


@pytest.mark.parametrize("between", ["", "\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_that_was_written_twice_is_refused(results, table, between, pack):
    text = results.read_text(encoding="utf-8").rstrip()
    results.unlink()
    results = results.with_name(f"results.jsonl{'.gz' if pack is gzip.compress else ''}")
    results.write_bytes(pack(f"{text}\n{text}{between}".encode()))
    with pytest.raises(ValueError, match=r"results\.jsonl.*: expected .*, found all lines twice"):
        table(results)


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ({"env_args": {"rlm": True}}, {"env_args": {}}, "env_args.rlm is True and None"),
        ({"num_examples": 2}, {"num_examples": 50}, "num_examples is 2 and 50"),
        (
            {"sampling_args": {"temperature": 0.2}},
            {"sampling_args": {"temperature": 1.0}},
            "sampling_args.temperature is 0.2 and 1.0",
        ),
    ],
)
def test_runs_with_other_settings_do_not_merge(reader, run, first, second, difference):
    run("one", **first)
    folder = run("two", (1.0, 1.0), **second)
    with pytest.raises(ValueError, match=rf"'org/ada', with different settings: {difference}\. To"):
        reader(folder)
    assert reader(folder, model="evals/(.*)/results").avg().collect().height == 2
    setting = difference.partition(" ")[0]
    strata = reader(folder, by=setting)
    assert strata.avg().collect()["estimate"].sort().to_list() == [0.5, 1.0]


def test_seeds_and_addresses_are_no_settings(reader, run):
    run("one", sampling_args={"seed": 1}, base_url="http://localhost:8000")
    folder = run("two", (1.0, 1.0), sampling_args={"seed": 2}, base_url="http://localhost:8001")
    report = reader(folder).avg().collect()
    assert report.select("trials", "estimate").row(0) == (4, 0.75)


def test_a_mean_that_was_not_computed_is_no_report(reader, run):
    unknown = {"avg_reward": 0.0, "avg_metrics": {}}
    assert "reported" not in reader(run("one", **unknown)).describe().collect().columns
    folder = run("one", avg_reward=0.9, avg_metrics={"correct": 0.9}, rollouts_per_example=2)
    with pytest.warns(ps.LogWarning, match="2 of 4 planned trials; the tool reports 0.9, these"):
        found = reader(folder).describe().collect()
    assert found.select("planned", "reported").row(0) == (4, 0.9)


def test_the_plan_of_each_stratum_is_known(reader, run):
    plan = {"rollouts_per_example": 1}
    run("one", env_args={"rlm": True}, **plan)
    folder = run("two", (1.0, 1.0), env_args={}, **plan)
    for by in ("run", "source", "env_args.rlm"):
        found = reader(folder, by=by).describe().collect()
        assert found.select("trials", "planned").rows() == [(2, 2), (2, 2)]


def trace(agent="agent", **rewards):
    """One trace of an episode; every reward has the weight 1, style has 1/4."""
    weighted = {
        name: {"score": score, "weight": 0.25 if name == "style" else 1.0}
        for name, score in rewards.items()
    }
    config = {"runtime": {"type": "local"}, "max_turns": 8}
    return {
        "version": 1,
        "id": "t",
        "task": {"type": "Task", "data": {"idx": 0}},
        "agent": {"config": config, "name": agent, "trainable": True},
        "nodes": [],
        "rewards": weighted,
        "metrics": {},
    }


def episode(idx, number, *traces, errors=()):
    """One line of traces.jsonl."""
    return {
        "id": f"{idx}-{number}",
        "env": {"id": "gsm8k"},
        "task": {"type": "Task", "data": {"idx": idx, "prompt": "1 + 1"}, "key": f"k{idx}"},
        "ok": not errors,
        "errors": [{"type": error, "message": "..."} for error in errors],
        "traces": list(traces),
    }


@pytest.fixture
def traces(write):
    episodes = [
        episode(0, 0, trace(correct=1.0, style=0.0)),
        episode(0, 1, trace("judge", correct=0.0), trace(correct=0.4, style=0.5)),
        episode(1, 0, trace(correct=0.0, style=1.0)),
        episode(1, 1, trace()),
        episode(2, 0, trace(correct=1.0), errors=("ProviderError", "TimeoutError")),
        episode(2, 1, errors=("SandboxError",)),
        episode(2, 2, trace(correct=1.0, style=1.0)),
    ]
    return write("outputs/gsm8k--ada/3f0e/traces.jsonl", *episodes)


def test_an_episode_that_failed_or_was_not_scored_has_no_outcome(table, traces):
    log = table(traces, threshold=0.5)
    assert log.row(0) == ("ada", "gsm8k", "0", "0-0", 1.0, None, True)
    assert log["category"].to_list() == [True, True, False, None, None, None, True]
    assert log["error"].to_list()[3:] == [None, "TimeoutError", "SandboxError", None]


def test_without_a_threshold_the_category_is_the_weighted_reward(table, traces):
    with pytest.warns(ps.LogWarning, match="neither 0 nor 1"):
        log = table(traces)
    assert log["category"].to_list() == [1.0, 0.525, 0.25, None, None, None, 1.25]
    assert table(traces, agent="judge")["category"].to_list()[:2] == [None, 0.0]


def test_a_task_without_index_goes_by_its_key(table, write):
    other = episode(3, 0, trace(correct=1.0))
    del other["task"]["data"]["idx"]
    assert table(write("e--m/traces.jsonl", other))["question"].to_list() == ["k3"]


def test_the_traces_know_the_model_and_what_went_wrong(table, write):
    played = episode(0, 0, trace(correct=1.0), trace("judge", correct=1.0))
    failed = {**episode(0, 1, trace()), "ok": False}
    failed["traces"][0]["errors"] = [{"type": "ProviderError", "message": "..."}]
    for one, model in ((played["traces"][0], "org/ada"), (played["traces"][1], "org/bob")):
        one["agent"]["config"]["model"] = model
    name = "outputs/gsm8k--org--ada--bash--3f0e/traces.jsonl"
    log = table(write(name, played, failed))
    assert log.select("model", "error").rows() == [("org/ada", None), ("org/ada", "ProviderError")]
    assert table(write(name, played), agent="judge")["model"].to_list() == ["org/bob"]
    assert table(write(name, played), model="eve")["model"].to_list() == ["eve"]
    failed["traces"][0]["agent"]["config"]["model"] = "org/eve"
    with pytest.raises(ValueError, match=r"several models, \['org/ada', 'org/eve'\]: .*model="):
        table(write(name, played, failed))


def test_an_episode_that_is_read_twice_is_found(reader, traces, write):
    write("outputs/gsm8k--ada/copy/traces.jsonl", episode(0, 0, trace(correct=1.0)))
    log = reader(traces.parents[1], threshold=0.5, missing="drop")
    with pytest.raises(ValueError, match="1 question has the same trial twice"):
        log.avg().collect()


def test_the_report_says_what_became_of_the_errors(traces, reader, summary):
    with pytest.raises(ValueError, match="2 questions have a missing category"):
        reader(traces, threshold=0.5).avg().collect()
    # (1 + 0 + 1) / 3, and (1 + 0 + 1/3) / 3 with what is missing as failures.
    assert summary(ps.avg(), traces, threshold=0.5, missing="drop") == [(4, 3, 0.667)]
    assert summary(ps.avg(), traces, threshold=0.5, missing=0) == [(7, 0, 0.444)]


def test_a_reward_that_was_not_computed_leaves_no_outcome(table, write):
    part = episode(0, 0, trace(correct=None, style=1.0))
    none = episode(0, 1, trace(correct=1.0))
    none["traces"][0]["rewards"] = {"correct": None}
    assert table(write("e--m/traces.jsonl", part, none))["category"].to_list() == [None, None]


def test_fields_of_episodes_are_kept(table, write):
    known = episode(0, 0, trace(correct=1.0))
    known["task"]["data"]["level"] = "hard"
    known["traces"][0]["info"] = {"topic": "sums"}
    known |= {"num_input_tokens": 7, "num_output_tokens": 5}
    keep = ["task.data.level", "info.topic", "input_tokens", "output_tokens"]
    log = table(write("e--m/traces.jsonl", known, episode(0, 1)), keep=keep)
    assert log.select(keep).rows() == [("hard", "sums", 7, 5), (None, None, None, None)]


@pytest.mark.parametrize(
    ("config", "sampling", "difference"),
    [
        ({"env": {"id": "gsm8k", "shots": 5}}, {}, r"env\.shots is 0 and 5"),
        ({}, {"temperature": 1.0}, r"agent\.sampling\.temperature is 0\.0 and 1\.0"),
    ],
)
def test_traces_with_other_settings_do_not_merge(reader, write, config, sampling, difference):
    plain = {"env": {"id": "gsm8k", "shots": 0}, "max_concurrent": 8}, {"temperature": 0.0}
    for run, (known, drawn) in {
        "3f": plain,
        "9a": (plain[0] | config, plain[1] | sampling),
    }.items():
        played = trace(correct=1.0)
        played["agent"]["config"]["sampling"] = drawn
        path = write(f"e--ada/{run}/traces.jsonl", episode(0, run, played))
        write(f"e--ada/{run}/configs/eval.json", {**known, "max_concurrent": run})
    with pytest.raises(ValueError, match=rf"with different settings: {difference}\."):
        reader(path.parents[1])
    assert reader(path.parents[1], by=["benchmark", "run"]).avg().collect().height == 2


def test_a_run_that_was_stopped_is_no_whole_run(reader, write):
    path = write("e--ada/3f/traces.jsonl", episode(0, 0, trace(correct=1.0)))
    write("e--ada/3f/configs/eval.json", {"num_tasks": 5, "num_rollouts": 4})
    with pytest.warns(ps.LogWarning, match=r"traces\.jsonl: 1 of 20 planned trials$"):
        log = reader(path)
    assert log.describe().collect()["planned"].to_list() == [20]
    write("e--ada/3f/configs/eval.json", {"num_tasks": None, "num_rollouts": 4})
    assert "planned" not in reader(path).describe().collect_schema()
    write("e--ada/3f/configs/eval.json", {"num_tasks": "all", "num_rollouts": [4]})
    with pytest.raises(ValueError, match=r"eval\.json: expected configs/eval\.json of verifiers"):
        reader(path)
