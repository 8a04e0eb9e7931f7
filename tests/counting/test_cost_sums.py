import math
from fractions import Fraction

import polars as pl
import pytest

import polars_scorio as ps

ROWS = pl.DataFrame(
    {
        "model": "ada",
        "question": [1, 1, 2, 2],
        "category": [0, 1, 1, 1],
        "usd": [0.1, 0.2, 0.3, 0.7],
    }
)


def log_of(frame, **roles):
    return frame.scorio(**{"trial": None, "cost": "usd", **roles})


def with_cost(value):
    """The rows with another cost of the third trial, that of question 2."""
    return ROWS.with_columns(usd=pl.when(pl.int_range(pl.len()) == 2).then(value).otherwise("usd"))


def test_sums_are_those_of_exact_fractions():
    mean = log_of(ROWS).report(ps.mean_cost())["estimate"].item()
    exact = sum(map(Fraction, ROWS["usd"].to_list())) / 4
    assert mean == pytest.approx(float(exact), rel=1e-15)


def test_numbers_are_the_same_for_each_order_of_the_rows():
    many = pl.DataFrame({"question": pl.int_range(5000, eager=True) % 40})
    log = many.with_columns(
        category=(pl.int_range(pl.len()) % 7 < 3).cast(pl.Int8),
        usd=(pl.int_range(pl.len()) * 0.618034 % 1.0) ** 3,
    )
    metrics = (ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve([1, 3]))
    reports = [
        log_of(log.sample(fraction=1, shuffle=True, seed=seed), model=None).report(*metrics)
        for seed in range(3)
    ]
    assert reports[0].rows() == reports[1].rows() == reports[2].rows()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, r"1 question has a missing cost \(null or NaN in 'usd'\).*question=2: 1 trial"),
        (math.nan, r"a missing cost \(null or NaN in 'usd'\).*question=2: 1 trial"),
        (-0.5, r"a negative cost in 'usd'.*question=2: -0.5"),
        (math.inf, r"a cost in 'usd' that is infinite, or not below 134,217,728.*question=2: inf"),
        (2.0**27, r"not below 134,217,728.*question=2: 134217728"),
    ],
)
def test_bad_costs_are_refused_with_their_place(value, words):
    with pytest.raises(ValueError, match=words):
        log_of(with_cost(value)).report(ps.mean_cost())


METRICS = (ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve(2))


def costs_in_unit(unit):
    """A log whose costs differ by at most 1 %."""
    near_one = 1 + pl.int_range(80) * 0.618034 % 1.0 / 100
    rows = pl.DataFrame({"question": [i // 4 for i in range(80)]})
    return rows.with_columns(
        category=(pl.int_range(80) % 7 < 3).cast(pl.Int8), usd=near_one * unit
    ).scorio(model=None, trial=None, cost="usd")


@pytest.mark.parametrize("unit", [1e-3, 1e-6, 1e-9])
def test_small_costs_keep_their_noise(unit):
    columns = ["estimate", "sigma", "lo", "hi"]
    large, small = (
        costs_in_unit(each).report(*METRICS).select(columns).to_numpy() for each in (1.0, unit)
    )
    assert small / unit == pytest.approx(large, rel=1e-4)


def test_costs_below_the_resolution_are_refused_with_a_unit():
    said = r"no cost of the log in 'usd' is larger than 1\.\d+e-12, .* lose digits\. Count in a "
    said += r"smaller unit, as in cost=pl\.col\('usd'\) \* 1e12\."
    with pytest.raises(ValueError, match=said):
        costs_in_unit(1e-12).report(*METRICS)


def test_costs_that_no_metric_needs_are_not_looked_at():
    assert log_of(with_cost(-1.0)).avg()["estimate"].item() == 0.75


def test_a_model_that_cost_nothing_is_refused():
    with pytest.raises(ValueError, match=r"1 model has only costs of 0 in 'usd'.*model='ada'"):
        log_of(ROWS.with_columns(usd=0.0)).report(ps.mean_cost())


def test_dropped_trials_take_their_cost_along():
    lost = pl.concat([ROWS, ROWS.head(1).with_columns(category=None, usd=None)])
    report = log_of(lost, missing="drop").report(ps.mean_cost())
    assert report.select("estimate", "dropped").row(0) == (pytest.approx(0.325), 1)


def test_a_missing_outcome_that_counts_as_failure_keeps_its_cost():
    lost = pl.concat([ROWS, ROWS.head(2).with_columns(category=None, usd=0.9)])
    report = log_of(lost, missing=0).report(ps.cost_per_success())
    mean = ((0.1 + 0.2 + 0.9 + 0.9) / 4 + 0.5) / 2
    assert report["estimate"].item() == pytest.approx(mean / ((1 / 4 + 1) / 2))


def test_tokens_are_integers():
    tokens = ROWS.with_columns(usd=pl.Series([100, 200, 300, 700], dtype=pl.UInt32))
    assert log_of(tokens).report(ps.mean_cost())["estimate"].item() == 325


def test_labels_and_votes_keep_costs_apart_by_outcome():
    words = ROWS.with_columns(category=pl.Series(["no", "yes", "yes", "yes"]))
    report = log_of(words, success="yes", answer=pl.col("category").str.to_uppercase()).report(
        ps.vote_at_k(1), ps.cost_to_solve(2)
    )
    plain = log_of(ROWS).report(ps.cost_to_solve(2))
    assert report["estimate"][1] == pytest.approx(plain["estimate"].item())


def test_words_are_no_costs():
    with pytest.raises(TypeError, match="cost column 'usd' is String; a cost is a number"):
        log_of(ROWS.with_columns(usd=pl.lit("dear"))).report(ps.mean_cost())
