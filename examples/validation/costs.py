"""Coverage of intervals of costs: how often do they hold? Run: python -m examples.validation.costs

Costs are lognormal: the effect of a question has the standard deviation .5, that of a trial .6;
harder questions are dearer, and failures cost 1.5 times as much. Each cell has 200 logs.
"""

from pathlib import Path

import numpy as np
import polars as pl

from examples.validation import looks_and_gates
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.cost_means import CostMeans, FrontierModels, QuestionCosts
from polars_scorio.maths.posteriors import Target

CELLS = Path(__file__).with_suffix(".csv")  # of which the guide has the table
LOGS, TAIL = 200, 0.025
# Success rates: the populations of other studies, and one of rates around a half.
POPULATIONS = {**looks_and_gates.POPULATIONS, "middle": lambda rng, shape: rng.beta(2, 2, shape)}
FAILURE, QUESTION_SD, TRIAL_SD = 1.5, 0.5, 0.6


def drawn_questions(
    rng: np.random.Generator, population: str, size: int, cluster: int = 1
) -> tuple[Floats, Floats]:
    """Success rates, and logs of the usual cost of a success; the same within a cluster."""
    number = -(-size // cluster)
    rate = np.repeat(POPULATIONS[population](rng, number), cluster)[:size]
    effect = np.repeat(rng.normal(0, QUESTION_SD, number), cluster)[:size]
    return rate, effect - 0.8 * (rate - 0.5)


def mean_costs(rate: Floats, level: Floats) -> Floats:
    """Expected cost of a trial of each question."""
    return np.exp(level + TRIAL_SD**2 / 2) * (rate + FAILURE * (1 - rate))


def drawn_costs(
    rng: np.random.Generator, rate: Floats, level: Floats, n: int, logs: int = 1, cluster: int = 1
) -> QuestionCosts:
    """The costs of n trials of each question, of logs with as many questions each."""
    success = rng.random((rate.size, n)) < rate[:, None]
    cost = np.exp(level[:, None] + rng.normal(0, TRIAL_SD, success.shape))
    cost *= np.where(success, 1.0, FAILURE)
    won = success * cost
    size = rate.size // logs
    group = np.repeat(np.arange(logs), size)
    member = np.tile(np.arange(size) // cluster, logs) + 1_000 * group if cluster > 1 else None
    return QuestionCosts(
        group,
        logs,
        0 * group,
        np.ones(rate.size),
        member,
        np.full(rate.size, n),
        success.sum(axis=1),
        cost.sum(axis=1),
        (cost**2).sum(axis=1),
        cost.max(axis=1),
        won.sum(axis=1),
        (won**2).sum(axis=1),
    )


def until_success(rate: Floats, level: Floats, k: int) -> tuple[Floats, Floats]:
    """Expected spending until the first success in at most k tries, and pass@k."""
    solved = 1 - (1 - rate) ** k
    failed = np.where(rate > 0, (1 - rate) * solved / np.maximum(rate, 1e-300), k)
    unit = np.exp(level + TRIAL_SD**2 / 2)
    return unit * (solved + FAILURE * failed), solved


def coverage_rows(seed: int = 34) -> list[dict[str, object]]:
    """A row for each cell: how often the interval holds, and how often it has no upper end."""
    rng, rows = np.random.default_rng(seed), []
    for population in POPULATIONS:
        everything = drawn_questions(rng, population, 1_000_000)
        for size in (30, 100, 500):
            for n in (1, 4, 16):
                for cluster in (1, 5):
                    cell = {"population": population, "M": size, "n": n, "cluster": cluster}
                    rows += _cell_rows(rng, cell, everything)
    return rows


def _cell_rows(
    rng: np.random.Generator, cell: dict[str, object], everything: tuple[Floats, Floats]
) -> list[dict[str, object]]:
    """Both metrics about both targets, in one cell."""
    population, size, n, cluster = cell.values()
    drawn = [drawn_questions(rng, population, size, cluster) for _ in range(LOGS)]
    rate, level = (np.concatenate(each) for each in zip(*drawn, strict=True))
    costs = drawn_costs(rng, rate, level, n, LOGS, cluster)
    group = costs.group
    rows = []
    for metric, k in (("cost_per_success", None), ("cost_to_solve(4)", 4)):
        if k is not None and k > n:
            continue
        values = costs.per_success() if k is None else costs.until_success(k)
        each, whole = (
            (mean_costs(*those), those[0]) if k is None else until_success(*those, k)
            for those in ((rate, level), everything)
        )
        targets: tuple[Target, ...] = (
            ("population",) if cluster > 1 else ("population", "benchmark")
        )
        for target in targets:
            lo, hi = CostMeans.from_values(values, costs, target).ends(TAIL)
            if target == "population":
                truth = np.full(LOGS, whole[0].mean() / whole[1].mean())
            else:
                truth = np.bincount(group, each[0]) / np.bincount(group, each[1])
            holds, open_end = (lo <= truth) & (truth <= hi), np.isinf(hi)
            found = {"metric": metric, "target": target, "holds": holds.mean()}
            rows.append({**cell, **found, "unbounded": open_end.mean()})
    return rows


def frontier_rows(seed: int = 35) -> list[dict[str, object]]:
    """Five models, two of them tied, the last one dominated: how often are verdicts wrong?"""
    rng, rows = np.random.default_rng(seed), []
    factor, price = np.array([0.6, 0.8, 0.8, 1.0, 0.7]), np.array([0.5, 1.0, 1.0, 2.0, 2.0])
    for size in (30, 100, 500):
        for n in (1, 4, 16):
            false = found = both = 0
            chance = np.zeros(5)
            on = np.zeros(5)
            for _ in range(LOGS):
                models = _drawn_models(rng, size, n, factor, price)
                dominated = models.dominated(0.95)
                false += dominated[:4].any()
                found += dominated[4]
                chance += models.chance() / LOGS
                on += models.on / LOGS
                both += models.on[1:3].all()
            wrong = {"false": false / LOGS, "found": found / LOGS}
            tied = {"p_frontier_tied": chance[1:3].mean(), "on_tied": on[1:3].mean()}
            tied["both_on_tied"] = both / LOGS
            rows.append({"M": size, "n": n, **wrong, **tied})
    return rows


def _drawn_models(
    rng: np.random.Generator, size: int, n: int, factor: Floats, price: Floats
) -> FrontierModels:
    """Models on the same questions, whose rates are those of the questions times a factor."""
    rate, level = drawn_questions(rng, "middle", size)
    costs = [drawn_costs(rng, rate * f, level, n) for f in factor]
    score = np.stack([each.c / n for each in costs], axis=1)
    cost = price * np.stack([each.total / n for each in costs], axis=1)
    both = np.hstack([score, cost / cost.mean(axis=0)])
    parts = (both - both.mean(axis=0)) / np.sqrt(size * (size - 1))
    log_cost = np.log(cost.mean(axis=0))
    floor = 0.5 / (size * (size + 1))
    return FrontierModels(score.mean(axis=0), log_cost, parts, size - 1.0, floor)


if __name__ == "__main__":
    covered = pl.DataFrame(coverage_rows())
    covered.write_csv(CELLS, float_precision=4)
    by = ["metric", "target", "cluster", "M", "n"]
    worst = pl.col("holds").min().alias("worst")
    table = covered.group_by(by).agg(pl.col("holds", "unbounded").mean().round(3), worst).sort(by)
    with pl.Config(tbl_rows=-1, tbl_cols=-1):
        print(table)
        print(pl.DataFrame(frontier_rows()))
