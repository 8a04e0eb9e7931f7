import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, binomtest

from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.interval import Weighted, credit_estimates
from polars_scorio.maths.judges import (
    corrected_credit,
    homogeneity_p,
    judged_variance,
    rates_of_labels,
    shared_judge,
    stratified_rates,
)
from polars_scorio.maths.labels import (
    agreement_shares,
    cohens_kappa,
    gwets_ac1,
    labels_for_width,
    rate_interval,
)
from polars_scorio.maths.questions import States
from tests.maths.cases import JUDGES, rates_of

COUNTS = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda pair: (min(pair), max(pair)))


def test_rates_are_shares_of_right_and_of_wrong_answers():
    rates = rates_of_labels(np.array([[20.0, 18.0, 10.0, 4.0]]))
    assert rates.observed[:, 0] == pytest.approx([18 / 22, 6 / 8])
    assert rates.labels == 30


def test_no_right_answer_leaves_the_sensitivity_unknown():
    rates = rates_of((0, 0), (5, 10))
    assert np.isnan(rates.observed[0])
    assert not rates.is_informative(1.96)


@given(COUNTS, COUNTS, st.floats(0.5, 3.0))
def test_a_judge_who_is_informative_is_better_than_a_coin(sensitivity, specificity, z):
    rates = rates_of(sensitivity, specificity)
    assert 0 < rates.adjusted[0] < 1
    assert not rates.is_informative(z) or rates.adjusted_index > 0
    assert not rates.is_informative(z + 1) or rates.is_informative(z)


def test_homogeneity_is_pearsons_test_without_correction():
    successes, trials = np.array([9.0, 5.0, 14.0]), np.array([10.0, 10.0, 20.0])
    table = np.stack([successes, trials - successes])
    expected = scipy.stats.chi2_contingency(table, correction=False).pvalue
    assert homogeneity_p(successes, trials) == pytest.approx(expected, rel=1e-12)


def test_groups_without_labels_have_no_say_in_homogeneity():
    assert homogeneity_p(np.array([9.0, 0.0]), np.array([10.0, 0.0])) == 1.0
    assert shared_judge(rates_of((9, 10), (8, 10)))


def test_judges_that_differ_in_one_rate_are_not_shared():
    first, other = rates_of((90, 100), (80, 100)), rates_of((90, 100), (40, 100))
    both = rates_of((90, 100), (80, 100)).at(np.array([0, 0]))
    assert shared_judge(both)
    both.kept[1, 1] = other.kept[1].item()
    assert not shared_judge(both)
    assert shared_judge(first)


def test_labels_at_random_give_nearly_the_same_rates_either_way():
    labels = np.array([[500.0, 400.0, 500.0, 50.0]])
    drawn, weighed = rates_of_labels(labels), stratified_rates(labels, np.array([0.5]))
    np.testing.assert_allclose(drawn.observed, weighed.observed)
    # Verdicts on all trials say how many are right, so each label says a little more.
    assert 1 <= weighed.labelled[0] / drawn.labelled[0] < 1.5


def test_a_verdict_without_an_error_has_a_variance():
    rates = stratified_rates(np.array([[20.0, 20.0, 10.0, 0.0]]), np.array([0.4]))
    assert rates.observed[0] == 1
    assert np.isfinite(rates.counts).all()
    assert 5 < rates.labelled[0] < 100


Z = ndtri(0.975)
PERFECT = rates_of((1e9, 1e9), (1e9, 1e9))


def judged(rows, groups=None):
    """States: trials, successes and questions of each."""
    n, c, questions = np.array(rows).T
    group = 0 * n if groups is None else np.array(groups)
    counts = np.column_stack([n - c, c])
    return States.tally(counts, 0 * counts, group, questions, int(group.max()) + 1)


@pytest.fixture(scope="module")
def verdicts():
    return judged([(8, 0, 3), (8, 2, 4), (8, 5, 6), (8, 7, 5), (8, 8, 2)])


def test_estimates_and_slopes_are_those_of_the_study():
    for row in JUDGES["corrected"]:
        rows = [(state["n"], state["c"], state["questions"]) for state in row["states"]]
        rates = rates_of(row["sensitivity"], row["specificity"])
        noisy = judged_variance(judged(rows), fixed_gains(any_success(row["k"])), rates)
        calibration = noisy.total_variance(rates) - noisy.variance
        found = (noisy.estimate, *noisy.slopes, calibration)
        names = ("estimate", "slope_sensitivity", "slope_specificity", "calibration_variance")
        for number, name in zip(found, names, strict=True):
            assert number == pytest.approx(row[name], abs=1e-9)


@pytest.mark.parametrize("gains", [any_success(3), all_success(2)])
def test_a_perfect_judge_changes_nothing(verdicts, gains):
    plain = credit_estimates(Weighted(verdicts), [fixed_gains(gains)]).at(0)
    noisy = judged_variance(verdicts, fixed_gains(gains), PERFECT)
    assert noisy.estimate == pytest.approx(plain.estimate, abs=1e-7)
    assert noisy.variance == pytest.approx(plain.variance * plain.factor, rel=1e-5)
    rate = noisy.rate(PERFECT, Z)
    assert rate.hi - rate.lo < 1


