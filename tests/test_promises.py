"""Pages of validation say what was measured: their tables are those of the files of the studies."""

from examples.validation.promised_tables import (
    MARKED,
    PAGES,
    PRINTED,
    TABLES,
    markdown_cell,
    page_with_tables,
)

TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


def test_every_page_has_its_tables_as_they_were_measured():
    marked = [name for page in TEXTS.values() for _, name, _ in MARKED.findall(page)]
    assert sorted(marked) == sorted({*TABLES, *(file.stem for file in PRINTED.glob("*.csv"))})
    for name, page in TEXTS.items():
        assert page == page_with_tables(page), (
            f"{name}: python -m examples.validation.promised_tables"
        )


def test_cells_have_three_decimals_and_no_zero_before_the_point():
    assert [markdown_cell(value) for value in (0.95, 1.0, 12.3, 30, None, "avg")] == [
        ".950", "1.000", "12", "30", "", "avg"
    ]  # fmt: skip
