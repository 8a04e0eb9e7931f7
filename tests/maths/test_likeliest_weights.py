"""The distribution of success rates of the largest likelihood."""

import numpy as np
import pytest
from scipy.optimize import nnls

from polars_scorio.maths.free_fit import Group
from tests.maths.cases import RAGGED


def fitted(n, c):
    """The free fit of questions with so many trials and successes."""
    (n, c), questions = np.unique(np.broadcast_arrays(n, c), axis=1, return_counts=True)
    return Group.fit(n, c, questions)


def by_least_squares(likelihood, questions, steps=200):
    """The same weights by quadratic problems over all rates, each solved by active sets.

    Y. Wang (2007), J. R. Stat. Soc. B 69, 185-198.
    """
    share = questions / questions.sum()
    weight = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(steps):
        chance = likelihood @ weight
        rows = np.sqrt(share)[:, None] * (likelihood / chance[:, None] - 2)
        target = np.append(np.zeros(share.size), 1.0)
        found, _ = nnls(np.vstack([rows, np.ones(weight.size)]), target)
        step, part = found / found.sum() - weight, 1.0
        height = share @ np.log(chance)
        while part > 1e-9 and share @ np.log(likelihood @ (weight + part * step)) < height:
            part /= 2
        weight = weight + part * step
    return weight


random = np.random.default_rng(0)
LOGS = {
    "ragged": np.repeat(np.array(RAGGED)[:, :2], np.array(RAGGED)[:, 2], axis=0).T,
    "one question, one trial": (1, np.array([1])),
    "all fail": (4, np.zeros(50, dtype=int)),
    "all succeed": (64, np.full(50, 64)),
    "two kinds": (16, random.binomial(16, np.where(random.random(1000) < 0.5, 0.03, 0.97))),
    "many questions": (16, random.binomial(16, random.random(100_000))),
    "more states than rates": (
        n := random.integers(1, 65, 300),
        random.binomial(n, random.random(300)),
    ),
}


@pytest.mark.parametrize("log", LOGS)
def test_no_weights_have_a_larger_likelihood(log):
    free = fitted(*LOGS[log])
    other = by_least_squares(free.likelihood, free.questions)
    highest, found = (
        free.questions @ np.log(free.likelihood @ weight)
        for weight in (other, free.likeliest_weights)
    )
    assert (free.likeliest_weights > 0).all()
    assert free.likeliest_weights.sum() == pytest.approx(1, abs=1e-12)
    # The limit of the steps, and the rounding of sums.
    assert found == pytest.approx(highest, abs=2e-6, rel=1e-12)


def test_no_direction_leads_up():
    free = fitted(*LOGS["two kinds"])
    slope = (free.questions / (free.likelihood @ free.likeliest_weights)) @ free.likelihood
    assert slope.max() <= free.questions.sum() + 1e-6
