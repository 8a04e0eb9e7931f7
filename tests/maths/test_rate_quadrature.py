"""Sums over rates, against exact polynomials, and logs at sizes beyond them."""

import resource
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.maths import variance
from polars_scorio.maths.blend_variances import blend_variance
from polars_scorio.maths.credit_numbers import credit_numbers
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    excess_over_half,
    majority_gains,
)
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.variance import (
    Draw,
    credit_of,
    fixed_gains,
    noise_at_rates,
    posterior_parts,
    rate_grid,
)
from polars_scorio.maths.variance_estimates import credit_variances
from tests.maths.cases import states_of

SPREAD = [(300, 0, 20), (300, 1, 4), (300, 90, 3), (300, 200, 5), (300, 299, 2), (300, 300, 9)]
GROUPS = {
    "spread": SPREAD,
    "ragged": [(220, 0, 3), (250, 250, 4), (300, 140, 5), (300, 7, 1)],
    "all wrong": [(300, 0, 30)],
    "all right": [(300, 300, 30)],
    "alike": [(300, 98, 20), (300, 100, 30), (300, 103, 20)],
    "one question": [(300, 3, 1)],
}
DRAWS = {
    "pass@100": fixed_gains(any_success(100)),
    "pass@200": fixed_gains(any_success(200)),
    "pass^70": fixed_gains(all_success(70)),
    "maj@101": fixed_gains(majority_gains(101)),
    "mg@90": fixed_gains(excess_over_half(90)),
    "auc@80": fixed_gains(area_under_curve(80)),
    "maj@n": majority_gains,
    "pass^n": all_success,
}
CLOSE = 1e-9  # of a number, or of the range where the number is next to nothing


@pytest.fixture
def summed(monkeypatch):
    """Sums in place of polynomials, whatever the draw; no sums before it is called."""
    monkeypatch.setattr(variance, "_SOME_RATES", 0)

    def set_limit():
        variance.kept_rate_moments.cache_clear()
        monkeypatch.setattr(variance, "_PAIRED", 1)
        monkeypatch.setattr(variance, "_SOME_RATES", 10**6)

    yield set_limit
    variance.kept_rate_moments.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("name", GROUPS)
def test_sums_agree_with_polynomials(name, target, summed):
    if name == "one question" and target == "population":
        pytest.skip("one question says nothing about others")
    fitted, draws = Calibrated.fit(states_of(GROUPS[name])), [*DRAWS.values()]
    known = credit_numbers(fitted, draws, 0.95, target)
    summed()
    # Questions that are all alike: sums take no population narrower than 1e6 trials.
    close = 1e-5 if name == "alike" else CLOSE
    for found, exact in zip(credit_numbers(fitted, draws, 0.95, target), known, strict=True):
        np.testing.assert_allclose(found[:5], exact[:5], rtol=close, atol=CLOSE**2)


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure
@pytest.mark.parametrize(("c", "lo", "hi"), [(0, 0.0, 0.0111474889), (300, 0.9886247526, 1.0)])
def test_a_long_majority_of_questions_that_are_all_alike_has_an_interval(c, lo, hi):
    log = ps.from_successes(pl.DataFrame({"model": "m", "question": range(30), "n": 300, "c": c}))
    row = log.scorio(count="count", validate=False).report(ps.maj_at_k(280)).row(0, named=True)
    assert (row["lo"], row["hi"]) == pytest.approx((lo, hi), abs=1e-9)


@pytest.mark.parametrize("powers", [(0.5, 0.5), (1.0, -0.5)])
def test_blends_agree_with_polynomials(powers, summed):
    fitted = Calibrated.fit(states_of(SPREAD))
    gains = any_success(90), excess_over_half(90)
    known = blend_variance(fitted, *gains, powers)
    summed()
    found = blend_variance(fitted, *gains, powers)
    for name in ("mean", "variance", "factor"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=CLOSE)


@pytest.mark.parametrize(("c", "shape"), [(0, (0.05, 0.01)), (300, (0.02, 3.0)), (70, (9e4, 2e4))])
def test_the_grid_integrates_any_beta_distribution(c, shape):
    grid = rate_grid(300 + sum(shape))
    a, b = shape[1] + c, shape[0] + 300 - c
    values = np.stack([grid.p * grid.q, 1 - grid.p * grid.q, (grid.p * grid.q) ** 2])
    prior, likelihood, scale, _ = posterior_parts(np.array([shape]), 300, np.array([c]), grid)
    found = (values * prior @ likelihood.T) * scale
    known = a * b / ((a + b) * (a + b + 1))  # E[p (1 - p)] of a Beta distribution
    assert found[0, 0] == pytest.approx(known, rel=1e-12)


