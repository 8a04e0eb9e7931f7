"""A small log that nobody may read, and the metrics and labels of tests on it."""

import polars as pl

import polars_scorio as ps
from tests.made_logs import unreadable

LOG = {"model": "m", "question": [1, 1, 2], "trial": [0, 1, 0], "category": [0, 1, 1]}
BINARY = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 2]), ps.pass_hat_k(2))
GRADED = (ps.bayes(w=[0, 0.5, 1]), ps.avg(w=[0, 0.5, 1]), ps.pass_at_k([1, 2]))
NUMBERS = ["k", "questions", "trials", "dropped", "estimate", "mu", "sigma", "lo", "hi"]
WORDS = ["bad", "fair", "good"]
PLAIN = [
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64),
]
LABELLED = [pl.String, pl.Categorical, pl.Enum(WORDS), pl.Enum(WORDS[::-1])]


def labelled(codes: pl.DataFrame, dtype: pl.DataType | type[pl.DataType]) -> pl.DataFrame:
    """The same log with words instead of 0, 1, 2."""
    words = pl.col("category").replace_strict([0, 1, 2], WORDS, return_dtype=pl.String)
    return codes.with_columns(words.cast(dtype))


def log(**columns: object) -> pl.LazyFrame:
    """A small log with some of its columns replaced, which nobody may read."""
    return unreadable(pl.DataFrame({**LOG, **columns}).schema)
