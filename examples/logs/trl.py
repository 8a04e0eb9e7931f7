"""TRL: how does a model that GRPOTrainer trains get on?

Reads <output_dir>/completions/completions_<step>.parquet (log_completions=True): one row per
completion with step, prompt, completion, a column for each reward function, and advantage. The
model is not in the file, and completions carry no id.
"""

import polars as pl
from recipe import Paths, above, command_line, files, print_report


def trials(paths: Paths, reward: str, threshold: float | None = None) -> pl.LazyFrame:
    """One row per completion: step, question, category.

    For ``.scorio(model=None, by="step", trial=None)``. The category is what a reward function gave,
    or whether that reaches a threshold. Where the function returned None, the completion has no
    outcome.
    """
    # One scan per file: each has the columns of the reward functions of its run.
    log = pl.concat([
        pl.scan_parquet(file).select("step", question="prompt", category=reward)
        for file in files(paths, "completions_*.parquet")
    ])  # fmt: skip
    return log.with_columns(category=above(threshold))


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "completions_<step>.parquet files")
    parser.add_argument("--reward", required=True, help="name of the reward function")
    parser.add_argument("--threshold", type=float, help="a reward from here on is a success")
    options = parser.parse_args()
    log = trials(options.paths, options.reward, options.threshold)
    print_report(log, options, model=None, by="step", trial=None)


if __name__ == "__main__":
    main()
