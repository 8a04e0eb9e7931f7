"""Is every log counted once? Run: python examples/validation/kills.py --help.

Pairs of processes add the logs of one folder to the same counts, by examples/incremental.py, and
are killed (SIGKILL) at random moments; in the end the counts must be those of all logs.
"""

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from polars.testing import assert_frame_equal

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.append(str(EXAMPLES))

from incremental import add_counts, logs_in, trials_of  # noqa: E402 - a script, not a package

DAYS = 12  # logs that wait when a pair of processes starts


def write_logs(folder: Path, days: range) -> None:
    """Write the logs of some days; a log has its name once it is whole."""
    for day in days:
        unfinished = folder / f"{day}.unfinished"
        trials_of(day).write_parquet(unfinished)
        unfinished.replace(folder / f"day-{day}.parquet")


def add_all(folder: Path) -> None:
    """What each of the processes does, from when it is told to."""
    print("ready", flush=True)
    sys.stdin.readline()
    for log in sorted(folder.glob("day-*.parquet"), key=lambda _: random.random()):  # noqa: S311
        add_counts(log, folder / "counts.parquet")


def started(folder: Path) -> subprocess.Popen[str]:
    """A process that is ready to add."""
    command = [sys.executable, __file__, "--add", folder]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def pair(folder: Path, kill_after: list[float]) -> int:
    """Let two processes run, kill each after its time, and say how many were still running."""
    processes = [started(folder) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    killed, begun = 0, time.perf_counter()
    for process, after in sorted(zip(processes, kill_after, strict=True), key=lambda each: each[1]):
        try:
            process.wait(max(0.0, begun + after - time.perf_counter()))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += 1
        _, errors = process.communicate()
        assert process.returncode in {0, -9}, errors
    return killed


def check(folder: Path, days: int) -> None:
    """Compare the counts with those of all logs at once."""
    counts = folder / "counts.parquet"
    expected = pl.concat(trials_of(day) for day in range(days)).scorio.counts()
    assert_frame_equal(pl.read_parquet(counts), expected)
    assert sorted(logs_in(counts).values()) == sorted(f"day-{day}.parquet" for day in range(days))
    assert not [*folder.glob("day-*")]


def main() -> None:
    """Kill processes, let two more finish what is left, and check the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--add", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.add:
        add_all(asked.add)
        return
    rng, killed, days, left, begun = random.Random(asked.seed), 0, 0, 0, time.perf_counter()  # noqa: S311
    with TemporaryDirectory() as name:
        folder = Path(name)
        while killed < asked.kills:
            waiting = len([*folder.glob("day-*")])
            write_logs(folder, range(days, days + DAYS - waiting))
            days += DAYS - waiting
            killed += pair(folder, [rng.uniform(0, 0.4) for _ in range(2)])
            known = set(logs_in(folder / "counts.parquet").values())
            left += sum(log.name in known for log in folder.glob("day-*"))
        assert pair(folder, [600.0, 600.0]) == 0
        check(folder, days)
    print(
        f"{killed} kills, {left} of them between counting and removing a log, {days} logs: each "
        f"was counted once ({time.perf_counter() - begun:.0f} s)"
    )


if __name__ == "__main__":
    main()
