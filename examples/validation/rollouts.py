"""A log of any size. Run: python examples/validation/rollouts.py FOLDER --rows 20_000_000."""

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from pyarrow.parquet import ParquetWriter

MODELS = 20
CHUNK = 500_000  # rows in memory at a time, and in a row group


def write_rollouts(
    folder: Path, rows: int, *, trials: int = 20, categories: int = 2, parts: int = 4, seed: int = 0
) -> None:
    """Write a log as Parquet files: model by model, and there all questions once for each trial.

    Parameters
    ----------
    folder : Path
        Where to write; made if it does not exist.
    rows, trials, parts : int
        Number of rows, of trials of a question, and of files.
    categories : int
        Outcomes are 0, 1, ..., categories - 1.
    seed : int
        The same seed gives the same log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    questions = -(-rows // (MODELS * trials))
    ease = np.random.default_rng(seed).random(questions)
    for part, (start, stop) in enumerate(pairwise(rows * i // parts for i in range(parts + 1))):
        frames = _chunks(range(start, stop), ease, trials, categories, seed)
        _write(folder / f"part-{part:03}.parquet", frames)
        print(f"{stop:,} of {rows:,} rows written", file=sys.stderr)


def _chunks(
    rows: range, ease: np.ndarray, trials: int, categories: int, seed: int
) -> Iterator[pl.DataFrame]:
    """The rows of a part; every chunk draws from a generator of its own."""
    for chunk in (rows[first : first + CHUNK] for first in range(0, len(rows), CHUNK)):
        rng = np.random.default_rng([seed, chunk.start])
        epoch, question = np.divmod(np.arange(chunk.start, chunk.stop), ease.size)
        model, trial = np.divmod(epoch, trials)
        success_rate = ease[question] ** (0.5 + model / MODELS)
        yield pl.DataFrame(
            {
                "model": model,
                "question": question,
                "trial": trial,
                "category": rng.binomial(categories - 1, success_rate),
                "score": rng.random(len(chunk)),
                "answer": rng.integers(0, 1_000_000, len(chunk)),
            }
        ).with_columns(
            padded("model-", "model", 2),
            padded("task-", "question", 6),
            padded("The answer is ", "answer", 6),
        )


def padded(prefix: str, column: str, digits: int) -> pl.Expr:
    """Numbers as words of one length."""
    return pl.lit(prefix).add(pl.col(column).cast(pl.String).str.zfill(digits)).alias(column)


def write_parts(folder: Path, frames: Iterator[pl.DataFrame], rows_of_part: int) -> None:
    """Write frames as Parquet files, each of which is full as soon as it has so many rows."""
    for part, first in enumerate(frames):
        _write(folder / f"part-{part:03}.parquet", _until(rows_of_part, first, frames))


def _until(
    rows: int, first: pl.DataFrame, others: Iterator[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    yield first
    written = first.height
    while written < rows and (frame := next(others, None)) is not None:
        yield frame
        written += frame.height


def _write(path: Path, frames: Iterator[pl.DataFrame]) -> None:
    table = next(frames).to_arrow()
    with ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        for frame in frames:
            writer.write_table(frame.to_arrow())


def main() -> None:
    """Write the log that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000, help="default: 20_000_000")
    parser.add_argument("--trials", type=int, default=20, help="of each question; default: 20")
    parser.add_argument("--categories", type=int, default=2, help="of outcomes; default: 2")
    parser.add_argument("--parts", type=int, default=4, help="number of files; default: 4")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    arguments = vars(parser.parse_args())
    write_rollouts(arguments.pop("folder"), arguments.pop("rows"), **arguments)


if __name__ == "__main__":
    main()
