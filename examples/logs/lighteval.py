"""lighteval: what did `lighteval --save-details` find?

Reads details/<model>/<date>/details_<task>_<date>.parquet: one row per document with the structs
doc (id, task_name), model_response (text: a list of the answers) and metric, where a metric over n
samples is a mean under a key such as "pass@k:k=1&n=16" or "avg@n:n=16". The outcome of each answer
is not kept. The model is known from the path alone.
"""

import re
from pathlib import Path

import polars as pl
from recipe import Paths, command_line, counts, files, print_report


def trials(paths: Paths, metric: str) -> pl.LazyFrame:
    """Counts of each document, for ``.scorio(count="count")``.

    Columns model, benchmark, run, question, category, count. A second run adds its trials to those
    of the first: make `run` a stratum, or filter, to tell them apart.
    """
    # One scan per file: the metrics of two tasks are structs of different fields.
    found = files(paths, "details_*.parquet")
    return counts(pl.concat([_totals(file, metric) for file in found]))


def _totals(file: Path, metric: str) -> pl.LazyFrame:
    *folders, run, _ = file.resolve().parts
    model = "/".join(folders[len(folders) - folders[::-1].index("details") :])
    samples = re.search(r"\bn=(\d+)", metric)
    asked = int(samples[1]) if samples else 1
    return pl.scan_parquet(file).select(
        model=pl.lit(model),
        benchmark=pl.col("doc").struct.field("task_name"),
        run=pl.lit(run),
        question=pl.col("doc").struct.field("id").cast(pl.String),
        asked=pl.lit(asked, pl.Int64),
        # lighteval counts the answers that a short list lacks as wrong: here they are missing.
        answered=pl.col("model_response").struct.field("text").list.len().cast(pl.Int64),
        mean=pl.col("metric").struct.field(metric).cast(pl.Float64),
    )


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "details_<task>_<date>.parquet files")
    parser.add_argument("--metric", required=True, help='for instance "pass@k:k=1&n=16"')
    options = parser.parse_args()
    log = trials(options.paths, options.metric)
    print_report(log, options, by="benchmark", count="count")


if __name__ == "__main__":
    main()
