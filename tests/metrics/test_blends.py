"""Geometric blends: published numbers, brute force, an independent delta method, and zeros."""

import re
from collections.abc import Sequence
from itertools import combinations
from math import comb
from statistics import fmean

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.special import roots_jacobi

import polars_scorio as ps
from tests.made_logs import law, long, ragged

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
GEOMS = [ps.geom_at_k, ps.geom_ds_at_k]
ROOM = 1e-12  # for rounding: all numbers here lie between 0 and 1
NAN, INF = float("nan"), float("inf")
QUESTIONWISE = {"geom", "geom powers"}
WEIGHTS = (0.1, 0.0, 0.5, 0.25, 0.05, 0.1)

geoms = pytest.mark.parametrize("geom", GEOMS)


def above_half(k: int) -> list[float]:
    """The default spectrum: that of mG-Pass@k."""
    return [2 / k if 2 * r > k + 1 else 0.0 for r in range(1, k + 1)]


def scores(metric: str, j: int, k: int) -> tuple[float, float]:
    """What a draw of k with j successes scores in the two metrics that are blended."""
    if metric.startswith("geom"):
        return float(j > 0), float(j == k)
    weights = WEIGHTS[:k] if "weights" in metric else above_half(k)
    return float(j > 0), sum(weights[:j])


# --- published numbers


# The documentation of the package scorio, R1: moments printed to 6 digits, bounds to 4.
@pytest.mark.parametrize(
    ("metric", "moments", "interval"),
    [
        (ps.geom_at_k(2), (0.647106, 0.610666, 0.133107), (0.3498, 0.8716)),
        (ps.geom_ds_at_k(2), (0.653835, 0.612112, 0.132755), (0.3519, 0.8723)),
    ],
)
def test_reproduces_published_numbers(r1, metric, moments, interval):
    row = r1.scorio.report(metric, prior="uniform")
    # Half of the sixth digit that is printed.
    assert row.select("estimate", "mu", "sigma").row(0) == pytest.approx(moments, abs=5e-7)
    # Half of the fourth digit that is printed.
    assert row.select("lo", "hi").row(0) == pytest.approx(interval, abs=5e-5)


@pytest.mark.parametrize(("lam", "estimate"), [(0.5, 0.408248), (1.0, 1.0)])
def test_reproduces_published_spectra(r1, lam, estimate):
    # Half of the sixth digit that is printed.
    assert r1.scorio.report(ps.geo_spectrum_at_k(3, lam=lam))["estimate"].item() == pytest.approx(
        estimate, abs=5e-7
    )


# --- definitions


def blends(k: int) -> dict[str, tuple[ps.Metric, tuple[float, float]]]:
    """Blends of draws of k by name, with their powers."""
    powers = {"pass_power": 2, "unanimous_power": 0.25}
    free = {"bounds": None}
    return {
        "geom": (ps.geom_at_k(k, name="geom", **free), (0.5, 0.5)),
        "geom powers": (ps.geom_at_k(k, name="geom powers", **powers, **free), (2, 0.25)),
        "geom_ds": (ps.geom_ds_at_k(k, name="geom_ds", **free), (0.5, 0.5)),
        "geom_ds powers": (ps.geom_ds_at_k(k, name="geom_ds powers", **powers, **free), (2, 0.25)),
        "star": (ps.geo_spectrum_star_at_k(k, name="star", **free), (0.5, 0.5)),
        "lam": (ps.geo_spectrum_at_k(k, lam=0.25, name="lam", **free), (0.25, 0.75)),
        "weights": (
            ps.geo_spectrum_at_k(k, weights=WEIGHTS[:k], name="weights", **free),
            (0.5, 0.5),
        ),
    }


@law
@given(ragged(), st.integers(1, 6))
def test_estimates_blend_the_means_over_every_possible_draw(outcomes, k):
    asked = blends(k)
    for row in (
        long(outcomes)
        .scorio.report(*(m for m, _ in asked.values()), prior="uniform")
        .rows(named=True)
    ):
        if k > min(map(len, outcomes)):
            assert row["estimate"] is None
            continue
        name, (_, (a, b)) = row["metric"], asked[row["metric"]]
        scored = [[scores(name, sum(d), k) for d in combinations(o, k)] for o in outcomes]
        means = [tuple(map(fmean, zip(*draws, strict=True))) for draws in scored]
        if name not in QUESTIONWISE:
            means = [tuple(map(fmean, zip(*means, strict=True)))]
        expected = fmean(x**a * y**b for x, y in means)
        assert row["estimate"] == pytest.approx(expected, abs=ROOM), name


