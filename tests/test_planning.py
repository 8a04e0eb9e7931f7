"""How many more trials, and of what: the numbers by fractions, one candidate after the other."""

from bisect import bisect_left
from fractions import Fraction
from heapq import heapify, heapreplace
from itertools import pairwise
from math import nan, sqrt
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests import moments
from tests.logs import drawn, long, outcomes, unreadable

W = [0.1, 0.3, 0.7]
ROLES = {"by": "domain", "success": 2}
NEEDED = ["trials_min", "trials_max", "extra", "total", "sigma"]
KEYS = ["domain", "model"]
SIGMAS = ["sigma", "sigma_equal", "sigma_next"]
MODELS = ["a", "b", "c"]
METRICS = {"bayes": (ps.bayes(W), False), "avg": (ps.avg(W), True)}
METRIC = pytest.mark.parametrize(("metric", "observed"), METRICS.values(), ids=METRICS)


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def questions(log: pl.DataFrame, domain: str, model: str, classes: int = 3) -> list[list[int]]:
    return list(moments.tallies(log.filter(domain=domain), classes, model).values())


def left(c: list[int], m: int, *, observed: bool, w=W, d=(0, 0, 0)) -> Fraction:
    """Variance of a question that is expected to be left after m further trials."""
    if not observed:
        nu = [1 + j + p for j, p in zip(c, d, strict=True)]
        return moments.dirichlet(nu, w)[1] * Fraction(sum(nu), sum(nu) + m)
    nu, n = [1 + j for j in c], sum(c)
    total = sum(nu)
    shrunk = moments.dirichlet(nu, w)[1] * Fraction(total, total + m)
    return shrunk * Fraction(total + m, n + m) ** 2


def expected(counts: list[list[int]], m: int, *, observed: bool, **options: object) -> float:
    """Squared sigma after m further trials of each question."""
    every = [left(c, m, observed=observed, **options) for c in counts]
    return float(sum(every)) / len(counts) ** 2


def smallest(enough) -> int:
    """The smallest number that is enough; every larger one is."""
    return bisect_left(range(2_000_000), x=True, key=enough)


# --- trials needed for a width


@METRIC
@pytest.mark.parametrize(("half_width", "confidence"), [(0.05, 0.95), (0.03, 0.9), (0.5, 0.95)])
def test_the_width_is_reached_by_the_smallest_number(log, metric, observed, half_width, confidence):
    rows = log.scorio(**ROLES).trials_needed(metric, half_width=half_width, confidence=confidence)
    assert rows.columns == [*KEYS, *NEEDED]
    assert rows.select(KEYS).rows() == [(d, m) for d in ("air", "web") for m in MODELS]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for row in rows.iter_rows(named=True):
        own = questions(log, row["domain"], row["model"])
        extra = smallest(
            lambda m, own=own: z**2 * expected(own, m, observed=observed) <= half_width**2
        )
        assert row["extra"] == extra
        assert row["total"] == extra * 7
        assert row["sigma"] == pytest.approx(
            sqrt(expected(own, extra, observed=observed)), rel=1e-11
        )
        n = [sum(c) for c in own]
        assert (row["trials_min"], row["trials_max"]) == (min(n), max(n))
    assert (rows["extra"].max() > 0) == (half_width < 0.5)


def test_the_width_holds_with_extra_and_not_with_one_less(log):
    rows = log.scorio(**ROLES).trials_needed(half_width=0.02)
    z = NormalDist().inv_cdf(0.975)
    for row in rows.iter_rows(named=True):
        own = [[a + b, c] for a, b, c in questions(log, row["domain"], row["model"])]
        options = {"observed": False, "w": [0, 1], "d": (0, 0)}
        reach = [z * sqrt(expected(own, row["extra"] - less, **options)) for less in (0, 1)]
        assert reach[0] <= 0.02 < reach[1]


