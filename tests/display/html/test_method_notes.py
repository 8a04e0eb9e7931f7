"""What a page says of how it was made."""

from datetime import datetime, timezone

import pytest

from polars_scorio.display.html.method_notes import build_time
from tests.display.html.logs import models, page_of


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
