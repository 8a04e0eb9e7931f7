import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import priced_models

pytest.importorskip("altair")


@pytest.fixture(scope="module")
def log():
    """A cheap model, a good one, and one that is dear and bad, on two domains."""
    return priced_models(questions=60, trials=3)


def test_points_have_both_intervals_and_the_frontier_is_a_band(log):
    chart = log.scorio(cost="usd").plot.frontier()
    rows = pl.DataFrame(chart.data.values)
    models, band = rows.filter(pl.col("model").is_not_null()), rows.filter(pl.col("cost") > 0)
    assert models["model"].to_list() == ["cheap", "good", "poor"]
    assert models.select((pl.col("cost_lo") < pl.col("mean_cost")).all()).item()
    assert models["dominated"].to_list() == [False, False, True]
    assert band.select((pl.col("lo") <= pl.col("hi")).all()).item()
    drawn = chart.to_dict()
    kinds = [layer["mark"]["type"] for layer in drawn["layer"]]
    assert kinds == ["area", "rule", "rule", "point", "point", "text", "text"]
    assert drawn["layer"][1]["encoding"]["x"]["scale"]["type"] == "log"
    assert "usd" in drawn["layer"][1]["encoding"]["x"]["title"]


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")
def test_each_point_has_its_name_beside_it_on_a_free_side(log):
    near = pl.concat([log, log.filter(model="good").with_columns(model=pl.lit("goods"))])
    chart = near.scorio(cost="usd").plot.frontier(highlight="good")
    rows = pl.DataFrame(chart.data.values).filter(pl.col("model").is_not_null())
    assert rows["label"].to_list() == rows["model"].to_list()
    sides = dict(rows.select("model", "above").rows())
    assert sides["good"] != sides["goods"]
    (hue,) = {str(layer["encoding"]["color"]) for layer in chart.to_dict()["layer"][1:5]}
    assert "'legend': None" in hue


def test_strata_are_panels(log):
    chart = log.scorio(cost="usd", by="domain").plot.frontier(ps.pass_at_k(2), confidence=0.8)
    drawn = chart.to_dict()
    assert "facet" in drawn
    assert "80 %" in str(drawn["title"]["subtitle"])


def test_a_single_model_is_a_point(log):
    chart = log.filter(model="good").scorio(cost="usd").plot.frontier()
    assert [row["model"] for row in chart.data.values if row["model"]] == ["good"]
