"""Comparisons over the population of questions, and where the prior decides."""

from math import sqrt

import numpy as np
import polars as pl
import pytest
from scipy import stats

import polars_scorio as ps
from tests import moments
from tests.differences import difference_numbers
from tests.made_logs import drawn, long

# The logs are small and ragged; what is said of that has tests of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning"),
    pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning"),  # made logs are sure
]

W = [0.1, 0.3, 0.7]
ROLES = {"by": "domain", "success": 2}
NUMBERS = ["diff", "sigma", "z", "prob_better", "lo", "hi"]
PAIRS = ["model_a", "model_b"]


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


@pytest.fixture
def even():
    """Three trials of each question."""
    random = np.random.default_rng(8)
    return pl.concat(
        long(random.integers(0, 3, (6, 3)).tolist(), model).with_columns(domain=pl.lit(domain))
        for domain in ("web", "air")
        for model in "cab"
    )


def models(answers: dict[str, list[list[object]]]) -> pl.DataFrame:
    """A log from the outcomes of each model."""
    return pl.concat(long(rows, model) for model, rows in answers.items())


# --- the population of questions


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(("metric", "width"), [
    (ps.bayes(W), 0.6), (ps.avg(W), 0.6), (ps.pass_at_k([1, 3]), 1), (ps.pass_hat_k(2), 1),
    (ps.max_at_k(2, w=W), 0.6), (ps.bayes([-1e200, 0, 1e200]), 2e200),
])  # fmt: skip
def test_the_population_pairs_the_questions(even, metric, width, confidence):
    accessor = even.scorio(**ROLES)
    estimates = accessor.report(metric, per="question", prior="uniform")
    pairs = accessor.compare(metric, target="population", confidence=confidence, simultaneous=False)
    assert pairs.height == 2 * len(metric.k) * 3
    for row in pairs.iter_rows(named=True):
        one, other = (
            estimates.filter(
                pl.col("k").eq_missing(pl.lit(row["k"])), domain=row["domain"], model=row[name]
            )["estimate"].to_numpy()
            for name in PAIRS
        )
        # In units of the width: squares of 1e200 are larger than a float.
        expected = difference_numbers(((one - other) / width).tolist(), 1.0, confidence)
        expected = [n * unit for n, unit in zip(expected, (width, width, 1, 1, width, width))]  # noqa: B905 - six each
        # Sums over six questions are rounded; abs is for differences that should be 0.
        assert [row[name] for name in NUMBERS] == pytest.approx(expected, rel=1e-10, abs=1e-15)
        sure = row["lo"] > 0 or row["hi"] < 0
        assert row["better"] == (row["model_a" if row["diff"] > 0 else "model_b"] if sure else None)


@pytest.mark.parametrize("questions", [2, 30])
@pytest.mark.parametrize("outcome", [0, 1])
def test_saturated_models_leave_something_open(questions, outcome):
    log = models({model: [[outcome] * 4] * questions for model in "ab"})
    row = log.scorio.compare(target="population").row(0, named=True)
    sigma = sqrt(2 / ((questions + 2) * (questions + 1)))
    reach = stats.t.ppf(0.975, questions + 1) * sigma
    expected = [0, sigma, 0, 0.5, -min(reach, 1), min(reach, 1)]
    # Closed forms: only roots and the quantile of t are rounded.
    assert [row[name] for name in NUMBERS] == pytest.approx(expected, rel=1e-12)


def test_the_same_difference_in_every_question_is_not_certain():
    log = models({"a": [[1, 1], [1, 0]], "b": [[0, 1], [0, 0]]})
    row = log.scorio.compare(ps.avg(), target="population").row(0, named=True)
    # The oracle is the same formula of two terms: rounding, far below the default of 1e-6.
    assert [row[name] for name in NUMBERS] == pytest.approx(difference_numbers([0.5, 0.5], 1))
    assert row["hi"] == 1
    assert row["lo"] == -1
    assert row["better"] is None


def test_the_population_pairs_plain_averages_of_the_questions(log):
    row = (
        log.filter(domain="web")
        .scorio(success=2)
        .compare(target="population", simultaneous=False)
        .row(0, named=True)
    )
    rates = [
        [counts[2] / sum(counts) for counts in moments.tallies(part, 3, model).values()]
        for part in [log.filter(domain="web")]
        for model in "ab"
    ]
    d = [one - other for one, other in zip(*rates, strict=True)]
    # The oracle is the same formula of few terms: rounding, far below the default of 1e-6.
    assert [row[name] for name in NUMBERS] == pytest.approx(difference_numbers(d, 1))


def test_the_interval_of_the_population_is_clipped():
    log = models({"a": [[1], [1], [0]], "b": [[0], [0], [0]]})
    rows = log.scorio.compare(ps.pass_at_k(1), target="population")
    assert rows["hi"].item() == 1
    assert rows["lo"].item() < 0


def test_one_question_says_nothing_of_a_population():
    log = models({"a": [[1, 1, 1]], "b": [[0, 0, 0]]})
    row = log.scorio.compare(target="population").row(0, named=True)
    assert {row[name] for name in (*NUMBERS, "better")} == {None}


