"""Questions to an engine, put to Polars through narwhals."""

import polars as pl
import pytest

from polars_scorio.counting.engine_frames import (
    category_counts,
    distinct_ids,
    engine_log,
    engine_outcome,
    threshold_reached,
)

NAN = float("nan")
LOG = pl.DataFrame({"q": [1, 1, 1, 2], "trial": [0, 0, None, 3], "reward": [0.2, NAN, 0.5, None]})


def test_a_threshold_is_reached_missed_or_missing():
    log = engine_log(LOG, ["q", "reward"])
    found = category_counts(log, ["q"], engine_outcome(log, "reward", 0.5), None)
    rows = found.with_columns(threshold_reached()).sort(":category", "q").rows()
    assert rows == [(1, None, 1), (2, None, 1), (1, False, 1), (1, True, 1)]


def test_distinct_ids_are_counted_null_as_one():
    log = engine_log(LOG, ["q", "trial"])
    assert distinct_ids(log, ["q"], "trial").sort("q").rows() == [(1, 2), (2, 1)]


def test_a_frame_that_narwhals_does_not_know_is_refused():
    with pytest.raises(TypeError, match=r"^frame must be of Polars or of an engine .* got list$"):
        engine_log([1], [])
