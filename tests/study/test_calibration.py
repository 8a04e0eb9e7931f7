"""How often a nominal 95 % interval holds the true accuracy, in seeded simulations."""

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure

REPLICATES = 400


def hard(random, shape):
    return random.beta(0.2, 2, shape)


def math(random, shape):
    return np.where(
        random.random(shape) < 0.5, random.beta(0.3, 3, shape), random.beta(5, 0.5, shape)
    )


def aime(random, shape):
    kind = random.random(shape)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.6, 1.0, random.random(shape)))


def counted(rates, n, random) -> pl.DataFrame:
    """Counts of as many models as `rates` has rows, each with its own questions."""
    c = random.binomial(n, rates)
    models, questions = (index.ravel() for index in np.indices(rates.shape))
    keys = pl.DataFrame({"model": models, "question": questions})
    outcomes = {1: c.ravel(), 0: n - c.ravel()}
    return pl.concat(
        keys.with_columns(category=pl.lit(category, pl.Int64), count=pl.Series(count))
        for category, count in outcomes.items()
    )


def bayes(log, **options):
    return log.scorio(count="count").bayes(**options)


def coverage(rows, truth):
    return ((rows["lo"].to_numpy() <= truth) & (truth <= rows["hi"].to_numpy())).mean()


# The standard error of a coverage of .95 in 400 replicates is .011.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("population", "questions", "n"), [(hard, 30, 4), (math, 30, 4), (aime, 10, 16)]
)
def test_partial_pooling_holds_what_it_promises(population, questions, n):
    random = np.random.default_rng(1)
    rates = population(random, (REPLICATES, questions))
    rows = bayes(counted(rates, n, random), prior="population")
    assert 0.92 <= coverage(rows, rates.mean(axis=1)) <= 0.99


def test_the_published_interval_misses_the_truth_of_a_hard_benchmark():
    random = np.random.default_rng(1)
    rates = hard(random, (REPLICATES, 30))
    assert coverage(bayes(counted(rates, 4, random)), rates.mean(axis=1)) < 0.05


@pytest.mark.slow
def test_models_with_different_numbers_of_trials_can_be_compared():
    random = np.random.default_rng(2)
    rates = hard(random, (REPLICATES, 30))
    logs = [counted(rates, n, random) for n in (2, 16)]

    def share_of_equals(**options):
        a, b = (bayes(log, **options) for log in logs)
        z = (a["mu"] - b["mu"]) / (a["sigma"] ** 2 + b["sigma"] ** 2).sqrt()
        return (z.abs() <= 1.96).mean()

    assert 0.92 <= share_of_equals(prior="population") <= 0.99
    assert share_of_equals() < 0.05  # the published prior makes equals look far apart
