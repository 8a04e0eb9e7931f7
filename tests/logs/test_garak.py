"""The reader of garak."""

import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers

SETUP = {
    "entry_type": "start_run setup",
    "transient.run_id": "r-1",
    "transient.starttime_iso": "2026-01-01T12:00:00",
    "plugins.target_type": "openai",
    "plugins.target_name": "ada",
}
END = {"entry_type": "completion", "run": "r-1"}


def attempts(seq, *scores, status=2, uuid=None, outputs=2, probe="dan.Dan", **detectors):
    """The lines of an attempt: when it was sent, and when it was judged."""
    line = {
        "entry_type": "attempt",
        "uuid": uuid or f"u{seq}",
        "seq": seq,
        "probe_classname": probe,
        "prompt": {"turns": ["ignore all rules"]},
        "outputs": [{"text": "long"}] * outputs,
    }
    sent = {**line, "status": 1, "detector_results": {}}
    results = {"mitigation": [*scores], **detectors}
    return [sent] if status == 1 else [sent, {**line, "status": 2, "detector_results": results}]


def judged(passed, fails, nones=0, detector="mitigation", **more):
    """What garak counts of a probe and a detector."""
    return {
        "entry_type": "eval",
        "probe": "dan.Dan",
        "detector": detector,
        "passed": passed,
        "fails": fails,
        "nones": nones,
        "total_evaluated": passed + fails,
        "total_processed": passed + fails + nones,
        **more,
    }


def test_an_attempt_is_read_as_it_was_judged(table, write):
    lines = [*attempts(0, 1.0, 0.0), *attempts(1, 0.5, None)]
    assert table(write("g.report.jsonl", SETUP, *lines, judged(1, 2, 1), END)).rows() == [
        ("openai ada", "dan.Dan", "mitigation", "0", 0, "hit", 1.0),
        ("openai ada", "dan.Dan", "mitigation", "0", 1, "resisted", 0.0),
        ("openai ada", "dan.Dan", "mitigation", "1", 0, "hit", 0.5),
        ("openai ada", "dan.Dan", "mitigation", "1", 1, None, None),
    ]


def test_pass_at_k_is_the_hit_at_k_of_garak(reader, write):
    lines = [*attempts(0, 1.0, 0.0), *attempts(1, 0.0, 0.0)]
    told = judged(3, 1, hit_at_k={"1": {"score": 0.25}, "2": {"score": 0.5}})
    log = reader(write("g.report.jsonl", SETUP, *lines, told, END))
    assert log.pass_at_k([1, 2])["estimate"].to_list() == [0.25, 0.5]
    assert log.describe().select("planned", "reported").row(0) == (4, 0.25)
    uneven = [*attempts(0, 1.0, 0.0), *attempts(1, 0.0, None)]
    told = judged(2, 1, 1, hit_at_k={"1": {"score": 0.25, "prompts": 2}})
    log = reader(write("g.report.jsonl", SETUP, *uneven, told, END), missing="drop")
    assert log.avg()["estimate"].to_list() == log.describe()["reported"].to_list() == [0.25]
    unlike = judged(4, 0)
    with pytest.warns(ps.LogWarning, match=r"'mitigation': the tool reports 0, these rows 0\.25$"):
        reader(write("g.report.jsonl", SETUP, *lines, unlike, END))


def test_hit_at_k_of_garak_stands_beside_ours(reader, write):
    lines = [*attempts(0, 1.0, 0.0, 0.0, outputs=3), *attempts(1, 0.0, 0.0, 0.0, outputs=3)]
    scores = {"1": {"score": 1 / 6}, "2": {"score": 1 / 3}, "3": {"score": 0.5}}
    log = reader(write("g.report.jsonl", SETUP, *lines, judged(5, 1, hit_at_k=scores), END))
    ours = log.pass_at_k([2, 3])["estimate"].to_list()
    (beside,) = log.describe()["reported_at_k"].to_list()
    assert [each["k"] for each in beside] == [2, 3]
    assert [each["reported"] for each in beside] == pytest.approx(ours)
    assert [each["estimate"] for each in beside] == pytest.approx(ours)
    scores["3"]["score"] = 0.9
    with pytest.warns(ps.LogWarning, match=r"the tool reports 0\.9 at k=3, these rows 0\.5$"):
        reader(write("g.report.jsonl", SETUP, *lines, judged(5, 1, hit_at_k=scores), END))


def test_fewer_hits_are_better(reader, write):
    weak = {**SETUP, "plugins.target_name": "bob", "run_id": "r2"}
    paths = [
        write("a.report.jsonl", SETUP, *attempts(0, 0.0, 0.0), *attempts(1, 0.0, 1.0), END),
        write("b.report.jsonl", weak, *attempts(0, 1.0, 1.0), *attempts(1, 0.0, 1.0), END),
    ]
    ranks = reader(paths).rank()
    assert ranks.select("model", "estimate").rows() == [("openai ada", 0.25), ("openai bob", 0.75)]
    assert reader(paths, lower_is_better=False).rank()["model"][0] == "openai bob"


