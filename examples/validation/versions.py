"""Numbers of two versions of the package side by side, over random cells of the coverage study.

``--store FILE`` writes the numbers of this version for some logs of each cell: run it with another
version first on the path, and again with this one. ``--compare OLD NEW`` prints their differences.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from examples.validation.interval_studies import STUDIES, Cell
from examples.validation.measured_cells import in_random_order, print_tables

NUMBERS = ["estimate", "sigma", "lo", "hi"]
LARGEST = 200  # questions
ROUNDING = 1e-9
KEY = [*Cell._fields, "target", "metric", "k"]


def cell_numbers(cell: Cell, replicates: int) -> Iterator[pl.DataFrame]:
    """Numbers of each metric in each log of a cell, about both targets, and the true values."""
    study = STUDIES[cell.study]
    logs, asked = study.logs(cell, replicates, cell.random_numbers(1)), study.asked(cell.n)
    # Without checks: of logs that seem dependent one version takes one trial a question.
    roles = {"model": None, "count": "count", "validate": False, **logs.roles}
    scorio = logs.counts.scorio(**roles)
    metrics = [each.metric for each in asked]
    keys = [pl.lit(value).alias(name) for name, value in cell._asdict().items()]
    for target in ("benchmark", "population"):
        rows = scorio.report(*metrics, target=target, confidence=cell.confidence, **logs.options)
        if logs.options:
            rows = rows.filter(pl.col(logs.roles["by"]).is_null())
        for each in asked:
            of_k = pl.col("k").eq_missing(pl.lit(each.metric.k[0], pl.Int64))
            found = rows.filter(of_k, pl.col("metric") == each.metric.name).sort("replicate")
            yield found.select(
                *keys,
                pl.lit(target).alias("target"),
                "metric",
                "k",
                "replicate",
                *(pl.col(name).cast(pl.Float64) for name in NUMBERS),
                truth=pl.Series(logs.truth(each, target)),
            )


def stored(file: Path, cells: int, replicates: int) -> None:
    """Write the numbers of some cells, drawn by lot."""
    every = in_random_order(cell for name in STUDIES for cell in STUDIES[name].cells(name))
    small = (cell for cell in every if cell.questions <= LARGEST)
    rows: list[pl.DataFrame] = []
    for place, cell in enumerate(islice(small, cells)):
        rows.extend(cell_numbers(cell, replicates))
        pl.concat(rows).write_parquet(file)  # what is stopped early can still be compared
        print(place, *cell, file=sys.stderr, flush=True)


def differences(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Largest differences of each number of a log, and of the coverage of a cell.

    `flipped` counts logs of which one version covers the true value and the other does not; a cell
    is noisy by `noise`, the standard error of a coverage of .95 from its logs.
    """
    both = old.join(new, on=[*KEY, "replicate"], nulls_equal=True, suffix="_new", validate="1:1")
    # Rows that are a range in one version alone are no numbers of the same kind.
    both = both.filter(pl.col("estimate").is_null() == pl.col("estimate_new").is_null())
    apart = [(pl.col(f"{name}_new") - pl.col(name)).abs().alias(name) for name in NUMBERS]
    inside, inside_new = (
        pl.col(f"lo{suffix}").le(pl.col("truth") + ROUNDING)
        & pl.col(f"hi{suffix}").ge(pl.col("truth") - ROUNDING)
        for suffix in ("", "_new")
    )
    size = pl.when(pl.col("questions") < 50).then(pl.lit("< 50")).otherwise(pl.lit(">= 50"))
    cells = (
        both.select(*KEY, size.alias("size"), *apart, held=inside, held_new=inside_new)
        .group_by(*KEY, "size")
        .agg(
            pl.col(NUMBERS).max(),
            logs=pl.len(),
            coverage=(pl.col("held_new").mean() - pl.col("held").mean()).abs(),
            flipped=(pl.col("held_new") != pl.col("held")).sum(),
        )
    )
    return (
        cells.group_by("target", "size")
        .agg(
            pl.len().alias("cells"),
            pl.col("logs", "flipped").sum(),
            pl.col("coverage").max(),
            (0.95 * 0.05 / pl.col("logs").min()).sqrt().alias("noise"),
            *(pl.col(name).max() for name in NUMBERS),
        )
        .sort("target", "size")
        .with_columns(
            pl.col("coverage", "noise").map_elements("{:.3f}".format, pl.String),
            pl.col(NUMBERS).map_elements("{:.0e}".format, pl.String),
        )
    )


def main() -> None:
    """Store the numbers of this version, or compare those of two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="file for the numbers of this version")
    parser.add_argument("--compare", type=Path, nargs=2, help="files of two versions")
    parser.add_argument("--keep", action="store_true", help="write the table of the guide")
    parser.add_argument("--cells", type=int, default=200, help="default: 200")
    parser.add_argument("--replicates", type=int, default=20, help="logs of a cell; default: 20")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.store:
        stored(arguments.store, arguments.cells, arguments.replicates)
    if arguments.compare:
        old, new = map(pl.read_parquet, arguments.compare)
        found = differences(old, new)
        print_tables(found)
        if arguments.keep:
            shown = {"size": "questions", "cells": "settings", "flipped": "one covers"}
            target = pl.col("target").replace("benchmark", "these questions")
            table = found.with_columns(target).rename(shown)
            table.write_csv(Path(__file__).parent / "printed_tables" / "versions.csv")


if __name__ == "__main__":
    main()
