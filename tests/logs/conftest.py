"""A test module test_<name>.py gets the reader ps.logs.<name>."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps

# They import tools that only one test module each needs.
collect_ignore = ["inspect_run.py", "lm_eval_run.py", "verifiers_run.py"]


@pytest.fixture
def reader(request: pytest.FixtureRequest) -> Callable[..., ps.Scorio]:
    """The reader that a test module is about."""
    return getattr(ps.logs, request.module.__name__.rpartition(".test_")[2])


@pytest.fixture
def table(reader):
    """The table that a reader makes of files, without the columns that `test_runs` is about."""

    def collected(*arguments: object, **options: object) -> pl.DataFrame:
        return reader(*arguments, **options).frame.lazy().drop("run", "source").collect()

    return collected


@pytest.fixture
def summary(reader):
    """Trials, dropped trials and estimate of each row of a report."""

    def reported(
        metric: ps.Metric, /, *arguments: object, **options: object
    ) -> list[tuple[int, int, float]]:
        report = reader(*arguments, **options).report(metric).lazy().collect()
        return report.select("trials", "dropped", pl.col("estimate").round(3)).rows()

    return reported


@pytest.fixture
def write(tmp_path):
    """Write a file below the folder of the test: an object as JSON, several as JSON lines."""

    def written(name: str, *objects: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(json.dumps(line) for line in objects) + "\n", encoding="utf-8")
        return path

    return written