def latent(name: str, a: float, b: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of the two metrics of one question, p ~ Beta(a, b).

    By Gauss-Jacobi quadrature, which is exact for polynomials such as these.
    """
    nodes, weights = roots_jacobi(k + 1, b - 1, a - 1)
    p = (1 + nodes) / 2
    values = sum(
        np.outer(scores(name, j, k), comb(k, j) * p**j * (1 - p) ** (k - j)) for j in range(k + 1)
    )
    return values @ weights / weights.sum(), np.cov(values, aweights=weights, bias=True)


def delta(means: np.ndarray, covariances: np.ndarray, powers: tuple) -> tuple[float, float]:
    """A blend of means, and its variance from the slopes."""
    (x, y), (a, b) = means, powers
    slopes = np.array([a * x ** (a - 1) * y**b, b * x**a * y ** (b - 1)])
    return x**a * y**b, slopes @ covariances @ slopes


@pytest.mark.parametrize("k", [2, 3, 5, 6])
def test_mu_and_sigma_follow_the_delta_method(k):
    log = long([[0, 1, 1], [0], [1] * 7, [1, 0]])
    # Of log and prior: the successes, and the failures.
    betas = [(2.5, 3.0), (0.5, 3.0), (7.5, 2.0), (1.5, 3.0)]
    asked = blends(k)
    rows = log.scorio.report(*(metric for metric, _ in asked.values()), prior=(0.5, 2))
    for row in rows.rows(named=True):
        name, (_, powers) = row["metric"], asked[row["metric"]]
        moments = [latent(name, a, b, k) for a, b in betas]
        if name in QUESTIONWISE:
            mus, variances = zip(*(delta(*each, powers) for each in moments), strict=True)
            mu, variance = np.mean(mus), np.sum(variances) / 4**2
        else:
            means, covariances = zip(*moments, strict=True)
            mu, variance = delta(np.mean(means, axis=0), np.sum(covariances, axis=0) / 4**2, powers)
        # The accuracy of the quadrature.
        assert row["mu"] == pytest.approx(mu, rel=1e-10), name
        assert row["sigma"] == pytest.approx(variance**0.5, rel=1e-10), name


@geoms
def test_negative_powers_follow_the_delta_method_too(geom):
    log, powers = long([[0, 1, 1, 1]]), (-0.5, 1.5)
    metric = geom(2, pass_power=-0.5, unanimous_power=1.5)
    row = log.scorio.report(metric, prior="uniform").row(0, named=True)
    mu, variance = delta(*latent("geom", 4.0, 2.0, 2), powers)
    assert row["estimate"] == pytest.approx(1**-0.5 * 0.5**1.5, rel=ROOM)
    # The accuracy of the quadrature, as above.
    assert (row["mu"], row["sigma"]) == pytest.approx((mu, variance**0.5), rel=1e-10)


def exact(n: int, c: int, k: int) -> list[float | None]:
    """Estimate, mu and sigma of Geom@k of one question, in 100 digits."""

    def moment(i: int, j: int) -> mpmath.mpf:
        """E[p^i (1 - p)^j], p ~ Beta(c + 1, n - c + 1)."""
        return mpmath.beta(c + 1 + i, n - c + 1 + j) / mpmath.beta(c + 1, n - c + 1)

    with mpmath.workdps(100):
        x, y = 1 - moment(0, k), moment(k, 0)
        var_x, var_y = moment(0, 2 * k) - (1 - x) ** 2, moment(2 * k, 0) - y**2
        covariance = (1 - x) * y - moment(k, k)
        relative = var_x / x**2 + var_y / y**2 + 2 * covariance / (x * y)
        posterior = [float(mpmath.sqrt(x * y)), float(mpmath.sqrt(x * y * relative) / 2)]
        if k > n:
            return [None, *posterior]
        draws = mpmath.mpf(comb(n, k))
        estimate = mpmath.sqrt((draws - comb(n - c, k)) * comb(c, k)) / draws
        return [float(estimate), *posterior]


@geoms
@pytest.mark.parametrize("n", [1, 1000, 100_000])
def test_large_numbers_of_trials_lose_no_digits(geom, n):
    states = sorted({0, 1, n // 2, n - 1, n})
    counts = [(c, 0, j, trials) for c in states for j, trials in enumerate((n - c, c))]
    log = pl.DataFrame(counts, ["model", "question", "category", "count"], orient="row")
    rows = log.scorio(count="count").report(geom([1, 4, 1000, 1024]), prior="uniform")
    for c, k, estimate, *posterior in rows.select("model", "k", "estimate", "mu", "sigma").rows():
        expected, *moments = exact(n, c, k)
        # What the package promises; where E[p^k] or its variance leave the floats, it is 0.
        assert estimate == (None if expected is None else pytest.approx(expected, rel=1e-9))
        assert posterior == pytest.approx(moments, rel=1e-9, abs=1e-25), (c, k)


# --- laws


@pytest.fixture
def log():
    return long([[0, 1, 1, 0, 1, 1, 0, 1], [1] * 9, [0] * 7, [0, 0, 1, 0, 0, 0, 0]])


def spectrum(k: int, weights: Sequence[float] = WEIGHTS) -> ps.Metric:
    return ps.threshold_spectrum_at_k(k, weights[:k])


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("metric", "same"),
    [
        (lambda k: ps.geo_spectrum_at_k(k, lam=1), ps.pass_at_k),
        (lambda k: ps.geo_spectrum_at_k(k, lam=1, weights=WEIGHTS[:k]), ps.pass_at_k),
        (lambda k: ps.geo_spectrum_at_k(k, lam=0), ps.mg_pass_at_k),
        (lambda k: ps.geo_spectrum_at_k(k, lam=0), lambda k: spectrum(k, above_half(k))),
        (lambda k: ps.geo_spectrum_at_k(k, lam=0, weights=WEIGHTS[:k]), spectrum),
        (ps.geo_spectrum_star_at_k, ps.geo_spectrum_at_k),
        (lambda k: ps.geo_spectrum_at_k(k, weights=[0] * (k - 1) + [1]), ps.geom_ds_at_k),
        (lambda k: ps.geom_at_k(k, pass_power=1, unanimous_power=0), ps.pass_at_k),
        (lambda k: ps.geom_at_k(k, pass_power=0, unanimous_power=1), ps.pass_hat_k),
        (lambda k: ps.geom_ds_at_k(k, pass_power=1, unanimous_power=0), ps.pass_at_k),
        (lambda k: ps.geom_ds_at_k(k, pass_power=0, unanimous_power=1), ps.pass_hat_k),
    ],
)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_one_metric_is_a_case_of_another(log, metric, same, k):
    accessor = log.scorio(prior="uniform")
    rows, expected = (accessor.report(make(k)).select(NUMBERS) for make in (metric, same))
    assert_frame_equal(rows, expected, rel_tol=0, abs_tol=ROOM)


@pytest.mark.parametrize(
    ("blend", "same"),
    [
        (ps.geom_at_k(1), ps.avg()),
        (ps.geom_at_k(1, pass_power=0.3, unanimous_power=0.7), ps.avg()),
        (ps.geom_at_k(3, pass_power=1, unanimous_power=0), ps.pass_at_k(3)),
        (ps.geom_at_k(3, pass_power=0, unanimous_power=1), ps.pass_hat_k(3)),
    ],
    ids=str,
)
def test_a_blend_that_is_a_mean_over_draws_is_exact(blend, same):
    """The nearly unbiased credits would be off by .0005 and more."""
    log = long([[0, 1, 1, 0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [0, 1, 1]])
    columns = ["sigma", "estimate", "lo", "hi"]
    rows, expected = (log.scorio.report(each).select(columns) for each in (blend, same))
    assert_frame_equal(rows, expected, rel_tol=0, abs_tol=ROOM)


def test_of_a_single_question_both_levels_say_the_same(log):
    powers = {"pass_power": 0.3, "unanimous_power": 0.9}
    rows, expected = (
        log.scorio.report(geom([1, 3], **powers), per="question", prior="uniform") for geom in GEOMS
    )
    assert_frame_equal(rows.select(NUMBERS), expected.select(NUMBERS), rel_tol=0, abs_tol=ROOM)


def test_the_blend_of_a_dataset_is_not_the_mean_of_its_questions(log):
    whole, questions = (
        log.scorio.report(ps.geom_ds_at_k(3), per=per, prior="uniform")
        for per in ("model", "question")
    )
    means = {name: questions[name].mean() for name in ("estimate", "mu")}
    assert all(abs(whole[name].item() - each) > 0.01 for name, each in means.items())
    blended = log.scorio.report(ps.geom_at_k(3), prior="uniform").row(0, named=True)
    assert means == pytest.approx({name: blended[name] for name in means}, abs=ROOM)


# --- zeros


@geoms
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (-1, 1), (-0.5, 0.25), (0, 2)])
def test_a_positive_power_of_zero_is_zero(geom, a, b):
    metric = geom(2, pass_power=a, unanimous_power=b)
    row = long([[0, 0, 0]]).scorio.report(metric, prior="uniform")
    assert row["estimate"].item() == 0
    assert row["mu"].item() > 0
    assert row["sigma"].item() > 0


def test_a_mean_of_zero_has_no_doubt():
    # Of one trial, no success lies beyond one half: mG-Pass@1 is zero whatever is seen.
    for metric in (ps.geo_spectrum_star_at_k(1), ps.geo_spectrum_at_k(1, lam=0)):
        row = long([[0, 1]]).scorio.report(metric, prior="uniform")
        assert row.select(NUMBERS).row(0) == (0, 0, 0, 0, 0)


@geoms
@pytest.mark.parametrize(("a", "b"), [(1, -1), (0, -0.5), (-1, -1)])
def test_a_negative_power_of_zero_is_refused_with_its_place(geom, a, b):
    # The first model of the first stratum is fine; in three others no draw of 2 succeeds.
    log = pl.concat(
        long([[0, last, 1]], model).with_columns(domain=pl.lit(domain))
        for domain, model, last in [("x", "a", 1), ("x", "b", 0), ("y", "a", 0), ("y", "b", 0)]
    )
    metric = geom([2, 1], pass_power=a, unanimous_power=b, name="ratio")
    plan = log.lazy().scorio(by="domain").report(ps.pass_at_k(1), metric)
    message = (
        r"^3 results have a negative power of zero, the first at domain='x', model='b', "
        r"metric='ratio', k=2: .* Use powers that are not negative\.$"
    )
    with pytest.raises(ValueError, match=message):
        plan.collect()
    good = log.filter(model="a", domain="x").scorio(by="domain")
    assert good.report(metric)["estimate"].is_finite().all()


@geoms
def test_the_place_of_a_negative_power_of_zero_can_be_a_question(geom):
    log, metric = long([[1, 1], [0, 1], [0, 0]]), geom(2, pass_power=0, unanimous_power=-1)
    message = r"^2 results .* first at model='m', question=1, metric='geom.*unanimous_power=-1\)'"
    with pytest.raises(ValueError, match=message):
        log.scorio.report(metric, per="question")
    with pytest.raises(ValueError, match=r"^1 results .* first at metric='geom.*', k=2"):
        log.filter(question=1).drop("model").scorio(model=None).report(metric)


@geoms
def test_only_a_dataset_without_any_success_is_a_zero_of_the_dataset(geom):
    log, metric = long([[1, 1, 0], [0, 0, 1]]), geom(2, pass_power=1, unanimous_power=-1)
    if geom is ps.geom_at_k:
        with pytest.raises(ValueError, match=r"^1 results have a negative power of zero"):
            log.scorio.report(metric)
    else:  # Pass@2 is (1 + 2/3) / 2, Pass^2 is (1/3 + 0) / 2
        assert log.scorio.report(metric)["estimate"].item() == pytest.approx(5, rel=ROOM)


@geoms
def test_where_k_exceeds_the_trials_there_is_no_zero(geom):
    metric = geom(3, unanimous_power=-1, bounds=None)
    row = long([[0, 0]]).scorio.report(metric, prior="uniform").row(0, named=True)
    assert row["estimate"] is None
    assert 1 < row["mu"] < INF


# 1 / E[p^2]^100000; 1 / E[p^4096] after a thousand failures, as a float 1 / 0; and 1 / E[p^400]
# after 399 failures, which is 1.9e239 with a sigma of 1e314.
@geoms
@pytest.mark.parametrize(
    ("outcomes", "k", "power"),
    [([0, 1, 1, 1], 2, -1e5), ([0] * 1000, 4096, -1), ([0] * 399, 400, -1)],
    ids=["power", "k", "sigma"],
)
def test_a_number_that_does_not_fit_into_a_float_is_refused(geom, outcomes, k, power):
    metric = geom(k, pass_power=0, unanimous_power=power, name="x")
    with pytest.raises(ValueError, match=rf"^1 results have .* first at .* metric='x', k={k}"):
        long([outcomes]).scorio.report(metric, prior="uniform")


# --- arguments


@geoms
@pytest.mark.parametrize(
    "power", [NAN, INF, -INF, "1", None, 1j, True, 10**400], ids=lambda power: repr(power)[:9]
)
@pytest.mark.parametrize("argument", ["pass_power", "unanimous_power"])
def test_powers_are_finite_numbers(geom, argument, power):
    message = rf"^{argument} must be a finite number, got {re.escape(repr(power)[:200])}"
    with pytest.raises(ValueError, match=message):
        geom(2, **{argument: power})


@geoms
@pytest.mark.parametrize(("a", "b"), [(0, 0), (0.0, -0.0)])
def test_powers_are_not_both_zero(geom, a, b):
    message = rf"^pass_power and unanimous_power must not both be zero, got {a!r} and {b!r}$"
    with pytest.raises(ValueError, match=message):
        geom(2, pass_power=a, unanimous_power=b)


@pytest.mark.parametrize("lam", [-0.1, 1.1, NAN, INF, True, "0.5", None, [0.5], 1j], ids=repr)
def test_lam_lies_between_zero_and_one(lam):
    message = rf"^lam must be a number from 0 to 1, got {re.escape(repr(lam))}$"
    with pytest.raises(ValueError, match=message):
        ps.geo_spectrum_at_k(2, lam=lam)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (ps.geom_at_k([1, 2]), "geom_at_k"),
        (ps.geom_at_k(2, pass_power=1), "geom_at_k(pass_power=1)"),
        (ps.geom_ds_at_k(2, unanimous_power=-2), "geom_ds_at_k(unanimous_power=-2)"),
        (ps.geom_ds_at_k(2, pass_power=2), "geom_ds_at_k(pass_power=2)"),
        (ps.geo_spectrum_at_k(2, lam=0.5), "geo_spectrum_at_k"),
        (ps.geo_spectrum_at_k(2, lam=0), "geo_spectrum_at_k(lam=0)"),
        (ps.geo_spectrum_at_k(2, weights=[0.5, 0]), "geo_spectrum_at_k(weights=(0.5, 0))"),
        (ps.geo_spectrum_star_at_k(2, bounds=None), "geo_spectrum_star_at_k(bounds=None)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_shows_the_arguments_that_differ_from_the_default(metric, name):
    assert metric.name == name


@pytest.mark.parametrize("prior", ["uniform", "population", None])
@pytest.mark.parametrize("metric", [ps.geom_at_k, ps.geom_ds_at_k])
def test_a_blend_of_one_trial_with_itself_is_known_exactly(metric, prior):
    one = metric(1, pass_power=-0.5, unanimous_power=0.5)
    log = long([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1], [0, 0, 0, 1, 0]] * 9)
    row = log.scorio.report(one, prior=prior).row(0, named=True)
    assert row["sigma"] == pytest.approx(0.0, abs=1e-15)
    numbers = row["lo"], row.get("mu", row["estimate"]), row["hi"]
    assert numbers == pytest.approx([1.0] * 3, rel=1e-14)  # of two powers
