"""The guide says what was measured: its tables are those of the files of the simulations."""

from tests.benchmarks.promised_tables import PAGE, TABLES, markdown_cell, page_with_tables


def test_the_page_has_every_table_as_it_was_measured():
    page = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        assert f"<!-- measured: {name} -->" in page
    assert page == page_with_tables(page), "run: python -m tests.benchmarks.promised_tables"


def test_cells_have_three_decimals_and_no_zero_before_the_point():
    assert [markdown_cell(value) for value in (0.95, 1.0, 12.3, 30, None, "avg")] == [
        ".950", "1.000", "12", "30", "", "avg"
    ]  # fmt: skip
