"""Coverage with what the tool of a log planned and reported."""

import polars as pl
import pytest

import polars_scorio as ps

LOG = pl.DataFrame({"model": ["bob", "ada"], "question": 1, "trial": 0, "category": [1, 0]})
TOTALS = pl.DataFrame(
    {
        "model": ["ada", "bob", "bob"],
        "planned": [None, 30, 10],
        "reported": [0.5, 1.0, 0.0],
        "recomputed": [0.25, 1.0, 0.4],
        "skipped": pl.Series([None] * 3, dtype=pl.String),
    }
)


@pytest.mark.parametrize("frame", [LOG, LOG.lazy()])
def test_runs_of_a_model_are_added_up(frame):
    log = ps.Scorio(frame, tool_totals=TOTALS)
    found = log.describe().lazy().collect()
    assert found.select("model", "planned", "reported", "recomputed").rows() == [
        ("ada", None, 0.5, 0.25),
        ("bob", 40, 0.75, 0.85),
    ]
    after = found.columns.index("duplicates")
    assert found.columns[after + 1 : after + 4] == ["planned", "reported", "recomputed"]


def test_a_run_that_does_not_say_it_leaves_the_sum_open():
    totals = pl.concat([TOTALS, TOTALS.head(1)])
    found = ps.Scorio(LOG, tool_totals=totals).describe()
    assert found.select("planned", "reported").row(0) == (None, None)


def test_the_totals_stay_with_new_roles_and_need_their_keys():
    log = ps.Scorio(LOG, tool_totals=TOTALS)
    assert log(trial=None).describe()["planned"].to_list() == [None, 40]
    by = log(by=pl.lit("x").alias("task"))
    assert "planned" not in by.describe().columns
    assert "planned" not in LOG.scorio.describe().columns


def test_a_log_of_one_model_has_all_totals():
    totals = TOTALS.drop("model").tail(2)
    log = ps.Scorio(LOG.drop("model"), tool_totals=totals)
    assert log(model=None, trial=None).describe().select("planned", "reported").row(0) == (40, 0.75)
