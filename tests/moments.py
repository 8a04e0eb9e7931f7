"""Moments of Bayes@N and avg@N from the rows of a log, in fractions: no array, no state."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

import polars as pl

Counts = Sequence[int]


def tallies(log: pl.DataFrame, classes: int, model: str) -> dict[object, list[int]]:
    """How many trials of each question of a model fell into each class, by question."""
    counts: dict[object, list[int]] = defaultdict(lambda: [0] * classes)
    for row in log.filter(model=model).iter_rows(named=True):
        counts[row["question"]][row["category"]] += 1
    return dict(sorted(counts.items()))


def dirichlet(nu: Counts, w: Sequence[float]) -> tuple[Fraction, Fraction]:
    """Mean and variance of the weight of one trial."""
    weights, total = [Fraction(value) for value in w], sum(nu)
    mean = sum(x * n for x, n in zip(weights, nu, strict=True)) / total
    square = sum(x * x * n for x, n in zip(weights, nu, strict=True)) / total
    return mean, (square - mean**2) / (total + 1)


def bayes(
    questions: Iterable[Counts], w: Sequence[float], prior: Iterable[Counts] | None = None
) -> tuple[Fraction, Fraction]:
    """mu and the squared sigma of Bayes@N."""
    counts = list(questions)
    earlier = [[0] * len(w)] * len(counts) if prior is None else list(prior)
    parts = [
        dirichlet([1 + c + d for c, d in zip(one, other, strict=True)], w)
        for one, other in zip(counts, earlier, strict=True)
    ]
    m = len(parts)
    return sum(mean for mean, _ in parts) / Fraction(m), sum(v for _, v in parts) / Fraction(m * m)


def avg(questions: Iterable[Counts], w: Sequence[float]) -> tuple[Fraction, Fraction]:
    """mu and the squared sigma of avg@N."""
    mu = square = Fraction(0)
    counts = list(questions)
    for c in counts:
        n, total = sum(c), sum(c) + len(c)
        mu += sum(Fraction(x) * j for x, j in zip(w, c, strict=True)) / n
        square += dirichlet([1 + j for j in c], w)[1] * Fraction(total, n) ** 2
    return mu / len(counts), square / len(counts) ** 2


W = [0.1, 0.3, 0.7]


def questions(log: pl.DataFrame, domain: str, model: str, classes: int = 3) -> list[list[int]]:
    return list(tallies(log.filter(domain=domain), classes, model).values())
