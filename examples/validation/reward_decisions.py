"""Do decisions about real-valued rewards keep their promises?

Run: python -m examples.validation.reward_decisions [--replicates 100] [--questions 10 30 100]

The populations are those of `rewards.py` whose range is given. Everything goes through the public
API: a replicate is a stratum of one log, in which each stratum is judged by itself. The cells are
kept in `single_claims/reward_decisions.csv`.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.measured_cells import keep_cells
from examples.validation.rewards import MANY, POPULATIONS, Population

GIVEN = {name: each for name, each in POPULATIONS.items() if each.bounds is not None}
LOOKS, PLAN, MARGIN = (1, 2, 4, 8, 12, 16), 16, 0.05
Floats = np.ndarray


def drawn_rewards(population: Population, rng: np.random.Generator, p: Floats, n: int) -> Floats:
    """Rewards of n trials of each question, from their parameters; the trials are the last axis."""
    return population.rewards(rng, np.repeat(p[..., None], n, axis=-1))


def reward_log(rewards: Floats) -> pl.DataFrame:
    """A log of rewards, shape (strata, models, questions, trials); NaN: there is no such trial."""
    axes = ("stratum", "model", "question", "trial")
    places = np.indices(rewards.shape, dtype=np.int32).reshape(4, -1)
    columns = dict(zip(axes, places, strict=True))
    return pl.DataFrame({**columns, "category": rewards.ravel()}).filter(
        pl.col("category").is_not_nan()
    )


def share_held(rows: pl.DataFrame, truth: Floats) -> float:
    """Share of the intervals that hold the truth; sums of rewards have a rounding error."""
    lo, hi = (rows.sort("stratum")[end].to_numpy() for end in ("lo", "hi"))
    return float(((lo - 1e-9 <= truth) & (truth <= hi + 1e-9)).mean())


def coverage_of_worst(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """Coverage of the worst of two of eight trials."""
    if population.best is None:
        return
    rng = np.random.default_rng(size)
    p = population.parameters(rng, (replicates, 1, size))
    log = reward_log(drawn_rewards(population, rng, p, 8))

    def worst(of: Floats) -> Floats:  # the best and the worst of two have twice the mean together
        return 2 * population.mean(of) - population.best(of, 2)

    many = population.parameters(np.random.default_rng(0), (MANY,))
    truths = {"benchmark": worst(p).mean(axis=(1, 2)), "population": worst(many).mean()}
    for target, truth in truths.items():
        roles = log.scorio(by="stratum", bounds=population.bounds, target=target)
        yield {"what": f"worst {target}", "share": share_held(roles.report(ps.min_at_k(2)), truth)}


def coverage_of_ragged(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """Coverage of averages of 1 to 8 trials; the fewest where rewards are low."""
    rng = np.random.default_rng(size)
    p = population.parameters(rng, (replicates, 1, size))
    rewards = drawn_rewards(population, rng, p, 8)
    trials = 1 + 7 * (population.mean(p) > np.median(population.mean(p)))
    rewards = np.where(np.arange(8) < trials[..., None], rewards, np.nan)
    log = reward_log(rewards)
    many = population.parameters(np.random.default_rng(0), (MANY,))
    truths = {
        "benchmark": population.mean(p).mean(axis=(1, 2)),
        "population": population.mean(many).mean(),
    }
    for target, truth in truths.items():
        roles = log.scorio(by="stratum", bounds=population.bounds, target=target)
        yield {"what": f"ragged {target}", "share": share_held(roles.report(ps.avg()), truth)}


def coverage_of_clusters(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """Coverage of a population whose questions come in clusters of five alike ones."""
    rng = np.random.default_rng(size)
    p = np.repeat(population.parameters(rng, (replicates, 1, size)), 5, axis=2)
    log = reward_log(drawn_rewards(population, rng, p, 2))
    truth = population.mean(population.parameters(np.random.default_rng(0), (MANY,))).mean()
    for cluster in ("passage", None):
        frame = log.with_columns(passage=pl.col("question") // 5)
        roles = frame.scorio(
            by="stratum", bounds=population.bounds, target="population", cluster=cluster
        )
        held = share_held(roles.report(ps.avg()), truth)
        yield {"what": "clusters" if cluster else "no clusters", "share": held}


def false_winners(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """A false winner in some pair of five equal models, all pairs at once."""
    rng = np.random.default_rng(size)
    p = np.repeat(population.parameters(rng, (replicates, 1, size)), 5, axis=1)
    log = reward_log(drawn_rewards(population, rng, p, 4))
    for target in ("benchmark", "population"):
        roles = log.scorio(by="stratum", bounds=population.bounds, target=target)
        rows = roles.compare(ps.avg(), simultaneous=True)
        wrong = rows.filter(pl.col("better").is_not_null())["stratum"].n_unique()
        yield {"what": f"five {target}", "share": wrong / replicates}


def gates_at_margin(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """One-sided errors of a version that is worse by the margin, in units of the range."""
    rng = np.random.default_rng(size)
    p = np.repeat(population.parameters(rng, (replicates, 1, size)), 2, axis=1)
    rewards = drawn_rewards(population, rng, p, 4)
    low, high = population.bounds
    many = population.parameters(np.random.default_rng(0), (MANY,))
    means = {
        "benchmark": population.mean(p[:, 0]).mean(axis=1),
        "population": np.full(replicates, population.mean(many).mean()),
    }
    for target, mean in means.items():
        # Shrunk towards the least reward: the mean over the questions falls by the margin.
        share = MARGIN * (high - low) / (mean - low)
        if not (share < 1).any():
            continue
        versions = rewards.copy()
        versions[:, 1] = low + (rewards[:, 1] - low) * (1 - np.minimum(share, 1))[:, None, None]
        log = reward_log(versions[share < 1])
        roles = log.scorio(by="stratum", bounds=population.bounds, target=target)
        rows = roles.gate(0, margin=MARGIN * (high - low))
        rows = rows.filter(pl.col("stratum").is_not_null())
        for name in ("pass", "fail"):
            wrong = (rows[f"pvalue_{name}"].fill_null(1) <= 0.05).mean()
            yield {"what": f"{name} {target}", "share": wrong}


def winners_of_looks(population: Population, replicates: int, size: int) -> Iterator[dict]:
    """False winners of two equal models over all looks, while trials or questions arrive."""
    rng = np.random.default_rng(size)
    p = np.repeat(population.parameters(rng, (replicates, 1, size)), 2, axis=1)
    rewards = drawn_rewards(population, rng, p, PLAN)
    of_trials = [rewards[..., :n] for n in LOOKS]
    # About a population there are four trials of each question, and `size` questions are planned.
    of_questions = [rewards[:, :, : max(2, size * n // PLAN), :4] for n in LOOKS]
    for target, plan, seen in (
        ("benchmark", PLAN, of_trials),
        ("population", size, of_questions),
    ):
        found = {kind: np.zeros(replicates, bool) for kind in ("peeking", "plan")}
        option = "planned_trials" if target == "benchmark" else "planned_questions"
        for each in seen:
            log = reward_log(each).scorio(by="stratum", bounds=population.bounds, target=target)
            for kind, planned in (("peeking", {}), ("plan", {option: plan})):
                rows = log.compare(ps.avg(), simultaneous=False, **planned).sort("stratum")
                found[kind] |= rows["better"].is_not_null().to_numpy()
        for kind, wrong in found.items():
            yield {"what": f"{kind} {target}", "share": float(wrong.mean())}


STUDIES = (
    coverage_of_worst,
    coverage_of_ragged,
    coverage_of_clusters,
    false_winners,
    gates_at_margin,
    winners_of_looks,
)


def cells(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """The cells of all studies and populations."""
    for size, study, (name, population) in product(sizes, STUDIES, GIVEN.items()):
        for cell in study(population, replicates, size):
            yield {"population": name, "questions": size, "logs": replicates} | cell


def main() -> None:
    """Run the studies and keep their cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--questions", type=int, nargs="+", default=[10, 30, 100])
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ps.LogWarning)
    warnings.simplefilter("ignore", ps.CheckWarning)
    keep_cells("reward_decisions", cells(asked.replicates, asked.questions))


if __name__ == "__main__":
    main()
