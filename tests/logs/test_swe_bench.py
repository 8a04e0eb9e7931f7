import pytest

import polars_scorio as ps


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


def test_a_run_is_a_trial_of_every_instance(table, reports):
    log = table(reports)
    assert log.columns == ["model", "question", "trial", "category", "outcome"]
    assert log.filter(trial="run1").drop("trial").rows() == [
        ("gpt-4.1", "a", True, "resolved"),
        ("gpt-4.1", "b", True, "resolved"),
        ("gpt-4.1", "c", False, "unresolved"),
        ("gpt-4.1", "d", False, "empty_patch"),
        ("gpt-4.1", "e", None, "error"),
    ]
    assert log.filter(trial="run2", question="e")["outcome"].to_list() == ["incomplete"]


def test_instances_without_verdict_are_failures_only_if_asked(reports, reader, summary):
    with pytest.raises(ValueError, match=r"1 question has a missing category.*'e': 2 trials"):
        reader(reports).avg()
    # 5 of 10, as SWE-bench divides.
    assert summary(ps.avg(), reports, missing=0) == [(10, 0, 0.5)]


def test_other_reports_are_refused_by_name_and_passed_over_in_folders(reports, table, write):
    other = {"duration": {"seconds": 3}}
    with pytest.raises(
        ValueError, match=r"report\.json: expected a report of SWE-bench.*'duration'"
    ):
        table(write("logs/run1/report.json", other))
    write("logs/run1/a.b.json", other)
    with pytest.warns(ps.LogWarning, match=r"1 file is skipped, .*\n- .*run1/report\.json: an obj"):
        assert table(reports).height == 10


def test_a_partial_run_lists_what_was_submitted(table, write):
    part = {key: of for key, of in report("a", "b").items() if key != "incomplete_ids"}
    assert table(write("ada.r1.json", part))["question"].to_list() == ["a", "b"]


def test_instances_that_no_run_judged_are_left_out_only_if_asked(reader, write):
    rest = [f"django__django-{i}" for i in range(498)]
    path = write("ada.run1.json", report("a", "b", incomplete=rest))
    with pytest.raises(ValueError, match=r'498 questions have no trial .*unscored="drop"'):
        reader(path, missing="drop").avg()
    left = reader(path, missing="drop", unscored="drop").avg()
    facts = left.select("questions", "trials", "dropped", "unscored", "estimate")
    assert facts.rows() == [(2, 2, 498, 498, 0.5)]
    # As SWE-bench divides: 1 of 500.
    assert reader(path, missing=0).avg()["estimate"].item() == pytest.approx(0.002)


def test_reports_of_two_folders_are_two_models(table, write):
    for folder in ("monday", "tuesday"):
        path = write(f"{folder}/ada.run1.json", report("a", "b"))
    log = table(path.parents[1])
    assert log["model"].unique().sort().to_list() == ["monday/ada", "tuesday/ada"]


def instance(resolved, *, empty=False):
    """The report of a single instance."""
    return {"patch_is_None": empty, "patch_exists": not empty, "resolved": resolved}


def test_reports_of_single_instances_are_a_run(table, write, tmp_path):
    folder = "logs/run_evaluation/run1/gpt-4.1"
    for name, part in {
        "a": instance(True),
        "b": instance(False),
        "c": instance(False, empty=True),
    }.items():
        write(f"{folder}/{name}/report.json", {name: part})
    assert table(tmp_path).rows() == [
        ("gpt-4.1", "a", "run1", True, "resolved"),
        ("gpt-4.1", "b", "run1", False, "unresolved"),
        ("gpt-4.1", "c", "run1", False, "empty_patch"),
    ]
    write("gpt-4.1.run1.json", report("a", "b", empty="c", error="d"))
    assert table(tmp_path)["question"].to_list() == ["a", "b", "c", "d"]


def test_instances_of_a_submission_belong_to_its_folder(table, write, tmp_path):
    write("20240402_ada/logs/a/report.json", {"a": instance(True)})
    assert table(tmp_path).row(0) == ("20240402_ada", "a", "", True, "resolved")


