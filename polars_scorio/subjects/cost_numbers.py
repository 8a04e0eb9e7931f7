"""Numbers of what trials cost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
import scipy

from polars_scorio.counting.log import Trials
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.cost_means import CostMeans, CostQuestions, QuestionCosts, dear_critical
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.subjects.cell_numbers import LARGEST_SHARE, UNBOUNDED, UNSOLVED
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.sampled_scores import SampledScores, shared_questions
from polars_scorio.subjects.score_differences import (
    CellNumbers,
    Row,
    RowNumbers,
    Scores,
    StrataNumbers,
    StretchedScores,
)


def cost_numbers(
    metrics: Sequence[CostMetric], cells: QuestionCells, confidence: float, target: Target
) -> dict[Row, CellNumbers]:
    """The numbers of metrics of costs, for each draw size and cell."""
    if not metrics:
        return {}
    costs, questions = cells.question_costs(clustered=target == "population")
    order = _order_of_contents(costs, questions)
    costs, questions = costs.at(order), questions.at(order)
    unsolved, largest = _unsolved_share(costs, questions), _largest_share(costs, questions)
    found = dict[Row, CellNumbers]()
    for metric in metrics:
        for k in metric.row_sizes:
            means = CostMeans.of(metric.cost_values(costs, k), questions, target)
            lo, hi = means.ends((1 - confidence) / 2)
            ratio = _null_infinity(means.ratio)
            found[metric.name, k] = CellNumbers(
                "calibrated",
                ratio,
                ratio,
                ratio * means.log_error,
                lo,
                _null_infinity(hi),
                CostLaw(means, target),
                {UNBOUNDED: np.isinf(hi), UNSOLVED: unsolved, LARGEST_SHARE: largest},
            )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CostLaw:
    """Ratios of costs, which are compared by their negative logs: less is better."""

    means: CostMeans
    target: Target

    ranges = False  # without any success an estimate is infinite

    def scores(self, models: StrataNumbers) -> Scores:
        """The models of some strata.

        About these very questions each model has the noise of its own trials, and the longer end of
        `CostMeans.ends` where it may be dearer. If some question has
        too few of these, the questions are taken as a sample.
        """
        means, places = self.means, models.places
        if self.target == "population" or np.isfinite(means.freedom[places]).any():
            shared = shared_questions(models)
            models_of = paired_means(
                -shared.values, shared.first, 0.0, shared.cluster, shared.weight
            )
            return SampledScores(models_of, 1.0, 1.0, (-np.inf, np.inf))
        score, sigma = -means.log_ratio[places], means.log_error[places]
        dear = dear_critical(means.events, means.freedom, float(scipy.special.ndtr(-models.z)))
        lo, hi = score - dear[places] * sigma, score + models.z * sigma
        return StretchedScores(score, sigma, np.inf, lo, hi, models.z)


def _order_of_contents(costs: QuestionCosts, questions: CostQuestions) -> Ints:
    """An order of the questions by what they hold, in which sums do not depend on that of the rows.

    Sorting a hash of each question takes a quarter of the time of sorting by its numbers.
    """
    contents = {each.name: getattr(costs, each.name) for each in fields(costs)}
    known = {name: values for name, values in contents.items() if values is not None}
    rows = pl.DataFrame({**known, "group": questions.group, "stratum": questions.stratum})
    return np.asarray(rows.hash_rows().arg_sort().to_numpy(), dtype=np.int64)


def _null_infinity(values: Floats) -> Floats:
    """The values, NaN for infinity: a column then has null."""
    return np.where(np.isinf(values), np.nan, values)


def _unsolved_share(costs: QuestionCosts, questions: CostQuestions) -> Floats:
    """Share of the questions of each group without a success."""
    unsolved = questions.shares() * (costs.c == 0)
    return np.minimum(np.bincount(questions.group, unsolved, questions.groups), 1.0)


def _largest_share(costs: QuestionCosts, questions: CostQuestions) -> Floats:
    """Share of the dearest trial of each group in the cost of all its trials."""
    largest = np.zeros(questions.groups)
    np.maximum.at(largest, questions.group, costs.largest)
    total = np.bincount(questions.group, costs.total, questions.groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(largest / total)


_MUCH = 0.2  # of the cost of a model
_FEW = 10  # among fewer trials some trial has much in any case


class CostWarning(UserWarning):
    """A single trial makes up more than a fifth of what a model cost.

    Its mean cost then hangs on a few dear trials, and there may be dearer ones: the upper end is
    far away. Intervals held in .97 of such simulated logs, in .92 to .99 by the tail and the trials
    (lognormal costs with sd 1.5 to 2.5, 10 to 60 questions, 1 or 4 trials). The message names the
    first such model.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.CostWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.CostWarning)
    """


def warn_of_large_costs(numbers: RowNumbers, keys: pl.DataFrame, trials: Trials, n: Ints) -> None:
    """Warn once of models of which one of ten or more trials has more than a fifth of the cost.

    `keys`, `n`: of the groups, and their trials. Groups over all strata, whose keys are null, are
    not looked at.
    """
    shares = [each.facts[LARGEST_SHARE] for each in numbers.values() if LARGEST_SHARE in each.facts]
    largest = np.where(n >= _FEW, np.max(shares, axis=0), 0.0) if shares else 0.0 * n
    groups = keys.select(*trials.groups).with_columns(pl.Series(LARGEST_SHARE, largest))
    large = groups.drop_nulls().filter(pl.col(LARGEST_SHARE) > _MUCH)
    if large.is_empty():
        return
    first = large.sort(*trials.keys, LARGEST_SHARE).row(0, named=True)
    place = ", ".join(f"{name}={first[name]!r}" for name in trials.keys)
    number = f"{large.height:,} {'group' if large.height == 1 else 'groups'}"
    warnings.warn(
        f"one trial makes up more than {_MUCH:.0%} of the cost in {number}"
        f"{', the first at ' * bool(place)}{place}: {first[LARGEST_SHARE]:.0%}. The mean cost "
        "hangs on such trials, and there may be dearer ones: the upper end is far away, and more "
        "questions bring it nearer. Look at that trial: is its cost right?",
        CostWarning,
        stacklevel=2,
    )
