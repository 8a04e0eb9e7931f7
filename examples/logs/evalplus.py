"""EvalPlus: which programs pass the tests of HumanEval+ or MBPP+?

Reads <samples>_eval_results.json (older: <samples>.eval_results.json) of evalplus.evaluate: under
"eval" a list for each task, with base_status and plus_status of each program: "pass", "fail",
"timeout", or null where these tests did not run. The model is known from the file name alone.
"""

import json
import re
from pathlib import Path
from typing import Literal

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {
    "model": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "base": pl.String,
    "plus": pl.String,
}


def trials(paths: Paths, tests: Literal["plus", "base"] = "plus") -> pl.DataFrame:
    """One row per program: model, question, trial, category, base, plus.

    It succeeds on plus if it passes both kinds of tests. A program that runs out of time has
    failed, as EvalPlus says; one whose tests did not run (null) has no outcome.
    """
    rows = [row for file in files(paths, "*eval_results.json") for row in _rows(file)]
    # Without the null check a run with --base-only would be wrong where base fails, else missing.
    statuses = pl.col("base") if tests == "base" else pl.col("base", "plus")
    passed = pl.when(pl.all_horizontal(statuses.is_not_null())).then(
        pl.all_horizontal(statuses == "pass")
    )
    log = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(category=passed)
    return log.select("model", "question", "trial", "category", "base", "plus")


def _rows(file: Path) -> list[tuple[object, ...]]:
    # Polars would read each task as a column of its own, of whatever dtype its statuses have.
    tasks = json.loads(file.read_text(encoding="utf-8"))["eval"]
    model = re.sub(r"[._]?eval_results\.json$", "", file.name) or file.parent.name
    return [
        (model, task, trial, program["base_status"], program["plus_status"])
        for task, programs in tasks.items()
        for trial, program in enumerate(programs)
    ]


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "*eval_results.json files")
    parser.add_argument("--tests", choices=["plus", "base"], default="plus", help="default: plus")
    options = parser.parse_args()
    print_report(trials(options.paths, options.tests), options)


if __name__ == "__main__":
    main()
