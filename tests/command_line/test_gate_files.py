import json

import polars as pl

from polars_scorio.command_line.gate_files import (
    GateResult,
    write_json,
    write_junit,
    write_markdown,
)

ROWS = pl.DataFrame({"model": ["a|b"], "k": [None], "diff": [0.0123456], "verdict": ["pass"]})
RESULT = GateResult("avg", ROWS, ["pass: fine"], pl.DataFrame())


def test_markdown_escapes_bars_and_rounds_numbers(folder):
    write_markdown("gate.md", "pass", [RESULT])
    lines = (folder / "gate.md").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "| a\\|b |  | 0.0123 | pass |"


def test_json_keeps_all_digits(folder):
    write_json("gate.json", "pass", [RESULT])
    found = json.loads((folder / "gate.json").read_text(encoding="utf-8"))
    assert found["results"][0]["rows"][0]["diff"] == 0.0123456


def test_junit_says_what_is_unknown(folder):
    ends = {"diff": [-0.5, None], "lo": [None, None], "hi": [0.25, None]}
    rows = pl.DataFrame({"model": ["a", "b"], "k": [None, 4], **ends, "verdict": ["fail"] * 2})
    write_junit("gate.xml", [GateResult("avg", rows, [], pl.DataFrame())], [], "model", None)
    text = (folder / "gate.xml").read_text(encoding="utf-8")
    assert 'message="fail: -0.5 [unknown, +0.25]"' in text
    assert 'message="fail: unknown [unknown, unknown]"' in text
