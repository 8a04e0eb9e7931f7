"""Models that are compared on a sample of questions."""

import numpy as np
import pytest
from scipy.stats import t

from polars_scorio.maths.covariance import paired_means
from polars_scorio.subjects.sampled_scores import SampledScores

VALUES = np.random.default_rng(1).random((12, 3))
SCORES = SampledScores(paired_means(VALUES, np.array([0]), 1.0), 1.0, 1.0, (0.0, 1.0))
FIRST, SECOND = np.array([0, 0]), np.array([1, 2])


def test_ends_by_a_normal_critical_value_have_students_tail():
    lo, hi = SCORES.pair_ends(FIRST, SECOND)(np.full((1, 2), 1.6448536269514722))
    found = SCORES.pair_differences(FIRST, SECOND, np.full((1, 2), t.ppf(0.95, 11)))
    np.testing.assert_allclose(lo, found.lo)
    np.testing.assert_allclose(hi, found.hi)


def test_without_a_plan_there_is_one_look():
    assert not SCORES.repeated
    assert np.isnan(SCORES.pair_information(FIRST, SECOND)).all()


@pytest.mark.parametrize("share", [0.25, 1.0, 4.0])
def test_with_a_plan_all_verdicts_need_more(share):
    planned = SampledScores(
        SCORES.models, 1.0, 1.0, (0.0, 1.0), units=SCORES.units, information=np.array([share])
    )
    c = np.full((1, 2), t.ppf(0.975, 11))
    once, repeated = (each.pair_differences(FIRST, SECOND, c) for each in (SCORES, planned))
    assert (repeated.lo < once.lo).all()
    assert (repeated.hi > once.hi).all()
    assert planned.pair_information(FIRST, SECOND).tolist() == [[share, share]]
    assert (planned.extreme_models(0.95)[0] | ~SCORES.extreme_models(0.95)[0]).all()
