import pytest

import polars_scorio as ps

pytestmark = pytest.mark.filterwarnings("ignore:.* ha(s|ve) no outcome:polars_scorio.LogWarning")


def trial(task, i, resolved, failure="unset"):
    """One entry of results in results.json."""
    return {
        "id": f"{task}{i}",
        "trial_name": f"{task}.{i}-of-2.2026-01-01__12-00-00",
        "task_id": task,
        "instruction": "...",
        "is_resolved": resolved,
        "failure_mode": failure,
        "parser_results": None if resolved is None else {"test_a": "passed"},
        "total_input_tokens": 10,
    }


@pytest.fixture
def run(write):
    results = [
        trial("chess", 1, True),
        trial("chess", 2, False, "agent_timeout"),
        trial("regex", 1, True),
        trial("regex", 2, None, "test_timeout"),
        trial("kernel", 1, None, "unknown_agent_error"),
        trial("kernel", 2, False),
    ]
    totals = {"n_resolved": 2, "n_unresolved": 4, "accuracy": 1 / 3, "pass_at_k": {"2": None}}
    metadata = {"run_id": "r", "agent_name": "terminus", "model_name": "openai/gpt-5"}
    write("runs/r/run_metadata.json", {**metadata, "n_attempts": 2, "accuracy": 1 / 3})
    return write("runs/r/results.json", {"id": "r", "results": results, **totals})


def test_agent_and_model_come_from_the_metadata(table, run):
    log = table(run)
    name = "chess.1-of-2.2026-01-01__12-00-00"
    assert log.row(0) == ("terminus / openai/gpt-5", "chess", name, True, "unset")


def test_a_trial_without_verdict_has_no_outcome(table, run):
    log = table(run)
    assert log["category"].to_list() == [True, False, True, None, None, False]
    assert log["failure"].to_list()[3:5] == ["test_timeout", "unknown_agent_error"]


def test_a_failure_that_is_not_the_models_has_no_outcome(reader, write):
    failures = ["agent_installation_failed", "unknown_agent_error", "context_length_exceeded"]
    results = [trial("chess", i, False, failure) for i, failure in enumerate(failures)]
    results.append(trial("chess", 3, True, "unknown_agent_error"))
    path = write("r/results.json", {"results": results, "accuracy": 0.25})
    said = r"2 trials have no .*\n- r: 2 of 4 trials \(1 agent_installation_failed, 1 unknown_agent"
    with pytest.warns(ps.LogWarning, match=said):
        log = reader(path, missing=0)
    assert log.frame["category"].to_list() == [None, None, False, True]
    assert log.avg()["estimate"].to_list() == [0.25]


def test_counting_them_as_failures_gives_the_accuracy_of_the_run(reader, summary, run):
    with pytest.raises(ValueError, match="2 questions have a missing category"):
        reader(run).avg()
    assert summary(ps.avg(), run.parents[1], missing=0) == [(6, 0, 0.333)]
    assert summary(ps.avg(), run, missing="drop") == [(4, 2, 0.5)]


def test_the_results_of_single_trials_are_passed_over(table, write, run):
    write("runs/r/chess/chess.1-of-2/results.json", trial("chess", 1, True))
    assert table(run.parents[1]).equals(table(run))
    with pytest.raises(
        ValueError, match=r"results\.json: expected results\.json of a run of .*keys"
    ):
        table(write("chess.1-of-2/results.json", trial("chess", 1, True)))


@pytest.mark.parametrize("known", [{"agent_name": "mine", "model_name": None}, None])
def test_submissions_that_do_not_name_themselves_go_by_their_folder(table, write, known):
    for folder in ("20260101_mine", "20260102_mine"):
        path = write(
            f"results/{folder}/2026-01-01_results.json", {"results": [trial("a", 1, True)]}
        )
        if known:
            write(f"results/{folder}/run_metadata.json", known)
    log = table(path.parents[1])
    assert log["model"].to_list() == ["20260101_mine", "20260102_mine"]


def test_folders_of_one_name_are_told_apart_by_their_parents(table, write):
    for submission in ("ada", "bob"):
        path = write(f"{submission}/run/results.json", {"results": [trial("a", 1, True)]})
    assert table(path.parents[2])["model"].to_list() == ["ada/run", "bob/run"]


def test_a_run_that_was_stopped_or_changed_is_no_whole_run(reader, run, write):
    planned = {"n_attempts": 2, "task_ids": ["chess", "regex", "kernel", "maze"]}
    names = {"agent_name": "terminus", "model_name": "openai/gpt-5"}
    write("runs/r/run_metadata.json", {**names, **planned})
    with pytest.warns(ps.LogWarning, match="6 of 8 planned trials$"):
        log = reader(run)
    found = log.describe().select("planned", "reported").row(0)
    assert found == (8, pytest.approx(1 / 3))
    write("runs/s/results.json", {"results": [trial("a", 1, True)], "accuracy": 0.5})
    with pytest.warns(ps.LogWarning, match="the tool reports 0.5, these rows 1$"):
        reader(run.parents[1] / "s")


def test_a_run_that_was_copied_into_its_sibling_is_refused(reader, run):
    copy = run.parents[1] / "copy" / "results.json"
    copy.parent.mkdir()
    copy.write_bytes(run.read_bytes())
    copy.with_name("run_metadata.json").write_bytes(run.with_name("run_metadata.json").read_bytes())
    with pytest.raises(ValueError, match="are the same run, 'r': they have the same bytes"):
        reader(run.parents[1], missing=0)


def test_files_below_a_run_are_not_opened(table, write, run):
    write("runs/r/chess/chess.1-of-2/results.json").write_text("{ no JSON")
    assert table(run.parents[1]).equals(table(run))