def test_the_width_is_in_units_of_the_weights(log):
    accessor = log.scorio(**ROLES)
    one = accessor.trials_needed(ps.bayes(W), half_width=0.05)
    other = accessor.trials_needed(ps.bayes([50 + 1e6 * w for w in W]), half_width=5e4)
    assert_frame_equal(one.drop("sigma"), other.drop("sigma"))
    np.testing.assert_allclose(other["sigma"], 1e6 * one["sigma"], rtol=1e-9)


@METRIC
def test_a_width_that_is_reached_needs_nothing(log, metric, observed):
    rows = log.scorio(**ROLES).trials_needed(metric, half_width=5)
    assert rows.select("extra", "total").unique().rows() == [(0, 0)]
    report = log.scorio(**ROLES).report(metric)
    np.testing.assert_allclose(rows["sigma"], report["sigma"], rtol=1e-14)
    assert observed == (metric.name.startswith("avg"))


def test_weights_without_a_spread_need_nothing(log):
    rows = log.scorio(**ROLES).trials_needed(ps.bayes([2, 2, 2]), half_width=1e-9)
    assert rows.select("extra", "sigma").unique().rows() == [(0, 0)]


def test_max_trials_is_the_last_that_is_tried(log):
    accessor = log.filter(domain="air", model="a").scorio(success=2)
    extra = accessor.trials_needed(half_width=0.02)["extra"].item()
    for most, found in [(extra, extra), (extra + 1, extra), (extra - 1, None)]:
        row = accessor.trials_needed(half_width=0.02, max_trials=most).row(0, named=True)
        assert row["extra"] == found
        if found is None:
            assert (row["total"], row["sigma"]) == (None, None)
    default = accessor.trials_needed(half_width=1e-9)
    assert default["extra"].item() is None


def test_one_unnamed_model_has_a_width(log):
    named = log.filter(model="b").scorio(**ROLES).trials_needed(half_width=0.1)
    rows = log.filter(model="b").scorio(model=None, **ROLES).trials_needed(half_width=0.1)
    assert_frame_equal(rows, named.drop("model"))


def test_the_example_by_hand():
    # 0 of 1: Beta(1, 2), v = 1/18, T = 3; 3 / (18 (3 + m)) <= 0.01 from m = 14 (13.67) on.
    row = outcomes({(1, 0): 1}).scorio.trials_needed(half_width=0.196).row(0, named=True)
    assert [row[name] for name in NEEDED[:4]] == [1, 1, 14, 14]
    assert row["sigma"] == pytest.approx(sqrt(3 / 18 / 17))


# --- trials needed for an order


@METRIC
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_neighbours_are_told_apart_by_the_smallest_number(log, metric, observed, confidence):
    rows = log.scorio(**ROLES).trials_needed(metric, confidence=confidence, max_trials=2_000_000)
    assert rows.columns == ["domain", "model_a", "model_b", *NEEDED]
    z = NormalDist().inv_cdf(confidence)
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
            assert row["sigma"] == pytest.approx(sqrt(square(extra)), rel=1e-11)
            n = [sum(c) for each in (a, b) for c in own[each]]
            assert (row["trials_min"], row["trials_max"]) == (min(n), max(n))


def test_an_order_that_is_clear_needs_nothing():
    log = pl.concat([outcomes({(9, 9): 9}, "a"), outcomes({(9, 1): 9}, "b")])
    row = log.scorio.trials_needed().row(0, named=True)
    assert (row["model_a"], row["extra"], row["total"]) == ("a", 0, 0)
    sigma = log.scorio.compare()["sigma"].item()
    assert row["sigma"] == pytest.approx(sigma, rel=1e-14)


@pytest.mark.parametrize("confidence", [0.4, 0.5, 0.95])
def test_equal_models_are_never_told_apart(confidence):
    log = pl.concat([outcomes({(4, 3): 1, (4, 2): 1}, model) for model in "ab"])
    row = log.scorio.trials_needed(confidence=confidence).row(0, named=True)
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
    rows = log.scorio(**ROLES).trials_needed(ps.bayes(W), prior=prior, half_width=half_width)
    z = NormalDist().inv_cdf(0.95 if half_width is None else 0.975)
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


