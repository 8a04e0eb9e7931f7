"""How often do intervals of real-valued rewards hold?

Run: python -m examples.validation.rewards [--differences]

Reports of `avg` and `max_at_k` on logs of 14 populations of questions. The range of eleven is
given; the other three have none, and an interval promises nothing about rewards that were not seen.
The replicates of a cell are the models of one log; without a range each is a stratum, as the range
is that of all models. The cells are kept in `single_claims/rewards.csv`, with `--differences` those
of two models in `reward_pairs.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from scipy.special import ndtr

import polars_scorio as ps
from examples.validation.measured_cells import keep_cells

Floats = np.ndarray
Means = Callable[[Floats, int], Floats]  # of the best of k trials, from the parameters of questions
MANY = 1_000_000  # questions of which the mean is that of the population
SIZES, TRIALS, TARGETS = (10, 30, 100, 500), (1, 4, 16), ("benchmark", "population")


@dataclass(frozen=True)
class Population:
    """Questions with a parameter each, and the rewards of their trials."""

    parameters: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    rewards: Callable[[np.random.Generator, Floats], Floats]
    mean: Callable[[Floats], Floats]
    best: Means | None = None
    bounds: tuple[float, float] | None = (0.0, 1.0)


def uniform(parameters: Callable[..., Floats], width: float) -> Population:
    """Rewards between a parameter and a little more."""
    return Population(
        parameters,
        lambda rng, p: p + width * rng.random(p.shape),
        lambda p: p + width / 2,
        lambda p, k: p + width * k / (k + 1),
    )


def mixed(share: Callable[..., Floats], *, at: float) -> Population:
    """Exactly `at` (0 or 1) with the chance of a parameter, else between 0 and 1."""

    def best(p: Floats, k: int) -> Floats:
        if at == 1:
            return 1 - (1 - p) ** k / (k + 1)
        return 1 - (1 - p ** (k + 1)) / ((1 - p) * (k + 1))

    return Population(
        share,
        lambda rng, p: np.where(rng.random(p.shape) < p, at, rng.random(p.shape)),
        lambda p: p * at + (1 - p) / 2,
        best,
    )


def _partial(rng: np.random.Generator, p: Floats) -> Floats:
    """A score of 1 with the chance of a parameter, else one of 0 and .25."""
    return np.select([rng.random(p.shape) < p, rng.random(p.shape) < 0.5], [1.0, 0.25], 0.0)


def _coins(rng: np.random.Generator, p: Floats) -> Floats:
    """Constant rewards of some questions, coins of others, whose parameter is negative."""
    return np.where(p < 0, rng.integers(0, 2, p.shape), p)


def _cut_lognormal(p: Floats) -> Floats:
    """Mean of a lognormal reward that is cut at 50."""
    above = (np.log(50) - p) / 0.8
    return np.exp(p + 0.32) * ndtr(above - 0.8) + 50 * (1 - ndtr(above))


def _kinds(rare: float, low: float, high: float) -> Callable[..., Floats]:
    """Parameters of which a share is high."""
    return lambda rng, shape: np.where(rng.random(shape) < rare, high, low)


POPULATIONS = {
    "smooth": Population(
        lambda rng, shape: rng.beta(2, 2, shape),
        lambda rng, p: rng.beta(4 * p + 1e-9, 4 * (1 - p) + 1e-9),
        lambda p: p,
    ),
    "narrow": uniform(lambda rng, shape: rng.uniform(0.4, 0.5, shape), 0.1),
    "rare": uniform(_kinds(0.02, 0.0, 0.8), 0.2),
    "one hard": uniform(_kinds(0.95, 0.0, 0.9), 0.1),
    "zero-inflated": mixed(lambda rng, shape: rng.beta(1, 1.5, shape), at=0),
    "at the bound": mixed(lambda rng, shape: rng.beta(9, 1, shape), at=1),
    "partial scores": Population(
        lambda rng, shape: rng.beta(0.5, 0.5, shape),
        _partial,
        lambda p: p + (1 - p) / 8,
        lambda p, k: 1 - 0.75 * (1 - p) ** k - 0.25 * ((1 - p) / 2) ** k,
    ),
    "coins": Population(
        lambda rng, shape: np.where(rng.random(shape) < 0.5, -1.0, rng.random(shape)),
        _coins,
        lambda p: np.where(p < 0, 0.5, p),
        lambda p, k: np.where(p < 0, 1 - 0.5**k, p),
    ),
    "arcsine": Population(
        lambda _, shape: np.full(shape, 0.5),
        lambda rng, p: rng.beta(0.5, 0.5, p.shape),
        lambda p: p,
    ),
    "all equal": uniform(lambda _, shape: np.full(shape, 0.7), 0.0),
    "lognormal, cut": Population(
        lambda rng, shape: rng.standard_normal(shape),
        lambda rng, p: np.minimum(np.exp(p + 0.8 * rng.standard_normal(p.shape)), 50),
        _cut_lognormal,
        bounds=(0.0, 50.0),
    ),
    "normal": Population(
        lambda rng, shape: rng.standard_normal(shape),
        lambda rng, p: p + rng.standard_normal(p.shape),
        lambda p: p,
        bounds=None,
    ),
    "lognormal": Population(
        lambda rng, shape: rng.standard_normal(shape),
        lambda rng, p: np.exp(p + 0.8 * rng.standard_normal(p.shape)),
        lambda p: np.exp(p + 0.32),
        bounds=None,
    ),
    "rare penalty": Population(
        lambda rng, shape: rng.normal(1, 0.1, shape),
        lambda rng, p: np.where(rng.random(p.shape) < 0.03, -10.0, p),
        lambda p: 0.97 * p - 0.3,
        bounds=None,
    ),
}


def made_log(
    name: str, questions: int, n: int, replicates: int, seed: int
) -> tuple[pl.DataFrame, Floats]:
    """The rewards of all replicates, and the parameters of their questions."""
    rng = np.random.default_rng([seed, questions, n, *name.encode()])
    population = POPULATIONS[name]
    parameters = population.parameters(rng, (replicates, questions))
    rewards = population.rewards(rng, np.repeat(parameters[..., None], n, axis=2))
    replicate, question, _ = np.indices(rewards.shape, dtype=np.int32).reshape(3, -1)
    columns = {"replicate": replicate, "question": question, "category": rewards.ravel()}
    return pl.DataFrame(columns), parameters


def measured_cell(name: str, questions: int, n: int, replicates: int, seed: int) -> pl.DataFrame:
    """Coverage and width of each metric and target in one cell."""
    population = POPULATIONS[name]
    log, parameters = made_log(name, questions, n, replicates, seed)
    everywhere = population.parameters(np.random.default_rng(seed), (MANY,))
    best = population.best
    sizes = sorted({k for k in (2, 4, n) if 1 < k <= n}) if best is not None else []
    keys = {"model": "replicate"} if population.bounds else {"model": None, "by": "replicate"}
    rows = []
    for target in TARGETS:
        accessor = log.scorio(**keys, trial=None, bounds=population.bounds, target=target)
        report = accessor.report(ps.avg(), *([ps.max_at_k(sizes)] if sizes else []))
        for k in [1, *sizes]:
            each = population.mean(parameters) if k == 1 else best(parameters, k)
            of_all = population.mean(everywhere) if k == 1 else best(everywhere, k)
            truth = each.mean(axis=1) if target == "benchmark" else of_all.mean()
            own = report.filter(pl.col("k").is_null() if k == 1 else pl.col("k") == k)
            own = own.sort("replicate")
            lo, hi = (own[end].fill_null(np.nan).to_numpy() for end in ("lo", "hi"))
            # Sums of rewards have a rounding error.
            held = ((lo - 1e-9 <= truth) & (truth <= hi + 1e-9)).mean()
            rows.append((name, questions, n, k, target, held, np.nanmean(hi - lo)))
    columns = ["population", "questions", "n", "k", "target", "coverage", "width"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def measured_difference(
    name: str, questions: int, n: int, replicates: int, seed: int, worse: float
) -> pl.DataFrame:
    """Coverage of the difference of two models, of which the second is equal or worse.

    Its rewards are those of other trials of the same questions, less a share of them.
    """
    population = POPULATIONS[name]
    first, parameters = made_log(name, questions, n, replicates, seed)
    rng = np.random.default_rng([seed, 1])
    rewards = population.rewards(rng, np.repeat(parameters[..., None], n, axis=2))
    second = first.with_columns(category=pl.Series((1 - worse) * rewards.ravel()))
    log = pl.concat([first.with_columns(model=pl.lit("a")), second.with_columns(model=pl.lit("b"))])
    means, everywhere = (
        population.mean(each)
        for each in (parameters, population.parameters(np.random.default_rng(seed), (MANY,)))
    )
    rows = []
    for target in TARGETS:
        accessor = log.scorio(by="replicate", trial=None, bounds=population.bounds, target=target)
        pairs = accessor.compare(ps.avg(), simultaneous=False).sort("replicate")
        truth = worse * (means.mean(axis=1) if target == "benchmark" else everywhere.mean())
        lo, hi = (pairs[end].to_numpy() for end in ("lo", "hi"))
        held = ((lo - 1e-9 <= truth) & (truth <= hi + 1e-9)).mean()
        decided = pairs["better"].is_not_null().mean()
        rows.append((name, questions, n, worse, target, held, decided))
    columns = ["population", "questions", "n", "worse", "target", "coverage", "decided"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def main() -> None:
    """Measure the cells that are asked for, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=int, nargs="*", default=SIZES)
    parser.add_argument("--differences", action="store_true", help="of two models")
    asked = parser.parse_args()
    shapes = product(asked.questions, TRIALS)
    if asked.differences:
        given = [name for name in POPULATIONS if POPULATIONS[name].bounds]
        cells = pl.concat(
            measured_difference(name, questions, n, asked.replicates, asked.seed, worse)
            for (questions, n), name, worse in product(shapes, given, (0.0, 0.15))
        )
    else:
        cells = pl.concat(
            measured_cell(name, questions, n, asked.replicates, asked.seed)
            for (questions, n), name in product(shapes, POPULATIONS)
        )
    logs = pl.lit(asked.replicates).alias("logs")
    keep_cells("reward_pairs" if asked.differences else "rewards", cells.with_columns(logs))


if __name__ == "__main__":
    main()
