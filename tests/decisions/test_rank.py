"""Ranks: of any scores, and of models that may not be told apart."""

from itertools import pairwise
from math import sqrt
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import t
from scorio.utils import rank_scores as reference

import polars_scorio as ps
from tests.differences import plus_two
from tests.made_logs import drawn, long, unreadable

# The logs are small and ragged; what is said of that has tests of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),  # made logs are sure
]

METHODS = ["competition", "competition_max", "dense", "average"]
ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
NUMBERS = ["sigma", "mu", "lo", "hi"]
METHOD = pytest.mark.parametrize("method", METHODS)


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    """Six models in 60 strata; few trials, so that many scores are equal."""
    random = np.random.default_rng(4)
    stratum, model, question, trial = np.indices((60, 6, 3, 6)).reshape(4, -1)
    rate = random.random((60, 6))[stratum, model]
    columns = {"model": model, "question": question, "trial": trial, "stratum": stratum}
    return pl.DataFrame({**columns, "category": random.random(rate.size) < rate})


# --- ranks of models


def test_the_best_model_comes_first(log):
    accessor = log.scorio(**ROLES)
    rows = accessor.rank()
    first = ["domain", "rank", "model", "tier", "metric", "k", "inference", "rank_lo", "rank_hi"]
    last = ["rank_tied", "prob_best", "z_next", *NUMBERS, "could_be_best"]
    assert rows.columns == [*first, *last]
    assert rows.select("metric", "k").unique().rows() == [("avg", None)]
    report = accessor.report(ps.avg()).sort("domain", "mu", descending=[False, True])
    columns = ["domain", "model", *NUMBERS]
    assert_frame_equal(rows.select(columns), report.select(columns), check_exact=True)
    assert rows["rank"].to_list() == [1, 2, 3] * 2


@pytest.mark.every(2)
@pytest.mark.parametrize("simultaneous", [True, False])
@pytest.mark.parametrize(
    "options",
    [{"prior": "uniform"}, {}, {"target": "population"}, {"prior": "population"}],
)
def test_tiers_never_contradict_the_ranges_of_ranks(options, simultaneous):
    random = np.random.default_rng(5)
    stratum, model, question, trial = np.indices((8, 6, 25, 3)).reshape(4, -1)
    columns = {"model": model, "question": question, "trial": trial, "stratum": stratum}
    wins = random.random(model.size) < 0.2 + 0.1 * model
    many = pl.DataFrame({**columns, "category": wins})
    rows = many.scorio(by="stratum", **options).rank(simultaneous=simultaneous)
    ranked = rows.drop_nulls("rank")
    assert ((ranked["tier"] == 1) == (ranked["rank_lo"] == 1)).all()
    assert (ranked["tier"] <= ranked["rank_lo"]).all()
    assert ranked.filter("could_be_best")["tier"].unique().to_list() == [1]
    assert ranked["tier"].max() > 1


def test_z_next_is_that_of_the_comparison_with_the_next(log):
    accessor = log.scorio(**ROLES)
    z = {
        (domain, frozenset(pair)): abs(value)
        for domain, *pair, value in accessor.compare()
        .select("domain", "model_a", "model_b", "z")
        .iter_rows()
    }
    for domain in ("air", "web"):
        rows = accessor.rank().filter(domain=domain)
        names = rows["model"].to_list()
        expected = [z[domain, frozenset(names[i : i + 2])] for i in (0, 1)]
        # The same pair, perhaps the other way round: a difference, two squares and a root.
        assert rows["z_next"].to_list()[:2] == pytest.approx(expected, rel=1e-13)
        assert rows["z_next"][2] is None


@pytest.fixture(scope="module")
def comparable(many) -> pl.DataFrame:
    """The report on the strata in which equal models have equal sigmas.

    The reference sorts by an unstable algorithm: which of two equal models meets the one before
    them is not defined.
    """
    report = many.scorio(by="stratum").report(ps.bayes())
    equal = report.group_by("stratum", pl.col("mu").round(12)).agg(pl.col("sigma").round(12))
    clear = equal.filter(pl.col("sigma").list.n_unique() == 1).group_by("stratum").agg(pl.len())
    every = report.group_by("stratum").agg(pl.col("mu").round(12).n_unique().alias("len"))
    return report.join(clear.join(every, on=["stratum", "len"]), on="stratum", how="semi")


