"""How often a 95 % interval holds the truth. Run: python tests/benchmarks/coverage.py --help."""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps

Floats = np.ndarray
Ints = np.ndarray


def math(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Half of the questions mostly fail, half mostly succeed."""
    return np.where(rng.random(shape) < 0.5, rng.beta(0.3, 3, shape), rng.beta(5, 0.5, shape))


def aime(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """40 % never succeed, 20 % always do, the others are anywhere."""
    kind = rng.random(shape)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.6, 1.0, rng.random(shape)))


# Success rates of the questions of a benchmark.
POPULATIONS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "unif": lambda rng, shape: rng.random(shape),
    "hard": lambda rng, shape: rng.beta(0.2, 2, shape),
    "easy": lambda rng, shape: rng.beta(4, 0.4, shape),
    "bimod": lambda rng, shape: rng.beta(0.15, 0.15, shape),
    "math": math,
    "aime": aime,
}


def counted(n: int, c: Ints) -> pl.DataFrame:
    """Counts of n trials of each question, for `df.scorio(count="count")`.

    `c` has the successes by replicate and question; every replicate is a model.
    """
    model, question = np.indices(c.shape).reshape(2, -1)
    columns = {"model": model, "question": question}
    return pl.concat(
        pl.DataFrame({**columns, "category": np.full(c.size, category), "count": count.ravel()})
        for category, count in ((0, n - c), (1, c))
    )


class Method(NamedTuple):
    """A metric, the truth that it is after, and how its interval is made."""

    title: str
    metric: ps.Metric
    truth: Callable[[Floats], Floats]
    options: dict[str, str]


def accuracy(p: Floats) -> Floats:
    return p.mean(axis=1)


def pass_at_8(p: Floats) -> Floats:
    return (1 - (1 - p) ** 8).mean(axis=1)


PUBLISHED: dict[str, str] = {}
PARTIAL = {"inference": "pooled"}
METHODS = {
    "accuracy": (
        Method("uniform + normal (published)", ps.bayes(), accuracy, PUBLISHED),
        Method("published avg", ps.avg(), accuracy, PUBLISHED),
        Method("partial pooling + Beta", ps.bayes(), accuracy, PARTIAL),
        Method("calibrated avg", ps.avg(), accuracy, PARTIAL),
    ),
    "pass_at_8": (
        Method("uniform + normal (published)", ps.pass_at_k(8), pass_at_8, PUBLISHED),
        Method("partial pooling + Beta", ps.pass_at_k(8), pass_at_8, PARTIAL),
    ),
}


class Cell(NamedTuple):
    """One setting of the study."""

    population: str
    questions: int
    n: int
    replicates: int
    seed: int


def results(cell: Cell) -> list[tuple[str, str, float, float]]:
    """Of each method: what it measures, its title, coverage and mean width."""
    rng = np.random.default_rng([cell.seed, list(POPULATIONS).index(cell.population), *cell[1:3]])
    p = POPULATIONS[cell.population](rng, (cell.replicates, cell.questions))
    log, found = counted(cell.n, rng.binomial(cell.n, p)), []
    for measured, methods in METHODS.items():
        for method in methods:
            ends = log.scorio(count="count").report(method.metric, **method.options)
            lo, hi, truth = ends["lo"].to_numpy(), ends["hi"].to_numpy(), method.truth(p)
            held = (lo <= truth) & (truth <= hi)
            found.append((measured, method.title, float(held.mean()), float((hi - lo).mean())))
    return found


def print_table(measured: str, found: pl.DataFrame) -> None:
    """A row for each method: mean (worst) coverage for each n, and the mean widths."""
    sizes = sorted(found["n"].unique())
    widths = [n for n in sizes if n in (1, 4, 16)]
    print(f"| {measured} | " + " | ".join(f"n={n}" for n in sizes), end=" | ")
    print(f"width n={'/'.join(map(str, widths))} |")
    print("|---" * (len(sizes) + 2) + "|")
    for method in METHODS[measured]:
        rows = found.filter(measured=measured, method=method.title)
        held = [rows.filter(n=n)["coverage"] for n in sizes]
        cells = [f"{each.mean():.3f} ({each.min():.2f})" for each in held]
        cells.append("/".join(f"{rows.filter(n=n)['width'].mean():.3f}" for n in widths))
        print(f"| {method.title} | {' | '.join(cells)} |")
    partial = found.filter(measured=measured, method="partial pooling + Beta")
    lowest = partial.sort("coverage", maintain_order=True).head(3)
    places = lowest.select("population", "questions", "n", "coverage").iter_rows()
    shown = (f"{name} M={size} n={n} {held:.2f}" for name, size, n, held in places)
    print(f"\nLowest cells of partial pooling: {', '.join(shown)}.\n")


def simulate(cells: Iterable[Cell], processes: int) -> pl.DataFrame:
    """The results of all cells in one frame."""
    cells, rows = list(cells), []
    # Polars threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for i, (cell, found) in enumerate(zip(cells, pool.map(results, cells), strict=True)):
            rows += [(*cell[:3], *each) for each in found]
            print(f"{i + 1}/{len(cells)} {cell[:3]}", file=sys.stderr, flush=True)
    columns = ["population", "questions", "n", "measured", "method", "coverage", "width"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def main() -> None:
    """Simulate what the command line asks for, and print the tables."""
    parser = argparse.ArgumentParser(
        description="Coverage of nominal 95 % intervals for the mean over the questions at hand: "
        "mean (worst cell) over 6 populations of questions and benchmarks of several sizes."
    )
    parser.add_argument("--replicates", type=int, help="per cell; default: 200, quick: 40")
    parser.add_argument("--quick", action="store_true", help="fewer replicates, M = 5 and 30 only")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--processes", type=int, help="default: one for each core")
    arguments = parser.parse_args()
    replicates = arguments.replicates or (40 if arguments.quick else 200)
    questions = (5, 30) if arguments.quick else (5, 30, 100)
    started = time.perf_counter()
    cells = (
        Cell(population, size, n, replicates, arguments.seed)
        for population, size, n in product(POPULATIONS, questions, (1, 2, 4, 16, 64))
    )
    found = simulate(cells, arguments.processes)
    print(
        f"T1 coverage of nominal 95 % intervals, mean (worst cell) over {len(POPULATIONS)} "
        f"populations x M = {', '.join(map(str, questions))}; {replicates} replicates per cell "
        f"(seed {arguments.seed}), {time.perf_counter() - started:.0f} s\n"
    )
    for measured in METHODS:
        print_table(measured, found)


if __name__ == "__main__":
    main()
