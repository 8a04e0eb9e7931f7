"""How many more trials settle it, and where to spend them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from polars_scorio.arguments import (
    POSITIVE,
    Compared,
    InferenceKind,
    Per,
    check_choice,
    check_count,
    check_number,
)
from polars_scorio.counting.counts import STATES
from polars_scorio.counting.roles import Category, Roles, Trials, bind, refuse_repeats
from polars_scorio.decisions.compare import standardized
from polars_scorio.decisions.strata import aligned, check_models, named_model, per_stratum
from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.expected_variance import Outlook, allocation, expected_variance
from polars_scorio.kernels.posteriors import Questions
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.evaluate import Cells
from polars_scorio.reporting.options import Frame
from polars_scorio.reporting.request import Request, on_levels

_NEEDED: dict[str, pl.DataType] = {
    "trials_min": pl.UInt64(),
    "trials_max": pl.UInt64(),
    "extra": pl.UInt64(),
    "total": pl.UInt64(),
    "sigma": pl.Float64(),
}
_SPENT: dict[str, pl.DataType] = {"trials": pl.UInt64(), "extra": pl.UInt64()}
_SIGMAS = ("sigma", "sigma_equal", "sigma_next")


def trials_needed(
    frame: pl.LazyFrame,
    roles: Roles,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    confidence: float = 0.95,
    max_trials: int = 1_000_000,
    questions: Compared = "same",
    prior: Frame | None = None,
    inference: InferenceKind | None = None,
) -> pl.LazyFrame:
    """The plan of the trials needed; see `Scorio.trials_needed`."""
    if half_width is not None:
        half_width = check_number("half_width", half_width, POSITIVE)
    max_trials = check_count("max_trials", max_trials)
    trials = bind(frame, roles)
    metric = _plannable(metric, trials, "trials_needed")
    # Prior trials have no say in an average.
    prior = prior if metric.uses_prior else None
    request = Request.of(
        trials, [metric], prior=prior, confidence=confidence, inference=_planning(inference)
    )
    if half_width is None:
        model = named_model(trials, "trials_needed without half_width=")
        schema = {"model_a": model, "model_b": model, **_NEEDED}
        states = request.states(questions=aligned({"questions": questions})["questions"])
    else:
        schema = {**trials.models, **_NEEDED}
        states = request.states()
    refuse_repeats([*trials.strata, *schema])
    need = _Need(request, metric, half_width, float(confidence), max_trials)
    return per_stratum(states, trials, need, schema)


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
    trials = bind(frame, roles)
    metric = _plannable(metric, trials, "next_trials")
    keys = trials.strata | trials.models
    if per == "question":
        numbers = {trials.question.name: trials.question.dtype, **_SPENT}
        refuse_repeats([*trials.keys, trials.question.name, *_SPENT])
    else:
        numbers = {"questions": pl.UInt32(), **_SPENT, **dict.fromkeys(_SIGMAS, pl.Float64())}
        refuse_repeats([*trials.keys, *numbers])
    schema = keys | numbers
    wanted = _wanted(models, trials)
    if wanted is not None and trials.model is not None:
        trials = replace(trials, frame=frame.filter(trials.model.expr.is_in(wanted)))
    prior = prior if metric.uses_prior else None
    request = Request.of(trials, [metric], prior=prior, inference=_planning(inference))
    spend = _Spending(request, metric, budget, wanted, schema, per)
    # A filter must not go below: what is spent on one model is not spent on another.
    return request.states(per_question=True).map_batches(
        spend,
        schema=schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )


def _planning(inference: InferenceKind | None) -> InferenceKind | None:
    """Plans need the posterior of each question: calibrated numbers are about means."""
    return "pooled" if inference == "calibrated" else inference


def _plannable(metric: Metric | None, trials: Trials, method: str) -> Metric:
    """The metric, if the variance that more trials leave of it has a closed form."""
    metric = bayes() if metric is None else metric
    if not (isinstance(metric, Metric) and metric.closed_form):
        raise TypeError(
            f"{method} knows what more trials leave of the variance of ps.bayes() and ps.avg() "
            f"only, got {metric!r}. Plan with ps.bayes(): where it is settled, the others mostly "
            "are."
        )
    return on_levels(metric, trials)


def _wanted(models: Category | Iterable[Category] | None, trials: Trials) -> list[Category] | None:
    """The models to spend on; None: all."""
    if models is None:
        return None
    wanted = check_models(models, trials, "models")
    if not wanted:
        raise ValueError("models must name at least one model, got none")
    return wanted


class _Prospect(NamedTuple):
    """One group: mu and sigma now, and what further trials leave; in units of the weights."""

    mu: float
    sigma: float
    outlook: Outlook
    questions: Ints
    trials: Ints  # of each question of a state

    def after(self, m: int) -> float:
        """Expected squared sigma after m further trials of each question."""
        return expected_variance(self.outlook, m, self.questions, self.sigma)


def _prospects(posterior: Questions, metric: Metric) -> list[_Prospect]:
    """What each group of a posterior has in prospect."""
    _, mu, sigma, _ = metric.summary(posterior, None)
    states, outlook = posterior.states, metric.outlook(posterior)
    trials = states.counts.sum(axis=1)[states.state]
    ends = np.searchsorted(states.group, np.arange(states.groups + 1)).tolist()
    return [
        _Prospect(
            float(mu[group] / metric.unit),
            float(sigma[group] / metric.unit),
            outlook.of(slice(first, last)),
            states.questions[first:last],
            trials[first:last],
        )
        for group, (first, last) in enumerate(pairwise(ends))
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Need:
    """The function from the states of a stratum's models to the trials that they need."""

    request: Request
    metric: Metric
    half_width: float | None
    confidence: float
    most: int

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each model, or for each pair of neighbours in the ranking."""
        cells = self.request.cells(groups[STATES])
        prospects = _prospects(self.request.posterior(cells), self.metric)
        if self.half_width is not None:
            width = self.half_width / self.metric.unit / float(ndtri((1 + self.confidence) / 2))
            rows = [self._row([one], lambda sigma: sigma <= width) for one in prospects]
            return groups.drop(STATES).hstack(_frame(rows))
        order = sorted(range(len(prospects)), key=lambda i: (-prospects[i].mu, i))
        (model,) = self.request.trials.models
        models = groups[model]
        a, b = order[:-1], order[1:]
        rows = [self._pair(prospects[i], prospects[j]) for i, j in zip(a, b, strict=True)]
        pairs = {"model_a": models.gather(a), "model_b": models.gather(b)}
        return pl.DataFrame(pairs).hstack(_frame(rows))

    def _pair(self, one: _Prospect, other: _Prospect) -> dict[str, float | None]:
        diff, z = np.array(one.mu - other.mu), float(ndtri(self.confidence))

        def settled(sigma: float) -> bool:
            return bool(diff and standardized(diff, np.array(sigma)) >= z)

        return self._row([one, other], settled)

    def _row(
        self, prospects: list[_Prospect], settled: Callable[[float], bool]
    ) -> dict[str, float | None]:
        def sigma(m: int) -> float:
            return float(np.sqrt(sum(prospect.after(m) for prospect in prospects)))

        extra = _smallest(lambda m: settled(sigma(m)), self.most)
        trials = np.concatenate([prospect.trials for prospect in prospects])
        questions = sum(int(prospect.questions.sum()) for prospect in prospects)
        return {
            "trials_min": int(trials.min()),
            "trials_max": int(trials.max()),
            "extra": extra,
            "total": None if extra is None else extra * questions,
            "sigma": None if extra is None else sigma(extra) * self.metric.unit,
        }


def _frame(rows: list[dict[str, float | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_NEEDED)


def _smallest(enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number up to `most` that is enough, as every larger one is; None: there is none.

    Examples
    --------
    >>> _smallest(lambda m: m >= 5, 9), _smallest(lambda m: m >= 10, 9)
    (5, None)
    """
    if enough(0):
        return 0
    if not enough(most):
        return None
    short, long = 0, most
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (short, middle) if enough(middle) else (middle, long)
    return long