@pytest.mark.parametrize("half_width", [None, 0.1])
def test_prior_trials_have_no_say_in_an_average(log, half_width):
    prior, accessor = drawn(9, range(7), most=2), log.scorio(**ROLES)
    rows = accessor.trials_needed(ps.avg(W), prior=prior, half_width=half_width)
    assert_frame_equal(rows, accessor.trials_needed(ps.avg(W), half_width=half_width))


# --- partial pooling


@pytest.mark.parametrize("metric", [ps.bayes(), ps.avg(), ps.bayes(W), ps.avg(W)])
def test_with_partial_pooling_nothing_more_leaves_the_sigma_of_the_report(log, metric):
    accessor = log.scorio(**ROLES)
    rows = accessor.trials_needed(metric, half_width=5, pooling="partial")
    report = accessor.report(metric, pooling="partial")
    assert rows["extra"].unique().to_list() == [0]
    np.testing.assert_allclose(rows["sigma"], report["sigma"], rtol=1e-12)
    plain = accessor.trials_needed(metric, half_width=5)
    assert not np.allclose(rows["sigma"], plain["sigma"])


def test_with_partial_pooling_the_moments_of_the_fitted_prior_count(log):
    accessor = log.scorio(**ROLES)
    rows = accessor.trials_needed(half_width=0.06, pooling="partial")
    single = accessor.report(ps.bayes(), pooling="partial", per="question")
    report = accessor.report(ps.bayes(), pooling="partial")
    z = NormalDist().inv_cdf(0.975)
    for row, whole in zip(
        rows.iter_rows(named=True), report.iter_rows(named=True), strict=True
    ):  # fmt: skip
        own = single.filter(domain=row["domain"], model=row["model"])
        mean, v = own["mu"].to_numpy(), own["sigma"].to_numpy() ** 2
        trial = mean * (1 - mean) - v  # E[p (1 - p)]

        def square(m: int) -> float:
            after = trial / (trial / v + m)  # noqa: B023
            share, now = after.sum() / v.sum(), v.sum() / 49  # noqa: B023
            shared = whole["sigma"] ** 2 - now  # noqa: B023
            return now * share + shared * share**2

        assert row["extra"] == smallest(lambda m: z * sqrt(square(m)) <= 0.06)
        assert row["sigma"] == pytest.approx(sqrt(square(row["extra"])), rel=1e-9)


def test_with_partial_pooling_an_average_needs_its_trial_variance(log):
    accessor = log.scorio(**ROLES)
    rows = accessor.trials_needed(ps.avg(), half_width=0.06, pooling="partial")
    single = accessor.report(ps.avg(), pooling="partial", per="question")
    z = NormalDist().inv_cdf(0.975)
    for row in rows.iter_rows(named=True):
        own = single.filter(domain=row["domain"], model=row["model"])
        n = own["trials"].to_numpy()
        trial = own["sigma"].to_numpy() ** 2 * n

        def square(m: int) -> float:
            return float((trial / (n + m)).sum()) / 49  # noqa: B023

        assert row["extra"] == smallest(lambda m: z * sqrt(square(m)) <= 0.06)


# --- where to spend the next trials


def greedy(parts: dict[object, list[list[int]]], budget: int, *, observed: bool) -> list[list[int]]:
    """One trial after the other, each where the sum of the squared sigmas falls most."""
    every = [(name, i) for name, counts in parts.items() for i in range(len(counts))]

    def gain(place: int, m: int) -> Fraction:
        name, i = every[place]
        own = parts[name][i]
        fall = left(own, m, observed=observed) - left(own, m + 1, observed=observed)
        return fall / len(parts[name]) ** 2

    spent = [0] * len(every)
    heap = [(-gain(place, 0), place) for place in range(len(every))]
    heapify(heap)
    for _ in range(budget):
        place = heap[0][1]
        spent[place] += 1
        heapreplace(heap, (-gain(place, spent[place]), place))
    return spent


