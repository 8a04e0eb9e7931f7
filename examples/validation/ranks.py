"""Do simultaneous verdicts, rank ranges and the chance to be best hold what they promise?

Run it without arguments; ``--logs 200`` is quick, ``--accessor`` asks `compare` and `rank`. Each
log is simulated as counts of successes.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri, stdtr

import polars_scorio as ps
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.families import sidak_critical, student_critical, student_z
from polars_scorio.maths.independent import tukey_critical
from polars_scorio.maths.power import trials_with_assurance
from polars_scorio.maths.ranks import (
    better_and_worse,
    leading_chances,
    rank_ranges,
)

CONFIDENCE = 0.95
SLOPE = 1.5  # how much questions differ: success rate ndtr(SLOPE * x + model), x standard normal
SHARED = 0.7  # correlation of a question's difficulty between models
TRUTHS = {
    "equal": lambda models, _: np.full(models, 0.5),
    "close": lambda models, _: np.linspace(0.55, 0.45, models),
    "spread": lambda models, _: np.linspace(0.7, 0.3, models),
    "one ahead": lambda models, _: np.append(0.8, np.full(models - 1, 0.5)),
    "random": lambda models, rng: np.clip(rng.normal(0.5, 0.12, models), 0.05, 0.95),
}


@dataclass(frozen=True, slots=True, eq=False)
class Logs:
    """What was measured in many logs, and what is true: rows are logs, columns models."""

    truth: np.ndarray
    mean: np.ndarray
    pairs: tuple[np.ndarray, np.ndarray]  # columns of both models of each pair
    centre: np.ndarray  # of each pair of models, shape (logs, models, models), as the next three
    sigma: np.ndarray
    score: np.ndarray
    p_value: np.ndarray
    critical: np.ndarray  # of all pairs, a column
    own: np.ndarray  # of all pairs of one model
    prob_best: np.ndarray


def benchmark_logs(truth, questions, n, rng):
    """Independent trials of the very questions that are asked about."""
    x = rng.normal(size=(len(truth), questions, 1))
    p = ndtr(SLOPE * x + np.sqrt(1 + SLOPE**2) * ndtri(truth)[:, None, :])
    estimate = rng.binomial(n, p) / n
    mean = estimate.mean(axis=1)
    sigma = np.sqrt((estimate * (1 - estimate) / (n - 1)).sum(axis=1)) / questions
    of_pairs = np.hypot(sigma[:, :, None], sigma[:, None, :])
    score = _score(mean[:, :, None] - mean[:, None, :], of_pairs)
    return Logs(
        # Models that are equal answer equally; the order of the others is that of their truths.
        p.mean(axis=1),
        mean,
        np.triu_indices(mean.shape[1], 1),
        mean[:, :, None] - mean[:, None, :],
        of_pairs,
        score,
        2 * ndtr(-score),
        *critical_values(mean.shape),
        leaders(mean, np.sign(mean[:, :, None] - mean[:, None, :]) * score),
    )


def population_logs(truth, questions, n, rng):
    """Questions that are a sample, the same for all models."""
    logs, models = truth.shape
    x = np.sqrt(SHARED) * rng.normal(size=(logs, questions, 1))
    x = x + np.sqrt(1 - SHARED) * rng.normal(size=(logs, questions, models))
    p = ndtr(SLOPE * x + np.sqrt(1 + SLOPE**2) * ndtri(truth)[:, None, :])
    values = (rng.binomial(n, p) / n).reshape(-1, models)
    both = paired_means(values, questions * np.arange(logs), 1.0)
    students = both.differences(*np.divmod(np.arange(models**2), models))
    centre, error, freedom = (each.reshape(logs, models, models) for each in students)
    score = _score(centre, error)
    return Logs(
        truth,
        both.mean,
        np.triu_indices(models, 1),
        centre,
        error,
        score,
        2 * stdtr(freedom, -score),
        *(student_critical(c, both.freedom[:, None]) for c in critical_values((logs, models))),
        leaders(both.mean, np.sign(centre) * student_z(score, freedom)),
    )


def critical_values(shape):
    """Those of all pairs, and of all pairs of one model, a column each."""
    models = np.full((shape[0], 1), shape[1])
    return tukey_critical(models, CONFIDENCE), sidak_critical(models - 1, CONFIDENCE)


def leaders(mean, z):
    """Chances to be the best, from z of all pairs, shape (logs, models, models)."""
    log = np.arange(len(mean))[:, None]
    return leading_chances(mean, [mean], lambda a, b: z[log, a, b])


def _score(centre, sigma):
    gap = np.abs(centre)
    return np.divide(gap, sigma, out=np.zeros_like(gap), where=gap > 0)


def holm(p_value):
    """Share of the pairs that Holm's method decides."""
    models = p_value.shape[1]
    a, b = np.triu_indices(models, 1)
    pairs = p_value[:, a, b]
    order = np.argsort(pairs, axis=1)
    enough = np.take_along_axis(pairs, order, 1) <= (1 - CONFIDENCE) / np.arange(a.size, 0, -1)
    kept = np.cumprod(enough, axis=1, dtype=bool)
    return kept.mean()


