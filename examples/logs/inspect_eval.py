"""inspect_ai: what did the samples of an evaluation score?

Reads its .eval logs: zip archives, of which header.json (model, task) and summaries.json (a list of
samples with id, epoch, scores and error) suffice. Newer versions compress them with zstd, which
Python reads from 3.14 on, and before with `pip install zipfile-zstd`. inspect's own reader gives
the same: samples_df("logs", columns=EvalModel + EvalTask + SampleSummary).
"""

import json
import math
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
from recipe import Paths, command_line, files, print_report

with suppress(ImportError):
    import zipfile_zstd  # noqa: F401 - teaches zipfile zstd

# What inspect's value_to_float makes of the letters.
WEIGHTS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
KEYS = {
    "model": pl.String,
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "error": pl.String,
}


def trials(paths: Paths, scorer: str | None = None) -> pl.DataFrame:
    """One row per sample and epoch: model, benchmark, question, trial, category, error.

    The category is the value of a scorer, which has to be named where there are several: mostly "C"
    (correct), "P" (partial), "I" (incorrect) or "N" (no answer), else a float. A failed or
    unscored sample has none. A task that was retried has two logs with the same samples, which the
    check for duplicate trials finds: keep the later one.
    """
    rows = [row for file in files(paths, "*.eval") for row in _rows(file, scorer)]
    values = [value for *_, value in rows]
    log = pl.DataFrame([row[:-1] for row in rows], schema=KEYS, orient="row")
    # Labels where nothing says otherwise: a column of nulls alone has no dtype.
    category = pl.Series(values, dtype=None if any(v is not None for v in values) else pl.String)
    return log.insert_column(4, category.alias("category"))


def _rows(file: Path, scorer: str | None) -> list[tuple[Any, ...]]:
    with zipfile.ZipFile(file) as log:
        try:
            header = json.loads(log.read("header.json"))["eval"]
            # Polars' JSON reader refuses the bare NaN that an unscored sample has.
            samples = json.loads(log.read("summaries.json"))
        except NotImplementedError as error:
            message = f"{file} has zstd entries: pip install zipfile-zstd, or use Python 3.14"
            raise NotImplementedError(message) from error
    found = sorted({name for sample in samples for name in sample.get("scores") or {}})
    if scorer is None and len(found) > 1:
        raise ValueError(f"{file} has several scorers, {found}: name one with scorer=")
    name = scorer or next(iter(found), "")
    return [
        (
            header["model"],
            header["task"],
            str(sample["id"]),
            sample["epoch"],
            sample.get("error"),
            _value((sample.get("scores") or {}).get(name)),
        )
        for sample in samples
    ]


def _value(score: dict[str, Any] | None) -> object:
    value = None if score is None else score["value"]
    if isinstance(value, bool | int | float):
        # One dtype for all of them: a scorer may give 1 and 0.5, or true and NaN.
        return None if math.isnan(value) else float(value)
    return value


def main() -> None:
    """Print the report of the logs on the command line."""
    parser = command_line(__doc__, ".eval logs")
    parser.add_argument("--scorer", help="whose score to read, where there are several")
    options = parser.parse_args()
    log = trials(options.paths, options.scorer)
    letters = log["category"].dtype == pl.String
    grades = {"w": WEIGHTS, "success": "C"} if letters else {}
    print_report(log, options, by="benchmark", **grades)


if __name__ == "__main__":
    main()
