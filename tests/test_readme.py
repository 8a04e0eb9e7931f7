import runpy
import shlex

import pytest

from polars_scorio.command_line import command_parser, main
from tests.documents import ROOT, check_prints, code_blocks

README = ROOT / "README.md"
BLOCKS = code_blocks(README)


# A reader is not shown what a warning calls doubtful.
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_every_code_block_runs_and_prints_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    check_prints(README)


def test_the_languages_of_the_code_blocks_are_known():
    assert {language for language, _ in BLOCKS} == {"sh", "python", "text"}


def test_continuous_integration_runs_both_commands_of_the_readme():
    (commands,) = (text for language, text in BLOCKS if language == "sh" and "pytest" in text)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(" --quiet", "")
    for command in commands.splitlines():
        assert f"\n{command}\n" in script


def test_the_command_takes_what_the_readme_types(tmp_path, monkeypatch, capsys):
    typed = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    calls = [shlex.split(line)[1:] for line in typed if line.startswith("polars-scorio ")]
    assert [call[0] for call in calls] == ["report", "report", "report", "coverage", "compare"]
    for call in calls:
        command_parser().parse_args(call)
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()
    made.write_parquet("rollouts.parquet")
    assert (main(calls[0]), main(calls[-1])) == (0, 0)
    assert capsys.readouterr().out.startswith("comet-70b leads with ")