def covered(differs, logs):
    """Which models have all ranks in their range that their truth allows."""
    truth = logs.truth
    lo, hi = rank_ranges(*better_and_worse(logs.mean, differs), np.isfinite(truth))
    higher = (truth[:, None, :] > truth[:, :, None] + 1e-12).sum(axis=2)
    lower = (truth[:, None, :] < truth[:, :, None] - 1e-12).sum(axis=2)
    return (lo <= 1 + higher) & (truth.shape[1] - lower <= hi)


def measured(logs):
    """The numbers of a row of the table."""
    a, b = logs.pairs
    verdicts = logs.score[:, a, b] > logs.critical
    gap, true_gap = logs.centre[:, a, b], logs.truth[:, a] - logs.truth[:, b]
    held = (np.abs(gap - true_gap) <= logs.critical * logs.sigma[:, a, b] + 1e-12).all(axis=1)
    wrong = (verdicts & (np.sign(gap) != np.sign(true_gap))).any(axis=1)
    differs = np.zeros(logs.score.shape, dtype=bool)
    differs[:, a, b] = differs[:, b, a] = verdicts
    leader = logs.mean.argmax(axis=1)[:, None]
    best = logs.truth >= logs.truth.max(axis=1, keepdims=True) - 1e-12
    # Models that are the best together share it.
    shares = logs.prob_best, best / best.sum(axis=1, keepdims=True)
    return (
        covered(differs, logs).all(axis=1).mean(),
        covered(logs.score > logs.own[:, :, None], logs).mean(),
        wrong.mean(),
        held.mean(),
        verdicts.mean(),
        holm(logs.p_value),
        *(np.take_along_axis(each, leader, 1).mean() for each in shares),
    )


def ranks(logs):
    """Coverage of ranks, wrong verdicts and decided pairs."""
    print(f"{logs} logs a row; population: 200 questions, 4 trials, difficulty shared with ")
    print(f"correlation {SHARED}; benchmark: 100 questions, 8 trials\n")
    print("| target | models | truth | ranks held | own rank | wrong ", end="")
    print("| intervals held | decided | Holm | prob_best says | is |\n" + "|---" * 11 + "|")
    targets = {"benchmark": (benchmark_logs, 100, 8), "population": (population_logs, 200, 4)}
    for target, (simulate, questions, n) in targets.items():
        for models in (2, 5, 10, 20, 50):
            for name, truth_of in TRUTHS.items():
                rng = np.random.default_rng([models, questions, len(name)])
                truth = np.stack([truth_of(models, rng) for _ in range(logs)])
                numbers = np.array(
                    [measured(simulate(part, questions, n, rng)) for part in parts(truth)]
                )
                cells = " | ".join(f"{each:.3f}" for each in numbers.mean(axis=0))
                print(f"| {target} | {models} | {name} | {cells} |", flush=True)


