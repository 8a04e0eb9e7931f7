"""Every public method gives the stored results: `python -m tests.golden` writes them anew."""

import os

import polars as pl
import pytest

from tests.golden.calls import GOLDEN, cells_of_log
from tests.golden.logs import kinds_of_logs
from tests.golden.messages import MESSAGES, printed_sentences

# Other versions of SciPy and other processors differ by up to 2e-9; a formula that changes shows
# more. Who rebuilds the code on one machine asks for GOLDEN_TOLERANCE=1e-12.
TOLERANCE = float(os.environ.get("GOLDEN_TOLERANCE", "1e-8"))
KEYS = ["call", "column", "row"]


def differing_cells(found: pl.DataFrame, stored: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """The cells that only one side has, or whose text or number differs."""
    both = stored.join(found, on=KEYS, how="full", suffix=" found", nulls_equal=True)
    number, other = pl.col("number"), pl.col("number found")
    close = (number - other).abs() <= tolerance * pl.max_horizontal(1.0, number.abs())
    same = pl.col("text").eq_missing(pl.col("text found")) & (number.eq_missing(other) | close)
    present = pl.col("column").is_not_null() & pl.col("column found").is_not_null()
    return both.filter(~(present & same.fill_null(value=False)))


@pytest.mark.every(8)
@pytest.mark.parametrize("name", kinds_of_logs())
def test_every_method_gives_the_stored_results(name):
    stored = pl.read_parquet(GOLDEN).filter(log=name).drop("log")
    found = cells_of_log(name, kinds_of_logs()[name]).drop("log")
    different = differing_cells(found, stored, TOLERANCE)
    with pl.Config(tbl_rows=20, tbl_cols=-1, fmt_str_lengths=100):
        assert different.is_empty(), str(different)


def test_a_cell_that_differs_is_found():
    stored = pl.DataFrame(
        {"call": "c", "column": ["a", "a", "b"], "row": [0, 1, 0]}
        | {"text": [None, None, "'x'"], "number": [1.0, None, None]}
    )
    change = pl.when(pl.col("row") == 0).then("number")
    assert differing_cells(stored, stored, TOLERANCE).is_empty()
    assert len(differing_cells(stored.head(2), stored, TOLERANCE)) == 1
    for changed in (
        stored.with_columns(number=change + 1e-7),
        stored.with_columns(text=pl.lit("'y'")),
        stored.with_columns(number=pl.col("number").fill_null(0)),
    ):
        assert not differing_cells(changed, stored, TOLERANCE).is_empty()


def test_every_sentence_that_is_printed_is_under_review():
    """A sentence that changes is seen in a file of sentences, beside the code that changes it."""
    stored = MESSAGES.read_text(encoding="utf-8").splitlines()
    assert printed_sentences() == stored
