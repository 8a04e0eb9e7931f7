import polars as pl
import pytest

from tests.made_verdicts import verdicts


def test_models_share_a_judge_if_their_labels_allow_it():
    log = verdicts().scorio(truth="human")
    labels = log.pass_at_k(2)["labels"].to_list()
    assert labels == [verdicts()["human"].count()] * 3


def test_models_whose_labels_differ_have_judges_of_their_own():
    kind, harsh = verdicts(["a"], rates=(0.98, 0.7)), verdicts(["b"], rates=(0.75, 0.98))
    report = pl.concat([kind, harsh]).scorio(truth="human").pass_hat_k(2)
    assert report["labels"].to_list() == [kind["human"].count(), harsh["human"].count()]


def test_strata_have_judges_of_their_own():
    parts = [verdicts(seed=seed).with_columns(level=pl.lit(seed)) for seed in (1, 2)]
    report = pl.concat(parts).scorio(truth="human", by="level").pass_at_k(2)
    one = parts[0].scorio(truth="human").pass_at_k(2)
    assert report.filter(level=1)["labels"].to_list() == one["labels"].to_list()


def test_a_truth_that_nobody_filled_is_refused():
    log = verdicts(share=0.0).scorio(truth="human")
    with pytest.raises(ValueError, match=r"no trial with a verdict has a label.*sample_to_label"):
        log.avg()


def test_fewer_than_ten_labels_are_refused_with_the_first_place():
    unread = pl.when(pl.col("model") != "b").then("human")
    log = verdicts().with_columns(human=unread).scorio(truth="human")
    with pytest.raises(ValueError, match=r"^truth: 1 of 3 models has fewer than 10 labels, the fi"
                       r"rst at model='b': 0\. Label more trials"):  # fmt: skip
        log.avg()
    alone = log.frame.filter(model="b").with_columns(human=pl.lit(1)).head(9)
    with pytest.raises(ValueError, match=r"^truth: the log has fewer than 10 labels: 9\. Label"):
        alone.scorio(model=None, truth="human").avg()