@pytest.mark.every(3)
@METHOD
@pytest.mark.parametrize(("ties", "rule"), [("z", "zscore"), ("overlap", "ci_overlap")])
@pytest.mark.parametrize("confidence", [0.7, 0.95])
def test_models_rank_as_the_reference_ranks_them(
    many, comparable, method, ties, rule, confidence
):  # fmt: skip
    options = {"method": method, "ties": ties, "confidence": confidence}
    rows = (
        many.scorio(by="stratum", prior="uniform")
        .rank(ps.bayes(), **options)
        .sort("stratum", "model")
    )
    rows = rows.join(comparable, on="stratum", how="semi", maintain_order="left")
    name, tied = {"average": "avg"}.get(method, method), 0
    parts = zip(rows.partition_by("stratum"), comparable.partition_by("stratum"), strict=True)
    for part, numbers in parts:
        expected = reference(
            numbers["mu"].to_numpy(),
            sigmas_in_id_order=numbers["sigma"].to_numpy(),
            confidence=confidence,
            ci_tie_method=f"{rule}_adjacent",
        )
        assert part["rank"].to_list() == expected[name].tolist()
        assert part["rank_tied"].to_list() == expected[f"{name}_ci"].tolist()
        tied += not part["rank"].equals(part["rank_tied"])
    assert tied > 5  # there is something to tie


def models(answers: dict[str, list[int]]) -> pl.DataFrame:
    return pl.concat(long([[1] * c + [0] * (9 - c) for c in cs], m) for m, cs in answers.items())


def test_ties_chain_and_end_at_the_first_gap():
    log = models({"a": [9] * 9, "b": [8] * 9, "c": [7] * 9, "d": [1] * 9, "e": [1] * 9})
    # Nine questions each: Beta(10, 1), Beta(9, 2) and Beta(8, 3).
    variances = [a * b / (121 * 12) / 9 for a, b in ((10, 1), (9, 2), (8, 3))]
    z = [1 / 11 / sqrt(one + other) for one, other in pairwise(variances)]
    # A few operations: rounding, far below the default of 1e-6.
    assert log.scorio(prior="uniform").rank(ps.bayes())["z_next"].to_list()[:2] == pytest.approx(
        z
    )  # 1.96 and 1.61
    for confidence, expected in [(0.99, [1, 1, 1]), (0.96, [1, 2, 2]), (0.94, [1, 2, 3])]:
        rows = log.scorio(prior="uniform").rank(ps.bayes(), confidence=confidence)
        assert rows["model"].to_list() == [*"abcde"]
        assert rows["rank"].to_list() == [1, 2, 3, 4, 4]
        assert rows["rank_tied"].to_list() == [*expected, 4, 4]
    ends = (
        log.scorio(prior="uniform")
        .compare(ps.bayes(), confidence=0.98)
        .filter(model_a="a", model_b="c")
    )
    assert ends["better"].item() == "a"


def test_z_at_the_quantile_is_told_apart():
    log = models({"a": [9, 9], "b": [5, 5]})
    z = log.scorio(prior="uniform").rank(ps.bayes())["z_next"][0]
    confidence = NormalDist().cdf(z)
    assert log.scorio(prior="uniform").rank(ps.bayes(), confidence=confidence - 1e-9)[
        "rank_tied"
    ].to_list() == [1, 2]
    assert log.scorio(prior="uniform").rank(ps.bayes(), confidence=confidence + 1e-9)[
        "rank_tied"
    ].to_list() == [1, 1]


