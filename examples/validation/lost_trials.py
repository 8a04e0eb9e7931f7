"""Coverage where some trials are lost, so that k exceeds the trials of some questions.

Run: python -m examples.validation.lost_trials. It writes the table that the page shows.
"""

import argparse
import sys
from itertools import product

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.interval_studies import Cell, category_counts, plain_truth
from examples.validation.populations import POPULATIONS
from examples.validation.promised_tables import PRINTED
from examples.validation.true_values import at_k

TRIALS, LOST, QUESTIONS = 8, (0.01, 0.05), (50, 200)


def lost_rows(cell: Cell, lost: float, replicates: int) -> pl.DataFrame:
    """Whether each row of some logs covers the true value, and its width."""
    rng = cell.random_numbers(1)
    p = POPULATIONS[cell.population](rng, (replicates, cell.questions))
    n = np.maximum(rng.binomial(TRIALS, 1 - lost, p.shape), 1)
    c = rng.binomial(n, p)
    roles = {"model": None, "by": "replicate", "count": "count"}
    log = ps.scorio(category_counts(n - c, c), **roles, validate=False)
    asked, truth = list(at_k(TRIALS)), plain_truth(cell, p)
    rows = log.report(*(each.metric for each in asked)).sort("metric", "replicate")
    true = {each.metric.name: truth(each, "benchmark") for each in asked}
    values = np.concatenate([true[name] for name in sorted(true)])
    inside = pl.col("lo").le(values + 1e-9) & pl.col("hi").ge(values - 1e-9)
    return rows.select(
        "metric", "inference", covered=inside, width=pl.col("hi") - pl.col("lo"),
        population=pl.lit(cell.population), lost=lost, questions=cell.questions,
    )  # fmt: skip


def lost_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Coverage of the ranges, on average and in the worst population."""
    keys, rows = ["lost", "questions"], rows.filter(inference="range")
    each = rows.group_by(*keys, "population").agg(worst=pl.col("covered").mean())
    table = rows.group_by(keys).agg(
        rows=pl.len(), coverage=pl.col("covered").mean(), width=pl.col("width").mean()
    )
    worst = each.group_by(keys).agg(pl.col("worst").min())
    return table.join(worst, on=keys).sort(keys).select(
        (100 * pl.col("lost")).cast(pl.Int64).cast(pl.String).add(" %").alias("lost trials"),
        "questions",
        "rows",
        *(pl.col(name).map_elements("{:.3f}".format, pl.String).str.strip_prefix("0")
          for name in ("coverage", "worst", "width")),
    ).rename({"worst": "worst population", "width": "mean width"})  # fmt: skip


def main() -> None:
    """Measure all cells, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=100, help="logs of a cell; default: 100")
    replicates = parser.parse_args().replicates
    rows = []
    for questions, lost, population in product(QUESTIONS, LOST, POPULATIONS):
        cell = Cell(f"lost {lost}", population, questions, str(TRIALS), 0.95)
        rows.append(lost_rows(cell, lost, replicates))
        print(questions, lost, population, file=sys.stderr, flush=True)
    lost_table(pl.concat(rows)).write_csv(PRINTED / "lost_trials.csv")


if __name__ == "__main__":
    main()