def test_groups_have_their_own_fits():
    first, other = [(4, 1, 5), (4, 3, 5)], [(4, 0, 5), (4, 4, 9)]
    rates, gains = rates_of((88, 100), (78, 100)), fixed_gains(any_success(2))
    both = judged_variance(judged([*first, *other], [0, 0, 1, 1]), gains, rates)
    for place, rows in enumerate((first, other)):
        alone = judged_variance(judged(rows), gains, rates)
        assert both.estimate[place] == pytest.approx(alone.estimate.item())
        assert both.variance[place] == pytest.approx(alone.variance.item())


def test_draws_beyond_the_trials_have_no_number(verdicts):
    noisy = judged_variance(verdicts, fixed_gains(any_success(9)), PERFECT)
    assert np.isnan(noisy.estimate)
    assert np.isnan(noisy.rate(PERFECT, Z).lo)


def test_a_poor_judge_has_no_number_for_large_draws(verdicts):
    rates = rates_of((60, 100), (55, 100))
    noisy = judged_variance(verdicts, fixed_gains(any_success(8)), rates)
    assert np.isnan(noisy.rate(rates, Z)).all()


def test_a_population_is_at_least_as_noisy(verdicts):
    rates, gains = rates_of((88, 100), (78, 100)), fixed_gains(any_success(2))
    here = judged_variance(verdicts, gains, rates)
    everywhere = judged_variance(verdicts, gains, rates, tail=0.025)
    assert everywhere.variance > here.variance
    assert everywhere.estimate == here.estimate


# Thousandths: denormal numbers overflow in the oracle.
SHARES = st.integers(0, 1_000).map(lambda i: i / 1_000)
RATES = st.integers(600, 1_000).map(lambda i: i / 1_000)
CREDITS = st.lists(st.integers(-200, 200).map(lambda i: i / 100), min_size=2, max_size=7).map(
    np.array
)


def test_credits_are_those_of_the_study():
    for row in JUDGES["credit"]:
        found = corrected_credit(np.array(row["credit"], dtype=float), row["se"], row["sp"])
        np.testing.assert_allclose(found, row["corrected"], atol=1e-12)


@given(CREDITS)
def test_a_perfect_judge_changes_no_credit(credit):
    np.testing.assert_allclose(corrected_credit(credit, 1.0, 1.0), credit, atol=1e-15)


@given(CREDITS, RATES, RATES, SHARES)
def test_verdicts_have_the_expected_credit_of_the_truth(credit, se, sp, theta):
    k = credit.size - 1
    judged = theta * se + (1 - theta) * (1 - sp)
    found = binom.pmf(np.arange(k + 1), k, judged) @ corrected_credit(credit, se, sp)
    expected = binom.pmf(np.arange(k + 1), k, theta) @ credit
    # Weights of up to 3 for each verdict of a draw multiply rounding errors.
    assert found == pytest.approx(expected, abs=1e-12 * (max(se, sp) / (se + sp - 1)) ** k * 50)


@given(st.integers(1, 6), RATES, RATES)
def test_pass_at_k_has_a_closed_form(k, se, sp):
    credit, j, index = (np.arange(k + 1) > 0).astype(float), np.arange(k + 1), se + sp - 1
    closed = 1 - ((se - 1) / index) ** j * (se / index) ** (k - j)
    np.testing.assert_allclose(corrected_credit(credit, se, sp), closed, rtol=1e-9, atol=1e-9)


TABLES = st.lists(st.integers(1, 40), min_size=4, max_size=4).map(
    lambda counts: np.array(counts, dtype=float).reshape(2, 2, 1) / sum(counts)
)


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.8, 0.95]))
def test_intervals_are_those_of_clopper_and_pearson(part, rest, confidence):
    whole = part + rest
    expected = binomtest(part, whole).proportion_ci(confidence)
    lo, hi = rate_interval(np.array([float(part)]), np.array([float(whole)]), confidence)
    assert (lo.item(), hi.item()) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_no_labels_have_no_interval():
    assert np.isnan(rate_interval(np.zeros(1), np.zeros(1), 0.95)).all()


def test_shares_follow_from_both_rates():
    shares = agreement_shares(rates_of((9, 10), (8, 10)), np.array([0.5]))
    np.testing.assert_allclose(shares[..., 0], [[0.4, 0.05], [0.1, 0.45]])


def test_kappa_and_ac1_reproduce_published_numbers():
    # K. Gwet (2008), table 1 of the paradox: 118 and 0 agreements, 5 and 2 disagreements.
    shares = np.array([[118.0, 5.0], [2.0, 0.0]])[..., None] / 125
    assert cohens_kappa(shares).item() == pytest.approx(-0.0234, abs=5e-4)
    assert gwets_ac1(shares).item() == pytest.approx(0.941, abs=5e-4)


@given(TABLES)
def test_agreement_beyond_chance_is_symmetric_and_at_most_1(shares):
    for agreement in (cohens_kappa, gwets_ac1):
        found = agreement(shares).item()
        assert found <= 1
        assert agreement(shares[::-1, ::-1]).item() == pytest.approx(found)
        assert agreement(shares.swapaxes(0, 1)).item() == pytest.approx(found)


def test_a_perfect_judge_agrees_and_needs_no_labels():
    shares = np.array([[0.4, 0.0], [0.0, 0.6]])[..., None]
    assert cohens_kappa(shares) == gwets_ac1(shares) == pytest.approx(1)
    assert labels_for_width(shares, np.array([0.0]), 0.1, 0.95) == 0
    assert np.isnan(labels_for_width(shares, np.array([0.1]), 0.1, 0.95))
