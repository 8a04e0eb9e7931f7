"""Questions without any outcome: refused, or left out and counted."""

import polars as pl
import pytest

import polars_scorio as ps

# Question 2 of b has no outcome, one trial of question 1 is missing.
LOG = pl.DataFrame(
    {
        "model": ["a"] * 4 + ["b"] * 4,
        "question": [1, 1, 2, 2] * 2,
        "trial": [0, 1] * 4,
        "category": [1, 0, 1, 1, None, 1, None, None],
    }
)
ROLES = {"missing": "drop", "unscored": "drop"}
SHARED = ("model", "questions", "trials", "dropped", "unscored")


@pytest.mark.parametrize("frame", [LOG, LOG.lazy()])
@pytest.mark.parametrize("wide", [False, True])
def test_they_are_left_out_and_counted(frame, wide):
    report = frame.scorio(**ROLES).report(ps.avg(), wide=wide).lazy().collect()
    assert report.select(SHARED).rows() == [("a", 2, 4, 0, 0), ("b", 1, 1, 3, 1)]
    assert report["avg" if wide else "estimate"].to_list() == [0.75, 1.0]
    alone = LOG.filter(~((pl.col("model") == "b") & (pl.col("question") == 2)))
    rest = alone.scorio(missing="drop").report(ps.avg(), ps.bayes(), ps.pass_at_k(1))
    whole = LOG.scorio(**ROLES).report(ps.avg(), ps.bayes(), ps.pass_at_k(1))
    assert whole.drop("unscored", "dropped").equals(rest.drop("dropped"))


def test_by_default_they_are_refused_and_the_message_names_the_option():
    with pytest.raises(ValueError, match=r"question=2: 2 trials, .* unscored=\"drop\""):
        LOG.scorio(missing="drop").avg()


def test_no_column_where_it_is_not_asked_for():
    roles = LOG.drop_nulls().scorio
    assert "unscored" not in roles.avg().columns
    assert "unscored" not in roles.describe().columns
    assert "unscored" not in LOG.scorio(**ROLES).report(ps.avg(), per="question").columns


def test_a_report_of_questions_has_those_that_are_left():
    report = LOG.scorio(**ROLES).report(ps.avg(), per="question")
    assert report.select("model", "question", "dropped").rows() == [
        ("a", 1, 0), ("a", 2, 0), ("b", 1, 1),
    ]  # fmt: skip


def test_coverage_counts_them():
    coverage = LOG.lazy().scorio(**ROLES).describe().collect()
    assert coverage["unscored"].to_list() == [0, 1]


def test_counts_stand_for_the_log():
    counts = LOG.scorio(**ROLES).counts()
    again = counts.scorio(count="count", **ROLES).avg()
    assert again.equals(LOG.scorio(**ROLES).avg())


def test_questions_of_zero_counts_are_some_too():
    counts = pl.DataFrame({"model": "m", "question": [1, 2], "category": 1, "count": [3, 0]})
    row = counts.scorio(count="count", unscored="drop").avg().row(0, named=True)
    assert (row["questions"], row["trials"], row["unscored"]) == (1, 3, 1)


@pytest.mark.parametrize("overall", ["macro", "micro"])
def test_strata_add_them_up(overall):
    strata = pl.concat([LOG.with_columns(set=pl.lit(name)) for name in "xy"])
    report = strata.scorio(by="set", **ROLES).report(ps.avg(), overall=overall)
    assert report.filter(pl.col("set").is_null())["unscored"].to_list() == [0, 2]


def test_models_lack_the_questions_of_which_they_have_no_outcome():
    roles = LOG.scorio(**ROLES)
    with pytest.raises(ValueError, match=r"model='b': 1 missing \(2\)"):
        roles.compare()
    both = LOG.filter(question=1).scorio(missing="drop")
    common = roles.compare(ps.avg(), unmatched="drop")
    assert common.equals(both.compare(ps.avg()))
    assert roles.rank(ps.avg(), unmatched="drop")["rank"].to_list() == [1, 2]
    board = roles.leaderboard(ps.avg(), unmatched="drop")
    assert board.filter(model="b")["unscored"].item() == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda log: log.trials_needed(half_width=0.05),
        lambda log: log.next_trials(4),
        lambda log: log.trajectory(unmatched="drop"),
        lambda log: log.convergence(replicates=2, scheme="question", unmatched="drop"),
        lambda log: log.population(),
    ],
)
def test_decisions_are_those_of_the_rest(use):
    mine = LOG.scorio(**ROLES)
    rest = LOG.filter(~((pl.col("model") == "b") & (pl.col("question") == 2)))
    assert use(mine).equals(use(rest.scorio(missing="drop")))


def test_nothing_left_of_a_model_is_an_error():
    crashed = LOG.with_columns(pl.when(pl.col("model") != "b").then("category").alias("category"))
    with pytest.raises(ValueError, match=r"1 model has no trial .* at model='b': unscored"):
        crashed.scorio(**ROLES).avg()


def test_rewards():
    rewards = LOG.with_columns(pl.col("category") * 0.5)
    row = rewards.scorio(**ROLES).max_at_k(1).filter(model="b").row(0, named=True)
    assert (row["estimate"], row["unscored"], row["dropped"]) == (0.5, 1, 3)


def test_the_option_is_checked_at_the_call():
    with pytest.raises(TypeError, match='unscored must be "error" or "drop", got 1'):
        LOG.scorio(unscored=1)
    with pytest.raises(ValueError, match='pass missing="drop"'):
        LOG.scorio(unscored="drop", missing=0)
