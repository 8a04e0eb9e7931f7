"""Rows over all strata of a model: the mean of the strata, and the pool of their questions."""

import itertools
from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist, fmean

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from tests.made_logs import drawn, long, uneven

KEYS = ["domain", "model"]
NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
Z = NormalDist().inv_cdf(0.975)
METRICS = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 3]), ps.geom_ds_at_k(2), ps.geom_at_k(1))
WORDS = {0: "bad", 1: "fair", 2: "good"}
KINDS = pytest.mark.parametrize("overall", ["macro", "micro"])


@pytest.fixture
def log():
    return uneven(11)


def report(log: pl.DataFrame, *metrics: ps.Metric, **options: object) -> pl.DataFrame:
    return log.scorio(by="domain", success=2).report(*(metrics or METRICS), **options)


def apart(rows: pl.DataFrame, by: str = "domain") -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of the strata, and those over all of them without their null."""
    over_all = pl.col(by).is_null()
    return rows.filter(~over_all), rows.filter(over_all).drop(by)


def grouped(strata: pl.DataFrame) -> Iterator[tuple[tuple[object, ...], list[dict[str, object]]]]:
    """The rows of the strata of each model, metric and k, models ascending."""
    rows = strata.sort("model", maintain_order=True).rows(named=True)
    keys = list(dict.fromkeys((row["model"], row["metric"], row["k"]) for row in rows))
    for key in keys:
        yield key, [row for row in rows if (row["model"], row["metric"], row["k"]) == key]


def mean(rows: list[dict[str, object]], name: str) -> float | None:
    values = [row[name] for row in rows]
    return None if None in values else fmean(values)


def spread(rows: list[dict[str, object]], factors: list[float] | None = None) -> float:
    """Standard deviation of the mean, of which each summand may be from_ranges before."""
    factors = factors or [1.0] * len(rows)
    pairs = zip(rows, factors, strict=True)
    return sqrt(sum((factor * row["sigma"]) ** 2 for row, factor in pairs)) / len(rows)


def beta_ends(mu: float, sigma: float, tail: float = 0.025) -> tuple[float, float]:
    total = mu * (1 - mu) / sigma**2 - 1
    around = stats.beta(mu * total, (1 - mu) * total)
    return around.ppf(tail), around.isf(tail)


# --- numbers


@pytest.fixture
def three():
    """One stratum with questions of 2 and 1 successes of 2, one with a question of 0 of 2."""
    parts = {"x": long([[1, 1], [0, 1]]), "y": long([[0, 0]])}
    return pl.concat(part.with_columns(domain=pl.lit(name)) for name, part in parts.items())


# Beta(3, 1), Beta(2, 2) and Beta(1, 3): means 3/4, 1/2 and 1/4, variances 0.0375, 0.05 and 0.0375.
@pytest.mark.parametrize(
    ("overall", "estimate", "mu", "sigma"),
    [
        ("macro", 3 / 8, (5 / 8 + 1 / 4) / 2, sqrt((0.0375 + 0.05) / 4 + 0.0375) / 2),
        ("micro", 1 / 2, 1 / 2, sqrt(0.0375 + 0.05 + 0.0375) / 3),
    ],
)
def test_strata_weigh_the_same_or_questions_do(three, overall, estimate, mu, sigma):
    rows = three.scorio(by="domain").bayes(overall=overall)
    assert rows["domain"].to_list() == ["x", "y", None]
    assert rows.row(2)[:8] == (None, "m", "bayes", None, 3, 6, 0, "posterior")
    expected = (estimate, mu, sigma, mu - Z * sigma, mu + Z * sigma)
    # By hand, of three questions: the last bits.
    assert rows.select(NUMBERS).row(2) == pytest.approx(expected, rel=1e-14)


def test_macro_rows_are_means_of_the_rows_of_the_strata(log):
    strata, over_all = apart(report(log, overall="macro", prior="uniform"))
    expected = []
    for key, rows in grouped(strata):
        mu, sigma = mean(rows, "mu"), spread(rows)
        lo, hi = mu - Z * sigma, mu + Z * sigma
        if key[1] != "bayes":
            lo, hi = max(lo, 0), min(hi, 1)
        totals = [sum(row[name] for row in rows) for name in ("questions", "trials", "dropped")]
        numbers = sigma, mean(rows, "estimate"), mu, lo, hi
        expected.append((*key, *totals, "posterior", *numbers))
    # Python adds up the strata otherwise: rounding; ends are differences.
    assert_frame_equal(
        over_all, pl.DataFrame(expected, over_all.schema, orient="row"), rel_tol=1e-12
    )
    assert over_all["estimate"].null_count() > 0  # a k that exceeds the trials of a question


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="default"),
        pytest.param({"prior": "population"}, id="pooled"),
        pytest.param({"prior": "population", "target": "population"}, id="population"),
        pytest.param({"confidence": 0.8}, id="calibrated"),
        pytest.param({"prior": drawn(12, range(2, 9), most=3)}, id="prior"),
    ],
)
def test_micro_rows_are_a_report_without_strata_on_questions_that_are_told_apart(log, options):
    _, over_all = apart(report(log, overall="micro", **options))
    question = pl.concat_str("domain", "question", separator="/").alias("question")
    if isinstance(options.get("prior"), pl.DataFrame):
        options = {"prior": options["prior"].with_columns(question)}
    pool = log.with_columns(question).scorio(success=2).report(*METRICS, **options)
    # Float sums over the same states in another order.
    assert_frame_equal(over_all, pool, rel_tol=1e-9)


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="default"),
        pytest.param({"prior": "population", "target": "population"}, id="pooled"),
        pytest.param({}, id="calibrated"),
        pytest.param({"prior": drawn(12, range(2, 9), most=3)}, id="prior"),
    ],
)
def test_the_rows_of_the_strata_stay_what_they_are(log, overall, options):
    rows = report(log, overall=overall, **options)
    strata, _ = apart(rows)
    # A group more changes the shape of matrix products, and so their last bits.
    assert_frame_equal(strata, report(log, **options), rel_tol=1e-13, abs_tol=1e-13)


@pytest.mark.slow
def test_one_stratum_is_its_own_mean_and_pool(log):
    one = log.filter(domain="air")
    for overall in ("macro", "micro"):
        strata, over_all = apart(report(one, overall=overall))
        # One stratum is a sum of one term; squares and roots of its sigma are rounded.
        assert_frame_equal(over_all, strata.drop("domain"), rel_tol=1e-12)


def test_dropped_trials_are_summed(log):
    holes = log.with_columns(category=pl.when(pl.col("trial") != 1).then("category"))
    plain = holes.scorio(by="domain", success=2, missing="drop")
    dropped = holes.filter(pl.col("category").is_null()).group_by("model").len().sort("model")
    for overall in ("macro", "micro"):
        _, over_all = apart(plain.bayes(overall=overall, name="x", confidence=0.9))
        assert over_all["dropped"].to_list() == dropped["len"].to_list()
        assert over_all["metric"].unique().to_list() == ["x"]


def test_a_mean_of_strata_lacks_an_estimate_that_one_of_them_lacks(three):
    ones = three.filter((pl.col("domain") == "x") | (pl.col("trial") == 0))
    for overall in ("macro", "micro"):
        strata, over_all = apart(
            ones.scorio(by="domain", prior="uniform").pass_at_k([1, 2], overall=overall)
        )
        assert strata["estimate"].is_null().to_list() == [False, False, False, True]
        assert over_all["estimate"].is_null().to_list() == [False, True]
        assert over_all.select("mu", "sigma", "lo", "hi").null_count().row(0) == (0, 0, 0, 0)


def test_blends_are_averaged_or_made_of_the_pool(three):
    two = three.scorio(by="domain").report(ps.geom_ds_at_k(1), overall="macro")
    # Of one trial both parts are the share of successes: 3/4 and 0.
    # Roots of squares, here and below: the last bits of numbers below 1.
    assert two["estimate"].to_list() == pytest.approx([3 / 4, 0, 3 / 8], abs=1e-15)
    pool = three.scorio(by="domain").report(ps.geom_ds_at_k(1), overall="micro")
    assert pool["estimate"].to_list() == pytest.approx([3 / 4, 0, 1 / 2], abs=1e-15)
    with pytest.raises(ValueError, match=r"a negative power of zero, the first at .*domain='y'"):
        three.scorio(by="domain").report(
            ps.geom_ds_at_k(2, pass_power=-1, unanimous_power=-1), overall="macro"
        )


def test_real_rewards_have_numbers_over_strata():
    rewards = {"domain": ["x", "x", "y", "y", "y"], "reward": [0.1, 1.4, -0.2, 0.3, 0.5]}
    log = pl.DataFrame({**rewards, "question": [1, 1, 2, 2, 3]})
    accessor = log.scorio(model=None, trial=None, category="reward", by="domain")
    # Best of one: means 0.75, 0.05 and 0.5 of the questions.
    for overall, of_one in (("macro", (0.75 + 0.275) / 2), ("micro", (0.75 + 0.05 + 0.5) / 3)):
        _, over_all = apart(accessor.max_at_k([1, 2], overall=overall))
        one, two = over_all.select("estimate", "sigma", "lo", "hi").rows()
        # Means of two or three terms: rounding, far below the default of 1e-6.
        assert one[0] == pytest.approx(of_one)
        assert one[2] < of_one < one[3]
        assert two == (None,) * 4


@pytest.mark.slow
def test_strata_of_one_size_have_the_interval_of_their_pool_but_for_blends_of_the_whole():
    log = drawn(21, range(8), most=3)
    log = pl.concat([log, log.with_columns(pl.col("trial") + 9)])
    alike = ps.avg(), ps.pass_at_k(2), ps.geom_at_k(2), ps.maj_at_k(2)
    blends = ps.geom_ds_at_k(2), ps.geo_spectrum_at_k(2)
    rows = [
        apart(report(log, *alike, *blends, overall=overall))[1].sort("model", maintain_order=True)
        for overall in ("macro", "micro")
    ]
    far = (rows[0]["lo"] - rows[1]["lo"]).abs() > 1e-9
    named = rows[0]["metric"].is_in([metric.name for metric in blends])
    assert far.to_list() == named.to_list()


@pytest.mark.slow
def test_weights_of_labels_reach_the_overall_rows(log):
    words = log.with_columns(pl.col("category").replace_strict(WORDS))
    w = {"bad": -1, "fair": 0.5, "good": 3}
    metrics = [ps.bayes, ps.avg, lambda w, **given: ps.max_at_k(2, w, **given)]
    codes = [metric([-1, 0.5, 3], name=str(i)) for i, metric in enumerate(metrics)]
    labels = [metric(w, name=str(i)) for i, metric in enumerate(metrics)]
    for overall, prior in itertools.product(("macro", "micro"), ("uniform", None)):
        options = {"overall": overall, "prior": prior}
        rows = words.scorio(by="domain", success="good").report(*labels, **options)
        # Labels have another order than codes, and sums with them.
        assert_frame_equal(rows, report(log, *codes, **options), rel_tol=1e-12)


# --- intervals


def test_macro_intervals_are_quantiles_of_a_beta_distribution(log):
    metrics = (ps.bayes(), ps.pass_at_k(2))
    strata, over_all = apart(report(log, *metrics, overall="macro", prior="population"))
    for (*_, k), rows in grouped(strata):
        ends = beta_ends(mean(rows, "mu"), spread(rows))
        row = over_all.filter(
            model=rows[0]["model"], metric=rows[0]["metric"]
        ).row(0, named=True)  # fmt: skip
        assert row["k"] == k
        # Another search for the same quantiles, to 1e-9 or so.
        assert [row["lo"], row["hi"]] == pytest.approx(ends, rel=1e-8)


# An average on a bound has no spread of its own: its interval is that of the posterior mean.
@pytest.mark.parametrize("options", [{}, {"target": "population"}, {"confidence": 0.8}], ids=str)
def test_perfect_averages_have_the_interval_of_the_posterior_mean(options):
    parts = {name: long([[1] * 4] * questions) for name, questions in (("x", 5), ("y", 8))}
    log = pl.concat(part.with_columns(domain=pl.lit(name)) for name, part in parts.items())
    options = {"prior": "population", "overall": "macro"} | options
    rows = log.scorio(by="domain").report(ps.avg(), ps.bayes(), **options)
    average, posterior = rows.filter(metric="avg"), rows.filter(metric="bayes")
    assert average["mu"].to_list() == [1, 1, 1]
    # Both rows take the same quantiles; means of two strata are rounded.
    assert_frame_equal(average.select("lo", "hi"), posterior.select("lo", "hi"), rel_tol=1e-12)


@pytest.mark.parametrize(("category", "end"), [(0, "lo"), (1, "hi")])
@pytest.mark.parametrize("prior", ["population", None])
@KINDS
def test_an_end_is_the_bound_if_all_trials_are_there(category, end, overall, prior):
    alike = {name: [[category] * 4] * m for name, m in (("x", 5), ("y", 8))}
    parts = [long(outcomes).with_columns(domain=pl.lit(name)) for name, outcomes in alike.items()]
    metrics = ps.pass_at_k(2), ps.pass_hat_k(2), ps.avg()
    options = {"overall": overall, "prior": prior}
    rows = pl.concat(parts).scorio(by="domain").report(*metrics, **options)
    assert rows[end].to_list() == [category] * 9
    other = rows["lo" if end == "hi" else "hi"]
    assert ((other > 0) & (other < 1)).all()
    # A stratum where that is not so has the last word.
    other = long([[1 - category, category]]).with_columns(domain=pl.lit("z"))
    _, mixed = apart(pl.concat([*parts, other]).scorio(by="domain").avg(**options))
    assert 0 < mixed["lo"].item() < mixed["hi"].item() < 1


def test_the_factor_for_few_questions_is_that_of_each_stratum(log):
    options = {"prior": "population", "target": "population", "confidence": 0.9}
    strata, over_all = apart(report(log, ps.bayes(), overall="macro", **options))
    z = stats.norm.ppf(0.95)
    for (model, *_), rows in grouped(strata):
        factors = [stats.t.ppf(0.95, row["questions"] - 1) / z for row in rows]
        mu = mean(rows, "mu")
        row = over_all.row(by_predicate=pl.col("model") == model, named=True)
        expected = [mu, spread(rows), *beta_ends(mu, spread(rows, factors), 0.05)]
        # Another search for the same quantiles, to 1e-9 or so.
        assert [row[name] for name in NUMBERS[1:]] == pytest.approx(expected, rel=1e-8)


def test_a_stratum_of_one_question_says_nothing_of_its_population(three):
    options = {"prior": "population", "target": "population"}
    rows = three.scorio(by="domain").bayes(overall="macro", **options)
    assert rows.select("lo", "hi").rows()[1:] == [(None, None)] * 2
    assert rows["mu"].null_count() == rows["sigma"].null_count() == 0
    pool = three.scorio(by="domain").bayes(overall="micro", **options)
    assert pool["lo"].is_null().to_list() == [False, True, False]


# --- errors


@pytest.mark.slow
@KINDS
def test_models_that_lack_a_stratum_are_named(log, overall):
    holes = log.filter(
        ~((pl.col("model") == "c") & (pl.col("domain") == "web")),
        ~((pl.col("model") == "b") & (pl.col("domain") == "air")),
    )
    message = r"^overall: 2 models lack a stratum: 'b', 'c'; the first has no .*domain='air'"
    with pytest.raises(ValueError, match=message):
        report(holes, overall=overall)
    plan = report(holes.lazy(), overall=overall)
    with pytest.raises(ValueError, match=message):
        plan.filter(model="a").collect()
    assert report(holes.filter(model="b"), overall=overall).height == 18


@KINDS
def test_strata_of_several_columns_are_named_with_all_of_them(log, overall):
    hot = log.with_columns(hot=pl.lit(value=True))
    cold = log.filter(pl.col("model") != "a").with_columns(hot=pl.lit(value=False))
    accessor = pl.concat([hot, cold]).scorio(by=["domain", "hot"], success=2)
    message = "1 model lacks a stratum: 'a'; the first has no trial at domain='air', hot=Fal"
    with pytest.raises(ValueError, match=message):
        accessor.bayes(overall=overall)


@pytest.mark.parametrize(
    ("roles", "options", "message"),
    [
        ({}, {"overall": "macro"}, "^overall='macro' needs strata: name their columns with by="),
        (
            {"by": "domain"},
            {"overall": "micro", "per": "question"},
            "^overall='micro' is about models: it has no per=\"question\"",
        ),
        ({"by": "domain"}, {"overall": "all"}, '^overall must be "macro" or "micro", got \'all\''),
        ({"by": "domain"}, {"overall": True}, '^overall must be "macro" or "micro", got True'),
    ],
)
def test_what_cannot_be_is_refused_at_the_call(log, roles, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        log.lazy().scorio(**roles, success=2).bayes(**options)
