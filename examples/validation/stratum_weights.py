"""Do intervals of weighted means over strata hold the truth?

Run: python -m examples.validation.stratum_weights. It adds the settings to a file, from which
`promised_tables` makes the table of the page on intervals; one that stops early is a fair sample.
"""

import argparse
import warnings
from itertools import product
from typing import NamedTuple

import polars as pl

from examples.validation.coverage import interval_numbers
from examples.validation.interval_studies import Cell, draws_of_all, strata_logs
from examples.validation.measured_cells import KEPT, in_random_order
from examples.validation.populations import POPULATIONS

FILE = KEPT / "stratum_weights.csv"
SUMS = ("replicates", "held", "width")


class Weighting(NamedTuple):
    """The questions and the weights of some strata, the easiest first."""

    sizes: tuple[int, ...]
    weights: tuple[float, ...]


# The third one is that of the Berkeley Function Calling Leaderboard in its fourth version.
WEIGHTINGS = {
    "2 : 1 : 1": Weighting((30, 30, 30), (2, 1, 1)),
    "1 : 2 : 6": Weighting((100, 10, 5), (1, 2, 6)),
    "a quarter, a quarter, a half": Weighting(
        (40, 10, 5, 26, 105, 80),
        (0.25 / 3, 0.25 / 3, 0.25 / 3, 0.25 * 26 / 131, 0.25 * 105 / 131, 0.5),
    ),
}


def measured_setting(name: str, population: str, n: str, logs: int) -> list[dict[str, object]]:
    """Coverage and mean width of one setting, for each metric and target."""
    sizes, weights = WEIGHTINGS[name]
    cell = Cell(name, population, sum(sizes), n, 0.95)
    simulated = strata_logs(*sizes, weights=weights)(cell, logs, cell.random_numbers(1))
    rows = interval_numbers(simulated, draws_of_all(n), cell, "calibrated")
    kept = ("population", "questions", "n", "target", "metric", *SUMS)
    return [{"weights": name, **{key: row[key] for key in kept}} for row in rows]


def main() -> None:
    """Measure the settings that the file lacks, in an order by lot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=100, help="of each setting; default: 100")
    logs = parser.parse_args().logs
    warnings.simplefilter("ignore")
    settings = in_random_order(product(WEIGHTINGS, POPULATIONS, "124"))
    for setting in settings:
        kept = pl.read_csv(FILE, schema_overrides={"n": pl.String}) if FILE.exists() else None
        if kept is not None and setting in kept.select("weights", "population", "n").rows():
            continue
        rows = pl.DataFrame(measured_setting(*setting, logs))
        rows = rows if kept is None else pl.concat([kept, rows], how="vertical_relaxed")
        rows.write_csv(FILE, float_precision=4)


if __name__ == "__main__":
    main()
