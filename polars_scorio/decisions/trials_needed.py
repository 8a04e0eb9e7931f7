"""How many more trials do two models, or the goal of one, need?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    Compared,
    InferenceKind,
    Overall,
    check_anytime,
    check_count,
    check_flag,
    check_number,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.counting.trials import bind_roles, refuse_repeats
from polars_scorio.decisions.decided_pairs import DecidedPairs, decided_today
from polars_scorio.decisions.expected_scores import (
    ExpectedMeans,
    ExpectedScores,
    planned_metric,
    planning_inference,
)
from polars_scorio.decisions.model_scores import check_goal, value_range
from polars_scorio.decisions.plan_cost import with_plan_cost
from polars_scorio.decisions.strata import aligned_options, named_model
from polars_scorio.decisions.strata_arrays import STRATUM, in_all_strata
from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.simultaneous.assurance import (
    trials_for_half_width,
    trials_with_assurance,
)
from polars_scorio.kernels.simultaneous.signal_share import signal_share
from polars_scorio.kernels.simultaneous.tukey import tukey_critical
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.reward_metric import RewardMetric
from polars_scorio.metrics.weighted import TrialMean, WeightedMetric
from polars_scorio.reporting.evaluate import stratum_numbers
from polars_scorio.reporting.judge_requests import refuse_judge
from polars_scorio.reporting.options import Frame
from polars_scorio.reporting.overall import check_overall, with_pool
from polars_scorio.reporting.request import Request

_NEEDED: dict[str, pl.DataType] = {
    "trials_min": pl.UInt64(),
    "trials_max": pl.UInt64(),
    "extra": pl.UInt64(),
    "total": pl.UInt64(),
    "sigma": pl.Float64(),
}


def trials_needed(
    frame: pl.LazyFrame,
    roles: Roles,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    confidence: float = 0.95,
    assurance: float = 0.8,
    max_trials: int = 1_000_000,
    simultaneous: bool = False,
    questions: Compared = "same",
    overall: Overall | None = None,
    prior: Frame | None = None,
    inference: InferenceKind | None = None,
    anytime: int | None = None,
) -> pl.LazyFrame:
    """The plan of the trials needed; see `Scorio.trials_needed`."""
    anytime = None if anytime is None else check_anytime(anytime)
    assurance = check_number("assurance", assurance, CHANCE)
    max_trials = check_count("max_trials", max_trials)
    simultaneous = check_flag("simultaneous", simultaneous)
    if simultaneous and half_width is not None:
        raise ValueError(
            "simultaneous=True is about pairs of models, half_width= about each by itself: leave "
            "one of them out"
        )
    trials = bind_roles(frame, roles)
    refuse_judge(trials, "trials_needed")
    metric = planned_metric(metric, trials, "trials_needed")
    if half_width is not None:
        half_width = check_goal("half_width", half_width, value_range(metric, trials) / 2)
    # Prior trials have no say in an average.
    prior = prior if metric.uses_prior else None
    request = Request.of(
        trials,
        [metric],
        prior=prior,
        confidence=confidence,
        inference=planning_inference(inference, prior),
        rewards="always" if inference in {None, "calibrated"} and prior is None else "allowed",
    )
    if half_width is None:
        model = named_model(trials, "trials_needed without half_width=")
        schema = {"model_a": model, "model_b": model, **_NEEDED}
        alignment = aligned_options({"questions": questions})["questions"]
        groups = request.groups(per_question=True, questions=alignment)
    else:
        schema = {**trials.models, **_NEEDED}
        groups = request.groups()
    refuse_repeats([*trials.strata, *schema])
    if overall is not None:
        check_overall(overall, trials, per_question=False)
        groups = with_pool(groups, trials)
    goal = half_width, float(confidence), assurance, max_trials, simultaneous
    calibrated = isinstance(metric, TrialMean) and inference in {None, "calibrated"}
    today = DecidedPairs.of(trials, metric, confidence, anytime) if calibrated else None
    need = _Need(request, metric, *goal, overall == "macro", anytime, today)
    rows = in_all_strata(groups, trials, need, schema, overall=overall is not None)
    return with_plan_cost(rows, trials, [*schema][: -len(_NEEDED)])


@dataclass(frozen=True, slots=True, eq=False)
class _Need:
    """The function from the questions of all groups to the trials that they need."""

    request: Request
    metric: WeightedMetric
    half_width: float | None
    confidence: float
    assurance: float
    most: int
    simultaneous: bool  # whether the verdicts of a stratum are to hold at once
    means: bool  # whether the last stratum is the mean over the others, not their pool
    anytime: int | None  # planned trials of each question, if looks are repeated
    today: DecidedPairs | None  # None: posteriors decide

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each model, or for each pair of neighbours in the ranking."""
        expected = self._expected_scores(groups)
        if self.half_width is not None:
            width = np.full(groups.height, self.half_width / self.metric.unit)
            sides = [np.arange(groups.height)]
            critical = self._critical_after(expected, sides, np.ones(groups.height, np.int64))
            sigma = self._sigma_after(expected, sides)
            extra = trials_for_half_width(width, sigma, critical, self.most)
            return groups.drop(QUESTIONS).hstack(self._needed_rows(expected, sides, extra))
        stratum = groups[STRATUM].to_numpy()
        a, b = _ranked_neighbours(stratum, expected.mu)
        extra = self._extra_trials(groups, expected, a, b)
        need = self._needed_rows(expected, [a, b], extra)
        (model,) = self.request.trials.models
        pairs = {"model_a": groups[model].gather(a), "model_b": groups[model].gather(b)}
        return pl.DataFrame({STRATUM: groups[STRATUM].gather(a), **pairs}).hstack(need)

    def _expected_scores(self, groups: pl.DataFrame) -> ExpectedScores | ExpectedMeans:
        """Expected scores of the groups, in their order."""
        means = self.means and groups.height > 0
        strata = _without_means(groups) if means else groups
        numbers = stratum_numbers(strata, [*self.request.trials.strata])
        cells = self.request.cells(strata[QUESTIONS], strata=numbers)
        ((metric, view),) = cells.without_rewards(self.request.metrics)
        if view == "rewards" and isinstance(metric, RewardMetric):
            questions, ranges = cells.reward_estimates(metric, None), cells.reward_range(metric)
            expected = ExpectedScores.of_rewards(questions.ordered(), *ranges)
        else:
            expected = ExpectedScores.of(self.request.posterior(cells), self.metric)
        if not means:
            return expected
        models = groups.height - strata.height
        return ExpectedMeans(expected, np.arange(strata.height) % models)

    def _extra_trials(
        self, groups: pl.DataFrame, expected: ExpectedScores | ExpectedMeans, a: Ints, b: Ints
    ) -> Ints:
        """Further trials of each question of each pair."""
        stratum = groups[STRATUM].to_numpy()
        share = _stratum_shares(stratum, expected.mu, expected.sigma)[stratum[a]]
        lead = expected.mu[a] - expected.mu[b]
        sigma = self._sigma_after(expected, [a, b])
        models = np.bincount(stratum)[stratum[a]] if self.simultaneous else np.full_like(a, 2)
        critical = self._critical_after(expected, [a, b], models)
        extra = trials_with_assurance(lead, sigma, critical, share, self.assurance, self.most)
        z = critical(np.zeros_like(a))
        # A mean over strata has no questions of its own.
        strata = _without_means(groups) if self.means else groups
        scores = expected.mu, expected.sigma
        decided = decided_today(self.today, self.request, scores, strata, np.stack([a, b]), z)
        # A normal interval may exclude zero although that of today does not.
        return np.where(decided, 0, np.maximum(extra, 1))

    @staticmethod
    def _sigma_after(
        expected: ExpectedScores | ExpectedMeans, sides: list[Ints]
    ) -> Callable[[Ints], Floats]:
        """Sigma of each pair after further trials, of both sides the same."""

        def sigma(m: Ints) -> Floats:
            squares = []
            for side in sides:
                further = np.zeros(expected.mu.shape, np.int64)
                further[side] = m
                squares.append(expected.after(further)[side])
            return np.asarray(np.sqrt(np.sum(squares, axis=0)))

        return sigma

    def _critical_after(
        self, expected: ExpectedScores | ExpectedMeans, sides: list[Ints], models: Ints
    ) -> Callable[[Ints], Floats]:
        """Critical value of each pair after further trials, if verdicts on so many models hold."""
        z = tukey_critical(models, self.confidence)

        def critical(m: Ints) -> Floats:
            if self.anytime is None:
                return z
            now = expected.typical_trials()
            fewer = np.min([now[side] for side in sides], axis=0)
            return anytime_critical(z, (fewer + m) / self.anytime)

        return critical

    def _needed_rows(
        self, expected: ExpectedScores | ExpectedMeans, sides: list[Ints], extra: Ints
    ) -> pl.DataFrame:
        """Trials that some groups, or pairs of groups, have and need."""
        fewest, most = expected.ends()
        enough = pl.Series(extra <= self.most)
        need = pl.DataFrame(
            {
                "trials_min": np.min([fewest[side] for side in sides], axis=0),
                "trials_max": np.max([most[side] for side in sides], axis=0),
                "extra": extra,
                "total": extra * np.sum([expected.sizes()[side] for side in sides], axis=0),
                "sigma": self._sigma_after(expected, sides)(extra) * self.metric.unit,
            },
            schema_overrides=_NEEDED,
        )
        return need.with_columns(
            pl.when(enough).then(name).alias(name) for name in ("extra", "total", "sigma")
        )


