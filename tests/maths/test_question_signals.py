import numpy as np
import pytest

from polars_scorio.maths.question_signals import family_means, question_signals
from tests.documents import study_numbers

VECTORS = study_numbers("rewards")["items"]
NAMES = ("spread", "rest_correlation", "discrimination", "pvalue", "qvalue")


def signals_of(c, n, size=None):
    """The signals of a table of successes, with a row for each question."""
    mean = np.asarray(c) / n
    size = np.ones(len(mean), dtype=np.int64) if size is None else size
    noise = mean * (1 - mean) / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    return question_signals(mean, noise, size)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_the_study(name):
    signals = signals_of(np.array(VECTORS["c"]).T, VECTORS["n"])
    studied = {"pvalue": "p_reversed", "qvalue": "q_reversed"}.get(name, name)
    expected = np.array(VECTORS["columns"][studied], dtype=float)
    # Roots of differences that are zero but for rounding are up to 1e-8.
    np.testing.assert_allclose(getattr(signals, name), expected, atol=1e-8)


def test_means_and_noise_of_families_are_those_of_the_study():
    (case,) = study_numbers("repairs")["families"]
    family = np.unique(case["family"], return_inverse=True)[1]
    mean, noise = family_means(np.array(case["mean"]), np.array(case["noise"]), family)
    np.testing.assert_allclose(mean, case["family_mean"], rtol=1e-12)
    np.testing.assert_allclose(noise, case["family_noise"], rtol=1e-12)


def test_the_order_of_models_changes_nothing():
    c = np.random.default_rng(1).integers(0, 5, (12, 9))
    one, other = signals_of(c, 4), signals_of(c[:, ::-1], 4)
    for name in NAMES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-7)


def test_swapping_success_and_failure_changes_nothing():
    c = np.random.default_rng(2).integers(0, 5, (12, 9))
    one, other = signals_of(c, 4), signals_of(4 - c, 4)
    for name in NAMES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-7)


def test_correlations_are_those_of_numpy():
    c = np.random.default_rng(3).integers(0, 9, (7, 10))
    rest = (c.sum(axis=0) - c) / 6
    pairs = zip(c, rest, strict=True)
    expected = [np.corrcoef(question, others)[0, 1] for question, others in pairs]
    np.testing.assert_allclose(signals_of(c, 8).rest_correlation, expected, rtol=1e-9)


def test_the_rest_of_a_cluster_has_no_question_of_it():
    # Two questions in the first cluster, whose mean is its row.
    c = np.array([[0.5, 2.5, 3.0, 3.5], [0, 1, 1, 4], [2, 1, 3, 4]])
    signals = signals_of(c, 4, np.array([2, 1, 1]))
    expected = np.corrcoef(c[0], (c[1] + c[2]) / 2)[0, 1]
    assert signals.rest_correlation[0] == pytest.approx(expected)
    expected = np.corrcoef(c[1], (2 * c[0] + c[2]) / 3)[0, 1]
    assert signals.rest_correlation[1] == pytest.approx(expected)


def test_questions_that_all_models_answer_alike_are_never_reversed():
    c = np.array([[4, 4, 4, 4], [3, 3, 3, 3], [0, 1, 3, 4], [1, 1, 3, 4]])
    signals = signals_of(c, 4)
    assert np.isnan(signals.rest_correlation[:2]).all()
    assert signals.pvalue[:2].tolist() == signals.qvalue[:2].tolist() == [1, 1]


def test_single_trials_have_a_correlation_and_a_test_but_no_noise():
    signals = signals_of(np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]]), 1)
    assert np.isnan(signals.spread).all()
    assert np.isnan(signals.discrimination).all()
    assert np.isfinite(signals.rest_correlation).all()
    assert np.isfinite(signals.qvalue).all()


@pytest.mark.parametrize("models", [2, 3])
def test_few_models_have_no_test(models):
    signals = signals_of(np.array([[0, 3, 4], [1, 2, 4], [3, 1, 0]])[:, :models], 4)
    assert np.isfinite(signals.rest_correlation).all()
    assert np.isnan(signals.pvalue).all()
    assert np.isnan(signals.qvalue).all()


def test_one_model_has_no_spread_and_one_question_no_rest():
    one_model = signals_of(np.array([[1], [3]]), 4)
    assert np.isnan([getattr(one_model, name) for name in NAMES]).all()
    one_question = signals_of(np.array([[0, 1, 3, 4]]), 4)
    assert one_question.spread[0] > 0
    assert np.isnan([getattr(one_question, name) for name in NAMES[1:]]).all()


def test_a_question_that_contradicts_all_others_exactly_is_surely_reversed():
    c = np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0]])
    assert signals_of(c, 4).rest_correlation[3] == pytest.approx(-1)
    assert signals_of(c, 4).qvalue[3] < 1e-6


def test_where_nothing_is_related_p_is_small_as_often_as_it_says():
    # REWARDS.md B: .037 to .056 where questions discriminate nothing; here 2,000 questions.
    c = np.random.default_rng(4).binomial(4, 0.5, (2000, 12))
    assert (signals_of(c, 4).pvalue <= 0.05).mean() == pytest.approx(0.05, abs=0.015)
