"""Reports of rewards are the same bytes for each order of rows, engine, file and thread count."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps

ROOT = Path(__file__).parents[1]
ENGINES = ("in-memory", "streaming")
FILES, ORDERS, THREADS = 6, 8, (1, 2, 7)


def reward_rows() -> pl.DataFrame:
    """Rewards of three models from 1e-9 to 1e6 large, so that the order of a plain sum matters."""
    trial, question, model = np.indices((8, 1_700, 3)).reshape(3, -1)
    rng = np.random.default_rng(0)
    rewards = rng.standard_normal(trial.size) * 10.0 ** rng.integers(-9, 7, trial.size)
    keys = {"model": model, "question": question, "trial": trial, "domain": question % 2}
    return pl.DataFrame({**keys, "category": rewards})


def write_orders(folder: Path, orders: Iterable[int]) -> None:
    """Write the rows in some orders, each into several files of small row groups."""
    rows = reward_rows()
    for order in orders:
        shuffled = rows.sample(fraction=1, shuffle=True, seed=order)
        part = folder / str(order)
        part.mkdir()
        for number, some in enumerate(shuffled.iter_slices(-(-rows.height // FILES))):
            some.write_parquet(part / f"{number}.parquet", row_group_size=1_500)


def report_digests(folder: Path) -> Iterator[str]:
    """A digest of the report for each order of rows and engine."""
    for part in sorted(folder.iterdir()):
        log = pl.scan_parquet(part / "*.parquet")
        best = log.scorio(by="domain").report(ps.avg(), ps.max_at_k(4), ps.min_at_k(4))
        within = log.scorio(by="domain", bounds=(-1e8, 1e8)).report(ps.avg())
        for engine in ENGINES:
            # Polars writes as many digits as tell a number from its neighbours.
            written = [plan.collect(engine=engine).write_csv() for plan in (best, within)]
            yield hashlib.sha256("".join(written).encode()).hexdigest()


def digests_with_threads(folder: Path, threads: int) -> list[str]:
    """The digests by a process whose Polars has that many threads."""
    code = (
        "import sys, pathlib, polars; from tests.test_reward_bytes import report_digests; "
        "print(polars.thread_pool_size(), *report_digests(pathlib.Path(sys.argv[1])))"
    )
    env = os.environ | {"POLARS_MAX_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(  # noqa: S603 - this Python, with the code above
        command, env=env, capture_output=True, text=True, check=True
    )
    size, *digests = done.stdout.split()
    assert int(size) == threads
    return digests


def test_three_orders_of_rows_and_both_engines_give_the_same_bytes(tmp_path):
    write_orders(tmp_path, range(3))
    digests = [*report_digests(tmp_path)]
    assert len(digests) == 3 * len(ENGINES)
    assert len({*digests}) == 1


@pytest.mark.slow
def test_orders_engines_files_and_threads_give_the_same_bytes(tmp_path):
    write_orders(tmp_path, range(ORDERS))
    digests = [each for threads in THREADS for each in digests_with_threads(tmp_path, threads)]
    assert len(digests) == ORDERS * len(ENGINES) * len(THREADS)
    assert len({*digests}) == 1


def test_a_plain_sum_of_these_rewards_depends_on_the_order():
    rewards = reward_rows()["category"]
    sums = {rewards.sample(fraction=1, shuffle=True, seed=order).sum() for order in range(3)}
    assert len(sums) > 1
