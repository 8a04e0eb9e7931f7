import pytest


def report(resolved, unresolved, empty=(), error=(), incomplete=(), completed=()):
    """The report of a run."""
    submitted = [*resolved, *unresolved, *empty, *error]
    return {
        "total_instances": len(submitted) + len(incomplete),
        "submitted_instances": len(submitted),
        "completed_ids": [*resolved, *unresolved, *completed],
        "incomplete_ids": list(incomplete),
        "empty_patch_ids": list(empty),
        "submitted_ids": submitted,
        "resolved_ids": list(resolved),
        "unresolved_ids": list(unresolved),
        "error_ids": list(error),
        "schema_version": 2,
    }


@pytest.fixture
def reports(write, tmp_path):
    write("gpt-4.1.run1.json", report("ab", "c", empty="d", error="e", completed="e"))
    write("gpt-4.1.run2.json", report("abc", "d", incomplete="e"))
    return tmp_path


def test_a_run_is_a_trial_of_every_instance(recipe, reports):
    log = recipe.trials(reports)
    assert log.columns == ["model", "question", "trial", "category", "outcome"]
    assert log.filter(trial="run1").drop("trial").rows() == [
        ("gpt-4.1", "a", True, "resolved"),
        ("gpt-4.1", "b", True, "resolved"),
        ("gpt-4.1", "c", False, "unresolved"),
        ("gpt-4.1", "d", False, "empty_patch"),
        ("gpt-4.1", "e", None, "error"),
    ]
    assert log.filter(trial="run2", question="e")["outcome"].to_list() == ["incomplete"]


def test_instances_without_verdict_are_failures_only_if_asked(reports, printed):
    with pytest.raises(SystemExit, match=r"1 question has a missing category.*'e': 2 trials"):
        printed(reports)
    # 5 of 10, as SWE-bench divides.
    assert "┆ 10     ┆ 0       ┆ 0.500" in printed(reports, "--missing", "0")
    with pytest.raises(SystemExit, match="1 question has no trial with a category"):
        printed(reports, "--missing", "drop")