@METHOD
def test_equal_models_are_tied_in_both_ranks(method):
    log = models({"b": [3, 5], "a": [5, 3], "c": [3, 5]})
    expected = {"competition": 1, "competition_max": 3, "dense": 1, "average": 2}[method]
    for ties in ("z", "overlap"):
        rows = log.scorio(prior="uniform").rank(ps.bayes(), method=method, ties=ties)
        assert rows["model"].to_list() == ["a", "b", "c"]
        for name in ("rank", "rank_tied"):
            assert rows[name].to_list() == [expected] * 3
        assert rows["z_next"].to_list() == [0, 0, None]


def test_intervals_that_touch_overlap():
    log = models({"a": [9, 9], "b": [1, 0], "c": [5, 5]})
    touching = ps.bayes(bounds=(0.5, 0.5))  # all of them are clipped to one point
    assert log.scorio(prior="uniform").rank(touching, ties="overlap")["rank_tied"].to_list() == [
        1,
        1,
        1,
    ]
    assert log.scorio(prior="uniform").rank(ps.bayes(), ties="overlap")["rank_tied"].to_list() == [
        1,
        2,
        3,
    ]


def test_without_uncertainty_models_that_are_equal_are_tied(log):
    rows = log.scorio(**ROLES).rank(ps.max_at_k(2, w=[1, 1, 1]), ties="z")
    assert rows.select("rank", "rank_tied", "mu", "sigma").unique().rows() == [(1, 1, 1, 0)]
    assert rows["z_next"].to_list() == [0, 0, None] * 2


def test_a_model_without_a_score_has_no_rank():
    # Of pass@2 on the population there is no estimate for what has one trial.
    log = pl.concat(
        [models({"a": [5, 6], "c": [2, 9]}), *(long([[1]] * 2, model) for model in "db")]
    )
    rows = log.scorio.rank(ps.pass_at_k(2), target="population")
    assert rows["model"].to_list() == ["a", "c", "b", "d"]
    assert rows["rank"].to_list() == [1, 2, None, None]
    assert rows["rank_tied"].to_list() == [1, 1, None, None]
    assert rows.select("sigma", "estimate", "lo", "hi")[2:].null_count().row(0) == (2,) * 4
    assert rows["z_next"].null_count() == 3


def test_rewards_of_any_value_are_ranked(log):
    rewards = log.with_columns(pl.col("category") * 0.3).scorio(by="domain")
    assert rewards.rank(ps.avg())["rank"].null_count() == 0
    levels = log.with_columns(pl.col("category") * 0.5).scorio(
        by="domain", levels=[0, 0.5, 1], prior="uniform"
    )
    assert levels.rank(ps.max_at_k(2))["rank"].null_count() == 0


def test_one_model_is_the_first(log):
    rows = log.filter(model="b").scorio(**ROLES).rank()
    assert rows.select("rank", "rank_tied", "model", "z_next").unique().rows() == [
        (1, 1, "b", None)
    ]
    assert rows["domain"].to_list() == ["air", "web"]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "options",
    [
        {"prior": "population"},
        {"prior": drawn(9, range(7), most=2)},
        {"confidence": 0.5},
    ],
    ids=", ".join,
)
@pytest.mark.parametrize("metric", [ps.bayes(), ps.pass_at_k(2)])
def test_the_options_are_those_of_the_report(log, metric, options):
    accessor = log.scorio(**ROLES)
    rows = accessor.rank(metric, **options).sort("domain", "model")
    columns = ["domain", "model", *NUMBERS]
    report = accessor.report(metric, **options)
    assert_frame_equal(rows.select(columns), report.select(columns), check_exact=True)
    assert not rows.equals(accessor.rank(metric).sort("domain", "model"))