@dataclass(frozen=True, slots=True, eq=False)
class _Spending:
    """The function from the questions of all groups to the trials that are spent on them."""

    request: Request
    metric: Metric
    budget: int
    wanted: list[Category] | None
    schema: dict[str, pl.DataType]
    per: Per

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question, or for each group."""
        self._refuse_unknown(groups)
        if groups.is_empty():
            return pl.DataFrame(schema=self.schema)
        cells = self.request.cells(groups[STATES], per_question=True)
        trials, question = self.request.trials, self.request.trials.question.name
        named = groups.drop(STATES)[cells.group].with_columns(cells.flat[question])
        # In the order of the result: of two questions that gain the same, the first gets the trial.
        order = named.select(pl.arg_sort_by(*trials.groups, question)).to_series().to_numpy()
        outlook = self.metric.outlook(self.request.posterior(cells)).of(order)
        owner, size = cells.group[order], cells.fitted.size
        extra = allocation(outlook.weighted(1 / size[owner] ** 2), self.budget)
        spent = named[order].with_columns(trials=cells.states.trials[order], extra=extra)
        if self.per == "model":
            sigmas = self._sigmas(cells, owner, outlook, extra)
            total = spent.group_by(*trials.groups, maintain_order=True).agg(
                pl.len().alias("questions"), pl.col("trials", "extra").sum()
            )
            spent = total.with_columns(**sigmas)
        return spent.select(*self.schema).cast(self.schema)  # type: ignore[arg-type]  # a dict is a mapping

    def _sigmas(
        self, cells: Cells, owner: Ints, outlook: Outlook, extra: Ints
    ) -> dict[str, Floats]:
        """Sigma of each group now, expected after equal spread, and after `extra`."""
        posterior = self.request.inference.posterior(self.request.metrics[0][1], cells.fitted)
        now = self.metric.summary(posterior, None).sigma
        each, rest = divmod(self.budget, extra.size)
        equal = each + (np.arange(extra.size) < rest)
        one, ends = np.ones_like(extra), np.searchsorted(owner, np.arange(cells.fitted.groups + 1))

        def expected(m: Ints) -> Floats:
            variances = [
                expected_variance(outlook.of(rows), m[rows], one[rows], sigma)
                for rows, sigma in zip(
                    starmap(slice, pairwise(ends.tolist())), now / self.metric.unit, strict=True
                )
            ]
            return self.metric.unit * np.sqrt(variances)

        return dict(zip(_SIGMAS, (now, expected(equal), expected(extra)), strict=True))

    def _refuse_unknown(self, groups: pl.DataFrame) -> None:
        if self.wanted is None:
            return
        (model,) = self.request.trials.models
        unknown = [name for name in self.wanted if name not in groups[model].to_list()]
        if unknown:
            raise ValueError(
                f"models names {len(unknown)} of which the log has no trial, the first is "
                f"{unknown[0]!r}"
            )
