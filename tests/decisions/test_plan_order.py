"""Trials needed to tell neighbours apart."""

from bisect import bisect_left
from itertools import pairwise
from math import hypot, sqrt
from statistics import NormalDist, harmonic_mean

import polars as pl
import pytest

from tests import moments
from tests.decisions.plan_cases import METRIC, MODELS, NEEDED, ROLES, sigmas_today
from tests.made_logs import drawn, outcomes
from tests.moments import W, questions

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def smallest(enough) -> int:
    """The smallest number that is enough; every larger one is."""
    return bisect_left(range(10**12), x=True, key=enough)


# --- trials needed for an order


def signal(mu, squares):
    """B: what is left of the spread of some models without their noise."""
    weight = [1 / square for square in squares]
    mean = sum(w * m for w, m in zip(weight, mu, strict=True)) / sum(weight)
    spread = sum(w * (m - mean) ** 2 for w, m in zip(weight, mu, strict=True))
    return max(0.0, 1 - (len(mu) - 1.5) / spread)


def chance(diff, now, then, z, share):
    """The chance that a pair is decided, from its squared sigmas now and then."""
    kept = then / now + (1 - then / now) * share
    change = sqrt((now - then) * kept)
    sides = (diff * kept, -diff * kept)
    return sum(NormalDist().cdf((side - z * sqrt(then)) / change) for side in sides)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_neighbours_are_told_apart_by_the_smallest_number(log, confidence):
    # Model a is better, so that not all of the spread is noise.
    log = log.with_columns(category=pl.when(model="a", category=0).then(2).otherwise("category"))
    rows = log.scorio(**ROLES).trials_needed(
        METRIC, confidence=confidence, max_trials=10**12, simultaneous=False
    )
    assert rows.columns == ["domain", "model_a", "model_b", *NEEDED]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    pairs, planned, today = rows.iter_rows(named=True), 0, sigmas_today(log.scorio(**ROLES), METRIC)
    report = log.scorio(**ROLES).report(METRIC)
    for domain in ("air", "web"):
        own = {model: questions(log, domain, model) for model in MODELS}
        mu = {model: float(moments.avg(counts, W)[0]) for model, counts in own.items()}
        squares = [sigma**2 for sigma in report.filter(domain=domain)["sigma"]]
        typical = {model: harmonic_mean(map(sum, counts)) for model, counts in own.items()}
        share = signal([mu[model] for model in MODELS], squares)
        order = sorted(MODELS, key=lambda model: -mu[model])
        for a, b in pairwise(order):
            row, diff = next(pairs), mu[a] - mu[b]
            assert (row["domain"], row["model_a"], row["model_b"]) == (domain, a, b)

            def square(m: int) -> float:
                left = {each: typical[each] / (typical[each] + m) for each in (a, b)}  # noqa: B023
                return sum(today[domain, each] ** 2 * part for each, part in left.items())  # noqa: B023

            def enough(m: int) -> bool:
                return m > 0 and chance(diff, square(0), square(m), z, share) >= 0.8  # noqa: B023

            n = [sum(c) for each in (a, b) for c in own[each]]
            assert (row["trials_min"], row["trials_max"]) == (min(n), max(n))
            if diff >= z * sqrt(square(0)):  # by a normal interval: that of today may hold zero
                assert row["extra_trials"] in {0, 1}
            elif share == 0:
                assert [row[name] for name in NEEDED[2:]] == [None] * 3
            else:
                planned += 1
                extra = smallest(enough)
                # Variances as floats cancel some digits, and the last trials add little.
                assert row["extra_trials"] == pytest.approx(extra, rel=1e-6)
                assert row["total"] == row["extra_trials"] * 14
                # The oracle is exact until the last root; variances as floats cancel some digits.
                assert row["sigma"] == pytest.approx(sqrt(square(row["extra_trials"])), rel=1e-9)
    assert planned > 0


@pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")
def test_an_order_that_is_clear_needs_nothing():
    log = pl.concat([outcomes({(9, 9): 9}, "a"), outcomes({(9, 1): 9}, "b")])
    row = log.scorio.trials_needed().row(0, named=True)
    assert (row["model_a"], row["extra_trials"], row["total"]) == ("a", 0, 0)
    # .0429 of the report, with what is uncertain of the variance.
    assert row["sigma"] == pytest.approx(hypot(*sigmas_today(log.scorio).values()), rel=1e-9)
    assert row["sigma"] == pytest.approx(0.0435, abs=1e-4)


@pytest.mark.parametrize("confidence", [0.4, 0.5, 0.95])
def test_equal_models_are_never_told_apart_as_they_are(confidence):
    log = pl.concat([outcomes({(4, 3): 1, (4, 2): 1}, model) for model in "ab"])
    row = log.scorio.trials_needed(confidence=confidence, power=0.5).row(0, named=True)
    assert [row[name] for name in NEEDED] == [4, 4, None, None, None]


def test_of_equal_models_the_first_by_name_comes_first():
    log = pl.concat([outcomes({(4, 3): 1, (4, 2): 1}, model) for model in "bca"])
    pairs = log.scorio.trials_needed().select("model_a", "model_b").rows()
    assert pairs == [("a", "b"), ("b", "c")]


def test_pairs_follow_the_ranking(log):
    rows = log.scorio(**ROLES).trials_needed()
    rank = log.scorio(**ROLES).rank()
    for domain in ("air", "web"):
        names = rank.filter(domain=domain)["model"].to_list()
        pairs = rows.filter(domain=domain).select("model_a", "model_b").rows()
        assert pairs == list(pairwise(names))


def test_a_single_model_has_no_neighbour(log):
    rows = log.filter(model="a").scorio(**ROLES).trials_needed()
    assert rows.height == 0
    assert rows.schema == log.scorio(**ROLES).trials_needed().schema
