"""Logs whose tool is found by itself."""

import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.logs.read import TOOLS, fitting_tools
from polars_scorio.logs.reader_options import log_accessor, log_reader, reward_outcome
from tests.logs.test_compressed_files import FILES, SIDE

LOGS = Path(__file__).parents[3] / "shared" / "data" / "logs"
OF_FOLDERS = {
    "aisbench": "opencompass", "evalplus_2023": "evalplus",
    **{tool: tool for tool in ("deepeval", "evalscope", "garak", "harbor", "helm", "nemo_gym")},
    **{tool: tool for tool in ("nemo_skills", "openai_evals", "pydantic_evals")},
    "inspect_ai": "inspect_ai", "inspect_mixed": "inspect_ai", "livecodebench": "livecodebench",
    "lm_eval": "lm_eval", "lmms_eval": "lm_eval",
    "verifiers": "verifiers", "verifiers_graded": "verifiers", "verifiers_traces": "verifiers",
}  # fmt: skip


def put(path, *objects):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    return path


def test_every_reader_has_a_sign():
    assert {*TOOLS, "read", "records"} == {*ps.logs.__all__}


@pytest.mark.parametrize("tool", FILES)
def test_the_tool_of_a_file_is_found(tool, tmp_path):
    name, objects = FILES[tool]
    put(tmp_path / name, *objects)
    side, content = SIDE.get(tool, ("config.json", {"model": "m"}))
    put(tmp_path / side, content)
    assert [*fitting_tools(tmp_path)] == [tool]
    expected = getattr(ps.logs, tool)(tmp_path).frame.lazy().collect()
    assert ps.logs.read(tmp_path).frame.lazy().collect().equals(expected)


@pytest.mark.parametrize(("tool", "line"), [
    ("completions_1.parquet", ["step", "prompt", "completion"]),
    ("details_a.parquet", ["doc", "metric", "model_response"]),
])  # fmt: skip
def test_the_tool_of_a_table_is_found(tool, line, tmp_path):
    pl.DataFrame({name: [1] for name in line}).write_parquet(tmp_path / tool)
    assert [*fitting_tools(tmp_path)] == ["trl" if tool.startswith("comp") else "lighteval"]


@pytest.mark.skipif(not LOGS.exists(), reason="the shared data are not here")
@pytest.mark.parametrize("folder", OF_FOLDERS)
def test_the_tool_of_real_files_is_found(folder):
    assert [*fitting_tools(LOGS / folder)] == [OF_FOLDERS[folder]]


def test_keywords_reach_the_reader(tmp_path):
    path = put(tmp_path / "2026-01-01T00-00-00_a.json", *FILES["inspect_ai"][1])
    assert ps.logs.read(path, model="eve", scorer="s").frame["model"].to_list() == ["eve"]
    with pytest.raises(TypeError, match=r"inspect_ai\(\) got an unexpected keyword .*'tests'"):
        ps.logs.read(path, tests="s")  # a keyword of another reader


def test_keywords_are_checked_before_the_files_are_read(tmp_path):
    said = r"^read\(\) got an unexpected keyword argument 'keeep': did you mean 'keep'\? It takes "
    for path in (tmp_path / "nowhere", put(tmp_path / "notes.json", {"some": "thing"})):
        with pytest.raises(TypeError, match=said):
            ps.logs.read(path, keeep=["x"])


def test_an_empty_file_is_called_empty(tmp_path):
    empty = tmp_path / "empty.json"
    empty.touch()
    with pytest.raises(ValueError, match=rf"^{re.escape(str(empty))} is empty$"):
        ps.logs.read(empty)


def test_files_of_no_reader_or_of_several_are_refused(tmp_path):
    put(tmp_path / "notes.json", {"some": "thing"})
    with pytest.raises(
        ValueError, match=r"no reader knows the files of .*; there are readers of .*tau_bench"
    ):
        ps.logs.read(tmp_path)
    put(tmp_path / "a.json", *FILES["tau_bench"][1])
    put(tmp_path / "m.r.json", *FILES["swe_bench"][1])
    with pytest.raises(ValueError, match=r"several readers .*\.swe_bench \(.*\.tau_bench \("):
        ps.logs.read(tmp_path)
    with pytest.raises(FileNotFoundError):
        ps.logs.read(tmp_path / "nowhere")


def test_a_broken_file_is_of_no_tool(tmp_path):
    (tmp_path / "results.json").write_text('{"results": [')
    (tmp_path / "lines.jsonl").write_text("\n")
    (tmp_path / "table.parquet").write_text("none")
    assert fitting_tools(tmp_path) == {}


def test_few_files_of_one_name_are_opened(tmp_path, monkeypatch):
    for number in range(9):
        put(tmp_path / f"job/{number}/result.json", *FILES["harbor"][1])
    opened = []
    module = sys.modules["polars_scorio.logs.read"]  # its name in the package is the function
    monkeypatch.setattr(module, "_first_record", opened.append)
    fitting_tools(tmp_path)
    assert len(opened) == 2


