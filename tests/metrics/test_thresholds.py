"""The thresholds between Pass@k and Pass^k: published numbers, definitions, laws, and checks."""

import re
from collections.abc import Callable
from itertools import combinations, pairwise
from math import ceil, comb
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study.report import curve_columns, in_one_column, with_curves
from tests.made_logs import law, long, outcomes, ragged

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
DRAWS = 50_000
ROOM = 1e-12  # for rounding: all numbers here lie between 0 and 1
NAN, INF = float("nan"), float("inf")
WEIGHTS = (0.1, 0.0, 0.5, 0.25, 0.05, 0.1)


def area(j: int, k: int) -> float:
    """The area under Pass@1, ..., Pass@k of k trials with j successes, every draw one by one."""
    trials = [1] * j + [0] * (k - j)
    curve = [fmean(map(any, combinations(trials, i))) for i in range(1, k + 1)]
    return fmean(map(fmean, pairwise(curve))) if k > 1 else curve[0]


def above_half(k: int) -> list[float]:
    """The spectrum that mG-Pass@k is."""
    return [2 / k if r > ceil(k / 2) else 0.0 for r in range(1, k + 1)]


def tau(share: float) -> Callable[..., ps.Metric]:
    return lambda k, **given: ps.g_pass_at_k_tau(k, share, **given)


def spectrum(weights: Callable[[int], object]) -> Callable[..., ps.Metric]:
    return lambda k, **given: ps.threshold_spectrum_at_k(k, weights(k), **given)


# Each metric, and what it gives a draw of k with j successes by its definition.
DEFINED: dict[str, tuple[Callable[..., ps.Metric], Callable[[int, int], float]]] = {
    "pass": (ps.pass_at_k, lambda j, _: j > 0),
    "pass^": (ps.pass_hat_k, lambda j, k: j == k),
    "tau=0": (tau(0), lambda j, _: j > 0),
    "tau=0.6": (tau(0.6), lambda j, k: j / k >= 0.6),
    "maj": (ps.maj_at_k, lambda j, k: j > k / 2),
    "mg": (ps.mg_pass_at_k, lambda j, k: sum(above_half(k)[:j])),
    "auc": (ps.auc_at_k, area),
    "spectrum": (spectrum(lambda k: WEIGHTS[:k]), lambda j, _: sum(WEIGHTS[:j])),
}


# --- published numbers


# The documentation of the package scorio, R1: printed to 6 digits.
@pytest.mark.parametrize(
    ("metric", "estimates"),
    [
        pytest.param(ps.g_pass_at_k_tau(2, 0.5), [0.95], id="tau=0.5"),
        pytest.param(ps.g_pass_at_k_tau(2, 1.0), [0.45], id="tau=1"),
        pytest.param(ps.mg_pass_at_k([2, 3]), [0.45, 0.166667], id="mg"),
        pytest.param(ps.maj_at_k([1, 2, 3]), [0.7, 0.45, 0.85], id="maj"),
        pytest.param(ps.auc_at_k([1, 2, 3]), [0.7, 0.825, 0.9], id="auc"),
    ],
)
def test_reproduces_published_estimates(r1, metric, estimates):
    # Half of the sixth digit that is printed.
    assert r1.scorio.report(metric)["estimate"].to_list() == pytest.approx(estimates, abs=5e-7)


# As above; interval bounds are printed to 4 digits.
@pytest.mark.parametrize(
    ("k", "moments", "interval"),
    [(2, (0.446429, 0.146167), (0.1599, 0.7329)), (3, (0.684524, 0.151958), (0.3867, 0.9824))],
)
def test_reproduces_published_posteriors(r1, k, moments, interval):
    row = r1.scorio.maj_at_k(k, prior="uniform")
    # Half of the sixth digit that is printed.
    assert row.select("mu", "sigma").row(0) == pytest.approx(moments, abs=5e-7)
    # Half of the fourth digit that is printed.
    assert row.select("lo", "hi").row(0) == pytest.approx(interval, abs=5e-5)


