"""Cells of a simulation that are measured one after the other, into a file that grows."""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl


def measure_cells(
    cells: Iterable[object], measure: Callable[[object], pl.DataFrame], file: Path, minutes: float
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


def in_random_order(cells: Iterable[tuple[object, ...]], done: set[tuple[object, ...]]) -> list:
    """Cells that are not done, in an order by lot: a run that stops early is a fair sample."""
    every = list(cells)
    order = np.random.default_rng(0).permutation(len(every))
    return [every[place] for place in order if every[place] not in done]


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
