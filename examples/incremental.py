"""A daily report that never rereads old trials. Run: python examples/incremental.py."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps


def trials_of(day: int) -> pl.DataFrame:
    """What stands for the log of a day: 4 more trials of 30 questions by 2 models."""
    rng = np.random.default_rng(day)
    model, question, trial = np.indices((2, 30, 4)).reshape(3, -1)
    category = rng.binomial(1, 0.5 + 0.3 * model)
    columns = {"question": question, "trial": trial + 4 * day, "category": category}
    return pl.DataFrame(columns).with_columns(model=np.array(["small", "large"])[model])


def add_counts(log: Path, counts: Path) -> None:
    """Add the counts of a log to those of the days before."""
    # Under its own name once it is whole: a sink that fails may leave a file without rows.
    unfinished = counts.with_suffix(".unfinished")
    try:
        plan = pl.scan_parquet(log).scorio.counts()
        if counts.exists():
            plan = pl.concat([pl.scan_parquet(counts), plan]).scorio(count="count").counts()
        plan.sink_parquet(unfinished)
    except Exception as error:
        unfinished.unlink(missing_ok=True)
        # Polars does not say which file it cannot read.
        raise RuntimeError(f"{log} was not counted: {error}") from error
    unfinished.replace(counts)


def main() -> None:
    """Report on three days in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.parquet"
        for day in range(3):
            log = Path(folder) / f"day-{day}.parquet"
            trials_of(day).write_parquet(log)
            add_counts(log, counts)
            # Counts have no trial ids, so that nothing notices a log that is added twice.
            log.unlink()
            report = pl.scan_parquet(counts).scorio(count="count").report(ps.avg(), ps.pass_at_k(4))
            print(f"day {day}", report.select("model", "metric", "trials", "mu").collect())


if __name__ == "__main__":
    main()
