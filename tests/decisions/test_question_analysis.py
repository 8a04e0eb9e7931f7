import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.documents import study_numbers
from tests.made_logs import long, unreadable

VECTORS = study_numbers("rewards")["items"]


def planted(seed, questions=300, models=25, trials=8):
    """A log of models from weak to strong, at questions of all difficulties."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(0, 1, (models, 1)), rng.normal(0, 1.5, questions)
    return counted(rng.binomial(trials, 1 / (1 + np.exp(difficulty - ability)))[None], trials)


@pytest.fixture(scope="module")
def made():
    return planted(1)


def test_numbers_are_those_of_the_study():
    c, n, columns = np.array(VECTORS["c"]), VECTORS["n"], VECTORS["columns"]
    rows = counted(c[None], n).questions().sort("question")
    for name in ("rate", "solved_by", "always_by"):
        found = rows[name].cast(pl.Float64)
        expected = pl.Series(found.name, columns[name], dtype=pl.Float64, strict=False)
        # Roots of differences that are zero but for rounding are up to 1e-8.
        assert_series_equal(found, expected, abs_tol=1e-8)
    for status in ("never", "always"):
        assert (rows["status"] == status).fill_null(value=False).to_list() == columns[status]


def test_a_row_says_how_often_a_question_is_solved_and_what_the_trials_allow():
    rows = counted(np.array([[[0, 4, 1, 2], [0, 4, 4, 0]]]), 4).questions().sort("question")
    assert {*rows.columns} == {
        "stratum", "question", "models", "trials", "rate", "solved_by", "always_by", "status",
        "rate_lo", "rate_hi", "removable",
    }  # fmt: skip
    shown = rows.select("trials", "rate", "solved_by", "always_by", "status").rows()
    assert shown == [
        (8, 0, 0, 0, "never"),
        (8, 1, 2, 2, "always"),
        (8, 0.625, 2, 1, None),
        (8, 0.25, 1, 0, None),
    ]
    unseen = 1 - 0.025 ** (1 / 8)
    assert rows["rate_hi"].to_list() == [pytest.approx(unseen), None, None, None]
    assert rows["rate_lo"].to_list() == [None, pytest.approx(1 - unseen), None, None]


@pytest.mark.parametrize("model", ["model", None])
def test_one_model_has_rates_alone(model):
    log = long([[0, 0], [0, 1], [1, 1]]).scorio(model=model)
    rows = log.questions()
    assert rows["question"].to_list() == [0, 1, 2]
    assert rows["rate"].to_list() == [0, 0.5, 1]
    assert rows["models"].unique().to_list() == [1]
    assert rows["removable"].null_count() == 3


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_hardest_questions_stand_first(made, lower_is_better):
    log = made.frame.scorio(by="stratum", count="count", lower_is_better=lower_is_better)
    assert log.questions()["rate"].is_sorted(descending=lower_is_better)


def test_each_stratum_is_read_by_itself(made):
    other = planted(6, questions=40, models=6)
    both = pl.concat([made.frame, other.frame.with_columns(stratum=1)], how="vertical_relaxed")
    rows = both.scorio(by="stratum", count="count").questions()
    alone = made.questions()
    assert_frame_equal(rows.filter(stratum=0), alone, check_dtypes=False)


def test_the_order_of_rows_changes_no_bit(made):
    shuffled = made.frame.sample(fraction=1, shuffle=True, seed=1)
    again = shuffled.scorio(by="stratum", count="count").questions()
    assert again.equals(made.questions())


def test_trials_have_the_rows_of_their_counts():
    trials = pl.concat(long([[0, 1, 1], [1, 1, 0], [int(m > 1), 0, 0]], f"m{m}") for m in range(4))
    counts = trials.scorio.counts().scorio(count="count")
    assert_frame_equal(trials.scorio.questions(), counts.questions())


def test_a_lazy_log_is_read_when_it_is_collected(made):
    schema = made.frame.schema
    plan = unreadable(schema).scorio(by="stratum", count="count").questions()
    lazy = made.frame.lazy().scorio(by="stratum", count="count").questions()
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect_schema() == made.questions().schema
    assert_frame_equal(lazy.collect(), made.questions())


def test_an_empty_log_has_no_questions(made):
    rows = made.frame.clear().scorio(by="stratum", count="count").questions()
    assert rows.is_empty()
    assert rows.schema == made.questions().schema


def test_models_with_different_questions_are_refused_or_lose_them():
    log = pl.concat([long([[0], [1], [1]], "a"), long([[0], [1]], "b")]).scorio
    with pytest.raises(ValueError, match=r'1 model lacks .*model=\'b\'.*unmatched="drop"'):
        log.questions()
    assert log.questions(unmatched="drop")["question"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per": "model"}, 'per must be "question" or "cluster"'),
        ({"per": "cluster"}, 'per="cluster" needs clusters: name their column with cluster='),
        ({"unmatched": "any"}, 'unmatched must be "error" or "drop"'),
        ({"confidence": 1}, "confidence must be a number between 0 and 1"),
    ],
)
def test_wrong_options_are_refused_at_the_call(options, message):
    with pytest.raises(ValueError, match=message):
        long([[0, 1]]).lazy().scorio.questions(**options)


def test_labels_without_success_are_refused():
    with pytest.raises(ValueError, match="success"):
        long([["right", "wrong"]]).scorio.questions()


def test_the_accessor_chooses_the_confidence():
    log = long([[0, 0]])
    wide = log.scorio(confidence=0.99).questions()["rate_hi"].item()
    assert wide == pytest.approx(1 - 0.005 ** (1 / 2))
    assert log.scorio.questions(confidence=0.99)["rate_hi"].item() == wide


def test_a_column_of_the_result_cannot_be_a_stratum():
    log = long([[0, 1]]).with_columns(rate=1)
    with pytest.raises(ValueError, match="rate"):
        log.scorio(by="rate").questions()


def test_two_models_have_a_row_for_each_question():
    totals = {"model": ["ada", "bob"] * 2, "question": ["x", "x", "y", "y"]}
    log = ps.from_successes(pl.DataFrame({**totals, "n": 2, "c": [0, 2, 1, 1]}))
    rows = log.scorio(count="count").questions().sort("question")
    assert rows.select("question", "rate", "solved_by", "always_by").rows() == [
        ("x", 0.5, 1, 1),
        ("y", 0.5, 2, 0),
    ]