def parts(truth):
    """Logs in parts of equal size, so that they fit into memory."""
    return np.split(truth, max(1, len(truth) // 100))


def planned(logs):
    """Pairs that are undecided today: how many are settled after the trials planned for them."""
    rng = np.random.default_rng(4)
    now, z = 0.05, 1.96
    truth = rng.uniform(-0.5, 0.5, 400 * logs)
    diff = truth + now * rng.normal(size=truth.size)
    undecided = np.abs(diff) < z * now
    truth, diff = truth[undecided], diff[undecided]

    def sigma(m):
        return now / np.sqrt(1 + m / 100)

    for goal in (0.5, 0.8, 0.95):
        m = trials_with_assurance(diff, sigma, z, 1.0, goal, 10**7)
        new = truth + now * np.sqrt(100 / m) * rng.normal(size=truth.size)
        settled = np.abs((100 * diff + m * new) / (100 + m)) > z * sigma(m)
        print(f"planned with power {goal}: {settled.mean():.3f} of {truth.size} settled")


def counted(successes, n):
    """A log of counts from successes of shape (strata, models, questions)."""
    stratum, model, question = np.indices(successes.shape).reshape(3, -1)
    keys = pl.DataFrame({"log": stratum, "model": model, "question": question})
    log = pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(count.ravel()))
        for category, count in ((0, n - successes), (1, successes))
    )
    return log.scorio(by="log", count="count")


def through_the_accessor(logs):
    """The same through `compare` and `rank`, each log a stratum: 10 models, 60 questions."""
    print(
        f"\nThrough the accessor: {logs} logs, 10 models, 60 questions, 4 trials, shared difficulty"
    )
    print("| truth | options | ranks held | wrong | by itself | intervals held | told | s |")
    print("|---" * 8 + "|")
    options = [{"prior": each} for each in ("uniform", "population", None)]
    for name in ("equal", "close", "spread"):
        rng = np.random.default_rng(len(name))
        x = rng.normal(size=(logs, 60, 1))
        truth = np.stack([TRUTHS[name](10, rng) for _ in range(logs)])
        p = ndtr(SLOPE * x + np.sqrt(1 + SLOPE**2) * ndtri(truth)[:, None, :])
        log = counted(rng.binomial(4, p).swapaxes(1, 2), 4)
        for asked in [*options, {"target": "population"}]:
            true = truth if "target" in asked else p.mean(axis=1)
            started = time.perf_counter()
            numbers = accessor_numbers(log, true, asked)
            cells = " | ".join(f"{each:.3f}" for each in numbers)
            seconds = time.perf_counter() - started
            first = next(iter(asked.values()))
            print(f"| {name} | {first} | {cells} | {seconds:.1f} |", flush=True)


def accessor_numbers(log, truth, asked):
    """Of the tidy frames."""
    metric = ps.avg()
    ranked = log.rank(metric, **asked)
    own, place = ranked["log"].to_numpy(), ranked["model"].to_numpy()
    all_of_log = truth[own]
    mine = truth[own, place][:, None]
    lo = ranked["rank_lo"].to_numpy() <= 1 + (all_of_log > mine + 1e-12).sum(axis=1)
    hi = ranked["rank_hi"].to_numpy() >= 10 - (all_of_log < mine - 1e-12).sum(axis=1)
    held = ranked.with_columns(held=pl.Series(lo & hi)).group_by("log").agg(pl.col("held").all())
    found = [held["held"].mean()]
    for simultaneous in (True, False):
        pairs = log.compare(metric, simultaneous=simultaneous, **asked)
        a, b = (truth[pairs["log"], pairs[side]] for side in ("model_a", "model_b"))
        gap = np.where(np.abs(a - b) < 1e-12, 0.0, a - b)
        told = pairs["better"].is_not_null().to_numpy()
        sign = np.where(told, np.sign(pairs["diff"].to_numpy()), 0)
        marked = pairs.with_columns(
            wrong=pl.Series(told & (sign != np.sign(gap))),
            held=pl.Series((pairs["lo"].to_numpy() <= gap) & (gap <= pairs["hi"].to_numpy())),
        )
        each = marked.group_by("log").agg(pl.col("wrong").any(), pl.col("held").all())
        found.append(each["wrong"].mean())
        if simultaneous:
            rest = [each["held"].mean(), told.mean()]
    return [*found, *rest]


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=1000, help="a row; default: 1000")
    parser.add_argument("--accessor", action="store_true", help="only through compare and rank")
    arguments = parser.parse_args()
    logs, started = arguments.logs, time.perf_counter()
    if not arguments.accessor:
        ranks(logs)
        planned(logs)
    through_the_accessor(min(logs, 200))
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
