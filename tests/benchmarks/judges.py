"""Do intervals of the truth behind verdicts of an imperfect judge hold?

Run: python tests/benchmarks/judges.py accuracy|draws|labels [--replicates 100] [--questions 30 100]

Rates of questions come from the eight populations of `looks_and_gates.py`. A replicate is a stratum
of one log, with labels or a calibration sample of its own; all goes through the public API. Prints
one line for each cell as JSON: how often the interval holds the mean of the truth over these
questions, its width, and the same for the verdicts as they are, and for the labels alone.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import polars as pl
from scipy.special import betaincinv

import polars_scorio as ps
from tests.benchmarks.looks_and_gates import POPULATIONS, always, at_least_once

JUDGES = {"good": (0.95, 0.9), "fair": (0.85, 0.8), "poor": (0.7, 0.65)}
SAMPLES = (25, 100, 400)  # labels of right, and of wrong answers
LABELS = 100  # on these trials
METRICS = {
    "avg": (ps.avg(), 1, always),
    "pass_at_2": (ps.pass_at_k(2), 2, at_least_once),
    "pass_at_4": (ps.pass_at_k(4), 4, at_least_once),
    "pass_hat_4": (ps.pass_hat_k(4), 4, always),
}


def judged_log(rng: np.random.Generator, rates: np.ndarray, n: int, judge: tuple, fooled: bool):
    """Truth and verdicts, shape (replicates, questions, n).

    A judge who is fooled keeps .98 of the wrong answers of easy questions, and .53 of hard ones.
    """
    truth = rng.random((*rates.shape, n)) < rates[..., None]
    kept, spared = judge
    error = np.where(fooled, 0.02 + 0.45 * (1 - rates[..., None]), 1 - spared)
    return truth, rng.random(truth.shape) < np.where(truth, kept, error)


def log_frame(verdict: np.ndarray, human: np.ndarray | None = None) -> pl.DataFrame:
    """A row for each trial; -1 in `human` says that nobody looked."""
    stratum, question, trial = np.indices(verdict.shape).reshape(3, -1)
    log = pl.DataFrame(
        {"stratum": stratum, "question": question, "trial": trial, "category": verdict.ravel()}
    )
    if human is None:
        return log
    labels = pl.Series(human.ravel())
    return log.with_columns(human=pl.when(labels >= 0).then(labels == 1))


def held(rows: pl.DataFrame, truth: np.ndarray) -> dict[str, float]:
    """Coverage and mean width of the rows that have numbers, and the share of those that have."""
    lo, hi = rows["lo"].to_numpy(), rows["hi"].to_numpy()
    known = ~np.isnan(lo)
    inside = (lo <= truth + 1e-9) & (truth <= hi + 1e-9)
    return {
        "held": float(inside[known].mean()) if known.any() else float("nan"),
        "width": float((hi - lo)[known].mean()) if known.any() else float("nan"),
        "null": float(1 - known.mean()),
    }


def sampled(
    metrics: list[str], replicates: int, sizes: list[int], trials: list[int]
) -> Iterator[dict]:
    """Metrics by a calibration sample from elsewhere, drawn anew in each replicate."""
    for (name, population), size, n, (judge, rates) in product(
        POPULATIONS.items(), sizes, trials, JUDGES.items()
    ):
        rng = np.random.default_rng(size * 100 + n)
        p = population(rng, (replicates, size))
        _, verdict = judged_log(rng, p, n, rates, fooled=False)
        log = log_frame(verdict)
        plain = log.scorio(model=None, by="stratum")
        as_verdicts = {
            metric: plain.report(METRICS[metric][0])
            for metric in metrics
            if METRICS[metric][1] <= n
        }
        for labels in SAMPLES if metrics == ["avg"] else SAMPLES[1:]:
            kept, spared = (rng.binomial(labels, rate, replicates) for rate in rates)
            parts = {(1, 1): kept, (0, 1): labels - kept, (1, 0): labels - spared, (0, 0): spared}
            sample = pl.concat(
                pl.DataFrame({"model": np.arange(replicates), "count": count}).with_columns(
                    verdict=pl.lit(verdict_of), truth=pl.lit(truth_of)
                )
                for (verdict_of, truth_of), count in parts.items()
            )
            # Each replicate is a model: a calibration sample belongs to a model.
            corrected = log.scorio(model="stratum", judge=sample)
            for metric in metrics:
                asked, k, value = METRICS[metric]
                if metric not in as_verdicts:
                    continue
                truth = value(p, k).mean(axis=1)
                yield {
                    "population": name, "questions": size, "n": n, "judge": judge,
                    "labels": labels, "metric": metric, "replicates": replicates,
                    **held(corrected.report(asked), truth),
                    "verdicts": held(as_verdicts[metric], truth)["held"],
                }  # fmt: skip


def chosen_labels(rng: np.random.Generator, verdict: np.ndarray, design: str) -> np.ndarray:
    """Trials that were labelled: at random, half of them of each verdict, or whole questions."""
    replicates, questions, n = verdict.shape
    chance = rng.random(verdict.shape)
    if design == "questions":
        # At least seven questions, in place of a hundred labels in six of them.
        wanted = max(LABELS // n, 7)
        order = rng.random((replicates, questions)).argsort(axis=1).argsort(axis=1)
        return np.broadcast_to(order[..., None] < wanted, verdict.shape)
    if design == "random":
        order = chance.reshape(replicates, -1).argsort(axis=1).argsort(axis=1)
        return (order < LABELS).reshape(verdict.shape)
    halves = [np.where(verdict == side, chance, 2.0) for side in (True, False)]
    orders = [half.reshape(replicates, -1).argsort(axis=1).argsort(axis=1) for half in halves]
    first = [(order < LABELS // 2).reshape(verdict.shape) for order in orders]
    return (first[0] & verdict) | (first[1] & ~verdict)


def labelled(replicates: int, sizes: list[int], trials: list[int]) -> Iterator[dict]:
    """Accuracy, and draws if the judge is the same everywhere, by labels on these trials."""
    designs = ("random", "verdict", "questions")
    for (name, population), size, n, design, fooled in product(
        POPULATIONS.items(), sizes, trials, designs, (False, True)
    ):
        rng = np.random.default_rng(size * 100 + n)
        p = population(rng, (replicates, size))
        truth, verdict = judged_log(rng, p, n, JUDGES["fair"], fooled=fooled)
        chosen = chosen_labels(rng, verdict, design)
        log = log_frame(verdict, np.where(chosen, truth, -1))
        corrected = log.scorio(model=None, by="stratum", truth="human")
        alone = labels_alone(chosen, truth)
        for target in ("benchmark", "population"):
            goal = p.mean(axis=1) if target == "benchmark" else population_mean(name)
            found = held(corrected.avg(target=target), goal)
            yield {
                "population": name, "questions": size, "n": n, "design": design,
                "fooled": fooled, "metric": "avg", "target": target, "replicates": replicates,
                **found, "alone": alone,
            }  # fmt: skip
        if n >= 4 and not fooled:
            asked, k, value = METRICS["pass_at_2"]
            goal = value(p, k).mean(axis=1)
            yield {
                "population": name, "questions": size, "n": n, "design": design,
                "fooled": fooled, "metric": "pass_at_2", "target": "benchmark",
                "replicates": replicates, **held(corrected.report(asked), goal),
            }  # fmt: skip


@cache
def population_mean(name: str) -> float:
    """The mean rate of a population."""
    return float(POPULATIONS[name](np.random.default_rng(0), (1_000_000,)).mean())


def labels_alone(chosen: np.ndarray, truth: np.ndarray) -> float:
    """Mean width of the interval of Clopper and Pearson of the labels, as if drawn one by one."""
    number, right = chosen.sum(axis=(1, 2)), (chosen & truth).sum(axis=(1, 2))
    tiny = 1e-9
    lo = betaincinv(np.maximum(right, tiny), number - right + 1, 0.025)
    hi = betaincinv(right + 1, np.maximum(number - right, tiny), 0.975)
    return float((hi - lo).mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("study", choices=["accuracy", "draws", "labels"])
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--trials", type=int, nargs="+", default=[1, 4, 16])
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # numbers that are null have a warning
    shape = given.replicates, given.questions, given.trials
    cells = {
        "accuracy": lambda: sampled(["avg"], *shape),
        "draws": lambda: sampled([*METRICS][1:], *shape),
        "labels": lambda: labelled(*shape),
    }[given.study]()
    start = time.perf_counter()
    for cell in cells:
        print(json.dumps(cell | {"seconds": round(time.perf_counter() - start, 1)}), flush=True)
