"""How many more trials, and of what: the numbers by fractions, one candidate after the other."""

from bisect import bisect_left
from math import nan, sqrt
from statistics import NormalDist, harmonic_mean

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import studentized_range

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.decisions.plan_cases import KEYS, METRIC, MODELS, NEEDED, ROLES, sigmas_today
from tests.made_logs import drawn, long, unreadable
from tests.moments import W, questions


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def smallest(enough) -> int:
    """The smallest number that is enough; every larger one is."""
    return bisect_left(range(20_000_000), x=True, key=enough)


# --- trials needed for a width


@pytest.mark.parametrize(("half_width", "confidence"), [(0.05, 0.95), (0.03, 0.9), (0.3, 0.95)])
def test_the_width_is_reached_by_the_smallest_number(log, half_width, confidence):
    accessor, z = log.scorio(**ROLES), NormalDist().inv_cdf((1 + confidence) / 2)
    rows = accessor.trials_needed(METRIC, half_width=half_width, confidence=confidence)
    assert rows.columns == [*KEYS, *NEEDED]
    assert rows.select(KEYS).rows() == [(d, m) for d in ("air", "web") for m in MODELS]
    today = sigmas_today(accessor, METRIC)
    for row in rows.iter_rows(named=True):
        own = [sum(c) for c in questions(log, row["domain"], row["model"])]
        now, n = today[row["domain"], row["model"]], harmonic_mean(own)
        extra = smallest(lambda m, now=now, n=n: z * now * sqrt(n / (n + m)) <= half_width)
        assert row["extra_trials"] == extra
        assert row["total"] == extra * 7
        # The same formula in another order: rounding.
        assert row["sigma"] == pytest.approx(now * sqrt(n / (n + extra)), rel=1e-11)
        assert (row["trials_min"], row["trials_max"]) == (min(own), max(own))
    assert (rows["extra_trials"].max() > 0) == (half_width < 0.3)


def test_a_plan_begins_with_the_interval_of_the_report(log):
    accessor = log.scorio(by="domain", success=2)
    report, today = accessor.avg(), sigmas_today(accessor)
    for row in report.iter_rows(named=True):
        sigma = today[row["domain"], row["model"]]
        assert row["sigma"] <= sigma  # which has what is uncertain of the variance
        # The interval is Clopper and Pearson's, and no normal one.
        assert 1.96 * sigma == pytest.approx((row["hi"] - row["lo"]) / 2, rel=0.15)


@pytest.mark.slow
def test_a_log_with_the_planned_trials_mostly_has_the_wanted_width():
    rng, ratios = np.random.default_rng(3), []
    for _ in range(40):
        rates = rng.beta(0.5, 0.5, 100)
        c = rng.binomial(2, rates)
        first = counted(c[None, None], 2)
        extra = first.trials_needed(half_width=0.025)["extra_trials"].item()
        more = counted((c + rng.binomial(extra, rates))[None, None], 2 + extra).avg()
        ratios.append((more["hi"] - more["lo"]).item() / 0.05)
    assert np.mean(np.array(ratios) <= 1) >= 0.8  # by sigma of the report alone: about half
    assert np.median(ratios) > 0.85


def test_the_width_is_in_units_of_the_weights(log):
    accessor = log.scorio(**ROLES)
    one = accessor.trials_needed(ps.avg(W), half_width=0.05)
    other = accessor.trials_needed(ps.avg([50 + 1e6 * w for w in W]), half_width=5e4)
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(one.drop("sigma"), other.drop("sigma"))
    # The offset rounds the weights, and a variance is a difference: digits are lost.
    np.testing.assert_allclose(other["sigma"], 1e6 * one["sigma"], rtol=1e-9)


def test_weights_without_a_spread_need_nothing(log):
    rows = log.scorio(**ROLES).trials_needed(ps.avg([2, 2, 2]), half_width=1e-9)
    assert rows.select("extra_trials", "sigma").unique().rows() == [(0, 0)]


