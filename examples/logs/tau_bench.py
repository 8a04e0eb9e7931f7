"""tau-bench: how reliable is an agent?

Reads the files of tau-bench's run.py, and those in its folder historical_trajectories: JSON lists
of objects with task_id, trial and reward, info, traj. The file does not say which model it is
about: each file is a model, named after it.
"""

import json
from pathlib import Path

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {
    "model": pl.String,
    "question": pl.Int64,
    "trial": pl.Int64,
    "reward": pl.Float64,
    "error": pl.String,
}


def trials(paths: Paths) -> pl.DataFrame:
    """One row per trial: model, question, trial, category, reward, error.

    A crashed trial has an error and no outcome; tau-bench itself counts it as a failure, so that
    ``missing=0`` gives its numbers.
    """
    rows = [row for file in files(paths, "*.json") for row in _rows(file)]
    # As in tau-bench, a reward within 1e-6 of 1 is a success.
    success = (pl.col("reward") - 1).abs() <= 1e-6  # noqa: PLR2004
    category = pl.when(pl.col("error").is_null()).then(success)
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(category=category)
    return log.select("model", "question", "trial", "category", "reward", "error")


def _rows(file: Path) -> list[tuple[object, ...]]:
    # The reward of a crash is written as 0.0, like that of a failure: only the error tells.
    return [
        (
            file.stem,
            run["task_id"],
            run["trial"],
            run["reward"],
            (run.get("info") or {}).get("error"),
        )
        for run in json.loads(file.read_text(encoding="utf-8"))
    ]


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "JSON files with task_id, trial and reward").parse_args()
    print_report(trials(options.paths), options)


if __name__ == "__main__":
    main()
