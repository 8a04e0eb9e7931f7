"""verifiers 0.x: how often does a rollout pass?

Reads outputs/evals/<env>--<model>/<id>/results.jsonl: one line per rollout with
example_id, reward and error, and metadata.json beside it, which has the model and the environment.
For the traces.jsonl of verifiers 1 see verifiers_traces.py.
"""

import json
from pathlib import Path

import polars as pl
from recipe import Paths, above, command_line, files, print_report


def trials(paths: Paths, threshold: float | None = 0.5) -> pl.LazyFrame:
    """One row per rollout: model, benchmark, question, category, reward, error; for ``trial=None``.

    A rollout passes from a reward of 0.5 on, as in verifiers; with ``threshold=None`` the category
    is the reward. A rollout with an error has no outcome.
    """
    return pl.concat([_rollouts(file, threshold) for file in files(paths, "results.jsonl")])


def _rollouts(file: Path, threshold: float | None) -> pl.LazyFrame:
    # Only the side file knows the model.
    run = json.loads(file.with_name("metadata.json").read_text(encoding="utf-8"))
    columns = {"example_id": pl.String, "reward": pl.Float64, "error": pl.String}
    return pl.scan_ndjson(file, schema=columns).select(
        model=pl.lit(run["model"]),
        benchmark=pl.lit(run["env_id"]),
        question="example_id",
        # The reward of a rollout that failed is written all the same, as 0.
        category=pl.when(pl.col("error").is_null()).then(above(threshold, "reward")),
        reward="reward",
        error="error",
    )


def main() -> None:
    """Print the report of the files on the command line."""
    parser = command_line(__doc__, "results.jsonl files")
    parser.add_argument("--threshold", type=float, default=0.5, help="default: 0.5")
    options = parser.parse_args()
    log = trials(options.paths, options.threshold)
    print_report(log, options, by="benchmark", trial=None)


if __name__ == "__main__":
    main()