def test_max_trials_is_the_last_that_is_tried(log):
    accessor = log.filter(domain="air", model="a").scorio(success=2)
    extra = accessor.trials_needed(half_width=0.02)["extra_trials"].item()
    for most, found in [(extra, extra), (extra + 1, extra), (extra - 1, None)]:
        row = accessor.trials_needed(half_width=0.02, max_trials=most).row(0, named=True)
        assert row["extra_trials"] == found
        if found is None:
            assert (row["total"], row["sigma"]) == (None, None)
    default = accessor.trials_needed(half_width=1e-9)
    assert default["extra_trials"].item() is None


def test_one_unnamed_model_has_a_width(log):
    named = log.filter(model="b").scorio(**ROLES).trials_needed(half_width=0.1)
    rows = log.filter(model="b").scorio(model=None, **ROLES).trials_needed(half_width=0.1)
    # Both add up the same questions: sigma is off by far less than the default of 1e-5.
    assert_frame_equal(rows, named.drop("model"))


# --- frames and errors


@pytest.mark.parametrize("half_width", [None, 0.1])
@pytest.mark.parametrize("lazy", [False, True])
def test_needs_have_always_the_same_columns(log, half_width, lazy):
    names = ["model_a", "model_b"] if half_width is None else ["model"]
    types = [pl.UInt64] * 4 + [pl.Float64]
    expected = dict.fromkeys(["domain", *names], pl.String) | dict(zip(NEEDED, types, strict=True))
    for frame in (log, log.clear()):
        frame = frame.lazy() if lazy else frame  # noqa: PLW2901
        rows = frame.scorio(**ROLES).trials_needed(half_width=half_width)
        assert list(rows.collect_schema().items()) == list(expected.items())
        assert rows.lazy().collect().schema == rows.collect_schema()
    assert rows.lazy().collect().height == 0


@pytest.mark.parametrize("half_width", [None, 0.1])
def test_strata_do_not_touch_each_other(log, half_width):
    rows = log.scorio(**ROLES).trials_needed(half_width=half_width)
    parts = [
        log.filter(domain=domain)
        .scorio(success=2)
        .trials_needed(half_width=half_width)
        .with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
    ]
    # The populations of all strata are weighed in one product, whose last bits depend on its size.
    assert_frame_equal(rows, pl.concat(parts).select(rows.columns), rel_tol=1e-12)


OTHERS = [ps.bayes(), ps.pass_at_k(1), ps.max_at_k(1, w=W), ps.geom_ds_at_k(2)]


@pytest.mark.parametrize("metric", OTHERS)
@pytest.mark.parametrize("method", ["trials_needed", "next_trials"])
def test_other_metrics_have_no_closed_form(log, metric, method):
    message = rf"^{method} takes ps.avg\(\), whose variance .* closed form, got "
    arguments = [5] if method == "next_trials" else []
    with pytest.raises(TypeError, match=message):
        getattr(unreadable(log.schema).scorio(**ROLES), method)(*arguments, metric)


