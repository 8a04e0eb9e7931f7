import re
import runpy
import shlex
from pathlib import Path

import polars as pl
import pytest

from polars_scorio import metrics
from polars_scorio.command_line.main import main
from tests.documents import ROOT, check_prints, code_blocks

README = ROOT / "README.md"
BLOCKS = code_blocks(README)
LONGEST = 90  # lines


# A reader is not shown what a warning calls doubtful.
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_every_code_block_runs_and_prints_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_rollouts().write_parquet("rollouts.parquet")  # as the page types it
    check_prints(README)


def made_rollouts() -> pl.DataFrame:
    return runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()


def test_the_languages_of_the_code_blocks_are_known():
    assert {language for language, _ in BLOCKS} == {"sh", "python", "text", "yaml"}


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_guide_says_what_each_metric_is_for():
    chapter = (ROOT / "examples" / "guide" / "metrics" / "README.md").read_text(encoding="utf-8")
    for name in metrics.__all__:
        doc = getattr(metrics, name).__doc__ or ""
        if name[0].islower() and "by another name" not in doc.splitlines()[0]:
            assert re.search(rf"`{name}\W", chapter), f"nobody finds {name}"


def test_continuous_integration_runs_both_commands_of_the_readme():
    (commands,) = (text for language, text in BLOCKS if language == "sh" and "pytest" in text)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(" --quiet", "")
    for command in commands.splitlines():
        assert f"\n{command}\n" in script


@pytest.mark.slow
def test_the_command_takes_what_the_readme_types(tmp_path, monkeypatch, capsys):
    text = README.read_text(encoding="utf-8")
    (call,) = re.findall(r"`polars-scorio (report .*?)`", text)
    monkeypatch.chdir(tmp_path)
    made_rollouts().write_parquet("rollouts.parquet")
    assert main(shlex.split(call)) == 0
    assert capsys.readouterr().out.startswith("comet-70b is ahead; ember-large may be as good. ")


def test_the_first_sentence_has_the_numbers_of_the_table():
    retail = made_rollouts().filter(domain="retail").scorio.avg()
    scores = dict(retail.select("model", "estimate").rows())
    said = re.findall(r"(\d+) %", README.read_text(encoding="utf-8"))[:2]
    assert [round(100 * scores[name]) for name in ("comet-70b", "delta-mini")] == [*map(int, said)]


def test_a_step_of_ci_judges_the_gate_that_it_types(tmp_path, monkeypatch):
    (steps,) = (text for language, text in BLOCKS if language == "yaml")
    assert steps.count("\n") <= 6
    (call,) = re.findall(r"run: polars-scorio (gate .*)", steps)
    monkeypatch.chdir(tmp_path)
    for version, model in (("old", "delta-mini"), ("new", "comet-70b")):
        log = made_rollouts().filter(domain="airline", model=model)
        Path(version).mkdir()
        log.with_columns(model=pl.lit("agent")).write_parquet(f"{version}/log.parquet")
    assert main(shlex.split(call)) == 0
    assert Path("gate.md").read_text(encoding="utf-8").startswith("# new is better than old.")
