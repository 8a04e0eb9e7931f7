"""lm-evaluation-harness: what did `lm_eval --log_samples` find?

Reads <output_path>/<model>/samples_<task>_<date>.jsonl: one line per document and filter, with
doc_id, filter, resps (a list of the responses), and each metric under its name. The model is known
from the folder alone, the task and the date of the run from the file name.
"""

import polars as pl
from recipe import Paths, command_line, counts, files, print_report


def samples(paths: Paths, metric: str) -> pl.LazyFrame:
    """One row per document, filter and run: what its answers scored in a metric."""
    columns = {"doc_id": pl.Int64, "filter": pl.String, "resps": pl.List(pl.List(pl.String))}
    found = files(paths, "samples_*.jsonl")
    lines = pl.scan_ndjson(found, schema={**columns, metric: pl.String}, include_file_paths="path")
    path = pl.col("path").str.extract_groups(
        r"(?<model>[^/\\]+)[/\\]samples_(?<benchmark>[^/\\]+)_(?<run>\d{4}-\d\d-\d\dT[^/\\_]+)\.jsonl$"
    )
    # ifeval writes true and false, the other tasks write numbers.
    score = pl.col(metric).replace({"true": "1", "false": "0"}).cast(pl.Float64)
    return lines.with_columns(path.alias("path"), mean=score).unnest("path")


def trials(paths: Paths, metric: str = "exact_match") -> pl.LazyFrame:
    """One scored answer per document: model, benchmark, filter, question, trial, category.

    A filter is a way to read the answer, so that gsm8k has two rows for each document: `filter` is
    a stratum, or keep one of its values. The trial is the date of the run: a second run adds
    trials, and a file that was written twice is found as a duplicate.
    """
    keys = "model", "benchmark", "filter"
    return samples(paths, metric).select(*keys, question="doc_id", trial="run", category="mean")


def repeats(paths: Paths, metric: str = "pass@1") -> pl.LazyFrame:
    """Counts of the documents that were asked several times, for ``.scorio(count="count")``.

    Of the `repeats` of a task (humaneval_64, mbpp) only the mean score is written, pass@1 = c / n.
    It says nothing under a filter that takes the first response: there n is 1, see `trials`.
    """
    asked = pl.col("resps").list.first().list.len().cast(pl.Int64)
    keys = "model", "benchmark", "filter", "run"
    totals = samples(paths, metric).select(
        *keys, question="doc_id", asked=asked, answered=asked, mean="mean"
    )
    return counts(totals)


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "samples_<task>_<date>.jsonl files")
    parser.add_argument("--metric", default="exact_match", help="default: exact_match")
    parser.add_argument("--filter", help="read only the rows of this filter")
    parser.add_argument("--repeats", action="store_true", help="the metric is a mean over resps")
    options = parser.parse_args()
    log = (repeats if options.repeats else trials)(options.paths, options.metric)
    kept = log if options.filter is None else log.filter(filter=options.filter)
    count = "count" if options.repeats else None
    print_report(kept, options, by=("benchmark", "filter"), count=count)


if __name__ == "__main__":
    main()
