"""Which number to read when n differs between questions. Run: python examples/validation/advice.py.

Writes `advice.csv`, for each way in which n came about, population and number of questions: the
mean error of a metric, the root of its mean squared error, how often its 95 % interval holds the
true accuracy of the questions, and how often `check` says that trials stopped on outcomes. It takes
six minutes.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps
from polars_scorio.maths.exchangeability import stopping_by_counts, verdict_of
from polars_scorio.maths.questions import States

Floats = np.ndarray
Ints = np.ndarray

Population = Callable[[np.random.Generator, tuple[int, int]], Floats]


def clusters(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Two kinds of questions."""
    return np.where(rng.random(shape) < 0.5, 0.05, 0.6)


def aime(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """40 % never succeed, 20 % always do, the others are anywhere."""
    kind = rng.random(shape)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.6, 1.0, rng.random(shape)))


POPULATIONS: dict[str, Population] = {
    "Beta(.6, 1)": lambda rng, shape: rng.beta(0.6, 1, shape),
    "Beta(.2, 2)": lambda rng, shape: rng.beta(0.2, 2, shape),
    "Beta(4, .4)": lambda rng, shape: rng.beta(4, 0.4, shape),
    "Beta(.3, .3)": lambda rng, shape: rng.beta(0.3, 0.3, shape),
    "Beta(5, 5)": lambda rng, shape: rng.beta(5, 5, shape),
    "two clusters": clusters,
    "impossible, sure, any": aime,
}
MOST = 16  # trials of a question, where they do not stop earlier
FILE = Path(__file__).with_name("advice.csv")
METHODS: dict[str, tuple[ps.Metric, str | None]] = {
    "calibrated avg": (ps.avg(), None),
    "pooled bayes": (ps.bayes(), "population"),
}


def retried(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """Retry until the first success, at most so many times."""
    first = rng.geometric(np.maximum(p, 1e-9))
    return np.minimum(first, MOST), (first <= MOST).astype(int)


def failures_dropped(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """Half of the failures, which timed out, are not in the log; one trial is left at least."""
    c = rng.binomial(MOST, p)
    kept = rng.binomial(MOST - c, 0.5)
    return np.maximum(c + kept, 1), c


def failures_counted(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """The same log, with those failures in it."""
    return np.full(p.shape, MOST), rng.binomial(MOST, p)


def more_for_hard(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """The hard half, known from elsewhere, has 16 trials of a question, the easy half has 2."""
    n = np.where(p < np.median(p, axis=1, keepdims=True), MOST, 2)
    return n, rng.binomial(n, p)


def more_for_easy(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """The other way round: hard questions cost more."""
    n = np.where(p < np.median(p, axis=1, keepdims=True), 2, MOST)
    return n, rng.binomial(n, p)


def planned(rng: np.random.Generator, p: Floats) -> tuple[Ints, Ints]:
    """Four trials of each question, then twice four more on average, as `next_trials` says."""
    n = np.full(p.shape, 4)
    c = rng.binomial(n, p)
    for _ in range(2):
        extra = np.array([spent(*each, budget=4 * p.shape[1]) for each in zip(n, c, strict=True)])
        n, c = n + extra, c + rng.binomial(extra, p)
    return n, c


def spent(n: Ints, c: Ints, *, budget: int) -> Ints:
    """The further trials of each question of one log."""
    log = counted(n[None], c[None]).drop("model").scorio(model=None, count="count")
    return log.next_trials(budget)["extra_trials"].to_numpy().astype(np.int64)


Design = Callable[[np.random.Generator, Floats], tuple[Ints, Ints]]
DESIGNS: dict[str, Design] = {
    "retry until a success, at most 16 times": retried,
    "`next_trials`, two rounds": planned,
    "16 trials of hard questions, 2 of easy ones": more_for_hard,
    "2 trials of hard questions, 16 of easy ones": more_for_easy,
    "half of the failures dropped": failures_dropped,
    "the same failures counted": failures_counted,
}


def counted(n: Ints, c: Ints) -> pl.DataFrame:
    """Counts by replicate, which is a model, and question."""
    model, question = np.indices(c.shape).reshape(2, -1)
    columns = {"model": model, "question": question}
    return pl.concat(
        pl.DataFrame({**columns, "category": np.full(c.size, category), "count": count.ravel()})
        for category, count in ((0, n - c), (1, c))
    )


def measured(
    design: Design, population: str, questions: int, replicates: int, seed: int
) -> Iterator[tuple[str | float, ...]]:
    """Of each method: title, truth, error, root mean squared error, coverage; share of finds."""
    rng = np.random.default_rng([seed, questions, list(POPULATIONS).index(population)])
    p = POPULATIONS[population](rng, (replicates, questions))
    n, c = design(rng, p)
    log, truth = counted(n, c).scorio(count="count"), p.mean(axis=1)
    counts, group = (
        np.column_stack([(n - c).ravel(), c.ravel()]),
        np.repeat(np.arange(len(n)), questions),
    )
    states = States.tally(counts, 0 * counts, group, 0 * group + 1, len(n))
    found = np.mean([verdict_of(each.p) == "alarm" for each in stopping_by_counts(states)])
    for title, (metric, prior) in METHODS.items():
        rows = log.report(metric, prior=prior)
        centre = rows["mu" if "mu" in rows.columns else "estimate"]
        lo, hi, error = rows["lo"].to_numpy(), rows["hi"].to_numpy(), centre.to_numpy() - truth
        held = (lo <= truth) & (truth <= hi)
        numbers = truth.mean(), error.mean(), np.sqrt((error**2).mean()), held.mean()
        yield title, *numbers, found


def main() -> None:
    """Simulate what the command line asks for, and write the cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ps.CheckWarning)
    started = time.perf_counter()
    rows = [
        (name, population, size, *row, asked.replicates)
        for name, design in DESIGNS.items()
        for size in asked.questions
        for population in POPULATIONS
        for row in measured(design, population, size, asked.replicates, asked.seed)
    ]
    names = ["n", "population", "questions", "method", "truth", "bias", "rmse", "coverage"]
    names += ["stopped", "logs"]
    found = pl.DataFrame(rows, schema=names, orient="row")
    found.with_columns(pl.col(pl.Float64).round(5)).write_csv(FILE)
    print(f"{asked.replicates} replicates per cell, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
