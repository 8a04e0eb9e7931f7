"""Pages of validation say what was measured: their tables are those of the files of the studies."""

import pytest

from examples.validation.promised_tables import (
    MARKED,
    PAGES,
    PRINTED,
    TABLES,
    markdown_cell,
    page_with_tables,
)
from tests.documents import ROOT

TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


def test_every_page_has_its_tables_as_they_were_measured():
    marked = [name for page in TEXTS.values() for _, name, _ in MARKED.findall(page)]
    assert sorted(marked) == sorted({*TABLES, *(file.stem for file in PRINTED.glob("*.csv"))})
    for name, page in TEXTS.items():
        assert page == page_with_tables(page), (
            f"{name}: python -m examples.validation.promised_tables"
        )


def table_rows(page: str, first: str) -> list[list[str]]:
    """The cells of the rows of a page that begin with a cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    return [row for row in rows if row[0] == first]


@pytest.mark.parametrize("inference", ["calibrated", "population posterior", "posterior"])
def test_the_page_on_intervals_has_the_coverage_of_each_inference(inference):
    compared = table_rows(TEXTS["intervals.md"], "these questions")
    (row,) = [row for row in compared if row[1] == inference]
    _, _, settings, mean, worst = row
    page = (ROOT / "examples" / "guide" / "intervals.md").read_text(encoding="utf-8")
    (said,) = table_rows(page, f'`"{inference}"`')
    assert said[-1] == f"{mean} ({worst})"
    assert f"over {settings} settings" in " ".join(page.split())


def test_cells_have_three_decimals_and_no_zero_before_the_point():
    assert [markdown_cell(value) for value in (0.95, 1.0, 12.3, 30, None, "avg")] == [
        ".950", "1.000", "12", "30", "", "avg"
    ]  # fmt: skip
