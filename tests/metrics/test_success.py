"""Pass@k, Pass^k and its other names: published numbers, laws, and the edges."""

from fractions import Fraction
from itertools import combinations
from math import comb, sqrt
from statistics import mean

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import law, long, ragged

POSTERIOR = ["mu", "sigma", "lo", "hi"]
NUMBERS = ["estimate", *POSTERIOR]
SIZES = [1, 2, 3, 6]
ROOM = 1e-12  # for rounding: all numbers here lie between 0 and 1


def both(log: pl.DataFrame, k: list[int] = SIZES) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pass@k and Pass^k of a log."""
    rows = log.scorio.report(ps.pass_at_k(k), ps.pass_hat_k(k), prior="uniform")
    return rows[: len(k)], rows[len(k) :]


# --- published numbers


# The documentation of the package scorio: moments printed to 6 digits, bounds to 4.
@pytest.mark.parametrize(
    ("metric", "moments", "interval"),
    [
        pytest.param(ps.pass_at_k(1), (0.7, 0.642857, 0.118451), (0.4107, 0.875), id="pass@1"),
        pytest.param(ps.pass_at_k(2), (0.95, 0.839286, 0.097263), (0.6487, 1.0), id="pass@2"),
        pytest.param(ps.pass_hat_k(1), (0.7, 0.642857, 0.118451), (0.4107, 0.875), id="pass^1"),
        pytest.param(ps.pass_hat_k(2), (0.45, 0.446429, 0.146167), (0.1599, 0.7329), id="pass^2"),
    ],
)
def test_reproduces_published_numbers(r1, metric, moments, interval):
    row = r1.scorio.report(metric, prior="uniform").row(0, named=True)
    # Half of the sixth digit that is printed.
    assert (row["estimate"], row["mu"], row["sigma"]) == pytest.approx(moments, abs=5e-7)
    # Half of the fourth digit that is printed.
    assert (row["lo"], row["hi"]) == pytest.approx(interval, abs=5e-5)


# AISBench, its document on pass@k, cons@k and avg@k: 2, 2, 1 and 0 of 3 trials are right.
def test_pass_of_the_aisbench_example():
    log = long([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert log.scorio.pass_at_k(3)["estimate"].item() == 0.75


# --- laws


@law
@given(ragged())
def test_estimates_are_the_means_over_every_possible_draw(outcomes):
    for rows, succeeds in zip(both(long(outcomes)), (any, all), strict=True):
        for k, estimate in rows.select("k", "estimate").rows():
            if k > min(map(len, outcomes)):
                assert estimate is None
            else:
                oracle = [mean(map(succeeds, combinations(trials, k))) for trials in outcomes]
                assert estimate == pytest.approx(mean(oracle), abs=ROOM)


@law
@given(ragged())
def test_of_a_draw_of_one_all_metrics_say_the_same(outcomes):
    once = [ps.pass_at_k(1, bounds=None), ps.pass_hat_k(1, bounds=None)]
    published = long(outcomes).scorio(prior="uniform")
    bayes, avg, *draws = published.report(ps.bayes(), ps.avg(), *once).rows(named=True)
    for draw in draws:
        assert draw["estimate"] == pytest.approx(avg["estimate"], abs=ROOM)
        for name in NUMBERS:
            assert draw[name] == pytest.approx(bayes[name], abs=ROOM)


@law
@given(ragged())
def test_all_of_a_draw_succeed_no_more_often_than_any(outcomes):
    some, every = both(long(outcomes))
    for name in ("estimate", "mu"):
        assert (every[name] <= some[name] + ROOM).all()
        assert (some[name].drop_nulls().diff().drop_nulls() >= -ROOM).all()
        assert (every[name].drop_nulls().diff().drop_nulls() <= ROOM).all()


@law
@given(ragged())
def test_no_failure_is_all_success_of_the_opposite(outcomes):
    some, _ = both(long(outcomes))
    _, every = both(long(outcomes).with_columns(category=1 - pl.col("category")))
    mirrored = every.select(
        -pl.col("estimate", "mu") + 1, "sigma", lo=1 - pl.col("hi"), hi=1 - pl.col("lo")
    )
    assert_frame_equal(some.select(mirrored.columns), mirrored, rel_tol=0, abs_tol=ROOM)


@law
@given(ragged(), st.integers(0, 3), st.integers(0, 3))
def test_prior_trials_of_every_question_are_a_beta_prior(outcomes, wrong, right):
    earlier = long([[0] * wrong + [1] * right] * len(outcomes))
    counted = long(outcomes).scorio.pass_hat_k(SIZES, prior=earlier if wrong + right else "uniform")
    stated = long(outcomes).scorio.pass_hat_k(SIZES, prior=(1 + right, 1 + wrong))
    assert_frame_equal(stated.select(NUMBERS), counted.select(NUMBERS), check_exact=True)


@pytest.mark.parametrize("twin", [ps.unanimous_at_k, ps.g_pass_at_k])
def test_other_names_of_pass_hat_k_show_in_the_result(r1, twin):
    arguments = {"k": [2, 7], "bounds": (0, 0.9)}
    rows = r1.scorio.report(twin(**arguments))
    same = r1.scorio.report(ps.pass_hat_k(**arguments))
    assert_frame_equal(rows.drop("metric"), same.drop("metric"), check_exact=True)
    assert rows["metric"].str.starts_with(f"{twin.__name__}(").all()
    assert r1.scorio.report(twin(2))["metric"].item() == twin.__name__


# --- edges


@pytest.mark.parametrize("n", [1, 2, 40])
@pytest.mark.parametrize("questions", [1, 3])
@pytest.mark.parametrize("category", [0, 1])
def test_all_right_and_all_wrong(n, questions, category):
    # p ~ Beta(n + 1, 1) or Beta(1, n + 1); exact, as the variance is a difference.
    def likely(k: int) -> Fraction:
        return Fraction(n + 1, n + 1 + k)

    def unlikely(k: int) -> Fraction:
        return Fraction(1, comb(n + 1 + k, k))

    pass_, pass_hat = both(long([[category] * n] * questions), [n])
    no_success, all_success = (unlikely, likely) if category else (likely, unlikely)
    for row, power in ((pass_, no_success), (pass_hat, all_success)):
        sigma = sqrt((power(2 * n) - power(n) ** 2) / questions)
        assert row.select("estimate", "sigma").row(0) == (category, pytest.approx(sigma, rel=ROOM))
    assert pass_["mu"].item() == pytest.approx(float(1 - no_success(n)), rel=ROOM)
    assert pass_hat["mu"].item() == pytest.approx(float(all_success(n)), rel=ROOM)


@pytest.mark.parametrize("k", [3, 4, 1000])
def test_a_draw_larger_than_a_question_has_a_posterior_but_no_estimate(k):
    log = long([[1, 0], [1, 1, 1]])
    for rows in both(log, [2, k]):
        assert rows["estimate"].is_null().to_list() == [False, True]
        assert rows.select(POSTERIOR).null_count().sum_horizontal().item() == 0
        assert rows.select(pl.col(POSTERIOR).is_between(0, 1).all()).row(0) == (True,) * 4