def _without_means(groups: pl.DataFrame) -> pl.DataFrame:
    """The groups but those of the last stratum, which are means over the others."""
    return groups.filter(pl.col(STRATUM) < pl.col(STRATUM).max())


def _ranked_neighbours(stratum: Ints, mu: Floats) -> tuple[Ints, Ints]:
    """Both groups of each pair of neighbours in the ranking, the best of a stratum first.

    Examples
    --------
    >>> a, b = _ranked_neighbours(np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.9, 0.8]))
    >>> a.tolist(), b.tolist()
    ([1, 2], [0, 3])
    """
    order = np.lexsort((-mu, stratum))
    same = stratum[order[1:]] == stratum[order[:-1]]
    return order[:-1][same], order[1:][same]


def _stratum_shares(stratum: Ints, mu: Floats, sigma: Floats) -> Floats:
    """The `signal_share` of the models of each stratum, from those of all groups.

    Examples
    --------
    >>> mu, sigma = np.array([0.0, 2.0, 0.5]), np.array([1.0, 1.0, 0.1])
    >>> _stratum_shares(np.array([0, 0, 1]), mu, sigma)  # Q = 2, and a single model
    array([0.75, 1.  ])
    """
    sizes = np.bincount(stratum)
    table = np.full((2, sizes.size, sizes.max(initial=0)), np.nan)
    column = np.arange(stratum.size) - (np.cumsum(sizes) - sizes)[stratum]
    table[:, stratum, column] = mu, sigma
    return signal_share(*table)
