import polars as pl

from polars_scorio.display.chart_data import difficulty_bars


def rated(*rates):
    return pl.DataFrame(
        {"stratum": "", "rate": rates, "status": None, "reversed": False},
        schema_overrides={"status": pl.String},
    )


def test_rates_at_the_ends_of_the_range_are_in_the_first_and_the_last_bar():
    bars = difficulty_bars(rated(0.0, 0.05, 1.0, 0.95), (0, 1))
    assert bars.select("least", "most", "questions").rows() == [(0, 0.1, 2), (0.9, 1, 2)]


def test_a_rate_of_three_tenths_begins_a_bar():
    rates = [place / 10 for place in range(10)]
    assert difficulty_bars(rated(*rates), (0, 1))["questions"].to_list() == [1] * 10


def test_equal_rewards_are_one_bar():
    bars = difficulty_bars(rated(2.5, 2.5), (2.5, 2.5))
    assert bars.select("least", "most", "questions").rows() == [(2.5, 3.5, 2)]
