"""What a report costs beside a bare group_by. Run: python -m examples.validation.speed --help."""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

import polars_scorio as ps

DRAWS = [1, 2, 4, 8, 16]


class Case(NamedTuple):
    """Something to measure, and how many times the bare group_by it may cost."""

    plan: Callable[[pl.LazyFrame, int], pl.LazyFrame]
    time: float
    memory: float


def bare(log: pl.LazyFrame, _: int) -> pl.LazyFrame:
    """The aggregation that nothing can do without."""
    return log.group_by("model", "question").agg(pl.len(), pl.col("category").sum())


def report(log: pl.LazyFrame, categories: int, *, validate: bool) -> pl.LazyFrame:
    """Twelve metrics; more than two categories are weighed 0, ..., 1, and the last is success."""
    binary = categories == 2
    w = None if binary else [j / (categories - 1) for j in range(categories)]
    roles = log.scorio(success=None if binary else categories - 1, validate=validate)
    return roles.report(ps.bayes(w), ps.avg(w), ps.pass_at_k(DRAWS), ps.pass_hat_k(DRAWS))


def everything(log: pl.LazyFrame, categories: int) -> pl.LazyFrame:
    """Every metric that there is."""
    binary = categories == 2
    w = None if binary else [j / (categories - 1) for j in range(categories)]
    return log.scorio(success=None if binary else categories - 1, validate=False).report(
        *(ps.bayes(w), ps.avg(w), ps.max_at_k(DRAWS, w), ps.pass_at_k(DRAWS), ps.pass_hat_k(DRAWS)),
        *(ps.maj_at_k(DRAWS), ps.mg_pass_at_k(DRAWS), ps.auc_at_k(DRAWS)),
        *(ps.g_pass_at_k_tau(DRAWS, 0.5), ps.threshold_spectrum_at_k(2, [0.5, 0.5])),
        *(ps.geom_at_k(DRAWS), ps.geom_ds_at_k(DRAWS), ps.geo_spectrum_at_k(DRAWS)),
    )


CASES = {
    "bare group_by": Case(bare, 1.0, 1.0),
    "report, validate=False": Case(lambda *log: report(*log, validate=False), 1.3, 1.35),
    "report of all metrics, validate=False": Case(everything, 1.4, 1.35),
    "report, validate=True": Case(lambda *log: report(*log, validate=True), 1.6, 1.35),
}


def run(case: str, folder: Path, categories: int) -> tuple[float, float]:
    """Collect the plan of a case; wall and CPU seconds."""
    log = pl.scan_parquet(folder / "*.parquet")
    wall, cpu = time.perf_counter(), time.process_time()
    CASES[case].plan(log, categories).collect(engine="streaming")
    return time.perf_counter() - wall, time.process_time() - cpu


def peak(case: str, arguments: argparse.Namespace) -> float:
    """Peak memory in MB of a process that does nothing but one case."""
    options = ["--folder", arguments.folder, "--categories", str(arguments.categories)]
    command = [sys.executable, __file__, "--peak-of", case, *options]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def own_peak() -> float:
    """Peak memory of this process in MB; macOS counts it in bytes, others in KiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measure(arguments: argparse.Namespace) -> None:
    """Measure every case in turn, again and again, and print the table."""
    # Memory first: Linux lets a process inherit the peak of the one that started it.
    peaks: dict[str, list[float]] = {case: [] for case in CASES}
    times: dict[str, list[tuple[float, float]]] = {case: [] for case in CASES}
    for repeat in range(arguments.repeats):
        for case in CASES:
            peaks[case].append(peak(case, arguments))
            tell(f"memory {repeat + 1}/{arguments.repeats}: {case} {peaks[case][-1]:.0f} MB")
    for repeat in range(arguments.repeats):
        for case in CASES:
            times[case].append(run(case, arguments.folder, arguments.categories))
            tell(f"time {repeat + 1}/{arguments.repeats}: {case} {times[case][-1][0]:.2f} s")
    rows = pl.scan_parquet(arguments.folder / "*.parquet").select(pl.len()).collect().item()
    print(f"{rows:,} rows, {arguments.categories} categories, polars {pl.__version__}\n")
    print_table(times, peaks)


def print_table(times: dict[str, list[tuple[float, float]]], peaks: dict[str, list[float]]) -> None:
    """Seconds as minimum / median, memory as median, both beside the bare group_by."""
    print("| | wall s | CPU s | wall ratio | CPU ratio | wanted | peak MB | ratio | wanted |")
    print("|---|---|---|---|---|---|---|---|---|")
    base_wall, base_cpu = zip(*times["bare group_by"], strict=True)
    for case, (_, time_limit, memory_limit) in CASES.items():
        wall, cpu = zip(*times[case], strict=True)
        memory = median(peaks[case])
        cells = [
            case,
            *(f"{min(seconds):.2f} / {median(seconds):.2f}" for seconds in (wall, cpu)),
            f"{min(wall) / min(base_wall):.2f} / {median(wall) / median(base_wall):.2f}",
            f"{min(cpu) / min(base_cpu):.2f} / {median(cpu) / median(base_cpu):.2f}",
            f"<= {time_limit}",
            f"{memory:.0f}",
            f"{memory / median(peaks['bare group_by']):.2f}",
            f"<= {memory_limit}",
        ]
        print(f"| {' | '.join(cells)} |")


def tell(progress: str) -> None:
    """Progress goes to stderr, so that stdout is the table."""
    print(progress, file=sys.stderr, flush=True)


def write_log(arguments: argparse.Namespace) -> None:
    """Write the log in a process of its own, whose memory is nobody's peak."""
    options = [f"--{name}={getattr(arguments, name)}" for name in ("rows", "trials", "categories")]
    script = Path(__file__).with_name("rollouts.py")
    subprocess.run([sys.executable, script, arguments.folder, *options], check=True)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(
        description="Time and peak memory of a report of twelve metrics, with and without the "
        "check for duplicate trials, beside a bare group_by over the same Parquet files."
    )
    parser.add_argument("--rows", type=int, default=20_000_000, help="default: 20_000_000")
    parser.add_argument("--trials", type=int, default=20, help="of each question; default: 20")
    parser.add_argument("--categories", type=int, default=2, help="4: with w and success=3")
    parser.add_argument("--repeats", type=int, default=5, help="of everything; default: 5")
    parser.add_argument(
        "--folder",
        type=Path,
        help="measure the Parquet files in it, or write them there and keep them; "
        "without it they are written to a temporary folder and deleted",
    )
    parser.add_argument("--peak-of", choices=CASES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of:
        run(arguments.peak_of, arguments.folder, arguments.categories)
        print(own_peak())
        return
    with TemporaryDirectory(prefix="rollouts-") as temporary:
        arguments.folder = arguments.folder or Path(temporary)
        if not any(arguments.folder.glob("*.parquet")):
            write_log(arguments)
        measure(arguments)


if __name__ == "__main__":
    main()
