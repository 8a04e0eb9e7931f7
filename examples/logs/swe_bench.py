"""SWE-bench: which issues does a model resolve?

Reads the report <model>.<run_id>.json of swebench.harness.run_evaluation, one for each run: lists
of instance ids, among them resolved_ids, unresolved_ids, empty_patch_ids, error_ids,
incomplete_ids. The model and the run are known from the file name alone.
"""

import json
from pathlib import Path

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {"model": pl.String, "question": pl.String, "trial": pl.String, "outcome": pl.String}
# The first list that has an instance counts: one whose report is empty is completed and an error.
OUTCOMES = "resolved", "unresolved", "empty_patch", "error", "incomplete"


def trials(paths: Paths) -> pl.DataFrame:
    """One row per instance and run: model, question, trial, category, outcome.

    An empty patch resolves nothing. An instance whose evaluation failed, or that was not submitted,
    has no outcome; SWE-bench divides by all instances, so that ``missing=0`` gives its numbers.
    """
    rows = [row for file in files(paths, "*.*.json") for row in _rows(file)]
    verdicts = {"resolved": True, "unresolved": False, "empty_patch": False}
    category = pl.col("outcome").replace_strict(verdicts, default=None, return_dtype=pl.Boolean)
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(category=category)
    return log.select("model", "question", "trial", "category", "outcome")


def _rows(file: Path) -> list[tuple[str, ...]]:
    report = json.loads(file.read_text(encoding="utf-8"))
    # Names of models have dots (gpt-4.1), so the run is what follows the last one.
    model, _, run = file.stem.rpartition(".")
    outcomes: dict[str, str] = {}
    for outcome in OUTCOMES:
        for instance in report[f"{outcome}_ids"]:
            outcomes.setdefault(instance, outcome)
    return [(model, instance, run, outcome) for instance, outcome in outcomes.items()]


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "<model>.<run_id>.json reports").parse_args()
    print_report(trials(options.paths), options)


if __name__ == "__main__":
    main()
