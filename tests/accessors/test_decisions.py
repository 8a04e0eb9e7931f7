"""What decisions promise, by simulation: true rates are known, and seeds are fixed."""

from math import sqrt

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps


def counted(n: np.ndarray, c: np.ndarray) -> pl.DataFrame:
    """A log of counts from trials and successes, shape (strata, models, questions)."""
    stratum, model, question = np.indices(c.shape).reshape(3, -1)
    keys = pl.DataFrame({"stratum": stratum, "model": model, "question": question})
    n, c = np.broadcast_to(n, c.shape).ravel(), c.ravel()
    return pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(number))
        for category, number in ((0, n - c), (1, c))
    )


def asked(log: pl.DataFrame):
    return log.scorio(by="stratum", count="count", prior="uniform")


# --- prob_better


@pytest.fixture(scope="module")
def pairs() -> tuple[pl.DataFrame, np.ndarray]:
    """All pairs of 20 models with uniform true rates of ten questions, and their true differences.

    Sixty strata: 11,400 pairs, of 1,200 models.
    """
    random = np.random.default_rng(0)
    rates = random.random((60, 20, 10))
    log = counted(np.array(8), random.binomial(8, rates))
    rows, truth = asked(log).compare(ps.bayes(), simultaneous=False), rates.mean(axis=2)
    a, b = (truth[rows["stratum"], rows[name]] for name in ("model_a", "model_b"))
    return rows, a - b


@pytest.mark.parametrize("around", [0.05, 0.2, 0.45, 0.55, 0.65, 0.8, 0.95])
def test_prob_is_the_share_of_pairs_whose_first_model_is_better(pairs, around):
    rows, truth = pairs
    right = pl.Series(truth > 0)
    near = (rows["prob_better"] - around).abs() < 0.03
    share, size = right.filter(near).mean(), near.sum()
    assert size > 300
    # Three standard deviations of a share, as if only half of the pairs were independent.
    spread = sqrt(around * (1 - around) / (size / 2))
    assert share == pytest.approx(rows["prob_better"].filter(near).mean(), abs=3 * spread)


def test_the_interval_of_the_difference_covers_it(pairs):
    rows, truth = pairs
    covered = ((rows["lo"].to_numpy() <= truth) & (truth <= rows["hi"].to_numpy())).mean()
    # Five standard deviations of a share of 11,400, were the pairs independent: they share models.
    assert covered == pytest.approx(0.95, abs=0.01)
    sure = rows["better"].is_not_null().to_numpy()
    winner = rows["better"].to_numpy()[sure]
    right = np.where(truth > 0, rows["model_a"], rows["model_b"])[sure]
    assert sure.sum() > 2_000
    assert (winner == right).mean() > 0.95


# --- next_trials


def after(rates: np.ndarray, now: np.ndarray, n: int, extra: np.ndarray) -> pl.DataFrame:
    """The report after further trials."""
    more = np.random.default_rng(6).binomial(extra, rates)
    return asked(counted(n + extra, now + more)).report(ps.bayes(), ps.avg())


def allocated(now: np.ndarray, n: int, budget: int) -> np.ndarray:
    rows = asked(counted(np.array(n), now)).next_trials(budget)
    return rows["extra_trials"].to_numpy().astype(int).reshape(now.shape)


@pytest.fixture(scope="module")
def half() -> tuple[np.ndarray, np.ndarray]:
    """40 questions, half of them always right: true rates, and successes of 32 trials each."""
    random = np.random.default_rng(5)
    rates = np.ones((1_500, 1, 40))
    rates[..., ::2] = random.uniform(0.2, 0.8, (1_500, 1, 20))
    return rates, random.binomial(32, rates)


@pytest.mark.slow
def test_the_allocation_beats_equal_spread(half):
    rates, now = half
    spent = allocated(now, 32, 32 * now.size)
    assert spent.sum() == 32 * now.size
    equal, best = (after(rates, now, 32, extra) for extra in (np.full(now.shape, 32), spent))
    truth = rates.mean(axis=(1, 2))
    for name in ("bayes", "avg"):
        variances = [(part.filter(metric=name)["sigma"] ** 2).mean() for part in (best, equal)]
        assert variances[0] < 0.88 * variances[1]
    # mu of the average has no bias. That of the uniform prior has one, and more of it where trials
    # are few: what the notes of `next_trials` say.
    errors, biased = (
        [
            ((rows.filter(metric=name)["mu"].to_numpy() - truth) ** 2).mean()
            for rows in (best, equal)
        ]
        for name in ("avg", "bayes")
    )
    assert biased[0] > biased[1]
    # Half of the questions share the budget: 96 trials of each and not 64. The ratio of two
    # means of 1,500 squares has a standard deviation of 2/3 sqrt(4 / 1,500) = 0.034, were they
    # independent: two of these.
    assert errors[0] / errors[1] == pytest.approx(64 / 96, abs=0.07)
