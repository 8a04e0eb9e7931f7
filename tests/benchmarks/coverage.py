"""How often an interval holds the truth. Run: python tests/benchmarks/coverage.py --help.

A run goes through the cells in an order drawn by lot, so that a run that stops early is a fair
sample, and adds what it measured to a Parquet file; the next run goes on from there. With
``--again`` it measures the cells with low coverage again, with new random numbers: of thousands of
cells some are low by chance.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from interval_studies import STUDIES, Cell, SimulatedLogs, fewest_trials
from measured_cells import batches, in_random_order, measure_cells, print_tables
from true_values import Asked

import polars_scorio as ps

MEASURED = Path(__file__).with_name("coverage.parquet")
INFERENCES = ("published", "pooled", "calibrated")
CELL = [*Cell._fields, "inference", "target", "metric"]
ROUNDING = 1e-12  # rates that are all the same differ by this from their mean
BATCH = 200  # replicates of one report
SUSPICIOUS = 0.92  # coverage at 95 % below which a cell is measured again
Z = 1.959963984540054


def interval_numbers(
    logs: SimulatedLogs, asked: list[Asked], cell: Cell, inference: str
) -> Iterator[dict[str, object]]:
    """Sums over replicates, for each metric and target: intervals that hold, widths, errors."""
    scorio = logs.counts.scorio(**{"model": None, "count": "count"} | logs.roles)
    for target in ("benchmark",) if inference == "published" else ("benchmark", "population"):
        rows = scorio.report(
            *(each.metric for each in asked),
            target=target,
            inference=inference,
            confidence=cell.confidence,
            **logs.options,
        )
        if logs.options:
            rows = rows.filter(pl.col(logs.roles["by"]).is_null())
        for each in asked:
            of_k = pl.col("k").eq_missing(pl.lit(each.metric.k[0], pl.Int64))
            metric_rows = rows.filter(of_k, pl.col("metric") == each.metric.name)
            truth = logs.truth(each, target)
            yield {
                **cell._asdict(),
                "inference": inference,
                "target": target,
                "metric": each.label,
                **interval_sums(metric_rows.sort("replicate"), truth),
            }


def interval_sums(rows: pl.DataFrame, truth: np.ndarray) -> dict[str, float]:
    """Sums over the replicates; a missing interval does not hold."""
    lo, hi, mu = (rows[name].cast(pl.Float64).to_numpy() for name in ("lo", "hi", "mu"))
    inside = (lo <= truth + ROUNDING) & (truth - ROUNDING <= hi)
    return {
        "replicates": truth.size,
        "held": float(inside.sum()),
        "width": float(np.nansum(hi - lo)),
        "squared_error": float(((mu - truth) ** 2).sum()),
    }


def cell_sums(
    cell: Cell, metrics: set[str] | None, arguments: argparse.Namespace, seed: int
) -> pl.DataFrame:
    """The sums of one cell: of all its metrics, or of those with these labels."""
    study, rng = STUDIES[cell.study], cell.random_numbers(seed)
    asked = [each for each in study.asked(cell.n) if metrics is None or each.label in metrics]
    replicates = arguments.replicates
    if metrics is None:
        # A range takes a second of time, a log of 1,000 questions has the trials of ten others.
        share = 10 if cell.study == "k > n" else 2 if cell.questions >= 1000 else 1
        replicates = max(replicates // share, 1)
    rows = [
        row
        for size in batches(replicates, BATCH)
        for logs in [study.logs(cell, size, rng)]
        for inference in arguments.inference
        for row in interval_numbers(logs, asked, cell, inference)
    ]
    return pl.DataFrame(rows).group_by(CELL, maintain_order=True).sum().with_columns(seed=seed)


def suspicious_cells(measured: pl.DataFrame, replicates: int) -> dict[Cell, set[str]]:
    """Cells with low coverage at 95 % and few replicates, the worst first, and their metrics."""
    low = cell_rows(measured).filter(
        pl.col("coverage") < SUSPICIOUS,
        pl.col("replicates") < replicates,
        pl.col("confidence") == 0.95,
        pl.col("inference") == "calibrated",
    )
    groups = low.sort("coverage").group_by(Cell._fields, maintain_order=True)
    return {Cell(*key): set(rows["metric"]) for key, rows in groups}


def measure(arguments: argparse.Namespace) -> pl.DataFrame:
    """Measure cells until there are none, or the time is over; then read what the file has."""
    file = arguments.file
    measured = pl.read_parquet(file) if file.exists() else None
    seed = 1 if measured is None else int(measured["seed"].max()) + arguments.again
    if arguments.again:
        cells = suspicious_cells(measured, arguments.replicates)
    else:
        every = (cell for name in arguments.study for cell in STUDIES[name].cells(name))
        done = set() if measured is None else set(measured.select(Cell._fields).unique().rows())
        small = [cell for cell in every if cell.questions <= arguments.largest]
        cells = dict.fromkeys(in_random_order(small, done))
    measure_cells(
        cells, lambda cell: cell_sums(cell, cells[cell], arguments, seed), file, arguments.minutes
    )
    return pl.read_parquet(file)


def cell_rows(measured: pl.DataFrame) -> pl.DataFrame:
    """A row for each cell and metric: coverage, mean width, and its ratio to the oracle's.

    The oracle knows how far estimates lie from the truth: its width is twice 1.96 times the root of
    their mean squared error. The last measurement of a cell counts. The variance of a metric of
    draws of k trials is identified if each question has 2k trials.
    """
    latest = measured.filter(pl.col("seed") == pl.col("seed").max().over(CELL))
    k = pl.col("metric").str.extract(r"k=(\d+)").cast(pl.Int64).fill_null(1)
    fewest = pl.col("n").replace_strict({n: fewest_trials(n) for n in measured["n"].unique()})
    oracle = 2 * Z * (pl.col("squared_error") / pl.col("replicates")).sqrt()
    width = pl.col("width") / pl.col("replicates")
    return latest.with_columns(
        coverage=pl.col("held") / pl.col("replicates"),
        width=width,
        ratio=pl.when(oracle > 0).then(width / oracle),
        identified=(2 * k <= fewest) & ~pl.col("metric").str.starts_with("geom_at_k"),
    ).drop("held", "squared_error")


def study_table(measured: pl.DataFrame) -> pl.DataFrame:
    """A row for each study, confidence, target and inference."""
    coverage = pl.col("coverage")
    order = pl.col("study").replace_strict({name: i for i, name in enumerate(STUDIES)})
    return (
        cell_rows(measured)
        .group_by("study", "confidence", "target", "inference")
        .agg(
            pl.len().alias("cells"),
            coverage.mean().alias("mean"),
            coverage.min().alias("worst"),
            (coverage < 0.92).sum().alias("below .92"),
            (coverage < 0.90).sum().alias("below .90"),
            pl.col("width").median().alias("median width"),
        )
        .sort(order, "confidence", "target", "inference")
    )


def width_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Width over the oracle's, of equal numbers of trials, by size and by what is identified."""
    # An oracle that is narrower than this knows that nearly all questions are the same.
    rows = cell_rows(measured).filter(
        pl.col("study") == "equal n",
        pl.col("inference") == "calibrated",
        pl.col("width") / pl.col("ratio") > 0.0015,
    )
    ratio = pl.col("ratio")
    return (
        rows.group_by("target", "identified", "questions")
        .agg(
            pl.len().alias("cells"),
            pl.col("coverage").mean().alias("mean coverage"),
            pl.col("coverage").min().alias("worst coverage"),
            ratio.median().alias("median ratio"),
            ratio.quantile(0.9).alias("90 % of ratios"),
            ratio.max().alias("largest ratio"),
            (ratio > 1.3).sum().alias("ratios above 1.3"),
        )
        .sort("target", "identified", "questions", descending=[False, True, False])
    )


def main() -> None:
    """Simulate as the command line asks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--replicates",
        type=int,
        default=200,
        help="per cell; default: 200; half of them with 1,000 questions",
    )
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after them")
    parser.add_argument("--inference", nargs="+", choices=INFERENCES, default=["calibrated"])
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--largest", type=int, default=1000, help="benchmark, in questions")
    parser.add_argument("--again", action="store_true", help="measure suspicious cells again")
    parser.add_argument("--show", action="store_true", help="no simulation, only the tables")
    parser.add_argument("--file", type=Path, default=MEASURED, help="default: the one of the guide")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ps.PriorWarning)
    measured = pl.read_parquet(arguments.file) if arguments.show else measure(arguments)
    rows = cell_rows(measured).drop("seed", "inference")
    print_tables(
        study_table(measured),
        width_table(measured),
        rows.filter(pl.col("coverage") < SUSPICIOUS, confidence=0.95).sort("coverage"),
        rows.filter(pl.col("ratio") > 1.3, "identified", questions=1000).sort("ratio"),
    )


if __name__ == "__main__":
    main()
