"""How reliable is an agent on tau-bench? Pass^k with intervals from its trajectory files.

Run: python examples/tau_bench.py historical_trajectories/gpt-4o-airline.json [more.json ...]
"""

import argparse
import json
from pathlib import Path

import polars as pl

import polars_scorio  # noqa: F401 - registers .scorio


def trials(path: Path) -> pl.DataFrame:
    """The trials of one file: a JSON list of objects with task_id, trial and reward."""
    runs = json.loads(path.read_text(encoding="utf-8"))
    rows = [(path.stem, run["task_id"], run["trial"], run["reward"]) for run in runs]
    columns = {"model": pl.String, "question": pl.Int64, "trial": pl.Int64, "reward": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def main() -> None:
    """Print pass^1, pass^2, ... up to the number of trials."""
    parser = argparse.ArgumentParser(
        description="Print pass^k with credible intervals for tau-bench trajectories.",
        epilog="tau-bench publishes such files in its folder historical_trajectories.",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        help="JSON files: lists of objects with task_id, trial and reward; "
        "each file is a model, named after it",
    )
    paths = parser.parse_args().paths
    if not paths:
        parser.print_help()
        return
    log = pl.concat([trials(path) for path in paths])
    # tau-bench counts a reward within 1e-6 of 1 as success.
    success = (pl.col("reward") - 1).abs() <= 1e-6  # noqa: PLR2004
    most = log["trial"].n_unique()
    report = log.scorio(category=success).pass_hat_k(range(1, most + 1))
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, float_precision=3):
        print(report.select("model", "k", "questions", "trials", "estimate", "mu", "lo", "hi"))


if __name__ == "__main__":
    main()
