"""What runs add to the variance of a score: vectors of a second calculation, laws, simulation."""

import numpy as np
import pytest

from polars_scorio.maths import run_effects
from polars_scorio.maths.run_effects import RunVariance, run_variance
from tests.documents import study_numbers

VECTORS = study_numbers("runs")
NORMAL = 1.959963984540054


def table(rows):
    """Values and presence of a table with nulls."""
    values = np.array([[np.nan if x is None else x for x in row] for row in rows], np.float64)
    return np.nan_to_num(values), ~np.isnan(values)


def of_vector(case):
    return RunVariance(case["V"], case["D"], case["nu"], case["shared"], case["ratio"])


def by_name(case):
    return case.get("name", "")


@pytest.mark.parametrize("case", VECTORS["slopes"])
def test_slopes_of_vectors(case):
    found = run_effects.slopes_of_table(np.array(case["U"]))
    np.testing.assert_allclose(found, case["slope"], atol=1e-12)


@pytest.mark.parametrize("case", VECTORS["numbers"], ids=by_name)
def test_variances_of_vectors(case):
    values, present = table(case["x"])
    slopes = None if case["slope"] is None else np.array(case["slope"]) / len(values)
    if case["weight"] is not None:
        slopes = np.array(case["weight"]) / present.sum(1)
    found = run_variance(values, present, slopes)
    numbers = [
        *(found.of_trials, found.variance, found.freedom, found.ratio),
        *(run_effects.runs_p_value([found]), found.shared, found.term(NORMAL)),
    ]
    expected = [case[name] for name in ("D", "V", "nu", "ratio", "p", "shared", "term")]
    np.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", VECTORS["term"])
def test_terms_of_vectors(case):
    found = RunVariance(case["V"], case["D"], case["nu"], 1.0, 1.0).term(case["c"])
    assert found == pytest.approx(case["term"], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", VECTORS["widened"])
def test_ends_of_vectors(case):
    middle, lo, hi, term = (np.float64(case[name]) for name in ("u", "lo", "hi", "term"))
    ends = np.clip(run_effects.widened(middle, lo, hi, term, case["c"]), 0, 1)
    np.testing.assert_allclose(ends, [case["new_lo"], case["new_hi"]], atol=1e-9)


@pytest.mark.parametrize("case", VECTORS["pair"], ids=by_name)
def test_differences_of_vectors(case):
    found = of_vector(case["a"]).less(of_vector(case["b"]))
    numbers = [found.variance, found.of_trials, found.freedom, found.term(NORMAL)]
    expected = [case[name] for name in ("V", "D", "nu", "term")]
    np.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", VECTORS["log_test"], ids=by_name)
def test_the_test_of_a_log_of_vectors(case):
    each = zip(case["ratio"], case["nu"], strict=True)
    models = [RunVariance(1.0, 1.0, freedom, 1.0, ratio) for ratio, freedom in each]
    numbers = [*run_effects.pooled_ratio(models), run_effects.runs_p_value(models)]
    expected = [case[name] for name in ("pooled", "df", "p")]
    np.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", VECTORS["run_sd"])
def test_the_spread_of_runs_of_vectors(case):
    found = RunVariance(case["V"], case["D"], case["nu"], case["shared"], 1.0).run_sd(0.95)
    expected = [case["run_sd"], case["lo"], case["hi"]]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def made_runs(seed, questions=40, runs=6, lost=0.2):
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.5, 0.5, (questions, 1)) + rng.normal(0, 0.05, runs)
    present = rng.random((questions, runs)) > lost
    return (rng.random((questions, runs)) < rates).astype(np.float64), present


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_runs_nor_that_of_questions_counts(seed):
    values, present = made_runs(seed)
    rng = np.random.default_rng(seed)
    shuffled = np.ix_(rng.permutation(values.shape[0]), rng.permutation(values.shape[1]))
    found, other = run_variance(values, present), run_variance(values[shuffled], present[shuffled])
    np.testing.assert_allclose(found, other, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_failures_vary_as_successes_do(seed):
    values, present = made_runs(seed)
    np.testing.assert_allclose(
        run_variance(values, present), run_variance(1 - values, present), rtol=1e-10
    )


def test_runs_without_gaps_have_the_variance_of_their_scores():
    values, _ = made_runs(1)
    found = run_variance(values, np.ones_like(values, bool))
    assert found.variance == pytest.approx(values.mean(0).var(ddof=1) / 6)
    assert found.freedom == pytest.approx(5)


def test_a_term_is_larger_with_fewer_degrees_of_freedom_and_never_negative():
    terms = [RunVariance(2e-4, 1e-4, nu, 1.0, 2.0).term(NORMAL) for nu in (2, 3, 7, 15, 1000)]
    assert terms == sorted(terms, reverse=True)
    assert min(terms) > 0.99e-4
    assert RunVariance(1e-6, 1e-4, 3.0, 1.0, 0.01).term(NORMAL) == 0


@pytest.mark.slow
def test_intervals_of_a_mean_hold_where_runs_differ():
    """Four runs, 300 questions, runs that differ by 2 points: .95 of the intervals hold."""
    rng = np.random.default_rng(7)
    rates = rng.beta(0.4, 0.5, (300, 1))
    truth, held, narrow = rates.mean(), 0, 0
    for _ in range(400):
        shifted = np.clip(rates + rng.normal(0, 0.02, 4), 0, 1)
        values = (rng.random((300, 4)) < shifted).astype(np.float64)
        found = run_variance(values, np.ones_like(values, bool))
        error = abs(values.mean() - truth)
        held += error <= NORMAL * np.sqrt(found.of_trials + found.term(NORMAL))
        narrow += error <= NORMAL * np.sqrt(found.of_trials)
    assert held / 400 > 0.93
    assert narrow / 400 < 0.9
