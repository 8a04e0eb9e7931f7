"""Which number to read when n differs between questions. Run: python tests/benchmarks/advice.py.

Prints, for each way in which n came about: the mean error of a metric, the root of its mean squared
error, and how often its 95 % interval holds the true accuracy of the questions.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

import polars_scorio as ps

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
PARTIAL = {"inference": "pooled"}
METHODS: dict[str, tuple[ps.Metric, dict[str, str]]] = {
    "avg": (ps.avg(), PARTIAL),
    "bayes, partial pooling": (ps.bayes(), PARTIAL),
    "bayes, as published": (ps.bayes(), {}),
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
    return log.next_trials(budget)["extra"].to_numpy().astype(np.int64)


Design = Callable[[np.random.Generator, Floats], tuple[Ints, Ints]]
DESIGNS: dict[str, Design] = {
    "retry until success": retried,
    "half of the failures dropped": failures_dropped,
    "those failures counted": failures_counted,
    "16 trials where hard, 2 where easy": more_for_hard,
    "2 trials where hard, 16 where easy": more_for_easy,
    "next_trials": planned,
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
) -> Iterator[tuple[str, float, float, float, float]]:
    """Of each method: its title, mean truth, mean error, root mean squared error, coverage."""
    rng = np.random.default_rng([seed, questions, list(POPULATIONS).index(population)])
    p = POPULATIONS[population](rng, (replicates, questions))
    log, truth = counted(*design(rng, p)).scorio(count="count"), p.mean(axis=1)
    for title, (metric, options) in METHODS.items():
        rows = log.report(metric, **options)
        lo, hi, error = rows["lo"].to_numpy(), rows["hi"].to_numpy(), rows["mu"].to_numpy() - truth
        held = (lo <= truth) & (truth <= hi)
        yield title, truth.mean(), error.mean(), np.sqrt((error**2).mean()), held.mean()


def main() -> None:
    """Simulate what the command line asks for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=80)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    started = time.perf_counter()
    rows = [
        (name, population, size, *row)
        for name, design in DESIGNS.items()
        for size in asked.questions
        for population in POPULATIONS
        for row in measured(design, population, size, asked.replicates, asked.seed)
    ]
    names = ["n", "population", "M", "method", "truth", "bias", "rmse", "coverage"]
    found = pl.DataFrame(rows, schema=names, orient="row")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=140, float_precision=3):
        print(found)
        print(
            found.group_by("n", "method", maintain_order=True).agg(
                pl.col("bias", "rmse", "coverage").mean(),
                worst=pl.col("coverage").min(),
            )
        )
        rivals = found.filter(pl.col("method") != "bayes, as published")
        least = pl.col("rmse") == pl.col("rmse").min().over("n", "population", "M")
        print("in how many cells avg or partial pooling has the smaller error:")
        print(rivals.filter(least).group_by("n", "method").len().sort("n", "method"))
    print(f"{asked.replicates} replicates per cell, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
