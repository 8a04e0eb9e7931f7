"""On which questions do further trials help most?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    InferenceKind,
    Per,
    check_choice,
    check_count,
    known_text,
)
from polars_scorio.counting.checks import once_whole
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.counting.trials import Trials, bind_roles, refuse_repeats
from polars_scorio.decisions.expected_scores import planned_metric, planning_inference
from polars_scorio.decisions.plan_cost import with_trial_cost
from polars_scorio.decisions.strata import check_models
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.expected_variance import (
    ExpectedVariance,
    best_allocation,
    expected_squared_sigma,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import WeightedMetric
from polars_scorio.reporting.judge_requests import refuse_judge
from polars_scorio.reporting.options import Frame
from polars_scorio.reporting.question_cells import QuestionCells
from polars_scorio.reporting.request import Request, view_of

_SPENT: dict[str, pl.DataType] = {"trials": pl.UInt64(), "extra": pl.UInt64()}
_SIGMAS = ("sigma", "sigma_equal", "sigma_next")
_SPENT_BY_REWARDS = (
    "next_trials: who spends where rewards vary most lets the number of trials depend on the "
    "rewards, and no numbers of real-valued rewards allow for that. Ask the same number of trials "
    "of all questions, see trials_needed(), or say with threshold= from where on a reward is a "
    "success"
)


def next_trials(
    frame: pl.LazyFrame,
    roles: Roles,
    budget: int,
    metric: Metric | None = None,
    *,
    models: Category | Iterable[Category] | None = None,
    per: Per = "question",
    prior: Frame | None = None,
    inference: InferenceKind | None = None,
) -> pl.LazyFrame:
    """The plan of an allocation; see `Scorio.next_trials`."""
    budget = check_count("budget", budget)
    check_choice("per", per, Per)
    trials = bind_roles(frame, roles)
    refuse_judge(trials, "next_trials")
    metric = planned_metric(metric, trials, "next_trials")
    if view_of(metric, trials) == "rewards" and trials.roles.bounds is not None:
        raise ValueError(_SPENT_BY_REWARDS)
    if per == "question":
        numbers = {trials.question.name: trials.question.dtype, **_SPENT}
        refuse_repeats([*trials.keys, trials.question.name, *_SPENT])
    else:
        numbers = {"questions": pl.UInt32(), **_SPENT, **dict.fromkeys(_SIGMAS, pl.Float64())}
        refuse_repeats([*trials.keys, *numbers])
    schema = trials.strata | trials.models | numbers
    wanted = _wanted_models(models, trials)
    if wanted is not None and trials.model is not None:
        trials = replace(trials, frame=frame.filter(trials.model.expr.is_in(wanted)))
    prior = prior if metric.uses_prior else None
    request = Request.of(
        trials,
        [metric],
        prior=prior,
        inference=planning_inference(inference, prior),
        rewards="never",
    )
    spend = _Spending(request, metric, budget, wanted, schema, per)
    # A filter must not go below: what is spent on one model is not spent on another.
    rows = once_whole(request.groups(per_question=True), spend, schema, filters=False)
    return with_trial_cost(rows, trials)


def _wanted_models(
    models: Category | Iterable[Category] | None, trials: Trials
) -> list[Category] | None:
    """The models to spend on; None: all."""
    if models is None:
        return None
    wanted = check_models(models, trials, "models")
    if not wanted:
        raise ValueError("models must name at least one model, got none")
    return wanted


@dataclass(frozen=True, slots=True, eq=False)
class _Spending:
    """The function from the questions of all groups to the trials that are spent on them."""

    request: Request
    metric: WeightedMetric
    budget: int
    wanted: list[Category] | None
    schema: dict[str, pl.DataType]
    per: Per

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question, or for each group."""
        self._refuse_unknown(groups)
        if groups.is_empty():
            return pl.DataFrame(schema=self.schema)
        cells = self.request.cells(groups[QUESTIONS], per_question=True)
        trials, question = self.request.trials, self.request.trials.question.name
        named = groups.drop(QUESTIONS)[cells.group].with_columns(cells.flat[question])
        # In the order of the result: of two questions that gain the same, the first gets the trial.
        order = named.select(pl.arg_sort_by(*trials.groups, question)).to_series().to_numpy()
        variance = self.metric.expected_variance(self.request.posterior(cells)).of(order)
        owner, size = cells.group[order], cells.fitted.size
        extra = best_allocation(variance.weighted(1 / size[owner] ** 2), self.budget)
        spent = named[order].with_columns(trials=cells.states.trials[order], extra=extra)
        if self.per == "model":
            sigmas = self._sigmas(cells, owner, variance, extra)
            total = spent.group_by(*trials.groups, maintain_order=True).agg(
                pl.len().alias("questions"), pl.col("trials", "extra").sum()
            )
            spent = total.with_columns(**sigmas)
        return spent.select(*self.schema).cast(self.schema)  # type: ignore[arg-type]  # a dict is a mapping

    def _sigmas(
        self, cells: QuestionCells, owner: Ints, variance: ExpectedVariance, extra: Ints
    ) -> dict[str, Floats]:
        """Sigma of each group now, expected after equal spread, and after `extra`."""
        posterior = self.request.posterior(QuestionCells.of_states(cells.fitted, cells.classes))
        now = self.metric.summary(posterior, None).sigma
        each, rest = divmod(self.budget, extra.size)
        equal = each + (np.arange(extra.size) < rest)
        one, unit = np.ones_like(extra), self.metric.unit

        def expected(m: Ints) -> Floats:
            return unit * np.sqrt(expected_squared_sigma(variance, m, one, owner, now / unit))

        return dict(zip(_SIGMAS, (now, expected(equal), expected(extra)), strict=True))

    def _refuse_unknown(self, groups: pl.DataFrame) -> None:
        if self.wanted is None:
            return
        (model,) = self.request.trials.models
        known = groups[model].unique().sort().to_list()
        unknown = [name for name in self.wanted if name not in known]
        if unknown:
            raise ValueError(
                f"models: {len(unknown)} of them without any trial in the log, the first is "
                f"{unknown[0]!r}; the log has {known_text(unknown[0], known)}"
            )
