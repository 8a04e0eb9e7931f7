"""Files that cannot be read stop a reader, or are left out and listed."""

import json
import os
import re

import pytest

import polars_scorio as ps
from polars_scorio.logs.paths import read_each
from tests.logs.test_compressed_files import FILES
from tests.logs.test_faults import GOOD, LINES, put


def test_a_file_that_cannot_be_read_is_left_out_and_listed(tmp_path):
    trial = [{"task_id": 1, "trial": 0, "reward": 1}]
    put(tmp_path, "a.json", json.dumps(trial))
    broken = put(tmp_path, "b.json", "[1")
    with pytest.raises(ValueError, match=r"b\.json: expected .*no JSON at line 1"):
        ps.logs.tau_bench(tmp_path)
    with pytest.raises(
        ValueError, match=r'leave out files .* cannot be read, pass on_error="warn"'
    ):
        ps.logs.tau_bench(tmp_path)
    with pytest.raises(ValueError, match=r"no JSON at line 1.*Expecting ',' delimiter$"):
        ps.logs.tau_bench(broken)
    listed = rf"1 file is left out, as on_error='warn' says:\n- {re.escape(str(broken))}: expected"
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
    with pytest.warns(ps.LogWarning, match=rf"1 file is left out.*\n- .*broken.{re.escape(name)}"):
        log = getattr(ps.logs, tool)(tmp_path, model="m", on_error="warn").frame
    assert log.lazy().select("model", "source").collect()["source"].str.contains("whole").all()


def test_long_lists_are_cut(tmp_path):
    def read(file):
        if file.name != "0":
            raise ValueError(f"{file.name} is broken")

    files = [tmp_path / str(number) for number in range(8)]
    with pytest.warns(ps.LogWarning, match=r"7 files are left out(.*\n- . is broken){5}\n- and 2"):
        assert read_each(files, read, "warn") == {files[0]: None}


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
    with pytest.warns(ps.LogWarning, match=r"(3|4) files are left out, with the name") as caught:
        log = getattr(ps.logs, tool)(tmp_path)
    (message,) = (str(each.message) for each in caught)
    assert message.count("\n- ") == 4 - (tool == "nemo_gym")
    assert message.count(": a folder") == 1
    assert log.frame.height == 1


def test_a_file_of_another_kind_under_the_name_of_a_log_is_listed(tmp_path):
    put(tmp_path, "job/b/result.json", json.dumps({"error": "disk full"}))
    put(tmp_path, "job/a/result.json", json.dumps(*FILES["harbor"][1]))
    put(tmp_path, "job/result.json", json.dumps({"n_total_trials": 1}))
    with pytest.warns(ps.LogWarning, match=r"1 file is left out.*\n- .*/b/result\.json: .*'error'"):
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
