"""human-eval: which programs pass the tests?

Reads <samples>.jsonl_results.jsonl of evaluate_functional_correctness: one line per program, with
task_id, completion, result ("passed", "timed out", "failed: ...") and passed. The model is known
from the file name alone, and programs carry no id.
"""

import polars as pl
from recipe import Paths, command_line, files, print_report


def trials(paths: Paths) -> pl.LazyFrame:
    """One row per program: model, question, category, result; for ``.scorio(trial=None)``.

    A program that runs out of time has failed, as human-eval says; `result` tells them apart.
    """
    columns = {"task_id": pl.String, "passed": pl.Boolean, "result": pl.String}
    found = files(paths, "*_results.jsonl")
    return pl.scan_ndjson(found, schema=columns, include_file_paths="path").select(
        model=pl.col("path").str.extract(r"([^/\\]+?)(?:\.jsonl)?_results\.jsonl$"),
        question="task_id",
        category="passed",
        # The text of an exception follows.
        result=pl.col("result").str.extract(r"^(passed|timed out|failed)"),
    )


def main() -> None:
    """Print the report of the files on the command line."""
    options = command_line(__doc__, "*_results.jsonl files").parse_args()
    # Without trial ids a file that is read twice goes unnoticed, unless --n is given.
    print_report(trials(options.paths), options, trial=None)


if __name__ == "__main__":
    main()
