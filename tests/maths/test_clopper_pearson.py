"""Intervals of an effective number of questions, against SciPy, and at the ends of the scale."""

import numpy as np
import pytest

from polars_scorio.maths.variance_estimates import Estimate, clopper_pearson_interval


def test_an_interval_of_a_million_questions_is_normal():
    p = np.array([0.3])
    narrow = Estimate(p, 1 - p, p, 1 - p, p * (1 - p) / 1e9, np.array([1.0]))
    lo, hi = clopper_pearson_interval(narrow, 0.95)
    # Clopper and Pearson's ends are those of one question more: 2e-5 of this width.
    assert hi - lo == pytest.approx(2 * 1.959964 * np.sqrt(0.21e-9), rel=1e-4)
    wide = Estimate(p, 1 - p, p, 1 - p, p * (1 - p) / 3e8, np.array([1.0]))
    less = Estimate(p, 1 - p, p, 1 - p, p * (1 - p) / 3.4e8, np.array([1.0]))
    for end, inner in zip(
        clopper_pearson_interval(wide, 0.95), clopper_pearson_interval(less, 0.95), strict=True
    ):
        # Both sides of the switch from the Beta integral, in standard deviations.
        ratio = (end - p) / (inner - p)
        # Clopper and Pearson's one question more, and the skewness: 4e-6 here.
        assert ratio == pytest.approx(np.sqrt(3.4 / 3), rel=1e-4)