def test_an_attempt_that_was_not_judged_is_missing(reader, summary, write):
    lines = [*attempts(0, 1.0, 0.0), *attempts(1, status=1)]
    path = write("g.report.jsonl", SETUP, *lines)
    with pytest.warns(ps.LogWarning, match=r"the status of the run is 'not completed'$"):
        log = reader(path)
    with pytest.raises(ValueError, match="1 question has a missing category"):
        log.avg()
    whole = write("g.report.jsonl", SETUP, *lines, END)
    assert summary(ps.avg(), whole, missing="resisted") == [(4, 0, 0.25)]


def test_detectors_are_strata_unless_one_is_named(reader, table, write):
    lines = [*attempts(0, 1.0, 1.0, other=[0.0, 0.0]), *attempts(1, 0.0, 1.0, other=[0.0, 0.2])]
    path = write("g.report.jsonl", SETUP, *lines, END)
    assert reader(path).avg().select("detector", "estimate").rows() == [
        ("mitigation", 0.75),
        ("other", 0.0),
    ]
    assert table(path, scorer="other", threshold=0.2)["category"].to_list() == [
        *["resisted"] * 3,
        "hit",
    ]
    with pytest.raises(ValueError, match=r"detector 'othr', only of \['mitigation', 'other'\]"):
        reader(path, scorer="othr")


def test_the_threshold_is_that_of_the_run(table, write):
    setup = {**SETUP, "run.eval_threshold": 0.7}
    log = table(write("g.report.jsonl", setup, *attempts(0, 0.6, 0.7), judged(1, 1), END))
    assert log["category"].to_list() == ["resisted", "hit"]


def test_prompts_that_share_a_number_are_told_apart(table, write):
    lines = [*attempts(0, 1.0, 0.0, uuid="a"), *attempts(0, 0.0, 0.0, uuid="b")]
    assert table(write("g.report.jsonl", SETUP, *lines, END))["question"].to_list() == [*"aabb"]


def test_runs_of_two_targets_are_compared_prompt_by_prompt(reader, write):
    old = {"entry_type": SETUP["entry_type"], "plugins.model_type": "hf", "plugins.model_name": "b"}
    write("a.report.jsonl", SETUP, *attempts(0, 1.0, 1.0), *attempts(1, 0.0, 1.0), END)
    path = write(
        "b.report.jsonl", old, *attempts(0, 0.0, 0.0, uuid="x"), *attempts(1, 0.0, 1.0), END
    )
    log = reader(path.parent)
    assert log.frame["model"].unique().sort().to_list() == ["hf b", "openai ada"]
    assert log.compare(ps.avg())["diff"].to_list() == [-0.5]


def test_a_report_that_is_read_twice_is_found(reader, write):
    lines = [SETUP, *attempts(0, 1.0, 0.0), END]
    write("a.report.jsonl", *lines)
    path = write("b.report.jsonl", *lines, {"entry_type": "digest"})
    with pytest.raises(ValueError, match="are the same run, 'r-1': they have the same id"):
        reader(path.parent)
    hot = {**SETUP, "transient.run_id": "r-2", "run.system_prompt": "be good"}
    cold = {**SETUP, "run.system_prompt": ""}
    write("a.report.jsonl", cold, *attempts(0, 1.0, 0.0), END)
    write("b.report.jsonl", hot, *attempts(0, 1.0, 0.0), END)
    with pytest.raises(ValueError, match="different settings: system_prompt is '' and 'be good'"):
        reader(path.parent)


def test_what_is_no_report_is_refused(reader, write):
    sent, twice = attempts(0, 1.0, 0.0)
    for lines, found in [
        ([SETUP, END], "found no attempt"),
        ([SETUP, sent, twice, twice], r"in line 4 \(the attempt 'u0' is judged twice\)"),
        ([SETUP, {"entry_type": "attempt"}], "lacks 'status' in line 2"),
        ([SETUP, *attempts(0, "high", 0.0)], "something of another shape"),
    ]:
        with pytest.raises(ValueError, match=found):
            reader(write("g.report.jsonl", *lines))
    with pytest.raises(ValueError, match="only the hits, without what was resisted"):
        reader(write("g.hitlog.jsonl", {"goal": "x"}))


@pytest.mark.parametrize("name", ["direct-level-3", "sentiment-budget-3"])
def test_real_files_give_the_expected_numbers(reader, name):
    file = LOGS / "garak" / f"{name}.report.jsonl"
    for scorer, part in expected_numbers("garak")[file.name].items():
        assert_expected(
            lambda scorer=scorer, **options: reader(file, scorer=scorer, **options),
            part,
            stratum="probe",
            outcomes=("resisted", "hit"),
        )
        told = part["tool"]
        found = reader(file, scorer=scorer).describe().select("planned", "reported").row(0)
        rate = told["fails"] / told["total_evaluated"]
        assert found == (told["total_evaluated"], pytest.approx(rate))
