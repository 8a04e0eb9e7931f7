"""How many more questions distinguish neighbours in the ranking, about their population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import CHANCE, NOT_NEGATIVE, check_count, check_flag, check_number
from polars_scorio.counting.log import Log, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.cost_models import refuse_costs
from polars_scorio.decisions.model_scores import (
    Models,
    PopulationRows,
    check_goal,
    metric_of,
    models_of,
    value_range,
)
from polars_scorio.decisions.models import (
    STRATUM,
    Block,
    SampledScores,
    in_all_strata,
    named_model,
    single_k,
    strata_blocks,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.covariance import of_pairs
from polars_scorio.maths.families import anytime_student_critical
from polars_scorio.maths.independent import confidence_of_each
from polars_scorio.maths.power import trials_for_half_width, trials_with_assurance
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.evaluate import tidy_rows
from polars_scorio.study.request import DecisionOptions, on_levels, refuse_judge

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NEEDED: dict[str, pl.DataType] = {
    "questions": pl.UInt64(),
    "extra": pl.UInt64(),
    "total": pl.UInt64(),
    "sigma": pl.Float64(),
}


def questions_needed(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    margin: float | None = None,
    assurance: float = 0.8,
    max_questions: int = 1_000_000,
    simultaneous: bool = False,
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of the questions needed; see `Scorio.questions_needed`."""
    if half_width is not None and margin is not None:
        raise ValueError("half_width and margin are two goals: ask for one at a time")
    assurance = check_number("assurance", assurance, CHANCE)
    max_questions = check_count("max_questions", max_questions)
    simultaneous = check_flag("simultaneous", simultaneous)
    if simultaneous and margin is not None:
        raise ValueError(
            "simultaneous=True is about all pairs of models, margin= about one gate: leave one of "
            "them out"
        )
    metric = metric_of(metric, "questions_needed")
    single_k(metric, "questions_needed")
    refuse_costs(metric, "questions_needed", "plan with ps.avg(), by which the scores differ")
    trials = bind_roles(log, roles)
    refuse_judge(trials, "questions_needed")
    metric = on_levels(metric, trials)
    if half_width is not None:
        half_width = check_goal("half_width", half_width, value_range(metric, trials))
    if margin is not None:
        margin = check_goal("margin", margin, value_range(metric, trials), NOT_NEGATIVE)
    model = named_model(trials, "questions_needed")
    schema = {"model_a": model, "model_b": model, **_NEEDED}
    refuse_repeats([*trials.strata, *schema])
    grouped, models = models_of(trials, metric, {**options, "target": "population"})
    need = _QuestionsNeed(models, half_width, margin, assurance, max_questions, simultaneous)
    return in_all_strata(grouped, trials, need, schema)


