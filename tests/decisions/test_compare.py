"""Pairs of models: the numbers, who is better, and what cannot be compared."""

from itertools import combinations
from math import hypot, sqrt
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.stats import t

import polars_scorio as ps
from polars_scorio.decisions.models import prior_decides
from polars_scorio.maths.comparison import Family, sampled
from polars_scorio.maths.covariance import paired_means
from tests import moments
from tests.differences import plus_two
from tests.made_logs import drawn, long, unreadable

# The logs are small and ragged; what is said of that has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")

W = [0.1, 0.3, 0.7]
ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
NUMBERS = ["diff", "sigma", "z", "prob_better", "lo", "hi"]
PAIRS = ["model_a", "model_b"]
MODELS = ["a", "b", "c"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def models(answers: dict[str, list[list[object]]]) -> pl.DataFrame:
    """A log from the outcomes of each model."""
    return pl.concat(long(rows, model) for model, rows in answers.items())


def by_hand(one, other, confidence=0.95) -> list[float]:
    """The numbers of a pair from both (mu, sigma^2)."""
    diff, sigma = float(one[0] - other[0]), sqrt(one[1] + other[1])
    normal, z = NormalDist(), diff / sigma
    reach = normal.inv_cdf((1 + confidence) / 2) * sigma
    return [diff, sigma, z, normal.cdf(z), diff - reach, diff + reach]


# --- the numbers


@pytest.mark.parametrize(
    ("metric", "oracle"),
    [
        pytest.param(ps.bayes(W), moments.bayes, id="bayes"),
        pytest.param(ps.avg(W), moments.avg, id="avg"),
    ],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_numbers_follow_from_the_moments_of_both_models(log, metric, oracle, confidence):
    pairs = log.scorio(**ROLES).compare(metric, confidence=confidence, simultaneous=False)
    for domain in ("air", "web"):
        part = log.filter(domain=domain)
        parts = {model: oracle(moments.tallies(part, 3, model).values(), W) for model in MODELS}
        for a, b in combinations(MODELS, 2):
            row = pairs.row(by_predicate=_is(domain=domain, model_a=a, model_b=b), named=True)
            expected = by_hand(parts[a], parts[b], confidence)
            # The oracle is exact; the difference of two means as floats cancels some digits.
            assert [row[name] for name in NUMBERS] == pytest.approx(expected, rel=1e-11)
            sure = row["lo"] > 0 or row["hi"] < 0
            assert row["better"] == ((a if row["diff"] > 0 else b) if sure else None)


def _is(**values: object) -> pl.Expr:
    return pl.all_horizontal(pl.col(name) == value for name, value in values.items())


def test_without_a_metric_it_is_the_average(log):
    accessor = log.scorio(**ROLES)
    assert_frame_equal(accessor.compare(), accessor.compare(ps.avg()), check_exact=True)


def test_the_example_of_two_models_by_hand():
    # Posteriors Beta(4, 2) and Beta(2, 4): means 2/3 and 1/3, variances 8 / (36 * 7) each.
    log = models({"ada": [[1, 1, 1, 0]], "bob": [[0, 0, 1, 0]]})
    row = log.scorio.compare(ps.bayes(), confidence=0.8, prior="uniform").row(0, named=True)
    sigma = sqrt(2 * 8 / 252)
    # A few operations each, here and below: the default of 1e-6 is far above their rounding.
    assert row["diff"] == pytest.approx(1 / 3)
    assert row["sigma"] == pytest.approx(sigma)
    assert row["z"] == pytest.approx(1 / 3 / sigma)
    assert row["prob_better"] == pytest.approx(NormalDist().cdf(1 / 3 / sigma))  # 0.907
    assert row["better"] == "ada"
    ends = [NormalDist(1 / 3, sigma).inv_cdf(p) for p in (0.1, 0.9)]
    # Quantiles of the standard library on the same two numbers: the default, as above.
    assert [row["lo"], row["hi"]] == pytest.approx(ends)


@pytest.mark.parametrize(
    "metric", [ps.pass_at_k([1, 2, 4]), ps.maj_at_k(), ps.geom_ds_at_k(2), ps.max_at_k(2, w=W)]
)
def test_every_metric_is_compared_by_its_mu_and_sigma(log, metric):
    accessor = log.scorio(**ROLES)
    rows = {
        (row["domain"], row["k"], row["model"]): row
        for row in accessor.report(metric).iter_rows(named=True)
    }
    pairs = accessor.compare(metric)
    order = [
        (domain, metric.name, k, a, b)
        for domain in ("air", "web")
        for k in metric.k
        for a, b in combinations(MODELS, 2)
    ]
    assert pairs.select("domain", "metric", "k", *PAIRS).rows() == order
    for row in pairs.iter_rows(named=True):
        one, other = (rows[row["domain"], row["k"], row[name]] for name in PAIRS)
        assert row["diff"] == one["mu"] - other["mu"]
        # A root of a sum of squares and hypot() round differently in the last bits.
        assert row["sigma"] == pytest.approx(hypot(one["sigma"], other["sigma"]), rel=1e-15)


@pytest.mark.parametrize("options", [{"prior": "population"}, {"prior": "uniform"}])
def test_sigmas_of_both_models_are_independent(log, options):
    accessor = log.scorio(**ROLES)
    report = accessor.report(ps.bayes(), **options)
    pairs = accessor.compare(ps.bayes(), **options)
    for domain, part in pairs.group_by("domain"):
        rows = report.filter(domain=domain[0])
        mu, square = rows["mu"].to_numpy(), rows["sigma"].to_numpy() ** 2
        expected = [mu[a] - mu[b] for a, b in combinations(range(3), 2)]
        # The same numbers of a report: differences cancel a digit or two at most.
        np.testing.assert_allclose(part["diff"], expected, rtol=1e-13)
        expected = [sqrt(square[a] + square[b]) for a, b in combinations(range(3), 2)]
        # The same numbers of a report: two squares, one sum and one root are rounded.
        np.testing.assert_allclose(part["sigma"], expected, rtol=1e-13)


def test_partial_pooling_makes_a_difference(log):
    accessor = log.scorio(**ROLES)
    assert not accessor.compare(prior="population").equals(accessor.compare())


def test_prior_trials_are_added_to_the_counts(log):
    prior = drawn(9, range(7), most=2)
    pairs = log.scorio(**ROLES).compare(ps.bayes(W), prior=prior, simultaneous=False)
    for domain in ("air", "web"):
        parts = [
            moments.bayes(
                moments.tallies(log.filter(domain=domain), 3, model).values(),
                W,
                moments.tallies(prior.filter(domain=domain), 3, model).values(),
            )
            for model in MODELS
        ]
        expected = [by_hand(one, other) for one, other in combinations(parts, 2)]
        rows = pairs.filter(domain=domain).select(NUMBERS).to_numpy()
        # The oracle is exact; the difference of two means as floats cancels some digits.
        np.testing.assert_allclose(rows, expected, rtol=1e-11)


def test_the_beta_interval_lies_on_the_range_of_a_difference(log):
    pairs = log.scorio(**ROLES).compare(prior="population", confidence=0.9, simultaneous=False)
    for row in pairs.iter_rows(named=True):
        # The Beta distribution on [-1, 1] with these moments.
        mean, var = (row["diff"] + 1) / 2, row["sigma"] ** 2 / 4
        total = mean * (1 - mean) / var - 1
        beta = stats.beta(mean * total, (1 - mean) * total, loc=-1, scale=2)
        # Another search for the same quantiles, to 1e-9 or so.
        assert (row["lo"], row["hi"]) == pytest.approx(beta.interval(0.9), abs=1e-9)
    solved = log.with_columns(category=(pl.col("category") == 2).cast(pl.Int8))
    scaled = solved.scorio(by="domain").compare(
        ps.bayes([-10, 10]), prior="population", simultaneous=False
    )
    assert scaled["lo"].min() >= -20
    assert scaled["hi"].max() <= 20


@pytest.mark.parametrize("prior", ["uniform", "population", None])
def test_the_bounds_of_a_metric_bound_the_difference(prior):
    log = models({"a": [[1] * 9], "b": [[0] * 9]})
    row = log.scorio.compare(ps.bayes(bounds=(0, 0.6)), prior=prior).row(0, named=True)
    assert row["diff"] > 0.6
    assert row["hi"] == 0.6
    free = log.scorio.compare(ps.bayes(), confidence=0.9999).row(0, named=True)
    assert free["hi"] > 1  # bayes has no bounds of its own
    assert log.scorio.compare(ps.pass_at_k(1), confidence=0.9999)["hi"].item() == 1


# --- who is better


def test_without_a_difference_there_is_no_better_model():
    log = models({"a": [[0, 1], [1, 1]], "b": [[1, 1], [1, 0]]})
    row = log.scorio.compare(confidence=0.5).row(0, named=True)
    assert (row["diff"], row["z"], row["prob_better"], row["better"]) == (0, 0, 0.5, None)
    assert row["sigma"] > 0


@pytest.mark.parametrize("prior", ["uniform", None])
@pytest.mark.parametrize(
    "metric", [ps.bayes([1, 1, 1]), ps.avg([0.3, 0.3, 0.3]), ps.max_at_k(1, w=[2, 2, 2])]
)
def test_where_nothing_is_at_stake_nothing_is_better(log, metric, prior):
    pairs = log.scorio(**ROLES).compare(metric, prior=prior, confidence=0.5)
    assert pairs.select(NUMBERS).unique().rows() == [(0, 0, 0, 0.5, 0, 0)]
    assert pairs["better"].null_count() == 6


def test_better_begins_at_confidence():
    log = models({"a": [[1, 1, 1, 0]], "b": [[0, 0, 1, 0]]})
    accessor = log.scorio(prior="uniform")
    prob_better = accessor.compare(ps.bayes())["prob_better"].item()
    # Two-sided: what lies outside on the other side counts too.
    assert (
        accessor.compare(ps.bayes(), confidence=2 * prob_better - 1 - 1e-9)["better"].item() == "a"
    )
    assert (
        accessor.compare(ps.bayes(), confidence=2 * prob_better - 1 + 1e-9)["better"].item() is None
    )


def test_swapping_the_names_swaps_the_verdict(log):
    swap = pl.col("model").replace({"a": "c", "c": "a"})
    one = log.scorio(**ROLES).compare(confidence=0.6)
    other = log.with_columns(swap).scorio(**ROLES).compare(confidence=0.6)
    turned = other.filter(model_a="a", model_b="c")
    straight = one.filter(model_a="a", model_b="c")
    for name in ("diff", "z"):
        assert turned[name].to_list() == (-straight[name]).to_list()
    # Mirrored ends differ by rounding at most: the default of 1e-6 is far above it.
    assert turned["lo"].to_list() == pytest.approx((-straight["hi"]).to_list())
    assert turned["prob_better"].to_list() == pytest.approx(
        (1 - straight["prob_better"]).to_list(), abs=1e-15
    )
    assert turned["better"].to_list() == straight["better"].replace({"a": "c", "c": "a"}).to_list()


# --- which pairs


def test_with_a_baseline_each_other_model_is_compared_with_it(log):
    accessor = log.scorio(**ROLES)
    rows = accessor.compare(ps.pass_at_k([1, 2]), baseline="b")
    expected = [(d, k, m, "b") for d in ("air", "web") for k in (1, 2) for m in ("a", "c")]
    assert rows.select("domain", "k", *PAIRS).rows() == expected
    every = accessor.compare(ps.pass_at_k([1, 2]))
    both = rows.join(every, on=["domain", "k", *PAIRS], suffix="_all")
    assert both["diff"].to_list() == both["diff_all"].to_list()
    ours, theirs = ["domain", "k", *PAIRS], ["domain", "k", *PAIRS[::-1]]
    turned = rows.join(every, left_on=ours, right_on=theirs, suffix="_all")
    assert turned["diff"].to_list() == (-turned["diff_all"]).to_list()
    assert both.height + turned.height == rows.height


@pytest.mark.parametrize(
    ("dtype", "names"),
    [
        pytest.param(pl.Enum(["c", "b", "a"]), {}, id="enum"),
        pytest.param(pl.Categorical(), {}, id="categorical"),
        pytest.param(pl.Int16(), {"a": 3, "b": 1, "c": 2}, id="int"),
    ],
)
def test_models_keep_their_dtype_and_its_order(log, dtype, names):
    model = pl.col("model").replace_strict(names) if names else pl.col("model")
    named = log.with_columns(model.cast(dtype))
    base = names.get("b", "b")
    for rows in (named.scorio(**ROLES).compare(), named.scorio(**ROLES).compare(baseline=base)):
        for column in (*PAIRS, "better"):
            assert rows.schema[column] == dtype
    order = named["model"].unique().sort().to_list()
    pairs = (
        named.filter(domain="air").scorio(success=2).compare(confidence=0.01, simultaneous=False)
    )
    assert pairs.select(PAIRS).rows() == list(combinations(order, 2))
    winners = pairs.select(pl.when(pl.col("diff") > 0).then("model_a").otherwise("model_b"))
    decided = pairs["better"].is_not_null()
    assert decided.sum() > 1
    assert (
        pairs["better"].filter(decided).to_list() == winners.to_series().filter(decided).to_list()
    )


def test_the_baseline_must_be_in_every_stratum(log):
    plan = log.lazy().scorio(**ROLES).compare(baseline="z")
    message = r"^domain='air': baseline='z' is none of the models: \['a', 'b', 'c'\]$"
    with pytest.raises(ValueError, match=message):
        plan.collect()
    some = log.filter((pl.col("model") != "b") | (pl.col("domain") == "air"))
    with pytest.raises(
        ValueError, match=r"^domain='web': baseline='b' is none of .*: \['a', 'c'\]$"
    ):
        some.scorio(**ROLES).compare(baseline="b")


def test_a_single_model_has_nobody_to_be_compared_with(log):
    some = log.filter((pl.col("model") == "b") | (pl.col("domain") == "air"))
    rows = some.scorio(**ROLES).compare()
    assert rows["domain"].to_list() == ["air"] * 3
    alone = log.lazy().filter(model="b").scorio(**ROLES)
    for plan in (alone.compare(), alone.compare(baseline="b"), alone.compare(ps.pass_at_k([1, 2]))):
        with pytest.warns(UserWarning, match=r"^one model \('b'\): nothing to compare$") as caught:
            rows = plan.collect()
        assert len(caught) == 1
        assert rows.height == 0
        assert rows.schema == log.scorio(**ROLES).compare().schema
    each = log.scorio(**{**ROLES, "by": ["domain", "model"], "model": pl.lit("v").alias("version")})
    with pytest.warns(UserWarning, match=r"^one model \('v'\): nothing to compare$"):
        each.compare()
    apart = log.scorio(
        **{**ROLES, "by": ["domain", pl.col("model").str.to_uppercase().alias("run")]}
    )
    with pytest.warns(UserWarning, match=r"^one model per stratum: nothing to compare$"):
        apart.compare()
    assert log.clear().scorio(**ROLES).compare().is_empty()  # in silence


def test_strata_are_compared_on_their_own(log):
    parts = [
        log.filter(domain=domain)
        .scorio(success=2, prior="uniform")
        .compare()
        .with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
    ]
    rows = log.scorio(**ROLES).compare()
    assert_frame_equal(rows, pl.concat(parts).select(rows.columns), check_exact=True)


def test_no_trials_give_the_columns_and_no_rows(log):
    expected = {
        "domain": pl.String,
        "metric": pl.String,
        "k": pl.Int64,
        "model_a": pl.String,
        "model_b": pl.String,
        **dict.fromkeys(NUMBERS, pl.Float64),
        "better": pl.String,
        "adjusted_for": pl.String,
        "inference": pl.String,
    }
    for target in ("benchmark", "population"):
        for frame in (log, log.clear()):
            rows = frame.scorio(by="domain", success=2).compare(target=target)
            assert dict(rows.schema) == expected
        assert rows.height == 0


# --- what is refused


@pytest.mark.parametrize(
    ("metric", "options", "error", "message"),
    [
        (None, {"target": "sample"}, ValueError,
         r'^target must be "benchmark" or "population", got \'sample\''),
        (None, {"unmatched": "any"}, ValueError,
         r'^unmatched must be "error" or "drop" or "unpaired", got \'any\''),
        (None, {"prior": "full"}, ValueError, r"^prior must be .*, got 'full'"),
        (None, {"simultaneous": "yes"}, TypeError, r"^simultaneous must be .*, got 'yes'"),
        (None, {"confidence": 1}, ValueError, "^confidence must be a number .*, got 1"),
        (None, {"confidence": "0.9"}, ValueError, "^confidence must be a number .*, got '0.9'"),
        ("bayes", {}, TypeError, r"^compare takes a metric .* got 'bayes': write ps\.bayes"),
        (ps.geom_ds_at_k(2), {"target": "population"}, ValueError,
         r"^geom_ds_at_k: a blend of the whole benchmark .*: use ps\.geom_at_k, which has one$"),
        (ps.geo_spectrum_at_k(2), {"target": "population"}, ValueError,
         r"^geo_spectrum_at_k: a blend of the whole benchmark"),
        (None, {"target": "population", "prior": pl.DataFrame({"question": [1], "trial": [1],
         "category": [1]})}, ValueError, r"without a prior: omit prior="),
        (None, {"target": "population", "prior": "population"}, ValueError,
         r"without a prior: omit prior=$"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) and "prior" not in value else "",
)  # fmt: skip
def test_wrong_arguments_are_refused_at_the_call(log, metric, options, error, message):
    with pytest.raises(error, match=message):
        unreadable(log.schema).scorio(**ROLES).compare(metric, **options)


def test_one_unnamed_model_has_nothing_to_compare(log):
    with pytest.raises(ValueError, match=r"^compare needs several models: .* with model=$"):
        log.lazy().scorio(model=None, success=2).compare()


def test_a_stratum_that_is_named_like_a_number_is_refused(log):
    with pytest.raises(ValueError, match="two columns named 'diff'"):
        log.lazy().rename({"domain": "diff"}).scorio(by="diff", success=2).compare()


def test_the_result_does_not_keep_the_name_of_the_model_column():
    log = models({"a": [[1, 1]], "b": [[0, 1]]}).rename({"model": "llm"})
    rows = log.scorio(model="llm").compare()
    assert "model" not in rows.columns
    assert {*PAIRS} < {*rows.columns}


# Estimates outside the interval of a comparison, by hand.


@pytest.mark.parametrize(
    ("diff", "expected"),
    [(0.05, True), (0.1, False), (0.3, False), (0.31, True), (np.nan, False), (0.3 + 1e-14, False)],
)
def test_an_estimate_outside_the_interval_is_found(diff, expected):
    lo, hi = np.array([0.1]), np.array([0.3])
    assert prior_decides(np.array([diff]), lo, hi, ps.bayes()).item() == expected


def test_estimates_are_clipped_as_the_intervals_are():
    found = prior_decides(
        np.array([0.9]), np.array([0.2]), np.array([0.5]), ps.bayes(bounds=(0.2, 0.7))
    )
    assert not found.item()


# Models that are compared on a sample of questions.


VALUES = np.random.default_rng(1).random((12, 3))
JOINT = paired_means(VALUES, np.array([0]), 1.0)
SCORES = sampled(JOINT, limit=1.0)
FIRST, SECOND = np.array([0, 0]), np.array([1, 2])


def test_ends_by_a_normal_critical_value_have_students_tail():
    found = SCORES.differences(FIRST, SECOND, np.full((1, 2), 1.6448536269514722))
    for pair, other in enumerate(SECOND):
        centre, sigma, freedom = plus_two(VALUES[:, 0] - VALUES[:, other], (-1, 1))
        reach = t.ppf(0.95, freedom) * sigma
        # Products of deviations, which cancel partly: 1e-15 here.
        assert found.sigma[0, pair] == pytest.approx(sigma, rel=1e-12)
        assert found.lo[0, pair] == pytest.approx(centre - reach, rel=1e-12)
        assert found.hi[0, pair] == pytest.approx(centre + reach, rel=1e-12)


def test_without_a_plan_there_is_one_look():
    assert SCORES.information is None
    assert np.isnan(SCORES.pair_information(FIRST, SECOND)).all()


@pytest.mark.parametrize("share", [0.25, 1.0, 4.0])
def test_with_a_plan_all_verdicts_need_more(share):
    planned = sampled(JOINT, limit=1.0, information=np.array([share]))
    c = np.full((1, 2), 1.959963984540054)
    once, repeated = (each.differences(FIRST, SECOND, c) for each in (SCORES, planned))
    assert (repeated.lo < once.lo).all()
    assert (repeated.hi > once.hi).all()
    assert planned.pair_information(FIRST, SECOND).tolist() == [[share, share]]
    family = Family(0.95)
    assert (family.could_be_best(planned) | ~family.could_be_best(SCORES)).all()
