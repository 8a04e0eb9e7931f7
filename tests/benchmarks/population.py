"""Coverage of target="population". Run: python tests/benchmarks/population.py --help.

How often 95 % intervals hold the mean over the population of questions: those of the difference of
two models (`compare`) and of one of them (`rank`), beside plain t intervals, which are empty where
all questions say the same.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import polars as pl
from scipy.special import stdtrit

from polars_scorio.kernels.samples import population_mean

Floats = np.ndarray

# Success rates of a model, by question.
POPULATIONS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "Beta(.6, 1)": lambda rng, shape: rng.beta(0.6, 1, shape),
    "Beta(.2, 2)": lambda rng, shape: rng.beta(0.2, 2, shape),
    "Beta(9, .3)": lambda rng, shape: rng.beta(9, 0.3, shape),
    "all .98": lambda _, shape: np.full(shape, 0.98),
    "half always right": lambda rng, shape: np.where(rng.random(shape) < 0.5, 1.0, 0.3),
}
# Rates of the other model, from those of the one.
OTHERS: dict[str, Callable[[Floats], Floats]] = {
    "same": lambda p: p,
    "worse": lambda p: 0.9 * p,
}
MANY = 2_000_000  # questions that stand for all of the population


@cache
def many(population: str) -> Floats:
    """Rates of all questions of a population."""
    return POPULATIONS[population](np.random.default_rng(0), (MANY,))


def interval(values: Floats, width: float, least: float) -> tuple[Floats, Floats]:
    """What `compare` (differences) and `rank` (scores) say; without a width the plain t."""
    mean, sigma = population_mean(values, width)
    far = stdtrit(values.shape[1] - 1, 0.975) * sigma
    return np.maximum(mean - far, least), np.minimum(mean + far, 1.0)


def measured(
    population: str, other: str, size: int, n: int, replicates: int, seed: int
) -> Iterator[tuple[str, str, float, float, float]]:
    """What, how, coverage, share of empty intervals, and mean width."""
    rng = np.random.default_rng([seed, list(POPULATIONS).index(population), size, n])
    p = POPULATIONS[population](rng, (replicates, size))
    one = rng.binomial(n, p) / n
    two = rng.binomial(n, OTHERS[other](p)) / n
    level = many(population).mean()
    truth = level - OTHERS[other](many(population)).mean()
    whats = {"difference": (one - two, truth, -1.0), "score": (one, level, 0.0)}
    for (what, (values, true, least)), width in product(whats.items(), (1.0, 0.0)):
        lo, hi = interval(values, width, least)
        # Rates that are all the same differ by a rounding from their mean.
        held = (lo <= true + 1e-12) & (true - 1e-12 <= hi)
        how = "two pseudo-questions" if width else "plain t"
        yield what, how, held.mean(), (lo == hi).mean(), (hi - lo).mean()


def main() -> None:
    """Simulate what the command line asks for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    started = time.perf_counter()
    cells = product(POPULATIONS, OTHERS, (2, 5, 10, 30, 100), (1, 4, 16))
    rows = [
        (*cell, *row) for cell in cells for row in measured(*cell, asked.replicates, asked.seed)
    ]
    names = ["population", "other", "M", "n", "what", "how", "coverage", "empty", "width"]
    found = pl.DataFrame(rows, schema=names, orient="row")
    summary = [
        pl.col("coverage").mean().alias("mean"),
        pl.col("coverage").min().alias("worst"),
        pl.col("empty").max().alias("empty, most"),
        pl.col("width").mean(),
    ]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=140, float_precision=3):
        print(found.group_by("what", "how", maintain_order=True).agg(summary))
        print(found.group_by("what", "how", "M", maintain_order=True).agg(summary))
        print(found.filter(how="two pseudo-questions").sort("coverage").head(8))
        print(found.filter(how="plain t").sort("coverage").head(8))
    print(f"{asked.replicates:,} replicates per cell, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
