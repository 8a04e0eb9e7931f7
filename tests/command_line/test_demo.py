"""A person without a log sees everything in one command."""

import runpy

import polars as pl
from polars.testing import assert_frame_equal

from polars_scorio.command_line.main import main
from tests.documents import ROOT


def test_a_demo_writes_a_log_prints_its_answer_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "new/tried"]) == 0
    log = pl.read_parquet("new/tried/rollouts.parquet")
    made = runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()
    assert_frame_equal(log, made)
    printed = capsys.readouterr().out
    assert "$ polars-scorio new/tried/rollouts.parquet --by domain\n" in printed
    assert "comet-70b is ahead; ember-large may be as good." in printed
    assert printed.endswith("new/tried/report.html\n")
    page = (tmp_path / "new" / "tried" / "report.html").read_text(encoding="utf-8")
    assert "comet-70b is ahead" in page


def test_a_demo_overwrites_no_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rollouts.parquet").write_text("mine", encoding="utf-8")
    assert main(["demo"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "File exists: 'rollouts.parquet'. Name a new folder: polars-scorio demo FOLDER" in said
    assert (tmp_path / "rollouts.parquet").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "report.html").exists()
