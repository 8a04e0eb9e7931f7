"""Sums of costs that are the same for each order of the rows.

Sums of floats depend on their order in the last digits. So each cost becomes an integer, the
largest multiple of 2^-74 up to it, and its square a multiple of 2^-52 and the rest as one of
2^-94; sums of these are exact in 128 bits. Costs of at least 2^-21 (half a millionth of a dollar)
lose no digit. A log whose costs are all below 2^-34 would lose digits and is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import row_place
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    Quoted,
    Rule,
    Tally,
    largest_number,
    least_number,
    summed_number,
)
from polars_scorio.counting.log import CATEGORY, Role, Trials
from polars_scorio.counting.refusals import refuse_tiny, too_many_trials
from polars_scorio.counting.tally import trial_succeeded
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.comparison import Comparison, from_ranges, sampled
from polars_scorio.maths.cost_means import CostMeans, QuestionCosts, dear_critical
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.costs import cost_metrics
from polars_scorio.metrics.metric import Metric
from polars_scorio.subjects.question_cells import (
    Asked,
    Confidence,
    Metrics,
    QuestionCells,
    ViewSubject,
)
from polars_scorio.subjects.sampled_scores import refuse_large_covariance
from polars_scorio.subjects.scores import (
    CORRELATION,
    Law,
    Noise,
    Row,
    RowScores,
    Scores,
    StrataModels,
    shared_questions,
)

COST = ":cost"
# Whether the interval has no upper end, the share of the questions without a success, and the share
# of the dearest trial in the cost of all trials.
UNBOUNDED, UNSOLVED, LARGEST_SHARE = "unbounded", "unsolved", "largest_cost_share"
COST_FACTS: dict[str, pl.DataType] = {
    UNBOUNDED: pl.Boolean(),
    UNSOLVED: pl.Float64(),
    LARGEST_SHARE: pl.Float64(),
}
# The cost of all trials of a question, and of its successes; the squares of both; its dearest
# trial.
TOTAL_COST, SUCCESS_COST = ":total_cost", ":success_cost"
COST_SQUARES, SUCCESS_SQUARES = ":cost_squares", ":success_squares"
LARGEST_COST = ":largest_cost"
# The rules on costs look at these: trials whose cost is null or NaN, and the least cost.
COSTLESS, LEAST_COST = ":costless", ":least_cost"
# Costs are smaller, so that sums of 2^20 squares have 128 bits.
COST_LIMIT = 2.0**27
# The largest cost of a log is at least as large, or all costs are 0.
LEAST_COST_SIZE = 2.0**-34
_UNIT, _SQUARE_UNIT, _FINE_UNIT = 2.0**-74, 2.0**-52, 2.0**-94
# Integers of the costs of single trials, and of their squares.
_EXACT, _EXACT_SQUARE, _FINE_SQUARE = ":exact_cost", ":exact_square", ":fine_square"
_SUCCESS = ":success"
_PAID, _DEAREST = ":paid", ":dearest"


@dataclass(frozen=True, slots=True)
class CostSums(ViewSubject):
    """Sums of the costs of the trials of a question."""

    of_successes: bool  # the cost of successes too
    success_squares: bool  # and their squares, for tries until the first success

    view = looks_at = "costs"
    binary = True
    visible = COST_FACTS

    def estimates(self, metric: Metric, k: int | None, cells: QuestionCells) -> Floats | None:
        """The addend of each question to the log of the ratio of costs, around that log."""
        (cost_metric,) = cost_metrics([metric])  # no other has the view
        costs = question_costs(cells, clustered=True)
        values, group = cost_metric.cost_values(costs, k), costs.group
        means = CostMeans.from_values(values, costs, "benchmark")
        return np.asarray(means.log_ratio[group] + means.residuals(values, group))

    @classmethod
    def takes(cls, metric: Metric, trials: Trials) -> bool:
        """All metrics of costs."""
        if trials.cost is None:
            raise ValueError(
                f'{metric.name} needs a cost column: df.scorio(cost="usd"). The log must have a '
                "row for each trial, as counts do not say what the trials cost"
            )
        if trials.judged:
            raise ValueError(
                f"{metric.name}: a judge's errors are corrected in rates only: omit truth= and "
                "judge= out"
            )
        return True

    @classmethod
    def from_asked(cls, asked: Asked) -> CostSums:
        """The sums that the metrics need."""
        costs = cost_metrics(asked.metrics)
        of_successes = any(metric.of_successes for metric in costs)
        drawn = any(k is not None for metric in costs for k in metric.k)
        return cls(of_successes, success_squares=drawn)

    def numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> dict[Row, Scores]:
        """The numbers of metrics of costs, for each draw size and cell."""
        costs = question_costs(cells, clustered=target == "population")
        costs = costs.at(_order_of_contents(costs))
        unsolved, largest = _unsolved_share(costs), _largest_share(costs)
        scores = dict[Row, Scores]()
        for metric in cost_metrics(metrics):
            for k in metric.row_sizes:
                means = CostMeans.from_values(metric.cost_values(costs, k), costs, target)
                lo, hi = means.ends((1 - confidence) / 2)
                ratio = _null_infinity(means.ratio)
                facts = {UNBOUNDED: np.isinf(hi), UNSOLVED: unsolved, LARGEST_SHARE: largest}
                if metric.of_successes:
                    facts[CORRELATION] = means.correlation
                noise, law = Noise(ratio * means.log_error), CostLaw(means, target)
                numbers = ratio, ratio, noise, lo, _null_infinity(hi)
                scores[metric.name, k] = Scores("calibrated", *numbers, law, facts)
        return scores

    def macro_numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> dict[Row, Scores]:
        """The numbers of all questions, by the weights of their strata."""
        return self.numbers(metrics, cells, confidence, target)

    def warn(self, numbers: RowScores, keys: pl.DataFrame, trials: Trials, n: Ints) -> None:
        """Warn once of models of which one of ten or more trials has over a fifth of the cost."""
        shares = [
            each.facts[LARGEST_SHARE] for each in numbers.values() if LARGEST_SHARE in each.facts
        ]
        largest = np.where(n >= _DOMINANT_FROM, np.max(shares, axis=0), 0.0) if shares else 0.0 * n
        groups = keys.select(*trials.groups).with_columns(pl.Series(LARGEST_SHARE, largest))
        large = groups.drop_nulls().filter(pl.col(LARGEST_SHARE) > _LARGE_SHARE)
        if large.is_empty():
            return
        first = large.sort(*trials.keys, LARGEST_SHARE).row(0, named=True)
        place = row_place(first, trials.keys)
        number = f"{large.height:,} {'group' if large.height == 1 else 'groups'}"
        warnings.warn(
            f"one trial makes up more than {_LARGE_SHARE:.0%} of the cost in {number}"
            f"{', the first' * bool(place)}{place}: {first[LARGEST_SHARE]:.0%}. The mean cost "
            "depends on such trials, and others may cost even more, so the upper end is far away: "
            "more questions bring it nearer. Is the cost of that trial right?",
            CostWarning,
            stacklevel=2,
        )

    @property
    def _exact_columns(self) -> dict[str, dict[str, float]]:
        """Each sum, with the integers that it adds up and their units."""
        total, squares = {_EXACT: _UNIT}, {_EXACT_SQUARE: _SQUARE_UNIT, _FINE_SQUARE: _FINE_UNIT}
        columns = {TOTAL_COST: total, COST_SQUARES: squares}
        for name, parts, needed in (
            (SUCCESS_COST, total, self.of_successes),
            (SUCCESS_SQUARES, squares, self.success_squares),
        ):
            if needed:
                columns[name] = {f"{_SUCCESS}{part}": unit for part, unit in parts.items()}
        return columns

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """The sums as floats, and the dearest trial; costs of left out trials do not count."""
        part, drops = trials.cost, trials.roles.missing == "drop"
        if part is None:
            return Tally()
        cost = part.expr.cast(pl.Float64)
        lost = pl.col(COST).is_null() | pl.col(COST).is_nan()
        present = trials.outcome.is_not_null()
        costless = lost & pl.col(CATEGORY).is_not_null() if drops else lost
        sums = self._exact_columns
        return Tally(
            read={COST: pl.when(present).then(cost) if drops else cost},
            of_trial=_exact_costs(
                {name for parts in sums.values() for name in parts},
                trial_succeeded(trials, classes),
            ),
            numbers=(
                summed_number(COSTLESS, costless.sum()),
                least_number(LEAST_COST, pl.col(COST).min()),
                largest_number(LARGEST_COST, pl.col(COST).max()),
                *(
                    summed_number(f"{name}{part}", pl.col(part).sum())
                    for name, parts in sums.items()
                    for part in parts
                ),
            ),
            derived={
                name: pl.sum_horizontal(
                    pl.col(f"{name}{part}").cast(pl.Float64) * unit for part, unit in parts.items()
                )
                for name, parts in sums.items()
            },
            kept=(LARGEST_COST, *sums),
            rules=_cost_rules(part, graded=classes.any_value),
            of_group={_PAID: (pl.col(TOTAL_COST) > 0).any(), _DEAREST: pl.col(LARGEST_COST).max()},
            checks=(_refuse_tiny_costs, _refuse_free),
        )


def _exact_costs(wanted: set[str], success: pl.Expr) -> dict[str, pl.Expr]:
    """The integers of the cost of each trial, and those of a success."""
    square = pl.col(COST) * pl.col(COST) * (1 / _SQUARE_UNIT)
    rest = (square - square.floor()) * (_SQUARE_UNIT / _FINE_UNIT)
    exact = {
        _EXACT: _whole_number(pl.col(COST) * (1 / _UNIT)),
        _EXACT_SQUARE: _whole_number(square),
        _FINE_SQUARE: rest.cast(pl.Int64, wrap_numerical=True),
    }
    of_success = {f"{_SUCCESS}{name}": pl.when(success).then(each) for name, each in exact.items()}
    return exact | {name: each for name, each in of_success.items() if name in wanted}


def _cost_rules(part: Role, *, graded: bool) -> tuple[Rule, ...]:
    """The rules on costs; `graded` rewards have one on the number of trials already."""
    name, limit = part.name, int(COST_LIMIT)
    negative = Rule(
        pl.col(LEAST_COST) < 0,
        (": ", Quoted(LEAST_COST)),
        f"a negative cost in {name!r}",
        "A cost is at least 0. Is it a difference, or a balance?",
    )
    large = Rule(
        pl.col(LARGEST_COST) >= COST_LIMIT,
        (": ", Quoted(LARGEST_COST)),
        f"a cost in {name!r} that is infinite, or not below {limit:,}",
        "Mend it, or count in a larger unit.",
    )
    unknown = Rule(
        pl.col(COSTLESS) > 0,
        (": ", Quoted(COSTLESS, "trial")),
        f"a missing cost (null or NaN in {name!r})",
        "missing= is about categories and does not help: fill in what the trials cost, or filter "
        "all trials of such questions out.",
    )
    return negative, large, unknown, *(() if graded else (too_many_trials("costs"),))


def _refuse_tiny_costs(groups: pl.DataFrame, trials: Trials) -> None:
    """Refuse costs so small that their sums lose digits."""
    assert trials.cost is not None
    refuse_tiny(groups[_DEAREST].max(), LEAST_COST_SIZE, "cost", "cost", trials.cost.name)


def _refuse_free(groups: pl.DataFrame, trials: Trials) -> None:
    """Refuse groups whose trials all cost nothing, which have no ratio of costs."""
    free = groups.filter(~pl.col(_PAID))
    if free.height and trials.cost is not None:
        first = free.sort(*trials.groups).row(0, named=True)
        number = free.height
        raise ValueError(
            f"{number:,} model{'s have' if number > 1 else ' has'} only costs of 0 in "
            f"{trials.cost.name!r}, the first{row_place(first, trials.keys)}: a ratio to 0 "
            "does not exist. Fill in what its trials cost, or filter it out."
        )


def _whole_number(number: pl.Expr) -> pl.Expr:
    """The largest integer up to a number, in 128 bits; any integer for what is refused."""
    # Checks of floats are slow, and so is rounding.
    return number.cast(pl.Int128, wrap_numerical=True)


def question_costs(cells: QuestionCells, *, clustered: bool) -> QuestionCosts:
    """The costs of each question, in its cell, stratum and (if `clustered`) cluster."""
    names = (TOTAL_COST, COST_SQUARES, LARGEST_COST, SUCCESS_COST, SUCCESS_SQUARES)
    sums = [cells.column(name) for name in names if name in cells.flat.columns]
    group = cells.cell_of_row
    stratum, weight = cells.row_strata() or (np.zeros_like(group), np.ones(group.size))
    cluster = cells.row_clusters() if clustered else None
    trials, successes = cells.scored_trials(), cells.question_successes()
    groups = cells.states.groups
    return QuestionCosts(group, groups, stratum, weight, cluster, trials, successes, *sums)


@dataclass(frozen=True, slots=True, eq=False)
class CostLaw(Law):
    """Ratios of costs, which are compared by their negative logs: less is better."""

    means: CostMeans
    target: Target

    ranges: ClassVar[bool] = False  # without any success an estimate is infinite

    def compared(self, models: StrataModels) -> Comparison:
        """The models of some strata."""
        # About these questions each model has the noise of its own trials, and the longer end
        # of `CostMeans.ends` where it may be dearer. If some question has too few of these, the
        # questions are taken as a sample.
        means, places = self.means, models.groups
        if self.target == "population" or np.isfinite(means.freedom[places]).any():
            refuse_large_covariance(places.shape[1])
            shared = shared_questions(models)
            models_of = paired_means(
                -shared.values, shared.first, 0.0, shared.cluster, shared.weight
            )
            return sampled(models_of)
        score, sigma = -means.log_ratio[places], means.log_error[places]
        dear = dear_critical(means.events, means.freedom, float(scipy.special.ndtr(-models.z)))
        lo, hi = score - dear[places] * sigma, score + models.z * sigma
        return from_ranges((score, sigma, lo, hi), models.z)


def _order_of_contents(costs: QuestionCosts) -> Ints:
    """An order of the questions by what they hold, so that sums do not depend on rows."""
    # Sorting a hash of each question takes a quarter of the time of sorting by its numbers.
    names = [each.name for each in fields(costs)]
    kept = [*names[names.index("n") :], "group", "stratum"]
    contents = {name: getattr(costs, name) for name in kept}
    rows = pl.DataFrame({name: each for name, each in contents.items() if each is not None})
    return np.asarray(rows.hash_rows().arg_sort().to_numpy(), dtype=np.int64)


def _null_infinity(values: Floats) -> Floats:
    """The values, NaN for infinity: a column then has null."""
    return np.where(np.isinf(values), np.nan, values)


def _unsolved_share(costs: QuestionCosts) -> Floats:
    """Share of the questions of each group without a success."""
    unsolved = costs.shares() * (costs.c == 0)
    return np.minimum(np.bincount(costs.group, unsolved, costs.groups), 1.0)


def _largest_share(costs: QuestionCosts) -> Floats:
    """Share of the dearest trial of each group in the cost of all its trials."""
    largest = np.zeros(costs.groups)
    np.maximum.at(largest, costs.group, costs.largest)
    total = np.bincount(costs.group, costs.total, costs.groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(largest / total)


_LARGE_SHARE = 0.2  # of the cost of a model
_DOMINANT_FROM = 10  # among fewer trials some trial has much in any case


class CostWarning(UserWarning):
    """A single trial makes up more than a fifth of what a model cost.

    The mean cost then depends on a few expensive trials, and its interval has a distant upper end.
    """
