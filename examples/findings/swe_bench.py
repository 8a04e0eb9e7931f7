"""Counts of the public results of SWE-bench (bash only), and the ranks that they allow.

Run: python examples/findings/swe_bench.py CLONE [FOLDER]
CLONE is a clone of github.com/SWE-bench/swe-bench.github.io.
"""

import polars as pl
from public_results import read_json, write_board

COMMIT = "f1176b65ae29d14f4f52208b48e3d8cfc972bc17"  # of 2025-12-10


def read_counts(clone: str, commit: str = COMMIT) -> pl.DataFrame:
    """Success of each model and task, and the percentage that the board prints for the model."""
    boards = read_json(clone, commit, "data/leaderboards.json")["leaderboards"]
    (board,) = [board for board in boards if board["name"] == "bash-only"]
    rows = [
        (entry["name"], task, 1, details["resolved"], entry["resolved"])
        for entry in board["results"]
        for task, details in (entry.get("per_instance_details") or {}).items()
    ]
    schema = {
        "model": pl.String,
        "question": pl.String,
        "trials": pl.Int64,
        "successes": pl.Int64,
        "published": pl.Float32,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def ranked_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """The counts of the models whose tasks give the printed percentage, to half a point."""
    rate = 100 * pl.col("successes").mean().over("model")
    return counts.filter((rate - pl.col("published")).abs() < 0.5)


if __name__ == "__main__":
    write_board("swe_bench", read_counts, ranked_counts)
