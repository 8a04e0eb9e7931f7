"""Further trials, or questions, that decide."""

from __future__ import annotations

import warnings
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
    check_count,
    check_flag,
    check_number,
)
from polars_scorio.counting.log import (
    STAND_IN,
    Log,
    Part,
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
    aligned_questions,
    check_goal,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    strata_blocks,
    value_range,
)
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.draws import any_success
from polars_scorio.maths.independent import tukey_critical
from polars_scorio.maths.interval import mean_noises
from polars_scorio.maths.posteriors import QuestionPosteriors
from polars_scorio.maths.power import Forecast, QuestionsAhead, TrialsAhead, best_allocation
from polars_scorio.maths.ranks import signal_share
from polars_scorio.maths.reward_variances import QuestionRewards
from polars_scorio.maths.run_effects import RunVariance
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import TrialMean, avg, trial_mean
from polars_scorio.study.calibrated import credited_classes
from polars_scorio.study.evaluate import Evaluated, Evaluation, stratum_numbers
from polars_scorio.study.log_checks import SpokenChecks
from polars_scorio.study.overall import check_overall, with_means, with_pool
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


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedScores:
    """Expected scores after further trials: of groups, and of means over groups; any unit."""

    mu: Floats  # of each part
    score: Ints  # of each part, ascending
    noise: Floats  # variance of a trial of each state, as the next three
    questions: Ints
    trials: Ints
    part: Ints

    @classmethod
    def from_posterior(cls, posterior: QuestionPosteriors, metric: TrialMean) -> ExpectedScores:
        """The groups of a posterior, in units of the weights."""
        mu, states = metric.summary(posterior, None).mu / metric.unit, posterior.states
        trials, noise = states.counts.sum(axis=1)[states.state], metric.trial_noise(posterior)
        return cls(mu, np.arange(mu.size), noise, states.questions, trials, states.group)

    @classmethod
    def from_rewards(cls, questions: QuestionRewards, low: Floats, width: Floats) -> ExpectedScores:
        """The groups of mean rewards in ranges (G,), if further trials have the measured noise."""
        # Single trials alone tell no noise: at most it is the spread of the questions.
        spread = (questions.variance_between() * questions.size)[questions.group]
        noise = questions.full_noise() * questions.trials
        of_trial = np.where(np.isnan(noise), spread, noise) * width[questions.group] ** 2
        mu, every = low + width * questions.mean, np.ones_like(questions.trials)
        return cls(mu, np.arange(mu.size), of_trial, every, questions.trials, questions.group)

    def widened(self, variance: Floats) -> ExpectedScores:
        """The groups, with another variance of today."""
        now = self.squared_sigma(np.zeros_like(self.part))
        ratio = np.divide(variance, now, out=np.ones_like(now), where=now > 0)
        return replace(self, noise=ratio[self.part] * self.noise)

    def with_means(self, models: int) -> ExpectedScores:
        """The groups, stratum after stratum, then the mean of each model over its strata."""
        size = self.mu.size
        parts, states = (np.tile(np.arange(each), 2) for each in (size, self.part.size))
        return ExpectedScores(
            self.mu[parts],
            np.concatenate([self.score, size + self.score % models]),
            self.noise[states],
            self.questions[states],
            self.trials[states],
            np.concatenate([self.part, size + self.part]),
        )

    def scores(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each score."""
        now = self.squared_sigma(np.zeros_like(self.part))
        return self._sums(self.mu) / np.bincount(self.score), np.sqrt(now)

    def squared_sigma(self, m: Ints) -> Floats:
        """Expected squared sigma of each score after m further trials of the questions (P,)."""
        left = self.questions * self.noise / (self.trials + m)
        left = np.bincount(self.part, left, self.mu.size)
        size = np.bincount(self.part, self.questions, self.mu.size)
        return self._sums(left / size**2) / np.bincount(self.score) ** 2

    def trials_of_scores(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Fewest, most and typical (harmonic mean) trials of a question, and the questions."""
        of, size = self.score[self.part], int(self.score.max(initial=-1)) + 1
        fewest, most = np.full(size, np.iinfo(np.int64).max), np.zeros(size, np.int64)
        np.minimum.at(fewest, of, self.trials)
        np.maximum.at(most, of, self.trials)
        questions = np.bincount(of, self.questions, size)
        typical = questions / np.bincount(of, self.questions / self.trials, size)
        return fewest, most, typical, questions.astype(np.int64)

    def forecast(self, sides: Sequence[Ints], unit: float) -> TrialsAhead:
        """Some scores, or differences of two, after further trials of each of their questions."""
        mu, _ = self.scores()
        _, _, typical, _ = self.trials_of_scores()

        def variance(m: Ints) -> Floats:
            total = np.zeros(m.size)
            for side in sides:
                further = np.zeros(mu.size, np.int64)
                further[side] = m
                total += self.squared_sigma(further[self.score[self.part]])[side]
            return total

        return TrialsAhead(
            diff=mu[sides[0]] - mu[sides[-1]],
            number=np.min([typical[side] for side in sides], axis=0),
            unit=unit,
            variance=variance,
        )

    def _sums(self, values: Floats) -> Floats:
        """Sums over the parts of each score."""
        return np.asarray(np.bincount(self.score, values), dtype=np.float64)


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


def _model_costs(trials: Trials, cost: Part, *, common: bool = False) -> pl.LazyFrame:
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
            "leave one of them out"),
)  # fmt: skip
QUESTIONS_AHEAD = (
    Refusal(lambda _, half_width, margin: half_width is not None and margin is not None,
            "half_width and margin are two goals", "ask for one at a time"),
    Refusal(lambda simultaneous, _, margin: simultaneous and margin is not None,
            "simultaneous=True is about all pairs of models, margin= about one gate",
            "leave one of them out"),
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
    request = Request.from_trials(
        trials, [metric], prior=plan_prior(metric), confidence=confidence, rewards="always"
    )
    if half_width is None:
        model = named_model(trials, "trials_needed without half_width=")
        sides = {"model_a": model, "model_b": model}
        alignment = aligned_questions(unmatched)
        groups = request.groups(per_question=True, questions=alignment)
    else:
        sides = trials.models
        groups = request.groups()
    schema = result_schema(trials.strata, sides, _NEEDED)
    today = Request.from_trials(trials, [metric], confidence=confidence)
    groups = groups.then(SpokenChecks(today))
    if overall is not None:
        check_overall(overall, trials, per_question=False)
        groups = with_pool(groups, trials)
    goal = half_width, request.choice.confidence, power, max_trials, simultaneous
    need = _TrialsNeeded(request, metric, *goal, overall == "macro", today)
    rows = in_all_strata(groups, trials, need, schema)
    common = half_width is None and unmatched == "drop"
    return with_plan_cost(rows, trials, [*schema][: -len(_NEEDED)], common=common)


def evaluated_today(request: Request, groups: pl.DataFrame, strata: int | None = None) -> Evaluated:
    """The numbers of today, of the first `strata` groups and of means over them."""
    result = Evaluation(request)(groups.head(groups.height if strata is None else strata))
    if result.groups.height < groups.height:
        result = with_means(result)
    step = run_step(request.trials)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # a plan is no number of the log
        return result if step is None else step(result)


@dataclass(frozen=True, slots=True, eq=False)
class _TrialsNeeded:
    """The function from the questions of all groups to the trials that they need."""

    request: Request
    metric: TrialMean
    half_width: float | None
    confidence: float
    power: float
    most: int
    simultaneous: bool  # whether the verdicts of a stratum are to hold at once
    means: bool  # whether the last stratum is the mean over the others, not their pool
    today: Request  # whose intervals decide pairs today

    def __call__(self, groups: pl.DataFrame, _: object) -> pl.DataFrame:
        """A row for each model, or for each pair of neighbours in the ranking."""
        # A mean over strata has no questions of its own.
        strata = groups.filter(pl.col(STRATUM) < pl.col(STRATUM).max()) if self.means else groups
        expected, today = self._expected_scores(strata), None
        if groups.height:
            today = evaluated_today(self.today, groups, strata.height)
        if strata.height < groups.height:
            expected = expected.with_means(groups.height - strata.height)
        if self.half_width is not None:
            each, z = [np.arange(groups.height)], self._critical(np.ones(groups.height, np.int64))
            forecast = self._with_runs(expected.forecast(each, self.metric.unit), today, each)
            extra = forecast.for_half_width(self.half_width, z, self.most)
            return groups.drop(QUESTIONS).hstack(self._needed_rows(expected, forecast, each, extra))
        stratum, (mu, sigma) = groups[STRATUM].to_numpy(), expected.scores()
        sign = -1 if self.request.trials.roles.lower_is_better else 1
        a, b = sides = _ranked_neighbours(stratum, sign * mu)
        forecast = self._with_runs(expected.forecast(sides, self.metric.unit), today, sides)
        each = [np.arange(groups.height)]
        alone = self._with_runs(expected.forecast(each, self.metric.unit), today, each)
        noise = sigma if alone.runs is None else alone.whole_sigma(0 * each[0])
        share = _stratum_shares(stratum, mu, noise)[stratum[a]]
        models = np.bincount(stratum)[stratum[a]] if self.simultaneous else np.full_like(a, 2)
        z = self._critical(models)
        extra = forecast.with_assurance(share, z, self.power, self.most)
        now = np.asarray(forecast.critical_at(z, np.zeros_like(a)))
        decided = self._decided_today(today, np.stack(sides), now)
        # A normal interval may exclude zero although that of today does not.
        extra = np.where(decided, 0, np.maximum(extra, 1))
        (model,) = self.request.trials.models
        pairs = {"model_a": groups[model].gather(a), "model_b": groups[model].gather(b)}
        need = self._needed_rows(expected, forecast, sides, extra)
        return pl.DataFrame({STRATUM: groups[STRATUM].gather(a), **pairs}).hstack(need)

    def _of_today(
        self, result: Evaluated, sides: Sequence[Ints]
    ) -> list[tuple[Mask, StrataModels]]:
        """The models of each side, those of single strata and those over all of them."""
        ((row, _),) = result.views.items()
        places = np.stack(sides, axis=1)
        whole = places[:, 0] >= len(result.parts[0].facts)
        return [
            (itself_, result.models(row, places[itself_]))
            for itself_ in (~whole, whole)
            if itself_.any()
        ]

    def _with_runs(
        self, leads: TrialsAhead, result: Evaluated | None, sides: Sequence[Ints]
    ) -> TrialsAhead:
        """Further trials, with the part of runs of today."""
        parts = [] if result is None else self._of_today(result, sides)
        runs = np.zeros((5, leads.diff.size))
        for itself_, models in parts:
            first = np.zeros((len(models.places), 1), np.int64)
            alone = None if models.runs is None else models.runs.by_score
            shared = alone if len(sides) == 1 else models.pair_runs(first, first + 1)
            if shared is not None:
                runs[:, itself_] = shared.in_units(leads.unit)
        return replace(leads, runs=RunVariance(*runs)) if runs.any() else leads

    def _critical(self, models: Ints) -> Floats:
        """Critical values of one look, if verdicts on so many models hold."""
        return tukey_critical(models, self.confidence)

    def _expected_scores(self, groups: pl.DataFrame) -> ExpectedScores:
        """Expected scores of the groups, in their order."""
        numbers = stratum_numbers(groups, [*self.request.trials.strata])
        cells = self.request.cells(groups[QUESTIONS], strata=numbers)
        ((metric, view),) = cells.settled(self.request.metrics)
        subject = cells.subject(view)
        if subject is None:
            scores = ExpectedScores.from_posterior(self.request.posterior(cells), self.metric)
            successes = credited_classes(metric, view, cells.classes)
            if successes is None:
                return scores
            asked = cells.weighted(successes)
            (noise,) = mean_noises(asked, [fixed_gains(any_success(1))])
            return scores.widened(noise.variance)
        questions = subject.of_questions(metric, None, cells).ordered()
        return ExpectedScores.from_rewards(questions, *subject.ranges(metric, cells))

    def _decided_today(self, today: Evaluated | None, pairs: Ints, z: Floats) -> Mask:
        """Whether the interval of the difference excludes zero, for each of `pairs`, (2, P)."""
        # By the verdicts of `compare`, which knows the range and the pairing: normal errors decided
        # 59 of 300 pairs with one trial that it did not.
        decided, one = np.zeros(z.size, np.bool_), np.array([1])
        for given, models in [] if today is None else self._of_today(today, [*pairs]):
            decided[given] = models.comparison().decided(one - 1, one, z[given, None])[:, 0]
        return decided

    def _needed_rows(
        self, expected: ExpectedScores, forecast: TrialsAhead, sides: Sequence[Ints], extra: Ints
    ) -> pl.DataFrame:
        """Trials that some groups, or pairs of groups, have and need."""
        fewest, most, _, sizes = expected.trials_of_scores()
        enough = pl.Series(extra <= self.most)
        need = pl.DataFrame(
            {
                "trials_min": np.min([fewest[side] for side in sides], axis=0),
                "trials_max": np.max([most[side] for side in sides], axis=0),
                "extra_trials": extra,
                "total": extra * np.sum([sizes[side] for side in sides], axis=0),
                "sigma": forecast.unit * forecast.whole_sigma(extra),
            },
            schema_overrides=_NEEDED,
        )
        return need.with_columns(
            pl.when(enough).then(name).alias(name) for name in ("extra_trials", "total", "sigma")
        )


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


_SPENT: dict[str, pl.DataType] = {"trials": pl.UInt64(), "extra_trials": pl.UInt64()}
_SPENT_BY_REWARDS = (
    "next_trials: who spends where rewards vary most lets the number of trials depend on the "
    "rewards, and no numbers of real-valued rewards allow for that. Ask the same number of trials "
    "of all questions, see trials_needed(), or pass threshold=, from which on a reward is a "
    "success"
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
    spend = _Spending(request, metric, budget, half_width, asked, schema)
    # A filter must not go below: what is spent on one model is not spent on another.
    return request.groups(per_question=True).then(spend, schema, filters=False).plan()


@dataclass(frozen=True, slots=True, eq=False)
class _Spending:
    """The function from the questions of all groups to the trials that are spent on them."""

    request: Request  # whose prior tells the variance of a trial
    metric: TrialMean
    budget: int
    half_width: float | None
    asked: Request  # whose intervals are to be narrow
    schema: dict[str, pl.DataType]

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question."""
        if groups.is_empty():
            return pl.DataFrame(schema=self.schema)
        cells = self.request.cells(groups[QUESTIONS], per_question=True)
        trials, question = self.request.trials, self.request.trials.question.name
        named = groups.drop(QUESTIONS)[cells.group].with_columns(cells.flat[question])
        # In the order of the result: of two questions that gain the same, the first gets the trial.
        order = named.select(pl.arg_sort_by(*trials.groups, question)).to_series().to_numpy()
        owner, n = cells.group[order], cells.states.trials[order]
        noise = self.metric.trial_noise(self.request.posterior(cells))[order]
        noise /= cells.fitted.size[owner] ** 2
        left = np.bincount(owner, noise / n, len(groups))
        extra = best_allocation(noise, n, owner, self._narrow_share(groups) * left, self.budget)
        spent = named[order].with_columns(trials=n, extra_trials=extra)
        return spent.select(*self.schema).cast(self.schema)  # type: ignore[arg-type]  # a dict is a mapping

    def _narrow_share(self, groups: pl.DataFrame) -> Floats:
        """Share of its variance that each group may keep, (G,)."""
        if self.half_width is None:
            return np.zeros(len(groups))
        today = evaluated_today(self.asked, groups)
        ((row, _),) = today.views.items()
        width = today.of_groups(row, "hi") - today.of_groups(row, "lo")
        return (2 * self.half_width / width) ** 2


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


@dataclass(frozen=True, slots=True, eq=False)
class _QuestionsNeed:
    """The function from the questions of all models to those that their neighbours need."""

    models: Models
    half_width: float | None
    margin: float | None
    power: float
    most: int
    simultaneous: bool  # whether the intervals of a stratum are to hold at once

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum and pair of neighbours in the ranking."""
        (model,) = self.models.trials.models
        names = groups[model]
        rows = self.models.of_k(evaluated, self.models.metric.row_sizes[0])
        parts = [self._pair_rows(rows, block, names) for block in strata_blocks(groups[STRATUM])]
        return pl.concat(parts) if parts else pl.DataFrame()

    def _pair_rows(self, rows: ModelRows, block: Block, names: pl.Series) -> pl.DataFrame:
        """A row for each pair of neighbours in the strata of a block, the best pair first."""
        models = rows.of_block(block)
        compared = rows.comparison(models)
        order = np.argsort(-compared.inner.value, axis=1, kind="stable")
        a, b = order[:, :-1], order[:, 1:]
        pairs = models.further(*self.models.better_first(a, b))
        share = np.repeat(compared.signal_share, a.shape[1])
        extra, trials = self._further_questions(pairs, share, a.shape[1] + 1), np.zeros(a.size)
        most, after = self.most, pairs.whole_sigma(extra)
        assert isinstance(pairs, QuestionsAhead)
        for further in _MORE_RUNS if pairs.runs is not None else ():
            larger = pairs.with_trials(further)
            asked = self._further_questions(larger, share, a.shape[1] + 1)
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
                "model_a": names.gather(np.take_along_axis(block.rows, a, axis=1).ravel()),
                "model_b": names.gather(np.take_along_axis(block.rows, b, axis=1).ravel()),
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

    def _further_questions(self, pairs: Forecast, share: Floats, models: int) -> Ints:
        """Further questions of each pair; one more than the most if those do not suffice."""
        goal, most, confidence = self.power, self.most, self.models.confidence
        size = np.full(pairs.diff.shape, models if self.simultaneous else 2)
        c = tukey_critical(size, confidence)
        if self.half_width is not None:
            return pairs.for_half_width(self.half_width, c, most)
        if self.margin is None:
            return pairs.with_assurance(share, c, goal, most)
        # The verdict of a gate on the worse model, with the better one as the baseline.
        worse, one_sided = replace(pairs, diff=-pairs.diff), float(scipy.special.ndtri(confidence))
        return worse.with_assurance(share, one_sided, goal, most, self.margin)