def test_where_k_exceeds_the_trials_there_is_no_population():
    log = models({"a": [[1, 1], [1, 0, 0]], "b": [[0, 0, 1]] * 2, "c": [[1, 0, 1], [0, 0, 0]]})
    rows = log.scorio.compare(ps.pass_at_k([2, 3]), target="population")
    unknown = rows.filter(pl.col("diff").is_null())
    assert unknown.select("k", *PAIRS).rows() == [(3, "a", "b"), (3, "a", "c")]
    assert unknown.select(*NUMBERS, "better").null_count().row(0) == (2,) * 7


def test_differences_of_rewards_allow_for_what_their_range_allows(even):
    rewards = even.with_columns(pl.col("category") * 2.5).scorio(by="domain")
    row = rewards.compare(ps.max_at_k(2), target="population").row(0, named=True)
    weights = even.scorio(by="domain").compare(ps.max_at_k(2, [0, 2.5, 5]), target="population")
    for name in ("diff", "sigma", "z", "lo", "hi"):
        assert row[name] == pytest.approx(weights[name][0])
    same = even.with_columns(category=pl.lit(2.5)).scorio(by="domain")
    rows = same.compare(ps.max_at_k(2), target="population")
    assert rows.select("sigma", "lo", "hi", "better").null_count().row(0) == (6,) * 4


# --- where the prior decides


def hard(n: dict[str, int], seed: int = 3, questions: int = 100) -> pl.DataFrame:
    """One and the same model under several names, with other numbers of trials."""
    random = np.random.default_rng(seed)
    rates = random.beta(0.3, 2, questions)
    return models(
        {
            name: (random.random((trials, questions)) < rates).T.tolist()
            for name, trials in n.items()
        }
    ).cast({"category": pl.Int8})


@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_one_and_the_same_model_with_16_and_2_trials():
    log = hard({"many": 16, "few": 2})
    with pytest.warns(ps.PriorWarning, match=r"^in 1 of 1 pairs .* ps.avg.. has no prior"):
        row = log.scorio.compare(ps.bayes()).row(0, named=True)
    assert row["better"] == "few"
    assert row["prob_better"] > 0.999
    pooled = log.scorio.compare(ps.bayes(), prior="population").row(0, named=True)
    assert pooled["better"] is None
    assert log.scorio.compare(ps.avg())["better"].item() is None


@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_the_warning_comes_once_and_when_it_is_collected():
    log = pl.concat(
        hard({"a": 16, "b": 2, "c": 16}, seed).with_columns(stratum=seed) for seed in range(2)
    ).cast({"stratum": pl.Int64})
    plan = log.lazy().scorio(by="stratum").compare(ps.bayes())
    with pytest.warns(ps.PriorWarning) as caught:
        plan.collect()
    # a and c with b, in two strata.
    assert [str(each.message).split(" pairs")[0] for each in caught] == ["in 4 of 6"]
    with pytest.warns(ps.PriorWarning, match="in 4 of 4 pairs"):
        assert log.scorio(by="stratum").compare(ps.bayes(), baseline="b").height == 4
    assert log.filter(pl.col("model") != "b").scorio(by="stratum").compare().height == 2


@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
def test_without_estimates_or_within_the_interval_nothing_is_said(even):
    log = hard({"a": 3, "b": 2}, questions=8)
    assert log.scorio.compare(ps.pass_at_k(3))["better"].item() is None  # b has no estimate
    clipped = models({"a": [[1] * 9] * 9, "b": [[0] * 9] * 9})
    assert clipped.scorio.compare(ps.bayes(bounds=(0, 0.1)))["hi"].item() == 0.1
    assert even.scorio(**ROLES).compare(ps.max_at_k(2, w=[2, 2, 2])).height == 6


CALIBRATED = {"target": "population"}
METRICS = [ps.avg(), ps.pass_at_k(2), ps.geom_at_k(2), ps.max_at_k(2, w=[0, 0.5, 1])]


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [None, pl.col("question") // 2])
@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_ranking_has_the_intervals_of_the_report(metric, cluster):
    log = drawn(6, range(7), most=5)
    # Of questions with a single trial too: two trials of each.
    log = log.with_columns(n=pl.len().over("domain", "model", "question"))
    log = pl.concat([log, log.filter(n=1).with_columns(trial=pl.lit(7, pl.Int64))]).drop("n")
    roles = {"by": "domain", "cluster": cluster, **({} if metric.w else {"success": 2})}
    keys, numbers = ["domain", "model"], ["estimate", "lo", "hi"]
    ranks = log.scorio(**roles).rank(metric, target="population").sort(keys)
    report = log.scorio(**roles).report(metric, **CALIBRATED).sort(keys)
    for name in numbers:
        # Sums in another order.
        assert ranks[name].to_list() == pytest.approx(report[name].to_list(), rel=1e-10)


def test_comparisons_of_geom_at_k_pair_the_credits_of_the_calibrated_report(r1):
    log = pl.concat([r1, r1.with_columns(model=pl.lit("other"), category=1 - pl.col("category"))])
    report = log.scorio.report(ps.geom_at_k(2), **CALIBRATED)
    pair = log.scorio.compare(ps.geom_at_k(2), target="population")
    assert pair["diff"].item() == pytest.approx(report["estimate"][0] - report["estimate"][1])
