"""Coverage where questions come in clusters. Run: python examples/validation/clusters.py --help.

How often 95 % intervals hold the mean over the population of questions, with and without the role
`cluster`: those of a model (`report`), and of the difference of two models (`compare`), which are
equally good, so that what is not held is a false winner. Rates of questions have one distribution,
and are alike within a cluster: the part `icc` of their normal scores is that of the cluster.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import polars as pl
from scipy.special import betaincinv, ndtr

import polars_scorio as ps

Floats = np.ndarray
# Success rates of questions, from uniform numbers.
POPULATIONS: dict[str, Callable[[Floats], Floats]] = {
    "Beta(.6, 1)": lambda u: betaincinv(0.6, 1, u),
    "Beta(2, 2)": lambda u: betaincinv(2, 2, u),
    "half always right": lambda u: np.where(u < 0.5, 0.6 * u, 1.0),
}
CELL = ["population", "clusters", "size", "icc", "n"]
GRID = (np.arange(20_001) + 0.5) / 20_001  # of the mean over a population
LARGEST = 16  # draw size


def cluster_of(clusters: int, size: int, *, large: bool) -> Floats:
    """The cluster of each question; `large`: the first has as many questions as all others."""
    sizes = np.full(clusters, size)
    if large:
        sizes[0] = size * (clusters - 1)
    return np.repeat(np.arange(clusters), sizes)


def rates(
    rng: np.random.Generator, population: str, replicates: int, cluster: Floats, icc: float
) -> Floats:
    """Success rates, shape (replicates, questions)."""
    own = rng.standard_normal((replicates, cluster.size))
    shared = rng.standard_normal((replicates, int(cluster.max()) + 1))[:, cluster]
    return POPULATIONS[population](ndtr(np.sqrt(icc) * shared + np.sqrt(1 - icc) * own))


def log(models: list[Floats], cluster: Floats, n: int, rng: np.random.Generator) -> pl.DataFrame:
    """The counts of all replicates."""
    frames = []
    for model, p in enumerate(models):
        replicate, question = np.indices(p.shape).reshape(2, -1)
        keys = {"model": [model] * p.size, "replicate": replicate, "question": question}
        totals = {"cluster": cluster[question], "n": n, "c": rng.binomial(n, p).ravel()}
        frames.append(pl.DataFrame(keys | totals))
    return ps.from_successes(pl.concat(frames))


def truth(population: str, metric: ps.Metric, k: int | None) -> float:
    """The mean of a metric over the population."""
    p, draw = POPULATIONS[population](GRID), k or 1
    credit = {"avg": p, "pass_at_k": 1 - (1 - p) ** draw, "pass_hat_k": p**draw}
    return float(credit[metric.function].mean())


def metrics(n: int) -> list[ps.Metric]:
    """Accuracy, and k-metrics of draw sizes that have an estimate."""
    sizes = [k for k in (2, 4, LARGEST) if k <= n]
    return [ps.avg(), *([ps.pass_at_k(sizes), ps.pass_hat_k(sizes)] if sizes else [])]


def held(
    rows: pl.DataFrame, metric: ps.Metric, values: dict[int | None, float]
) -> Iterator[tuple[str, float, float]]:
    """Number, coverage and mean width for each draw size."""
    for k, value in values.items():
        own = rows.filter(pl.col("metric") == metric.name, pl.col("k").eq_missing(k))
        inside = own.select((pl.col("lo") <= value) & (pl.col("hi") >= value)).to_series()
        width = float((own["hi"] - own["lo"]).mean())
        yield metric.name if k is None else f"{metric.name} {k}", float(inside.mean()), width


def measured(
    counts: pl.DataFrame, population: str, n: int, asked: argparse.Namespace
) -> Iterator[tuple[object, ...]]:
    """Whether clusters are named, number, coverage and width."""
    about = {"target": "population", "prior": asked.prior}
    for roles in ({}, {"cluster": "cluster"}):
        accessor = counts.scorio(by="replicate", count="count", **roles)
        rows = accessor.report(*metrics(n), **about) if asked.what == "reports" else None
        for metric in metrics(n):
            if rows is None:
                pairs = accessor.compare(metric, target="population", simultaneous=False)
                found = held(pairs, metric, dict.fromkeys(metric.row_sizes, 0.0))
            else:
                values = {k: truth(population, metric, k) for k in metric.row_sizes}
                found = held(rows, metric, values)
            yield from (("clusters" if roles else "plain", *numbers) for numbers in found)


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--what", choices=["reports", "pairs"], default="reports")
    add("--populations", nargs="+", choices=POPULATIONS, default=list(POPULATIONS))
    add("--clusters", nargs="+", type=int, default=[10, 20, 50])
    add("--sizes", nargs="+", type=int, default=[5, 10], help="questions of a cluster")
    add("--icc", nargs="+", type=float, default=[0.0, 0.3, 0.6])
    add("--n", nargs="+", type=int, default=[1, 4, 16], help="trials of a question")
    add("--replicates", type=int, default=400)
    add("--seed", type=int, default=0)
    add("--prior", choices=["population"])
    add("--large", action="store_true", help="the first cluster has half of the questions")
    return parser.parse_args()


def main() -> None:
    """Print a row for each cell and number."""
    asked = options()
    warnings.simplefilter("ignore", ps.ClusterWarning)
    print(*CELL, "role", "number", "coverage", "width", sep="\t")
    cells = product(asked.populations, asked.clusters, asked.sizes, asked.icc, asked.n)
    for place, (population, clusters, size, icc, n) in enumerate(cells):
        rng = np.random.default_rng([asked.seed, place])
        cluster = cluster_of(clusters, size, large=asked.large)
        sides = range(1 if asked.what == "reports" else 2)
        models = [rates(rng, population, asked.replicates, cluster, icc) for _ in sides]
        counts = log(models, cluster, n, rng)
        for role, number, coverage, width in measured(counts, population, n, asked):
            cell = population, clusters, size, icc, n, role, number
            print(*cell, f"{coverage:.3f}", f"{width:.3f}", sep="\t", flush=True)
    print(f"{time.process_time():.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
