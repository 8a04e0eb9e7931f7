"""What a report of a huge log costs. Run: python -m examples.validation.scale --help."""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.rollouts import padded, write_parts
from examples.validation.speed import DRAWS, own_peak, tell

MODELS, STRATA = 20, 5
PROMPTS, SAMPLES = 64, 16  # of a step of training
CHUNK = 1_000_000  # rows in memory at a time, and in a row group


class Shape(NamedTuple):
    """How a log looks: its keys, and how many trials and categories a question has."""

    keys: tuple[str, ...]
    least: int = SAMPLES
    most: int = SAMPLES
    categories: int = 2


LOG = ("temperature", "model", "question")
SHAPES = {
    "log": Shape(LOG, 20, 200),
    "equal": Shape(LOG, 100, 100),
    "ragged": Shape(LOG, 1, 300),
    "graded": Shape(LOG, 100, 100, 4),
    "training": Shape(("step", "question")),
}
CASES = ("bare group_by", "report, validate=False", "report, validate=True")


def plan(log: pl.LazyFrame, shape: Shape, case: str) -> pl.LazyFrame:
    """The bare group_by, or twelve published metrics of every model in every stratum."""
    if case == "bare group_by":
        return log.group_by(*shape.keys).agg(pl.len(), pl.col("category").sum())
    stratum, *model, _ = shape.keys
    top = shape.categories - 1
    w = [j / top for j in range(shape.categories)]
    roles = log.scorio(
        by=stratum,
        model=model[0] if model else None,
        success=top,
        validate=case.endswith("True"),
        prior="uniform",
    )
    return roles.report(ps.bayes(w), ps.avg(w), ps.pass_at_k(DRAWS), ps.pass_hat_k(DRAWS))


def write_log(folder: Path, shape: Shape, rows: int, seed: int = 0) -> None:
    """Write about so many rows as Parquet files, with little of them in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = _steps(rows, seed) if "step" in shape.keys else _epochs(shape, rows, seed)
    write_parts(folder, frames, rows_of_part=max(rows // 20, CHUNK))


def _epochs(shape: Shape, rows: int, seed: int) -> Iterator[pl.DataFrame]:
    """Model by model and temperature by temperature, all questions once for each trial."""
    rng = np.random.default_rng(seed)
    questions = rows * 2 // (MODELS * STRATA * (shape.least + shape.most))
    ease = rng.random(questions)
    for model, temperature in np.ndindex(MODELS, STRATA):
        n = rng.integers(shape.least, shape.most, questions, endpoint=True)
        ends = np.cumsum((n > np.arange(shape.most)[:, None]).sum(axis=1))
        cuts = np.searchsorted(ends, np.arange(CHUNK, ends[-1] + CHUNK, CHUNK))
        for first, last in pairwise([0, *np.minimum(cuts + 1, shape.most)]):
            trial, question = np.nonzero(n > np.arange(first, last)[:, None])
            category = rng.binomial(shape.categories - 1, ease[question] ** (0.5 + model / MODELS))
            columns = {"question": question, "trial": trial + first, "category": category}
            yield pl.DataFrame(columns).select(
                pl.lit(temperature / 4).alias("temperature"),
                pl.lit(f"model-{model:02}").alias("model"),
                padded("task-", "question", 6),
                "trial",
                "category",
            )


def _steps(rows: int, seed: int) -> Iterator[pl.DataFrame]:
    """Step by step, some prompts of a large set, and all samples of each."""
    rng = np.random.default_rng(seed)
    steps = rows // (PROMPTS * SAMPLES)
    for first in range(0, steps, CHUNK // (PROMPTS * SAMPLES)):
        size = min(steps - first, CHUNK // (PROMPTS * SAMPLES))
        step, prompt, trial = np.indices((size, PROMPTS, SAMPLES)).reshape(3, -1)
        ease = rng.random((size, PROMPTS, 1))
        columns = {"step": step + first, "question": prompt + PROMPTS * (step % 997)}
        category = rng.binomial(1, np.broadcast_to(ease, (size, PROMPTS, SAMPLES))).ravel()
        yield pl.DataFrame({**columns, "trial": trial, "category": category}).with_columns(
            padded("prompt-", "question", 6)
        )


def run(folder: Path, shape: Shape, case: str) -> dict[str, float]:
    """Collect the plan of a case; this process must have done nothing else."""
    log = pl.scan_parquet(folder / "*.parquet")
    wall, cpu = time.perf_counter(), time.process_time()
    plan(log, shape, case).collect(engine="streaming")
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {**seconds, "peak": own_peak()}


def measured(name: str, folder: Path, repeats: int) -> None:
    """Measure every case in turn, each in a process of its own, and print rows of the table."""
    runs: dict[str, list[dict[str, float]]] = {case: [] for case in CASES}
    for _ in range(repeats):
        for case in CASES:
            command = [
                sys.executable,
                "-m",
                "examples.validation.scale",
                "--run",
                name,
                case,
                str(folder),
            ]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            runs[case].append(json.loads(done.stdout))
            tell(f"{name}: {case} {runs[case][-1]}")
    rows = pl.scan_parquet(folder / "*.parquet").select(pl.len()).collect().item()
    bare = None
    for case, results in runs.items():
        found = {key: median(result[key] for result in results) for key in results[0]}
        bare = bare or found
        ratios = [f"{found[key] / bare[key]:.2f}" for key in ("wall", "cpu", "peak")]
        numbers = [f"{found['wall']:.1f}", f"{found['cpu']:.1f}", f"{found['peak']:,.0f}"]
        speed = f"{rows / found['wall'] / 1e6:.1f}"
        print(f"| {' | '.join([name, f'{rows:,}', case, *numbers, speed, *ratios])} |", flush=True)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(
        description="Time and peak memory of a report of twelve metrics beside the bare group_by. "
        "Shapes: log (20 models, 5 temperatures, 20 to 200 trials), equal (100 trials), ragged "
        "(1 to 300), graded (four categories), training (steps of 64 prompts x 16 samples)."
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["log"])
    parser.add_argument("--rows", nargs="+", type=int, default=[5_000_000, 50_000_000, 200_000_000])
    parser.add_argument("--full", action="store_true", help="one billion rows too: 6 GB of files")
    parser.add_argument("--repeats", type=int, default=3, help="of everything; default: 3")
    parser.add_argument("--folder", type=Path, help="where the logs are kept; default: temporary")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        name, case, folder = arguments.run
        print(json.dumps(run(Path(folder), SHAPES[name], case)))
        return
    if arguments.write:
        name, rows, folder = arguments.write
        write_log(Path(folder), SHAPES[name], int(rows))
        return
    print(f"polars {pl.__version__}\n")
    print(
        "| shape | rows | | wall s | CPU s | peak MB | million rows/s "
        "| wall ratio | CPU ratio | peak ratio |\n" + "|---" * 10 + "|"
    )
    for rows in [*arguments.rows, *([1_000_000_000] if arguments.full else [])]:
        for name in arguments.shapes:
            with TemporaryDirectory(prefix="scale-") as temporary:
                folder = (arguments.folder or Path(temporary)) / f"{name}-{rows}"
                if not any(folder.glob("*.parquet")):
                    # In a process of its own: Linux lets a process inherit the peak of its parent.
                    command = [
                        sys.executable,
                        "-m",
                        "examples.validation.scale",
                        "--write",
                        name,
                        str(rows),
                        str(folder),
                    ]
                    subprocess.run(command, check=True)
                measured(name, folder, arguments.repeats)


if __name__ == "__main__":
    main()