def test_shared_trials_make_the_variance_of_a_power():
    p = np.array([1e-9, 1e-4, 0.03, 0.5, 0.93, 1 - 1e-6])
    n, k = np.array([200, 3000]), 200
    found = noise_at_rates(p, 1 - p, n, credit_of(all_success(k)))
    np.testing.assert_allclose(found[0], p**k * (1 - p**k), rtol=1e-9, atol=1e-200)
    # A sum of 200 terms: C(k, r)^2 / C(n, r) of each rate.
    known = variance.variance_at(p, 1 - p, n, Draw.from_gains(all_success(k)))
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-50)


def counted_log(n, questions, models=2):
    """Counts of a repeated-sampling study."""
    random = np.random.default_rng(0)
    c = random.binomial(n, random.beta(0.3, 1, (models, questions)))
    return pl.DataFrame(
        {
            "model": np.repeat([f"m{model}" for model in range(models)], 2 * questions),
            "question": np.tile(np.repeat(np.arange(questions), 2), models),
            "category": np.tile([0, 1], models * questions),
            "count": np.stack([n - c, c], axis=-1).ravel(),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "questions"), [(20_000, 128), (1_000_000, 3)])
def test_long_logs_take_seconds_and_megabytes(n, questions):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    log = counted_log(n, questions).scorio(count="count")
    report = log.report(ps.pass_at_k([1, 100]))
    assert time.process_time() - start < 20  # about 1 s and 3 s; the tables took minutes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    assert (report["sigma"] > 0).all()


def test_an_average_has_any_number_of_trials():
    n = 10**15
    log = counted_log(n, 3, models=1).scorio(count="count")
    (row,) = log.report(ps.avg()).rows(named=True)
    c = counted_log(n, 3, models=1).filter(category=1)["count"].to_numpy()
    # The noise of a question is p (1 - p) / n; the free fit knows 1,001 rates.
    assert row["sigma"] == pytest.approx(np.sqrt((c / n * (1 - c / n) / n).sum()) / 3, rel=1e-3)


def test_a_draw_that_would_take_minutes_is_refused_at_once():
    states = states_of([(10**13, 10**12, 2)])
    with pytest.raises(
        ValueError, match=r"more than 256 out of 10,\d+,\d+,\d+,\d+ trials .*minutes"
    ):
        credit_variances(Calibrated.fit(states), [fixed_gains(majority_gains(300))])


# Three questions of about the same rate, or of rates at both ends: each has its own tables.
LONG_QUESTIONS = """
import re, sys, time
from pathlib import Path
import polars as pl, polars_scorio as ps
n = int(sys.argv[1])
for rates in (0.3, 0.301, 0.299), (0.3, 0.3, 0), (0, 0.5, 1):
    right = [round(n * rate) for rate in rates]
    counts = pl.DataFrame({"model": "a", "question": range(3), "right": right})
    counts = counts.with_columns(wrong=n - pl.col("right"))
    log = counts.unpivot(["right", "wrong"], index=["model", "question"], value_name="count")
    start = time.process_time()
    passes = ps.pass_at_k([1, 8, 100, 1000] if n == 10**6 else [1, 8, 100])
    metrics = ps.avg(), passes, ps.pass_hat_k([2, 64]), ps.maj_at_k(9), ps.auc_at_k(64)
    report = log.scorio(category="variable", success="right", count="count").report(*metrics)
    assert not report.select("sigma", "lo", "hi").null_count().sum_horizontal().item(), report
    assert time.process_time() - start < 30
# Not the peak of getrusage: that is also the one of the process that started this one.
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_questions_of_any_number_of_trials_take_seconds_and_megabytes(n):
    # About 1 s and 150 MB, with Polars itself; a table of the trials took 8 GB and more.
    command = [sys.executable, "-c", LONG_QUESTIONS, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert not done.returncode, done.stderr
    assert int(done.stdout) < 500_000


def test_nearly_certain_estimates_have_both_ends():
    log = counted_log(10**6, 3, models=1).with_columns(count=10**6 // 2)
    (row,) = log.scorio(count="count").report(ps.pass_at_k(700)).rows(named=True)
    assert (row["lo"], row["hi"]) == (1.0, 1.0)
