"""Simulations behind single sentences. Run: python -m tests.benchmarks.single_claims STUDY

A study takes ten seconds to five minutes and goes through the public API; a replicate is a stratum
of one log, judged by itself. Its cells are written to `single_claims/STUDY.csv`, from which
`quoted_numbers.py` takes the numbers of the sentences.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import betaincinv, expit, logit, ndtr

import polars_scorio as ps
from tests.benchmarks.looks_and_gates import POPULATIONS, counted

Floats = np.ndarray
Cell = dict[str, object]
FOLDER = Path(__file__).parent / "single_claims"
HEAVY = 0.2  # share of the cost that one trial must have for a `CostWarning`


def each_gate(logs: int = 25) -> Iterator[Cell]:
    """Gates of two equal versions in five strata, each of which must pass at margin .05."""
    for name, population in POPULATIONS.items():
        rng = np.random.default_rng(37)
        passed = 0
        for _ in range(logs):
            rates = np.repeat(population(rng, (5, 1, 100)), 2, axis=1)
            rows = counted(4, rng.binomial(4, rates)).gate(0, margin=0.05, each=True)
            passed += rows.filter(pl.col("stratum").is_null())["verdict"].item() == "pass"
        yield {"population": name, "logs": logs, "passed": passed / logs}


def best_of_many(logs: int = 100) -> Iterator[Cell]:
    """Whether the interval of the best of equal models holds its score, corrected or not."""
    for models, questions, n, name in product(
        (2, 10, 60), (20, 100), (1, 4), ("same", "even", "Beta(.3, .3)")
    ):
        rng = np.random.default_rng([37, models, questions, n])
        rates = np.repeat(POPULATIONS[name](rng, (logs, 1, questions)), models, axis=1)
        log = counted(n, rng.binomial(n, rates))
        score = rates[:, 0].mean(axis=1)
        best = log.best().sort("stratum")
        plain = best.join(log.report(ps.avg()), on=["stratum", "model"]).sort("stratum")
        cell: Cell = {"models": models, "questions": questions, "n": n, "population": name}
        for kind, lo, hi in (
            ("plain", plain["lo"], plain["hi"]),
            ("corrected", best["best_lo"], best["best_hi"]),
        ):
            cell[kind] = ((lo <= score) & (hi >= score)).mean()
            cell[f"{kind} width"] = (hi - lo).mean()
        yield cell | {"logs": logs}


def rates_of_pair(
    rng: np.random.Generator, shape: tuple[int, int], means: Floats, spread: float, like: float
) -> Floats:
    """Beta rates of two models, whose normal scores have a correlation."""
    shared, *single = rng.standard_normal((3, *shape))
    both = np.stack([np.sqrt(like) * shared + np.sqrt(1 - like) * each for each in single], axis=1)
    size, mean = 1 / spread - 1, means[None, :, None]
    return betaincinv(mean * size, (1 - mean) * size, ndtr(both))


def moved_to_difference(rates: Floats, difference: float) -> Floats:
    """Rates of the second model moved in logits, so that the means differ exactly by this."""
    goal = rates[:, 0].mean(axis=1, keepdims=True) - difference
    place = logit(np.clip(rates[:, 1], 1e-9, 1 - 1e-9))
    low, high = np.full_like(goal, -20), np.full_like(goal, 20)
    for _ in range(50):
        shift = (low + high) / 2
        above = expit(place + shift).mean(axis=1, keepdims=True) > goal
        low, high = np.where(above, low, shift), np.where(above, shift, high)
    return np.stack([rates[:, 0], expit(place + low)], axis=1)


def power(logs: int = 200) -> Iterator[Cell]:
    """How often `compare` names the better model at the difference of `detectable`, goal .8."""
    for target, questions, n, rate, spread, like in product(
        ("benchmark", "population"), (30, 100, 500), (1, 4, 16), (0.5, 0.8), (0.1, 0.5), (0.5, 0.9)
    ):
        design = {"rate": rate, "spread": spread, "correlation": like, "target": target}
        difference = ps.detectable(questions, n, **design)
        means = np.array([rate + difference / 2, rate - difference / 2])
        if not means.max() < 1:
            continue
        rng = np.random.default_rng([37, questions, n])
        rates = rates_of_pair(rng, (logs, questions), means, spread, like)
        if target == "benchmark":
            rates = moved_to_difference(rates, difference)
        rows = counted(n, rng.binomial(n, rates)).compare(ps.avg(), target=target)
        found = (rows["better"] == 0).fill_null(value=False).mean()
        yield design | {"questions": questions, "n": n, "logs": logs, "power": found}


def heavy_costs(logs: int = 1000) -> Iterator[Cell]:
    """Coverage of intervals of costs where one trial has more than a fifth of the cost."""
    for sd, questions, n, target in product(
        (1.5, 2.0, 2.5), (10, 30, 60), (1, 4), ("benchmark", "population")
    ):
        rng = np.random.default_rng([37, questions, n])
        level = rng.normal(0, 0.5, (logs, questions, 1))
        cost = np.exp(level + rng.normal(0, sd, (logs, questions, n)))
        expected = np.exp(level[..., 0] + sd**2 / 2)
        everyone = np.exp(0.5**2 / 2 + sd**2 / 2)
        truth = expected.mean(axis=1) if target == "benchmark" else np.full(logs, everyone)
        stratum, question, _ = np.indices(cost.shape).reshape(3, -1)
        columns = {"stratum": stratum, "question": question, "category": 1, "usd": cost.ravel()}
        log = pl.DataFrame(columns).scorio(by="stratum", model=None, trial=None, cost="usd")
        rows = log.mean_cost(target=target).sort("stratum")
        inside = ((rows["lo"] <= truth) & (rows["hi"] >= truth)).to_numpy()
        heavy = cost.max(axis=(1, 2)) > HEAVY * cost.sum(axis=(1, 2))
        cell: Cell = {"sd": sd, "questions": questions, "n": n, "target": target}
        yield cell | {"heavy": int(heavy.sum()), "held": inside[heavy].mean(), "all": inside.mean()}


STUDIES: dict[str, Callable[[], Iterator[Cell]]] = {
    study.__name__: study for study in (each_gate, best_of_many, power, heavy_costs)
}


def study_cells(study: str) -> pl.DataFrame:
    """The cells of a study as they were measured."""
    return pl.read_csv(FOLDER / f"{study}.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    asked = parser.parse_args().study
    warnings.simplefilter("ignore", ps.CostWarning)
    FOLDER.mkdir(exist_ok=True)
    pl.DataFrame(list(STUDIES[asked]())).write_csv(FOLDER / f"{asked}.csv", float_precision=4)
