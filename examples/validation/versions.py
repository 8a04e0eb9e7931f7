"""Numbers of two versions of the package side by side, over random cells of the coverage study.

``--store FILE`` writes the sums of this version over some logs of each cell: run it with another
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

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
KEY = [*Cell._fields, "target", "metric", "k"]


def cell_numbers(cell: Cell, replicates: int) -> Iterator[pl.DataFrame]:
    """Sums over the logs of a cell of each number of each metric, about both targets."""
    study = STUDIES[cell.study]
    logs, asked = study.logs(cell, replicates, cell.random_numbers(1)), study.asked(cell.n)
    scorio = logs.counts.scorio(**{"model": None, "count": "count"} | logs.roles)
    metrics = [each.metric for each in asked]
    for target in ("benchmark", "population"):
        rows = scorio.report(*metrics, target=target, confidence=cell.confidence, **logs.options)
        if logs.options:
            rows = rows.filter(pl.col(logs.roles["by"]).is_null())
        sums = rows.group_by("metric", "k").agg(pl.col(NUMBERS).cast(pl.Float64).sum())
        keys = [pl.lit(value).alias(name) for name, value in cell._asdict().items()]
        yield sums.select(*keys, pl.lit(target).alias("target"), pl.all())


def stored(file: Path, cells: int, replicates: int) -> None:
    """Write the sums of some cells, drawn by lot."""
    every = in_random_order(cell for name in STUDIES for cell in STUDIES[name].cells(name))
    rows = []
    for place, cell in enumerate(islice(every, cells)):
        rows.extend(cell_numbers(cell, replicates))
        print(place, *cell, file=sys.stderr, flush=True)
    pl.concat(rows).write_parquet(file)


def differences(old: pl.DataFrame, new: pl.DataFrame, replicates: int) -> pl.DataFrame:
    """Largest differences of each number, as means over the logs of a cell, by study and target."""
    both = old.join(new, on=KEY, nulls_equal=True, suffix="_new", validate="1:1")
    apart = [((pl.col(f"{name}_new") - pl.col(name)).abs() / replicates).alias(name)
             for name in NUMBERS]  # fmt: skip
    size = pl.when(pl.col("questions") < 50).then(pl.lit("< 50")).otherwise(pl.lit(">= 50"))
    return (
        both.select(*KEY[:-1], "k", size.alias("size"), *apart)
        .group_by("study", "target", "size")
        .agg(pl.len().alias("sums"), pl.col(NUMBERS).max())
        .sort("study", "target", "size")
        .with_columns(pl.col(NUMBERS).map_elements("{:.0e}".format, pl.String))
    )


def main() -> None:
    """Store the numbers of this version, or compare those of two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="file for the sums of this version")
    parser.add_argument("--compare", type=Path, nargs=2, help="files of two versions")
    parser.add_argument("--cells", type=int, default=1000, help="default: 1000")
    parser.add_argument("--replicates", type=int, default=2, help="logs of a cell; default: 2")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.store:
        stored(arguments.store, arguments.cells, arguments.replicates)
    if arguments.compare:
        old, new = map(pl.read_parquet, arguments.compare)
        print_tables(differences(old, new, arguments.replicates))


if __name__ == "__main__":
    main()
