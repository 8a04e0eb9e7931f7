import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.judge_counts import judge_sample, model_counts

GRADER = ps.judge(sensitivity=(88, 100), specificity=(78, 100))


def counted(**columns) -> pl.DataFrame:
    rows = {"verdict": [1, 0, 1, 0], "truth": [1, 1, 0, 0], "count": [88, 12, 22, 78]}
    return pl.DataFrame(rows | columns)


def test_a_judge_is_a_value():
    assert ps.judge(sensitivity=[88, 100], specificity=(78, 100)) == GRADER
    assert len({GRADER, ps.judge(sensitivity=(88, 100), specificity=(78, 100))}) == 1
    assert repr(GRADER) == "Judge(sensitivity=(88, 100), specificity=(78, 100))"


def test_a_frame_of_counts_is_a_judge():
    assert judge_sample(counted()) == GRADER
    assert judge_sample(counted(verdict=[True, False, True, False])) == GRADER


def test_a_frame_with_models_has_a_sample_of_each():
    both = pl.concat([counted(model=["a"] * 4), counted(model=["b"] * 4, count=[9, 1, 2, 8])])
    sample = judge_sample(both)
    assert model_counts(sample, ["b", "a"]) == [(9, 10, 8, 10), (88, 100, 78, 100)]
    with pytest.raises(ValueError, match=r"no calibration sample of the model 'c', only of \['a'"):
        model_counts(sample, ["c"])


@pytest.mark.parametrize(
    ("sensitivity", "said"),
    [
        (0.88, r"must be two counts, such as \(88, 100\) .*, got 0.88"),
        ((0.88, 100), r"must be two counts"),
        ((True, 100), r"must be two counts"),
        ((88, 80), r"a part and a whole that is at least as large, got \(88, 80\)"),
        ((0, 0), r"sensitivity is 0 of 0: the calibration sample has no right answer"),
    ],
)
def test_rates_that_are_no_counts_are_refused(sensitivity, said):
    with pytest.raises(ValueError, match=said):
        ps.judge(sensitivity=sensitivity, specificity=(78, 100))


def test_a_sample_without_wrong_answers_is_refused():
    with pytest.raises(ValueError, match=r"specificity is 0 of 0: .* no wrong answer"):
        judge_sample(counted(count=[88, 12, 0, 0]))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (counted().drop("truth"), r"lacks \['truth'\]; its columns are"),
        (counted(count=[1, 2, 3, -4]), "none negative"),
        (counted(truth=["right", "right", "wrong", "wrong"]), r'pl.col\("truth"\) == "correct"'),
        (counted(verdict=[1, 2, 1, 0]), "verdict must be true or false"),
        (counted(verdict=[1, None, 1, 0]), "1 nulls"),
    ],
)
def test_frames_that_are_no_counts_are_refused(frame, said):
    with pytest.raises(ValueError, match=said):
        judge_sample(frame)


def test_other_things_are_no_judge():
    with pytest.raises(TypeError, match=r"judge must be ps.judge\(.*, got 0.9"):
        judge_sample(0.9)
