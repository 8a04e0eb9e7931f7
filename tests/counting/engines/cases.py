"""Logs that every engine must count, or refuse, as Polars does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import drawn, long

WORDS = ["bad", "fair", "good"]
METRICS = (ps.avg(), ps.pass_at_k([1, 2]), ps.pass_hat_k(2))

LOG = drawn(3, range(6), most=7)
LABELS = LOG.with_columns(
    pl.col("category").replace_strict(range(3), WORDS, return_dtype=pl.String)
)
FLOATS = long([[1.0, None, float("nan"), 0.0], [float("nan"), 0.0, 1.0], [1.0, 1.0]])
CLUSTERS = LOG.with_columns(passage=pl.format("p{}", pl.col("question") // 2))
FIRST = pl.col("question") == pl.col("question").first()


@dataclass(frozen=True)
class Case:
    """A log and how to count it; `report` is what a report of it must be told besides."""

    name: str
    log: pl.DataFrame
    roles: Mapping[str, object] = field(default_factory=dict)
    report: Mapping[str, object] = field(default_factory=dict)

    def __str__(self):
        return self.name


def twice(log: pl.DataFrame) -> pl.DataFrame:
    """A log whose first row is there again in its last part, with another outcome."""
    again = log.head(1).with_columns(category=1 - pl.col("category"))
    return pl.concat([log, again])


def without(column: str) -> pl.Expr:
    """A column that is null in the rows of one question."""
    return pl.when(~FIRST).then(column).alias(column)


COUNTED = [
    Case("strata", LOG, {"by": "domain"}, {"success": 2}),
    Case("no model", LOG, {"by": ["domain", "model"], "model": None}, {"success": 2}),
    Case("one model", long([[0, 1], [1, 1, 0]]), {"model": None}),
    Case(
        "other names",
        LOG.rename({"model": "llm", "question": "task", "trial": "seed", "category": "reward"}),
        {"model": "llm", "question": "task", "trial": "seed", "category": "reward", "by": "domain"},
        {"success": [1, 2]},
    ),
    Case("truth values", LOG.with_columns(pl.col("category") > 0), {"by": "domain"}),
    Case("words", LABELS, {"by": "domain"}, {"success": "good"}),
    Case("threshold that some reach", LOG, {"by": "domain", "threshold": 1}),
    Case("missing is a failure", FLOATS, {"missing": 0}),
    Case("threshold", FLOATS, {"threshold": 0.5, "missing": "drop"}),
    Case("dropped", FLOATS, {"missing": "drop"}),
    Case("promised n", long([[0, 1, 1], [1, 1, 1]]), {"n": 3}),
    Case(
        "days and words as keys",
        LOG.with_columns(
            question=pl.date(2026, 1, 1) + pl.duration(days="question"),
            trial=pl.format("trial-{}", "trial"),
        ),
        {"by": "domain"},
        {"success": 2},
    ),
    Case("unidentified", twice(long([[0, 1], [1, 1, 0]])), {"trial": None}),
    Case("unchecked", twice(long([[0, 1], [1, 1, 0]])), {"validate": False}),
    Case(
        "ids from 49 to 55",
        LOG.with_columns(pl.col("trial") + 49),
        {"by": "domain"},
        {"success": 2},
    ),
    Case("ids below 0", LOG.with_columns(pl.col("trial") - 3), {"by": "domain"}, {"success": 2}),
    Case("clusters", CLUSTERS, {"by": "domain", "cluster": "passage"}, {"success": 2}),
    Case("empty", LOG.clear(), {"by": "domain"}, {"success": 2}),
]

NAMED = LOG.with_columns(pl.format("q{}", "question").alias("question"))
REFUSED = [
    Case("missing", FLOATS),
    Case("missing under a threshold", FLOATS, {"threshold": 0.5}),
    Case("a threshold for words", LABELS, {"by": "domain", "threshold": 0.5}),
    Case("duplicates", twice(long([[0, 1], [1, 1, 0], [1, 1]]))),
    Case(
        "duplicates of large ids", twice(LOG.with_columns(pl.col("trial") + 60)), {"by": "domain"}
    ),
    Case("duplicates in a stratum", twice(LOG), {"by": "domain"}),
    Case("no strata", LOG),
    Case("null model", LOG.with_columns(without("model")), {"by": "domain"}),
    Case("null question", NAMED.with_columns(without("question")), {"by": "domain"}),
    Case("null stratum", LOG.with_columns(without("domain")), {"by": "domain"}),
    Case("null trials", LOG.with_columns(without("trial")), {"by": "domain"}),
    Case("n", LOG, {"by": "domain", "n": 10}),
    Case("worst first", twice(LOG).with_columns(without("model")), {"by": "domain", "n": 10}),
    Case("two clusters", LOG, {"by": "domain", "cluster": "trial"}),
    Case("null cluster", CLUSTERS.with_columns(without("passage")), {"cluster": "passage"}),
    Case("no such column", LOG, {"category": "reward"}),
    Case("days as categories", LOG.with_columns(category=date(2026, 1, 1))),
    Case("a word for a number", LOG, {"missing": "wrong"}),
    Case("two of a name", LOG, {"question": "model"}),
    Case("category as stratum", LOG, {"by": "category"}),
]


def assert_counted_as_polars_does(native: Callable[[pl.DataFrame], object], case: Case) -> None:
    expected = case.log.scorio(**case.roles).counts()
    counts = ps.count_trials(native(case.log), **case.roles)
    assert counts.columns == expected.columns
    assert_frame_equal(counts.cast(dict(expected.schema)), expected)
    assert counts.schema["count"] == pl.UInt64
    # What a report of counts takes: the rest is done.
    kept = {
        role: case.roles[role] for role in case.roles.keys() - {"trial", "validate", "threshold"}
    }
    report = counts.scorio(**kept, **case.report, count="count").report(*METRICS)
    expected_report = case.log.scorio(**case.roles, **case.report).report(*METRICS)
    assert_frame_equal(report, expected_report, check_exact=True)


def assert_refused_as_polars_does(native: Callable[[pl.DataFrame], object], case: Case) -> None:
    with pytest.raises((ValueError, TypeError, pl.exceptions.ColumnNotFoundError)) as expected:
        case.log.scorio(**case.roles).counts()
    with pytest.raises(expected.type) as error:
        ps.count_trials(native(case.log), **case.roles)
    found, wanted = str(error.value), str(expected.value)
    if "makes them unique" in wanted:  # by a second look at the rows, which are not here
        assert "Was a file read twice, or does by= lack a key?" in found
        found, wanted = (text.partition(" distinct ids. ")[0] for text in (found, wanted))
    assert found == wanted


def written(log: pl.DataFrame, folder: Path) -> Path:
    """A folder with three Parquet files that hold a log, in its order."""
    folder.mkdir()
    size = -(-log.height // 3)
    for part in range(3):
        log.slice(part * size, size).write_parquet(folder / f"part-{part}.parquet")
    return folder