# AISBench, its document on pass@k, cons@k and avg@k: 2, 2, 1 and 0 of 3 trials are right.
def test_majority_of_all_trials_is_cons_of_the_aisbench_example():
    row = long([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]).scorio.maj_at_k()
    assert row.select("metric", "k", "estimate").row(0) == ("maj_at_k", None, 0.5)


# --- definitions


@pytest.mark.slow
@law
@given(ragged(), st.integers(1, 6))
def test_estimates_are_the_means_over_every_possible_draw(outcomes, k):
    metrics = [make(k, name=name) for name, (make, _) in DEFINED.items()]
    rows = long(outcomes).scorio.report(*metrics)
    for name, estimate in rows.select("metric", "estimate").rows():
        short = sum(len(of_question) < k for of_question in outcomes)
        if 2 * short > len(outcomes):
            assert estimate is None
        elif short:  # none either if its bias may be above .02
            assert estimate is None or 0 <= estimate <= 1
        else:
            score = DEFINED[name][1]
            means = [fmean(score(sum(d), k) for d in combinations(o, k)) for o in outcomes]
            assert estimate == pytest.approx(fmean(means), abs=ROOM), name


@pytest.mark.every(5)
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize(("make", "score"), DEFINED.values(), ids=DEFINED)
def test_mu_and_sigma_are_those_of_draws_from_the_posterior(make, score, k):
    log = long([[0, 1, 1], [0], [1] * 7, [1, 0]])
    row = log.scorio.report(make(k), prior=(0.5, 2)).row(0, named=True)
    # The successes, and the failures.
    a, b = np.array([2, 0, 7, 1]) + 0.5, np.array([1, 1, 0, 1]) + 2
    p = np.random.default_rng(k).beta(a, b, (DRAWS, 4))
    earned = (score(j, k) * comb(k, j) * p**j * (1 - p) ** (k - j) for j in range(k + 1))
    drawn = sum(earned).mean(axis=1)
    # Four standard errors: of a mean, and of a standard deviation.
    mean_error = drawn.std() / DRAWS**0.5
    spread_error = ((drawn - drawn.mean()) ** 2).std() / (2 * drawn.std() or 1) / DRAWS**0.5
    assert row["mu"] == pytest.approx(drawn.mean(), abs=4 * mean_error + ROOM)
    assert row["sigma"] == pytest.approx(drawn.std(), abs=4 * spread_error + ROOM)


def test_a_share_is_reached_exactly_where_it_is_met():
    # ceil(tau k) in floating point would ask for 8 of 25 where tau = 7/25.
    k = 25
    log = long([[1] * j + [0] * (k - j) for j in range(k + 1)])
    shares = [(j, j / k) for j in range(1, k + 1)]
    shares += [(j + 1, np.nextafter(j / k, 1)) for j in range(1, k)]
    metrics = [ps.g_pass_at_k_tau(k, share, name=str(share)) for _, share in shares]
    rows = log.scorio.report(*metrics, per="question")
    for (least, share), (_, met) in zip(
        shares, rows.group_by("metric", maintain_order=True), strict=True
    ):
        expected = [float(j >= least) for j in range(k + 1)]
        assert met["estimate"].to_list() == pytest.approx(expected, abs=ROOM), share


# --- laws


