import re
import runpy
import shlex

import polars as pl
import pytest

from polars_scorio import metrics
from polars_scorio.command_line.main import main
from tests.documents import ROOT, check_prints, code_blocks

README = ROOT / "README.md"
BLOCKS = code_blocks(README)
LONGEST = 90  # lines
PAGES_OF = {"weighted": "average", "answer_votes": "votes"}  # families whose page has another name


# A reader is not shown what a warning calls doubtful.
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_every_code_block_runs_and_prints_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_rollouts().write_parquet("rollouts.parquet")  # as the page types it
    check_prints(README)


def made_rollouts() -> pl.DataFrame:
    return runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()


def test_the_languages_of_the_code_blocks_are_known():
    assert {language for language, _ in BLOCKS} == {"sh", "python", "text"}


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= LONGEST


def metric_rows() -> list[str]:
    """The table of metrics: each with its page, and the question of its help."""
    rows = []
    for name in metrics.__all__:
        made = getattr(metrics, name)
        question = (made.__doc__ or "").splitlines()[0].removesuffix(".").replace(" [1]_", "")
        if name[0].islower() and "by another name" not in question:
            family = made.__module__.rpartition(".")[2]
            page = f"examples/guide/metrics/{PAGES_OF.get(family, family)}.md"
            rows.append(f"| [`{name}`]({page}) | {question.partition(': ')[2]} |")
    return rows


def test_the_table_of_metrics_is_what_their_help_asks():
    lines = README.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.startswith("| [`")]
    assert len(shown) == 6
    assert {*shown} < {*metric_rows()}


def test_the_guide_says_what_each_metric_is_for():
    chapter = ROOT / "examples" / "guide" / "metrics" / "README.md"
    table, _, _ = chapter.read_text(encoding="utf-8").partition("If in doubt")
    for row in metric_rows():
        name = row.partition("`")[2].partition("`")[0]
        assert re.search(rf"`{name}\W", table), f"nobody finds {name}"


def test_continuous_integration_runs_both_commands_of_the_readme():
    (commands,) = (text for language, text in BLOCKS if language == "sh" and "pytest" in text)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(" --quiet", "")
    for command in commands.splitlines():
        assert f"\n{command}\n" in script


@pytest.mark.slow
def test_the_command_takes_what_the_readme_types(tmp_path, monkeypatch, capsys):
    typed = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    calls = [shlex.split(line)[1:] for line in typed if line.startswith("polars-scorio ")]
    (call,) = calls
    monkeypatch.chdir(tmp_path)
    made_rollouts().write_parquet("rollouts.parquet")
    assert main(call) == 0
    assert capsys.readouterr().out.startswith("comet-70b is ahead; ember-large may be as good. ")
