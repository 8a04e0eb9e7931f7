"""The guide says what was measured: its tables are those of the files of the simulations."""

import re

import pytest

from examples.validation.promised_tables import (
    GUIDE,
    MARKED,
    PAGE,
    PRINTED,
    TABLES,
    markdown_cell,
    page_with_tables,
)

PAGES = {page.name: page.read_text(encoding="utf-8") for page in GUIDE.glob("*.md")}


def test_every_page_has_its_tables_as_they_were_measured():
    marked = [name for page in PAGES.values() for _, name, _ in MARKED.findall(page)]
    assert sorted(marked) == sorted({*TABLES, *(file.stem for file in PRINTED.glob("*.csv"))})
    for name, page in PAGES.items():
        assert page == page_with_tables(page), (
            f"{name}: python -m examples.validation.promised_tables"
        )


def test_no_table_of_a_study_is_typed_by_hand():
    unmarked = MARKED.sub("", PAGES["promises.md"])
    tables = re.findall(r"(?:^\|.*\n)+", unmarked, flags=re.MULTILINE)
    # What was simulated has sizes of samples, no results.
    assert [table.split("\n")[0] for table in tables] == [
        "| study | questions | trials per question | metrics |"
    ]


def table_rows(page: str, first: str) -> list[list[str]]:
    """The cells of the rows of a page that begin with a cell."""
    lines = PAGE.with_name(page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] == first]


@pytest.mark.parametrize("inference", ["calibrated", "population posterior", "posterior"])
def test_the_page_on_intervals_has_the_coverage_of_each_inference(inference):
    compared = table_rows("promises.md", "these questions")
    (row,) = [row for row in compared if row[1] == inference]
    _, _, settings, mean, worst = row
    (said,) = table_rows("intervals.md", f'`"{inference}"`')
    assert said[-1] == f"{mean} ({worst})"
    page = PAGE.with_name("intervals.md").read_text(encoding="utf-8")
    assert f"over {settings} settings" in " ".join(page.split())


def test_cells_have_three_decimals_and_no_zero_before_the_point():
    assert [markdown_cell(value) for value in (0.95, 1.0, 12.3, 30, None, "avg")] == [
        ".950", "1.000", "12", "30", "", "avg"
    ]  # fmt: skip
