"""Do differences of two models on a sample of questions hold? Run it without arguments.

The first table sums over all outcomes of questions that differ by -1, 0 or 1; the second simulates
pairs of models over the populations of `populations.py`, against Student's t by itself.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import gammaln, xlog1py, xlogy

from polars_scorio.maths.covariance import paired_means

sys.path.insert(0, str(Path(__file__).parent))
from populations import FIRST_POPULATIONS, everyone

MOST = 60  # questions that differ one way: outcomes with more have no chance worth adding
METRICS = {
    "avg": (lambda c, n: c / n, lambda p, _: p),
    "pass@n": (lambda c, _: 1.0 * (c > 0), lambda p, n: 1 - (1 - p) ** n),
    "pass^n": (lambda c, n: 1.0 * (c == n), lambda p, n: p**n),
}


def intervals(differences):
    """Intervals of many samples of questions at once: with two more questions, and by t."""
    samples, questions = differences.shape
    both = np.stack([differences.ravel(), np.zeros(differences.size)], axis=1)
    for span in (1.0, 0.0):
        found = paired_means(both, questions * np.arange(samples), span)
        lo, hi = found.differences(np.array([0]), np.array([1])).ends(0.025)
        yield np.maximum(lo[:, 0], -1), np.minimum(hi[:, 0], 1)


def over_all_outcomes(questions):
    """The least coverage over chances of -1 and 1, and that of Student's t."""
    up, down = (each.ravel() for each in np.indices((min(questions, MOST) + 1,) * 2))
    up, down = (each[up + down <= questions] for each in (up, down))
    place = np.arange(questions)
    values = (place < up[:, None]) * 1.0 - ((place >= up[:, None]) & (place < (up + down)[:, None]))
    both = list(intervals(values))
    rest = questions - up - down
    ways = gammaln(questions + 1) - sum(gammaln(each + 1) for each in (up, down, rest))
    worst = np.ones(2)
    for events in np.arange(0.1, min(0.9 * questions, MOST / 3), 0.1):
        for share in (0, 0.1, 0.3, 0.5):
            p, q = events * (1 - share) / questions, events * share / questions
            chance = np.exp(ways + xlogy(up, p) + xlogy(down, q) + xlog1py(rest, -p - q))
            held = [chance[(lo <= p - q + 1e-12) & (p - q <= hi + 1e-12)].sum() for lo, hi in both]
            worst = np.minimum(worst, held)
    return worst


def pairs(population, questions, n, samples):
    """Successes of two models of some kinds, and by how much their rates differ."""
    rng = np.random.default_rng([list(FIRST_POPULATIONS).index(population), questions, n])
    p, all_of_them = FIRST_POPULATIONS[population](rng, (samples, questions)), everyone(population)
    yield "shifted", rng.binomial(n, p), rng.binomial(n, 0.9 * p), (all_of_them, 0.9 * all_of_them)
    yield "one by itself", rng.binomial(n, p), np.zeros_like(p), (all_of_them, 0 * all_of_them)
    yield "equal", rng.binomial(n, p), rng.binomial(n, p), (all_of_them, all_of_them)
    # 4 % always succeed for the first and never for the second, 1 % the reverse.
    kind, same = rng.random(p.shape), rng.binomial(n, p)
    first = np.where(kind < 0.04, n, np.where(kind < 0.05, 0, same))
    second = np.where(kind < 0.04, 0, np.where(kind < 0.05, n, same))
    yield "always or never", first, second, (0.03, 0.0)


def simulated(samples):
    """A row for each population, size, kind of pair and metric."""
    for population in FIRST_POPULATIONS:
        for questions in (10, 30, 100, 500):
            for n in (1, 4, 16):
                for kind, a, b, rates in pairs(population, questions, n, samples):
                    for metric, (value, worth) in METRICS.items():
                        if n > 1 or metric == "avg":
                            difference = value(a, n) - value(b, n)
                            known = kind == "always or never"
                            of = rates if known else [worth(each, n).mean() for each in rates]
                            yield (questions, *numbers(difference, of[0] - of[1]))
        print(population, file=sys.stderr, flush=True)


def numbers(difference, truth):
    """Coverage, width, the narrowest and how often zero lies outside, for both intervals."""
    for lo, hi in intervals(difference):
        held = (lo <= truth + 1e-12) & (truth - 1e-12 <= hi)
        yield from (held.mean(), (hi - lo).mean(), (hi - lo).min(), ((lo > 0) | (hi < 0)).mean())


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="a cell; default: 1000")
    samples = parser.parse_args().samples
    print("| questions | least coverage | of Student's t by itself |\n" + "|---" * 3 + "|")
    for questions in (5, 10, 20, 30, 50, 100, 200):
        least, by_t = over_all_outcomes(questions)
        print(f"| {questions} | {least:.3f} | {by_t:.3f} |", flush=True)
    names = [f"{each}{t}" for t in ("", "_t") for each in ("coverage", "width", "least", "told")]
    cells = pl.DataFrame(list(simulated(samples)), schema=["M", *names], orient="row")
    usable = (pl.col("coverage_t") >= 0.93) & (pl.col("coverage_t") < 0.99)
    wider = (pl.col("width") / pl.col("width_t")).filter(usable).median()
    table = cells.group_by("M").agg(
        pl.len().alias("cells"),
        pl.col("coverage").mean().alias("mean"),
        pl.col("coverage").min().alias("worst"),
        (pl.col("coverage") < 0.92).sum().alias("below .92"),
        pl.col("least").min().alias("narrowest"),
        pl.col("told").mean(),
        wider.alias("width / t, where t holds"),
        pl.col("coverage_t").min().alias("worst of t"),
        pl.col("told_t").mean().alias("told by t"),
    )
    with pl.Config(tbl_cols=-1, tbl_width_chars=160, float_precision=3,
                   tbl_formatting="MARKDOWN", tbl_hide_column_data_types=True):  # fmt: skip
        print(f"\n{samples} samples a cell\n\n{table.sort('M')}")


if __name__ == "__main__":
    main()
