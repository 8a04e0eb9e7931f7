import warnings

import polars as pl
import pytest

import polars_scorio as ps


@pytest.fixture
def log():
    questions = pl.DataFrame(
        {"question": pl.int_range(40, eager=True) // 2, "category": [0, 1] * 20}
    )
    one = questions.with_columns(model=pl.lit("ada"), usd=1.0)
    first = pl.int_range(pl.len()) == 0
    other = questions.with_columns(
        model=pl.lit("bob"), usd=pl.when(first).then(20.0).otherwise(1.0)
    )
    return pl.concat([one, other])


def test_a_trial_with_a_fifth_of_the_cost_is_warned_of(log):
    with pytest.warns(ps.CostWarning, match=r"1 group, the first at model='bob': 34%"):
        log.scorio(trial=None, cost="usd").report(ps.mean_cost())


def test_other_reports_are_silent(log):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log.scorio(trial=None, cost="usd").avg()
        log.filter(model="ada").scorio(trial=None, cost="usd").report(ps.mean_cost())
