import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

from polars_scorio.command_line.gate_command import (
    GateResult,
    write_json,
    write_junit,
    write_markdown,
)
from polars_scorio.command_line.main import main
from tests.display.html.logs import models, page_text
from tests.made_logs import long

ROWS = pl.DataFrame(
    {
        "model": ["a|b"],
        "baseline": "v1",
        "metric": "avg",
        "k": [None],
        "diff": [0.0123456],
        "verdict": ["pass"],
        "note": ["m: each trial is there twice."],
        "alarm": [True],
    }
)
QUIET = {"note": pl.lit(None, pl.String), "alarm": False}
RESULT = GateResult("avg", ROWS, [], ["fine"], ["fine"], pl.DataFrame())


@pytest.mark.usefixtures("folder")
def test_markdown_says_what_the_terminal_says_and_what_other_candidates_have(capsys):
    models(3, strata=2, questions=30).write_parquet("log.parquet")
    asked = ["gate", "log.parquet", "--by", "bench", "--baseline", "m00", "--margin", "0.1"]
    assert main([*asked, "--markdown", "gate.md"]) == 3
    printed = capsys.readouterr().out
    said = Path("gate.md").read_text(encoding="utf-8")
    title = "m02 is worse than m00 by more than 10 points."
    assert said.startswith(f"# {title}\n\n**gate: fail** \N{MINUS SIGN}")
    assert f"FAIL  {title}" in printed
    assert "| model | points | verdict |\n| --- | ---: | --- |\n| m02 | \N{MINUS SIGN}" in said
    assert re.search(r"\n- m01 is worse than m00, by at least [\d.]+ points; whether", said)


def test_markdown_escapes_names_and_has_what_tests_of_the_log_found(folder):
    write_markdown("gate.md", [replace(RESULT, sentences=["a|b is fine."])])
    lines = (folder / "gate.md").read_text(encoding="utf-8").splitlines()
    assert lines == ["m: each trial is there twice.", "", r"- a\|b is fine."]


def test_json_keeps_all_digits(folder):
    write_json("gate.json", "undecided", "pass", [RESULT])
    found = json.loads((folder / "gate.json").read_text(encoding="utf-8"))
    assert (found["verdict"], found["counts_as"]) == ("undecided", "pass")
    assert found["results"][0]["rows"][0]["diff"] == 0.0123456


def test_junit_has_the_sentence_of_each_row_that_fails(folder):
    rows = pl.DataFrame({"model": ["a", "b"], "k": [None, 4], "verdict": ["fail", "pass"]})
    sentences = ["fail: a is worse", "pass: b is not"]
    result = GateResult("avg", rows.with_columns(**QUIET), [], [], sentences, rows)
    write_junit("gate.xml", [result], [], "model", None, tested=False)
    text = (folder / "gate.xml").read_text(encoding="utf-8")
    assert '<testcase classname="avg" name="a: all"><failure message="fail: a is worse" />' in text
    assert '<testcase classname="avg, k=4" name="b: all" />' in text


def test_junit_is_xml_whatever_the_models_are_called(folder):
    rows = pl.DataFrame(
        {"model": ["a\x1b\ufffe<"], "baseline": "v1", "k": [None], "verdict": ["fail"]}
    ).with_columns(**QUIET)
    result = GateResult("avg", rows, [], [], ["fail: a\x1b\udcff is worse"], rows)
    write_junit("gate.xml", [result], [], "model", None, tested=False)
    (case,) = ET.parse(folder / "gate.xml").getroot()  # noqa: S314 - written here
    assert case.attrib["name"] == "a(U+001B)(U+FFFE)<: all"
    assert case[0].attrib["message"] == "fail: a(U+001B)(U+DCFF) is worse"


@pytest.mark.parametrize("tested", [False, True])
def test_junit_has_what_tests_of_the_log_found_and_fails_only_if_asked(folder, tested):
    write_junit("gate.xml", [RESULT], [], "model", None, tested=tested)
    suite = ET.parse(folder / "gate.xml").getroot()  # noqa: S314 - written here
    said = suite.findtext("system-out") or suite.find("testcase[@classname='check']/failure")
    assert (said.attrib["message"] if tested else said) == "m: each trial is there twice."
    counts = {name: suite.attrib[name] for name in ("tests", "failures")}
    assert counts == {"tests": str(1 + tested), "failures": str(int(tested))}


@pytest.mark.usefixtures("folder")
def test_the_page_of_a_gate_says_what_its_cases_said(capsys):
    questions = {"v1": [4, 4, 4, 2, 0], "v2": [4, 4, 0, 2, 4]}
    rows = [(f"q{q}", model, trial, int(trial < c)) for model, own in questions.items()
            for q, c in enumerate(own) for trial in range(4)]  # fmt: skip
    log = pl.DataFrame(rows, schema=["question", "agent", "trial", "category"], orient="row")
    log.write_csv("log.csv")
    gate = ["gate", "log.csv", "--model", "agent", "--baseline", "v1", "--margin", "0.9"]
    status = main([*gate, "--must-pass", "q0", "q2", "--html", "gate.html"])
    capsys.readouterr()
    assert status == 3
    said = page_text("gate.html")
    assert "v2 fails 1 question that must pass." in said
    assert "1 question that must pass did not in every trial: q2." in said
    assert "polars-scorio gate log.csv --model agent --baseline v1 --margin 0.9" in said
    assert main([*gate, "--must-pass", "q0", "--html", "gate.html"]) == 0
    assert "must pass" not in page_text("gate.html")


