"""Further trials, or questions, that decide."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import (
    CHANCE,
    NOT_NEGATIVE,
    Overall,
    Refusal,
    Unmatched,
    check_choice,
    check_count,
    check_flag,
    check_number,
)
from polars_scorio.counting.log import (
    STAND_IN,
    Log,
    Role,
    Trials,
    bind_roles,
    refuse_repeats,
    result_schema,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.decisions.models import (
    STRATUM,
    Block,
    ModelRows,
    Models,
    check_goal,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    value_range,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.comparison import Comparison
from polars_scorio.maths.families import tukey_critical
from polars_scorio.maths.power import Forecast, QuestionsAhead, best_allocation
from polars_scorio.maths.questions import States
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import TrialMean, avg, trial_mean
from polars_scorio.study.evaluate import Evaluated, evaluated_groups
from polars_scorio.study.report import run_step
from polars_scorio.study.request import (
    DecisionOptions,
    Request,
    on_levels,
    refuse_judge,
    view_of,
)
from polars_scorio.study.run_terms import RunWarning
from polars_scorio.subjects.scores import StrataModels

if TYPE_CHECKING:
    from typing_extensions import Unpack


def plan_prior(metric: TrialMean) -> Literal["population", "uniform"]:
    """The prior of a plan: success and failure have populations, more categories have none."""
    return "population" if metric.w is None or len(metric.w) == len(metric.support) else "uniform"


def planned_metric(metric: Metric | None, trials: Trials, method: str) -> TrialMean:
    """Return `metric`; raise if its variance after more trials has no closed form."""
    metric = avg() if metric is None else metric
    check_metric(metric, f"{method} takes a metric")
    average = trial_mean(metric)
    if average is None:
        raise TypeError(
            f"{method} takes ps.avg(), whose variance after more trials is known in closed form, "
            f"got {metric!r}. Where ps.avg() is decided, the others mostly are."
        )
    return on_levels(average, trials)


_ROUND, _COST = ":round", "cost"


def with_plan_cost(
    plan: pl.LazyFrame, trials: Trials, models: Sequence[str], *, common: bool
) -> pl.LazyFrame:
    """The rows of a plan, with the `cost` of their `extra_trials` if the log has costs."""
    # `common`: only questions that all models have are asked again.
    if trials.cost is None:
        return plan
    refuse_repeats([*plan.collect_schema().names(), _COST])
    strata, models_of = [*trials.strata], [*trials.models]
    rounds = _model_costs(trials, trials.cost, common=common)
    if strata:
        whole = rounds.group_by(models_of or [STAND_IN]).agg(pl.col(_ROUND).sum())
        rounds = pl.concat([rounds, whole], how="diagonal")
    joined, sides = plan, [f"{_ROUND}{place}" for place in range(max(len(models), 1))]
    for place, side in enumerate(sides):
        names = {models_of[0]: models[place]} if models else {}
        table = rounds.select(*strata, *models_of, pl.col(_ROUND).alias(side)).rename(names)
        joined = _joined_table(joined, table, [*strata, *names.values()])
    cost = pl.col("extra_trials") * pl.sum_horizontal(sides, ignore_nulls=False)
    return joined.with_columns(cost.alias(_COST)).drop(sides)


def _joined_table(plan: pl.LazyFrame, table: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """A plan with the columns of a table, in its own order; without keys the table is one row."""
    if not keys:
        return plan.join(table, how="cross", maintain_order="left")
    return plan.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")


_COST_UNIT = 2.0**-74  # of which costs are made multiples, so that their sums are exact


def _model_costs(trials: Trials, cost: Role, *, common: bool = False) -> pl.LazyFrame:
    """Cost of a trial of all questions; null if a trial has no cost."""
    question = trials.question.name
    named = [part.expr.alias(part.name) for part in (*trials.by, trials.model) if part]
    exact = (cost.expr.cast(pl.Float64) / _COST_UNIT).round().cast(pl.Int128, strict=False)
    rows = trials.frame.select(
        *(named or [STAND_IN]), trials.question.expr.alias(question), exact.alias(_ROUND)
    )
    keys = [*trials.groups]
    # Sums of integers, and then of floats in one order: the same on each run.
    known = pl.when(pl.col(_ROUND).null_count() == 0).then(pl.col(_ROUND).sum())
    mean = known.cast(pl.Float64) * _COST_UNIT / pl.len()
    each = rows.group_by(*keys, question).agg(mean)
    if common and trials.model is not None:
        strata, models = [*trials.strata], pl.col(trials.model.name).n_unique()
        models = models.over(strata) if strata else models
        each = each.filter(pl.len().over(*strata, question) == models)
    return each.sort(*keys, question).group_by(*keys, maintain_order=True).agg(known)


_NEEDED: dict[str, pl.DataType] = {
    **dict.fromkeys(("trials_min", "trials_max", "extra_trials", "total"), pl.UInt64()),
    "sigma": pl.Float64(),
}


# Goals that exclude each other, of further trials and of further questions.
TRIALS = (
    Refusal(lambda simultaneous, half_width: simultaneous and half_width is not None,
            "simultaneous=True is about pairs of models, half_width= about each by itself",
            "omit one of them"),
)  # fmt: skip
QUESTIONS_AHEAD = (
    Refusal(lambda _, half_width, margin: half_width is not None and margin is not None,
            "half_width and margin are two goals", "ask for one at a time"),
    Refusal(lambda simultaneous, _, margin: simultaneous and margin is not None,
            "simultaneous=True is about all pairs of models, margin= about one gate",
            "omit one of them"),
)  # fmt: skip


def trials_needed(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    confidence: float | None = None,
    power: float = 0.8,
    max_trials: int = 1_000_000,
    simultaneous: bool | None = None,
    unmatched: Unmatched = "error",
    overall: Overall | None = None,
) -> pl.LazyFrame:
    """The plan of the trials needed; see `Scorio.trials_needed`."""
    check_choice("unmatched", unmatched, Unmatched)
    power = check_number("power", power, CHANCE)
    max_trials = check_count("max_trials", max_trials)
    several = half_width is None
    simultaneous = check_flag("simultaneous", several if simultaneous is None else simultaneous)
    if refused := [row for row in TRIALS if row.when(simultaneous, half_width)]:
        raise refused[0].error("trials_needed")
    trials = bind_roles(log, roles)
    refuse_judge(trials, "trials_needed")
    metric = planned_metric(metric, trials, "trials_needed")
    if half_width is not None:
        half_width = check_goal("half_width", half_width, value_range(metric, trials) / 2)
    sides = trials.models
    if several:
        model = named_model(trials, "trials_needed without half_width=")
        sides = {"model_a": model, "model_b": model}
    schema = result_schema(trials.strata, sides, _NEEDED)
    options: DecisionOptions = {"confidence": confidence, "unmatched": unmatched}
    plan, models = models_of(trials, metric, options, overall, spoken="counts", alone=not several)
    need = _TrialsNeed(models, half_width, None, power, max_trials, simultaneous)
    rows = in_all_strata(plan, trials, need, schema)
    return with_plan_cost(rows, trials, [*sides], common=several and unmatched == "drop")


@dataclass(frozen=True, slots=True, eq=False)
class _Planner(ABC):
    """The function from the questions of all models to what their neighbours need."""

    models: Models
    half_width: float | None
    margin: float | None
    power: float
    most: int
    simultaneous: bool  # whether the intervals of a stratum are to hold at once

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """The rows of all strata."""
        rows = self.models.at_k(evaluated, self.models.metric.row_sizes[0])
        blocks = self.models.blocks(groups[STRATUM])
        parts = [self._block_rows(rows, block, groups) for block in blocks]
        return pl.concat(parts) if parts else pl.DataFrame()

    @abstractmethod
    def _block_rows(self, rows: ModelRows, block: Block, groups: pl.DataFrame) -> pl.DataFrame:
        """The rows of the strata of a block."""

    def _neighbours(
        self, compared: Comparison, models: StrataModels
    ) -> tuple[tuple[Ints, Ints], Forecast, Floats]:
        """Columns of the neighbours in the ranking, the best pair first, and their forecast."""
        order = np.argsort(-compared.numbers.value, axis=1, kind="stable")
        sides = order[:, :-1], order[:, 1:]
        share = np.repeat(compared.signal_share, sides[0].shape[1])
        return sides, models.further(self.models.better_first(*sides)), share

    @staticmethod
    def _names(names: pl.Series, block: Block, sides: Sequence[Ints]) -> dict[str, pl.Series]:
        """The names of the models of both sides."""
        places = (np.take_along_axis(block.rows, side, axis=1).ravel() for side in sides)
        return dict(zip(("model_a", "model_b"), map(names.gather, places), strict=True))

    def _critical(self, models: int) -> float:
        """The critical value of one look for pairs of so many models."""
        size = np.array([models if self.simultaneous else 2])
        return float(tukey_critical(size, self.models.confidence)[0])

    def _further(self, pairs: Forecast, share: Floats, models: int) -> Ints:
        """Further units of each pair; one more than the most if those do not suffice."""
        goal, most, c = self.power, self.most, self._critical(models)
        if self.half_width is not None:
            return pairs.for_half_width(self.half_width, c, most)
        if self.margin is None:
            return pairs.with_assurance(share, c, goal, most)
        # The verdict of a gate on the worse model, with the better one as the baseline.
        one_sided = float(scipy.special.ndtri(self.models.confidence))
        worse = replace(pairs, diff=-pairs.diff)
        return worse.with_assurance(share, one_sided, goal, most, self.margin)


class _TrialsNeed(_Planner):
    """Further trials of neighbours in the ranking, or of each model."""

    def _block_rows(self, rows: ModelRows, block: Block, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each pair of neighbours, or for each model, of some strata."""
        models, size = rows.in_block(block), block.rows.shape[1]
        sides: tuple[Ints, ...] = (np.broadcast_to(np.arange(size), block.rows.shape),)
        if self.half_width is not None:
            forecast = models.further(sides)
            extra = self._further(forecast, np.ones(block.rows.size), size)
            named = {x: groups[x].gather(block.rows.ravel()) for x in self.models.trials.models}
        else:
            compared, (model,) = rows.comparison(models), self.models.trials.models
            sides, forecast, share = self._neighbours(compared, models)
            extra = np.maximum(self._further(forecast, share, size), 1)
            # By the verdicts of `compare`, which a normal interval need not share.
            c = np.full(sides[0].shape, self._critical(size))
            extra = np.where(compared.decided(*sides, c).ravel(), 0, extra)
            named = self._names(groups[model], block, sides)
        places = [np.take_along_axis(models.groups, side, axis=1).ravel() for side in sides]
        strata = pl.Series(np.repeat(block.strata, sides[0].shape[1]), dtype=pl.UInt32)
        return pl.DataFrame({STRATUM: strata, **named}).hstack(
            self._needed_rows(models.table.cells.fitted, places, forecast, extra)
        )

    def _needed_rows(
        self, states: States, sides: Sequence[Ints], forecast: Forecast, extra: Ints
    ) -> pl.DataFrame:
        """Trials that some groups, or pairs of groups, have and need."""
        fewest, n = np.full(states.groups, np.iinfo(np.int64).max), states.n[states.state]
        most = np.zeros_like(fewest)
        np.minimum.at(fewest, states.group, n)
        np.maximum.at(most, states.group, n)
        need = pl.DataFrame(
            {
                "trials_min": np.min([fewest[side] for side in sides], axis=0),
                "trials_max": np.max([most[side] for side in sides], axis=0),
                "extra_trials": extra,
                "total": extra * np.sum([states.size[side] for side in sides], axis=0),
                "sigma": forecast.unit * forecast.whole_sigma(extra),
            },
            schema_overrides=_NEEDED,
        )
        enough = pl.Series(extra <= self.most)
        return need.with_columns(pl.when(enough).then(name) for name in [*_NEEDED][2:])


