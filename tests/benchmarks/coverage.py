"""How often a 95 % interval holds the truth. Run: python tests/benchmarks/coverage.py --help.

Every number comes from the public API: the replicates of a cell are strata of one log.
"""

import argparse
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps

sys.path.insert(0, str(Path(__file__).parent))
from populations import POPULATIONS, Asked, accuracy, at_k, everyone, stable

Floats = np.ndarray
Ints = np.ndarray

INFERENCES = ("published", "pooled", "calibrated")
HARDER = 0.9  # the rate of the other model, where there are two


class Cell(NamedTuple):
    """One setting of the study."""

    study: str
    population: str
    questions: int
    n: int | str
    replicates: int
    seed: int

    def random(self) -> np.random.Generator:
        """The same draws for every inference."""
        own = [list(STUDIES).index(self.study), list(POPULATIONS).index(self.population)]
        words = str(self.n).encode()
        return np.random.default_rng([self.seed, *own, self.questions, *words])


class Numbers(NamedTuple):
    """What one inference says in a cell of a metric: a row of the results."""

    target: str
    metric: str
    k: int | None
    coverage: float
    width: float


def counted(*counts: Ints) -> pl.DataFrame:
    """Counts by replicate and question, one matrix for each category."""
    replicate, question = np.indices(counts[0].shape).reshape(2, -1)
    columns = {"replicate": replicate, "question": question}
    return pl.concat(
        pl.DataFrame({**columns, "category": np.full(count.size, category), "count": count.ravel()})
        for category, count in enumerate(counts)
    )


