"""Counts of the public results of LiveCodeBench, and the ranks that they allow.

Run: python examples/findings/livecodebench.py CLONE [FOLDER]
CLONE is a clone of github.com/LiveCodeBench/livecodebench.github.io.
"""

import polars as pl
from public_results import read_json, write_board

COMMIT = "83b6481b4890c4951730f53bdde815b25e0f7f3a"  # of 2025-04-22
NAME = "src/mocks/performances_generation.json"
SAMPLES = 10  # of each problem, but of some models there is one


def read_counts(clone: str, commit: str = COMMIT) -> pl.DataFrame:
    """Trials and successes of each model and problem.

    The file has percentages. A model with none but 0 and 100 counts as one trial of each problem.
    """
    rates = pl.DataFrame(read_json(clone, commit, NAME)["performances"], infer_schema_length=None)
    rate = pl.col("pass@1")
    trials = pl.when(rate.is_between(1, 99).any().over("model")).then(SAMPLES).otherwise(1)
    return rates.select(
        "model",
        pl.col("question_id").alias("question"),
        "difficulty",
        trials.cast(pl.Int64).alias("trials"),
        (rate * trials / 100).round().cast(pl.Int64).alias("successes"),
    )


if __name__ == "__main__":
    write_board("livecodebench", read_counts, lambda counts: counts)