_SPENT: dict[str, pl.DataType] = {"trials": pl.UInt64(), "extra_trials": pl.UInt64()}
_SPENT_BY_REWARDS = (
    "next_trials: if more trials go to rewards that vary more, no interval of real-valued rewards "
    "is valid. Run the same number of trials of all questions, see trials_needed(), or pass the "
    "least reward of a success as threshold="
)
_LARGEST_BUDGET = 10_000_000  # trials are spent one by one


def next_trials(
    log: Log,
    roles: Roles,
    budget: int,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    confidence: float | None = None,
) -> pl.LazyFrame:
    """The plan of an allocation; see `Scorio.next_trials`."""
    if check_count("budget", budget) > _LARGEST_BUDGET:
        raise ValueError(f"budget must be at most {_LARGEST_BUDGET:,} trials, got {budget:,}")
    trials = bind_roles(log, roles)
    refuse_judge(trials, "next_trials")
    metric = planned_metric(metric, trials, "next_trials")
    if view_of(metric, trials) == "rewards" and trials.roles.bounds is not None:
        raise ValueError(_SPENT_BY_REWARDS)
    if half_width is not None:
        half_width = check_goal("half_width", half_width, value_range(metric, trials) / 2)
    question = {trials.question.name: trials.question.dtype}
    schema = result_schema((), trials.strata, trials.models, question, _SPENT)
    asked = Request.from_trials(trials, [metric], confidence=confidence)
    request = Request.from_trials(trials, [metric], prior=plan_prior(metric), rewards="never")

    def spent(groups: pl.DataFrame) -> pl.DataFrame:
        if groups.is_empty():
            return pl.DataFrame(schema=schema)
        cells = request.cells(groups[QUESTIONS], per_question=True)
        named = groups.drop(QUESTIONS)[cells.group].hstack(cells.flat.select(*question))
        # In the order of the result: of two questions that gain the same, the first gets the trial.
        order = named.select(pl.arg_sort_by(*trials.groups, *question)).to_series().to_numpy()
        owner, n = cells.group[order], cells.states.trials[order]
        noise = metric.trial_noise(request.posterior(cells))[order] / cells.fitted.size[owner] ** 2
        kept = _narrow_share(groups, asked, half_width) * np.bincount(owner, noise / n, len(groups))
        extra = best_allocation(noise, n, owner, kept, budget)
        rows = named[order].with_columns(trials=n, extra_trials=extra)
        return rows.select(*schema).cast(schema)  # type: ignore[arg-type]  # a dict is a mapping

    # A filter must not go below: what is spent on one model is not spent on another.
    return request.groups(per_question=True).then(spent, schema, filters=False).plan()


