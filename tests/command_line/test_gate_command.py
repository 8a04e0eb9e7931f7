"""Gates in the terminal: exit statuses, sentences, files for other programs."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

from polars_scorio.command_line.main import main
from tests.made_logs import long
from tests.made_verdicts import verdicts


def versions(shift, seed=3, questions=60, trials=8, names=("v1", "v2")):
    """A log of two versions of a model; the second one is worse by a shift."""
    rng = np.random.default_rng(seed)
    rates = rng.random(questions)
    parts = [
        long((rng.random((questions, trials)) < rates[:, None] - less).astype(int).tolist(), name)
        for name, less in zip(names, (0.0, shift), strict=True)
    ]
    return pl.concat(parts).with_columns(
        domain=pl.when(pl.col("question") % 2 == 0).then(pl.lit("air")).otherwise(pl.lit("web"))
    )


@pytest.fixture
def gate(capsys):
    """Run the command, and return its status, the last sentence of its files and its errors."""

    def run(*arguments):
        status = main(["gate", *map(str, arguments), "--json", "said.json"])
        errors = capsys.readouterr().err
        if status in {1, 2}:
            return status, "", errors
        found = json.loads(Path("said.json").read_text(encoding="utf-8"))
        return status, found["results"][-1]["sentences"][-1], errors

    return run


@pytest.mark.parametrize(
    ("shift", "margin", "status", "words"),
    [
        (0.0, 0.2, 0, "v2 is not worse than v1 by more than 20 points. "),
        (0.4, 0.02, 3, "v2 is worse than v1 by more than 2 points. "),
        (0.0, 0.001, 4, "Undecided: v2 may be worse than v1 by more than 0.1 points. "),
    ],
)
def test_each_verdict_has_its_exit_status_and_sentence(gate, shift, margin, status, words):
    versions(shift).write_parquet("log.parquet")
    found, last, errors = gate("log.parquet", "--baseline", "v1", "--margin", margin)
    assert (found, errors) == (status, "")
    assert last.startswith(words)
    assert "one-sided 95 %" in last
    assert "questions went from mostly right to mostly wrong (" in last
    assert "questions regressed (FDR 10 %)" in last


def test_other_formats_hold_the_rows_of_all_metrics_and_nothing_else(capsys):
    versions(0.0).write_parquet("log.parquet")
    call = ["gate", "log.parquet", "--baseline", "v1", "--margin", "0.2"]
    assert main([*call, "--metric", "avg", "--metric", "pass_at_k(2)", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["metric"], row["k"], row["verdict"]) for row in rows] == [
        ("avg", None, "pass"),
        ("pass_at_k", 2, "pass"),
    ]
    assert main([*call, "--format", "csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("model,baseline,metric,k")
    assert row.startswith("v2,v1,avg,,")


@pytest.mark.parametrize(("meaning", "status"), [("fail", 3), ("pass", 0)])
def test_an_undecided_gate_may_count_as_either(gate, meaning, status):
    versions(0.0).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.001, "--undecided", meaning]
    found, last, _ = gate(*asked)
    assert found == status
    assert last.endswith(f"It counts as {meaning}.")


def test_two_logs_are_named_by_their_folders(gate, folder):
    log = versions(0.4, names=("gpt", "gpt-next"))
    for name, model in (("old", "gpt"), ("new", "gpt-next")):
        (folder / name).mkdir()
        log.filter(model=model).write_parquet(folder / name / "log.parquet")
    status, last, _ = gate("new/", "--against", "old/", "--margin", 0.02)
    assert status == 3
    assert last.startswith("new is worse than old by more than 2 points. ")
    status, _, errors = gate("new", "--against", "old", "--margin", 0.02, "--baseline", "old")
    assert status == 1
    assert "--against names the log of the baseline: omit --baseline" in errors


def test_a_side_with_several_models_is_refused(gate, folder):
    for name in ("old", "new"):
        (folder / name).mkdir()
        versions(0.0).write_parquet(folder / name / "log.parquet")
    status, _, errors = gate("new/", "--against", "old/", "--margin", 0.02)
    assert status == 1
    assert "new has 2 models, ['v1', 'v2']: with --against each log has one. If these are" in errors
    assert "name a column in which they agree, such as --model agent" in errors


def test_runs_of_one_agent_are_one_model_by_the_column_in_which_they_agree(gate, folder, capsys):
    for name in ("old", "new"):
        (folder / name).mkdir()
        runs = versions(0.4).filter(model="v2" if name == "new" else "v1")
        runs = runs.with_columns(agent=pl.lit("mine"), model=pl.format("run {}", "trial"))
        runs.write_parquet(folder / name / "log.parquet")
    call = ["new/", "--against", "old/"]
    assert gate(*call, "--margin", 0.02)[0] == 1
    status, last, _ = gate(*call, "--margin", 0.02, "--model", "agent")
    assert status == 3
    assert last.startswith("new is worse than old by more than")
    assert main(["regressions", *call, "--model", "agent"]) == 0
    assert "against old" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_gate_that_cannot_be_judged_is_an_error_and_no_failure(gate):
    versions(0.0).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.02, "--junit", "gate.xml"]
    status, _, errors = gate(*asked, "--metric", "pass_at_k(1000)")
    suite = ET.fromstring(Path("gate.xml").read_bytes())  # noqa: S314 - our own file
    assert status == 1
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["1", "0", "1"]
    (error,) = suite.findall("testcase/error")
    assert "draws k=1000 trials of a question" in error.get("message")
    assert "draws k=1000 trials of a question" in " ".join(errors.split())


@pytest.mark.slow
def test_strata_metrics_and_looks_are_passed_on(gate, capsys):
    versions(0.4).write_parquet("log.parquet")
    status, last, _ = gate(
        "log.parquet", "--baseline", "v1", "--margin", 0.02, "--by", "domain", "--every-stratum",
        "--planned-trials", 16, "--metric", "avg", "--metric", "pass_hat_k([1, 4])",
    )  # fmt: skip
    assert status == 3
    assert "Pass^4" in last
    assert "at every look (planned: 16 trials a question)" in last
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_files_for_other_programs(gate, folder):
    versions(0.4).write_parquet("log.parquet")
    files = ["--junit", "gate.xml", "--markdown", "gate.md"]
    status, last, _ = gate("log.parquet", "--baseline", "v1", "--margin", 0.02, "--by", "domain",
                           *files)  # fmt: skip
    assert status == 3
    found = json.loads((folder / "said.json").read_text(encoding="utf-8"))
    assert found["verdict"] == "fail"
    assert found["results"][0]["sentences"] == [last]
    assert [row["domain"] for row in found["results"][0]["rows"]] == ["air", "web", None]
    assert found["results"][0]["regressed"][0]["regressed"] is True
    suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert suite.attrib["tests"] == "3"
    assert [case.attrib["name"] for case in suite] == ["v2: air", "v2: web", "v2: all"]
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) == 3
    text = (folder / "gate.md").read_text(encoding="utf-8")
    title, verdict, *_ = [line for line in text.splitlines() if line]
    assert last.startswith(title.removeprefix("# "))
    assert verdict.startswith("**gate: fail** ")
    table = [line for line in text.splitlines() if line.startswith("| ")]
    parts = [line.split(" | ")[0].removeprefix("| ") for line in table]
    assert parts == ["part", "---", "mean of 2 domains", "air", "web"]


@pytest.mark.slow
def test_junit_is_red_where_the_exit_status_is(gate, folder):
    versions(0.0).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.001, "--junit", "gate.xml"]
    counts = {}
    for meaning in (None, "fail", "pass"):
        gate(*asked, *([] if meaning is None else ["--undecided", meaning]))
        suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
        counts[meaning] = suite.attrib["failures"], suite.attrib["errors"]
    assert counts == {None: ("0", "1"), "fail": ("1", "0"), "pass": ("0", "0")}


def test_single_questions_are_listed_by_id_or_in_a_file(gate, folder):
    old = [[1] * 5] * 12 + [[1, 0, 1, 0, 1]] * 4
    new = [[0] * 5, [1, 1, 1, 1, 0]] + [[1] * 5] * 10 + [[1, 0, 1, 0, 1]] * 4
    pl.concat([long(old, "v1"), long(new, "v2")]).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.3]
    assert gate(*asked)[0] == 0
    status, sentence, _ = gate(*asked, "--fail-on", "regressed")
    assert status == 3
    assert sentence.startswith("v2 broke 1 question. ")
    assert "Tested one by one, 1 question regressed (FDR 10 %): 0." in sentence
    status, sentence, _ = gate(*asked, "--must-pass", 1, 2)
    assert status == 3
    assert sentence.startswith("v2 fails 1 question that must pass. ")
    assert sentence.endswith("1 question that must pass did not in every trial: 1.")
    (folder / "flaky.txt").write_text("# known\n0\n\n1\n", encoding="utf-8")
    checked = ["--quarantine", "flaky.txt", "--fail-on", "regressed"]
    status, sentence, _ = gate(*asked, *checked)
    assert status == 0
    assert "0 questions regressed" in sentence
    status, _, errors = gate(*asked, "--must-pass", 99)
    assert (status, "lists 1 question that the log does not have: 99" in errors) == (1, True)


@pytest.mark.usefixtures("folder")
def test_an_alarm_of_the_log_is_said_once_and_fails_only_if_asked(capsys):
    """A run that was stored twice: verdict and status stay, unless --fail-on check is given."""
    log = versions(0.0)
    copy = log.filter(pl.col("model") == "v2", pl.col("trial") == 2)
    log = log.filter((pl.col("model") != "v2") | (pl.col("trial") != 7))
    pl.concat([log, copy.with_columns(trial=pl.lit(7, pl.Int64))]).write_parquet("log.parquet")
    files = ["--json", "gate.json", "--markdown", "gate.md", "--junit", "gate.xml"]
    call = ["gate", "log.parquet", "--baseline", "v1", "--margin", "0.2", *files]
    for extra, status, counted in (([], 0, "pass"), (["--fail-on", "check"], 3, "fail")):
        assert main([*call, *extra]) == status
        printed = capsys.readouterr()
        said = " ".join(printed.out.split())
        assert re.match(
            r"ALARM v2: of \d+ questions with successes and failures, runs 2 and 7 agree on all;",
            said,
        )
        assert printed.err == ""
        assert said.count("runs 2 and 7 agree") == 1
        saved = json.loads(Path("gate.json").read_text(encoding="utf-8"))
        assert (saved["verdict"], saved["counts_as"]) == ("pass", counted)
        assert saved["results"][0]["rows"][0]["alarm"]
        for file in ("gate.md", "gate.xml"):
            assert Path(file).read_text(encoding="utf-8").count("runs 2 and 7 agree") == 1
    assert main([*call, "--fail-on", "check", "--fail-on", "regressed"]) == 3


GATE = ["log.parquet", "--baseline", "v1", "--margin", "0.1"]
BAD_CALLS = {
    "a margin in percent": (
        [*GATE[:-1], "3%"], 2, "'3%' is not a number: write percentages as shares, 3 % as 0"),
    "a confidence in percent": ([*GATE, "--confidence", "95%"], 2, "'95%' is not a number: write"),
    "a negative margin": (
        [*GATE[:-1], "-0.1"], 1, "margin must be a number that is not negative"),
    "a margin as large as the range": (
        [*GATE[:-1], "1"], 1, "margin must be smaller than the range of avg"),
    "no baseline": (
        ["log.parquet", "--margin", "0.1"], 1, "name the baseline with --baseline, or its log"),
    "an unknown baseline": (
        ["log.parquet", "--baseline", "v9", "--margin", "0.1"], 1, "--baseline v9 is none of the"),
    "a log that is not there": (
        ["log.parquet", "--against", "nothing", "--margin", "0.1"], 2, "no file or folder nothing"),
    "the baseline alone": (
        ["alone.parquet", *GATE[1:]], 1, "the log has only the baseline 'v1', and no candidate"),
    "different questions": (
        ["some.parquet", *GATE[1:]], 1, "pass --unmatched drop to keep those that all models"),
    "k beyond the trials": (
        [*GATE, "--metric", "pass_at_k(9)"], 1, "draws k=9 trials of a question"),
    "a plan of True": (
        [*GATE, "--planned-trials", "True"], 2, "a positive int that was written down"),
    "a plan of nothing": (
        [*GATE, "--planned-trials", "0"], 2, "as in --planned-trials 16, got 0"),
    "looks at numbers under a uniform prior": (
        [*GATE, "--planned-trials", "8", "--prior", "uniform"], 1, "use avg or a metric of the"),
    "looks at numbers under the population": (
        [*GATE, "--planned-trials", "8", "--prior", "population"], 1, "family, without --prior"),
    "posterior means": (
        [*GATE, "--metric", "bayes"], 1, "metric of the Pass@k family, without --prior"),
    "a false discovery rate of one": (
        [*GATE, "--fdr", "1"], 1, "fdr must be a number between"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CALLS)
def test_what_cannot_be_judged_is_answered_in_words_of_the_command(kind, capsys):
    arguments, status, message = BAD_CALLS[kind]
    log = versions(0.0, questions=30)
    logs = {
        "log": log,
        "alone": log.filter(model="v1"),
        "some": log.filter((pl.col("question") > 2) | (pl.col("model") == "v1")),
    }
    name = arguments[0].removesuffix(".parquet")
    logs[name].write_parquet(arguments[0])
    try:
        found = main(["gate", *arguments])
    except SystemExit as ended:
        found = ended.code
    errors = capsys.readouterr().err
    assert found == status
    assert message in errors
    for python in ("Traceback", "ps.", "()", "=True", "inference=", "unmatched="):
        assert python not in errors


def test_models_with_different_questions_may_be_judged_on_common_ones(gate):
    log = versions(0.0).filter((pl.col("question") > 2) | (pl.col("model") == "v1"))
    log.write_parquet("log.parquet")
    asked = ["--baseline", "v1", "--margin", 0.3, "--unmatched", "drop"]
    assert gate("log.parquet", *asked)[0] == 0


def test_versions_with_prompts_of_their_own_are_judged_as_two_samples(gate, capsys):
    log = versions(0.0).with_columns(pl.format("{} {}", "model", "question").alias("question"))
    log.write_parquet("log.parquet")
    asked = ["--baseline", "v1", "--margin", 0.3]
    status, _, errors = gate("log.parquet", *asked)
    assert status == 1
    assert "are compared with --target population and --unmatched unpaired, by" in errors
    asked += ["--target", "population", "--unmatched", "unpaired"]
    status, last, _ = gate("log.parquet", *asked)
    found = log.scorio(by="domain", target="population").gate(
        "v1", margin=0.3, unmatched="unpaired"
    )
    assert (status, found["verdict"].to_list()) == (0, ["pass"] * 3)
    assert "one-sided 95 %, each version on questions of its own, about" in last
    status, _, errors = gate("log.parquet", *asked, "--html", "gate.html")
    assert status == 1
    assert "with --unmatched unpaired write --markdown, --json or --junit" in errors
    for command in ("compare", "rank"):
        assert main([command, "log.parquet", *asked[4:]]) == 0
        assert "about questions like these" in " ".join(capsys.readouterr().out.split())


def test_rewards_are_written_in_their_own_units(gate):
    log = versions(0.3).with_columns(pl.col("category") * 80 + pl.col("trial") / 9)
    log.write_parquet("log.parquet")
    status, last, _ = gate("log.parquet", "--baseline", "v1", "--margin", 5)
    assert status == 3
    assert last.startswith("v2 is worse than v1 by more than 5. \N{MINUS SIGN}2")
    assert "broke" not in last


def test_a_baseline_comes_with_its_margin(gate):
    versions(0.0).write_parquet("log.parquet")
    status, _, errors = gate("log.parquet", "--baseline", "v1")
    assert status == 1
    assert "a baseline and its --margin go together: pass both, as in --margin 0.02" in errors


def test_a_gate_of_verdicts_says_what_was_corrected(capsys):
    verdicts().write_parquet("verdicts.parquet")
    rates = ["--sensitivity", "88/100", "--specificity", "78/100"]
    main(["gate", "verdicts.parquet", "--baseline", "a", "--margin", "0.05", *rates])
    judge = "corrected for the judge: sensitivity 0.88 of 100, specificity 0.78 of"
    assert f"one-sided 95 %, for both candidates at once, {judge}" in capsys.readouterr().out
    main(["gate", "verdicts.parquet", "--baseline", "a", "--margin", "0.05", "--each-pair", *rates])
    assert f"one-sided 95 %, {judge}" in capsys.readouterr().out


def test_with_lower_is_better_a_version_with_fewer_successes_passes(gate):
    versions(0.4).write_parquet("log.parquet")
    options = ["--baseline", "v1", "--margin", 0.02, "--lower-is-better"]
    found, last, _ = gate("log.parquet", *options, "--by", "domain")
    assert found == 0
    assert last.startswith("v2 is better than v1. ")
    assert "On 0 questions the outcome went from rare to frequent" in last
    assert "0 questions regressed" in last
    found, last, _ = gate("log.parquet", "--baseline", "v2", *options[2:])
    assert found == 3
    assert last.startswith("v1 is worse than v2 by more than 2 points. ")


def test_broken_cases_of_a_stable_suite_are_exit_status_3(gate):
    """No case changes its outcome between trials; two of 30 went from all right to all wrong."""
    log = pl.concat(
        long([[int(case < solved)] * 5 for case in range(30)], name)
        for name, solved in (("old", 28), ("new", 26))
    )
    log.write_csv("log.csv")
    asked = ("log.csv", "--baseline", "old", "--margin", 0.05)
    assert gate(*asked)[0] == 4
    status, _, errors = gate(*asked, "--fail-on", "regressed")
    assert (status, errors) == (3, "")
    found = json.loads(Path("said.json").read_text(encoding="utf-8"))
    assert "26" in json.dumps(found)
    assert gate("log.csv", "--baseline", "old", "--margin", 0.04)[0] == 3