@pytest.mark.every(2)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("metric", [ps.bayes(), ps.avg([0, 0.5, 3]), ps.pass_at_k(1)])
def test_the_population_is_ranked_by_paired_differences(log, metric, lazy):
    roles = {"by": "domain"} | ({"success": 2} if metric.w is None else {})
    frame = log.lazy() if lazy else log
    options = {"target": "population", "confidence": 0.8}
    rows = frame.scorio(**roles).rank(metric, **options).lazy().collect()
    estimates = log.scorio(**roles).report(metric, per="question", prior="uniform")
    pairs = log.scorio(**roles).compare(metric, **options)
    low, high = metric.support
    for domain in ("air", "web"):
        part = rows.filter(domain=domain)
        expected_ci = [1]
        for place, row in enumerate(part.iter_rows(named=True)):
            values = estimates.filter(domain=domain, model=row["model"])["estimate"].to_numpy()
            centre, sigma, freedom = plus_two(values, (low, high))
            reach = t.ppf(0.9, freedom) * sigma
            # Sums in another order.
            number = "mu" if "mu" in row else "estimate"
            numbers = [sigma, values.mean(), max(centre - reach, low), min(centre + reach, high)]
            assert [row[name] for name in ("sigma", number, "lo", "hi")] == pytest.approx(
                numbers, rel=1e-9
            )
            if place == 2:
                assert row["z_next"] is None
                continue
            pair = sorted([row["model"], part["model"][place + 1]])
            compared = pairs.filter(domain=domain, model_a=pair[0], model_b=pair[1])
            # Means of a pair that are nearly equal: their difference cancels some digits.
            assert row["z_next"] == pytest.approx(abs(compared["z"].item()), rel=1e-11)
            told_apart = (
                max(compared["prob_better"].item(), 1 - compared["prob_better"].item()) >= 0.8
            )
            expected_ci.append(place + 2 if told_apart else expected_ci[-1])
        assert part["rank"].to_list() == [1, 2, 3]
        assert part["rank_tied"].to_list() == expected_ci


def test_on_the_population_intervals_may_overlap_too(log):
    accessor = log.scorio(by="domain", success=2)
    rows = accessor.rank(target="population", ties="overlap", confidence=0.1)
    for domain in ("air", "web"):
        part, places = rows.filter(domain=domain), [1]
        for upper, lower in pairwise(part.iter_rows(named=True)):
            tied = lower["hi"] >= upper["lo"]
            places.append(places[-1] if tied else len(places) + 1)
        assert part["rank_tied"].to_list() == places
    assert max(rows["rank_tied"]) > 1
    assert accessor.rank(target="population", ties="overlap")["rank_tied"].to_list() == [1] * 6


def test_one_question_tells_no_models_apart():
    log = models({"a": [9], "b": [0]})
    rows = log.scorio.rank(target="population")
    assert rows.select("rank", "rank_tied", "model", "estimate").rows() == [
        (1, 1, "a", 1),
        (2, 1, "b", 0),
    ]
    assert rows.select("sigma", "lo", "hi", "z_next").null_count().row(0) == (2,) * 4


@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_models_that_the_prior_ranks_are_named():
    random = np.random.default_rng(3)
    rates = random.beta(0.3, 2, 100)
    log = pl.concat(
        long((random.random((n, 100)) < rates).T.tolist(), model)
        for model, n in {"a": 16, "b": 2, "c": 16}.items()
    )
    plan = log.lazy().scorio.rank(ps.bayes())
    with pytest.warns(ps.PriorWarning, match=r"^in 2 of 3 pairs ") as caught:
        assert plan.collect()["model"][0] == "b"
    assert len(caught) == 1
    assert log.scorio.rank(ps.bayes(), prior="population")["rank_tied"].to_list() == [1, 1, 1]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(many, lazy, seed):
    shuffled = many.sample(fraction=1, shuffle=True, seed=seed)
    frame = shuffled.lazy() if lazy else shuffled
    rows = frame.scorio(by="stratum").rank(ps.bayes([0.1, 0.7])).lazy().collect()
    expected = many.scorio(by="stratum").rank(ps.bayes([0.1, 0.7]))
    assert_frame_equal(rows, expected, check_exact=True)


def test_strata_are_ranked_on_their_own(log):
    parts = [
        log.filter(domain=domain)
        .scorio(success=2, prior="uniform")
        .rank()
        .with_columns(domain=pl.lit(domain))
        for domain in ("air", "web")
    ]
    rows = log.scorio(**ROLES).rank()
    assert_frame_equal(rows, pl.concat(parts).select(rows.columns), check_exact=True)


