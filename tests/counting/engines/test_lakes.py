"""Tables of lakes that grow by appended batches give the report of the whole log."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

TRIALS = pl.DataFrame(
    {
        "model": ["ada", "bob"] * 8,
        "question": [1, 1, 2, 2] * 4,
        "trial": [trial for trial in range(4) for _ in range(4)],
        "category": [0, 1, 1, 1, 1, 0, 1, 0] * 2,
    }
)
BATCHES = [TRIALS.filter(pl.col("trial") < 2), TRIALS.filter(pl.col("trial") >= 2)]


def assert_report_of_all(scan: pl.LazyFrame) -> None:
    """The report of a scan, and one model of it, must be those of the frame."""
    report = scan.scorio.report(ps.avg(), ps.pass_at_k(2))
    expected = TRIALS.scorio.report(ps.avg(), ps.pass_at_k(2))
    assert_frame_equal(report.collect(), expected)
    one = report.filter(pl.col("model") == "ada")
    assert_frame_equal(one.collect(), expected.filter(model="ada"))


def test_a_delta_table_of_two_batches_has_the_report_of_the_log(tmp_path: Path):
    pytest.importorskip("deltalake")
    for batch in BATCHES:
        batch.write_delta(tmp_path / "table", mode="append")
    assert_report_of_all(pl.scan_delta(tmp_path / "table"))


@pytest.mark.filterwarnings("ignore")  # of the catalog, and of Polars about its planner
def test_an_iceberg_table_of_two_batches_has_the_report_of_the_log(tmp_path: Path):
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    pytest.importorskip("sqlalchemy")
    catalog = catalogs.SqlCatalog(
        "local", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri()
    )
    catalog.create_namespace("evals")
    arrow = [batch.to_arrow(compat_level=pl.CompatLevel.oldest()) for batch in BATCHES]
    table = catalog.create_table("evals.rollouts", schema=arrow[0].schema)
    for batch in arrow:
        table.append(batch)
    assert_report_of_all(pl.scan_iceberg(table))


@pytest.mark.filterwarnings("ignore")  # of Lance about forks
def test_a_lance_dataset_of_two_batches_has_the_report_of_the_log(tmp_path: Path):
    lance = pytest.importorskip("lance")
    for batch in BATCHES:
        lance.write_dataset(batch.to_arrow(), tmp_path / "rollouts.lance", mode="append")
    assert_report_of_all(
        pl.from_arrow(lance.dataset(tmp_path / "rollouts.lance").to_table()).lazy()
    )
