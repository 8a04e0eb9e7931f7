"""Files that are empty, broken off, or of another tool: every reader says which file it was."""

import gzip
import json
import math
import os
import re

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.paths import read_each
from polars_scorio.logs.read import TOOLS
from polars_scorio.logs.reader_options import LogOptions, ToolOptions
from polars_scorio.study.request import RoleOptions
from tests.logs.test_compressed_files import FILES

# A file name that each reader of JSON looks for.
WHOLE = {
    "pydantic_evals": "report.json",
    "deepeval": "test_run_1.json",
    "livecodebench": "m/Scenario.a_eval_all.json",
    "evalplus": "a_eval_results.json",
    "harbor": "job/t/result.json",
    "helm": "run/per_instance_stats.json",
    "inspect_ai": "2026-01-01T00-00-00_a.json",
    "opencompass": "m/d.json",
    "promptfoo": "output.json",
    "swe_bench": "m.r.json",
    "tau2_bench": "results.json",
    "tau_bench": "a.json",
    "terminal_bench": "run/results.json",
}
LINES = {
    "openai_evals": "r_m_e.jsonl",
    "garak": "g.report.jsonl",
    "nemo_skills": "eval-results/b/output-rs0.jsonl",
    "nemo_gym": "r/rollouts.jsonl",
    "evalscope": "w/reviews/m/t.jsonl",
    "every_eval_ever": "a_samples.jsonl",
    "human_eval": "a.jsonl_results.jsonl",
    "lm_eval": "m/samples_t_2026-01-01T00-00-00.0.jsonl",
    "scorio": "a.jsonl",
    "verifiers": "e--m/1/results.jsonl",
    "verl": "1.jsonl",
}
# A line that each reader of lines accepts.
GOOD = {
    "openai_evals": {"sample_id": "s", "type": "match", "data": {"correct": True}},
    "garak": {
        "entry_type": "attempt",
        "uuid": "u",
        "status": 2,
        "probe_classname": "p",
        "outputs": ["x"],
        "detector_results": {"d": [1.0]},
    },
    "nemo_skills": {"predicted_answer": "4", "symbolic_correct": True},
    "nemo_gym": {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "response": {}},
    "evalscope": {
        "index": 0,
        "sample_score": {"score": {"value": {"acc": 1.0}}, "sample_id": 0, "group_id": 0},
    },
    "every_eval_ever": {
        "model_id": "m",
        "evaluation_name": "b",
        "sample_id": "s",
        "evaluation": {},
    },
    "human_eval": {"task_id": "t", "passed": True, "result": "passed"},
    "lm_eval": {"doc_id": 1, "filter": "none", "resps": [["x"]], "metrics": ["acc"], "acc": 1.0},
    "scorio": {"seed": 1, "data_id": 1, "model": "m", "processed_results": {"is_correct": 1}},
    "verifiers": {"example_id": 1, "reward": 1.0},
    "verl": {"input": "x", "score": 1.0, "step": 1, "acc": 1.0},
}
BOTH = {**WHOLE, **LINES}


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(tool, path):
    return getattr(ps.logs, tool)(path).frame.lazy().collect()


def test_all_readers_are_tried():
    assert {*BOTH, "bfcl", "lighteval", "trl"} == {*TOOLS}