@pytest.mark.parametrize(
    ("name", "content", "status", "words"),
    [
        ("lost.csv", None, 2, "lost.csv"),
        ("broken.parquet", "PAR1 and no more", 2, "broken.parquet"),
        ("words.csv", "model,question,category\nv1,1,yes\nv2,1,no\n", 1, "success"),
    ],
)
def test_junit_has_an_error_of_a_log_that_no_gate_can_judge(
    folder, capsys, name, content, status, words
):
    if content is not None:
        (folder / name).write_text(content)
    asked = ["gate", name, "--baseline", "v1", "--margin", "0.1", "--junit", "gate.xml"]
    assert main(asked) == status
    said = capsys.readouterr().err
    suite = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))  # noqa: S314 - ours
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
    message = suite.find("testcase/error").get("message")
    assert words in message
    assert " ".join(message.split()) in " ".join(said.split())


@pytest.fixture
def scored(folder):
    """Two models of sixty questions, of which one scores .97 and the other one .6."""
    rng = np.random.default_rng(0)
    logs = [long((rng.random((60, 5)) < p).astype(int).tolist(), name)
            for name, p in (("high", 0.97), ("low", 0.6))]  # fmt: skip
    pl.concat(logs).write_parquet(folder / "log.parquet")
    logs[0].drop("model").write_parquet(folder / "high.parquet")
    return folder


@pytest.mark.usefixtures("scored")
def test_a_score_to_reach_has_one_verdict_on_all_surfaces(capsys):
    files = [f"--{kind}=gate.{kind}" for kind in ("json", "junit", "markdown")]
    assert main(["gate", "log.parquet", "--at-least", "0.9", *files]) == 3
    printed = capsys.readouterr().out
    assert "FAIL  low scores less than 90 %." in printed
    read = {kind: Path(f"gate.{kind}").read_text("utf-8") for kind in ("json", "junit", "markdown")}
    assert read["markdown"].startswith("# low scores less than 90 %.\n\n**gate: fail** ")
    found = json.loads(read["json"])
    assert (found["verdict"], found["counts_as"]) == ("fail", "fail")
    assert found["results"][0]["sentences"][0].startswith("high scores at least 90 %. ")
    assert '<testcase classname="avg" name="high: all" />' in read["junit"]
    assert 'name="low: all"><failure message="low scores less than 90 %. ' in read["junit"]


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--at-least", "0.9"], 0, "PASS The model scores at least 90 %."),
        (["--at-least", "0.97"], 4, "UNDECIDED Undecided: The model may score less than 97 %."),
        (["--at-least", "0.999"], 3, "FAIL The model scores less than 99.9 %."),
        (["--at-least", "0.97", "--undecided", "pass"], 0, "It counts as pass."),
        (["--at-least", "1.2"], 1, "at_least must be a score between 0 and 1"),
        (
            [],
            1,
            "neither a baseline nor a score to reach is named: pass a baseline with its --",
        ),
        (["--at-least", "0.9", "--html", "gate.html"], 1, "--html shows differences"),
    ],
    ids=str,
)
def test_a_single_run_has_a_gate_and_its_status(options, status, said, capsys):
    assert main(["gate", "high.parquet", "--model", "none", *options]) == status
    written = capsys.readouterr()
    assert said in " ".join((written.out + written.err).split())


def test_each_question_is_a_case_of_junit(folder, capsys):
    rows = [(f"c{case}", trial, int(case != 49)) for case in range(50) for trial in range(10)]
    names = ["question", "trial", "category"]
    pl.DataFrame(rows, names, orient="row").write_parquet(folder / "cases.parquet")
    asked = ["gate", "cases.parquet", "--model", "none", "--each-at-least", "0.8"]
    assert main([*asked, "--junit", "gate.xml"]) == 3
    assert "1 question passed too few trials: c49." in capsys.readouterr().out
    suite = ET.parse("gate.xml").getroot()  # noqa: S314 - written here
    of_questions = suite.findall("testcase[@classname='question']")
    assert len(of_questions) == 50
    failed = {case.get("name"): case[0].get("message") for case in of_questions if len(case)}
    assert failed == {"The model c49": "0 of 10 trials passed, and at least 80 % must"}


@pytest.mark.usefixtures("scored")
def test_beside_a_baseline_the_score_decides_page_and_files_too(capsys):
    log = pl.read_parquet("log.parquet").filter(model="low")
    pl.concat([log, log.with_columns(model=pl.lit("next"))]).write_parquet("two.parquet")
    asked = ["gate", "two.parquet", "--baseline", "low", "--margin", "0.3", "--at-least", "0.9"]
    assert main([*asked, "--markdown", "gate.md", "--html", "gate.html"]) == 3
    title = "next scores less than 90 %."
    assert f"FAIL  {title}" in capsys.readouterr().out
    assert Path("gate.md").read_text("utf-8").startswith(f"# {title}\n\n**gate: fail** ")
    assert title in page_text("gate.html")