@METHOD
def test_no_trials_give_the_columns_and_no_rows(log, method):
    rank = pl.Float64 if method == "average" else pl.UInt32
    expected = {
        "domain": pl.String,
        "rank": rank,
        "model": pl.String,
        "tier": pl.UInt32,
        "metric": pl.String,
        "k": pl.Int64,
        "inference": pl.String,
        "rank_lo": pl.UInt32,
        "rank_hi": pl.UInt32,
        "rank_tied": rank,
        "prob_best": pl.Float64,
        "z_next": pl.Float64,
        **dict.fromkeys(NUMBERS, pl.Float64),
        "could_be_best": pl.Boolean,
    }
    for frame in (log, log.clear()):
        plan = frame.lazy().scorio(**ROLES).rank(method=method)
        assert list(plan.collect_schema().items()) == list(expected.items())
        assert plan.collect().schema == plan.collect_schema()
    assert log.clear().scorio(**ROLES).rank(method=method).height == 0


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (None, {"method": "min"}, r'^method must be "competition" or .*, got \'min\''),
        (None, {"ties": "chain"}, r'^ties must be "z" or "overlap", got \'chain\''),
        (ps.pass_at_k([1, 2]), {}, r"^rank takes one draw size at .*, got .* k=\[1, 2\]"),
        (None, {"target": "population", "prior": "population"}, "without a prior"),
        (ps.geom_ds_at_k(2), {"target": "population"}, "a blend of the whole benchmark"),
        (None, {"confidence": 0}, "^confidence must be a number .*, got 0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_at_the_call(log, metric, options, message):
    with pytest.raises(ValueError, match=message):
        unreadable(log.schema).scorio(**ROLES).rank(metric, **options)


def test_what_is_no_metric_is_refused(log):
    with pytest.raises(
        TypeError, match=r"^rank takes a metric .* got 'bayes': write ps\.bayes\(\)$"
    ):
        log.scorio(**ROLES).rank("bayes")


def test_one_unnamed_model_cannot_be_ranked(log):
    with pytest.raises(ValueError, match=r"^rank needs several models: .* with model=$"):
        log.lazy().scorio(model=None, success=2).rank()


def test_a_key_that_is_named_like_a_number_is_refused(log):
    with pytest.raises(ValueError, match="two columns named 'rank'"):
        log.lazy().rename({"model": "rank"}).scorio(model="rank", success=2).rank()


def test_a_ranking_counts_the_pairs_in_which_the_prior_decides_as_a_comparison_does():
    log = pl.concat(
        long([[1] * n] * 40 + [[0]] * easy, name).with_columns(stratum=pl.lit(stratum))
        for stratum in (1, 2)
        for name, n, easy in (("a", 1, 9), ("b", 8, 1), ("c", 8, 9), ("d", 2, 0))
    ).scorio(by="stratum", validate=False)
    messages = []
    for ask in (log.compare, log.rank):
        with pytest.warns(ps.PriorWarning) as caught:
            ask(ps.bayes(), unmatched="drop")
        messages += [str(one.message) for one in caught if one.category is ps.PriorWarning]
    assert messages[0] == messages[1]
    assert " of 12 pairs of models" in messages[0]


@pytest.mark.parametrize(
    ("category", "metric", "roles", "number"),
    [
        (pl.Int64, ps.avg(), {}, "estimate"),
        (pl.Int64, ps.avg(), {"prior": "uniform"}, "mu"),
        (pl.Float64, ps.avg(), {"prior": "uniform"}, "mu"),
        (pl.Int64, ps.bayes(), {}, "mu"),
    ],
    ids=str,
)
def test_the_score_has_the_name_of_what_it_is(category, metric, roles, number):
    log = pl.concat([long([[0, 1], [1, 1]], "a"), long([[0, 0], [1, 0]], "b")])
    ranks = log.with_columns(pl.col("category").cast(category)).scorio(**roles).rank(metric)
    assert {"mu", "estimate"} & {*ranks.columns} == {number}
    assert ranks["inference"].unique().item() == ("posterior" if number == "mu" else "calibrated")
