import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.categories import counted_classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, group_plan
from polars_scorio.subjects.of_verdicts import LABELS, Verdicts

COLUMNS = {
    "question": [1, 1, 1, 1, 1, 2, 2],
    "category": [1, 1, 1, 0, 0, 0, 1],
    "human": [1, 0, None, 0, 1, None, None],
}


def counts(frame: pl.DataFrame, **roles) -> list:
    trials = bind_roles(frame.lazy(), Roles(model=None, trial=None, truth="human", **roles))
    classes = counted_classes(trials, [], binary=True, needs=(Verdicts(labelled=True),))
    plan = group_plan(trials, classes).plan()
    rows = plan.select(QUESTIONS).explode(QUESTIONS, **AS_ROWS).unnest(QUESTIONS).collect()
    return rows.sort("question").select(LABELS).rows()


def test_labels_are_counted_by_verdict():
    assert counts(pl.DataFrame(COLUMNS)) == [(2, 1, 2, 1), (0, 0, 0, 0)]


def test_rows_that_stand_for_many_count_many_times():
    frame = pl.DataFrame(COLUMNS).with_columns(times=pl.Series([5, 2, 9, 3, 1, 1, 1]))
    assert counts(frame, count="times")[0] == (7, 5, 4, 1)


def test_a_label_without_a_verdict_says_nothing_of_the_judge():
    frame = pl.DataFrame(COLUMNS | {"category": [1, None, 1, 0, 0, 0, 1]})
    assert counts(frame, missing="drop")[0] == (1, 1, 2, 1)


def test_a_label_may_be_true_or_false_whatever_the_verdicts_are():
    words = pl.DataFrame(COLUMNS).with_columns(
        pl.when(pl.col("category") == 1)
        .then(pl.lit("yes"))
        .otherwise(pl.lit("no"))
        .alias("category"),
        pl.col("human").cast(pl.Boolean),
    )
    assert counts(words, success="yes")[0] == (2, 1, 2, 1)


def test_labels_in_words_follow_success():
    words = pl.DataFrame(COLUMNS).with_columns(
        pl.col("category", "human").replace_strict({1: "yes", 0: "no"}, default=None)
    )
    assert counts(words, success="yes")[0] == (2, 1, 2, 1)


def test_labels_in_numbers_follow_the_threshold():
    scores = pl.DataFrame(COLUMNS).with_columns(pl.col("category", "human") * 0.5 + 0.25)
    assert counts(scores, threshold=0.5)[0] == (2, 1, 2, 1)


def test_a_label_that_is_no_category_is_refused_with_its_place():
    stray = pl.DataFrame(COLUMNS | {"human": [1, 0, None, 3, 1, None, None]})
    with pytest.raises(ValueError, match=r"1 question has a label of truth outside \[0, 1\] in "
                       r"'human', the first at question=1: 3\. People and judge"):  # fmt: skip
        counts(stray)


def test_truth_of_another_kind_than_the_category_is_refused():
    words = pl.DataFrame(COLUMNS).with_columns(pl.col("human").cast(pl.String))
    log = words.scorio(model=None, trial=None, truth="human")
    with pytest.raises(TypeError, match=r"truth 'human' is String, and the category 'category' is "
                       r"Int64: people and judge must choose from the same"):  # fmt: skip
        log.avg()


@pytest.mark.parametrize("truth", ["category", pl.col("category")])
def test_verdicts_are_not_their_own_truth(truth):
    log = pl.DataFrame(COLUMNS).scorio(model=None, trial=None)
    with pytest.raises(ValueError, match=r"^truth=.*category.* repeats category='category', and a"):
        log(truth=truth)


def test_a_missing_column_of_truth_names_the_keyword():
    log = pl.DataFrame(COLUMNS).scorio(model=None, trial=None, truth="humna")
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match=r"'humna' for the truth.*truth="):
        log.avg()


def test_verdicts_of_more_categories_need_success():
    log = pl.DataFrame(COLUMNS | {"category": [2, 1, 1, 0, 0, 0, 1]})
    with pytest.raises(ValueError, match=r"neither 0 nor 1.* name in success= those"):
        log.scorio(model=None, trial=None, truth="human").avg()


@pytest.mark.parametrize("keyword", [{"levels": [0, 1]}, {"bounds": (0, 1)}])
def test_rewards_have_no_judge(keyword):
    with pytest.raises(ValueError, match="success= for the trials that the judge calls"):
        pl.DataFrame(COLUMNS).scorio(truth="human", **keyword)


def test_truth_and_a_judge_exclude_each_other():
    grader = ps.judge(sensitivity=(9, 10), specificity=(9, 10))
    with pytest.raises(ValueError, match="omit judge="):
        pl.DataFrame(COLUMNS).scorio(truth="human", judge=grader)
