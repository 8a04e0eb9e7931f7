import re
import runpy
import shlex
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import command_parser, named_command
from polars_scorio.logs.read import TOOLS
from tests.combinations import PAGE, page
from tests.documents import ROOT, check_prints, code_blocks

GUIDE = ROOT / "examples" / "guide"
VALIDATION = ROOT / "examples" / "validation"
# A site that was built leaves its reference here: the docstrings, which are doctests.
WRITTEN = [page for page in sorted(GUIDE.rglob("*.md")) if "reference" not in page.parts]
WRITTEN += sorted(VALIDATION.glob("*.md"))
NAMES = {page: page.relative_to(GUIDE.parent).with_suffix("").as_posix() for page in WRITTEN}
PAGES = [pytest.param(page, id=name) for page, name in NAMES.items()]
GUIDE_PAGES = [pytest.param(page, id=NAMES[page]) for page in WRITTEN if GUIDE in page.parents]
# These pages run a pytest, or simulate, for more than a second.
SLOW = {"guide/gate", "guide/your_own", "guide/reports"}
RUN = [
    pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
    for page, name in NAMES.items()
]
LINKING = [
    *PAGES,
    *(pytest.param(page, id=page.stem) for page in sorted(ROOT.glob("*.md"))),
    *(
        pytest.param(page, id=f"findings/{page.stem}")
        for page in sorted((GUIDE.parent / "findings").glob("*.md"))
    ),
]
LONGEST = 90  # lines of a page
MOST_WORDS = 20_000  # of README and guide, without blocks of code; it only falls
# Limits of a how-to page: decimals in its text, and the line of its first call.
HOW_TO = {"decimals": 10, "first call": 8}
CALL = re.compile(r"\.scorio\b|\bps\.\w+\(|^polars-scorio \w|^metrics = ps\.")
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
    assert "polars-scorio demo .  # writes rollouts.parquet" in index
    assert all(f"{name}={value}" in index for name, value in DISPLAY.items())


@pytest.mark.parametrize("page", PAGES)
def test_the_languages_of_the_code_blocks_are_known(page):
    assert {language for language, _ in code_blocks(page)} <= {"sh", "python", "text", "yaml"}


@pytest.mark.parametrize("page", GUIDE_PAGES)
def test_a_page_is_short_and_asks_one_question(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST
    assert lines[0].startswith("# ")


def test_readme_and_guide_have_few_words():
    pages = [ROOT / "README.md", *(page for page in WRITTEN if page.is_relative_to(GUIDE))]
    pages.remove(PAGE)  # made of the messages of the package
    texts = [page.read_text(encoding="utf-8") for page in pages]
    words = [len(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split()) for text in texts]
    assert sum(words) <= MOST_WORDS


def how_to_pages() -> list[Path]:
    """The pages that the index lists as answers to a question of the reader."""
    _, _, listed = (GUIDE / "README.md").read_text(encoding="utf-8").partition("## How-to")
    names = re.findall(r"\]\((\w+\.md)\)", listed.partition("## ")[0])
    return [GUIDE / name for name in names]


def prose_of(text: str) -> str:
    """The text of a page without code, links and marks."""
    without_code = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->|\]\([^)]*\)|https?:\S+|arXiv:\S+", "", without_code)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in how_to_pages()])
def test_a_how_to_page_is_short_and_begins_with_its_answer_and_a_call(page):
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(re.findall(r"(?<![\w.])\d*\.\d+", prose_of(text))) <= HOW_TO["decimals"]
    # The answer follows the title, in one line.
    assert lines[1]
    assert not lines[2]
    in_code = [
        place for place, line in enumerate(lines, 1) if CALL.search(line) and "`" not in line
    ]
    assert in_code[0] <= HOW_TO["first call"]
    assert "<!-- measured" not in text, "tables of studies stand in examples/validation"


@pytest.mark.parametrize("page", LINKING)
def test_links_lead_somewhere(page):
    for file, anchor in link_targets(page):
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), f"{page.name} links to {file}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {file}#{anchor}"


def test_every_page_is_in_the_index():
    index = GUIDE / "README.md"
    studies = VALIDATION / "README.md"
    linked = {
        (page.parent / file).resolve()
        for page in (index, studies)
        for file, _ in link_targets(page)
    }
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


def test_every_reader_of_logs_is_listed():
    text = (GUIDE / "logs.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)`", text.partition("The readers are ")[2].partition(".\n")[0])
    assert listed == sorted(TOOLS)


def test_every_column_of_a_result_is_explained_in_one_table():
    golden = pl.read_parquet(ROOT / "tests" / "data" / "golden.parquet")
    results = golden.filter(~pl.col("call").str.contains("leaderboard|wide"))
    page = (GUIDE / "result_columns.md").read_text(encoding="utf-8")
    named = {*re.findall(r"`(\w+)`", page)}
    # Keys of the made logs, and what a result that was refused has.
    named |= {"domain", "passage", "refused"}
    columns = {*results["column"]}
    ends = {name for name in columns if re.sub("_(lo|hi)$", "", name) in named}
    assert columns - named - ends == set()


def test_the_table_of_combinations_is_that_of_the_refusals():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.combinations"


def test_every_warning_of_the_package_is_explained():
    page = (GUIDE / "warnings.md").read_text(encoding="utf-8")
    named = [name for name in ps.__all__ if name.endswith("Warning")]
    assert len(named) == 8
    for name in named:
        assert f"| `ps.{name}` |" in page
