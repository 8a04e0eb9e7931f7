"""Compressed files: every reader of JSON takes them, by name and in folders."""

import gzip
import json

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.logs.files import scan_files
from polars_scorio.logs.paths import open_plain, plain_path, side_file

PACK = {
    "gz": gzip.compress,
    "zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
}
AGENT = {"agent_info": {"llm": "m"}, "environment_info": {"domain_name": "air"}}
SIMULATION = {"task_id": 1, "trial": 0, "termination_reason": "user_stop"}
# A file that each reader finds by its name, with its content: objects are lines.
FILES = {
    "bfcl": (
        "score/m/BFCL_v4_a_score.json",
        [{"accuracy": 1.0, "correct_count": 1, "total_count": 1}],
    ),
    "livecodebench": (
        "m/Scenario.a_eval_all.json",
        [[{"question_id": "q", "graded_list": [True]}]],
    ),
    "evalplus": (
        "ada_eval_results.json",
        [{"eval": {"t": [{"base_status": "pass", "plus_status": "pass"}]}}],
    ),
    "harbor": (
        "job/t/result.json",
        [
            {
                "task_name": "t",
                "trial_name": "a",
                "agent_info": {"name": "x"},
                "verifier_result": {"rewards": {"reward": 1.0}},
            }
        ],
    ),
    "helm": (
        "run/per_instance_stats.json",
        [
            [
                {
                    "stats": [{"name": {"name": "exact_match", "split": "test"}, "mean": 1.0}],
                    "instance_id": "i",
                    "train_trial_index": 0,
                }
            ]
        ],
    ),
    "inspect_ai": (
        "2026-01-01T00-00-00_a.json",
        [
            {
                "eval": {"model": "m", "task": "t"},
                "samples": [{"id": 1, "epoch": 1, "scores": {"s": {"value": "C"}}}],
            }
        ],
    ),
    "opencompass": ("m/d.json", [{"details": {"1": {"correct": True}}}]),
    "promptfoo": (
        "output.json",
        [{"results": [{"provider": "p", "prompt": "q", "success": True}]}],
    ),
    "swe_bench": ("m.4.r.json", [{"resolved_ids": ["a"]}]),
    "tau2_bench": ("results.json", [{"info": AGENT, "tasks": [], "simulations": [SIMULATION]}]),
    "tau_bench": ("a.json", [[{"task_id": 1, "trial": 0, "reward": 1.0}]]),
    "terminal_bench": (
        "run/results.json",
        [{"results": [{"task_id": "t", "trial_name": "a", "is_resolved": True}]}],
    ),
    "deepeval": (
        "results/test_run_1.json",
        [{"testCases": [{"input": "x", "success": True, "metricsData": [{"name": "m"}]}]}],
    ),
    "evalscope": (
        "w/reviews/m/t.jsonl",
        [
            {
                "index": 0,
                "sample_score": {"score": {"value": {"acc": 1.0}}, "sample_id": 0, "group_id": 0},
            }
        ],
    ),
    "every_eval_ever": (
        "a_samples.jsonl",
        [
            {
                "model_id": "m",
                "evaluation_name": "b",
                "sample_id": "s",
                "evaluation": {"is_correct": True},
            }
        ]
        * 2,
    ),
    "human_eval": (
        "a.jsonl_results.jsonl",
        [{"task_id": "t", "passed": True, "result": "passed"}] * 2,
    ),
    "lm_eval": (
        "m/samples_t_2026-01-01T00-00-00.0.jsonl",
        [
            {
                "doc_id": 1,
                "filter": "none",
                "resps": [["x"]],
                "filtered_resps": ["x"],
                "metrics": ["acc"],
                "acc": 1.0,
            }
        ],
    ),
    "garak": (
        "g.report.jsonl",
        [
            {"entry_type": "start_run setup", "plugins.target_name": "m"},
            {
                "entry_type": "attempt",
                "uuid": "u",
                "status": 2,
                "probe_classname": "p",
                "outputs": ["x"],
                "detector_results": {"d": [1.0]},
            },
            {"entry_type": "completion"},
        ],
    ),
    "openai_evals": (
        "r_m_e.jsonl",
        [
            {"spec": {"run_id": "r", "eval_name": "e", "completion_fns": ["m"]}},
            {"sample_id": "s", "type": "match", "data": {"correct": True}},
            {"final_report": {"accuracy": 1.0}},
        ],
    ),
    "nemo_gym": (
        "r/rollouts.jsonl",
        [{"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "response": {"model": "m"}}],
    ),
    "nemo_skills": (
        "m/eval-results/b/output-rs0.jsonl",
        [{"predicted_answer": "4", "symbolic_correct": True}] * 2,
    ),
    "pydantic_evals": (
        "report.json",
        [
            {
                "name": "r",
                "cases": [{"name": "a", "assertions": {"ok": {"value": True}}}],
                "failures": [],
                "experiment_metadata": {"model": "m"},
            }
        ],
    ),
    "scorio": (
        "a.jsonl",
        [{"seed": 1, "data_id": 1, "model": "m", "processed_results": {"is_correct": 1}}],
    ),
    "verifiers": (
        "e--m/1/results.jsonl",
        [{"example_id": 1, "prompt": "p", "completion": "c", "reward": 1.0}] * 2,
    ),
    "verl": ("1.jsonl", [{"input": "x", "score": 1.0, "step": 1, "acc": 1.0}] * 2),
}
SIDE = {
    "bfcl": ("result/m/BFCL_v4_a_result.json", {"id": "a_0"}),
    "verifiers": ("e--m/1/metadata.json", {"model": "m", "env_id": "e"}),
}


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def read(tool, path):
    return getattr(ps.logs, tool)(path).frame.lazy().collect()


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("tool", FILES)
def test_a_compressed_file_is_the_same_log(tool, ending, tmp_path):
    name, objects = FILES[tool]
    text = "\n".join(map(json.dumps, objects)).encode()
    side, content = SIDE.get(tool, ("notes", {}))
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    put(plain / side, json.dumps(content).encode())
    put(packed / f"{side}.{ending}", PACK[ending](json.dumps(content).encode()))
    put(plain / name, text)
    put(packed / f"{name}.{ending}", PACK[ending](text))
    left_out = ["source", "run"]
    expected = read(tool, plain).drop(left_out, strict=False)
    assert_frame_equal(read(tool, packed).drop(left_out, strict=False), expected)
    named = read(tool, packed / f"{name}.{ending}")
    assert_frame_equal(named.drop(left_out, strict=False), expected)


@pytest.mark.parametrize("tool", ["tau_bench", "scorio", "verl"])
@pytest.mark.parametrize("ending", PACK)
def test_a_damaged_file_is_named(tool, ending, tmp_path):
    name, objects = FILES[tool]
    whole = PACK[ending](json.dumps(objects[0]).encode())
    for damaged in (whole[:-12], b"nothing of it"):
        put(tmp_path / f"{name}.{ending}", damaged)
        found = rf"{name}\.{ending}: expected .*, found no whole (gzip|zstd) file \("
        with pytest.raises(ValueError, match=found):
            read(tool, tmp_path)


def test_names_are_those_of_the_plain_files(tmp_path):
    packed = tmp_path / "gpt-4.1.json.zst"
    put(packed, PACK["zst"](b"{}\n{}"))
    assert plain_path(packed).name == "gpt-4.1.json"
    assert side_file(tmp_path / "a", "gpt-4.1.json") == packed
    assert side_file(packed, "none.json") == tmp_path / "none.json"
    with open_plain(packed) as lines:
        assert [*lines] == [b"{}\n", b"{}"]


def test_plain_tables_may_be_compressed(tmp_path):
    frame = pl.DataFrame({"model": ["a"], "reward": [1]})
    put(tmp_path / "a.csv.gz", PACK["gz"](frame.write_csv().encode()))
    put(tmp_path / "b.ndjson.zst", PACK["zst"](frame.write_ndjson().encode()))
    for name in ("a.csv.gz", "b.ndjson.zst"):
        assert_frame_equal(scan_files(tmp_path / name).collect(), frame)