def test_a_run_is_recognised_beside_trials_that_share_its_name(tmp_path):
    for number in range(5):
        put(tmp_path / f"run/t{number}/results.json", {"task_id": "t", "is_resolved": True})
    results = [{"task_id": f"t{i}", "trial_name": f"{i}", "is_resolved": i < 3} for i in range(5)]
    run = put(tmp_path / "run/results.json", {"results": results})
    assert fitting_tools(tmp_path) == {"terminal_bench": run}
    assert ps.logs.read(tmp_path).avg()["estimate"].to_list() == [0.6]


@pytest.mark.parametrize("place", ["trial/result.json", "aaa/result.json", "a/b/c/result.json"])
def test_a_file_without_content_hides_no_tool(place, tmp_path):
    put(tmp_path / place, {})
    run = put(tmp_path / "job/trial/result.json", *FILES["harbor"][1])
    assert fitting_tools(tmp_path) == {"harbor": run}


def test_a_job_is_recognised_beside_a_trial_without_content(tmp_path):
    put(tmp_path / "job/aaa/result.json", {})
    put(tmp_path / "job/trial/result.json", *FILES["harbor"][1])
    trials = {f"trial-{number}": "a long name" for number in range(99)}
    job = put(tmp_path / "job/result.json", {"n_total_trials": 1, "stats": {}, "trials": trials})
    assert fitting_tools(tmp_path) == {"harbor": job}
    with pytest.warns(ps.LogWarning, match=r"1 file is skipped.*\n- .*/aaa/result\.json: "):
        assert ps.logs.read(tmp_path).frame.height == 1


def test_terminal_bench_is_not_taken_for_swe_bench(tmp_path):
    trial = {"task_id": "t", "trial_name": "a", "is_resolved": True}
    run = {"results": [trial], "resolved_ids": ["t"], "unresolved_ids": []}
    path = put(tmp_path / "run/results.json", run)
    assert [*fitting_tools(path)] == ["terminal_bench"]
    with pytest.raises(ValueError, match=r"results\.json of terminal_bench: ps\.logs\.terminal"):
        ps.logs.swe_bench(path)


OF_ONE_FOLDER = [
    "evalscope",
    "nemo_gym",
    "openai_evals",
    "scorio",
    "verl",
    "garak",
    "lm_eval",
    "promptfoo",
    "terminal_bench",
]


def test_each_reader_takes_its_own_files_of_a_folder_of_several_tools(tmp_path):
    for tool in OF_ONE_FOLDER:
        name, objects = FILES[tool]
        put(tmp_path / tool / name, *objects)
    for tool in OF_ONE_FOLDER:
        log = getattr(ps.logs, tool)(tmp_path).frame.lazy().collect()
        assert {Path(source).relative_to(tmp_path).parts[0] for source in log["source"]} == {tool}
    broken = tmp_path / "verl" / "2.jsonl"
    broken.write_text('{"inp')
    with pytest.raises(ValueError, match=r"2\.jsonl: expected .*no JSON in line 1"):
        ps.logs.verl(tmp_path)
    named = tmp_path / "garak" / FILES["garak"][0]
    with pytest.raises(ValueError, match=r"report\.jsonl: expected "):
        ps.logs.verl([tmp_path / "verl" / "1.jsonl", named], model="m")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "on_error must be"),
        ({"retries": "all"}, "retries must be"),
        ({"n": 0}, "n must be"),
        ({"missing": 2**64}, "missing must be"),
        ({"confidence": 95}, "confidence must be"),
        ({"target": "all"}, "target must be"),
    ],
)
def test_values_of_keywords_are_checked_before_a_file_is_read(options, message):
    for reader in (ps.logs.read, ps.logs.tau_bench, ps.logs.lm_eval):
        with pytest.raises((TypeError, ValueError), match=message):
            reader("there is no such file", **options)


# The roles and the help that all readers share.


def test_roles_of_the_user_replace_those_of_the_reader():
    columns = {"model": "m", "question": 1, "step": [1, 2], "category": [0, 1]}
    frame = pl.DataFrame({**columns, "run": "r", "source": "r.json"})
    log = log_accessor(frame, {}, {"by": None}, by="step", trial=None)
    assert log.avg()["estimate"].to_list() == [0.5]
    assert log_accessor(frame, {}, {}, by="step", trial=None).avg()["estimate"].to_list() == [0, 1]


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf"), -float("inf")])
def test_a_reward_that_is_no_finite_number_is_null(nothing):
    rewards = pl.DataFrame({"reward": [0.5, nothing, 0.2]})
    assert rewards.select(reward_outcome(0.5)).to_series().to_list() == [True, None, False]
    assert rewards.select(reward_outcome(None)).to_series().to_list() == [0.5, None, 0.2]


def test_help_has_what_a_reader_shares_and_what_it_adds():
    @log_reader
    def tool(paths, *, model=None, **roles):
        """A tool.

        Parameters
        ----------
        model
            Default: the folder.

        Raises
        ------
        ValueError
            If it has no header.
        """

    for part in ("Files, folders", "Default: the folder.", "If it has no header.", "is empty, "):
        assert part in tool.__doc__


# The warning of logs that are not what they seem to be.


def test_a_log_warning_is_a_user_warning_of_the_package():
    with pytest.warns(ps.LogWarning, match="3 of 100 planned samples") as caught:
        warn_of_log("a.json: 3 of 100 planned samples")
    assert issubclass(ps.LogWarning, UserWarning)
    assert len(caught) == 1
