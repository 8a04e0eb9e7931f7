"""How often an interval holds the truth. Run: python -m examples.validation.coverage --help.

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

import polars_scorio as ps
from examples.validation.interval_studies import STUDIES, Cell, SimulatedLogs
from examples.validation.measured_cells import batches, in_random_order, measure_cells, print_tables
from examples.validation.measured_tables import COVERAGE_KEY, cell_rows, study_table, width_table
from examples.validation.true_values import Asked

MEASURED = Path(__file__).with_name("coverage.parquet")
PRIORS = {"posterior": "uniform", "population posterior": "population", "calibrated": None}
ROUNDING = 1e-12  # rates that are all the same differ by this from their mean
BATCH = 200  # replicates of one report
SUSPICIOUS = 0.92  # coverage at 95 % below which a cell is measured again


def interval_numbers(
    logs: SimulatedLogs, asked: list[Asked], cell: Cell, inference: str
) -> Iterator[dict[str, object]]:
    """Sums over replicates, for each metric and target: intervals that hold, widths, errors."""
    scorio = logs.counts.scorio(**{"model": None, "count": "count"} | logs.roles)
    for target in ("benchmark",) if inference == "posterior" else ("benchmark", "population"):
        rows = scorio.report(
            *(each.metric for each in asked),
            target=target,
            prior=PRIORS[inference],
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
    centre = "mu" if "mu" in rows.columns else "estimate"
    lo, hi, mu = (rows[name].cast(pl.Float64).to_numpy() for name in ("lo", "hi", centre))
    inside = (lo <= truth + ROUNDING) & (truth - ROUNDING <= hi)
    return {
        "replicates": truth.size,
        "held": float(inside.sum()),
        "width": float(np.nansum(hi - lo)),
        "squared_error": float(np.nansum((mu - truth) ** 2)),  # a range has no estimate
    }


def cell_sums(
    cell: Cell, metrics: set[str], replicates: int, inferences: list[str], seed: int
) -> pl.DataFrame:
    """The sums of one cell, of the metrics with these labels."""
    study, rng = STUDIES[cell.study], cell.random_numbers(seed)
    asked = [each for each in study.asked(cell.n) if each.label in metrics]
    rows = [
        row
        for size in batches(replicates, BATCH)
        for logs in [study.logs(cell, size, rng)]
        for inference in inferences
        for row in interval_numbers(logs, asked, cell, inference)
    ]
    return (
        pl.DataFrame(rows).group_by(COVERAGE_KEY, maintain_order=True).sum().with_columns(seed=seed)
    )


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


def missing_cells(
    measured: pl.DataFrame | None, arguments: argparse.Namespace
) -> dict[Cell, set[str]]:
    """Cells in an order by lot, with the metrics that nobody measured there."""
    done = set() if measured is None else set(measured.select(*Cell._fields, "metric").rows())
    every = (cell for name in arguments.study for cell in STUDIES[name].cells(name))
    small = (cell for cell in every if cell.questions <= arguments.largest)
    missing = {}
    for cell in in_random_order(small):
        asked = STUDIES[cell.study].asked(cell.n)
        chosen = {each.label for each in asked if arguments.metric in each.label}
        missing[cell] = {label for label in chosen if (*cell, label) not in done}
    return {cell: metrics for cell, metrics in missing.items() if metrics}


def replicates_of(cell: Cell, arguments: argparse.Namespace) -> int:
    """A range takes a second, and a log of 1,000 questions has the trials of ten others."""
    share = 10 if cell.study == "k > n" else 2 if cell.questions >= 1000 else 1
    return arguments.replicates if arguments.again else max(arguments.replicates // share, 1)


def measure(arguments: argparse.Namespace) -> pl.DataFrame:
    """Measure cells until there are none, or the time is over; then read what the file has."""
    file = arguments.file
    measured = pl.read_parquet(file) if file.exists() else None
    seed = 1 if measured is None else int(measured["seed"].max()) + arguments.again
    if arguments.again:
        cells = suspicious_cells(measured, arguments.replicates)
    else:
        cells = missing_cells(measured, arguments)

    def sums_of_cell(cell: Cell) -> pl.DataFrame:
        replicates = replicates_of(cell, arguments)
        return cell_sums(cell, cells[cell], replicates, arguments.inference, seed)

    measure_cells(cells, sums_of_cell, file, arguments.minutes)
    return pl.read_parquet(file)


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
    parser.add_argument("--inference", nargs="+", choices=PRIORS, default=["calibrated"])
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--metric", default="", help="only metrics that have this in their name")
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