def total(parts, spent: list[int], *, observed: bool) -> dict[object, float]:
    """Squared sigma of each group after these trials."""
    spent, squares = iter(spent), {}
    for name, counts in parts.items():
        every = [left(c, next(spent), observed=observed) for c in counts]
        squares[name] = float(sum(every)) / len(counts) ** 2
    return squares


@pytest.fixture
def uneven(log):
    """A stratum in which each model has questions of its own."""
    few = {"a": 7, "b": 4, "c": 2}
    within = pl.col("question") < pl.col("model").replace_strict(few)
    return log.filter((pl.col("domain") == "air") | within)


def groups(log: pl.DataFrame) -> dict[object, list[list[int]]]:
    keys = log.select(KEYS).unique().sort(KEYS).rows()
    return {key: questions(log, *key) for key in keys}


@METRIC
@pytest.mark.parametrize("budget", [1, 10, 333])
def test_the_budget_is_spent_where_it_gains_most(uneven, metric, observed, budget):
    parts = groups(uneven)
    rows = uneven.scorio(**ROLES).next_trials(budget, metric)
    assert rows.columns == [*KEYS, "question", "trials", "extra"]
    keys = uneven.select(*KEYS, "question").unique().sort(*KEYS, "question")
    assert rows.select(keys.columns).equals(keys)
    assert rows["trials"].to_list() == [sum(c) for counts in parts.values() for c in counts]
    assert rows["extra"].sum() == budget
    best = greedy(parts, budget, observed=observed)
    # Different questions may gain the same; fractions and floats take turns of their own then.
    found = total(parts, rows["extra"].to_list(), observed=observed)
    optimum = total(parts, best, observed=observed)
    assert sum(found.values()) == pytest.approx(sum(optimum.values()), rel=1e-14)
    assert np.abs(rows["extra"].to_numpy().astype(int) - best).sum() <= 4


@METRIC
def test_the_summary_has_the_sigma_of_each_model(uneven, metric, observed):
    parts, budget = groups(uneven), 100
    accessor = uneven.scorio(**ROLES)
    single, rows = accessor.next_trials(budget, metric), accessor.next_trials(
        budget, metric, per="model"
    )  # fmt: skip
    assert rows.columns == [*KEYS, "questions", "trials", "extra", *SIGMAS]
    sums = single.group_by(KEYS, maintain_order=True).agg(
        pl.len().alias("questions"), pl.col("trials", "extra").sum()
    )
    assert_frame_equal(rows.select(sums.columns), sums)
    report = accessor.report(metric)
    np.testing.assert_allclose(rows["sigma"], report["sigma"], rtol=1e-14)
    each, rest = divmod(budget, single.height)
    equal = [each + (i < rest) for i in range(single.height)]
    for name, spent in (("sigma_equal", equal), ("sigma_next", single["extra"].to_list())):
        squares = total(parts, spent, observed=observed)
        np.testing.assert_allclose(rows[name], [sqrt(v) for v in squares.values()], rtol=1e-12)
    assert (rows["sigma_next"] ** 2).sum() < (rows["sigma_equal"] ** 2).sum()


@pytest.mark.parametrize(("models", "kept"), [("b", ["b"]), (["c", "a"], ["a", "c"])])
@pytest.mark.parametrize("per", ["question", "model"])
def test_one_may_spend_on_some_models_only(uneven, models, kept, per):
    rows = uneven.scorio(**ROLES).next_trials(50, models=models, per=per)
    some = uneven.filter(pl.col("model").is_in(kept)).scorio(**ROLES).next_trials(50, per=per)
    assert_frame_equal(rows, some, check_exact=True)
    assert rows["extra"].sum() == 50


def test_one_unnamed_model_gets_it_all(log):
    rows = log.filter(model="b").scorio(model=None, **ROLES).next_trials(50)
    named = log.filter(model="b").scorio(**ROLES).next_trials(50)
    assert_frame_equal(rows, named.drop("model"))
    summary = log.filter(model="b").scorio(model=None, trial=None, success=2).next_trials(
        50, per="model"
    )  # fmt: skip
    assert summary.columns == ["questions", "trials", "extra", *SIGMAS]


