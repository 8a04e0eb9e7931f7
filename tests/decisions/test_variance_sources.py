import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.decisions.counted import counted
from tests.documents import study_numbers
from tests.made_logs import long, unreadable

VECTORS = study_numbers("rewards")["items"]


def table(seed, models=6, questions=40, trials=4, differ=0.0):
    """A log in which models differ in what they are good at by up to `differ`."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.3, 0.7, questions) + differ * rng.uniform(-1, 1, (models, questions))
    return counted(rng.binomial(trials, rates)[None], trials)


@pytest.mark.parametrize("name", ["variance", "share", "lo", "hi"])
def test_shares_are_those_of_the_study(name):
    rows = counted(np.array(VECTORS["c"])[None], VECTORS["n"]).variance_components()
    assert rows["source"].to_list() == ["models", "questions", "interaction", "trials"]
    assert rows[name].to_list() == pytest.approx(VECTORS["shares"][name], abs=1e-12)


def test_each_stratum_has_four_rows():
    rows = counted(np.random.default_rng(1).binomial(8, 0.5, (2, 3, 10)), 8).variance_components()
    assert {*rows.columns} == {
        "stratum", "models", "questions", "trials", "source", "variance", "share", "lo", "hi",
        "sigma_benchmark", "sigma_population", "removable", "advice",
    }  # fmt: skip
    assert rows["stratum"].to_list() == [0] * 4 + [1] * 4
    assert rows.select("models", "questions", "trials").unique().rows() == [(3, 10, 240)]
    assert rows.group_by("stratum").agg(pl.col("share").sum().round(12))["share"].to_list() == [
        1,
        1,
    ]


def test_sigma_on_these_questions_is_that_of_a_calibrated_difference():
    log = table(2, models=2)
    row = log.variance_components().row(0, named=True)
    sigma = np.sqrt((log.avg()["sigma"] ** 2).sum())
    # Calibrated sigmas have an allowance for noise that was not seen.
    assert row["sigma_benchmark"] == pytest.approx(sigma, rel=0.25)


@pytest.mark.parametrize(
    ("trials", "differ", "advice"), [(2, 0.0, "Buy trials"), (64, 0.3, "Buy questions")]
)
def test_advice_is_to_buy_what_removes_most(trials, differ, advice):
    row = (
        table(3, questions=200, trials=trials, differ=differ)
        .variance_components()
        .row(0, named=True)
    )
    assert row["advice"].startswith(advice)
    assert f"{100 * row['removable']:.0f} %" in row["advice"]
    assert row["sigma_benchmark"] <= row["sigma_population"]


def test_single_trials_leave_interaction_and_trials_unknown():
    rows = table(4, trials=1).variance_components()
    assert rows["share"].is_null().to_list() == [False, False, True, True]
    assert rows["hi"].is_null().to_list() == [False, False, True, True]
    assert rows.select("sigma_benchmark", "sigma_population", "removable").null_count().row(0) == (
        4, 4, 4,
    )  # fmt: skip
    assert "single trial" in rows["advice"][0]


@pytest.mark.parametrize(
    ("successes", "words"),
    [([[1, 2, 3]], "one model"), ([[1], [2]], "one question")],
    ids=["model", "question"],
)
def test_one_model_or_question_has_no_shares(successes, words):
    rows = counted(np.array([successes]), 4).variance_components()
    assert rows["share"].null_count() == rows["removable"].null_count() == 4
    assert f"The log has {words}: shares of variance need two or more." in rows["advice"][0]


def test_a_log_without_a_model_column_has_one_model():
    rows = long([[0, 1], [1, 1]]).scorio(model=None).variance_components()
    assert "one model" in rows["advice"][0]


def test_a_log_in_which_nothing_varies_says_so():
    row = counted(np.array([[[4, 4, 4], [4, 4, 4]]]), 4).variance_components().row(0, named=True)
    assert row["share"] is None
    assert "all trials of each question are alike" in row["advice"]


def test_rewards_have_shares_in_their_own_units():
    rng = np.random.default_rng(5)
    outcomes = rng.normal(0, 1, (4, 30, 1)) + rng.normal(0, 0.5, (4, 30, 3))
    log = pl.concat(long(each.tolist(), f"m{place}") for place, each in enumerate(outcomes))
    rows = log.scorio.variance_components()
    assert rows["variance"][3] == pytest.approx(0.25, abs=0.06)
    assert rows["variance"][2] == pytest.approx(1, abs=0.3)
    scaled = log.with_columns(pl.col("category") * 10).scorio.variance_components()
    assert scaled["share"].to_list() == pytest.approx(rows["share"].to_list(), rel=1e-9)
    assert scaled["variance"][3] == pytest.approx(100 * rows["variance"][3])


def test_unequal_trials_are_allowed():
    log = pl.concat(long([[0, 1], [1, 1, 0], [0, 0, 1, 0]], f"m{m}") for m in range(3))
    assert log.scorio.variance_components()["share"].null_count() == 0


def test_models_with_different_questions_are_refused_or_lose_them():
    log = pl.concat([long([[0, 1], [1, 0], [1, 1]], "a"), long([[0, 1], [0, 0]], "b")]).scorio
    with pytest.raises(ValueError, match='unmatched="drop"'):
        log.variance_components()
    assert log.variance_components(unmatched="drop")["questions"].unique().to_list() == [2]


def test_a_lazy_log_is_read_when_it_is_collected():
    log = table(6)
    roles = {"by": "stratum", "count": "count"}
    plan = unreadable(log.frame.schema).scorio(**roles).variance_components()
    assert plan.collect_schema() == log.variance_components().schema
    assert_frame_equal(
        log.frame.lazy().scorio(**roles).variance_components().collect(), log.variance_components()
    )


def test_more_confidence_is_wider():
    sure, unsure = (table(7).variance_components(confidence=level) for level in (0.99, 0.8))
    assert ((sure["hi"] >= unsure["hi"]) & (sure["lo"] <= unsure["lo"])).all()
    with pytest.raises(ValueError, match="confidence"):
        table(7).variance_components(confidence=2)