@pytest.fixture
def log():
    return long([[0, 1, 1, 0, 1, 1, 0, 1], [1] * 9, [0] * 7, [0, 0, 1, 0, 0, 0, 0]])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("metric", "same"),
    [
        pytest.param(tau(1), ps.pass_hat_k, id="tau=1"),
        pytest.param(tau(0), ps.pass_at_k, id="tau=0"),
        pytest.param(tau(1e-9), ps.pass_at_k, id="tau near 0"),
        pytest.param(ps.maj_at_k, lambda k: tau((k // 2 + 1) / k)(k), id="majority"),
        pytest.param(ps.mg_pass_at_k, spectrum(above_half), id="mg"),
        pytest.param(spectrum(lambda k: [1] + [0] * (k - 1)), ps.pass_at_k, id="first success"),
        pytest.param(spectrum(lambda k: [0] * (k - 1) + [1]), ps.pass_hat_k, id="last success"),
        pytest.param(lambda _: ps.auc_at_k(1), lambda _: ps.pass_at_k(1), id="auc at 1"),
    ],
)
@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_one_metric_is_a_case_of_another(log, metric, same, k):
    rows, expected = (
        log.scorio.report(make(k)).drop("metric", "k", "t", strict=False) for make in (metric, same)
    )
    assert_frame_equal(rows, expected, rel_tol=0, abs_tol=ROOM)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_majority_of_all_trials_is_that_of_as_many_draws(n):
    log = long([[int(trial < c) for trial in range(n)] for c in range(n + 1)])
    rows, expected = (log.scorio.maj_at_k(k, prior=(1, 2)) for k in (None, n))
    assert rows["k"].is_null().all()
    assert_frame_equal(rows.select(NUMBERS), expected.select(NUMBERS), rel_tol=0, abs_tol=ROOM)


@law
@given(ragged())
def test_the_majority_of_all_trials_asks_each_question_for_its_own(outcomes):
    row = long(outcomes).scorio.maj_at_k(bounds=None, prior="uniform").row(0, named=True)
    assert row["estimate"] == pytest.approx(fmean(sum(o) > len(o) / 2 for o in outcomes), abs=ROOM)
    alone = pl.concat(long([o]).scorio.maj_at_k(len(o), prior="uniform") for o in outcomes)
    assert row["mu"] == pytest.approx(alone["mu"].mean(), abs=ROOM)
    sigma = (alone["sigma"] ** 2).sum() ** 0.5 / len(outcomes)
    assert row["sigma"] == pytest.approx(sigma, abs=ROOM)


@pytest.mark.slow
@law
@given(ragged(), st.integers(1, 8))
def test_a_higher_threshold_is_reached_less_often(outcomes, k):
    shares = [0, 0.2, 0.5, 0.51, 0.75, 1]
    rows = long(outcomes).scorio.report(*(ps.g_pass_at_k_tau(k, share) for share in shares))
    assert (rows["estimate"].diff().drop_nulls() <= ROOM).all()


# --- arguments


@pytest.mark.parametrize("share", [-0.1, 1.1, 50, NAN, INF, True, "0.5", None, [0.5], 1j], ids=repr)
def test_tau_lies_between_zero_and_one(share):
    message = rf"^tau must be a number from 0 to 1, got {re.escape(repr(share))}$"
    with pytest.raises(ValueError, match=message):
        ps.g_pass_at_k_tau(2, share)


SPECTRA = [
    pytest.param(ps.threshold_spectrum_at_k, id="threshold_spectrum"),
    pytest.param(lambda k, weights: ps.geo_spectrum_at_k(k, weights=weights), id="geo_spectrum"),
]


@pytest.mark.parametrize("make", SPECTRA)
@pytest.mark.parametrize(
    ("k", "weights"),
    [
        *((2, [1]), (1, [0.5, 0.5]), (2, []), (1, 0.5), (2, [[0.5, 0.5]]), (2, {0.5, 0.25})),
        *(([2, 3], [0.5, 0.5]), (2, "no")),
    ],
    ids=repr,
)
def test_weights_are_one_for_each_threshold(make, k, weights):
    message = rf"^weights must be one .* k={re.escape(f'{k!r} thresholds, got {weights!r}')}$"
    with pytest.raises(ValueError, match=message):
        make(k, weights)


@pytest.mark.parametrize("make", SPECTRA)
@pytest.mark.parametrize(
    "weights",
    [
        *([-0.1, 0.5], [0.6, 0.5], [0, 1 + 2e-12], [NAN, 0], [INF, 0], [0.5, NAN], [[0.5], [0.5]]),
        *(["0.5", "0.5"], [1j, 0], [True, False], [10**400, 0]),
    ],
    ids=lambda weights: repr(weights)[:20],
)
def test_weights_are_not_negative_and_sum_up_to_at_most_one(make, weights):
    message = rf"^weights must be numbers >= 0 .* 1, got {re.escape(repr(weights)[:200])}"
    with pytest.raises(ValueError, match=message):
        make(2, weights)


@pytest.mark.parametrize("make", SPECTRA)
@pytest.mark.parametrize(
    ("k", "weights"),
    [
        *((3, [0, 0, 0]), (3, (0.1, 0.2, 0.7)), (10, [0.1] * 10), (1, [1 + 5e-13])),
        *(([2], np.array([0.5, 0.25])), (2, pl.Series([0, 1])), (2, np.float32([0.5, 0.5]))),
    ],
    ids=["none", "tuple", "rounded sum", "room for rounding", "array", "series", "float32"],
)
def test_weights_may_sum_up_to_less_or_to_one_but_for_rounding(r1, make, k, weights):
    row = r1.scorio.report(make(k, weights), prior="uniform").row(0, named=True)
    assert 0 <= row["lo"] <= row["hi"] <= 1


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "2", [], [1, 1]], ids=repr)
def test_the_k_of_a_spectrum_is_checked_first(k):
    with pytest.raises(ValueError, match=rf"^k must .*got {re.escape(repr(k))}$"):
        ps.threshold_spectrum_at_k(k, [1])


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (ps.g_pass_at_k_tau([2, 4], 0.5), "g_pass_at_k_tau(tau=0.5)"),
        (ps.g_pass_at_k_tau(2, 1), "g_pass_at_k_tau(tau=1)"),
        (ps.threshold_spectrum_at_k(2, [0.5, 0]), "threshold_spectrum_at_k(weights=(0.5, 0))"),
        (ps.maj_at_k(), "maj_at_k"),
        (ps.mg_pass_at_k(2), "mg_pass_at_k"),
        (ps.auc_at_k(2, bounds=None), "auc_at_k(bounds=None)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_shows_the_arguments_that_differ_from_the_default(metric, name):
    assert metric.name == name


def test_metrics_are_equal_where_their_arguments_are():
    assert ps.g_pass_at_k_tau(2, 1) == ps.g_pass_at_k_tau([2], np.float64(1))
    assert ps.threshold_spectrum_at_k(2, [0, 1]) == ps.threshold_spectrum_at_k(2, np.array([0, 1]))
    different = [
        *(ps.g_pass_at_k_tau(2, 1), ps.g_pass_at_k_tau(2, 0.5), ps.maj_at_k(2), ps.maj_at_k()),
        *(ps.mg_pass_at_k(2), ps.auc_at_k(2), ps.auc_at_k(2, name="mg_pass_at_k")),
        *(ps.threshold_spectrum_at_k(2, [0, 1]), ps.threshold_spectrum_at_k(2, [1, 0])),
    ]
    assert len(set(different)) == len(different)


# Curves over thresholds: t beside k, and in its place.


COLUMNS = ["model", "metric", "k", "estimate"]


def test_only_results_with_a_curve_have_a_column_of_thresholds():
    assert curve_columns(COLUMNS, [ps.pass_at_k(2)]) == COLUMNS
    expected = ["model", "metric", "k", "t", "estimate"]
    assert curve_columns(COLUMNS, [ps.pass_at_k(2), ps.tail_pass(4)]) == expected


def test_a_key_cannot_have_the_name_of_the_thresholds():
    assert curve_columns(["t", "k"], [ps.pass_at_k(2)]) == ["t", "k"]
    with pytest.raises(ValueError, match="two columns named 't'"):
        curve_columns(["t", "k"], [ps.tail_pass(4)])


def test_the_thresholds_of_a_curve_stand_beside_its_draw_size():
    rows = pl.LazyFrame({"metric": ["tail_pass(k=4)", "pass_at_k"], "k": [3, 2]})
    found = with_curves(rows, [ps.tail_pass(4), ps.pass_at_k(2)]).collect()
    assert found.select("metric", "k", "t").rows() == [
        ("tail_pass(k=4)", 4, 3),
        ("pass_at_k", 2, None),
    ]


def test_one_column_has_the_threshold_of_a_curve_and_the_draw_size_of_others():
    rows = outcomes({(4, 2): 3}).scorio.report(ps.tail_pass(2), ps.pass_at_k(3))
    flat = in_one_column(rows)
    assert "t" not in flat.columns
    assert flat["k"].to_list() == [1, 2, 3]
    plain = rows.drop("t")
    assert in_one_column(plain).equals(plain)
