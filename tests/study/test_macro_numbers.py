"""Calibrated means over strata, from one fit of the questions of all of them."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

C = [4, 3, 0, 1, 4, 2, 4, 4, 4, 3, 0, 2, 4, 1, 0, 4]
OTHER = [4, 4, 1, 1, 4, 3, 4, 4, 4, 4, 2, 2, 4, 3, 1, 4]
UNEQUAL = [0] * 2 + [1] * 4 + [2] * 10
EQUAL = [0, 1, 2, 3] * 4
ENDS = ("lo", "hi")
TARGETS = pytest.mark.parametrize("target", ["benchmark", "population"])


def accessor(stratum, *successes, **options):
    """A log of questions with four trials each, for each model the successes of its questions."""
    rows = [
        (chr(97 + model), *question)
        for model, own in enumerate(successes)
        for question in zip(stratum, range(len(own)), [4] * len(own), own, strict=True)
    ]
    names = ["model", "domain", "question", "n", "c"]
    totals = pl.DataFrame(rows, names, orient="row")
    made = {} | options
    return ps.from_successes(totals).scorio(count="count", by="domain", **made)


def over_all(rows):
    return rows.filter(pl.col("domain").is_null())


@pytest.mark.parametrize("overall", ["macro", "micro"])
@TARGETS
def test_no_mean_over_strata_contradicts_that_of_the_success_rate(overall, target):
    log = accessor(UNEQUAL, [4] * 15 + [3], target=target)
    rows = over_all(log.report(ps.avg(), ps.pass_at_k(4), ps.pass_hat_k(4), overall=overall))
    for end in ENDS:
        average, best, worst = rows[end]
        assert worst <= average <= best  # an end of a range is that of all of them


@pytest.mark.slow
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_equal_strata_have_the_interval_of_all_questions(target):
    metrics = (ps.avg(), ps.pass_at_k([1, 2, 4]), ps.geom_at_k([2, 4]))
    log = accessor(EQUAL, C, OTHER, target=target)
    macro, micro = (over_all(log.report(*metrics, overall=kind)) for kind in ("macro", "micro"))
    # Weights that are sums of quarters of quarters: rounding, below the default of 1e-5.
    shared = ["model", "metric", "k", "questions", "trials", "estimate", *ENDS]
    assert_frame_equal(macro.select(shared), micro.select(shared))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_decisions_over_equal_strata_are_those_of_all_questions(target):
    log = accessor(EQUAL, C, OTHER, target=target)
    for decide in (log.compare, log.rank):
        macro, micro = (over_all(decide(ps.avg(), overall=kind)) for kind in ("macro", "micro"))
        # The same sums by way of weights: rounding, below the default of 1e-5.
        assert_frame_equal(macro, micro)


def graded(stratum, middle, **options):
    """The log of `accessor` with answers and with categories 0, 1 and 2, of which 1 is `middle`."""
    binary = accessor(stratum, C, OTHER).frame
    category = 2 * pl.col("category")
    log = binary.with_columns(category=pl.when(middle).then(1).otherwise(category))
    return log.scorio(count="count", by="domain", success=2, levels=[0, 1, 2], **options)


GRADED = (ps.avg({0: 0, 1: 0.5, 2: 1}), ps.max_at_k([1, 2, 4], w={0: 0, 1: 0.5, 2: 1}))


@TARGETS
def test_equal_strata_have_the_interval_of_all_questions_by_several_weights(target):
    log = graded(EQUAL, pl.col("question") % 5 == 0, target=target)
    macro, micro = (over_all(log.report(*GRADED, overall=kind)) for kind in ("macro", "micro"))
    shared = ["model", "metric", "k", "estimate", *ENDS]
    # Weights that are sums of quarters of quarters: rounding, below the default of 1e-5.
    assert_frame_equal(macro.select(shared), micro.select(shared))


@TARGETS
def test_equal_strata_have_the_interval_of_all_questions_by_votes(target):
    answered = graded(EQUAL, False).frame.with_columns(answer=pl.col("category") % 3)
    log = answered.filter(pl.col("count") > 0).scorio(
        count="count", by="domain", answer="answer", success=2, target=target
    )
    metric = ps.vote_at_k([1, 3, 4])
    macro, micro = (over_all(log.report(metric, overall=kind)) for kind in ("macro", "micro"))
    shared = ["model", "metric", "k", "estimate", *ENDS]
    # As above.
    assert_frame_equal(macro.select(shared), micro.select(shared))


def test_weights_of_which_two_occur_have_the_macro_population_of_outcomes():
    log = graded(UNEQUAL, False, target="population")
    by_weight = over_all(log.report(*GRADED, overall="macro"))
    binary = accessor(UNEQUAL, C, OTHER, target="population")
    metrics = (ps.avg(), ps.pass_at_k([1, 2, 4]))
    by_success = over_all(binary.report(*metrics, overall="macro"))
    # The same sums, scaled: rounding, below the default of 1e-5.
    shared = ["model", "k", "estimate", *ENDS]
    assert_frame_equal(by_weight.select(shared), by_success.select(shared))


def test_unequal_strata_weigh_the_same():
    log = accessor(UNEQUAL, C)
    (row,) = over_all(log.pass_at_k(2, overall="macro")).rows(named=True)
    strata = log.pass_at_k(2)["estimate"]
    # A mean of three numbers: rounding.
    assert row["estimate"] == pytest.approx(strata.mean(), rel=1e-12)
    assert row["lo"] < row["estimate"] < row["hi"]


@pytest.mark.slow
@TARGETS
def test_beyond_the_trials_the_range_starts_at_the_largest_draw(target):
    log = accessor(UNEQUAL, C, target=target)
    most, beyond = over_all(log.pass_at_k([4, 6], overall="macro")).rows(named=True)
    assert beyond["estimate"] is beyond["sigma"] is None
    assert (beyond["lo"], beyond["hi"]) == pytest.approx((most["lo"], 1), rel=1e-12)


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_the_ends_of_a_blend_of_means_are_means_of_those_of_the_strata(target):
    log = accessor(UNEQUAL, C, target=target)
    strata = log.report(ps.geom_ds_at_k(2))
    (row,) = over_all(log.report(ps.geom_ds_at_k(2), overall="macro")).rows(named=True)
    for end in ("estimate", *ENDS):
        # A mean of three numbers: rounding.
        assert row[end] == pytest.approx(strata[end].mean(), rel=1e-12)


def test_a_stratum_without_outcomes_of_a_question_weighs_the_same():
    trials = pl.DataFrame(
        {
            "model": "a",
            "domain": [0, 0, 0, 0, 1, 1],
            "question": [1, 1, 2, 2, 3, 3],
            "category": [1, 0, None, None, 0, 0],
        }
    )
    log = trials.scorio(by="domain", trial=None, missing="drop", unscored="drop")
    (row,) = over_all(log.avg(overall="macro")).rows(named=True)
    assert row["estimate"] == 0.25