def _narrow_share(groups: pl.DataFrame, asked: Request, half_width: float | None) -> Floats:
    """Share of its variance that each group may keep, (G,), for intervals of that half-width."""
    if half_width is None:
        return np.zeros(len(groups))
    today, step = evaluated_groups(groups, asked), run_step(asked.trials)
    if step is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)  # a plan is no number of the log
            today = step(today)
    ((row, _),) = today.views.items()
    width = today.of_groups(row, "hi") - today.of_groups(row, "lo")
    return (2 * half_width / width) ** 2


_QUESTION_COLUMNS: dict[str, pl.DataType] = {
    **dict.fromkeys(("questions", "extra_trials", "extra_questions", "total"), pl.UInt64()),
    "sigma": pl.Float64(),
}


def questions_needed(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    half_width: float | None = None,
    margin: float | None = None,
    power: float = 0.8,
    max_questions: int = 1_000_000,
    simultaneous: bool | None = None,
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of the questions needed; see `Scorio.questions_needed`."""
    several = margin is None
    simultaneous = check_flag("simultaneous", several if simultaneous is None else simultaneous)
    if refused := [row for row in QUESTIONS_AHEAD if row.when(simultaneous, half_width, margin)]:
        raise refused[0].error("questions_needed")
    power = check_number("power", power, CHANCE)
    max_questions = check_count("max_questions", max_questions)
    metric = metric_of(metric, "questions_needed", "plan with ps.avg(), by which the scores differ")
    trials = bind_roles(log, roles)
    refuse_judge(trials, "questions_needed")
    metric = on_levels(metric, trials)
    if half_width is not None:
        half_width = check_goal("half_width", half_width, value_range(metric, trials))
    if margin is not None:
        margin = check_goal("margin", margin, value_range(metric, trials), NOT_NEGATIVE)
    model = named_model(trials, "questions_needed")
    schema = {"model_a": model, "model_b": model, **_QUESTION_COLUMNS}
    refuse_repeats([*trials.strata, *schema])
    plan, models = models_of(trials, metric, {**options, "target": "population"}, spoken="counts")
    need = _QuestionsNeed(models, half_width, margin, power, max_questions, simultaneous)
    return in_all_strata(plan, trials, need, schema)


_MORE_RUNS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # further ones that are tried


class _QuestionsNeed(_Planner):
    """Further questions of neighbours in the ranking."""

    def _block_rows(self, rows: ModelRows, block: Block, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each pair of neighbours of some strata."""
        models, (model,) = rows.in_block(block), self.models.trials.models
        (a, b), pairs, share = self._neighbours(rows.comparison(models), models)
        extra, trials = self._further(pairs, share, a.shape[1] + 1), np.zeros(a.size)
        most, after = self.most, pairs.whole_sigma(extra)
        assert isinstance(pairs, QuestionsAhead)
        for further in _MORE_RUNS if pairs.runs is not None else ():
            larger = pairs.with_trials(further)
            asked = self._further(larger, share, a.shape[1] + 1)
            total = (pairs.trials + trials) * (
                pairs.number + np.where(extra <= most, extra, np.inf)
            )
            fewer = (asked <= most) & ((pairs.trials + further) * (pairs.number + asked) < total)
            extra, trials = np.where(fewer, asked, extra), np.where(fewer, further, trials)
            after = np.where(fewer, larger.whole_sigma(extra), after)
        known = pl.Series(extra <= most)
        need = pl.DataFrame(
            {
                STRATUM: pl.Series(np.repeat(block.strata, a.shape[1]), dtype=pl.UInt32),
                **self._names(groups[model], block, (a, b)),
                "questions": np.round(pairs.number).astype(np.int64),
                "extra_trials": trials.astype(np.int64),
                "extra_questions": extra,
                "total": np.round(pairs.number + extra).astype(np.int64),
                "sigma": pairs.unit * after,
            },
            schema_overrides=_QUESTION_COLUMNS,
        )
        return need.with_columns(
            pl.when(known).then(name)
            for name in ("extra_trials", "extra_questions", "total", "sigma")
        )
