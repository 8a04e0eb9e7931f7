"""Write the measured tables into the guide. Run: python -m tests.benchmarks.promised_tables.

The page `promises.md` has a mark before and after each table, so that what `coverage.py` and
`verdicts.py` measured stands in one place, their files, and a test compares the page with them.
"""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

from tests.benchmarks.measured_tables import (
    failing_cells,
    family_table,
    promised_coverage,
    width_table,
)

BENCHMARKS = Path(__file__).parent
PAGE = Path(__file__).parents[2] / "examples" / "guide" / "promises.md"
FILES = {"coverage": BENCHMARKS / "coverage.parquet", "verdicts": BENCHMARKS / "verdicts.parquet"}
# For each name of a table: the file that it is made from, and how.
TABLES: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "coverage": ("coverage", promised_coverage),
    "failures": ("coverage", failing_cells),
    "widths": ("coverage", width_table),
    "verdicts": ("verdicts", family_table),
}


def markdown_cell(value: object) -> str:
    """A cell as the guide writes it: three decimals, no zero before the point."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return re.sub(r"^0\.", ".", f"{value:.3f}" if value < 10 else f"{value:.0f}")


def markdown_table(frame: pl.DataFrame) -> str:
    """A frame as a table in Markdown."""
    lines = [frame.columns, ["---"] * frame.width]
    lines += [[markdown_cell(value) for value in row] for row in frame.rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page_with_tables(page: str) -> str:
    """The text of the page, with every marked table as the files have it."""
    for name, (file, table) in TABLES.items():
        start, end = f"<!-- measured: {name} -->\n", f"<!-- end: {name} -->"
        before, found, rest = page.partition(start)
        if found:
            measured = markdown_table(table(pl.read_parquet(FILES[file])))
            page = f"{before}{start}{measured}\n{end}" + rest.partition(end)[2]
    return page


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
