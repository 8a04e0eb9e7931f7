"""A whole curve beside passk-inference, on the example of that package: bands, losses, CPU time.

Run: python -m examples.validation.curve_peer [--write], with passk-inference 0.3.1 from PyPI. The
counts are those of its `examples/deepscaler32k` (by its contributors, MIT license): successes of
128 trials of 1,060 prompts, of a base model and after reinforcement learning.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps

FOLDER = Path(__file__).parent
COUNTS, WRITTEN = FOLDER / "deepscaler32k.parquet", FOLDER / "printed_tables" / "curve_peer.csv"
TRIALS, REPEATS = 128, 3
SIZES = range(1, TRIALS + 1)
Signs = list[int]  # 1 at each k of a gain, -1 of a loss, 0 where nothing is decided


def by_passk(counts: pl.DataFrame, seed: int, draws: int) -> Signs:
    """Signs of the band of passk-inference, whose values are the new model less its base."""
    n = np.full(counts.height, TRIALS)
    sides = [part for name in ("base", "rl") for part in (counts[name].to_numpy(), n)]
    compare = import_module("passk_inference").compare
    found = compare(*sides, ks=SIZES, bootstrap=draws, seed=seed)
    gains, losses = (found[f"certified_{sign}_budgets"] for sign in ("positive", "negative"))
    return [int(k in gains) - int(k in losses) for k in SIZES]


def by_us(counts: pl.DataFrame, target: str) -> Signs:
    """Signs of the band of `compare`."""
    long = counts.unpivot(["base", "rl"], index="question", variable_name="model", value_name="c")
    log = ps.from_successes(long.with_columns(n=TRIALS)).scorio(count="count", target=target)
    rows = log.compare(ps.pass_at_k(SIZES), baseline="base", simultaneous=True).sort("k")
    return [0 if name is None else 1 if name == "rl" else -1 for name in rows["better"]]


def stretch(signs: Signs, sign: int) -> str:
    """The k of a sign, as the stretches of neighbours."""
    k = np.array([size for size, each in zip(SIZES, signs, strict=True) if each == sign])
    parts = np.split(k, np.flatnonzero(np.diff(k) > 1) + 1)
    return ", ".join(f"{part[0]} to {part[-1]}" for part in parts if part.size)


def least_cpu(work: Callable[[], Signs]) -> tuple[Signs, float]:
    """What a call finds, and the least CPU time of some calls in seconds."""
    times, found = [], work()
    for _ in range(REPEATS):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return found, min(times)


def rows(counts: pl.DataFrame) -> list[dict[str, str]]:
    """The gains and losses of each tool, and what they cost."""
    asked: list[tuple[str, str, Callable[[], Signs]]] = []
    if find_spec("passk_inference"):
        runs: Sequence[tuple[int, int]] = [(0, 4_000), (1, 4_000), (2, 4_000), (0, 1_000)]
        asked += [
            ("passk-inference 0.3.1", f"population, {draws:,} draws, seed {seed}",
             lambda seed=seed, draws=draws: by_passk(counts, seed, draws))
            for seed, draws in runs
        ]  # fmt: skip
    asked += [
        ("polars-scorio", about, lambda target=target: by_us(counts, target))
        for target, about in (("population", "population"), ("benchmark", "these questions"))
    ]
    table = []
    for tool, about, work in asked:
        signs, cpu = least_cpu(work)
        cells = {"gains at k": stretch(signs, 1), "losses at k": stretch(signs, -1)}
        table.append({"tool": tool, "band about": about, **cells, "CPU s": f"{cpu:.2f}"})
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table of the guide")
    write = parser.parse_args().write
    found = pl.DataFrame(rows(pl.read_parquet(COUNTS)))
    print(found)
    if write:
        found.write_csv(WRITTEN)
