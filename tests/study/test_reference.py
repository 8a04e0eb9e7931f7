"""Every number against references that share no code with the package.

One is exact: the formulas in fractions, for ragged logs and huge counts. The other is the package
scorio, which takes a matrix for each model.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from math import comb, prod, sqrt

import numpy as np
import polars as pl
import pytest
from scorio import eval as scorio

import polars_scorio as ps
from tests.made_logs import drawn, long

PAIR = ["domain", "model"]
MOMENTS = ["estimate", "mu", "sigma"]
RUBRIC = (0, 0.5, 1)
METRICS = (ps.bayes(RUBRIC), ps.avg(RUBRIC), ps.pass_at_k([1, 3, 20]), ps.pass_hat_k([1, 3, 20]))
# Rounding only: the counts are small.
TIGHT = 1e-12


# --- exact fractions


def weighted(c: list[int], d: list[int], *, rescaled: bool) -> tuple[Fraction, ...]:
    """Estimate, mean and variance of Bayes@N, or of avg@N, for one question."""
    w = [Fraction(weight) for weight in RUBRIC]
    nu = [1 + cj + (0 if rescaled else dj) for cj, dj in zip(c, d, strict=True)]
    average = sum(wj * cj for wj, cj in zip(w, c, strict=True)) / sum(c)
    mean, square = (sum(wj**p * nj for wj, nj in zip(w, nu, strict=True)) / sum(nu) for p in (1, 2))
    variance = (square - mean**2) / (sum(nu) + 1)
    if rescaled:
        return average, average, variance * Fraction(sum(nu), sum(c)) ** 2
    return average, mean, variance


def unanimous(n: int, c: int, a: int, b: int, k: int) -> tuple[Fraction | None, Fraction, Fraction]:
    """Estimate, mean and variance of p^k for one question, p ~ Beta(a, b)."""

    def power(k: int) -> Fraction:
        return Fraction(prod(a + i for i in range(k)), prod(a + b + i for i in range(k)))

    estimate = None if k > n else Fraction(comb(c, k), comb(n, k))
    return estimate, power(k), power(2 * k) - power(k) ** 2


def exact(metric: str, k: int | None, c: list[int], d: list[int]) -> tuple[Fraction | None, ...]:
    """Estimate, mean and variance of a metric for one question; the last category is a success."""
    if k is None:
        return weighted(c, d, rescaled=metric.startswith("avg"))
    n, hits, a, b = sum(c), c[-1], 1 + c[-1] + d[-1], 1 + sum(c[:-1]) + sum(d[:-1])
    if metric == "pass_hat_k":
        return unanimous(n, hits, a, b, k)
    estimate, mean, variance = unanimous(n, n - hits, b, a, k)
    return None if estimate is None else 1 - estimate, 1 - mean, variance


def by_question(log: pl.DataFrame, prior: pl.DataFrame) -> dict[tuple[str, ...], list[tuple]]:
    """Of each stratum and model: trials and prior trials of its questions, by category."""
    tallies = [
        Counter(frame.select(*PAIR, "question", "category").iter_rows()) for frame in (log, prior)
    ]
    groups = defaultdict(list)
    for key in {row[:3] for row in tallies[0]}:
        groups[key[:2]].append(tuple([tally[(*key, j)] for j in range(3)] for tally in tallies))
    return groups


@pytest.mark.parametrize("with_prior", [False, True])
def test_ragged_logs_follow_the_formulas(with_prior):
    log, prior = drawn(1, range(8), most=9), drawn(2, range(3, 10), most=4)
    prior = prior if with_prior else prior.clear()
    accessor = log.scorio(by="domain", success=2, prior="uniform")
    rows = accessor.report(*METRICS, prior=prior if with_prior else "uniform")
    groups = by_question(log, prior)
    assert rows.height == 8 * len(groups)
    for row in rows.rows(named=True):
        questions = groups[row["domain"], row["model"]]
        estimates, means, variances = zip(
            *(exact(row["metric"], row["k"], c, d) for c, d in questions), strict=True
        )
        m = len(questions)
        if None in estimates:
            assert row["estimate"] is None
        else:
            assert row["estimate"] == pytest.approx(float(sum(estimates) / m), rel=TIGHT)
        assert row["mu"] == pytest.approx(float(sum(means) / m), rel=TIGHT)
        assert row["sigma"] == pytest.approx(sqrt(sum(variances)) / m, rel=TIGHT)


@pytest.mark.parametrize("failures", [0, 1, 10**6, 10**9 - 7])
@pytest.mark.parametrize("k", [1, 7, 1024])
def test_huge_counts_lose_no_digits(failures, k):
    counts = [failures, 10**9]
    log = pl.DataFrame({"model": "m", "question": 1, "category": [0, 1], "count": counts})
    published = log.scorio(count="count", prior="uniform")
    rows = published.report(ps.pass_at_k(k), ps.pass_hat_k(k))
    for row in rows.rows(named=True):
        estimate, mean, variance = exact(row["metric"], k, counts, [0, 0])
        expected = (float(estimate), float(mean), sqrt(variance))
        # What the package promises for large n and k.
        assert tuple(row[name] for name in MOMENTS) == pytest.approx(expected, rel=1e-9)
        assert row["trials"] == sum(counts)


# --- the package scorio


def matrices(rng: np.random.Generator, top: int) -> dict[str, np.ndarray]:
    """Outcomes 0..top of three models, each with its own number of questions and of trials."""
    return {model: rng.integers(0, top + 1, rng.integers(1, 11, 2)) for model in "abc"}


def stacked(matrices: dict[str, np.ndarray]) -> pl.DataFrame:
    return pl.concat(long(matrix.tolist(), model) for model, matrix in matrices.items())


def numbers(rows: pl.DataFrame) -> np.ndarray:
    return rows.select("estimate", "mu", "sigma", "lo", "hi").to_numpy()


@pytest.mark.parametrize("seed", range(30))
def test_weighted_averages_equal_those_of_scorio(seed):
    rng = np.random.default_rng(seed)
    top, prior_trials = rng.integers(1, 5), rng.integers(0, 4)
    w = rng.normal(size=top + 1)
    logs = matrices(rng, top)
    priors = {model: rng.integers(0, top + 1, (len(R), prior_trials)) for model, R in logs.items()}
    interval = {"confidence": rng.uniform(0.5, 0.99), "bounds": (-0.5, 0.5)}
    expected = [
        (scorio.avg(R, w)[0], *numbers)
        for model, R in logs.items()
        for numbers in (
            scorio.bayes_ci(R, w, priors[model], **interval),
            scorio.avg_ci(R, w, **interval),
        )
    ]
    rows = stacked(logs).scorio.report(
        ps.bayes(w, bounds=interval["bounds"]),
        ps.avg(w, bounds=interval["bounds"]),
        prior=stacked(priors) if prior_trials else "uniform",
        confidence=interval["confidence"],
    )
    # Both use floats, but other formulas: a variance is a difference that loses digits.
    np.testing.assert_allclose(numbers(rows), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(30))
def test_draws_equal_those_of_scorio(seed):
    rng = np.random.default_rng(seed)
    logs = matrices(rng, 1)
    most = min(R.shape[1] for R in logs.values())
    k = sorted({1, int(rng.integers(1, most + 1)), most})
    confidence = rng.uniform(0.5, 0.99)
    arguments = {"alpha0": rng.uniform(0.2, 3), "beta0": rng.uniform(0.2, 3)}
    expected = [
        (
            estimate(R, size),
            *interval(R, size, confidence=confidence, bounds=(0.2, 0.8), **arguments),
        )
        for R in logs.values()
        for estimate, interval in (
            (scorio.pass_at_k, scorio.pass_at_k_ci),
            (scorio.pass_hat_k, scorio.pass_hat_k_ci),
        )
        for size in k
    ]
    metrics = (ps.pass_at_k(k, bounds=(0.2, 0.8)), ps.pass_hat_k(k, bounds=(0.2, 0.8)))
    rows = stacked(logs).scorio.report(
        *metrics, confidence=confidence, prior=(*arguments.values(),)
    )
    # Both use floats, but other formulas: a variance is a difference that loses digits.
    np.testing.assert_allclose(numbers(rows), expected, rtol=1e-9, atol=1e-12)
