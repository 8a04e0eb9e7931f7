"""Pictures: their numbers are those of the report."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.display.chart_parts import plot_of
from tests.made_logs import drawn


@pytest.mark.every(3)
@pytest.mark.skipif(
    pl.__version__.startswith("1."),
    reason="Polars 1 shares scans, as measured, but no function over them that could count",
)
@pytest.mark.parametrize("kind", ["intervals", "curve", "over"])
def test_a_picture_reads_the_log_once(log, kind, tmp_path):
    log.with_columns(step=1).write_parquet(tmp_path / "log.parquet")
    looks = []

    def seen(part: pl.DataFrame) -> pl.DataFrame:
        looks.append(part.height)
        return part

    scan = pl.scan_parquet(tmp_path / "log.parquet")
    counted = scan.map_batches(seen, schema=scan.collect_schema(), streamable=False)
    arguments = {"curve": [ps.pass_at_k(2)], "over": ["step", ps.avg(name="mean")]}
    getattr(plot_of(counted), kind)(*arguments.get(kind, [ps.avg(name="mean")]))
    assert looks == [log.height]


def test_a_curve_needs_draw_sizes(r1):
    with pytest.raises(ValueError, match=r"^curve needs draw sizes, and bayes has none: pass for"):
        r1.scorio.plot.curve(ps.bayes())
    with pytest.raises(ValueError, match="k must be a positive int or a sequence of them, got 0"):
        r1.scorio.plot.curve(0)


PICTURES = {
    "curve": ([1, 2],),
    "frontier": (),
    "intervals": (),
    "over": ("step",),
}


def test_every_picture_is_looked_at_for_its_schemas():
    plots = drawn(2, range(3), most=2).scorio.plot
    methods = {name for name in dir(plots) if callable(getattr(plots, name)) and name[0] != "_"}
    assert methods == {*PICTURES}


@pytest.mark.every(3)
@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_asks_for_few_schemas(monkeypatch, picture):
    # Every one resolves the whole plan of the log again, and on a store its metadata.
    calls, asked = [], pl.LazyFrame.collect_schema

    def spy(frame: pl.LazyFrame) -> pl.Schema:
        calls.append(frame)
        return asked(frame)

    log = drawn(3, range(9), most=4).with_columns(step=pl.col("question") % 3)
    log = log.filter(domain="web").with_columns(usd=1.0 + pl.col("trial"))
    roles = {"cost": "usd"} if picture == "frontier" else {"by": "domain"}
    plots = log.lazy().scorio(**roles, success=[1, 2]).plot
    monkeypatch.setattr(pl.LazyFrame, "collect_schema", spy)
    getattr(plots, picture)(*PICTURES[picture])
    assert 1 <= len(calls) <= 5
