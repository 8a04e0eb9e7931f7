from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from polars_scorio.maths.regressions import (
    PossibleValues,
    VersionCounts,
    chance_of_at_least,
    discrete_step_up,
    regression_tests,
)
from tests.documents import study_numbers

VECTORS = study_numbers("decisions")["gate"]


@st.composite
def versions(draw, most=9):
    size = draw(st.integers(1, 12))
    trials = [draw(st.lists(st.integers(1, most), min_size=size, max_size=size)) for _ in range(2)]
    successes = [[draw(st.integers(0, n)) for n in each] for each in trials]
    (n_old, n_new), (c_old, c_new) = np.array(trials), np.array(successes)
    return VersionCounts(n_old, c_old, n_new, c_new)


def of_vector(row):
    return VersionCounts(*(np.array(row[name]) for name in ("n_old", "c_old", "n_new", "c_new")))


def test_p_values_are_those_of_the_study():
    for row in VECTORS["regressions"]:
        tests = regression_tests(of_vector(row))
        np.testing.assert_allclose(tests.p, row["p"], atol=1e-9)


def test_broken_questions_are_those_of_the_study():
    for row in VECTORS["broken"]:
        counts = of_vector(row)
        chance, broken = regression_tests(counts).pvalue_broken, int(counts.broken().sum())
        assert broken == row["broken"]
        assert chance.sum() == pytest.approx(row["by_chance"], abs=1e-9)
        assert chance_of_at_least(broken, chance) == pytest.approx(row["p"], abs=1e-9)


@given(versions())
def test_each_p_value_is_that_of_the_hypergeometric_distribution(counts):
    tests, total = regression_tests(counts), counts.c_old + counts.c_new
    law = hypergeom(counts.n_old + counts.n_new, total, counts.n_new)
    np.testing.assert_allclose(tests.p, law.cdf(counts.c_new), rtol=1e-9)
    least = np.maximum(total - counts.n_old, 0)
    np.testing.assert_allclose(tests.pvalue_min, law.cdf(least), rtol=1e-9)


def laws_of(counts):
    """The values that the p of each question can have, one by one, and the p that it has."""
    values = []
    for n_old, c_old, n_new, c_new in zip(
        counts.n_old, counts.c_old, counts.n_new, counts.c_new, strict=True
    ):
        total = c_old + c_new
        possible = range(max(total - n_old, 0), min(n_new, total) + 1)
        values.append(hypergeom.cdf([*possible], n_old + n_new, total, n_new))
    total = counts.c_old + counts.c_new
    return values, hypergeom.cdf(counts.c_new, counts.n_old + counts.n_new, total, counts.n_new)


def chances_at(values, t):
    """F of each question: the largest value that it can have up to t."""
    return [max([x for x in each if x <= t * (1 + 1e-9)], default=0.0) for each in values]


def named_as_defined(counts, rate):
    """The questions that HSU names at a rate, as its paper states the procedure."""
    values, p = laws_of(counts)
    size = p.size

    def odds(t):
        return sum(np.inf if x > 1 - 1e-12 else x / (1 - x) for x in chances_at(values, t))

    inside = [t for each in values for t in each if odds(t) <= rate * size]
    last = max(inside, default=0.0)
    weights = 1 / (1 - np.array(chances_at(values, last)))
    named = np.zeros(size, dtype=bool)
    for rank in range(size, 0, -1):
        possible = [t for t in {*inside} if t <= last * (1 + 1e-9)]
        allowed = [t for t in possible if weights @ chances_at(values, t) <= rate * rank]
        critical = max(allowed, default=-1.0)
        if np.sort(p)[rank - 1] <= critical * (1 + 1e-9):
            named = p <= critical * (1 + 1e-9)
            break
    return named


@given(versions(most=6), st.floats(0.02, 0.5))
@example(
    VersionCounts(
        np.array([1, 1, 1, 1, 1, 5, 1, 1, 4]),
        np.array([0, 0, 0, 0, 0, 5, 0, 0, 2]),
        np.array([1, 1, 1, 1, 1, 2, 1, 1, 3]),
        np.zeros(9, int),
    ),
    0.25,
)
def test_the_named_questions_are_those_of_the_step_up_procedure(counts, rate):
    tests = regression_tests(counts, rate)
    near = np.isclose(tests.qvalue, rate, rtol=1e-9)
    # The procedure may name a question of which p exceeds the rate; adjusting makes no p smaller.
    defined = named_as_defined(counts, rate) & (tests.p <= rate)
    assert (((tests.qvalue <= rate) == defined) | near).all()


def test_the_more_questions_break_the_more_are_named():
    n = np.full(80, 5)
    old = np.concatenate([np.full(51, 5), np.random.default_rng(0).integers(0, 6, 29)])
    for broken in (5, 10, 25, 30, 40, 51):
        new = np.where(np.arange(80) < broken, 0, old)
        adjusted = regression_tests(VersionCounts(n, old, n, new)).qvalue
        assert (adjusted <= 0.1).sum() == broken


