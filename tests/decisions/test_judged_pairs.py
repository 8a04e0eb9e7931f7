import polars as pl
import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts

LOG = verdicts(models=("a", "b"))
GRADER = ps.judge(sensitivity=(88, 100), specificity=(78, 100))


def test_a_pair_has_the_difference_of_the_verdicts_as_they_are():
    plain = LOG.scorio().compare(ps.avg())
    for roles in ({"truth": "human"}, {"judge": GRADER}):
        pair = LOG.scorio(**roles).compare(ps.avg())
        assert pair["estimate_uncorrected"].item() == pytest.approx(plain["diff"].item())


def test_labels_on_the_trials_of_both_models_add_up():
    log = LOG.scorio(truth="human")
    assert log.compare(ps.avg())["labels"].item() == log.avg()["labels"].sum()


def test_labels_of_one_judge_count_once():
    assert LOG.scorio(judge=GRADER).compare(ps.avg())["labels"].item() == 200
    log = LOG.scorio(truth="human")
    pair, models = log.compare(ps.pass_at_k(2)), log.pass_at_k(2)
    assert models["labels"].n_unique() == 1
    assert pair["labels"].item() == models["labels"][0]


def test_strata_and_their_mean_have_their_verdicts_and_labels():
    log = LOG.with_columns(half=pl.col("question") % 2).scorio(judge=GRADER, by="half")
    pairs = log.compare(ps.avg(), overall="macro").sort("half", nulls_last=True)
    assert pairs["estimate_uncorrected"][2] == pytest.approx(
        pairs["estimate_uncorrected"][:2].mean()
    )
    assert pairs["labels"].to_list() == [200] * 3


def test_one_model_has_no_pairs_but_the_columns():
    with pytest.warns(UserWarning, match="nothing to compare"):
        pairs = LOG.filter(model="a").scorio(judge=GRADER).compare(ps.avg())
    assert pairs.height == 0
    assert {"estimate_uncorrected", "labels"} < {*pairs.columns}
    assert "estimate_uncorrected" not in LOG.scorio.compare(ps.avg()).columns
