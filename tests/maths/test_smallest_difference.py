"""The smallest difference that a plan can find, against a second calculation and laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from polars_scorio.maths.power import Design, smallest_difference
from tests.documents import study_numbers

VECTORS = study_numbers("verdicts")["detectable"]
PLAN = Design(
    questions=100, trials=(4, 4), rate=0.5, spread=0.5, correlation=0.5, critical=1.959964
)


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    design = Design(
        questions=case["questions"],
        trials=(case["trials"], case["trials"]),
        rate=case["rate"],
        spread=case["rho"],
        correlation=case["correlation"],
        critical=special.ndtri((1 + case["confidence"]) / 2),
    )
    found = smallest_difference(design, case["power"], population=case["target"] == "population")
    assert found == pytest.approx(case["delta"], abs=1e-9)


@pytest.mark.parametrize(
    ("questions", "trials", "benchmark", "population"),
    # Examples of the study of the method, to three digits.
    [(100, 1, 0.163, 0.172), (100, 4, 0.070, 0.123), (500, 16, 0.016, 0.047)],
)
def test_published_examples(questions, trials, benchmark, population):
    plan = replace(PLAN, questions=questions, trials=(trials, trials))
    assert smallest_difference(plan, 0.8, population=False) == pytest.approx(benchmark, abs=5e-4)
    assert smallest_difference(plan, 0.8, population=True) == pytest.approx(population, abs=5e-4)


def test_a_benchmark_of_few_questions_finds_no_difference_near_a_bound():
    tiny = replace(PLAN, questions=5, trials=(1, 1), rate=0.97)
    assert smallest_difference(tiny, 0.8, population=False) == float("inf")


plans = st.builds(
    Design,
    questions=st.integers(20, 2_000),
    trials=st.tuples(st.integers(1, 32), st.integers(1, 32)),
    rate=st.floats(0.2, 0.8),
    spread=st.floats(0.05, 0.9),
    correlation=st.floats(0, 0.95),
    critical=st.floats(1.3, 4),
)


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
