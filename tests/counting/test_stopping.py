"""What a look at a log says of numbers of trials that differ: who stopped, and why."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.stopping import STOPPING_COLUMNS

RATES = np.random.default_rng(1).beta(0.6, 1, 100)


def log_of(run, rates=RATES, model="m"):
    """The trials of a model: `run` makes the outcomes of a question from its rate."""
    outcomes = [[int(outcome) for outcome in run(rate)] for rate in rates]
    columns = {"model": model, "question": range(len(outcomes)), "category": outcomes}
    ids = pl.int_ranges(pl.col("category").list.len()).alias("trial")
    return pl.DataFrame(columns).with_columns(ids).explode("category", "trial")


def retried(rng, most=8):
    """Trials until the first success."""

    def run(rate):
        outcomes = rng.random(most) < rate
        return outcomes[: outcomes.argmax() + 1] if outcomes.any() else outcomes

    return run


def stopping(log, **roles):
    return log.scorio(**roles).coverage()["stopping"].to_list()


def evidence(log, **roles):
    columns = ("stopping", "p_pattern", "p_order", "p_difficulty")
    return log.scorio(**roles).coverage().select(columns).row(0)


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.mark.parametrize("roles", [{}, {"trial": None}, {"validate": False}])
def test_trials_until_the_first_success_are_found_by_their_pattern(rng, roles):
    assert stopping(log_of(retried(rng)), **roles) == ["outcomes"]


def test_other_budgets_hide_the_pattern_but_not_the_order(rng):
    budgets = iter(rng.integers(2, 9, RATES.size).tolist())
    log = log_of(lambda rate: retried(rng, most=next(budgets))(rate))  # noqa: PLW0108 - a new one each
    assert stopping(log) == ["outcomes"]
    assert stopping(log.with_columns(trial=-pl.col("trial"))) == ["outcomes"]  # first ones differ
    assert stopping(log, trial=None) != ["outcomes"]
    # Words are no order: "10" comes before "9".
    words = log.with_columns(pl.format("t{}", "trial").alias("trial"))
    assert stopping(words) == stopping(log, trial=None)


def test_more_trials_of_easy_questions_are_difficulty(rng):
    log = log_of(lambda rate: rng.random(int(4 + 12 * rate)) < rate)
    assert stopping(log) == ["difficulty"]


@pytest.mark.parametrize("rates", [RATES, np.ones(50), np.zeros(50), np.full(1, 0.5)])
def test_a_number_that_was_fixed_never_follows_anything(rng, rates):
    log = log_of(lambda rate: rng.random(6) < rate, rates)
    assert evidence(log) == (None, 1.0, 1.0, 1.0)
    assert evidence(log, trial=None) == (None, 1.0, None, 1.0)


def test_p_values_come_from_trials_successes_and_last_outcomes():
    # Four questions right at the first trial, six at the second. Half of the six would be right
    # (or wrong) at their first: twice C(3 + 4, 4) / C(6 + 4, 4). Six last trials: twice 1/2^6.
    outcomes = [[1]] * 4 + [[0, 1]] * 6
    log = log_of(lambda question: outcomes[question], range(10))
    _, by_pattern, by_order, by_difficulty = evidence(log)
    assert (by_pattern, by_order) == pytest.approx((1 / 3, 1 / 32), rel=1e-12)
    assert 0.01 < by_difficulty < 0.1


def test_the_order_is_unknown_if_one_question_has_no_ids(rng):
    log = log_of(retried(rng)).with_columns(
        trial=pl.when(pl.col("question") > 0).then("trial"),
    )
    assert log.scorio(validate=False).coverage()["p_order"].to_list() == [None]


def test_a_log_without_successes_to_count_has_no_p_values():
    log = log_of(lambda _: [0, 1], range(3)).with_columns(pl.col("category").cast(pl.String))
    assert evidence(log) == (None, None, None, None)


@pytest.mark.slow
def test_numbers_by_chance_are_rarely_taken_for_more(rng):
    logs = (
        log_of(lambda rate: rng.random(rng.integers(4, 13)) < rate, RATES[:50], f"m{i}")
        for i in range(300)
    )
    found = pl.Series(stopping(pl.concat(logs)))
    # The levels of the three tests add up to .8 %, and discrete counts stay below them.
    assert found.is_not_null().mean() <= 0.01


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.99, 1.0])
def test_hopeless_and_perfect_models_have_no_pattern(rng, rate):
    logs = (
        log_of(lambda rate: rng.random(rng.integers(4, 7)) < rate, np.full(40, rate), f"m{i}")
        for i in range(40)
    )
    assert pl.Series(stopping(pl.concat(logs))).is_not_null().mean() == 0


def test_lost_failures_are_a_pattern_too(rng):
    log = log_of(lambda rate: rng.random(6) < rate)
    crashed = (pl.col("category") == 0) & (pl.col("question") % 3 == 0)
    lost = log.with_columns(pl.when(~crashed).then("category").alias("category"))
    assert stopping(lost) == ["outcomes"]


def test_success_is_what_the_roles_say(rng):
    log = log_of(retried(rng))
    words = log.with_columns(pl.col("category").replace_strict({0: "no", 1: "yes"}))
    assert stopping(words) == [None]
    assert stopping(words, success="yes") == ["outcomes"]
    assert stopping(log.with_columns(pl.col("category") == 1)) == ["outcomes"]
    assert stopping(log.with_columns(pl.col("category").cast(pl.Float32))) == ["outcomes"]


def test_rows_that_stand_for_many_trials_are_counted(rng):
    log = log_of(retried(rng))
    assert stopping(log.scorio.counts(), count="count") == ["outcomes"]
    bad = log.scorio.counts().with_columns(-pl.col("count").cast(pl.Int64))
    assert stopping(bad, count="count") == [None]


def test_each_stratum_speaks_for_itself(rng):
    logs = [log_of(retried(rng)), log_of(lambda rate: rng.random(8) < rate)]
    both = pl.concat(log.with_columns(set=pl.lit(i)) for i, log in enumerate(logs))
    assert stopping(both, by="set") == ["outcomes", None]
    lazy = both.lazy().scorio(by="set").coverage()
    assert lazy.collect()["stopping"].to_list() == ["outcomes", None]
    assert lazy.collect(engine="in-memory")["stopping"].to_list() == ["outcomes", None]


def test_a_report_of_such_a_log_is_what_it_was(rng):
    log = log_of(retried(rng))
    shuffled = log.sample(fraction=1, shuffle=True, seed=1)
    assert stopping(shuffled) == ["outcomes"]
    with pytest.warns(ps.StoppingWarning):
        report = log.scorio.report(ps.avg())
    assert report["estimate"].item() == pytest.approx(
        log.group_by("question").agg(pl.col("category").mean())["category"].mean()
    )


def stopped_rewards(*, good: float) -> pl.DataFrame:
    """Up to six trials of 40 questions, until a reward is good enough."""
    rng = np.random.default_rng(31)
    rows = []
    for question in range(40):
        for trial, reward in enumerate(rng.random(6)):
            rows.append((question, trial, reward))
            if reward > good:
                break
    return pl.DataFrame(rows, schema=["question", "trial", "category"], orient="row")


def test_trials_that_stop_at_a_good_reward_followed_their_outcomes():
    row = stopped_rewards(good=0.7).scorio(model=None).coverage().row(0, named=True)
    assert (row["stopping"], row["p_pattern"], row["p_difficulty"]) == ("outcomes", None, None)
    assert row["p_order"] < 1e-6


def test_rewards_without_a_pattern_are_not_accused():
    rng = np.random.default_rng(31)
    log = stopped_rewards(good=2.0).with_columns(kept=pl.Series(rng.random(240) < 0.7))
    row = log.filter("kept").drop("kept").scorio(model=None).coverage().row(0, named=True)
    assert row["n_min"] < row["n_max"]
    assert (row["stopping"], row["p_order"] > 0.01) == (None, True)


def test_without_an_order_nothing_is_known_of_rewards():
    log = stopped_rewards(good=0.7).drop("trial").scorio(model=None, trial=None)
    row = log.coverage().row(0, named=True)
    assert [row[name] for name in STOPPING_COLUMNS] == [None] * 4


def test_looks_at_rewards_that_stopped_are_refused():
    log = pl.concat(stopped_rewards(good=0.7).with_columns(model=pl.lit(name)) for name in "ab")
    with pytest.raises(ValueError, match=r"^the trials of 2 models stopped on their outcomes"):
        log.scorio(bounds=(0, 1)).compare(anytime=6)