def trials_of(n: int | str, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
    """How many trials each question has."""
    if n == "Poisson(8)":
        return np.maximum(rng.poisson(8, shape), 1)
    if n == "1..32":
        return rng.integers(1, 33, shape)
    return np.full(shape, n)


def held(lo: Floats, hi: Floats, truth: Floats) -> tuple[float, float]:
    """Coverage and mean width; where there is no interval, nothing is held."""
    # Rates that are all the same differ by a rounding from their mean.
    inside = (lo <= truth + 1e-12) & (truth - 1e-12 <= hi)
    return float(inside.mean()), float(np.nanmean(hi - lo))


def truths(asked: Asked, cell: Cell, p: Floats) -> dict[str, Floats]:
    """What an interval is to hold, for each target and replicate."""
    whole = asked.worth(everyone(cell.population)).mean()
    return {"benchmark": asked.worth(p).mean(axis=1), "population": np.full(len(p), whole)}


def reported(
    log: pl.DataFrame, asked: list[Asked], cell: Cell, p: Floats, inference: str
) -> Iterator[Numbers]:
    """Coverage of the intervals of a report, for both targets."""
    scorio = log.scorio(model=None, by="replicate", count="count", inference=inference)
    targets = ["benchmark"] if inference == "published" else ["benchmark", "population"]
    for target in targets:
        rows = scorio.report(*(each.metric for each in asked), target=target)
        for each in asked:
            truth, k = truths(each, cell, p)[target], each.metric.k[0]
            own = rows.filter(pl.col("metric") == each.metric.name, pl.col("k").eq_missing(k))
            ends = (own[end].to_numpy() for end in ("lo", "hi"))
            yield Numbers(target, each.metric.name, k, *held(*ends, truth))


def equal(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Accuracy, pass, all and most of n and of n/2 trials."""
    n = int(cell.n)
    asked = [accuracy(), *(each for k in sorted({n, max(n // 2, 1)}) for each in at_k(k))]
    yield from _drawn(cell, asked, inference)


def stability(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Shares of n trials, and what exceeds their half."""
    yield from _drawn(cell, stable(int(cell.n)), inference)


def ragged(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Accuracy where questions have different numbers of trials."""
    yield from _drawn(cell, [accuracy(), *at_k(1)], inference)


def ranges(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Draws of more trials than some questions have, or than all of them."""
    yield from _drawn(cell, at_k(8)[:2], inference)


def _drawn(cell: Cell, asked: list[Asked], inference: str) -> Iterator[Numbers]:
    rng, shape = cell.random(), (cell.replicates, cell.questions)
    p = POPULATIONS[cell.population](rng, shape)
    n = trials_of(cell.n, shape, rng)
    c = rng.binomial(n, p)
    yield from reported(counted(n - c, c), asked, cell, p, inference)


def weighted(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Accuracy with half a point for each of two steps, and the best of n trials."""
    rng, n = cell.random(), int(cell.n)
    p = POPULATIONS[cell.population](rng, (cell.replicates, cell.questions))
    counts = rng.multinomial(n, np.stack([(1 - p) ** 2, 2 * p * (1 - p), p**2], axis=-1))
    w = [0, 0.5, 1]
    asked = [
        Asked(ps.avg(w), lambda p: p),
        Asked(
            ps.max_at_k(n, w), lambda p: 1 - ((1 - p) ** (2 * n) + np.clip(1 - p**2, 0, 1) ** n) / 2
        ),
    ]
    yield from reported(counted(*np.moveaxis(counts, -1, 0)), asked, cell, p, inference)


def differences(cell: Cell, inference: str) -> Iterator[Numbers]:
    """Two models on the same questions, the other one with nine tenths of the rates."""
    rng, shape, n = cell.random(), (cell.replicates, cell.questions), int(cell.n)
    p = POPULATIONS[cell.population](rng, shape)
    logs = (
        counted(n - c, c).with_columns(pl.lit(model).alias("model"))
        for model, c in (("a", rng.binomial(n, p)), ("b", rng.binomial(n, HARDER * p)))
    )
    scorio = pl.concat(logs).scorio(by="replicate", count="count", inference=inference)
    options: list[dict[str, Any]] = [{}]
    # Of a sample of questions the trials themselves tell, no fitted population.
    options += [{"target": "population"}] if inference == "calibrated" else []
    for each, option in product([accuracy(), *at_k(n)[:2]], options):
        rows = scorio.compare(each.metric, **option)
        target = str(option.get("target", "benchmark"))
        truth = truths(Asked(each.metric, lambda p, of=each.worth: of(p) - of(HARDER * p)), cell, p)
        ends = (rows[end].to_numpy() for end in ("lo", "hi"))
        yield Numbers(target, each.metric.name, each.metric.k[0], *held(*ends, truth[target]))


class Study(NamedTuple):
    """Cells of one kind: benchmarks of these sizes, with so many trials."""

    run: Callable[[Cell, str], Iterator[Numbers]]
    questions: tuple[int, ...]
    trials: tuple[int | str, ...]


STUDIES = {
    "equal n": Study(equal, (10, 30, 100, 500), (1, 4, 16)),
    "stability": Study(stability, (10, 100), (4, 16)),
    "ragged n": Study(ragged, (30, 200), ("Poisson(8)", "1..32")),
    "k > n": Study(ranges, (30, 200), (4, "Poisson(8)")),
    "categories": Study(weighted, (10, 100), (1, 4, 16)),
    "differences": Study(differences, (10, 30, 100, 500), (1, 4, 16)),
}


def simulate(
    cells: Iterable[Cell], inferences: Iterable[str], processes: int, save: Path | None
) -> pl.DataFrame:
    """The results of all cells in one frame."""
    cells, inferences, rows = list(cells), list(inferences), list[pl.DataFrame]()
    # Polars threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        jobs = list(product(inferences, cells))
        found = pool.map(results, (cell for _, cell in jobs), (name for name, _ in jobs))
        for done, ((name, cell), frame) in enumerate(zip(jobs, found, strict=True), 1):
            rows.append(frame)
            print(f"{done}/{len(jobs)} {name} {cell[:4]}", file=sys.stderr, flush=True)
            if save is not None:
                pl.concat(rows).write_parquet(save)
    return pl.concat(rows)


def results(cell: Cell, inference: str) -> pl.DataFrame:
    """What one inference says in a cell, a row for each metric and target."""
    warnings.simplefilter("ignore", ps.PriorWarning)
    rows = [(*cell[:3], str(cell.n), inference, *each) for each in
            STUDIES[cell.study].run(cell, inference)]  # fmt: skip
    columns = ["study", "population", "M", "n", "inference", *Numbers._fields]
    dtypes = {"k": pl.Int64}
    return pl.DataFrame(rows, schema=columns, schema_overrides=dtypes, orient="row")


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """A row for each study, target and inference."""
    coverage = pl.col("coverage")
    return (
        found.group_by("study", "target", "inference", maintain_order=True)
        .agg(
            pl.len().alias("cells"),
            coverage.mean().alias("mean"),
            coverage.min().alias("worst"),
            (coverage < 0.92).sum().alias("below .92"),
            (coverage < 0.90).sum().alias("below .90"),
            pl.col("width").median().alias("median width"),
        )
        .sort(
            pl.col("study").replace_strict({name: i for i, name in enumerate(STUDIES)}),
            "target",
            "inference",
            descending=[False, False, True],
        )
    )


def ratio_of_widths(found: pl.DataFrame) -> pl.DataFrame:
    """How much wider than pooled ones the calibrated intervals of accuracy are, from M = 100 on."""
    rows = found.filter(pl.col("metric") == "avg", pl.col("study") == "equal n", pl.col("M") >= 100)
    keys = ["population", "M", "n", "target"]
    pooled = rows.filter(inference="pooled").select(*keys, pooled="width")
    both = rows.filter(inference="calibrated").join(pooled, on=keys)
    ratio = pl.col("width") / pl.col("pooled")
    return both.group_by("target", "n").agg(
        ratio.median().alias("median"), ratio.max().alias("most")
    ).sort("target", "n")  # fmt: skip


def main() -> None:
    """Simulate what the command line asks for, and print the tables."""
    parser = argparse.ArgumentParser(
        description="Coverage of nominal 95 % intervals over nine populations of questions."
    )
    parser.add_argument("--replicates", type=int, default=300, help="per cell; default: 300")
    parser.add_argument(
        "--ranges", type=int, help="replicates for k > n, which cost a second; default: a tenth"
    )
    parser.add_argument("--inference", nargs="+", choices=INFERENCES, default=INFERENCES)
    parser.add_argument("--study", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--smallest", type=int, default=1, help="benchmark; default: 1 question")
    parser.add_argument(
        "--largest", type=int, default=500, help="benchmark; default: 500 questions"
    )
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--processes", type=int, default=2, help="default: 2")
    parser.add_argument("--save", type=Path, help="a Parquet file for the cells")
    parser.add_argument("--show", type=Path, nargs="+", help="no simulation: these files")
    given = parser.parse_args()
    started = time.perf_counter()
    if given.show:
        found = pl.concat(pl.read_parquet(path) for path in given.show)
    else:
        many = given.replicates
        few = given.ranges or max(many // 10, 1)
        cells = (
            Cell(name, population, size, n, few if name == "k > n" else many, given.seed)
            for name in given.study
            for size, n, population in product(
                STUDIES[name].questions, STUDIES[name].trials, POPULATIONS
            )
            if given.smallest <= size <= given.largest
        )
        found = simulate(cells, given.inference, given.processes, given.save)
        took = time.perf_counter() - started
        print(f"{given.replicates} replicates per cell (seed {given.seed}), {took:.0f} s\n")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, float_precision=3,
                   tbl_formatting="MARKDOWN", tbl_hide_column_data_types=True):  # fmt: skip
        print(summary(found))
        print(ratio_of_widths(found))
        print(found.filter(inference="calibrated").sort("coverage").head(15))


if __name__ == "__main__":
    main()
