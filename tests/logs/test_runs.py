"""Runs of one model: which are the same run, which differ, and which are retries."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.runs import (
    Run,
    kept_attempts,
    last_attempts,
    refuse_merged_runs,
    run_settings,
    shown_path,
    with_settings,
)
from tests.logs.test_compressed_files import FILES, SIDE
from tests.logs.test_faults import GOOD, LINES, put

MODEL = {"model": "ada", "benchmark": "sums"}


def logged(tmp_path, **runs):
    """Files of a few different bytes, each about a run."""
    return {put(tmp_path, name, name): run for name, run in runs.items()}


def of_settings(**settings):
    return Run(name="r", keys=MODEL, settings=settings)


def test_files_of_the_same_bytes_are_one_run(tmp_path):
    runs = {put(tmp_path, name, "same"): Run(name=name, keys=MODEL) for name in "ab"}
    with pytest.raises(
        ValueError, match=r"/a and .*/b are the same run, 'a': they have the same b"
    ):
        refuse_merged_runs(runs, ["benchmark"])
    refuse_merged_runs(runs, ["benchmark", "run"])
    refuse_merged_runs(runs, ["source"])


def test_files_of_the_same_bytes_may_be_two_models(tmp_path):
    refuse_merged_runs(
        {put(tmp_path, m, "same"): Run(name="r", keys={"model": m}) for m in "ab"}, []
    )


def test_an_id_belongs_to_one_run(tmp_path):
    one, other = Run(name="x", keys=MODEL, identity="3f"), Run(name="y", keys=MODEL, identity="3f")
    with pytest.raises(ValueError, match="are the same run, 'x': they have the same id"):
        refuse_merged_runs(logged(tmp_path, a=one, b=other), [])
    refuse_merged_runs(logged(tmp_path, a=one, b=Run(name="x", keys=MODEL)), [])


def test_settings_that_differ_are_named_with_the_way_out(tmp_path):
    one = of_settings(args={"rlm": True, "length": 9}, shots=5)
    other = of_settings(args={"rlm": False, "length": 9}, shots=5)
    wanted = (
        "are runs of one model, 'ada', with different settings: args.rlm is True and False. To "
        f'compare them as two models, pass model=r"{tmp_path.name}/([^/]+)$", a pattern that finds '
        "a name in each path; to make strata of them, pass by=['benchmark', 'args.rlm']"
    )
    runs = logged(tmp_path, a=one, b=other)
    with pytest.raises(ValueError, match=re.escape(wanted)):
        refuse_merged_runs(runs, ["benchmark"])
    refuse_merged_runs(runs, ["benchmark", "args.rlm"])
    refuse_merged_runs(runs, ["benchmark", "args"])


def test_the_third_of_three_runs_is_compared_too(tmp_path):
    runs = logged(tmp_path, a=of_settings(t=1), b=of_settings(t=1), c=of_settings(t=2))
    with pytest.raises(ValueError, match=r"b and .*c are runs .*: t is 1 and 2\."):
        refuse_merged_runs(runs, [])


def test_many_differences_are_counted(tmp_path):
    names = "pqrst"
    one, other = (of_settings(args=dict.fromkeys(names, value)) for value in (1, 2))
    with pytest.raises(
        ValueError, match=r"args\.p is 1 and 2, .*args\.r is 1 and 2 \(and 2 more\)"
    ):
        refuse_merged_runs(logged(tmp_path, a=one, b=other), [])


def test_a_setting_that_one_log_does_not_know_says_nothing(tmp_path):
    refuse_merged_runs(logged(tmp_path, a=of_settings(shots=5), b=of_settings()), [])


def test_settings_that_are_empty_and_absent_are_alike(tmp_path):
    runs = logged(tmp_path, a=of_settings(args={}, stop=[]), b=of_settings(args=None, stop=None))
    refuse_merged_runs(runs, [])


def test_an_object_of_which_one_run_has_nothing_is_compared_part_by_part(tmp_path):
    runs = logged(tmp_path, a=of_settings(args={"n": 1, "stop": None}), b=of_settings(args=None))
    with pytest.raises(ValueError, match=r"different settings: args\.n is 1 and None\."):
        refuse_merged_runs(runs, [])


def test_tasks_of_one_model_may_differ_in_settings(tmp_path):
    runs = {
        put(tmp_path, task, task): Run(
            name="r", keys={"model": "ada", "benchmark": task}, settings={"shots": shots}
        )
        for task, shots in {"arc": 25, "gsm8k": 5}.items()
    }
    refuse_merged_runs(runs, [])


def test_seeds_and_the_way_of_requests_are_no_settings():
    config = {
        "temperature": 1,
        "seed": 3,
        "fewshot_seed": 1,
        "max_connections": 8,
        "stop": [{"seed": 1}],
    }
    assert run_settings({"config": config, "x": 1}, ["config", "config.temperature", "top.p"]) == {
        "config": {"temperature": 1, "stop": [{}]},
        "config.temperature": 1,
        "top.p": None,
    }


def attempts(tmp_path):
    """The late attempt stands before the early one."""
    return logged(
        tmp_path,
        a=Run(name="late", keys=MODEL, attempt="t", started="2026-01-02"),
        b=Run(name="early", keys=MODEL, attempt="t", started="2026-01-01"),
    )


def test_a_retry_is_refused_unless_one_attempt_counts(tmp_path):
    runs = attempts(tmp_path)
    with pytest.raises(ValueError, match=r'two attempts at one run, .t.: pass retries="latest"'):
        refuse_merged_runs(runs, [])
    refuse_merged_runs(runs, [], "latest")
    assert [file.name for file in last_attempts(runs)] == ["a"]


@pytest.mark.parametrize(("kept", "categories"), [("latest", [1, 0, 1]), ("first", [0, 0, 1])])
def test_one_attempt_at_each_trial_is_kept(tmp_path, kept, categories):
    runs = attempts(tmp_path)
    late, early = map(shown_path, runs)
    columns = {"question": [1, 3, 1, 2], "category": [1, 1, 0, 0]}
    log = pl.DataFrame({**columns, "source": [late, late, early, early]})
    found = kept_attempts(log, runs, ["question"], kept).sort("question")
    assert found.select("question", "category").rows() == [*zip([1, 2, 3], categories, strict=True)]
    lazy = kept_attempts(log.lazy(), runs, ["question"], kept).sort("question").collect()
    assert lazy.equals(found)


def test_attempts_need_a_time(tmp_path):
    runs = logged(tmp_path, a=Run(name="r"))
    with pytest.raises(ValueError, match=r"retries='latest' needs the start of each run, which"):
        kept_attempts(pl.DataFrame(), runs, [], "latest")


def test_settings_become_columns_where_they_are_named(tmp_path):
    runs = logged(tmp_path, a=of_settings(shots=5, args={"n": 1}), b=of_settings(shots=0, args={}))
    log = pl.DataFrame({"source": [shown_path(file) for file in runs], "shots ": 1})
    found = with_settings(log, runs, ["shots", "args", "args.n", "other"])
    assert found.drop("source").rows(named=True) == [
        {"shots ": 1, "shots": 5, "args": '{"n": 1}', "args.n": "1"},
        {"shots ": 1, "shots": 0, "args": "{}", "args.n": "null"},
    ]


def test_a_setting_whose_name_has_points_has_parts_too(tmp_path):
    one, other = ({"info.args": {"t": value}, "info": {"x": 1}} for value in (0, 1))
    runs = logged(tmp_path, a=of_settings(**one), b=of_settings(**other))
    with pytest.raises(ValueError, match=r"pass by=\['info\.args\.t'\]"):
        refuse_merged_runs(runs, [])
    refuse_merged_runs(runs, ["info.args.t"])
    log = pl.DataFrame({"source": [shown_path(file) for file in runs]})
    found = with_settings(log, runs, ["info.args.t", "info.x", "info.y"])
    assert found.drop("source").to_dict(as_series=False) == {
        "info.args.t": [0, 1],
        "info.x": [1, 1],
    }


def test_a_source_below_the_working_directory_is_relative_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown_path(Path.cwd() / "logs" / "a.json") == str(Path("logs") / "a.json")
    assert shown_path(Path.cwd().parent / "a.json") == str(Path.cwd().parent / "a.json")


@pytest.mark.parametrize("tool", sorted({*LINES} - {"nemo_skills"}))  # whose folders are benchmarks
def test_a_copied_file_is_refused_by_every_reader_of_lines(tool, tmp_path):
    for run in ("one", "two"):
        folder = tmp_path / run
        path = put(folder, LINES[tool].rpartition("/")[2], json.dumps(GOOD[tool]))
        put(folder, "metadata.json", json.dumps({"model": "m", "env_id": "e"}))
    log = getattr(ps.logs, tool)(path, model="m").frame.lazy().collect()
    assert log.columns[-2:] == ["run", "source"]
    assert log["source"].to_list() == [str(path)]
    # verl trains in steps, which are strata that only the lines know.
    with pytest.raises(ValueError, match=r"are the same run, .*: they have the same (bytes|id)"):
        getattr(ps.logs, tool)(tmp_path, model="m")


def test_a_copied_folder_of_harbor_is_refused(tmp_path):
    trial = {"id": "1", "task_name": "t", "trial_name": "t__1", "agent_info": {"name": "x"}}
    put(tmp_path, "job/t__1/result.json", json.dumps(trial))
    shutil.copytree(tmp_path / "job", tmp_path / "copy")
    with pytest.raises(ValueError, match="are the same run, 'copy': they have the same id"):
        ps.logs.harbor(tmp_path, model="m")


def test_retries_need_trial_ids(tmp_path):
    path = put(tmp_path, LINES["human_eval"], json.dumps(GOOD["human_eval"]))
    with pytest.raises(ValueError, match="retries= needs trial ids"):
        ps.logs.human_eval(path, retries="latest")
    with pytest.raises(ValueError, match=r'retries must be "error" or "latest" or "first"'):
        ps.logs.human_eval(path, retries="last")


@pytest.mark.parametrize(
    "wrong", [{"identity": 3}, {"name": None, "started": {}}, {"keys": {"m": []}}]
)
def test_a_run_is_described_in_words(wrong):
    with pytest.raises(TypeError, match="of the run is"):
        Run(**{"name": "r", **wrong})


# Their trials are runs: one seed, time or context for all questions.
TRIALS_ARE_RUNS = {"helm", "inspect_ai", "nemo_skills", "scorio", "tau2_bench", "tau_bench"}


@pytest.mark.parametrize("tool", FILES)
def test_the_trials_of_a_file_are_of_one_run_unless_trials_are_runs(tool, tmp_path):
    name, objects = FILES[tool]
    put(tmp_path, name, "\n".join(map(json.dumps, objects)))
    side, content = SIDE.get(tool, ("notes", {}))
    put(tmp_path, side, json.dumps(content))
    roles = getattr(ps.logs, tool)(tmp_path)._roles  # noqa: SLF001
    assert roles.run == (None if tool in TRIALS_ARE_RUNS else "run")


def test_files_that_differ_are_runs_that_differ(tmp_path):
    for run, passed in enumerate((38, 20, 2, 21)):
        cases = [{"input": str(i), "success": i < passed} for i in range(40)]
        content = {"testCases": cases, "hyperparameters": {"model": "ada"}}
        put(tmp_path, f"test_run_{run}.json", json.dumps(content))
    found = ps.logs.deepeval(tmp_path).check().filter(check="runs")
    assert found["pvalue"].item() < 1e-4
    assert "run test_run_2 is 61 points below the others" in found["sentence"].item()


def test_the_place_of_an_answer_is_no_run(tmp_path):
    problems = [{"question_id": i, "graded_list": [True, i % 3 > 0]} for i in range(40)]
    put(tmp_path, "ada/Scenario.a_eval_all.json", json.dumps(problems))
    found = ps.logs.livecodebench(tmp_path).check().filter(check="runs")
    assert found["pvalue"].item() is None
    assert (
        ps.logs.livecodebench(tmp_path, run="trial").check().filter(check="runs")["pvalue"].item()
    )
