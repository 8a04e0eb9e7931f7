import numpy as np
import pytest

from polars_scorio.decisions.gate import gate_verdicts

NONE = np.nan


def verdicts(pvalue_pass, pvalue_fail, *, each=False):
    arrays = (np.array(p, dtype=float) for p in (pvalue_pass, pvalue_fail))
    return gate_verdicts(*arrays, 0.95, every_stratum=each).tolist()


def test_a_single_row_needs_no_adjustment():
    pvalue_pass, pvalue_fail = [[0.05], [NONE], [0.051]], [[NONE], [0.05], [NONE]]
    assert verdicts(pvalue_pass, pvalue_fail) == [["pass"], ["fail"], ["undecided"]]


def test_a_stratum_fails_after_holms_adjustment_over_all_rows_of_the_candidate():
    rows = [[NONE, 0.01, 0.01]], [[0.02, NONE, NONE]]
    assert verdicts(*rows) == [["undecided", "pass", "pass"]]  # 3 x .02 > .05
    assert verdicts(rows[0], [[0.016, NONE, NONE]]) == [["fail", "pass", "fail"]]


@pytest.mark.parametrize(("each", "whole"), [(False, "pass"), (True, "undecided")])
def test_with_each_all_strata_must_pass_at_full_confidence(each, whole):
    assert verdicts([[0.2, 0.01, 0.001]], [[NONE] * 3], each=each)[0][-1] == whole
    assert verdicts([[0.05, 0.05, 0.05]], [[NONE] * 3], each=each)[0][-1] == "pass"
