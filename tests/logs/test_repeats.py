"""Trials of which only the mean was kept."""

import polars as pl
import pytest

from polars_scorio.logs.runs import trials_of_means


def means(*rows):
    columns = ["question", "asked", "answered", "mean"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return trials_of_means(frame.lazy().with_columns(trial=pl.lit("run")), "acc")


def test_a_mean_becomes_successes_failures_and_missing_trials():
    rows = means(("one", 1, 1, 0.3), ("several", 4, 3, 0.5), ("unscored", 2, 2, None)).collect()
    several = rows.filter(question="several")
    assert several["trial"].to_list() == ["run/0", "run/1", "run/2", "run/3"]
    assert several["category"].to_list() == [1, 1, 0, None]
    assert rows.filter(question="one").select("trial", "category").rows() == [("run", 0.3)]
    assert rows.filter(question="unscored")["category"].to_list() == [None, None]


@pytest.mark.parametrize(("answered", "mean"), [(4, 0.3), (1, 0.5)])
def test_a_mean_that_is_no_share_of_the_trials_is_refused(answered, mean):
    with pytest.raises(ValueError, match=r"'acc' is not the share of right answers.*metric="):
        means(("several", 4, answered, mean)).collect()
