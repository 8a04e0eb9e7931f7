"""Logs beyond one file, one process, one day: plans that travel, counts that merge, bad files."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow.dataset
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn, law, long, ragged

EXAMPLE = Path(__file__).parents[2] / "examples" / "incremental.py"
METRICS = (ps.bayes([0, 0.5, 1]), ps.pass_at_k([1, 2]))
ROLES = {"by": "domain", "success": 2}


@pytest.fixture
def log() -> pl.DataFrame:
    return drawn(8, range(6), most=4)


@pytest.fixture
def folder(log, tmp_path) -> Path:
    """The log in three parts."""
    for part in range(3):
        log.filter(pl.col("question") % 3 == part).write_parquet(tmp_path / f"part-{part}.parquet")
    return tmp_path


# --- elsewhere


@pytest.mark.slow
@pytest.mark.parametrize("per", ["model", "question"])
def test_a_plan_gives_the_same_report_in_another_process(log, folder, per):
    pytest.importorskip("cloudpickle", reason="Polars serializes Python functions with it")
    options = {"per": per, "prior": "uniform"}
    plan = pl.scan_parquet(folder / "*.parquet").scorio(**ROLES).report(*METRICS, **options)
    plan.serialize(folder / "plan.bin")
    there = (
        "import polars as pl, sys; "
        "pl.LazyFrame.deserialize(sys.argv[1]).collect().write_ipc(sys.argv[2])"
    )
    command = [sys.executable, "-W", "error", "-c", there, folder / "plan.bin", folder / "rows.ipc"]
    subprocess.run(command, check=True)  # noqa: S603
    expected = log.scorio(**ROLES).report(*METRICS, **options)
    assert_frame_equal(pl.read_ipc(folder / "rows.ipc"), expected, check_exact=True)


def test_a_pyarrow_dataset_is_as_good_as_a_scan(log, folder):
    dataset = pyarrow.dataset.dataset(folder, format="parquet")
    rows = pl.scan_pyarrow_dataset(dataset).scorio(**ROLES).report(*METRICS).collect()
    assert_frame_equal(rows, log.scorio(**ROLES).report(*METRICS), check_exact=True)


def test_a_filter_on_the_stratum_leaves_the_folders_of_others_alone(log, tmp_path):
    for (domain,), part in log.group_by("domain"):
        path = tmp_path / f"domain={domain}" / "0.parquet"
        path.parent.mkdir()
        part.drop("domain").write_parquet(path)
    report = pl.scan_parquet(tmp_path / "*" / "*.parquet", hive_partitioning=True)
    plan = report.scorio(**ROLES).report(*METRICS)
    expected = log.scorio(**ROLES).report(*METRICS)
    assert_frame_equal(plan.collect(), expected, check_exact=True)
    (tmp_path / "domain=air" / "0.parquet").write_bytes(b"no Parquet")
    web = plan.filter(pl.col("domain") == "web").collect()
    # Fewer groups change the shape of matrix products, and with it the last bits.
    assert_frame_equal(web, expected.filter(domain="web"), rel_tol=0, abs_tol=1e-13)


# --- day by day


@pytest.mark.slow
@law
@given(ragged(top=2), ragged(top=2))
def test_counts_of_yesterday_and_today_are_counts_of_both(yesterday, today):
    days = [long(yesterday), long(today).with_columns(pl.col("trial") + 100)]
    merged = pl.concat(day.scorio.counts() for day in days).scorio(count="count").counts()
    whole = pl.concat(days)
    assert_frame_equal(merged, whole.scorio.counts(), check_exact=True)
    roles = {"success": 2}
    rows = merged.scorio(count="count", **roles).report(*METRICS)
    assert_frame_equal(rows, whole.scorio(**roles).report(*METRICS), check_exact=True)


# --- files that are not what they should be


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-300])


def rename(path: Path) -> None:
    pl.read_parquet(path).rename({"category": "reward"}).write_parquet(path)


def recast(path: Path) -> None:
    pl.read_parquet(path).cast({"category": pl.String}).write_parquet(path)


SPOILT = pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        pytest.param(truncate, pl.exceptions.ComputeError, "^parquet: .*PAR1", id="truncated"),
        pytest.param(recast, pl.exceptions.SchemaError, "category.* String", id="other dtype"),
        pytest.param(rename, pl.exceptions.ColumnNotFoundError, "category", id="no category"),
    ],
)


@SPOILT
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_the_error_of_the_engine_reaches_the_user(folder, spoil, error, message, engine):
    spoil(folder / "part-1.parquet")
    accessor = pl.scan_parquet(folder / "*.parquet", extra_columns="ignore").scorio(**ROLES)
    for plan in (accessor.report(*METRICS), accessor.counts()):
        with pytest.raises(error, match=message):
            plan.collect(engine=engine)


@pytest.mark.parametrize("spoil", [truncate, recast, rename])
def test_incremental_counts_name_the_bad_file_and_stay_as_they_were(tmp_path, spoil):
    example = runpy.run_path(str(EXAMPLE))
    today, counts = tmp_path / "today.parquet", tmp_path / "counts.parquet"
    example["trials_of"](0).write_parquet(today)
    example["add_counts"](today, counts)
    before = counts.read_bytes()
    example["trials_of"](1).write_parquet(today)
    spoil(today)
    said = rf"^{re.escape(str(today))} was not counted: (.|\n)*(category|PAR1)"
    with pytest.raises(RuntimeError, match=said) as raised:
        example["add_counts"](today, counts)
    assert isinstance(raised.value.__cause__, pl.exceptions.PolarsError)
    assert counts.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {
        "counts.parquet",
        "counts.lock",
        "today.parquet",
    }


@pytest.mark.parametrize("existing", [False, True])
def test_a_log_with_repeated_trials_leaves_the_counts_as_they_were(tmp_path, existing):
    example = runpy.run_path(str(EXAMPLE))
    today, counts = tmp_path / "today.parquet", tmp_path / "counts.parquet"
    day = example["trials_of"](0)
    if existing:
        day.write_parquet(today)
        example["add_counts"](today, counts)
    pl.concat([day, day]).write_parquet(today)
    with pytest.raises(RuntimeError, match="was not counted: 60 questions have the same trial"):
        example["add_counts"](today, counts)
    assert counts.exists() == existing
    assert not existing or pl.read_parquet(counts)["count"].sum() == 240
