"""Counts of the public results of Terminal-Bench, and the ranks that they allow.

Run: python examples/findings/terminal_bench.py CLONE [FOLDER]
CLONE is a clone of github.com/laude-institute/terminal-bench-leaderboard.
"""

import polars as pl
from public_results import read_json, run_git, write_board

COMMIT = "8e1925a397d7ed859c027cc19b3a3d90c16ef8df"  # of 2025-09-25
DEEPEST = 5  # folders above a file with the results of a run; deeper ones hold a single trial


def read_counts(clone: str, commit: str = COMMIT) -> pl.DataFrame:
    """Success of each agent in each run of each task; a trial without a verdict is no success.

    A file has one run, or several, in order of completion: `chess.2-of-5` is a trial of the second.
    `copy` marks a trial that began at the same moment as another one of its agent and task.
    """
    names = run_git(clone, "ls-tree", "-r", "--name-only", commit, "results/").splitlines()
    fields = ("task_id", "trial_name", "is_resolved", "trial_started_at")
    rows = [
        (name.split("/")[2], name, *map(trial.get, fields))
        for name in names
        if name.endswith("results.json") and name.count("/") <= DEEPEST
        for trial in read_json(clone, commit, name).get("results", [])
    ]
    schema = {"model": str, "file": str, "question": str, "trial": str, "resolved": bool}
    number = pl.col("trial").str.extract(r"\.(\d+)-of-\d+(?:\.|$)").cast(pl.Int64)
    trial = ("model", "question", "start")
    return pl.DataFrame(rows, schema=schema | {"start": str}, orient="row").select(
        pl.col("model").str.replace(r"^\d{8}_", ""),
        "question",
        run=pl.struct("file", number).rank("dense").over("model").cast(pl.Int64),
        trials=pl.lit(1, pl.Int64),
        successes=pl.col("resolved").fill_null(value=False).cast(pl.Int64),
        copy=pl.col("start").is_not_null() & ~pl.struct(*trial).is_first_distinct(),
    )


if __name__ == "__main__":
    write_board(
        "terminal_bench",
        read_counts,
        lambda counts: counts.remove(pl.col("copy")),
        counts_name="terminal_bench_runs",
    )
