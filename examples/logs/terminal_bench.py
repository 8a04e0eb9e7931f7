"""Terminal-Bench 1: which tasks does an agent solve?

Reads runs/<run>/results.json, whose list results has task_id, trial_name, is_resolved and
failure_mode, and run_metadata.json beside it, which has the agent and the model.
"""

import json
from pathlib import Path

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {
    "agent": pl.String,
    "model": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "category": pl.Boolean,
    "failure": pl.String,
}


def trials(paths: Paths) -> pl.DataFrame:
    """One row per trial: agent, model, question, trial, category, failure.

    A trial whose tests gave no verdict (is_resolved is null) has no outcome; Terminal-Bench counts
    it as unresolved, so that ``missing=0`` gives its numbers.
    """
    rows = [row for file in files(paths, "results.json") for row in _rows(file)]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _rows(file: Path) -> list[tuple[object, ...]]:
    # Only the side file knows who played.
    side = file.with_name("run_metadata.json")
    run = json.loads(side.read_text(encoding="utf-8"))
    return [
        (
            run["agent_name"],
            run["model_name"],
            trial["task_id"],
            trial["trial_name"],
            trial["is_resolved"],
            trial["failure_mode"],
        )
        for trial in json.loads(file.read_text(encoding="utf-8"))["results"]
    ]


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "results.json files").parse_args()
    print_report(trials(options.paths), options, by="agent")


if __name__ == "__main__":
    main()
