"""The picture of a forecast: solid where trials were, dashed where none were."""

import polars as pl
import pytest

import polars_scorio as ps

pytest.importorskip("altair")

LOG = ps.from_successes(
    pl.DataFrame(
        {
            "model": ["ada"] * 6 + ["bob"] * 6,
            "question": [*range(6)] * 2,
            "n": [4] * 6 + [8] * 6,
            "c": [0, 1, 2, 4, 4, 4, 0, 0, 0, 1, 2, 8],
        }
    )
).scorio(count="count")


def drawn(chart):
    return pl.DataFrame(chart.data.values)


@pytest.mark.slow
def test_estimates_are_solid_and_forecasts_dashed():
    rows = drawn(LOG.plot.forecast(16))
    dashed = {("ada", 8), ("ada", 16), ("bob", 16)}
    assert {*rows.filter("ahead").select("model", "k").iter_rows()} == dashed
    # A dashed line begins where the solid one ends.
    assert {*rows.filter("edge").select("model", "k").iter_rows()} == {("ada", 4), ("bob", 8)}
    layers = LOG.plot.forecast(16).to_dict()["layer"]
    dashes = [layer["encoding"]["y"]["field"] for layer in layers if "strokeDash" in layer["mark"]]
    assert sorted(dashes) == ["hi", "lo", "mu"]
    within = LOG.plot.forecast(4).to_dict()["layer"]
    assert not any("strokeDash" in layer["mark"] for layer in within)


def test_a_line_ends_where_nothing_is_predicted_and_its_name_at_the_end_of_its_range():
    rows = drawn(LOG.plot.forecast(32))
    unknown = rows.filter(pl.col("mu").is_null()).select("model", "k")
    assert {*unknown.iter_rows()} == {("ada", 16), ("ada", 32), ("bob", 32)}
    assert rows.select(pl.col("lo", "hi").null_count()).row(0) == (0, 0)
    named = rows.filter(pl.col("label").is_not_null()).select("model", "k")
    assert {*named.iter_rows()} == {("ada", 32), ("bob", 32)}


def test_numbers_are_those_of_the_forecast_and_of_the_report():
    rows = drawn(LOG.plot.forecast([2, 16], ps.pass_hat_k, confidence=0.8))
    ahead = LOG.forecast([16], ps.pass_hat_k, confidence=0.8)
    seen = LOG.pass_hat_k(2, confidence=0.8)
    for k, numbers in ((16, ahead), (2, seen.rename({"estimate": "mu"}))):
        own = rows.filter(pl.col("k") == k).sort("model")
        for name in ("mu", "lo", "hi"):
            assert own[name].to_list() == pytest.approx(numbers[name].to_list())


def test_is_calibrated_whatever_the_accessor_says_and_is_written(tmp_path):
    chart = LOG(count="count", prior="population").plot.forecast(16, width=300)
    words = " ".join(chart.to_dict()["title"]["subtitle"])
    assert "calibrated 95 % intervals" in words
    assert "dashed: k exceeds the trials" in words
    chart.save(tmp_path / "forecast.svg")
    assert (tmp_path / "forecast.svg").read_text().startswith("<svg")


def test_a_forecast_of_a_log_that_is_all_right_is_a_flat_line():
    # The prediction is 99.9999 %: on an axis of that width, 100 % and back was a V.
    right = pl.DataFrame({"model": "ada", "question": [1, 2, 3], "n": 4, "c": 4})
    chart = ps.from_successes(right).scorio(count="count").plot.forecast(8)
    mu = drawn(chart)["mu"].drop_nulls()
    assert 0 < mu.max() - mu.min() < 1e-4
    low, high = chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert high - low > 0.1


def test_what_has_no_forecast_is_refused():
    with pytest.raises(ValueError, match="geom_ds_at_k has no forecast"):
        LOG.plot.forecast(16, ps.geom_ds_at_k)
