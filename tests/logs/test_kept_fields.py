"""Fields of logs that become columns."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.kept_fields import (
    field_value,
    kept_columns,
    kept_getters,
    summed_field,
    time_between,
)
from polars_scorio.logs.read import TOOLS


@pytest.mark.parametrize(("values", "dtype", "expected"), [
    ([1, None, 2], pl.Int64, [1, None, 2]),
    ([1, 0.5], pl.Float64, [1.0, 0.5]),
    ([True, None], pl.Boolean, [True, None]),
    (["a", None], pl.String, ["a", None]),
    (["a", 1], pl.String, ['"a"', "1"]),
    ([{"b": 1}, [2]], pl.String, ['{"b": 1}', "[2]"]),
    ([True, 2], pl.String, ["true", "2"]),
])  # fmt: skip
def test_columns_have_the_dtype_of_their_values(values, dtype, expected):
    (column,) = kept_columns(["x"], [(value,) for value in values])
    assert (column.dtype, column.to_list()) == (dtype, expected)


def test_a_name_without_any_value_is_refused():
    with pytest.raises(ValueError, match=r"no trial has a value of 'levl'"):
        kept_columns(["levl"], [(None,), (None,)])
    assert kept_columns([], []) == []


def test_times_and_sums():
    assert time_between("a", "b")({"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T00:01:30Z"}) == 90
    assert time_between("a", "b")({"a": None, "b": "2026-01-01T00:01:30Z"}) is None
    usage = {"m": {"in": 2}, "n": {"in": 3, "out": None}}
    assert summed_field("usage", "in")({"usage": usage}) == 5
    assert summed_field("usage", "out")({"usage": usage}) is None
    assert summed_field("usage", "in")({}) is None


def test_a_point_may_lead_into_an_object_or_be_part_of_a_key():
    record = {"a": {"b": 1, "b.c": 2}, "a.b": {"d": 3}}
    assert [field_value(record, f"a.{path}") for path in ("b", "b.c", "b.d", "e", "b.c.f")] == [
        {"d": 3}, None, 3, None, None
    ]  # fmt: skip
    assert field_value({"a": {"b.c": 2}}, "a.b.c") == 2


def test_one_name_may_be_given_alone():
    assert [*kept_getters("usd", {"usd": "cost"})] == ["usd"]
    assert kept_getters(None) == {}


TOKENS = {"token_usage": {"input_tokens": 10, "output_tokens": 20}}
USAGE = {"m": {"input_tokens": 7, "output_tokens": 5, "total_cost": 0.25}}
# For each tool files with their lines, what to keep, and the values of its first trial.
KEPT = {
    "inspect_ai": (
        {"2026-01-01_a.json": [{
            "eval": {"model": "m", "task": "t"},
            "samples": [{
                "id": 1, "epoch": 1, "scores": {"s": {"value": "C"}}, "model_usage": USAGE,
                "total_time": 1.5, "metadata": {"level": "hard"},
            }],
        }]},
        ["metadata.level", "usd", "input_tokens", "output_tokens", "seconds", "total_time"],
        ("hard", 0.25, 7, 5, 1.5, 1.5),
    ),
    "harbor": (
        {"job/t/result.json": [{
            "task_name": "t", "trial_name": "a", "agent_info": {"name": "x"},
            "agent_result": {"n_input_tokens": 7, "n_output_tokens": 5, "cost_usd": 0.25},
            "verifier_result": {"rewards": {"reward": 1}},
            "agent_execution": {
                "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:02Z",
            },
        }]},
        ["usd", "input_tokens", "output_tokens", "seconds"],
        (0.25, 7, 5, 2.0),
    ),
    "tau2_bench": (
        {"run.json": [{
            "info": {
                "agent_info": {"llm": "m"}, "environment_info": {"domain_name": "air"},
            },
            "tasks": [],
            "simulations": [{
                "task_id": 1, "trial": 0, "termination_reason": "user_stop", "agent_cost": 0.25,
                "duration": 3.5, "seed": 4, "messages": [
                    {"role": "assistant", "usage": None},
                    {"role": "user", "usage": {"prompt_tokens": 9, "completion_tokens": 9}},
                    {"role": "assistant", "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
                    {"role": "assistant", "usage": {"prompt_tokens": 4, "completion_tokens": 2}},
                ],
            }],
        }]},
        ["usd", "input_tokens", "output_tokens", "seconds", "seed"],
        (0.25, 7, 3, 3.5, 4),
    ),
    "tau_bench": (
        {"a.json": [[{"task_id": 1, "trial": 0, "reward": 1.0, "info": {"task": {"user": "u"}}}]]},
        "info.task.user",
        ("u",),
    ),
    "terminal_bench": (
        {"run/results.json": [{"results": [{
            "task_id": "t", "trial_name": "a", "is_resolved": True, "total_input_tokens": 7,
            "total_output_tokens": 5, "agent_started_at": "2026-01-01T00:00:00+00:00",
            "agent_ended_at": "2026-01-01T00:00:02+00:00",
        }]}]},
        ["input_tokens", "output_tokens", "seconds"],
        (7, 5, 2.0),
    ),
    "promptfoo": (
        {"a.json": [{"results": [{
            "provider": "p", "prompt": "q", "success": True, "cost": 0.25, "latencyMs": 1500,
            "response": {"tokenUsage": {"prompt": 7, "completion": 5}}, "vars": {"topic": "x"},
        }]}]},
        ["usd", "input_tokens", "output_tokens", "seconds", "vars.topic"],
        (0.25, 7, 5, 1.5, "x"),
    ),
    "helm": (
        {"run/per_instance_stats.json": [[{
            "instance_id": "i", "train_trial_index": 0,
            "stats": [
                {"name": {"name": name, "split": "test"}, "mean": mean}
                for name, mean in {
                    "exact_match": 1.0, "num_prompt_tokens": 7, "num_output_tokens": 5,
                    "inference_runtime": 1.5, "logprob": -2.5,
                }.items()
            ],
        }]]},
        ["input_tokens", "output_tokens", "seconds", "logprob"],
        (7, 5, 1.5, -2.5),
    ),
    "bfcl": (
        {
            "score/m/BFCL_v4_a_score.json": [
                {"accuracy": 1.0, "correct_count": 1, "total_count": 1},
            ],
            "result/m/BFCL_v4_a_result.json": [
                {
                    "id": "a_0", "input_token_count": [[1, 2], [4]], "output_token_count": 5,
                    "latency": [[0.5], [1.0]],
                },
            ],
        },
        ["input_tokens", "output_tokens", "seconds"],
        (7, 5, 1.5),
    ),
    "verifiers": (
        {
            "e--m/1/metadata.json": [{"model": "m", "env_id": "e"}],
            "e--m/1/results.jsonl": [
                {
                    "example_id": 1, "reward": 1.0, "timing": {"total_ms": 1500.0},
                    "info": {"level": "hard"}, **TOKENS,
                },
            ],
        },
        ["input_tokens", "output_tokens", "seconds", "info.level"],
        (10.0, 20.0, 1.5, "hard"),
    ),
    "livecodebench": (
        {"m/Scenario.a_eval_all.json": [[
            {"question_id": "q", "graded_list": [True], "question_title": "Sums"},
        ]]},
        "question_title",
        ("Sums",),
    ),
    "evalplus": (
        {"a_eval_results.json": [{"eval": {
            "t": [{"base_status": "pass", "plus_status": "pass", "solution": "x = 1"}],
        }}]},
        "solution",
        ("x = 1",),
    ),
    "human_eval": (
        {"a.jsonl_results.jsonl": [
            {"task_id": "t", "passed": True, "result": "passed", "completion_id": 4},
        ]},
        ["completion_id", "passed"],
        (4.0, True),
    ),
    "opencompass": (
        {"m/d.json": [{"details": [
            {"correct": [True, False], "pred": ["a", "b"], "level": 3},
        ]}]},
        ["pred", "level"],
        ("a", 3),
    ),
    "scorio": (
        {"a.jsonl": [{
            "seed": 1, "data_id": 1, "model": "m", "processed_results": {"is_correct": 1},
            "output": {
                "finish_reason": "stop", "num_completion_tokens": 7, "usage": {"cost": 0.25},
            }, "topic": "sums",
        }]},
        ["output.finish_reason", "output.usage.cost", "topic", "output_tokens"],
        ("stop", 0.25, "sums", 7.0),
    ),
    "swe_bench": (
        {"logs/run_evaluation/r/m/i/report.json": [
            {"i": {"resolved": True, "patch_exists": True, "tests_status": {"failure": 3}}},
        ]},
        ["patch_exists", "tests_status.failure"],
        (True, 3),
    ),
    "verl": (
        {"1.jsonl": [{"input": "x", "score": 1.0, "step": 1, "acc": 1.0, "data_source": "maths"}]},
        "data_source",
        ("maths",),
    ),
    "deepeval": (
        {"test_run_1.json": [{"testCases": [{
            "input": "x", "tokenCost": 0.25, "completionTime": 1.5, "metadata": {"level": 3},
            "inputTokenCount": 7, "outputTokenCount": 5,
        }]}]},
        ["usd", "input_tokens", "output_tokens", "seconds", "metadata.level"],
        (0.25, 7, 5, 1.5, 3),
    ),
    "garak": (
        {"g.report.jsonl": [
            {"entry_type": "start_run setup", "plugins.target_name": "m"},
            {
                "entry_type": "attempt", "uuid": "u", "status": 2, "probe_classname": "p",
                "outputs": ["x"], "detector_results": {"d": [1.0]}, "goal": "leak",
            },
            {"entry_type": "completion"},
        ]},
        "goal",
        ("leak",),
    ),
    "pydantic_evals": (
        {"report.json": [{"name": "r", "cases": [{
            "name": "a", "assertions": {"ok": {"value": True}}, "task_duration": 1.5,
            "metrics": {"cost": 0.25, "input_tokens": 7, "output_tokens": 5},
            "metadata": {"level": 3},
        }], "failures": []}]},
        ["usd", "input_tokens", "output_tokens", "seconds", "metadata.level"],
        (0.25, 7, 5, 1.5, 3),
    ),
    "openai_evals": (
        {"r_m_e.jsonl": [
            {"sample_id": "s", "type": kind, "data": data} for kind, data in [
                ("sampling", {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
                ("sampling", {"usage": {"prompt_tokens": 4, "completion_tokens": 3}}),
                ("match", {"correct": True, "picked": "B"}),
            ]
        ]},
        ["input_tokens", "output_tokens", "picked"],
        (7, 5, "B"),
    ),
    "nemo_gym": (
        {"r/rollouts.jsonl": [{
            "_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "level": 3,
            "response": {"model": "m", "usage": {"input_tokens": 7, "output_tokens": 5}},
        }]},
        ["input_tokens", "output_tokens", "level"],
        (7, 5, 3),
    ),
    "nemo_skills": (
        {"eval-results/b/output-rs0.jsonl": [{
            "symbolic_correct": True, "judgement": "Judgement: No", "num_generated_tokens": 5,
            "generation_start_time": 1.0, "generation_end_time": 2.5,
        }]},
        ["output_tokens", "seconds", "judgement"],
        (5, 1.5, "Judgement: No"),
    ),
    "evalscope": (
        {"w/reviews/m/t.jsonl": [{"index": 0, "sample_score": {
            "score": {"value": {"acc": 1.0}}, "sample_id": 0, "group_id": 0,
            "sample_metadata": {"level": 3},
        }}]},
        "sample_score.sample_metadata.level",
        (3,),
    ),
    "every_eval_ever": (
        {"a_samples.jsonl": [{
            "model_id": "m", "evaluation_name": "b", "sample_id": "s",
            "evaluation": {"is_correct": True, "num_turns": 2},
            "performance": {"latency_ms": 1500}, **TOKENS,
        }]},
        ["input_tokens", "output_tokens", "seconds", "evaluation.num_turns"],
        (10.0, 20.0, 1.5, 2.0),
    ),
    "lm_eval": (
        {"m/samples_t_2026-01-01T00-00-00.0.jsonl": [{
            "doc_id": 1, "filter": "none", "resps": [["x"]], "filtered_resps": ["x"],
            "metrics": ["acc"], "acc": 1.0, "target": "B", "doc": {"level": 3, "topic": "law"},
        }]},
        ["doc.level", "doc.topic", "target"],
        (3.0, "law", "B"),
    ),
}  # fmt: skip


def test_every_reader_keeps_fields():
    assert {*KEPT} | {"lighteval", "trl"} == {*TOOLS}  # these two: test_files


@pytest.mark.parametrize("tool", KEPT)
def test_readers_keep_fields_of_their_logs(tool, write):
    files, keep, expected = KEPT[tool]
    folder = {write(f"logs/{name}", *lines) for name, lines in files.items()}
    path = next(parent for parent in next(iter(folder)).parents if parent.name == "logs")
    log = getattr(ps.logs, tool)(path, keep=keep)
    table = log.frame.lazy().collect()
    names = [keep] if isinstance(keep, str) else keep
    assert table.select(names).row(0) == pytest.approx(expected)
    assert table.columns[-2:] == ["run", "source"]
    plain = getattr(ps.logs, tool)(path).frame.lazy().collect()
    assert table.drop(names).equals(plain)


def test_a_kept_field_may_be_a_stratum_or_a_cluster(write):
    path = write("a.json", [
        {"task_id": 1, "trial": 0, "reward": 1.0, "info": {"level": "hard"}},
        {"task_id": 2, "trial": 0, "reward": 0.0, "info": {"level": "easy"}},
    ])  # fmt: skip
    report = ps.logs.tau_bench(path, keep="info.level", by="info.level").avg()
    assert report.select("info.level", "estimate").rows() == [("easy", 0.0), ("hard", 1.0)]


def test_what_a_reader_cannot_keep_is_refused(write):
    path = write("a.json", [{"task_id": 1, "trial": 0, "reward": 1.0}])
    with pytest.raises(ValueError, match=r"no trial has a value of 'usd'"):
        ps.logs.tau_bench(path, keep="usd")
    programs = write("a.jsonl_results.jsonl", {"task_id": "t", "passed": True, "result": "passed"})
    with pytest.raises(ValueError, match=r"lines have no field 'usd', which keep= asks for"):
        ps.logs.human_eval(programs, keep=["usd"])
