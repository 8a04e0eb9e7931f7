"""Models that are compared on a sample of questions."""

import numpy as np
import pytest
from scipy.stats import t

from polars_scorio.maths.comparison import Family, sampled
from polars_scorio.maths.covariance import paired_means
from tests.differences import plus_two

VALUES = np.random.default_rng(1).random((12, 3))
JOINT = paired_means(VALUES, np.array([0]), 1.0)
SCORES = sampled(JOINT, limit=1.0)
FIRST, SECOND = np.array([0, 0]), np.array([1, 2])


def test_ends_by_a_normal_critical_value_have_students_tail():
    found = SCORES.differences(FIRST, SECOND, np.full((1, 2), 1.6448536269514722))
    for pair, other in enumerate(SECOND):
        centre, sigma, freedom = plus_two(VALUES[:, 0] - VALUES[:, other], (-1, 1))
        reach = t.ppf(0.95, freedom) * sigma
        # Products of deviations, which cancel partly: 1e-15 here.
        assert found.sigma[0, pair] == pytest.approx(sigma, rel=1e-12)
        assert found.lo[0, pair] == pytest.approx(centre - reach, rel=1e-12)
        assert found.hi[0, pair] == pytest.approx(centre + reach, rel=1e-12)


def test_without_a_plan_there_is_one_look():
    assert SCORES.information is None
    assert np.isnan(SCORES.pair_information(FIRST, SECOND)).all()


@pytest.mark.parametrize("share", [0.25, 1.0, 4.0])
def test_with_a_plan_all_verdicts_need_more(share):
    planned = sampled(JOINT, limit=1.0, information=np.array([share]))
    c = np.full((1, 2), 1.959963984540054)
    once, repeated = (each.differences(FIRST, SECOND, c) for each in (SCORES, planned))
    assert (repeated.lo < once.lo).all()
    assert (repeated.hi > once.hi).all()
    assert planned.pair_information(FIRST, SECOND).tolist() == [[share, share]]
    family = Family(0.95)
    assert (family.could_be_best(planned) | ~family.could_be_best(SCORES)).all()
