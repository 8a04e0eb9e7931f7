from itertools import pairwise

import polars as pl
import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

LOG = verdicts()


def labelled(judged_right, judged_wrong):
    """A log of single trials: of each verdict the trials, the labels and the right labels."""
    rows = []
    for verdict, (trials, labels, right) in ((1, judged_right), (0, judged_wrong)):
        rows += [(verdict, place < right if place < labels else None) for place in range(trials)]
    frame = pl.DataFrame(rows, schema=["category", "human"], orient="row")
    return frame.with_row_index("question").scorio(model=None, trial=None, truth="human")


def test_labels_chosen_by_verdict_are_no_reason_to_warn():
    report = labelled((1800, 200, 150), (200, 180, 45)).report(ps.avg(), ps.pass_at_k(1))
    assert report["estimate"].to_list() == pytest.approx([0.9 * 0.75 + 0.1 * 0.25] * 2)


def test_a_sure_log_keeps_the_interval_of_its_verdicts():
    # All verdicts are "right", which the correction makes no surer.
    sure = LOG.with_columns(category=pl.lit(1))
    many = ps.judge(sensitivity=(10_000, 10_000), specificity=(10_000, 10_000))
    plain, corrected = (
        sure.scorio(validate=False).pass_at_k(2),
        sure.scorio(judge=many).pass_at_k(2),
    )
    assert corrected["lo"].to_list() == pytest.approx(plain["lo"].to_list(), abs=1e-3)


def test_more_labels_make_narrower_intervals():
    widths = []
    for times in (1, 4, 16):
        judge = ps.judge(sensitivity=(22 * times, 25 * times), specificity=(20 * times, 25 * times))
        report = LOG.scorio(judge=judge).report(ps.avg(), ps.pass_at_k(2))
        widths.append((report["hi"] - report["lo"]).to_list())
    for wide, narrow in pairwise(widths):
        assert all(x > y for x, y in zip(wide, narrow, strict=True))


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