def test_verdicts_that_hold_at_once_need_a_larger_critical_value():
    random = np.random.default_rng(2)
    rates = np.clip(random.random(30) + np.linspace(0, 0.4, 5)[:, None], 0, 1)
    totals = {"model": np.repeat(range(5), 30), "question": np.tile(range(30), 5), "n": 8}
    five = ps.from_successes(pl.DataFrame({**totals, "c": random.binomial(8, rates).ravel()}))
    strata = {2: five.filter(pl.col("model") < 2), 5: five}
    log = pl.concat(part.with_columns(models=size) for size, part in strata.items())
    log = log.scorio(by="models", count="count")
    once, each = (log.trials_needed(simultaneous=held) for held in (True, False))
    for size in strata:
        z = studentized_range.ppf(0.95, size, np.inf) / sqrt(2)
        alone = log.trials_needed(confidence=2 * NormalDist().cdf(z) - 1, simultaneous=False)
        assert_frame_equal(once.filter(models=size), alone.filter(models=size))
    assert once.filter(models=2).equals(each.filter(models=2))
    assert (once.filter(models=5)["extra_trials"] > each.filter(models=5)["extra_trials"]).any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"half_width": 0}, ValueError, r"^half_width must be a positive finite number, got 0"),
        ({"half_width": -1.5}, ValueError, r"^half_width must be .*, got -1\.5"),
        ({"half_width": nan}, ValueError, r"^half_width must be .*, got nan"),
        (
            {"half_width": 5},
            ValueError,
            r"^half_width must be at most 0\.5, beyond which it is always met, got 5\. Two",
        ),
        ({"half_width": "0.1"}, ValueError, r"^half_width must be .*, got '0\.1'"),
        ({"half_width": True}, ValueError, r"^half_width must be .*, got True"),
        ({"power": 1}, ValueError, r"^power must be a number .*, got 1"),
        ({"power": "0.8"}, ValueError, r"^power must be a number .*, got '0\.8'"),
        ({"max_trials": 0}, ValueError, r"^max_trials must be a positive int, got 0"),
        ({"max_trials": 1e3}, ValueError, r"^max_trials must be a positive int, got 1000\.0"),
        ({"simultaneous": 1}, TypeError, r"^simultaneous must be"),
        (
            {"simultaneous": True, "half_width": 0.1},
            ValueError,
            r"^trials_needed: simultaneous=True is about pairs of models, half_width= about each",
        ),
        ({"confidence": 1}, ValueError, r"^confidence must be a number .*, got 1"),
        ({"prior": "uniform"}, TypeError, "unexpected keyword argument 'prior'"),
        ({"unmatched": "any"}, ValueError, r"^unmatched must be .*, got 'any'"),
        ({"target": "population"}, TypeError, "unexpected keyword argument 'target'"),
    ],
    ids=str,
)
def test_wrong_needs_are_refused_at_the_call(log, options, error, message):
    with pytest.raises(error, match=message):
        unreadable(log.schema).scorio(**ROLES).trials_needed(**options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"budget": 0}, ValueError, r"^budget must be a positive int, got 0"),
        ({"budget": 1e6}, ValueError, r"^budget must be a positive int, got 1000000\.0"),
        ({"budget": True}, ValueError, r"^budget must be a positive int, got True"),
        (
            {"budget": 10**7 + 1},
            ValueError,
            "^budget must be at most 10,000,000 trials, got",
        ),
        ({"budget": 5, "half_width": 0}, ValueError, r"^half_width must be a positive .*, got 0"),
        ({"budget": 5, "confidence": 1}, ValueError, r"^confidence must be a number .*, got 1"),
    ],
    ids=str,
)
def test_wrong_budgets_are_refused_at_the_call(log, options, error, message):
    with pytest.raises(error, match=message):
        unreadable(log.schema).scorio(**ROLES).next_trials(**options)


def test_without_a_model_column_there_is_no_neighbour(log):
    accessor = log.lazy().scorio(model=None, success=2)
    with pytest.raises(
        ValueError, match=r"^trials_needed without half_width= needs several models"
    ):
        accessor.trials_needed()


def test_keys_that_are_named_like_a_number_are_refused(log):
    renamed = log.lazy().rename({"domain": "extra_trials"}).scorio(by="extra_trials", success=2)
    for ask in (renamed.trials_needed, lambda: renamed.next_trials(5)):
        with pytest.raises(ValueError, match="two columns named 'extra_trials'"):
            ask()


def test_bad_rows_are_found(log):
    lost = log.with_columns(category=pl.when(pl.col("question") != 3).then("category"))
    for ask in (lost.scorio(**ROLES).trials_needed, lambda: lost.scorio(**ROLES).next_trials(5)):
        with pytest.raises(ValueError, match=r"^6 questions have a missing category"):
            ask()


def test_dropped_trials_are_not_counted():
    log = long([[1, None, 0], [None, 1, None]])
    rows = log.scorio(missing="drop").next_trials(5)
    assert rows["trials"].to_list() == [2, 1]
    needed = log.scorio(missing="drop").trials_needed(half_width=0.1)
    assert needed.select("trials_min", "trials_max").row(0) == (1, 2)


