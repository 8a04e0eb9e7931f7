"""Simulated logs whose truth is known, for each study of the intervals of a report.

The replicates of a cell are strata (with strata: models) of one log, so that one report evaluates
hundreds of logs through the public API.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.populations import POPULATIONS, everyone
from examples.validation.true_values import Asked, accuracy, at_k, half_points, vote_success_at_k

Floats = np.ndarray
Ints = np.ndarray

EASIEST_TO_HARDEST = (1.0, 0.4)  # what rates are multiplied by in the first and the last stratum


class Cell(NamedTuple):
    """One setting of a study."""

    study: str
    population: str
    questions: int
    n: str
    confidence: float

    def random_numbers(self, seed: int) -> np.random.Generator:
        """A generator that depends on the cell and on a seed."""
        words = "/".join(map(str, self)).encode()
        return np.random.default_rng([seed, *words])


class SimulatedLogs(NamedTuple):
    """Many logs, and the true value of a metric in each of them."""

    counts: pl.DataFrame
    roles: dict[str, str]
    options: dict[str, object]  # of the report, beside the target
    truth: Callable[[Asked, str], Floats]  # for a target, one value for each replicate


class Study(NamedTuple):
    """Cells of one kind: benchmarks of some sizes, with some numbers of trials."""

    questions: tuple[int, ...]
    trials: tuple[str, ...]
    asked: Callable[[str], list[Asked]]  # for a number of trials
    logs: Callable[["Cell", int, np.random.Generator], SimulatedLogs]
    confidences: tuple[float, ...] = (0.95,)

    def cells(self, name: str) -> Iterator[Cell]:
        """All settings of the study."""
        settings = product(POPULATIONS, self.questions, self.trials, self.confidences)
        return (Cell(name, *setting) for setting in settings)


def trials_per_question(n: str, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
    """How many trials each question has, if it is known before they are made."""
    if n == "Poisson(8)":
        return np.maximum(rng.poisson(8, shape), 1)
    if " to " in n:
        low, high = map(int, n.split(" to "))
        return rng.integers(low, high + 1, shape)
    return rng.choice([int(each) for each in n.split(" or ")], shape)


def fewest_trials(n: str) -> int:
    """The fewest trials that a question can have."""
    return 1 if n == "Poisson(8)" else int(n.split(maxsplit=1)[0])


def category_counts(*counts: Ints) -> pl.DataFrame:
    """Counts by replicate and question, from one matrix for each category."""
    replicate, question = np.indices(counts[0].shape).reshape(2, -1)
    keys = pl.DataFrame({"replicate": replicate, "question": question})
    return pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(count.ravel()))
        for category, count in enumerate(counts)
    )


@cache
def population_truth(asked: Asked, population: str, scale: float = 1.0) -> float:
    """The true value over all questions of a population."""
    return float(asked.truth(scale * everyone(population)))


def plain_truth(cell: Cell, p: Floats) -> Callable[[Asked, str], Floats]:
    """True values of these questions, and of their population."""

    def true_value(asked: Asked, target: str) -> Floats:
        if target == "benchmark":
            return asked.truth(p)
        return np.full(len(p), population_truth(asked, cell.population))

    return true_value


def binary_logs(cell: Cell, replicates: int, rng: np.random.Generator) -> SimulatedLogs:
    """Logs of successes and failures."""
    p = POPULATIONS[cell.population](rng, (replicates, cell.questions))
    n = trials_per_question(cell.n, p.shape, rng)
    c = rng.binomial(n, p)
    return SimulatedLogs(category_counts(n - c, c), {"by": "replicate"}, {}, plain_truth(cell, p))


def graded_logs(cell: Cell, replicates: int, rng: np.random.Generator) -> SimulatedLogs:
    """Logs of three categories: none, one or both of two steps succeed."""
    p = POPULATIONS[cell.population](rng, (replicates, cell.questions))
    steps = np.stack([(1 - p) ** 2, 2 * p * (1 - p), p**2], axis=-1)
    counts = rng.multinomial(trials_per_question(cell.n, p.shape, rng), steps)
    frame = category_counts(*np.moveaxis(counts, -1, 0))
    return SimulatedLogs(frame, {"by": "replicate"}, {}, plain_truth(cell, p))


def answered_logs(cell: Cell, replicates: int, rng: np.random.Generator) -> SimulatedLogs:
    """Logs of answers: the first one is right, three wrong ones share the rest unevenly."""
    p = POPULATIONS[cell.population](rng, (replicates, cell.questions))
    shares = answer_shares(p, rng)
    counts = rng.multinomial(int(cell.n), shares)
    replicate, question, answer = np.indices(counts.shape).reshape(3, -1)
    keys = {"replicate": replicate, "question": question, "answer": answer}
    log = pl.DataFrame({**keys, "category": 1 * (answer == 0), "count": counts.ravel()})

    def true_value(asked: Asked, target: str) -> Floats:
        if target == "benchmark":
            return asked.truth(shares)
        return np.full(len(p), vote_truth(asked, cell.population))

    roles = {"by": "replicate", "answer": "answer"}
    # An answer that nobody gave is not in a log.
    return SimulatedLogs(log.filter(pl.col("count") > 0), roles, {}, true_value)


def answer_shares(p: Floats, rng: np.random.Generator) -> Floats:
    """How often each of four answers is given, the right one first."""
    wrong = rng.dirichlet(np.full(3, 0.5), p.shape)
    return np.concatenate([p[..., None], (1 - p)[..., None] * wrong], axis=-1)


@cache
def vote_truth(asked: Asked, population: str) -> float:
    """The true value of votes over a population, from 20,000 of its questions."""
    rng = np.random.default_rng(0)
    shares = answer_shares(POPULATIONS[population](rng, (20_000,)), rng)
    return float(asked.truth(shares))


def strata_logs(
    *sizes: int, weights: Sequence[float] | None = None
) -> Callable[[Cell, int, np.random.Generator], SimulatedLogs]:
    """Logs of strata of these sizes, each harder than the one before it; equal weights or given."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    scales = np.linspace(*EASIEST_TO_HARDEST, len(sizes))

    def macro_logs(cell: Cell, replicates: int, rng: np.random.Generator) -> SimulatedLogs:
        p = scales[owner] * POPULATIONS[cell.population](rng, (replicates, cell.questions))
        n = trials_per_question(cell.n, p.shape, rng)
        c = rng.binomial(n, p)
        stratum = pl.DataFrame({"question": np.arange(owner.size), "stratum": owner})
        counts = category_counts(n - c, c).join(stratum, on="question")

        def true_value(asked: Asked, target: str) -> Floats:
            if target == "benchmark":
                each = [asked.truth(p[:, owner == s]) for s in range(len(sizes))]
                return np.average(each, axis=0, weights=weights)
            values = [population_truth(asked, cell.population, scale) for scale in scales]
            return np.full(len(p), np.average(values, weights=weights))

        roles = {"model": "replicate", "by": "stratum"}
        overall = "macro" if weights is None else dict(enumerate(weights))
        return SimulatedLogs(counts, roles, {"overall": overall}, true_value)

    return macro_logs