@given(versions())
def test_adjusting_never_makes_a_p_value_smaller(counts):
    tests = regression_tests(counts)
    assert (tests.qvalue >= tests.p).all()
    assert (tests.pvalue_min <= tests.p * (1 + 1e-12)).all()


@given(versions(), st.floats(0.01, 0.5))
def test_discreteness_only_adds_rejections(counts, rate):
    """The continuous step-up takes the threshold for the chance of each question."""
    p, size = regression_tests(counts).p, counts.n_old.size
    threshold = rate / (1 + rate)  # where the odds of all questions sum to size * rate
    order, continuous = np.argsort(p, kind="stable"), np.empty_like(p)
    sums = size * p[order] / (1 - threshold) / np.arange(1, size + 1)
    continuous[order] = np.minimum.accumulate(np.minimum(sums, 1.0)[::-1])[::-1]
    found = regression_tests(counts, rate).qvalue <= rate
    assert (found | (continuous > rate * (1 - 1e-9)))[p <= threshold * (1 - 1e-9)].all()


@given(versions(), st.randoms(use_true_random=False))
def test_the_order_of_the_questions_changes_nothing(counts, random):
    order = [*range(counts.n_old.size)]
    random.shuffle(order)
    mixed = VersionCounts(*(getattr(counts, name)[order] for name in counts.__slots__))
    one, other = regression_tests(counts), regression_tests(mixed)
    np.testing.assert_allclose(one.qvalue[order], other.qvalue, rtol=1e-12)
    assert one.pvalue_broken.sum() == pytest.approx(other.pvalue_broken.sum())


@given(versions(most=3))
def test_the_chance_to_break_is_the_share_of_the_ways_to_split_the_trials(counts):
    found = regression_tests(counts).pvalue_broken
    for row in range(counts.n_old.size):
        n_old, n_new = int(counts.n_old[row]), int(counts.n_new[row])
        total = counts.c_old[row] + counts.c_new[row]
        ways = [way for way in product((0, 1), repeat=n_old + n_new) if sum(way) == total]
        broke = [2 * sum(way[:n_old]) > n_old and 2 * sum(way[n_old:]) < n_new for way in ways]
        assert found[row] == pytest.approx(np.mean(broke), abs=1e-12)


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=8), st.integers(0, 9))
def test_the_chance_of_a_count_is_the_sum_over_all_subsets(chance, number):
    chance = np.array(chance)
    which = np.array([*product((0, 1), repeat=chance.size)], dtype=bool)
    each = np.where(which, chance, 1 - chance).prod(axis=1)
    oracle = each[which.sum(axis=1) >= number].sum()
    assert chance_of_at_least(number, chance) == pytest.approx(oracle, abs=1e-12)


def test_above_two_thousand_questions_the_count_is_nearly_normal():
    chance = np.random.default_rng(1).random(2_000) / 10
    few, many = chance_of_at_least(120, chance), chance_of_at_least(120, np.append(chance, 1e-9))
    assert many == pytest.approx(few, abs=3e-3)  # of a probability of .026


def test_single_trials_make_it_mcnemars_exact_test():
    # 100 questions, of which 12 broke and 4 were repaired: P(X >= 12), X ~ Binomial(16, 1/2).
    old = np.repeat([1, 0, 1, 0], [12, 4, 50, 34])
    new = np.repeat([0, 1, 1, 0], [12, 4, 50, 34])
    one = np.ones_like(old)
    counts = VersionCounts(one, old, one, new)
    chance = regression_tests(counts).pvalue_broken
    assert chance.sum() == pytest.approx(8.0)
    assert chance_of_at_least(12, chance) == pytest.approx(0.0384063720703125)


def test_no_question_can_be_named_with_four_trials_of_each_of_five_hundred():
    n, lost = np.full(500, 4), np.arange(500) < 5
    counts = VersionCounts(n, np.where(lost, 4, 2), n, np.where(lost, 0, 2))
    tests = regression_tests(counts)
    assert tests.pvalue_min.min() == pytest.approx(1 / 70)
    assert tests.qvalue.min() > 0.1


def test_without_questions_there_is_nothing_to_adjust():
    none = np.zeros(0, dtype=np.int64)
    assert regression_tests(VersionCounts(none, none, none, none)).p.size == 0
    nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
    assert discrete_step_up(nothing, PossibleValues(nothing, nothing, none, none), 0.1).size == 0


def test_improvements_are_regressions_with_the_versions_swapped():
    n = np.full(3, 8)
    counts = VersionCounts(n, np.array([0, 8, 4]), n, np.array([8, 0, 4]))
    up, down = regression_tests(counts.swapped()), regression_tests(counts)
    assert up.p[0] == down.p[1] == pytest.approx(1 / 12_870)
