import pytest

import polars_scorio as ps
from tests.documents import ROOT, check_prints, code_blocks

GUIDE = ROOT / "examples" / "guide"
PAGES = [pytest.param(page, id=page.stem) for page in sorted(GUIDE.glob("*.md"))]


# A reader is not shown what a warning calls doubtful.
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_prints(page)


@pytest.mark.parametrize("page", PAGES)
def test_the_languages_of_the_code_blocks_are_known(page):
    assert {language for language, _ in code_blocks(page)} <= {"sh", "python", "text"}


def test_every_reader_of_logs_has_a_line():
    lines = (GUIDE / "logs.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert {line.count("|") for line in table} == {6}
    for tool in ps.logs.__all__:
        assert sum(f"| `ps.logs.{tool}(" in line for line in table) == 1