@pytest.mark.parametrize("tool", BOTH)
def test_a_folder_without_logs_is_refused(tool, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file in .* is called"):
        read(tool, tmp_path)


@pytest.mark.parametrize("tool", BOTH)
@pytest.mark.parametrize("named", [True, False])
def test_an_empty_file_is_refused(tool, named, tmp_path):
    path = put(tmp_path, BOTH[tool], "")
    with pytest.raises(ValueError, match=rf"{path.name} is empty: expected "):
        read(tool, path if named else tmp_path)


@pytest.mark.parametrize("tool", WHOLE)
def test_a_file_that_is_broken_off_is_refused(tool, tmp_path):
    path = put(tmp_path, WHOLE[tool], '{"results": [{"task_id": 1, "tr')
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*no JSON at line 1.*truncated"):
        read(tool, tmp_path)


@pytest.mark.parametrize("tool", LINES)
def test_lines_that_are_broken_off_are_refused(tool, tmp_path):
    line = json.dumps(GOOD[tool])
    path = put(tmp_path, LINES[tool], f"{line}\n{line[:-9]}")
    with pytest.raises(
        ValueError, match=rf"{path.name}: expected .*no JSON in (the last line|line 2) .*truncated"
    ):
        read(tool, tmp_path)


@pytest.mark.parametrize("tool", LINES)
def test_a_broken_line_in_the_middle_is_named(tool, tmp_path):
    line = json.dumps(GOOD[tool])
    path = put(tmp_path, LINES[tool], f"{line}\n{line[:-9]}\n\n{line}\n")
    put(path.parent, "metadata.json", json.dumps({"model": "m", "env_id": "e"}))
    with pytest.raises(
        ValueError, match=rf"{path.name}: expected .*no JSON in line 2 .*of another tool"
    ):
        read(tool, path)


@pytest.mark.parametrize("tool", BOTH)
@pytest.mark.parametrize("content", [{"some": 1, "other": "tool"}, [1, 2], "text"])
def test_a_file_of_another_tool_is_refused(tool, content, tmp_path):
    path = put(tmp_path, BOTH[tool], json.dumps(content))
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found "):
        read(tool, path)


@pytest.mark.parametrize("tool", BOTH)
def test_bytes_that_are_no_text_are_refused(tool, tmp_path):
    path = put(tmp_path, BOTH[tool], b"\xff\xfe\x00\x80{}")
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found "):
        read(tool, path)


TAU2 = {"info": {}, "tasks": [], "simulations": []}


def test_the_error_names_the_tool_that_a_file_looks_like(tmp_path):
    path = put(tmp_path, "run.json", json.dumps(TAU2))
    hint = r"found an object .* It looks like run\.json of tau2_bench: ps\.logs\.tau2_bench$"
    for named in (path, tmp_path):
        with pytest.raises(ValueError, match=hint):
            ps.logs.tau_bench(named)
    with pytest.raises(FileNotFoundError, match=r"no file .* It looks like run\.json of tau2"):
        ps.logs.lm_eval(tmp_path)
    with pytest.raises(ValueError, match=r"another shape|lacks") as error:
        ps.logs.tau2_bench(path)
    assert "looks like" not in str(error.value)


def test_two_tools_may_be_named(tmp_path):
    put(tmp_path, "run.json", json.dumps(TAU2))
    put(tmp_path, "1.jsonl", json.dumps(GOOD["verl"]))
    with pytest.raises(FileNotFoundError, match=r"run\.json of tau2_bench: .* or 1\.jsonl of verl"):
        ps.logs.evalplus(tmp_path)


# What each reader takes for its own, with something inside that another version might have.
VERSIONS = {
    "pydantic_evals": {"name": "r", "cases": [{"assertions": {"x": {"value": 1}}}]},
    "deepeval": {"testCases": [{"name": "t"}]},
    "livecodebench": [{"question_id": 1, "graded_list": 3}],
    "evalplus": {"eval": {"t": [{"status": "pass"}]}},
    "harbor": {"task_name": "t", "agent": {}},
    "helm": [{"stats": [{"name": "exact_match"}], "instance_id": "i"}],
    "inspect_ai": {"eval": {"model": "m"}, "samples": [{"id": 1}]},
    "opencompass": {"details": [[True, False]], "x": {}},
    "promptfoo": {"results": [{"vars": {}}]},
    "swe_bench": {"resolved_ids": 3},
    "tau2_bench": {"info": {}, "tasks": [], "simulations": []},
    "tau_bench": [{"task_id": 1}],
    "terminal_bench": {"results": [{"task_id": 1}]},
}


@pytest.mark.parametrize("tool", VERSIONS)
def test_a_file_of_another_version_is_refused(tool, tmp_path):
    path = put(tmp_path, WHOLE[tool], json.dumps(VERSIONS[tool]))
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found "):
        read(tool, tmp_path)


DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 6_000


@pytest.mark.parametrize("tool", BOTH)
@pytest.mark.parametrize("text", [DEEP, DIGITS], ids=["deep", "digits"])
def test_json_that_python_cannot_hold_is_refused(tool, text, tmp_path):
    path = put(tmp_path, BOTH[tool], f'{{"x": {text}}}')
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found .*(recursion|digits)"):
        read(tool, path)


# Objects with a value that its column cannot hold, and what the error says of it.
PASSED = {"task_id": "t", "passed": True, "result": "passed"}
MISFITS = {
    "openai_evals": (
        [{"sample_id": "s", "type": "match", "data": {"correct": 10**400}}],
        r"a value that cannot be read \(int too large to convert to float\)",
    ),
    "pydantic_evals": (
        [{"name": "r", "cases": [{"name": "a", "scores": {"x": {"value": 10**400}}}]}],
        r"a value that cannot be read \(int too large to convert to float\)",
    ),
    "nemo_skills": (
        [GOOD["nemo_skills"], {"predicted_answer": "4", "symbolic_correct": "yes"}],
        r"something of another shape in line 2 \(the symbolic_correct is 'yes'\)",
    ),
    "nemo_gym": (
        [GOOD["nemo_gym"], {**GOOD["nemo_gym"], "_ng_rollout_index": 1, "reward": "high"}],
        r"something of another shape in line 2 \(the reward is 'high'\)",
    ),
    "deepeval": (
        [{"testCases": [{"input": "x", "success": "yes", "metricsData": [{"name": "m"}]}]}],
        "the success 'yes' in trial 1, where Boolean is needed",
    ),
    "evalscope": (
        [GOOD["evalscope"], {"index": 1, "sample_score": {"score": {"value": "high"}}}],
        r"something of another shape in line 2 \(the value is 'high'\)",
    ),
    "evalplus": (
        [{"eval": {"\ud800": {"nfiles": 1, "base": [["success", []]], "plus": None}}}],
        r"the question '\\ud800' in trial 1, where String is needed",
    ),
    "harbor": (
        [
            {
                "task_name": "t",
                "trial_name": "a",
                "agent_info": {"name": "x"},
                "verifier_result": {"rewards": {"reward": "high"}},
            }
        ],
        "the reward 'high' in trial 1, where Float64 is needed",
    ),
    "opencompass": (
        [{"details": {"1": {"correct": "yes"}}}],
        "the category 'yes' in trial 1, where Boolean is needed",
    ),
    "promptfoo": (
        [{"results": [{"provider": "p", "prompt": "q", "success": True, "score": "1/2"}]}],
        "the score '1/2' in trial 1, where Float64 is needed",
    ),
    "tau_bench": (
        [[{"task_id": 2**64, "trial": 0, "reward": 1}]],
        f"the question {2**64} in trial 1, where Int64 is needed",
    ),
    "inspect_ai": (
        [{"eval": {"model": "m", "task": "t"}, "samples": [{"id": 1, "epoch": "one"}]}],
        "the trial 'one' in trial 1, where Int64 is needed",
    ),
    "verl": (
        [GOOD["verl"], {**GOOD["verl"], "acc": "high"}],
        r"a value that cannot be read in line 2 \(.*'high'",
    ),
    "human_eval": (
        [PASSED, {**PASSED, "passed": math.nan}, PASSED],
        r"something else in line 2 \(.*TapeError",
    ),
    "lm_eval": (
        [GOOD["lm_eval"], {**GOOD["lm_eval"], "doc_id": 2**64}, GOOD["lm_eval"]],
        rf"something else in line 2 \(.*({2**64}|InvalidNumber)",
    ),
    "scorio": (
        [GOOD["scorio"], {**GOOD["scorio"], "processed_results": {"is_correct": "good"}}],
        r"something else in line 2 \(.*good",
    ),
}


@pytest.mark.parametrize("tool", MISFITS)
def test_a_value_that_its_column_cannot_hold_is_named_with_its_file(tool, tmp_path):
    objects, found = MISFITS[tool]
    path = put(tmp_path, BOTH[tool], "\n".join(map(json.dumps, objects)))
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found {found}"):
        read(tool, path)


@pytest.mark.parametrize("reward", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_reward_that_is_no_finite_number_is_a_missing_outcome(reward, tmp_path):
    path = put(tmp_path, "a.json", f'[{{"task_id": 1, "trial": 0, "reward": {reward}}}]')
    assert read("tau_bench", path)["category"].to_list() == [None]
    with pytest.raises(ValueError, match="missing"):
        ps.logs.tau_bench(path).avg()
    line = f'{{"input": "x", "score": 1, "step": 1, "acc": {reward}}}'
    assert read("verl", put(tmp_path, "1.jsonl", line))["category"].to_list() == [None]


# A file with one outcome, "@".
OUTCOMES = {
    "deepeval": {"testCases": [{"input": "x", "metricsData": [{"name": "m", "score": "@"}]}]},
    "evalscope": {
        "index": 0,
        "sample_score": {"score": {"value": {"acc": "@"}}, "group_id": 0, "sample_id": 0},
    },
    "garak": {**GOOD["garak"], "detector_results": {"d": ["@"]}},
    "nemo_gym": {**GOOD["nemo_gym"], "reward": "@"},
    "nemo_skills": {"is_correct": "@"},
    "openai_evals": {"sample_id": "s", "type": "metrics", "data": {"score": "@"}},
    "pydantic_evals": {"name": "r", "cases": [{"name": "a", "scores": {"x": {"value": "@"}}}]},
}
KEYWORDS = {"deepeval": {"metric": "m"}}


@pytest.mark.parametrize("tool", OUTCOMES)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_an_outcome_that_is_no_finite_number_is_missing(tool, number, tmp_path):
    text = json.dumps(OUTCOMES[tool]).replace('"@"', number)
    log = getattr(ps.logs, tool)(put(tmp_path, BOTH[tool], text), **KEYWORDS.get(tool, {}))
    assert log.frame["category"].to_list() == [None]


@pytest.mark.parametrize("tool", OUTCOMES)
def test_a_key_with_two_values_is_refused(tool, tmp_path):
    text = json.dumps(OUTCOMES[tool]).replace('"@"', '{"x": 1, "x": 2}')
    with pytest.raises(
        ValueError, match=rf"{BOTH[tool].rpartition('/')[2]}: .*two values of .*'x'"
    ):
        read(tool, put(tmp_path, BOTH[tool], text))


@pytest.mark.parametrize("tool", OUTCOMES)
def test_half_a_character_as_a_question_is_refused(tool, tmp_path):
    names = {"input": "x", "group_id": 0, "uuid": "u", "sample_id": "s", "name": "a"}
    text = json.dumps(OUTCOMES[tool]).replace('"@"', "1")
    for name, value in names.items():
        text = text.replace(f'"{name}": {json.dumps(value)}', f'"{name}": "\\ud800"')
    path = put(tmp_path, BOTH[tool], text)
    if tool in {"nemo_gym", "nemo_skills"}:  # where a question is a number
        assert read(tool, path).height == 1
    else:
        with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found "):
            getattr(ps.logs, tool)(path, **KEYWORDS.get(tool, {}))


# A whole Parquet file of a tool, but no row in it.
NUMBER = pl.Struct({"acc": pl.Float64})
ROWLESS = {
    "lighteval": (
        "details/m/1/details_t_1.parquet",
        {"doc": NUMBER, "metric": NUMBER, "model_response": NUMBER},
    ),
    "trl": ("completions_1.parquet", {"step": pl.Int64, "prompt": pl.String, "acc": pl.Float64}),
}


@pytest.mark.parametrize("tool", ROWLESS)
def test_a_file_without_rows_is_refused(tool, tmp_path):
    name, schema = ROWLESS[tool]
    path = put(tmp_path, name, "")
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found no whole Parquet"):
        read(tool, tmp_path)
    pl.DataFrame(schema=schema).write_parquet(path)
    with pytest.raises(ValueError, match=rf"{path.name}: expected .*, found no row"):
        read(tool, tmp_path)


def test_a_gzip_file_that_is_broken_off_is_refused(tmp_path):
    lines = gzip.compress((json.dumps(GOOD["scorio"]) + "\n").encode() * 1_000)
    assert read("scorio", put(tmp_path, "a.jsonl.gz", lines)).height == 1_000
    for damaged in (lines[:-40], b"no gzip", lines[:-40] + b"\0" * 40):
        path = put(tmp_path, "a.jsonl.gz", damaged)
        with pytest.raises(ValueError, match=r"a\.jsonl\.gz: expected .*no whole gzip file"):
            read("scorio", path)
    half = gzip.compress((json.dumps(GOOD["scorio"]) + '\n{"seed": 2, "da').encode())
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz: expected .*no JSON in the last line"):
        read("scorio", put(tmp_path, "a.jsonl.gz", half))
    with pytest.raises(ValueError, match=r"a\.jsonl\.gz is empty: expected"):
        read("scorio", put(tmp_path, "a.jsonl.gz", gzip.compress(b"")))


@pytest.mark.parametrize("tool", TOOLS)
def test_a_keyword_that_is_no_role_is_refused_before_a_file_is_read(tool):
    message = rf"^{tool}\(\) got .* 'mising': did you mean 'missing'\? It takes paths, model, "
    with pytest.raises(TypeError, match=message):
        getattr(ps.logs, tool)("nowhere", mising=0)


def test_readers_take_all_roles_but_those_that_they_set_themselves():
    own = {"model", "question", "category", "count"}
    own |= {"threshold"}  # a keyword of those readers alone whose tools log rewards
    shared = ToolOptions.__optional_keys__
    assert LogOptions.__optional_keys__ - shared == RoleOptions.__optional_keys__ - own


def test_a_last_line_longer_than_a_block_is_found(tmp_path):
    line = json.dumps(
        {"task_id": "t", "completion": "x" * 300_000, "result": "passed", "passed": True}
    )
    path = put(tmp_path, LINES["human_eval"], f"{line}\n{line}\n\n")
    assert read("human_eval", path)["category"].to_list() == [True, True]


def test_the_frame_is_lazy_where_the_format_allows(tmp_path):
    for tool, line in GOOD.items():
        put(tmp_path, f"e--m/1/{LINES[tool]}".replace("e--m/1/e--m", "e--m"), json.dumps(line))
    put(tmp_path, "e--m/1/metadata.json", json.dumps({"model": "m", "env_id": "e"}))
    lazy = {
        tool for tool in LINES
        if isinstance(getattr(ps.logs, tool)(
            [*tmp_path.rglob(LINES[tool].rpartition("/")[2])]).frame, pl.LazyFrame)
    }  # fmt: skip
    eager = {
        "evalscope",
        "garak",
        "nemo_gym",
        "nemo_skills",
        "openai_evals",
        "verl",
    }  # gaps to fill, NaN to read
    assert lazy == {*LINES} - eager


# Files that cannot be read stop a reader, or are skipped and listed.


def test_a_file_that_cannot_be_read_is_left_out_and_listed(tmp_path):
    trial = [{"task_id": 1, "trial": 0, "reward": 1}]
    put(tmp_path, "a.json", json.dumps(trial))
    broken = put(tmp_path, "b.json", "[1")
    with pytest.raises(ValueError, match=r"b\.json: expected .*no JSON at line 1"):
        ps.logs.tau_bench(tmp_path)
    with pytest.raises(ValueError, match=r'skip files .* cannot be read, pass on_error="warn"'):
        ps.logs.tau_bench(tmp_path)
    with pytest.raises(ValueError, match=r"no JSON at line 1.*Expecting ',' delimiter$"):
        ps.logs.tau_bench(broken)
    listed = rf"1 file is skipped, as on_error='warn' says:\n- {re.escape(str(broken))}: expected"
    with pytest.warns(ps.LogWarning, match=listed):
        log = ps.logs.tau_bench(tmp_path, on_error="warn")
    assert log.frame["model"].to_list() == ["a"]


def test_no_file_that_can_be_read_is_an_error_all_the_same(tmp_path):
    put(tmp_path, "a.json", "[1")
    with pytest.raises(ValueError, match=r"a\.json: expected .*no JSON"):
        ps.logs.tau_bench(tmp_path, on_error="warn")


@pytest.mark.parametrize("tool", LINES)
@pytest.mark.parametrize("place", ["end", "middle"])
def test_every_reader_of_lines_leaves_a_broken_file_out(tool, place, tmp_path):
    name = LINES[tool].rpartition("/")[2]
    line = json.dumps(GOOD[tool])
    broken = f"{line}\n{line[:-9]}" + (f"\n{line}" if place == "middle" else "")
    for run, text in (("whole", line), ("broken", broken)):
        put(tmp_path / run, name, text)
        put(tmp_path / run, "metadata.json", json.dumps({"model": "m", "env_id": "e"}))
    with pytest.warns(ps.LogWarning, match=rf"1 file is skipped.*\n- .*broken.{re.escape(name)}"):
        log = getattr(ps.logs, tool)(tmp_path, model="m", on_error="warn").frame
    assert log.lazy().select("model", "source").collect()["source"].str.contains("whole").all()


def test_long_lists_are_cut(tmp_path):
    def read(file):
        if file.name != "0":
            raise ValueError(f"{file.name} is broken")

    files = [tmp_path / str(number) for number in range(8)]
    with pytest.warns(ps.LogWarning, match=r"7 files are skipped(.*\n- . is broken){5}\n- and 2"):
        assert read_each(files, read, {"on_error": "warn"}) == {files[0]: None}


def test_another_word_is_refused_before_a_file_is_read(tmp_path):
    put(tmp_path, "a.json", "[1")
    with pytest.raises(ValueError, match=r'on_error must be "raise" or "warn", got .ignore'):
        ps.logs.tau_bench(tmp_path, on_error="ignore")


@pytest.mark.parametrize("tool", ["harbor", "nemo_gym", "promptfoo"])
def test_what_has_the_name_of_a_log_and_no_trial_is_listed_once(tool, tmp_path):
    name, objects = FILES[tool]
    for number, text in enumerate(["{}", "[]"] + ["null"] * (tool != "nemo_gym")):
        put(tmp_path / f"{number}", name, text)
    (tmp_path / "folder" / name).mkdir(parents=True)
    put(tmp_path / "whole", name, json.dumps(*objects[:1]))
    with pytest.warns(ps.LogWarning, match=r"(3|4) files are skipped, with the name") as caught:
        log = getattr(ps.logs, tool)(tmp_path)
    (message,) = (str(each.message) for each in caught)
    assert message.count("\n- ") == 4 - (tool == "nemo_gym")
    assert message.count(": a folder") == 1
    assert log.frame.height == 1


def test_a_file_of_another_kind_under_the_name_of_a_log_is_listed(tmp_path):
    put(tmp_path, "job/b/result.json", json.dumps({"error": "disk full"}))
    put(tmp_path, "job/a/result.json", json.dumps(*FILES["harbor"][1]))
    put(tmp_path, "job/result.json", json.dumps({"n_total_trials": 1}))
    with pytest.warns(ps.LogWarning, match=r"1 file is skipped.*\n- .*/b/result\.json: .*'error'"):
        assert ps.logs.harbor(tmp_path).frame.height == 1


# Files beside those of a log, which readers open by their names.
BESIDE = {
    "bfcl": ["result/m/BFCL_v4_a_result.json"],
    "evalscope": ["w/reports/m/t.json", "w/configs/task_config.yaml"],
    "every_eval_ever": ["a.json"],
    "harbor": ["job/result.json"],
    "helm": ["run/run_spec.json", "run/stats.json"],
    "lm_eval": ["m/results_2026-01-01T00-00-00.0.json"],
    "nemo_gym": ["r/rollouts_failures.jsonl", "r/rollouts_aggregate_metrics.json"],
    "nemo_skills": ["m/eval-results/b/metrics.json"],
    "tau2_bench": ["simulations/x.json"],
    "terminal_bench": ["run/run_metadata.json"],
    "verifiers": ["e--m/1/metadata.json"],
}


@pytest.mark.filterwarnings("ignore::polars_scorio.LogWarning")
@pytest.mark.parametrize(("tool", "name"), [(tool, n) for tool in BESIDE for n in BESIDE[tool]])
@pytest.mark.parametrize("kind", ["link", "loop", "pipe", "folder"])
def test_what_is_no_file_beside_a_log_is_refused_and_not_waited_for(tool, name, kind, tmp_path):
    log, objects = FILES[tool]
    for each in objects if tool == "tau2_bench" else ():
        objects = [{key: part for key, part in each.items() if key != "simulations"}]
    put(tmp_path, log, "\n".join(map(json.dumps, objects)))
    side = tmp_path / name
    side.parent.mkdir(parents=True, exist_ok=True)
    make = {"pipe": os.mkfifo, "folder": os.mkdir}
    if kind in make:
        make[kind](side)
    else:
        side.symlink_to(side.name if kind == "loop" else "nowhere")
    problem = "a folder, a pipe or a device" if kind in make else "a symbolic link"
    with pytest.raises((ValueError, OSError), match=rf"{re.escape(str(side))} is {problem}"):
        getattr(ps.logs, tool)(tmp_path).frame.lazy().collect()
