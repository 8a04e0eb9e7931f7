"""Do intervals of the truth behind verdicts of an imperfect judge hold?

Run: python -m examples.validation.judges accuracy|draws|labels|clusters|differences
[--replicates 100] [--questions 30 100]

Rates of questions come from the eight populations of `looks_and_gates.py`. A replicate is a stratum
of one log, with labels or a calibration sample of its own; all goes through the public API. The
cells are kept in `single_claims/judge_STUDY.csv`: how often the interval holds the mean of the
truth over these questions, its width, and the same for the verdicts as they are, and for the labels
alone; of differences how often an interval holds the true one, and how often it names a false
winner.
"""

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np
import polars as pl
from scipy.special import betaincinv

import polars_scorio as ps
from examples.validation.looks_and_gates import POPULATIONS, always, at_least_once
from examples.validation.measured_cells import keep_cells

JUDGES = {"good": (0.95, 0.9), "fair": (0.85, 0.8), "poor": (0.7, 0.65)}
SAMPLES = (25, 100, 400)  # labels of right, and of wrong answers
LABELS = 100  # on these trials
CLUSTER = 5  # questions with one rate, where there are clusters
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


@dataclass(frozen=True)
class Study:
    """The cells that are asked for: numbers of logs, questions and trials."""

    replicates: int
    sizes: list[int]
    trials: list[int]

    def cells(self, **settings: Iterable) -> Iterator[dict]:
        """The cells of all populations, sizes, trials and settings."""
        shapes = {"population": POPULATIONS, "questions": self.sizes, "n": self.trials}
        for values in product(*(shapes | settings).values()):
            cell = dict(zip(shapes | settings, values, strict=True))
            yield cell | {"replicates": self.replicates}

    def drawn_rates(self, cell: dict) -> tuple[np.random.Generator, np.ndarray]:
        """The generator of a cell, and the rates of the questions of all of its logs."""
        rng = np.random.default_rng(cell["questions"] * 100 + cell["n"])
        return rng, POPULATIONS[cell["population"]](rng, (self.replicates, cell["questions"]))


def sampled(metrics: list[str], study: Study) -> Iterator[dict]:
    """Metrics by a calibration sample from elsewhere, drawn anew in each replicate."""
    replicates = study.replicates
    for cell in study.cells(judge=JUDGES):
        n, rates = cell["n"], JUDGES[cell["judge"]]
        rng, p = study.drawn_rates(cell)
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
                found = held(corrected.report(asked), truth)
                plainly = held(as_verdicts[metric], truth)["held"]
                yield cell | {"labels": labels, "metric": metric, **found, "verdicts": plainly}


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


def labelled(study: Study) -> Iterator[dict]:
    """Accuracy, and draws if the judge is the same everywhere, by labels on these trials."""
    for cell in study.cells(design=("random", "verdict", "questions"), fooled=(False, True)):
        rng, p = study.drawn_rates(cell)
        truth, verdict = judged_log(rng, p, cell["n"], JUDGES["fair"], fooled=cell["fooled"])
        chosen = chosen_labels(rng, verdict, cell["design"])
        log = log_frame(verdict, np.where(chosen, truth, -1))
        corrected = log.scorio(model=None, by="stratum", truth="human")
        alone = labels_alone(chosen, truth)
        for target in ("benchmark", "population"):
            goal = p.mean(axis=1) if target == "benchmark" else population_mean(cell["population"])
            found = held(corrected.avg(target=target), goal)
            yield cell | {"metric": "avg", "target": target, **found, "alone": alone}
        if cell["n"] >= 4 and not cell["fooled"]:
            asked, k, value = METRICS["pass_at_2"]
            found = held(corrected.report(asked), value(p, k).mean(axis=1))
            yield cell | {"metric": "pass_at_2", "target": "benchmark", **found}


def clustered(study: Study) -> Iterator[dict]:
    """Accuracy of the population if five questions each have one rate, by 100 labels."""
    for cell in study.cells(design=("random", "verdict", "questions"), fooled=(False, True)):
        rng = np.random.default_rng(cell["questions"] * 100 + cell["n"])
        shape = study.replicates, cell["questions"] // CLUSTER
        p = POPULATIONS[cell["population"]](rng, shape).repeat(CLUSTER, axis=1)
        truth, verdict = judged_log(rng, p, cell["n"], JUDGES["fair"], fooled=cell["fooled"])
        chosen = chosen_labels(rng, verdict, cell["design"])
        log = log_frame(verdict, np.where(chosen, truth, -1))
        log = log.with_columns(passage=pl.col("question") // CLUSTER)
        goal = population_mean(cell["population"])
        right, wrong = (int(rng.binomial(400, rate)) for rate in JUDGES["fair"])
        grader = ps.judge(sensitivity=(right, 400), specificity=(wrong, 400))
        ways = {"truth": {"truth": "human"}, "judge": {"judge": grader}}
        for way, roles in ways.items():
            if way == "judge" and (cell["fooled"] or cell["design"] != "random"):
                continue
            options = {"model": None, "by": "stratum", "target": "population", **roles}
            alone = held(log.scorio(**options).avg(), goal)["held"]
            found = held(log.scorio(cluster="passage", **options).avg(), goal)
            yield cell | {"way": way, **found, "without_clusters": alone}


def differences(study: Study) -> Iterator[dict]:
    """Two models on the same questions, with labels on the trials of both.

    The second one is as good, or 15 % worse; the judge is the same for both, or favours it.
    """
    designs = ("random", "verdict", "questions")
    for cell in study.cells(design=designs, factor=(1.0, 0.85), favoured=(False, True)):
        rng, p = study.drawn_rates(cell)
        rates = p, cell["factor"] * p
        judges = (0.85, 0.8), (0.95, 0.8) if cell["favoured"] else (0.85, 0.8)
        logs = []
        for model in (0, 1):
            truth, verdict = judged_log(rng, rates[model], cell["n"], judges[model], fooled=False)
            chosen = chosen_labels(rng, verdict, cell["design"])
            log = log_frame(verdict, np.where(chosen, truth, -1))
            logs.append(log.with_columns(model=pl.lit(model)))
        corrected = pl.concat(logs).scorio(by="stratum", truth="human")
        for target in ("benchmark", "population"):
            below, above = (
                rates[model].mean(axis=1)
                if target == "benchmark"
                else np.full(study.replicates, (1.0, cell["factor"])[model])
                * population_mean(cell["population"])
                for model in (1, 0)
            )
            goal = above - below
            pairs = corrected.compare(ps.avg(), target=target, simultaneous=False).sort("stratum")
            better = pairs["better"].to_numpy()
            wrong = pairs["better"].is_not_null().to_numpy() & (better != np.where(goal > 0, 0, -1))
            found = held(pairs, goal) | {"false": float(wrong.mean())}
            yield cell | {"metric": "avg", "target": target, **found}


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
    studies = {
        "accuracy": partial(sampled, ["avg"]),
        "draws": partial(sampled, [*METRICS][1:]),
        "labels": labelled,
        "clusters": clustered,
        "differences": differences,
    }
    parser.add_argument("study", choices=studies)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--trials", type=int, nargs="+", default=[1, 4, 16])
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # numbers that are null have a warning
    asked = Study(given.replicates, given.questions, given.trials)
    keep_cells(f"judge_{given.study}", studies[given.study](asked))