@pytest.fixture(scope="module")
def priced():
    """Two models on two strata; a trial costs 1 or 2, and .5 more in the second stratum."""
    rows = [
        (domain, model, question, trial, int((question + trial) % 5 < right), price + domain / 2)
        for domain in (0, 1)
        for model, right, price in (("ada", 4, 1.0), ("bob", 2, 2.0))
        for question in range(10)
        for trial in range(4)
    ]
    names = ["domain", "model", "question", "trial", "category", "usd"]
    return pl.DataFrame(rows, names, orient="row")


def test_needed_trials_cost_a_round_of_both_models_each(priced):
    plan = priced.scorio(cost="usd", by="domain").trials_needed(max_trials=10**6)
    price = 10 * (3.0 + 2 * plan["domain"] / 2)
    assert (plan["cost"] - plan["extra_trials"] * price).abs().max() < 1e-9


def test_a_half_width_costs_the_trials_of_one_model(priced):
    plan = priced.scorio(cost="usd", by="domain").trials_needed(half_width=0.05, overall="macro")
    ada = plan.filter(model="ada")
    rounds = [10 * 1.0, 10 * 1.5, 10 * 1.0 + 10 * 1.5]  # both strata, and all of them
    assert ada["cost"].to_list() == pytest.approx(
        [e * r for e, r in zip(ada["extra_trials"], rounds, strict=True)]
    )


def test_an_unnamed_model_has_a_plan_in_money(priced):
    alone = priced.filter(domain=0, model="bob").scorio(cost="usd", model=None)
    needed = alone.trials_needed(half_width=0.1)
    assert needed["cost"].item() == pytest.approx(2 * needed["total"].item())


def test_unknown_costs_leave_the_money_unknown(priced):
    lost = priced.filter(domain=0).with_columns(usd=pl.when(pl.col("trial") > 0).then("usd"))
    assert lost.scorio(cost="usd").trials_needed()["cost"].to_list() == [None]


def test_a_plan_without_costs_has_no_money(priced):
    assert "cost" not in priced.scorio(by="domain").trials_needed().columns
    assert isinstance(
        ps.scorio(priced.lazy(), cost="usd", by="domain").trials_needed(), pl.LazyFrame
    )


# A plan asks for no further trial of the pairs that `compare` decides, and of no others.


PAIR = ["model_a", "model_b"]


def drawn_log(questions: int, n: int, models: int = 2) -> ps.Scorio:
    """Forty strata of models of which each is worse than the one before it."""
    rng = np.random.default_rng(questions)
    ease = rng.random((40, 1, questions)) * 0.6 ** np.arange(models)[:, None]
    return counted(rng.binomial(n, ease), n)


def decided_by(rows: pl.DataFrame, decided: pl.Expr) -> set[tuple[object, ...]]:
    """The pairs of a result that are decided, of each stratum."""
    return {
        (stratum, *sorted(pair))
        for stratum, *pair in rows.filter(decided).select("stratum", *PAIR).iter_rows()
    }


@pytest.mark.parametrize(("questions", "n"), [(1, 1), (5, 1), (30, 1), (5, 4)])
def test_decided_pairs_need_nothing_and_others_do(questions, n):
    log = drawn_log(questions, n)
    needed = decided_by(log.trials_needed(), pl.col("extra_trials") == 0)
    assert needed == decided_by(log.compare(ps.avg()), pl.col("better").is_not_null())


@pytest.mark.slow
def test_neighbours_of_several_models_are_decided_as_they_are_compared():
    log = drawn_log(12, 4, models=3)
    needed = decided_by(log.trials_needed(simultaneous=False), pl.col("extra_trials") == 0)
    compared = decided_by(log.compare(ps.avg(), simultaneous=False), pl.col("better").is_not_null())
    neighbours = decided_by(log.trials_needed(simultaneous=False), pl.lit(value=True))
    assert needed == compared & neighbours
    assert 0 < len(needed) < len(neighbours)


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_rows_over_all_strata_leave_the_strata_as_they_are(overall):
    log = drawn_log(5, 4)
    rows = log.trials_needed(overall=overall)
    assert rows.drop_nulls("stratum").equals(log.trials_needed())
    assert rows.filter(pl.col("stratum").is_null())["extra_trials"].to_list() == [0]
