import polars as pl
import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts


def test_eager_equals_lazy():
    log = verdicts()
    lazy = log.lazy().scorio(truth="human").judge_agreement()
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(log.scorio(truth="human").judge_agreement())


def test_the_confidence_of_the_accessor_counts():
    log = verdicts()
    chosen = log.scorio(truth="human", confidence=0.8).judge_agreement()
    assert chosen.equals(log.scorio(truth="human").judge_agreement(confidence=0.8))


def test_labels_must_be_named():
    with pytest.raises(ValueError, match=r'with truth=, as in df.scorio\(truth="human"\)'):
        verdicts().scorio.judge_agreement()
    grader = ps.judge(sensitivity=(9, 10), specificity=(9, 10))
    with pytest.raises(ValueError, match="with truth="):
        verdicts().scorio(judge=grader).judge_agreement()


def test_an_unknown_keyword_lists_the_known_ones():
    with pytest.raises(TypeError, match="It takes width, confidence"):
        verdicts().scorio(truth="human").judge_agreement(wdth=0.1)