@cache
def draws_of_half_and_all(n: str) -> list[Asked]:
    """Accuracy, and every metric of draws of half of the trials and of all of them."""
    fewest = fewest_trials(n)
    sizes = sorted({fewest // 2, fewest} - {0, 1})
    return [accuracy(), *(asked for k in sizes for asked in at_k(k))]


@cache
def draws_of_all(n: str) -> list[Asked]:
    """Accuracy, and four metrics of draws of all trials."""
    every = at_k(fewest_trials(n)) if fewest_trials(n) > 1 else []
    kept = {ps.pass_at_k.__name__, ps.pass_hat_k.__name__, "geom_at_k", "geom_ds_at_k"}
    return [accuracy(), *(asked for asked in every if asked.metric.name in kept)]


@cache
def draws_beyond_trials(_: str) -> list[Asked]:
    """Draws of eight, of which some questions have fewer trials."""
    return [asked for asked in at_k(8) if asked.metric.name in {"pass_at_k", "pass_hat_k"}]


@cache
def graded_draws(n: str) -> list[Asked]:
    """The average of half points, and the best of half of the trials and of all."""
    fewest = fewest_trials(n)
    sizes = sorted({max(fewest // 2, 1), fewest})
    return list({asked.label: asked for k in sizes for asked in half_points(k)}.values())


@cache
def votes_of_half_and_all(n: str) -> list[Asked]:
    """Votes of one trial, of half of them and of all."""
    return [vote_success_at_k(k) for k in sorted({1, int(n) // 2, int(n)} - {0})]


STUDIES = {
    "equal n": Study((5, 20, 100, 1000), ("1", "2", "4", "16"), draws_of_half_and_all, binary_logs),
    "unequal n": Study(
        (20, 100), ("Poisson(8)", "1 to 32", "1 or 64", "4 or 64"), draws_of_all, binary_logs
    ),
    "k > n": Study((30, 200), ("4", "Poisson(8)"), draws_beyond_trials, binary_logs),
    "categories": Study((5, 20, 100), ("1", "4", "16"), graded_draws, graded_logs),
    "votes": Study((20, 100), ("1", "4", "16"), votes_of_half_and_all, answered_logs),
    "confidence": Study((20, 100), ("1", "4"), draws_of_all, binary_logs, (0.5, 0.8, 0.99)),
    "macro, 50 x 3": Study((150,), ("1", "2", "4"), draws_of_all, strata_logs(*[3] * 50)),
    "macro, 20 x 10": Study((200,), ("1", "2", "4"), draws_of_all, strata_logs(*[10] * 20)),
    "macro, 2 + 10 + 100": Study((112,), ("1", "2", "4"), draws_of_all, strata_logs(2, 10, 100)),
}
