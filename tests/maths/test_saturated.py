"""The ends of logs without a failure, or without a success."""

from math import sqrt

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import polars_scorio as ps
from polars_scorio.maths.credit_at_rates import RootDraw
from polars_scorio.maths.credit_numbers import saturated_ends, saturated_groups
from polars_scorio.maths.draws import all_success, any_success, at_least
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.questions import States
from polars_scorio.maths.variance import fixed_gains

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure

FOUR = [fixed_gains(gains) for gains in (all_success(4), any_success(1), any_success(4))]


def fitted(*groups: list[tuple[int, int]]) -> Calibrated:
    """Questions of each group: failures and successes."""
    counts = np.array([question for group in groups for question in group])
    group = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    one = np.ones(len(counts), dtype=int)
    return Calibrated.fit(States.tally(counts, 0 * counts, group, one, len(groups)))


def made_log(questions: int, trials: int, category: int) -> pl.DataFrame:
    rows = [(q, t, category) for q in range(questions) for t in range(trials)]
    return pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")


def test_the_lower_end_is_where_no_failure_has_the_chance_of_an_error():
    ends = saturated_ends(fitted([(0, 4)] * 12), FOUR, 0.95)
    assert ends.lo[0, 0] == pytest.approx(0.05 ** (1 / 12))
    assert ends.lo[1, 0] == pytest.approx(0.05 ** (1 / 48))
    # The rates of Pass@4 are lowest where one question has all failures that were not seen.
    assert ends.lo[2, 0] == pytest.approx(1 - (1 - 0.05 ** (1 / 4)) ** 4 / 12)
    assert (ends.hi == -np.inf).all()


def test_the_upper_end_of_failures_mirrors_it():
    right, wrong = (
        saturated_ends(fitted([outcomes] * 7), FOUR, 0.9) for outcomes in ((0, 4), (4, 0))
    )
    np.testing.assert_allclose(wrong.hi[2], 1 - right.lo[0])
    np.testing.assert_allclose(wrong.hi[1], 1 - right.lo[1])
    np.testing.assert_allclose(wrong.hi[0], 1 - right.lo[2])
    assert (wrong.lo == np.inf).all()


@pytest.mark.parametrize("threshold", [1, 2, 3, 4])
def test_no_other_rates_of_three_questions_have_a_lower_mean(threshold):
    """A search over all rates at which no failure has a chance of .05 finds none."""
    ends = saturated_ends(fitted([(0, 4)] * 3), [fixed_gains(at_least(threshold, 4))], 0.95)

    def mean(shares: np.ndarray) -> float:
        shares = np.abs(shares) / np.abs(shares).sum()
        return float(np.mean(binom.sf(threshold - 1, 4, 0.05 ** (shares / 4))))

    rng = np.random.default_rng(0)
    starts = rng.dirichlet([0.3] * 3, 30)
    least = min(minimize(mean, start, method="Nelder-Mead").fun for start in starts)
    assert ends.lo[0, 0] == pytest.approx(least, abs=0.004)


def test_groups_with_both_outcomes_ask_for_nothing():
    groups = fitted([(0, 4)] * 3, [(1, 3)], [(4, 0)])
    assert saturated_groups(groups).tolist() == [True, False, True]
    ends = saturated_ends(groups, FOUR, np.array([0.95, 0.95, 0.5]))
    assert (np.isfinite(ends.lo) == [[True, False, False]] * 3).all()
    assert (np.isfinite(ends.hi) == [[False, False, True]] * 3).all()
    assert ends.hi[1, 2] == pytest.approx(1 - 0.5 ** (1 / 4))


def test_unequal_trials_count_as_their_mean():
    """All rates at .05^(1/20) give 20 trials without a failure a chance of .05."""
    ends = saturated_ends(fitted([(0, 4), (0, 16)]), FOUR, 0.95)
    assert ends.lo[1, 0] == pytest.approx(0.05 ** (1 / 20))
    assert ends.lo[0, 0] == pytest.approx(0.05 ** (4 / 20))


def test_a_root_of_credits_is_taken_at_the_rates():
    ends = saturated_ends(fitted([(0, 4)] * 5), [RootDraw(4, (0.5, 0.5))], 0.95)
    p = 0.05 ** (1 / 20)
    assert ends.lo[0, 0] <= sqrt((1 - (1 - p) ** 4) * p**4) + 1e-12


@pytest.mark.parametrize(("questions", "trials"), [(1, 16), (5, 16), (12, 4), (100, 8)])
def test_reports_reach_as_far(questions, trials):
    log = made_log(questions, trials, 1)
    metrics = ps.pass_hat_k(trials), ps.geom_ds_at_k(trials), ps.pass_at_k(trials)
    lo = log.scorio(model=None, validate=False).report(*metrics)["lo"].to_list()
    assert lo[0] == pytest.approx(0.05 ** (1 / questions))
    assert lo[1] == pytest.approx(sqrt(lo[0] * lo[2]))
    failed = made_log(questions, trials, 0)
    (hi,) = failed.scorio(model=None, validate=False).report(ps.pass_at_k(trials))["hi"]
    assert hi == pytest.approx(1 - 0.05 ** (1 / questions))


def test_a_mean_over_equal_strata_reaches_as_far_as_that_over_questions():
    log = made_log(12, 4, 1).with_columns(bench=pl.col("question") % 3)
    report = log.scorio(model=None, by="bench").report(ps.pass_hat_k(4), overall="macro")
    macro = report.filter(pl.col("bench").is_null())
    assert macro["lo"].item() == pytest.approx(0.05 ** (1 / 12))


def test_a_mean_over_unequal_strata_knows_that_some_questions_weigh_more():
    small = made_log(2, 4, 1).with_columns(bench=pl.lit("small"))
    large = made_log(100, 4, 1).with_columns(bench=pl.lit("large"))
    report = (
        pl.concat([small, large.with_columns(pl.col("question") + 2)])
        .scorio(model=None, by="bench")
        .report(ps.pass_hat_k(4), overall="macro")
    )
    lo = report.filter(pl.col("bench").is_null())["lo"].item()
    assert lo <= 1 - 0.25 * (1 - 0.05)  # one of two questions has all that was not seen
