"""What a page says of how it was made."""

import re
from datetime import datetime, timezone

import pytest

import polars_scorio as ps
from polars_scorio.display.words.log_words import build_time, metric_formulas
from tests.display.html.logs import models, page_of
from tests.own_metric import Agreement


@pytest.mark.slow
def test_pages_of_one_log_at_one_source_date_epoch_are_the_same_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    log = models(3, strata=2)
    pages = {
        page_of(rows, by="bench").html()
        for rows in (log, log, log.sample(log.height, seed=1, shuffle=True))
    }
    assert len(pages) == 1
    assert "2025-06-15 15:06 UTC" in pages.pop()


def test_build_time_is_now_unless_source_date_epoch_says_otherwise(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert abs((datetime.now(timezone.utc) - build_time()).total_seconds()) < 60
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert build_time() == datetime(1970, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("epoch", ["", "today", "1e9", "9" * 30])
def test_a_source_date_epoch_that_is_no_time_is_refused(monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(ValueError, match=rf"must be whole seconds since 1970, got '{epoch}'"):
        build_time()


@pytest.mark.slow
def test_a_metric_that_the_package_does_not_know_has_heading_and_formula(r1, tmp_path):
    r1.scorio.write_html(tmp_path / "page.html", Agreement(), ps.avg())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"<dt>Agreement@N</dt><dd>{Agreement().formula}</dd>" in page
    text = re.sub("<[^>]+>", "", page)
    assert "scores 60.7 % (Agreement@5)." in text
    assert "right at one try" not in re.sub("<script.*", "", page, flags=re.DOTALL)[:3000]
    assert ">avg@5 (%)<" in page
    # Of 3 and of 4 successes in 5 trials, 4 and 6 of 10 pairs end alike.
    assert "The plain estimate is 50.0" in text


def test_each_metric_of_the_package_has_a_formula():
    metrics = [ps.pass_at_k([1, 4]), ps.tail_pass(3), ps.vote_at_k(2), ps.max_at_k(2)]
    assert [*metric_formulas(metrics)] == ["Pass@k", "TailPass@3", "Vote@k", "Max@k"]
    assert metric_formulas([ps.avg(name="accuracy")]) == {
        "accuracy": "the mean weight of the trials of a question"
    }