def test_reports_of_other_tools_are_passed_over(table, write, tmp_path):
    write("report.json", {"duration": 3})
    write("results.json", {"resolved": 3})
    with pytest.raises(ValueError, match=r"expected a report of SWE-bench.*\['duration'\]"):
        table(tmp_path)
    write("gpt-4.1.run1.json", report("a", "b"))
    with pytest.warns(ps.LogWarning, match="2 files are skipped, with the name of a log but"):
        assert table(tmp_path)["question"].to_list() == ["a", "b"]


SUBMISSION = {"no_generation": ["d"], "no_logs": ["e"], "resolved": ["a", "b"]}


def test_a_submission_needs_all_instances(table, write, tmp_path):
    write("verified/20240402_ada/results/results.json", SUBMISSION)
    with pytest.raises(
        ValueError, match=r"does not list the instances that were not resolved.*instances="
    ):
        table(tmp_path)
    with pytest.raises(ValueError, match=r"1 instances that instances= lacks, such as 'e'"):
        table(tmp_path, instances="abcd")
    log = table(tmp_path, instances="abcde")
    assert log.select("model", "question", "category", "outcome").rows() == [
        ("20240402_ada", "a", True, "resolved"),
        ("20240402_ada", "b", True, "resolved"),
        ("20240402_ada", "c", False, "unresolved"),
        ("20240402_ada", "d", False, "empty_patch"),
        ("20240402_ada", "e", None, "error"),
    ]


def test_older_submissions_list_all_instances(table, write, tmp_path):
    write("ada/results/results.json", {**SUBMISSION, "generated": ["a", "b", "c", "e"]})
    assert dict(table(tmp_path).select("question", "outcome").rows()) == {
        "a": "resolved", "b": "resolved", "c": "unresolved", "d": "empty_patch", "e": "error",
    }  # fmt: skip


def test_instances_that_a_run_does_not_list_are_incomplete(table, reports):
    log = table(reports / "gpt-4.1.run1.json", instances="abcdef")
    assert log.filter(question="f").select("category", "outcome").row(0) == (None, "incomplete")


def test_the_report_says_how_many_instances_there_are(reader, write):
    known = {"total_instances": 500, "resolved_instances": 2}
    path = write("ada.run1.json", report("ab", "c") | known)
    wanted = "3 of 500 planned trials; the tool reports 0.004, these rows 0.6667$"
    with pytest.warns(ps.LogWarning, match=wanted):
        log = reader(path)
    assert log.describe().select("trials", "planned", "reported").row(0) == (3, 500, 0.004)


def test_a_copied_report_is_no_second_run(reader, reports):
    copy = reports / "gpt-4.1.run3.json"
    copy.write_bytes((reports / "gpt-4.1.run1.json").read_bytes())
    with pytest.raises(ValueError, match="are the same run, 'run1': they have the same bytes"):
        reader(reports)


def test_a_failure_of_the_infrastructure_is_no_verdict(table, write):
    run = report("a", "bc") | {"infra_failure_ids": ["c"], "ambiguous_failure_ids": ["b"]}
    log = table(write("ada.run1.json", run))
    assert log.select("category", "outcome").rows() == [
        (True, "resolved"), (None, "infra_failure"), (False, "unresolved"),
    ]  # fmt: skip
    part = instance(False) | {"infra_failure": True}
    path = write("logs/run_evaluation/run2/ada/c/report.json", {"c": part})
    assert table(path)["outcome"].to_list() == ["infra_failure"]


def test_details_of_a_submission_have_all_instances(reader, write):
    details = {name: {"cost": 0.25, "api_calls": 3, "resolved": name == "a"} for name in ("a", "b")}
    path = write("bash-only/20250101_mini_ada/per_instance_details.json", details)
    for place in (path, path.parents[1]):
        log = reader(place, keep=["usd", "api_calls"]).frame.drop("run", "source")
        assert log.rows() == [
            ("20250101_mini_ada", "a", "", True, "resolved", 0.25, 3),
            ("20250101_mini_ada", "b", "", False, "unresolved", 0.25, 3),
        ]
    assert ps.logs.read(path).avg()["estimate"].item() == 0.5
