import re
import runpy
import shlex
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import command_parser, named_command
from polars_scorio.logs.read import TOOLS
from tests.documents import ROOT, check_prints, code_blocks

GUIDE = ROOT / "examples" / "guide"
# A site that was built leaves its reference here: the docstrings, which are doctests.
WRITTEN = [page for page in sorted(GUIDE.rglob("*.md")) if "reference" not in page.parts]
NAMES = {page: page.relative_to(GUIDE).with_suffix("").as_posix() for page in WRITTEN}
PAGES = [pytest.param(page, id=name) for page, name in NAMES.items()]
# These pages run a pytest, or simulate, for more than a second.
SLOW = {"gate", "metrics/your_own", "reports"}
RUN = [
    pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
    for page, name in NAMES.items()
]
LONGEST = 305  # lines
# The index of the guide names these settings.
DISPLAY = {
    "tbl_cols": -1,
    "tbl_rows": -1,
    "tbl_hide_column_data_types": True,
    "float_precision": 3,
    "tbl_width_chars": 120,
}


def link_targets(page: Path) -> list[tuple[str, str]]:
    """The relative links of a page: file and anchor."""
    links = re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8"))
    assert all(any(link) for link in links)
    return links


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def rollouts() -> pl.DataFrame:
    """The log that most pages read."""
    return runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()


# A reader is not shown what a warning calls doubtful.
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
@pytest.mark.parametrize("page", RUN)
def test_every_code_block_runs_and_prints_what_the_page_shows(
    page, rollouts, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    # A page may run pytest: the options of the run around it are not its own.
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    rollouts.write_parquet("rollouts.parquet")
    check_prints(page, **DISPLAY)


def test_the_index_names_the_log_and_the_settings_of_tables():
    index = (GUIDE / "README.md").read_text(encoding="utf-8")
    assert "python examples/rollouts.py rollouts.parquet" in index
    assert all(f"{name}={value}" in index for name, value in DISPLAY.items())


@pytest.mark.parametrize("page", PAGES)
def test_the_languages_of_the_code_blocks_are_known(page):
    assert {language for language, _ in code_blocks(page)} <= {"sh", "python", "text", "yaml"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_short_and_asks_one_question(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    # Nobody reads the marks around measured tables.
    assert sum(not line.startswith("<!-- ") for line in lines) <= LONGEST
    assert lines[0].startswith("# ")


def chapters() -> list[Path]:
    """The pages that the index lists as answers to a question of the reader."""
    _, _, listed = (GUIDE / "README.md").read_text(encoding="utf-8").partition("## Your question")
    return [
        GUIDE / name
        for name in re.findall(r"^- .*?\]\((\w+\.md)\)", listed.partition("## ")[0], re.MULTILINE)
    ]


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in chapters()])
def test_a_chapter_begins_with_its_answer_and_a_block_of_code(page):
    text = page.read_text(encoding="utf-8")
    _, answer, _ = text.split("\n\n", 2)
    assert 2 <= len(answer.splitlines()) <= 6
    language, code = code_blocks(page)[0]
    assert text.splitlines().index(f"```{language}") < 15
    assert len(code.splitlines()) <= 12, "make data after the answer"
    assert "\n## How it works" in text


@pytest.mark.parametrize("page", [pytest.param(ROOT / "README.md", id="README"), *PAGES])
def test_links_lead_somewhere(page):
    for file, anchor in link_targets(page):
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), f"{page.name} links to {file}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {file}#{anchor}"


def test_every_page_is_in_the_index():
    index = GUIDE / "README.md"
    linked = {(index.parent / file).resolve() for file, _ in link_targets(index)}
    assert not {*WRITTEN} - linked - {index}


@pytest.mark.parametrize("page", PAGES)
def test_the_command_takes_what_the_page_types(page):
    typed = [
        line
        for language, text in code_blocks(page)
        if language == "sh"
        for line in text.splitlines()
    ]
    for line in typed:
        if line.startswith("polars-scorio "):
            _, *words = shlex.split(line.partition(" > ")[0], comments=True)
            command_parser().parse_args(named_command(words))


def test_every_reader_of_logs_has_a_line():
    lines = (GUIDE / "logs.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert {line.count("|") for line in table} == {6}
    for tool in TOOLS:
        assert sum(f"| `ps.logs.{tool}(" in line for line in table) == 1


def test_every_warning_of_the_package_is_explained():
    page = (GUIDE / "errors.md").read_text(encoding="utf-8")
    named = [name for name in ps.__all__ if name.endswith("Warning")]
    assert len(named) == 8
    for name in named:
        assert f"| `ps.{name}` |" in page
