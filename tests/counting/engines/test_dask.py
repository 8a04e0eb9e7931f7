"""DataFrames of Dask over Parquet files, on a local cluster of two workers, which starts slowly."""

import itertools

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.engines.cases import (
    COUNTED,
    REFUSED,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
    twice,
    written,
)
from tests.made_logs import long

pytestmark = [
    pytest.mark.dask,
    pytest.mark.slow,
    # narwhals announces that its Dask part will be a package of its own.
    pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    pytest.importorskip("narwhals")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def dd():
    return pytest.importorskip("dask.dataframe")


@pytest.fixture
def frame(dd, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())
    return lambda log: dd.read_parquet(written(log, next(folders)))


def test_the_cluster_has_two_workers(cluster):
    assert len(cluster.scheduler_info()["workers"]) == 2


@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(frame, case):
    assert_counted_as_polars_does(frame, case)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(frame, case):
    assert_refused_as_polars_does(frame, case)


def test_a_trial_that_is_there_again_in_another_partition_is_found(frame):
    log = frame(twice(long([[0, 1, 1], [1, 1, 0]])))
    assert log.npartitions == 3
    with pytest.raises(ValueError, match="question=0: 4 trials, 3 distinct ids"):
        ps.count_trials(log)


def test_nothing_is_read_before_the_arguments_are_checked(dd):
    def read(part: int) -> object:
        raise AssertionError(f"part {part} was read")

    meta = long([[0, 1]]).to_pandas()
    log = dd.from_map(read, range(2), meta=meta)
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no column 'reward'"):
        ps.count_trials(log, category="reward")
