"""Cells of a simulation that are measured one after the other, into a file that grows."""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

KEPT = Path(__file__).parent / "single_claims"
CellT = TypeVar("CellT", bound=tuple[object, ...])


def measure_cells(
    cells: Iterable[CellT], measure: Callable[[CellT], pl.DataFrame], file: Path, minutes: float
) -> None:
    """Add the rows of each cell to a Parquet file, until the time is over."""
    end = time.monotonic() + 60 * minutes
    for cell in cells:
        if time.monotonic() > end:
            print("the time is over", file=sys.stderr)
            return
        started = time.perf_counter()
        rows = measure(cell)
        kept = [pl.read_parquet(file)] if file.exists() else []
        pl.concat([*kept, rows]).write_parquet(file)
        seconds = time.perf_counter() - started
        print(*cell, f"{seconds:.0f} s", sep=" | ", file=sys.stderr, flush=True)


def keep_cells(
    study: str, cells: Iterable[dict[str, object]] | pl.DataFrame, by: str = "questions"
) -> None:
    """Write the cells of a study, in place of earlier ones of the same numbers of questions."""
    file = KEPT / f"{study}.csv"
    framed = isinstance(cells, pl.DataFrame)
    rows = cells if framed else pl.DataFrame(list(cells), infer_schema_length=None)
    if file.exists():
        rows = pl.concat(
            [pl.read_csv(file).join(rows, on=by, how="anti"), rows], how="vertical_relaxed"
        )
    rows.sort(by, maintain_order=True).write_csv(file, float_precision=4)


def in_random_order(cells: Iterable[CellT]) -> list[CellT]:
    """Cells in an order by lot: a run that stops early is a fair sample."""
    every = list(cells)
    return [every[place] for place in np.random.default_rng(0).permutation(len(every))]


def batches(replicates: int, size: int) -> list[int]:
    """Sizes of the logs that replicates are cut into, so that they fit into memory."""
    rest = replicates % size
    return [size] * (replicates // size) + [rest] * (rest > 0)


def print_tables(*tables: pl.DataFrame) -> None:
    """Print frames in full, as Markdown."""
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200, float_precision=3,
                   tbl_formatting="MARKDOWN", tbl_hide_column_data_types=True):  # fmt: skip
        for table in tables:
            print(table)