@dataclass(frozen=True, slots=True, eq=False)
class _QuestionsNeed:
    """The function from the questions of all models to those that their neighbours need."""

    models: Models
    half_width: float | None
    margin: float | None
    assurance: float
    most: int
    simultaneous: bool  # whether the intervals of a stratum are to hold at once

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each stratum and pair of neighbours in the ranking."""
        (model,) = self.models.trials.models
        names = groups[model]
        rows = self.models.of_k(tidy_rows(groups), self.models.metric.row_sizes[0])
        assert isinstance(rows, PopulationRows)  # the target is a population
        parts = [self._pair_rows(rows, block, names) for block in strata_blocks(groups[STRATUM])]
        sides = dict.fromkeys(("model_a", "model_b"), names.dtype)
        return pl.concat([pl.DataFrame(schema={STRATUM: pl.UInt32(), **sides, **_NEEDED}), *parts])

    def _pair_rows(self, rows: PopulationRows, block: Block, names: pl.Series) -> pl.DataFrame:
        """A row for each pair of neighbours in the strata of a block, the best pair first."""
        scores = rows.scores(block)
        order = np.argsort(-scores.ranked, axis=1, kind="stable")
        a, b = order[:, :-1], order[:, 1:]
        pairs = PairedDesign.of(scores, a, b)
        unit = np.broadcast_to(scores.unit, a.shape).ravel()
        share = np.repeat(scores.signal_share(), a.shape[1])
        confidence: Floats | float = self.models.confidence
        if self.simultaneous:
            sizes = np.full(pairs.diff.size, a.shape[1] + 1)
            confidence = confidence_of_each(sizes, self.models.confidence)
        extra = self._further_questions(pairs, share, unit, confidence)
        most = self.most
        known = pl.Series(extra <= most)
        need = pl.DataFrame(
            {
                STRATUM: pl.Series(np.repeat(block.strata, a.shape[1]), dtype=pl.UInt32),
                "model_a": names.gather(np.take_along_axis(block.rows, a, axis=1).ravel()),
                "model_b": names.gather(np.take_along_axis(block.rows, b, axis=1).ravel()),
                "questions": np.round(pairs.number).astype(np.int64),
                "extra": extra,
                "total": np.round(pairs.number + extra).astype(np.int64),
                "sigma": unit * pairs.sigma(extra),
            },
            schema_overrides=_NEEDED,
        )
        return need.with_columns(pl.when(known).then(name) for name in ("extra", "total", "sigma"))

    def _further_questions(
        self, pairs: PairedDesign, share: Floats, unit: Floats, confidence: Floats | float
    ) -> Ints:
        """Further questions of each pair; one more than the most if those do not suffice."""
        goal, most = self.assurance, self.most
        if self.half_width is not None:
            return pairs.questions_for_half_width(self.half_width / unit, confidence, most)
        if self.margin is None:
            return pairs.questions_with_assurance(share, confidence, goal, most)
        # The verdict of a gate on the worse model, with the better one as the baseline.
        worse, one_sided = replace(pairs, diff=-pairs.diff), 2 * confidence - 1
        return worse.questions_with_assurance(share, one_sided, goal, most, self.margin / unit)


@dataclass(frozen=True, slots=True, eq=False)
class PairedDesign:
    """Differences of pairs over sampled questions, for more of them; arrays of shape (P,).

    Attributes
    ----------
    diff : ndarray of float
        Difference today.
    variance : ndarray of float
        Variance of the difference between questions.
    events : ndarray of float
        Share of the questions that make that variance.
    number : ndarray of float
        Questions today, or clusters as far as they count.
    span : float
        Highest minus lowest possible score of a question.
    information : ndarray of float or None
        Questions today over planned ones, if looks are repeated.
    """

    diff: Floats
    variance: Floats
    events: Floats
    number: Floats
    span: float
    information: Floats | None = None

    @classmethod
    def of(cls, scores: SampledScores, a: Ints, b: Ints) -> PairedDesign:
        """Pairs of models of some strata, `a` and `b` of shape (S, P)."""
        row, models, span = np.arange(len(a))[:, None], scores.models, scores.span
        number = np.broadcast_to(models.freedom[:, None] + 1, a.shape)
        apart, spread = of_pairs(models.covariance)[row, a, b], number * (number + 1)
        # The variance of the pair has what was never seen; the covariance, a part for each model.
        seen = np.maximum(apart - span**2 / (2 * spread), 0.0)
        missed = (models.variance[row, a, b] - seen) * spread
        events = np.divide(
            number**2 * seen + 2 * span**2, missed, out=np.ones_like(missed), where=missed > 0
        )
        share = np.maximum(events - 1, 0.0) / number
        diff, known = scores.ranked[row, a] - scores.ranked[row, b], scores.information
        information = None if known is None else np.repeat(known, a.shape[1])
        return cls(
            diff.ravel(), (number * seen).ravel(), share.ravel(), number.ravel(), span, information
        )

    def sigma(self, m: Ints) -> Floats:
        """Expected standard error after m further questions."""
        total = self.number + m
        missed = total * self.variance + 2 * self.span**2
        missed = missed / ((self.events * total + 1) * total * (total + 1)) * np.sign(self.span)
        return np.asarray(np.sqrt(self.variance / total + missed))

    def questions_for_half_width(
        self, half_width: Floats, confidence: Floats | float, most: int
    ) -> Ints:
        """The fewest further questions after which the interval of a difference is narrow."""
        return trials_for_half_width(half_width, self.sigma, self._critical(confidence), most)

    def questions_with_assurance(
        self,
        share: Floats,
        confidence: Floats | float,
        goal: float,
        most: int,
        margin: Floats | float = 0.0,
    ) -> Ints:
        """The fewest further questions after which a pair is decided with a given chance.

        A pair is decided if its difference is not ``-margin``.
        """
        critical, none = self._critical(confidence), np.zeros(self.diff.size, dtype=np.int64)
        today = np.abs(self.diff + margin) > critical(none) * self.sigma(none)

        def sigma(m: Ints) -> Floats:
            return np.asarray(np.sqrt(self.variance / (self.number + m)))

        return trials_with_assurance(
            self.diff, sigma, critical, share, goal, most, margin, today=today
        )

    def _critical(self, confidence: Floats | float) -> Callable[[Ints], Floats]:
        """Student's quantile by the number of further questions."""
        return lambda m: self._student(m, confidence)

    def _student(self, m: Ints, confidence: Floats | float) -> Floats:
        """Student's quantile after m further questions."""
        freedom = np.where(self.number > 1, self.number + m - 1, np.nan)
        t = np.asarray(scipy.special.stdtrit(freedom, (1 + confidence) / 2), dtype=np.float64)
        if self.information is None:
            return t
        share = self.information * (self.number + m) / self.number
        return anytime_student_critical(t, share, freedom)
