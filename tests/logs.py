"""Logs that tests make."""

from collections.abc import Iterable, Sequence

import polars as pl
from polars.io.plugins import register_io_source


def long(outcomes: Iterable[Sequence[object]], model: str = "m") -> pl.DataFrame:
    """A log from a matrix of outcomes, ragged or not: one list for each question."""
    rows = [
        (model, question, trial, category)
        for question, categories in enumerate(outcomes)
        for trial, category in enumerate(categories)
    ]
    columns = ["model", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def unreadable(schema: pl.Schema) -> pl.LazyFrame:
    """A LazyFrame that knows its schema and fails the test once its rows are read."""

    def read(*_: object) -> None:
        raise AssertionError("the data were read")

    return register_io_source(read, schema=schema)
