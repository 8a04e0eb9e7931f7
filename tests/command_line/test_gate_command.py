"""Gates in the terminal: exit statuses, sentences, files for other programs."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

from polars_scorio.command_line.main import main
from tests.made_logs import long
from tests.made_verdicts import verdicts


def versions(shift, seed=1, questions=60, trials=8, names=("v1", "v2")):
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
    """Run the command, and return its status, its last line and its errors."""

    def run(*arguments):
        status = main(["gate", *map(str, arguments)])
        printed = capsys.readouterr()
        lines = printed.out.strip().splitlines()
        return status, lines[-1] if lines else "", printed.err

    return run


@pytest.mark.parametrize(
    ("shift", "margin", "status", "words"),
    [
        (0.0, 0.2, 0, "pass: v2 is not worse than v1 by more than 20 points (avg"),
        (0.4, 0.02, 3, "fail: v2 is worse than v1 by more than 2 points (avg"),
        (0.0, 0.001, 4, "undecided: it is open whether v2 is worse than v1 by more than 0.1"),
    ],
)
def test_each_verdict_has_its_exit_status_and_sentence(gate, shift, margin, status, words):
    versions(shift).write_parquet("log.parquet")
    found, last, errors = gate("log.parquet", "--baseline", "v1", "--margin", margin)
    assert (found, errors) == (status, "")
    assert last.startswith(words)
    assert "one-sided 95 %" in last
    assert "broke, chance breaks" in last
    assert "regressed (FDR 10 %)" in last


def test_a_dearer_candidate_is_named_in_sentence_rows_and_files(gate, folder):
    price = pl.when(model="v1").then(1.0).otherwise(1.5)
    usd = price + pl.col("question") / 1000
    versions(0.0, questions=20).with_columns(usd=usd).write_parquet("log.parquet")
    status, last, _ = gate(
        "log.parquet", "--baseline", "v1", "--margin", 0.3, "--cost", "usd", "--cost-margin", 1.2,
        "--json", "gate.json", "--junit", "gate.xml", "--markdown", "gate.md",
    )  # fmt: skip
    assert status == 3
    assert last.startswith("fail: v2 is not worse than v1 by more than 30 points (avg@N")
    assert "; v2 costs more than 1.2 times as much as v1 (cost ratio 1.5 [" in last
    found = json.loads((folder / "gate.json").read_text(encoding="utf-8"))["results"][0]
    assert found["sentences"] == [last]
    assert [found["rows"][0][name] for name in ("score_verdict", "cost_verdict")] == [
        "pass",
        "fail",
    ]
    suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
    (failure,) = suite.findall("testcase/failure")
    assert failure.attrib["message"].endswith("(score: pass, cost: fail)")
    assert "cost ratio 1.5 [" in failure.attrib["message"]
    text = (folder / "gate.md").read_text(encoding="utf-8")
    assert f"- {last}\n" in text
    assert "| cost_verdict | score_verdict |" in text


@pytest.mark.parametrize(("meaning", "status"), [("fail", 3), ("pass", 0)])
def test_an_undecided_gate_may_count_as_either(gate, meaning, status):
    versions(0.0).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.001, "--undecided", meaning]
    found, last, _ = gate(*asked)
    assert found == status
    assert last.startswith("undecided: ")  # what it is stays said


def test_two_logs_are_named_by_their_folders(gate, folder):
    log = versions(0.4, names=("gpt", "gpt-next"))
    for name, model in (("old", "gpt"), ("new", "gpt-next")):
        (folder / name).mkdir()
        log.filter(model=model).write_parquet(folder / name / "log.parquet")
    status, last, _ = gate("new/", "--against", "old/", "--margin", 0.02)
    assert status == 3
    assert last.startswith("fail: new is worse than old by more than 2 points")
    status, _, errors = gate("new", "--against", "old", "--margin", 0.02, "--baseline", "old")
    assert status == 1
    assert "--against names the log of the baseline: leave --baseline out" in errors


def test_a_side_with_several_models_is_refused(gate, folder):
    for name in ("old", "new"):
        (folder / name).mkdir()
        versions(0.0).write_parquet(folder / name / "log.parquet")
    status, _, errors = gate("new/", "--against", "old/", "--margin", 0.02)
    assert status == 1
    assert "new has 2 models, ['v1', 'v2']: with --against each log has one" in errors


@pytest.mark.slow
def test_strata_metrics_and_looks_are_passed_on(gate, capsys):
    versions(0.4).write_parquet("log.parquet")
    status, last, _ = gate(
        "log.parquet", "--baseline", "v1", "--margin", 0.02, "--by", "domain", "--each",
        "--anytime", 16, "--metric", "avg", "--metric", "pass_hat_k([1, 4])",
    )  # fmt: skip
    assert status == 3
    assert "Pass^4" in last
    assert "which holds at every look (planned: 16 trials a question)" in last
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_files_for_other_programs(gate, folder):
    versions(0.4).write_parquet("log.parquet")
    files = ["--json", "gate.json", "--junit", "gate.xml", "--markdown", "gate.md"]
    status, last, _ = gate("log.parquet", "--baseline", "v1", "--margin", 0.02, "--by", "domain",
                           *files)  # fmt: skip
    assert status == 3
    found = json.loads((folder / "gate.json").read_text(encoding="utf-8"))
    assert found["verdict"] == "fail"
    assert found["results"][0]["sentences"] == [last]
    assert [row["domain"] for row in found["results"][0]["rows"]] == ["air", "web", None]
    assert found["results"][0]["regressed"][0]["regressed"] is True
    suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert suite.attrib["tests"] == "3"
    assert [case.attrib["name"] for case in suite] == ["v2: air", "v2: web", "v2: all"]
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) == 3
    text = (folder / "gate.md").read_text(encoding="utf-8")
    assert text.startswith(f"## Gate: fail\n\n- {last}\n")
    assert text.count("\n| ") == 5  # a heading, a line and three rows


@pytest.mark.slow
def test_junit_skips_what_is_undecided_unless_that_counts(gate, folder):
    versions(0.0).write_parquet("log.parquet")
    asked = ["log.parquet", "--baseline", "v1", "--margin", 0.001, "--junit", "gate.xml"]
    counts = {}
    for meaning in (None, "fail", "pass"):
        gate(*asked, *([] if meaning is None else ["--undecided", meaning]))
        suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
        counts[meaning] = suite.attrib["failures"], suite.attrib["skipped"]
    assert counts == {None: ("0", "1"), "fail": ("1", "0"), "pass": ("0", "0")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "v1", "--margin", "-0.1"], "margin must be a number that is not negative"),
        (["--baseline", "v1", "--margin", "1"], "margin must be smaller than the range of avg"),
        (["--margin", "0.1"], "name the baseline with --baseline, or its log with --against"),
        (["--baseline", "v9", "--margin", "0.1"], "--baseline v9 is none of the models"),
        (["--baseline", "v1", "--margin", "0.1", "--anytime", "0"], "anytime must be the number"),
        (["--baseline", "v1", "--margin", "0.1", "--anytime", "8", "--inference", "published"],
         "needs unbiased estimates"),
        (["--baseline", "v1", "--margin", "0.1", "--metric", "bayes"], "take ps.avg() or a metric"),
        (["--baseline", "v1", "--margin", "0.1", "--metric", "pass_at_k(9)"], "draws k=9 trials"),
        (["--baseline", "v1", "--margin", "0.1", "--fdr", "1"], "fdr must be a number between"),
        (["--against", "nothing", "--margin", "0.1"], "there is no file or folder nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_says_so(gate, arguments, message):
    versions(0.0).write_parquet("log.parquet")
    status, _, errors = gate("log.parquet", *arguments)
    assert status in {1, 2}
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_logs_that_cannot_be_judged_say_so(gate):
    log = versions(0.0)
    log.filter(model="v1").write_parquet("alone.parquet")
    assert (
        "the log has the baseline 'v1' alone"
        in (gate("alone.parquet", "--baseline", "v1", "--margin", 0.1)[2])
    )
    log.filter((pl.col("question") > 2) | (pl.col("model") == "v1")).write_parquet("some.parquet")
    status, _, errors = gate("some.parquet", "--baseline", "v1", "--margin", 0.1)
    assert status == 1
    assert "lacks questions that others have" in errors
    common = gate("some.parquet", "--baseline", "v1", "--margin", 0.3, "--questions", "common")
    assert common[0] == 0
    first = pl.col("trial").filter(pl.col("category") == 1).min().over("model", "question")
    log.filter(pl.col("trial") <= first.fill_null(8)).write_parquet("retried.parquet")
    status, _, errors = gate("retried.parquet", "--baseline", "v1", "--margin", 0.1)
    assert status == 1
    assert "stopped on their outcomes" in errors


def test_rewards_are_written_in_their_own_units(gate):
    log = versions(0.3).with_columns(pl.col("category") * 80 + pl.col("trial") / 9)
    log.write_parquet("log.parquet")
    status, last, _ = gate("log.parquet", "--baseline", "v1", "--margin", 5)
    assert status == 3
    assert last.startswith("fail: v2 is worse than v1 by more than 5 (avg@N -2")
    assert "broke" not in last


def test_a_margin_must_be_given(gate):
    with pytest.raises(SystemExit) as ended:
        gate("log.parquet", "--baseline", "v1")
    assert ended.value.code == 2


@pytest.mark.slow
def test_a_page_of_a_leaderboard_may_hold_at_every_look(folder):
    versions(0.1).write_parquet("log.parquet")
    assert main(["report", "log.parquet", "--anytime", "16", "-o", "report.html"]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "hold at every look (planned: 16 trials a question)" in text


def test_a_gate_of_verdicts_says_what_was_corrected(capsys):
    verdicts().write_parquet("verdicts.parquet")
    rates = ["--sensitivity", "88/100", "--specificity", "78/100"]
    main(["gate", "verdicts.parquet", "--baseline", "a", "--margin", "0.05", *rates])
    words = "one-sided 95 %, corrected for the judge: sensitivity 0.88 of 100, specificity 0.78 of"
    assert words in capsys.readouterr().out
