import polars as pl
import pytest

import polars_scorio as ps
from tests.made_verdicts import verdicts

LOG = verdicts()


def test_a_judge_like_a_coin_has_no_number_and_says_why():
    coin = ps.judge(sensitivity=(6, 10), specificity=(5, 10))
    said = (
        r"avg: 3 of 3 groups have no number, .* better than a coin \(sensitivity 0\.60 of 10, spec"
    )
    with pytest.warns(ps.JudgeWarning, match=said):
        report = LOG.scorio(judge=coin).avg()
    assert report.select("estimate", "sigma", "lo", "hi").null_count().row(0) == (3,) * 4
    assert report["estimate_uncorrected"].null_count() == 0


def test_large_draws_under_a_poor_judge_have_no_number_and_say_why():
    poor = ps.judge(sensitivity=(70, 100), specificity=(62, 100))
    with pytest.warns(ps.JudgeWarning, match="noise of the corrected draws exceeds the range"):
        report = LOG.scorio(judge=poor).pass_at_k([1, 4])
    assert report.filter(k=4)["estimate"].null_count() == 3
    assert report.filter(k=1)["estimate"].null_count() == 0


def test_a_judge_who_favours_a_model_is_warned_of():
    kind, harsh = (0.95, 0.5), (0.7, 0.95)
    logs = [verdicts([name], 200, rates=rates) for name, rates in (("a", kind), ("b", harsh))]
    with pytest.warns(ps.JudgeWarning, match="not equally reliable everywhere: in 2 of 2 groups"):
        pl.concat(logs).scorio(truth="human").avg()


def reviewed_failures(*models: str) -> pl.DataFrame:
    """The log with labels on the verdicts "wrong" alone of some models."""
    alone = pl.col("model").is_in(models) & pl.col("category")
    return LOG.with_columns(human=pl.when(~alone).then("human"))


def test_labels_on_failures_alone_give_no_corrected_number_and_say_what_to_label():
    said = (
        r"avg: 1 of 3 groups has no corrected number\. In the first of them, of the verdicts "
        r"'right' 0 of 69 are labelled: label at least 5, better 30"
    )
    with pytest.warns(ps.JudgeWarning, match=said):
        report = reviewed_failures("a").scorio(truth="human").avg()
    assert report.select("estimate", "sigma", "lo", "hi").null_count().row(0) == (1,) * 4
    assert report["estimate_uncorrected"].null_count() == 0
    whole = LOG.scorio(truth="human").avg()
    assert report["estimate"].to_list()[1:] == whole["estimate"].to_list()[1:]


@pytest.mark.parametrize(("labels", "known"), [(4, False), (5, True)])
def test_a_verdict_needs_five_labels(labels, known):
    right = LOG.filter(model="a").filter("category").with_columns(human="truth")
    some = right.with_columns(human=pl.when(pl.int_range(pl.len()) < labels).then("human"))
    wrong = LOG.filter(model="a").filter(~pl.col("category"))
    log = pl.concat([some, wrong]).scorio(truth="human")
    if known:
        assert log.avg()["estimate"].null_count() == 0
    else:
        with pytest.warns(ps.JudgeWarning, match=r"'right' 4 of 69 are labelled"):
            assert log.avg()["estimate"].null_count() == 1


def test_all_trials_of_a_verdict_may_be_few():
    wrong = LOG.filter(model="a").filter(~pl.col("category"))
    few = LOG.filter(model="a").filter("category").head(3).with_columns(human="truth")
    report = pl.concat([wrong, few]).scorio(truth="human").avg()
    assert report["estimate"].null_count() == 0


@pytest.mark.slow
def test_a_page_with_a_model_of_unknown_truth_is_written(tmp_path):
    log = reviewed_failures("a").scorio(truth="human")
    log.write_html(tmp_path / "page.html", ps.avg())
    said = "1 number is missing: fewer than 5 trials of a verdict are labelled"
    assert said in (tmp_path / "page.html").read_text("utf-8")