def test_prior_trials_make_a_question_surer(log):
    prior = long([[0, 2] * 20]).drop("model").with_columns(question=pl.lit(3, pl.Int64))
    accessor = log.filter(domain="air").scorio(success=2)
    rows = accessor.next_trials(60, prior=prior)
    plain = accessor.next_trials(60)
    assert rows.filter(question=3)["extra"].sum() < plain.filter(question=3)["extra"].sum()
    assert rows["trials"].to_list() == plain["trials"].to_list()
    average = accessor.next_trials(60, ps.avg(), prior=prior)
    assert_frame_equal(average, accessor.next_trials(60, ps.avg()))


def test_with_partial_pooling_the_fitted_prior_counts(log):
    accessor = log.filter(domain="air").scorio(success=2)
    rows = accessor.next_trials(90, pooling="partial")
    single = accessor.report(ps.bayes(), pooling="partial", per="question")
    mean, v = single["mu"].to_numpy(), single["sigma"].to_numpy() ** 2
    trial = mean * (1 - mean) - v
    m = rows["extra"].to_numpy().astype(float)
    gain, last = (trial / (trial / v + m + i) for i in (0, 1)), m > 0
    one, other = gain
    before = trial / (trial / v + m - 1)
    # No trial that was spent gains less than one that was not.
    assert (before - one)[last].min() >= (one - other).max() * (1 - 1e-9)
    assert m.sum() == 90
    summary = accessor.next_trials(90, pooling="partial", per="model")
    report = accessor.report(ps.bayes(), pooling="partial")
    np.testing.assert_allclose(summary["sigma"], report["sigma"], rtol=1e-12)
    # What the questions share shrinks with the square of the share that is left.
    for i, own in enumerate(summary.iter_rows(named=True)):
        part = slice(7 * i, 7 * i + 7)
        now, share = v[part].sum() / 49, one[part].sum() / v[part].sum()
        square = now * share + (own["sigma"] ** 2 - now) * share**2
        assert own["sigma_next"] == pytest.approx(sqrt(square), rel=1e-9)


@pytest.mark.parametrize("per", ["question", "model"])
@pytest.mark.parametrize("options", [{}, {"pooling": "partial"}], ids=["none", "partial"])
def test_the_order_of_rows_does_not_matter(log, per, options):
    expected = log.sort(pl.all()).scorio(**ROLES).next_trials(77, per=per, **options)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        rows = shuffled.scorio(**ROLES).next_trials(77, per=per, **options)
        assert_frame_equal(rows, expected, check_exact=True)


def test_of_equal_questions_the_first_get_what_is_left():
    rows = outcomes({(2, 1): 5}).scorio.next_trials(8)
    assert rows["extra"].to_list() == [2, 2, 2, 1, 1]


def test_questions_that_are_always_right_get_few_trials():
    log = outcomes({(32, 32): 10, (32, 16): 10})
    rows = log.scorio.next_trials(640)
    assert rows["extra"].to_list() == [0] * 10 + [64] * 10
    summary = log.scorio.next_trials(640, per="model").row(0, named=True)
    assert summary["sigma_next"] < 0.9 * summary["sigma_equal"] < 0.9 * summary["sigma"]


def test_two_hundred_thousand_questions_are_not_too_many():
    size = 200_000
    n, c = np.random.default_rng(2).integers(1, 9, size), np.arange(size) % 7
    questions = np.arange(size)
    log = pl.DataFrame(
        {
            "question": np.concatenate([questions, questions]),
            "category": np.repeat([0, 1], size),
            "n": np.concatenate([n, c]),
        }
    )
    rows = log.scorio(model=None, count="n").next_trials(size)
    assert rows["extra"].sum() == size
    assert rows["question"].to_numpy().tolist() == questions.tolist()
    nu = np.stack([1 + n, 1 + c]).astype(float)
    total = nu.sum(axis=0)
    a, m = nu.prod(axis=0) / (total * (total + 1)), rows["extra"].to_numpy().astype(float)

    def gain(m):
        return a / ((total + m) * (total + m + 1))

    assert gain(m - 1)[m > 0].min() >= gain(m).max() * (1 - 1e-12)


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


