"""Votes over answers in reports: every draw, counted draws, and the laws of a report."""

import time
from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import t

import polars_scorio as ps
from tests.differences import plus_two
from tests.made_logs import unreadable

# Logs made by a rule are no random ones, and tests of a log say so.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

KEYS = ["model", "question"]
NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]
INFERENCES = ["uniform", "population", None]
ROOM = 1e-12  # sums of a few products of chances
VOTES = ps.vote_at_k([1, 2, 4])


def made(seed: int = 0, questions: int = 6, n: int = 6, models: str = "ab") -> pl.DataFrame:
    """Trials with answers, of which "r0" and "r1" are right; some abstain."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, "xy"[question % 2], question, trial, answer, None if answer is None
         else int(answer[0] == "r"))
        for model in models
        for question in range(questions)
        for shares in [rng.dirichlet([1.0, 0.3, 0.5, 0.5, 0.3])]
        for trial in range(n)
        for answer in [("r0", "r1", "w0", "w1", None)[rng.choice(5, p=shares)]]
    ]  # fmt: skip
    names = ["model", "domain", "question", "trial", "answer", "category"]
    log = pl.DataFrame(rows, schema=names, orient="row")
    seen = pl.col("answer").is_not_null().any().over(KEYS)
    # Every question has a vote: else a report says that there is none.
    first = pl.col("trial") == 0
    return log.with_columns(
        answer=pl.when(~seen & first).then(pl.lit("w0")).otherwise("answer"),
        category=pl.col("category").fill_null(0),
    )


@pytest.fixture
def log():
    return made()


def accessor(log, **roles):
    return log.scorio(answer="answer", **roles)


def worth(draw, right: set, ties: str) -> float:
    """What the vote of some answers is worth."""
    votes = Counter(answer for answer in draw if answer is not None)
    most = max(votes.values(), default=0)
    winners = [answer in right for answer, number in votes.items() if number == most]
    if not winners:
        return 0.0
    return sum(winners) / len(winners) if ties == "split" else float(all(winners))


def every_draw(trials: pl.DataFrame, k: int, ties: str) -> float:
    """The mean over all draws of a question."""
    right = {*trials.filter(category=1)["answer"]}
    draws = [worth(draw, right, ties) for draw in combinations(trials["answer"].to_list(), k)]
    return sum(draws) / len(draws)


# --- what is right


@pytest.mark.parametrize("ties", ["split", "fail"])
@pytest.mark.parametrize("per", ["model", "question"])
def test_the_estimate_is_the_mean_over_every_draw(log, ties, per):
    rows = accessor(log).vote_at_k([1, 2, 3, 6], ties, per=per)
    for (model, k), own in rows.group_by("model", "k"):
        trials = log.filter(model=model)
        expected = [
            every_draw(each, k, ties)
            for _, each in trials.group_by("question", maintain_order=True)
        ]
        expected = expected if per == "question" else [sum(expected) / len(expected)]
        assert own["estimate"].to_list() == pytest.approx(expected, abs=ROOM)


def test_published_difference_between_answers_and_verdicts():
    # DESIGN: 6 right of 16, wrong answers all different, 8 drawn: .948 and .059, to three digits.
    columns = {"question": 1, "category": [1] * 6 + [0] * 10, "answer": [0] * 6 + [*range(1, 11)]}
    log = pl.DataFrame(columns).scorio(model=None, trial=None, answer="answer")
    rows = log.report(ps.vote_at_k(8), ps.maj_at_k(8))
    assert rows["estimate"].to_list() == pytest.approx([0.948, 0.059], abs=5e-4)


def test_two_answers_without_ties_vote_like_verdicts():
    rng = np.random.default_rng(4)
    log = pl.DataFrame({"question": np.repeat(range(9), 7), "category": rng.integers(0, 2, 63)})
    accessor = log.scorio(model=None, trial=None, answer=pl.col("category").cast(pl.String))
    rows = accessor.report(ps.vote_at_k([1, 3, 5]), ps.maj_at_k([1, 3, 5]))
    votes, verdicts = np.split(rows["estimate"].to_numpy(), 2)
    np.testing.assert_allclose(votes, verdicts, atol=ROOM)


@pytest.mark.slow
def test_agrees_with_counted_draws():
    log, k, draws = made(3, questions=3, n=30, models="m"), 9, 8_000
    rng, shares = np.random.default_rng(1), []
    for _, trials in log.group_by("question"):
        right, pool = {*trials.filter(category=1)["answer"]}, trials["answer"].to_numpy()
        picks = (rng.choice(pool, k, replace=False) for _ in range(draws))
        shares.append(sum(worth(pick, right, "split") for pick in picks) / draws)
    # Four standard errors of the mean of three shares of 8,000 draws.
    found = accessor(log).vote_at_k(k)["estimate"].item()
    assert found == pytest.approx(np.mean(shares), abs=4 * 0.5 / (3 * draws) ** 0.5)


def test_one_vote_is_the_share_of_right_trials_that_answered():
    columns = {"question": 1, "category": [1, 1, 1, 0], "answer": ["a", "a", None, "b"]}
    log = pl.DataFrame(columns).scorio(model=None, trial=None, answer="answer")
    assert log.vote_at_k(1)["estimate"].item() == pytest.approx(0.5, abs=ROOM)


def test_no_right_answer_seen_is_an_estimate_of_zero_with_an_interval():
    columns = {"question": np.repeat(range(5), 4), "category": 0, "answer": ["a", "b"] * 10}
    log = pl.DataFrame(columns).scorio(model=None, trial=None, answer="answer")
    (row,) = log.vote_at_k(2).rows(named=True)
    assert (row["estimate"], row["lo"]) == (0, 0)
    assert 0.05 < row["hi"] < 0.5


# --- a report like others


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_every_inference_says_the_same(log, target):
    kinds = INFERENCES if target == "benchmark" else INFERENCES[1:]
    rows = [accessor(log).report(VOTES, prior=kind, target=target) for kind in kinds]
    for other in rows[1:]:
        assert_frame_equal(rows[0], other, check_exact=True)


@pytest.mark.parametrize("prior", INFERENCES)
def test_votes_and_other_metrics_do_not_touch_each_other(log, prior):
    others = ps.bayes(), ps.pass_at_k([1, 4]), ps.maj_at_k(3)
    both = accessor(log, by="domain").report(*others, VOTES, prior=prior)
    order = {"metric": pl.Enum([metric.name for metric in (*others, VOTES)])}
    alone = [
        log.scorio(by="domain").report(*others, prior=prior),
        accessor(log, by="domain").report(VOTES, prior=prior),
    ]
    expected = pl.concat(alone, how="diagonal").cast(order)
    expected = expected.sort("domain", "model", "metric", "k")
    # Only a report with posteriors has mu, which of other rows is the estimate.
    expected = expected.with_columns(pl.coalesce("mu", "estimate").alias("mu"))
    assert_frame_equal(both.cast(order), expected, check_exact=True)


def test_votes_and_rewards_are_counted_at_once(log):
    rewards = log.with_columns(reward=pl.col("trial") / 4, category=pl.col("category").cast(float))
    both = accessor(rewards).report(ps.max_at_k(2), ps.vote_at_k(2))
    assert_frame_equal(
        both.filter(metric="max_at_k"), log.scorio.report(ps.max_at_k(2)), check_exact=True
    )
    assert_frame_equal(
        both.filter(metric="vote_at_k"), accessor(log).report(ps.vote_at_k(2)), check_exact=True
    )


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["r0", "r1", "w0", "w1"])])
def test_answers_of_any_dtype_give_the_same(log, dtype):
    expected = accessor(log).report(VOTES)
    assert_frame_equal(accessor(log.cast({"answer": dtype})).report(VOTES), expected)
    numbers = pl.col("answer").replace_strict(["r0", "r1", "w0", "w1"], [4.5, -1, 0, 1e300])
    codes = pl.col("answer").replace_strict(["r0", "r1", "w0", "w1"], [3, 2, 1, 0])
    pairs = pl.when(codes.is_not_null()).then(pl.struct(a=codes % 2, b=codes // 2))
    lists = pl.when(codes.is_not_null()).then(pl.concat_list(codes, codes + 1))
    nan = numbers.fill_null(float("nan"))
    for answer in (numbers, nan, codes, pairs, lists, pl.col("answer").cast(pl.Binary)):
        rows = log.with_columns(answer=answer).pipe(accessor).report(VOTES)
        assert_frame_equal(rows, expected, check_exact=True)


def test_rows_in_any_order_give_the_same_bits(log):
    turned = log.sample(fraction=1, shuffle=True, seed=1)
    expected = accessor(log).report(VOTES, per="question")
    assert_frame_equal(accessor(turned).report(VOTES, per="question"), expected, check_exact=True)
    whole = accessor(log).report(VOTES)
    assert_frame_equal(accessor(turned).report(VOTES), whole, check_exact=True)


def test_rows_that_are_counted_give_the_same(log):
    counts = log.group_by("model", "question", "answer", "category").len("n")
    assert_frame_equal(
        accessor(counts, count="n").report(VOTES), accessor(log).report(VOTES), check_exact=True
    )


@pytest.mark.parametrize("trial", ["trial", pl.col("trial").cast(pl.String), None])
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_lazy_equals_eager_however_trials_are_checked(log, trial, engine):
    expected = accessor(log).report(VOTES, ps.avg())
    plan = accessor(log.lazy(), trial=trial).report(VOTES, ps.avg())
    assert_frame_equal(plan.collect(engine=engine), expected, check_exact=True)


def test_nothing_is_read_before_collect(log):
    source = unreadable(log.schema)
    assert isinstance(accessor(source).report(VOTES), pl.LazyFrame)


def test_the_log_is_scanned_once(log, tmp_path):
    path = tmp_path / "log.parquet"
    log.write_parquet(path)
    plan = accessor(pl.scan_parquet(path)).report(VOTES, ps.bayes())
    assert plan.explain().count("SCAN") == 1
    one = plan.filter(pl.col("model") == "a")
    assert "SELECTION" in one.explain()
    assert_frame_equal(one.collect(), accessor(log.filter(model="a")).report(VOTES, ps.bayes()))


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_k_beyond_the_trials_has_a_range(log, target):
    short = log.filter(~((pl.col("question") == 2) & (pl.col("trial") > 2)))
    rows = accessor(short, target=target).vote_at_k([3, 4])
    numbers = pl.col("estimate", "sigma", "lo", "hi").null_count()
    assert rows.filter(k=3).select(numbers).row(0) == (0,) * 4
    assert rows.filter(k=4).select(numbers).row(0) == (2, 2, 0, 0)
    assert rows.filter(k=4)["inference"].to_list() == ["range"] * 2
    every = accessor(log.filter(pl.col("trial") < 3), target=target).vote_at_k(4)
    # Nothing is known of any question.
    assert every.select("lo", "hi").rows() == [(0.0, 1.0)] * 2


def test_a_range_of_a_population_has_the_short_questions_at_either_end(log):
    short = log.filter(~((pl.col("question") == 2) & (pl.col("trial") > 2)))
    each = accessor(short).vote_at_k(4, per="question")
    for row in accessor(short, target="population").vote_at_k(4).iter_rows(named=True):
        values = each.filter(model=row["model"])["estimate"]
        reaches = []
        for end in (0.0, 1.0):
            centre, sigma, freedom = plus_two(values.fill_null(end).to_list(), (0, 1))
            reaches.append((centre, t.ppf(0.975, freedom) * sigma))
        (low, below), (high, above) = reaches
        ends = max(low - below, 0), min(high + above, 1)
        # Sums in another order.
        assert (row["lo"], row["hi"]) == pytest.approx(ends, abs=1e-12)


def test_strata_are_averaged_or_pooled(log):
    strata = accessor(log, by="domain").vote_at_k(2, overall="macro")
    means = strata.drop_nulls("domain").group_by("model").agg(pl.col("estimate").mean())
    overall = strata.filter(pl.col("domain").is_null()).select("model", "estimate")
    assert_frame_equal(overall, means.sort("model"))
    pooled = accessor(log, by="domain").vote_at_k(2, overall="micro")
    assert_frame_equal(
        pooled.filter(pl.col("domain").is_null()).drop("domain"), accessor(log).vote_at_k(2)
    )
    wide = accessor(log).vote_at_k([1, 4], wide=True)
    assert {"vote_at_k_1", "vote_at_k_4", "vote_at_k_4_lo"} <= {*wide.columns}


def test_prior_trials_have_no_say(log):
    prior = made(9, n=2).drop("answer")
    rows = accessor(log).report(VOTES, ps.bayes(), prior=prior)
    plain = accessor(log).report(VOTES)
    votes = rows.filter(metric="vote_at_k").drop("mu")
    assert_frame_equal(votes, plain, check_exact=True)


# --- decisions and pictures


@pytest.fixture
def sides():
    """A model that is better."""
    return pl.concat([made(1, 40, 16, "a"), made(2, 40, 16, "b").with_columns(
        answer=pl.when(pl.col("trial") < 9).then(pl.lit("r0")).otherwise("answer"),
        category=pl.when(pl.col("trial") < 9).then(1).otherwise("category").cast(pl.Int64),
    )])  # fmt: skip


@pytest.mark.parametrize("prior", INFERENCES)
def test_models_are_compared_and_ranked_by_their_votes(sides, prior):
    log = accessor(sides, prior=prior)
    rows = log.vote_at_k(4)
    (pair,) = log.compare(ps.vote_at_k(4)).rows(named=True)
    assert pair["diff"] == pytest.approx(rows["estimate"][0] - rows["estimate"][1], abs=ROOM)
    assert pair["better"] == "b"
    ranks = log.rank(ps.vote_at_k(4))
    assert ranks.select("model", "rank_lo", "rank_hi").rows() == [("b", 1, 1), ("a", 2, 2)]
    numbers = ["model", "estimate", "lo", "hi"]
    ranks = ranks.sort("model").rename({"mu": "estimate"}, strict=False)
    assert_frame_equal(ranks.select(numbers), rows.select(numbers), check_exact=True)
    board = log.leaderboard(ps.vote_at_k(4))
    assert board["model"].to_list() == ["b", "a"]
    assert board["vote_at_k_4"].to_list() == rows["estimate"].to_list()[::-1]


def test_questions_are_a_sample_or_all_there_are(sides):
    log = accessor(sides)
    each = log.vote_at_k(4, per="question")
    wide = log.vote_at_k(4, target="population")
    narrow = log.vote_at_k(4)
    values = each.filter(model="a")["estimate"]
    # The spread of the questions, and of two more at the ends.
    assert wide["sigma"][0] == pytest.approx(plus_two(values.to_list(), (0, 1))[1], rel=1e-12)
    assert (wide["hi"] - wide["lo"] > narrow["hi"] - narrow["lo"]).all()
    (pair,) = log.compare(ps.vote_at_k(4), target="population").rows(named=True)
    assert pair["better"] == "b"


def test_clusters_widen_what_is_said_of_a_population(sides):
    one = accessor(sides, target="population")
    many = accessor(sides, target="population",
                    cluster=pl.col("question") // 4)  # fmt: skip
    alone = accessor(sides, target="population", cluster="question")
    rows = one.vote_at_k(4)
    # The same sums, question after question.
    assert_frame_equal(alone.vote_at_k(4).drop("clusters"), rows, rel_tol=1e-12)
    clustered = many.vote_at_k(4)
    assert clustered["clusters"].to_list() == [10, 10]
    assert (clustered["hi"] - clustered["lo"] > rows["hi"] - rows["lo"]).all()


def test_pictures_show_what_is_known(sides):
    plot = accessor(sides).plot
    shown = pl.DataFrame(plot.curve(ps.vote_at_k([1, 4, 64])).data.values)
    rows = accessor(sides).vote_at_k([1, 4, 64])
    assert shown.sort("model", "k")["mu"].to_list() == rows["estimate"].to_list()
    assert rows["estimate"].null_count() == 2  # which have a range
    assert plot.intervals(ps.vote_at_k(4)).to_dict()["title"]["text"] == "b beats a."
    assert "Vote@64" in str(plot.intervals(ps.vote_at_k(64)).to_dict())  # of ranges alone


# --- what is refused


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda log: log.scorio.vote_at_k(2), "name the column of answers with answer="),
        (lambda log: accessor(log).trajectory(ps.vote_at_k(2)), "trajectory follows the outcomes"),
        (lambda log: accessor(log).convergence(ps.vote_at_k(2)), "convergence follows the outcome"),
        (lambda log: accessor(log).write_html("x.html", ps.vote_at_k(2)), "a page is made of coun"),
        (lambda _: ps.vote_at_k(2, "half"), 'ties must be "split" or "fail", got \'half\''),
        (lambda _: ps.vote_at_k(0), "k must be a positive int"),
        (lambda _: pl.col("category").scorio.estimate(ps.vote_at_k(2)), "an expression counts the"),
        (lambda _: ps.vote_at_k(2).expr(n="n", successes="c"), "an expression counts the categor"),
    ],
)
def test_what_has_no_votes_says_so(log, ask, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said):
        ask(log)


def test_a_metric_names_its_ties():
    assert ps.vote_at_k([1, 4]).name == "vote_at_k"
    assert repr(ps.vote_at_k(4, "fail")) == "vote_at_k(4, ties='fail')"


# --- speed


@pytest.mark.slow
def test_ten_thousand_questions_take_seconds():
    rng = np.random.default_rng(1)
    rates = rng.dirichlet(np.full(20, 0.3), 10_000).cumsum(axis=1)
    draws = rng.random((10_000, 64))
    answers = np.stack(
        [np.searchsorted(rate[:-1], draw) for rate, draw in zip(rates, draws, strict=True)]
    )
    log = pl.DataFrame({
        "question": np.repeat(range(10_000), 64), "trial": np.tile(range(64), 10_000),
        "answer": answers.ravel(), "category": (answers == 0).ravel(),
    }).scorio(model=None, answer="answer")  # fmt: skip
    start = time.process_time()
    rows = log.vote_at_k([4, 16])
    assert time.process_time() - start < 5
    # A share of right answers of 1/20 each, of which k votes make more or less.
    assert rows["estimate"].is_between(0.01, 0.2).all()
    assert comb(64, 16) > 1e14  # which are all drawn
