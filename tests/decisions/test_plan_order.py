"""Trials needed to tell neighbours apart."""

from bisect import bisect_left
from itertools import pairwise
from math import sqrt
from statistics import NormalDist

import polars as pl
import pytest

import polars_scorio as ps
from tests import moments
from tests.made_logs import drawn, outcomes
from tests.moments import W, expected, left, questions

ROLES = {"by": "domain", "success": 2}
NEEDED = ["trials_min", "trials_max", "extra", "total", "sigma"]
MODELS = ["a", "b", "c"]
METRICS = {"bayes": (ps.bayes(W), False), "avg": (ps.avg(W), True)}
METRIC = pytest.mark.parametrize(("metric", "observed"), METRICS.values(), ids=METRICS)


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def smallest(enough) -> int:
    """The smallest number that is enough; every larger one is."""
    return bisect_left(range(20_000_000), x=True, key=enough)


# --- trials needed for an order


@METRIC
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_neighbours_are_told_apart_by_the_smallest_number(log, metric, observed, confidence):
    rows = log.scorio(**ROLES).trials_needed(
        metric, confidence=confidence, assurance=0.5, max_trials=20_000_000
    )
    assert rows.columns == ["domain", "model_a", "model_b", *NEEDED]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    oracle = moments.avg if observed else moments.bayes
    pairs = rows.iter_rows(named=True)
    for domain in ("air", "web"):
        own = {model: questions(log, domain, model) for model in MODELS}
        mu = {model: oracle(counts, W)[0] for model, counts in own.items()}
        order = sorted(MODELS, key=lambda model: -mu[model])
        for a, b in pairwise(order):
            row, diff = next(pairs), float(mu[a] - mu[b])
            assert (row["domain"], row["model_a"], row["model_b"]) == (domain, a, b)

            def square(m: int) -> float:
                return sum(expected(own[each], m, observed=observed) for each in (a, b))  # noqa: B023

            extra = smallest(lambda m: diff >= z * sqrt(square(m)))  # noqa: B023
            assert row["extra"] == extra
            assert row["total"] == extra * 14
            # The oracle is exact until the last root; variances as floats cancel some digits.
            assert row["sigma"] == pytest.approx(sqrt(square(extra)), rel=1e-11)
            n = [sum(c) for each in (a, b) for c in own[each]]
            assert (row["trials_min"], row["trials_max"]) == (min(n), max(n))


@pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")
def test_an_order_that_is_clear_needs_nothing():
    log = pl.concat([outcomes({(9, 9): 9}, "a"), outcomes({(9, 1): 9}, "b")])
    row = log.scorio.trials_needed().row(0, named=True)
    assert (row["model_a"], row["extra"], row["total"]) == ("a", 0, 0)
    sigma = log.scorio.compare()["sigma"].item()
    # The comparison takes the root of the same two variances: the last bits.
    assert row["sigma"] == pytest.approx(sigma, rel=1e-14)


@pytest.mark.parametrize("confidence", [0.4, 0.5, 0.95])
def test_equal_models_are_never_told_apart_as_they_are(confidence):
    log = pl.concat([outcomes({(4, 3): 1, (4, 2): 1}, model) for model in "ab"])
    row = log.scorio.trials_needed(confidence=confidence, assurance=0.5).row(0, named=True)
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


@pytest.mark.parametrize("half_width", [None, 0.1])
def test_prior_trials_count(log, half_width):
    prior = drawn(9, range(7), most=2)
    rows = log.scorio(**ROLES).trials_needed(
        ps.bayes(W), prior=prior, half_width=half_width, assurance=0.5
    )
    z = NormalDist().inv_cdf(0.975)
    for row in rows.iter_rows(named=True):
        names = [row["model"]] if half_width else [row["model_a"], row["model_b"]]
        parts = [
            (questions(log, row["domain"], name), questions(prior, row["domain"], name))
            for name in names
        ]
        mu = [float(moments.bayes(own, W, earlier)[0]) for own, earlier in parts]
        reach = half_width or mu[0] - mu[1]

        def square(m: int) -> float:
            return sum(
                float(sum(left(c, m, observed=False, d=d) for c, d in zip(*part, strict=True))) / 49
                for part in parts  # noqa: B023
            )

        assert row["extra"] == smallest(lambda m: z * sqrt(square(m)) <= reach)  # noqa: B023
        n = [sum(c) for own, _ in parts for c in own]  # prior trials are not counted here
        assert (row["trials_min"], row["trials_max"]) == (min(n), max(n))
