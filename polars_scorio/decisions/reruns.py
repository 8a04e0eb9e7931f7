"""Would this score move if the log were run again, and which questions are flaky?

A difference of two runs below the noise floor may be chance. What the trials of one run share is in
it if the log names its runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    CONFIDENCE,
    Per,
    check_choice,
    check_confidence,
    check_count,
    check_number,
)
from polars_scorio.counting.log import bind_roles, result_schema
from polars_scorio.decisions.models import metric_of, value_ends
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.credit_numbers import sample_numbers
from polars_scorio.maths.interval import UnitSample
from polars_scorio.maths.populations import rate_ends
from polars_scorio.study.evaluate import Evaluated, report_columns
from polars_scorio.study.report import evaluated_plan
from polars_scorio.study.request import Request, on_levels, refuse_judge

if TYPE_CHECKING:
    from polars_scorio.counting.log import Log
    from polars_scorio.counting.roles import Roles
    from polars_scorio.metrics.metric import Metric

_COLUMNS: dict[str, pl.DataType] = {
    "metric": pl.String(),
    "k": pl.Int64(),
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
    "rerun_trials": pl.Float64(),
    "flaky": pl.UInt32(),
    **dict.fromkeys(("flips", "flips_lo", "flips_hi", "estimate"), pl.Float64()),
    **dict.fromkeys(("run_sd", "rerun_sd", "noise_floor"), pl.Float64()),
}
_OF_QUESTIONS: dict[str, pl.DataType] = {
    "trials": pl.UInt32(),
    "successes": pl.UInt32(),
    **dict.fromkeys(("flips", "rate", "rate_lo", "rate_hi"), pl.Float64()),
}


def miss_rate(share: float, trials: int) -> float:
    """Probability that a flaky case passes in all of some runs.

    Parameters
    ----------
    share : float
        Share of its runs in which the case fails, between 0 and 1.
    trials : int
        Number of runs.

    Returns
    -------
    float
        ``(1 - share) ** trials``.

    Raises
    ------
    ValueError
        If `share` is not between 0 and 1, or `trials` not positive.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> round(ps.miss_rate(0.1, trials=5), 3)  # five green runs say little of one failure in ten
    0.59
    """
    share = check_number("share", share, CHANCE)
    return float((1 - share) ** check_count("trials", trials))


def runs_to_fail(share: float, chance: float = CONFIDENCE) -> int:
    """Number of runs after which a flaky case has failed at least once with some probability.

    Parameters
    ----------
    share : float
        Share of its runs in which the case fails, between 0 and 1.
    chance : float
        Probability of at least one failure.

    Returns
    -------
    int
        The fewest runs with ``miss_rate(share, runs) <= 1 - chance``.

    Raises
    ------
    ValueError
        If one of both is not between 0 and 1.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.runs_to_fail(0.1)
    29
    """
    share, chance = check_number("share", share, CHANCE), check_number("chance", chance, CHANCE)
    return math.ceil(math.log1p(-chance) / math.log1p(-share))


def reruns(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    n: int | None = None,
    per: Per = "model",
    confidence: float | None = None,
) -> pl.LazyFrame:
    """The plan of the noise of reruns; see `Scorio.reruns`."""
    metric = metric_of(metric, "reruns", "it is about scores")
    check_choice("per", per, Per)
    confidence = check_confidence(confidence)
    n = None if n is None else check_count("n", n)
    (k,) = metric.row_sizes
    if n is not None and k is not None and per == "model":
        raise ValueError(
            f"reruns: {metric.name} of a rerun with another number of trials has another noise, "
            "which is unknown: omit n=, or use ps.avg()"
        )
    trials = bind_roles(log, roles)
    refuse_judge(trials, "reruns")
    metric = on_levels(metric, trials)
    request = Request.from_trials(trials, [metric], confidence=confidence)
    ((metric, view),) = request.metrics
    if not request.choice.is_unbiased(metric, view):
        raise ValueError(
            f"reruns needs unbiased estimates, and {metric.name} gives posterior means: take "
            "ps.avg(), or a metric of the Pass@k family"
        )
    columns = _COLUMNS if per == "model" else _OF_QUESTIONS
    question = {} if per == "model" else {trials.question.name: trials.question.dtype}
    schema = result_schema((), trials.strata, trials.models, question, columns)
    plan = evaluated_plan(request, report_columns(trials), named=True)

    def made(evaluated: Evaluated) -> pl.DataFrame:
        rows = _group_rows(evaluated, n) if per == "model" else _flaky_questions(evaluated)
        return rows.select(pl.col(name).cast(kind) for name, kind in schema.items())

    return plan.then(made, schema).plan()


def _group_rows(evaluated: Evaluated, n: int | None) -> pl.DataFrame:
    """A row for each group."""
    ((row, (metric, _)),), groups = evaluated.views.items(), len(evaluated.keys)
    models = evaluated.models(row, np.arange(groups)[:, None])
    scores, table = models.scores, models.table
    trials = table.size / np.bincount(table.group, 1 / table.trials, groups)
    rerun = trials if n is None else np.full(groups, float(n))
    noise = np.where(np.isnan(scores.estimate), np.nan, models.trial_noise()[:, 0])
    run_sd, excess, term = np.full(groups, np.nan), np.zeros(groups), np.zeros(groups)
    if models.runs is not None:
        runs = models.runs.by_score
        excess, term = runs.excess[:, 0], runs.term(models.z)[:, 0]
        shared = np.where(np.asarray(runs.freedom) > 0, runs.shared, np.nan)
        run_sd = np.sqrt(runs.excess / shared)[:, 0]
    again = np.sqrt((noise + excess) * trials / rerun)
    lowest, highest = value_ends(metric, evaluated.request.trials)
    # Noise of few trials is known badly: the score itself says how far it can move at most.
    farthest = np.maximum(scores.estimate - lowest, highest - scores.estimate)
    floor = noise_floor(noise + term, trials / rerun, models.z)
    numbers = {
        "questions": table.size,
        "trials": np.bincount(table.group, table.trials, groups),
        "rerun_trials": rerun,
        "estimate": scores.estimate,
        "run_sd": run_sd,
        "rerun_sd": again,
        "noise_floor": np.minimum(floor, farthest),
        **_group_flips(evaluated, models.confidence),
    }
    return evaluated.keys.with_columns(
        pl.lit(metric.name).alias("metric"),
        pl.lit(row[1], pl.Int64).alias("k"),
        *(pl.Series(name, each, nan_to_null=True) for name, each in numbers.items()),
    )


def _flaky_questions(evaluated: Evaluated) -> pl.DataFrame:
    """A row for each flaky question, those that flip most often first."""
    c, table = _question_counts(evaluated), evaluated.parts[0].table
    if c is None:
        raise ValueError(
            'reruns: per="question" lists questions that succeed and fail, and these rewards '
            "are neither: pass threshold=, from which on a reward is a success"
        )
    n, size = table.trials, table.size
    listed = (c > 0) & (c < n)
    number = np.bincount(table.group[listed], minlength=size.size)
    # The fewer questions of a model are flaky, the wider are the intervals of those that are.
    tail = (
        (1 - evaluated.request.choice.confidence) / 2 * (number / np.maximum(size, 1))[table.group]
    )
    right, wrong = c.astype(np.float64), (n - c).astype(np.float64)
    lo, hi = rate_ends(right, wrong, np.where(listed, tail, 0.5))
    names = table.cells.flat[table.question].gather(table.order)
    keys = evaluated.keys[table.group].with_columns(
        names.alias(table.question),
        trials=n,
        successes=c,
        flips=flip_values(n, c),
        rate=c / n,
        rate_lo=lo,
        rate_hi=hi,
    )
    order = [*evaluated.request.trials.keys, "flips", table.question]
    down = [name == "flips" for name in order]
    return keys.filter(pl.Series(listed)).sort(order, descending=down, maintain_order=True)


def noise_floor(variance: Floats, ratio: Floats | float, z: float) -> Floats:
    """The difference of a log and its rerun with n / ratio trials that chance rarely exceeds."""
    return np.asarray(z * np.sqrt(variance * (1 + ratio)))


_FLIPS = ("flaky", "flips", "flips_lo", "flips_hi")


def _question_counts(evaluated: Evaluated) -> Ints | None:
    """Successes of the questions of the table; None for rewards that are neither 0 nor 1."""
    cells = evaluated.parts[0].cells
    if not cells.classes.successful or cells.classes.beyond_counts(cells.flat):
        return None
    return cells.question_successes()[evaluated.parts[0].table.order]


def _group_flips(evaluated: Evaluated, confidence: float) -> dict[str, Floats]:
    """Flaky questions of each group, and the share that changes from one run to the next, (G,)."""
    table = evaluated.parts[0].table
    groups, c = table.size.size, _question_counts(evaluated)
    if c is None:
        return dict.fromkeys(_FLIPS, np.full(groups, np.nan))
    n, group = table.trials, table.group
    flaky = np.bincount(group, (c > 0) & (c < n), groups)
    single = np.bincount(group, n == 1, groups) > 0
    most = np.zeros(groups)
    np.maximum.at(most, group, np.nan_to_num(flip_values(n, n // 2)))
    values = flip_values(n, c)
    share = np.bincount(group, values, groups) / np.maximum(table.size, 1)
    unit = np.divide(values, most[group], out=np.zeros_like(values), where=most[group] > 0)
    one = np.ones(group.size)
    units = UnitSample(unit, one, one.astype(np.int64), group, groups)
    mean = np.bincount(group, unit, groups) / np.maximum(table.size, 1)
    _, _, lo, hi, _ = sample_numbers(mean, units, confidence)
    lo, hi = np.minimum(lo * most, share), np.maximum(np.minimum(hi * most, 0.5), share)
    # One trial of a question shows nothing of its flips, but the score bounds their mean.
    successes = np.bincount(group, c, groups).astype(np.int64)
    whole = np.bincount(group, n, groups) == table.size
    bound = most_flips(table.size, np.where(whole, successes, 0), confidence)
    lo = np.where(single, 0.0, lo)
    hi = np.where(single, np.where(whole, bound, 0.5), hi)
    numbers = flaky, np.where(single, np.nan, share), lo, hi
    return dict(zip(_FLIPS, numbers, strict=True))


def flip_values(n: Ints, c: Ints) -> Floats:
    """Unbiased share of pairs of runs in which a question changes its outcome; or NaN."""
    pairs = np.where(n > 1, n * (n - 1.0), np.nan)
    return np.asarray(2 * c * (n - c) / pairs)


def most_flips(questions: Ints, successes: Ints, confidence: float) -> Floats:
    """The largest mean share of flips that single trials allow: 2 q (1 - q), q nearest to 1/2."""
    wrong = (questions - successes).astype(np.float64)
    q = np.clip(0.5, *rate_ends(successes.astype(np.float64), wrong, (1 - confidence) / 2))
    return np.asarray(2 * q * (1 - q))
