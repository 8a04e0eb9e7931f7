"""OpenCompass and AISBench: how often is each question answered correctly?

Reads results/<model>/<dataset>.json, where details has an entry for each question: example_abbr,
and lists with one value for each of the n runs, of which correct (or is_correct, cascade_correct)
is the verdict. AISBench writes details with --dump-eval-details alone, for n = 1 as a dict "0",
"1", ... of plain values. The model is known from the folder alone.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
from recipe import Paths, command_line, files, print_report

COLUMNS = {
    "model": pl.String,
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "category": pl.Boolean,
}
VERDICTS = "correct", "is_correct", "cascade_correct"


def trials(paths: Paths) -> pl.DataFrame:
    """One row per run of a question: model, benchmark, question, trial, category.

    The trial is the place in the lists. A run without a verdict has no outcome.
    """
    rows = [row for file in files(paths, "*.json") for row in _rows(file)]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _rows(file: Path) -> list[tuple[object, ...]]:
    results = json.loads(file.read_text(encoding="utf-8"))
    if "details" not in results:
        raise ValueError(f"{file} has no details: evaluate with --dump-eval-details")
    details = results["details"]
    named = details.items() if isinstance(details, dict) else enumerate(details)
    return [
        (file.parent.name, file.stem, str(question.get("example_abbr", name)), trial, verdict)
        for name, question in named
        if isinstance(question, dict)  # beside the questions, a dict has their "type"
        for trial, verdict in enumerate(_verdicts(question, plain=isinstance(details, dict)))
    ]


def _verdicts(question: dict[str, Any], *, plain: bool) -> list[bool | None]:
    verdicts = next((question[key] for key in VERDICTS if key in question), None if plain else [])
    if plain:
        return [verdicts]
    # A run whose answer was not judged is left out of the list: the other lists say how many ran.
    runs = max((len(value) for value in question.values() if isinstance(value, list)), default=0)
    return [*verdicts, *[None] * (runs - len(verdicts))]


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "results/<model>/<dataset>.json files").parse_args()
    print_report(trials(options.paths), options, by="benchmark")


if __name__ == "__main__":
    main()
