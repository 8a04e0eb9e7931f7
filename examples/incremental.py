"""A daily report that never rereads old trials. Run: python examples/incremental.py.

Any number of processes may add logs to the same counts, and any of them may be killed at any
moment: a log is counted once, whatever it is called.
"""

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps

LOGS = "logs"  # in the metadata of the counts: the logs that are in them


def trials_of(day: int) -> pl.DataFrame:
    """What stands for the log of a day: 4 more trials of 30 questions by 2 models."""
    rng = np.random.default_rng(day)
    model, question, trial = np.indices((2, 30, 4)).reshape(3, -1)
    category = rng.binomial(1, 0.5 + 0.3 * model)
    columns = {"question": question, "trial": trial + 4 * day, "category": category}
    return pl.DataFrame(columns).with_columns(model=np.array(["small", "large"])[model])


def add_counts(log: Path, counts: Path) -> None:
    """Add the counts of a log to those of the days before, and remove it."""
    with locked(counts):
        if log.exists():
            done, digest = logs_in(counts), hashlib.sha256(log.read_bytes()).hexdigest()
            if digest not in done:
                _write(log, counts, {**done, digest: log.name})
            # Whoever is killed before this line leaves a log that the counts know.
            log.unlink()


@contextmanager
def locked(counts: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however that ends: one on an empty database."""
    lock = counts.with_suffix(".lock")
    with closing(sqlite3.connect(lock, timeout=600, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def logs_in(counts: Path) -> dict[str, str]:
    """The logs that are in the counts: their names by their digests."""
    return json.loads(pl.read_parquet_metadata(counts)[LOGS]) if counts.exists() else {}


def _write(log: Path, counts: Path, logs: dict[str, str]) -> None:
    """The counts with those of a log, and the digests of all logs, in one step."""
    # Under its own name once it is whole: a sink that fails may leave a file without rows.
    unfinished = counts.with_suffix(".unfinished")
    try:
        plan = pl.scan_parquet(log).scorio.counts()
        if counts.exists():
            plan = pl.concat([pl.scan_parquet(counts), plan]).scorio(count="count").counts()
        plan.sink_parquet(unfinished, metadata={LOGS: json.dumps(logs)})
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
            trials = pl.scan_parquet(counts).scorio(count="count")
            report = trials.report(ps.avg(), ps.pass_at_k(4))
            print(f"day {day}", report.select("model", "metric", "trials", "estimate").collect())


if __name__ == "__main__":
    main()
