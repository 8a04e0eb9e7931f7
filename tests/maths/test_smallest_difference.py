"""The smallest difference that a plan can find, against a second calculation and laws."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta, norm, t

from polars_scorio.maths.power import Design, QuestionsAhead, smallest_difference
from polars_scorio.maths.run_effects import RunVariance
from tests.maths import interval_oracle as oracle

PLAN = Design(
    questions=100, trials=(4, 4), rate=0.5, spread=0.5, correlation=0.5, critical=1.959964
)


def found_difference(plan, power, population):
    """The difference at which the expected interval ends at zero, but for the power's share."""

    def lacking(difference):
        rates = plan.rate + difference / 2, plan.rate - difference / 2
        a, b = (max(rate * (1 - rate), 0) for rate in rates)
        noise = (1 - plan.spread) * (a / plan.trials[0] + b / plan.trials[1])
        between = plan.spread * (a + b - 2 * plan.correlation * sqrt(a * b))
        shown = sqrt((noise + population * between) / plan.questions)
        # Differences of questions, of which one more at -1 and one at 1 are two.
        size = plan.questions + 2
        centre = difference * plan.questions / size
        square = plan.questions * (noise + between + (difference - centre) ** 2)
        square += (1 - centre) ** 2 + (1 + centre) ** 2
        reach = t.isf(norm.sf(plan.critical), size - 1) * sqrt(square / size / (size - 1))
        return reach * size / plan.questions + norm.ppf(power) * shown - difference

    top = 2 * min(plan.rate, 1 - plan.rate)
    return brentq(lacking, 0, top, xtol=1e-14) if lacking(top) <= 0 else float("inf")


def test_a_benchmark_of_few_questions_finds_no_difference_near_a_bound():
    tiny = replace(PLAN, questions=5, trials=(1, 1), rate=0.97)
    assert smallest_difference(tiny, 0.8, population=False) == float("inf")


def test_several_trials_end_at_the_intervals_of_both_models():
    # Rates are uniform: of 100 questions with 4 trials 20 have 0, 1, 2, 3 and 4 successes each.
    plan, z = replace(PLAN, spread=1 / 3), PLAN.critical
    found = smallest_difference(plan, 0.8, population=False)
    metric, weight = oracle.Metric(np.array([0.0, 1.0])), np.full(100, 0.01)
    variance, factor, mean = oracle.price([4] * 100, [0, 1, 2, 3, 4] * 20, weight, metric)
    noise = 2 / 3 * 2 * (0.25 - found**2 / 4) / 4 / 100
    seen = found - norm.ppf(0.8) * sqrt(noise)
    up, down = 0.5 + seen / 2, 0.5 - seen / 2
    size = 0.25 / (variance * factor)  # of models that are right half of the time
    lo = beta.ppf(norm.sf(z), up * size, down * size + 1)
    hi = beta.isf(norm.sf(z), down * size + 1, up * size)
    assert mean == pytest.approx(0.5)
    assert seen == pytest.approx(sqrt((up - lo) ** 2 + (hi - down) ** 2), abs=1e-6)


plans = st.builds(
    Design,
    questions=st.integers(20, 2_000),
    trials=st.tuples(st.integers(1, 32), st.integers(1, 32)),
    rate=st.floats(0.2, 0.8),
    spread=st.floats(0.05, 0.9),
    correlation=st.floats(0, 0.95),
    critical=st.floats(1.3, 4),
)


@given(plans, st.floats(0.5, 0.95), st.booleans())
def test_equals_a_second_calculation(plan, power, population):
    plan = plan if population else replace(plan, trials=(1, 1))
    found = smallest_difference(plan, power, population=population)
    assert found == pytest.approx(found_difference(plan, power, population), abs=1e-9)


@given(plans, st.floats(0.5, 0.95))
def test_more_questions_and_correlated_models_find_smaller_differences(plan, power):
    found = smallest_difference(plan, power, population=True)
    more = replace(plan, questions=2 * plan.questions)
    assert smallest_difference(more, power, population=True) <= found
    alike = replace(plan, correlation=(1 + plan.correlation) / 2)
    assert smallest_difference(alike, power, population=True) <= found + 1e-9


@given(plans, st.floats(0.5, 0.9))
def test_more_power_and_confidence_need_larger_differences(plan, power):
    found = smallest_difference(plan, power, population=False)
    assert smallest_difference(plan, power + 0.05, population=False) >= found - 1e-12
    surer = replace(plan, critical=plan.critical + 0.5)
    assert smallest_difference(surer, power, population=False) >= found - 1e-12


def test_further_trials_take_their_noise_off_what_questions_scatter():
    one = np.ones(1)
    runs = RunVariance(0.003 * one, 0.002 * one, 4 * one, one, one)
    today = QuestionsAhead(
        diff=0.1 * one, variance=0.3 * one, number=50 * one, span=1.0, unit=one, runs=runs,
        trials=4 * one,
    )  # fmt: skip
    # As many trials again: half of the noise of trials, .002 / 2 of the mean of 50 questions.
    assert today.with_trials(4).variance == pytest.approx(0.3 - 50 * 0.001)
