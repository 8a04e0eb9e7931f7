"""Smallest difference of two models that an evaluation can find, before it is run."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from polars_scorio.accessors.base import Accessor
from polars_scorio.arguments import (
    CHANCE,
    CONFIDENCE,
    SHARE,
    Range,
    check_choice,
    check_confidence,
    check_count,
    check_number,
    value_text,
    value_tuple,
)
from polars_scorio.decisions.question_analysis import shared_difficulty
from polars_scorio.maths.families import tukey_critical
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.power import Design, smallest_difference

# Trials per question of both models, or of each.
Trials: TypeAlias = int | tuple[int, int]

_CORRELATION = Range("a number from -1 to 1", -1, 1, closed=True)
_CLUSTER = Range("a number of at least 1", 1, 1e9, closed=True)
_MOST_MODELS = 10_000
_USUAL = {"rate": 0.5, "spread": 0.6, "correlation": 0.6}
_RANGE = ((0.8, 0.7), (0.4, 0.5))  # spread and correlation of most benchmarks lie between these
_DIFFERENCES = ("difference", "lowest", "highest")
_COLUMNS = ("questions", "trials", "trials_b", *_DIFFERENCES)


def detectable_difference(
    questions: int | list[int],
    trials: Trials | list[int],
    *,
    rate: float | None = None,
    spread: float | None = None,
    correlation: float | None = None,
    like: Accessor[Any] | None = None,
    target: Target = "benchmark",
    confidence: float = CONFIDENCE,
    power: float = 0.8,
    models: int = 2,
    cluster_size: float = 1.0,
    icc: float = 0.0,
) -> pl.DataFrame:
    """Smallest true difference of two models that an evaluation finds: a power analysis [1]_.

    It is the difference of `ps.avg()` for which `compare` names the better model with probability
    `power`, if both models get the same questions.

    Parameters
    ----------
    questions : int or list of int
        Number of questions, at least two.
    trials : int, tuple of two ints, or list of int
        Trials per question: of both models, or ``(n_a, n_b)``.
    rate : float, optional
        Mean success rate of both models; default 0.5.
    spread : float, optional
        Variance of the success rates between questions, as a share of ``rate (1 - rate)``: 0 if all
        questions are equally hard, 1 if each is always or never solved; default 0.6.
    correlation : float, optional
        Correlation between the rates of both models over the questions; default 0.6.
    like : Scorio, optional
        A log of similar models, ``df.scorio(...)``, with two trials or more of each question, from
        which rate, spread and correlation are taken.
    target : "benchmark" or "population"
        Whether the difference is about these questions, or about all that could have been asked.
    confidence : float
        Confidence of the comparison.
    power : float
        Probability that the comparison names the better model.
    models : int
        Number of models that are compared, all pairs at once.
    cluster_size, icc : float
        With ``target="population"``: questions per cluster, and the correlation of differences
        within a cluster.

    Returns
    -------
    DataFrame
        A row for each combination: `questions`, `trials` (or `trials_a` and `trials_b`),
        `difference` (infinite if none is found), and its range over most benchmarks: `lowest`
        (spread 0.8, correlation 0.7) and `highest` (0.4 and 0.5).

    Raises
    ------
    TypeError, ValueError
        If an argument is not of the stated kind or out of its range, or if no two models have such
        a spread and correlation.

    Notes
    -----
    The difference is the expected half-width of the interval plus ``Phi^-1(power)`` standard
    errors. For metrics with k > 1, simulate.

    References
    ----------
    .. [1] E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640.

    Examples
    --------
    More trials help on these questions. About the population mostly more questions do.

    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> table = ps.detectable_difference(100, [1, 4])
    >>> table.select("trials", pl.col("difference", "lowest", "highest").round(3)).rows()
    [(1, 0.152, 0.123, 0.173), (4, 0.068, 0.05, 0.081)]
    >>> table = ps.detectable_difference([100, 500], [1, 16], target="population")
    >>> table.select("questions", "trials", pl.col("difference").round(3)).rows()
    [(100, 1, 0.162), (100, 16, 0.108), (500, 1, 0.071), (500, 16, 0.046)]
    """
    given = {"rate": rate, "spread": spread, "correlation": correlation}
    chosen = {**_USUAL, **({} if like is None else _log_design(like))}
    chosen |= {name: x for name, x in given.items() if x is not None}
    check_choice("target", target, Target)
    about_all = target == "population"
    number = np.array([check_count("models", models, least=2, most=_MOST_MODELS)])
    design = Design(
        questions=2,
        trials=(1, 1),
        rate=check_number("rate", chosen["rate"], CHANCE),
        spread=check_number("spread", chosen["spread"], SHARE),
        correlation=check_number("correlation", chosen["correlation"], _CORRELATION),
        critical=float(tukey_critical(number, check_confidence(confidence))[0]),
    )
    _check_correlated_spread(design)
    power = check_number("power", power, CHANCE)
    # So many questions in clusters say as much as one that belongs to no cluster.
    cluster_size = check_number("cluster_size", cluster_size, _CLUSTER)
    effect = 1 + (cluster_size - 1) * check_number("icc", icc, SHARE)
    if not about_all and (cluster_size != 1 or icc != 0):
        raise ValueError(
            "cluster_size and icc change a difference about the population alone, got target="
            '"benchmark": pass target="population", or leave them out'
        )
    about = [design, *(replace(design, spread=s, correlation=r) for s, r in _RANGE)]

    def differences(asked: int, each: tuple[int, int]) -> list[float]:
        if asked <= effect:
            return [float("inf")] * len(_DIFFERENCES)
        runs = (replace(plan, questions=asked / effect, trials=each) for plan in about)
        smallest = [smallest_difference(run, power, population=about_all) for run in runs]
        return [smallest[0], min(smallest), max(smallest)]

    sizes = [check_count("questions", size, least=2) for size in value_tuple(questions)]
    designs = product(sizes, _trial_pairs(trials))
    rows = [(size, *pair, *differences(size, pair)) for size, pair in designs]
    table = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    if isinstance(trials, tuple):
        return table.rename({"trials": "trials_a"})
    return table.drop("trials_b")


def _log_design(like: Accessor[Any]) -> dict[str, float]:
    """Rate, spread and correlation of the models of a log; of one model no correlation."""
    if not isinstance(like, Accessor):
        raise TypeError(
            f"like must be a log with its roles, df.scorio(...), got {value_text(like)}"
        )
    return shared_difficulty(like._log_study(), like._roles)  # noqa: SLF001 - of this room


def _trial_pairs(trials: Trials | list[int]) -> list[tuple[int, int]]:
    """Trials of both models of each design."""
    counts = [check_count("trials", each) for each in value_tuple(trials)]
    if not isinstance(trials, tuple):
        return [(each, each) for each in counts]
    if len(counts) != 2:
        raise ValueError(
            "trials must be a positive int, a tuple of two for both models, or a list of ints, got "
            f"{value_text(trials)}"
        )
    return [(counts[0], counts[1])]


def _check_correlated_spread(design: Design) -> None:
    """Refuse a spread that two models with the given mean rate and correlation cannot have.

    Raises
    ------
    ValueError
        With the largest spread that there is.
    """
    rarer = min(design.rate, 1 - design.rate)
    largest = 1.0
    if design.correlation < 0:  # the covariance of two such rates is at least -rarer^2
        largest = min(1.0, rarer / ((1 - rarer) * -design.correlation))
    if design.spread > largest + 1e-9:
        raise ValueError(
            f"no two models have spread={design.spread:g} with correlation={design.correlation:g} "
            f"and rate={design.rate:g}: the spread is at most {largest:.3g} then"
        )
    if design.spread == 1 and design.correlation == 1:
        raise ValueError(
            "spread=1 with correlation=1 means that both models solve the same questions: there is "
            "no difference to find. Pass a smaller spread or correlation"
        )