@pytest.mark.parametrize("per", ["question", "model"])
def test_an_empty_log_gets_no_trials(log, per):
    rows = log.clear().scorio(**ROLES).next_trials(5, per=per)
    assert rows.height == 0
    assert rows.schema == log.scorio(**ROLES).next_trials(5, per=per).schema


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
    assert_frame_equal(rows, pl.concat(parts).select(rows.columns), check_exact=True)


OTHERS = [ps.pass_at_k(1), ps.max_at_k(1, w=W), ps.geom_ds_at_k(2), "bayes", ps.bayes]


@pytest.mark.parametrize("metric", OTHERS)
@pytest.mark.parametrize("method", ["trials_needed", "next_trials"])
def test_other_metrics_have_no_closed_form(log, metric, method):
    message = (
        rf"^{method} knows what more trials leave .* of ps.bayes\(\) and ps.avg\(\) only, got "
    )
    arguments = [5] if method == "next_trials" else []
    with pytest.raises(TypeError, match=message):
        getattr(unreadable(log.schema).scorio(**ROLES), method)(*arguments, metric)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"half_width": 0}, ValueError, r"^half_width must be a positive number or None, got 0"),
        ({"half_width": -1.5}, ValueError, r"^half_width must be .*, got -1\.5"),
        ({"half_width": nan}, ValueError, r"^half_width must be .*, got nan"),
        ({"half_width": "0.1"}, ValueError, r"^half_width must be .*, got '0\.1'"),
        ({"half_width": True}, ValueError, r"^half_width must be .*, got True"),
        ({"max_trials": 0}, ValueError, r"^max_trials must be a positive int, got 0"),
        ({"max_trials": 1e3}, ValueError, r"^max_trials must be a positive int, got 1000\.0"),
        ({"confidence": 1}, ValueError, r"^confidence must lie between 0 and 1, got 1"),
        ({"pooling": "full"}, ValueError, r"^pooling must be .*, got 'full'"),
        ({"questions": "any"}, ValueError, r"^questions must be .*, got 'any'"),
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
        ({"budget": 5, "per": "stratum"}, ValueError, r"^per must be .*, got 'stratum'"),
        ({"budget": 5, "models": []}, ValueError, "^models must name at least one model, got none"),
        ({"budget": 5, "confidence": 0.9}, TypeError, "unexpected keyword argument 'confidence'"),
    ],
    ids=str,
)
def test_wrong_budgets_are_refused_at_the_call(log, options, error, message):
    with pytest.raises(error, match=message):
        unreadable(log.schema).scorio(**ROLES).next_trials(**options)


def test_unknown_models_are_refused(log):
    message = r"^models names 2 of which the log has no trial, the first is 'x'$"
    with pytest.raises(ValueError, match=message):
        log.lazy().scorio(**ROLES).next_trials(5, models=["a", "x", "y"]).collect()


def test_without_a_model_column_there_is_no_neighbour_and_no_choice(log):
    accessor = log.lazy().scorio(model=None, success=2)
    with pytest.raises(
        ValueError, match=r"^trials_needed without half_width= needs several models"
    ):
        accessor.trials_needed()
    with pytest.raises(ValueError, match=r"^models= needs several models"):
        accessor.next_trials(5, models="a")


def test_keys_that_are_named_like_a_number_are_refused(log):
    renamed = log.lazy().rename({"domain": "extra"}).scorio(by="extra", success=2)
    asks = [
        renamed.trials_needed,
        *(lambda per=per: renamed.next_trials(5, per=per) for per in ("model", "question")),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match="two columns named 'extra'"):
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
