"""Sums of real-valued rewards, exact and in any order of the rows.

Sums of floats depend on their order in the last digits. So each reward becomes an integer, whose
sums, and sums of squares, are exact in 128 bits. Rewards inside a known range are multiples of
2^-52 of it, and one integer each. Without a range, rewards up to 2^30 are split in two integers: a
multiple of 2^-22, and the rest as a multiple of 2^-74. A log whose rewards are all below 2^-54
would lose digits and is refused.

All else follows from these sums and the least and largest reward of a question: a report of
averages costs little more than a bare aggregation.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    AS_ROWS,
    MISSING,
    OUTSIDE,
    ROWS,
    Number,
    Quoted,
    Rule,
    Tally,
    joined_list,
    largest_number,
    least_number,
    over_trials,
    summed_number,
)
from polars_scorio.counting.log import CATEGORY, COUNT, Trials, holds_rewards
from polars_scorio.counting.refusals import refuse_tiny, too_many_trials
from polars_scorio.counting.roles import Roles, check_reward_range
from polars_scorio.counting.tally import DROPPED, QUESTIONS, SEQUENCE
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.credit_numbers import sample_numbers
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.reward_variances import GroupRewards, QuestionRewards, RewardNoise
from polars_scorio.metrics.metric import (
    Bounds,
    Metric,
    MetricOfCounts,
    given_reward_range,
    reward_metrics,
)
from polars_scorio.subjects.question_cells import (
    GROUP,
    PREFIX,
    Asked,
    Confidence,
    Metrics,
    QuestionCells,
    RewardSubject,
)
from polars_scorio.subjects.scores import (
    BOUNDS,
    Noise,
    RangeLaw,
    Row,
    Scores,
    VarianceLaw,
    ranged_numbers,
)

RewardRange: TypeAlias = "tuple[float, float]"

# The mean reward of a question, and its standard error; its least and its largest reward; whether
# some of its rewards are neither 0 nor 1 (1 if so).
MEAN_REWARD, REWARD_ERROR = ":mean_reward", ":reward_error"
LEAST_REWARD, LARGEST_REWARD, FRACTIONS = ":least_reward", ":largest_reward", ":fractions"
REWARDS, _SIZE, _PLACE = ":rewards", ":size", ":place"
# Rewards without a known range are at most as large.
LARGEST_REWARD_SIZE = 2.0**30
# The largest reward of a log without a known range is at least as large, or all rewards are 0.
LEAST_REWARD_SIZE = 2.0**-54
_COARSE, _FINE = 2.0**22, 2.0**52
_LARGEST_FLOAT = sys.float_info.max


@dataclass(frozen=True, slots=True)
class RewardSums(RewardSubject):
    """Sums of rewards, their ends, or the rewards themselves."""

    range: RewardRange | None  # all rewards have to be in it
    usual: RewardRange | None  # the accessor's, for metrics without one
    observed: bool  # is the range of the rewards themselves needed?
    averages: bool  # mean rewards
    lists: bool  # the rewards themselves, for the best and the worst of k

    view = "rewards"
    any_value = True
    visible = MappingProxyType({BOUNDS: pl.String()})
    sees_others = True  # models may have other values than 0 and 1, or a wider range

    def settled(
        self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells
    ) -> Sequence[tuple[Metric, View]]:
        """Of rewards that are all 0 or 1, the metrics look at success and failure."""
        if cells.classes.known or self.beyond_counts(cells.flat):
            return asked
        binary = {None, (0.0, 1.0)}
        return [
            (metric, "success")
            if view == self.view and self.given_range(metric) in binary
            else (metric, view)
            for metric, view in asked
        ]

    def beyond_counts(self, questions: pl.DataFrame) -> bool:
        """Whether some question has rewards that are neither 0 nor 1."""
        return bool(questions[FRACTIONS].sum())

    def ranged(self) -> RewardSums:
        """The sums, with the ends of the rewards of each question."""
        return replace(self, observed=True)

    def moments(self, questions: pl.DataFrame) -> tuple[Floats, ...]:
        """The mean reward of each question, its standard error, and its ends."""
        names = MEAN_REWARD, REWARD_ERROR, LEAST_REWARD, LARGEST_REWARD
        return tuple(questions[name].cast(pl.Float64).to_numpy() for name in names)

    @classmethod
    def listed(cls, answer: MetricOfCounts, roles: Roles) -> ListedRewards | None:
        """The lists of rewards, unless categories are asked for, or posteriors."""
        metric = answer.metric
        outcomes = metric.w is not None or roles.success is not None or roles.threshold is not None
        listed = bool(reward_metrics([metric])) and not (outcomes or answer.posterior)
        return ListedRewards(roles) if listed else None

    def prefixes(self, groups: pl.DataFrame, classes: Classes) -> pl.DataFrame:
        """The groups after n = 1, 2, ... trials of each question."""
        first, last = classes.columns()
        rewards = (
            groups.select(pl.int_range(pl.len()).alias(GROUP), QUESTIONS)
            .explode(QUESTIONS, **AS_ROWS)
            .select(GROUP, pl.col(QUESTIONS).struct.field(SEQUENCE))
            .filter(pl.col(SEQUENCE).list.len() > 0)
        )
        most = pl.col(SEQUENCE).list.len().max().over(GROUP).cast(pl.Int64)
        prefixes = (
            rewards.lazy()
            .with_columns(pl.int_ranges(1, most + 1).alias(PREFIX))
            .explode(PREFIX, **AS_ROWS)
            .with_columns(pl.col(SEQUENCE).list.head(PREFIX).alias(CATEGORY))
            .with_row_index(_PLACE)
        )
        keys = [PREFIX, GROUP, _PLACE]
        trials = prefixes.select(*keys, CATEGORY).explode(CATEGORY, **AS_ROWS)
        questions = _summed_trials(self, trials, keys).with_columns(**{last: sure_successes(self)})
        columns = [*self.columns, first, last, DROPPED]
        return (
            questions.with_columns(
                (pl.col(ROWS) - pl.col(last)).alias(first), pl.col(MISSING).alias(DROPPED)
            )
            .sort(keys)
            .group_by(PREFIX, GROUP, maintain_order=True)
            .agg(pl.struct(columns).alias(QUESTIONS))
            .collect()
        )

    def given_range(self, metric: Metric) -> Bounds | None:
        """The range that a user gave for the rewards of a metric."""
        return given_reward_range(metric, self.usual)

    def ranges(self, metric: Metric, cells: QuestionCells) -> tuple[Floats, Floats]:
        """As the metric says, or the accessor; else of the rewards of all models of a stratum."""
        owner = cells.group_of_cell
        given = self.given_range(metric)
        if given is not None:
            return np.full(owner.size, given[0]), np.full(owner.size, given[1] - given[0])
        low, high = cells.once("observed", lambda: _observed_ends(cells))
        return low[owner], high[owner] - low[owner]

    def estimates(self, metric: Metric, k: int | None, cells: QuestionCells) -> Floats | None:
        """The estimate of each question."""
        single = cells.by_question()
        low, width = self.ranges(metric, single)
        return np.asarray(low + width * self.of_questions(metric, k, single).values)

    def of_questions(self, metric: Metric, k: int | None, cells: QuestionCells) -> QuestionRewards:
        """The estimate of each question, in units of its range, and its noise."""
        low, width = self.ranges(metric, cells)
        averages = metric.averages_rewards
        every = None if averages else cells.flat[REWARDS].explode(**AS_ROWS).cast(pl.Float64)
        rewards = GroupRewards(
            trials=cells.scored_trials(),
            group=cells.cell_of_row,
            groups=cells.states.groups,
            low=low,
            width=width,
            mean=cells.column(MEAN_REWARD) if averages else None,
            error=cells.column(REWARD_ERROR) if averages else None,
            rewards=None if every is None else every.to_numpy(),
            cluster=cells.row_clusters(),
        )
        (reward_metric,) = reward_metrics([metric])  # no other has the view
        return reward_metric.reward_estimates(rewards, k)

    @classmethod
    def takes(cls, metric: Metric, trials: Trials) -> bool:
        """Whether a metric takes rewards of any value, and the log may hold such."""
        return metric.w is None and bool(reward_metrics([metric])) and holds_rewards(trials)

    @classmethod
    def from_asked(cls, asked: Asked) -> RewardSums:
        """The sums that the metrics need; ranges that exclude each other are refused."""
        metrics = reward_metrics(asked.of_view("rewards"))
        usual = asked.trials.roles.bounds
        ranges = [metric.reward_range or usual for metric in metrics]
        given = [check_reward_range(bounds) for bounds in [*ranges, usual] if bounds is not None]
        both = (max(low for low, _ in given), min(high for _, high in given)) if given else None
        if both is not None and not both[0] < both[1]:
            raise ValueError(f"bounds: all metrics are about the same rewards, got {ranges}")
        averages = [metric.averages_rewards for metric in metrics]
        return cls(both, usual, None in ranges, any(averages), not all(averages))

    def bounds_of(self, metric: Metric) -> str:
        """Whether a user gave the range of the rewards, or it is that of those that were seen."""
        return "observed" if self.given_range(metric) is None else "given"

    def numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> dict[Row, Scores]:
        """The numbers of metrics of real-valued rewards, for each draw size and cell."""
        scores = dict[Row, Scores]()
        measured = partial(self._measured, cells=cells, confidence=confidence, target=target)
        for metric in metrics:
            given = self.given_range(metric) is not None
            each = ranged_numbers(metric, measured) if given else measured(metric)
            bounds = np.full(cells.states.groups, self.bounds_of(metric))
            rows = zip(metric.rows, each, strict=True)
            scores |= {row: numbers.with_facts(bounds=bounds) for row, numbers in rows}
        return scores

    def _measured(
        self, metric: Metric, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> list[Scores]:
        """The numbers of a metric for each draw size."""
        asked = [self.of_questions(metric, k, cells) for k in metric.row_sizes]
        low, width = self.ranges(metric, cells)
        if target == "population":
            return [_population_numbers(each.ordered(), low, width, confidence) for each in asked]
        # These questions are no sample of clusters.
        alone = (replace(each, cluster=None).ordered() for each in asked)
        noises = (RewardNoise.from_questions(each, low, width) for each in alone)
        return [_benchmark_numbers(each, confidence) for each in noises]

    @property
    def sums(self) -> bool:
        """Whether sums say all of a question, so that no category is counted."""
        return self.averages

    @property
    def columns(self) -> list[str]:
        """The columns of a question beside its counts."""
        moments = [MEAN_REWARD, REWARD_ERROR] * self.averages
        observed = [LEAST_REWARD, LARGEST_REWARD] * self.observed
        return [FRACTIONS, *moments, *observed]

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """The numbers, and the check that rewards are in their range, and not too small."""
        derived = {**reward_moments(self)} if self.averages else {}
        lists = (joined_list(REWARDS, _reward_list(trials)),) if self.lists else ()
        rules = [too_many_trials("real-valued rewards")]
        if classes.known is None:
            derived[OUTSIDE] = _stray_reward(self)
            what, way_out = _stray_words(self)
            details = ": ", Quoted(OUTSIDE, ends=self.range or ()), ""
            outside = f"{what} in {trials.category.name!r}"
            rules.insert(0, Rule(pl.col(OUTSIDE).is_not_null(), details, outside, way_out))
        if classes.summed:
            derived[classes.columns()[-1]] = sure_successes(self)
        sized = self.averages and self.range is None
        largest = pl.max_horizontal(pl.col(LEAST_REWARD, LARGEST_REWARD).abs()).max()
        return Tally(
            numbers=(*reward_numbers(self, counted=trials.count is not None), *lists),
            derived=derived,
            kept=(*self.columns, *[REWARDS] * self.lists),
            rules=(*rules,),
            of_group={_SIZE: largest} if sized else {},
            checks=(_refuse_tiny_rewards,) if sized else (),
        )


def _benchmark_numbers(noisy: RewardNoise, confidence: Floats | float) -> Scores:
    """The numbers of a mean on these questions."""
    lo, hi = noisy.ends((1 - confidence) / 2)
    mu, noise = noisy.mu, Noise(noisy.sigma)
    return Scores("calibrated", mu, mu, noise, lo, hi, VarianceLaw(noisy))


def _population_numbers(
    questions: QuestionRewards, low: Floats, width: Floats, confidence: Floats | float
) -> Scores:
    """The numbers of a mean over a population of which the questions are a sample."""
    mean = questions.mean
    numbers = sample_numbers(mean, questions.sample(), confidence)
    known = width > 0
    lo, hi = (np.where(known, low + width * end, np.nan) for end in (numbers.lo, numbers.hi))
    mu, sigma = low + width * mean, width * numbers.sigma
    return Scores("calibrated", mu, mu, Noise(sigma), lo, hi, RangeLaw())


def _observed_ends(cells: QuestionCells) -> tuple[Floats, Floats]:
    """The least and the largest reward that was seen in the stratum of each group; NaN: none."""
    groups = cells.fitted.groups
    stratum = np.zeros(groups, np.int64) if cells.stratum is None else cells.stratum
    size = int(stratum.max(initial=-1)) + 1
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, stratum[cells.group], cells.flat[LEAST_REWARD].to_numpy())
    np.maximum.at(high, stratum[cells.group], cells.flat[LARGEST_REWARD].to_numpy())
    return low[stratum], high[stratum]


def _refuse_tiny_rewards(groups: pl.DataFrame, trials: Trials) -> None:
    """Refuse rewards so small that their sums lose digits."""
    advice = ", or pass bounds= with the possible rewards, as in bounds=(0, {power})"
    name, size = trials.category.name, groups[_SIZE].max()
    refuse_tiny(size, LEAST_REWARD_SIZE, "reward", "category", name, advice)


def _stray_words(asked: RewardSums) -> tuple[str, str]:
    """The words for a reward outside its range, and for the way out."""
    missing = "Recode it, or set it to null and see missing=."
    if asked.range is not None:
        low, high = asked.range
        return (
            f"a reward that is not between {low!r} and {high!r}",
            f"Give wider bounds=. {missing}",
        )
    if not asked.averages:
        return "an infinite reward", missing
    most = int(LARGEST_REWARD_SIZE)
    way_out = "Pass the range of possible rewards, of any finite size, as bounds=."
    return f"a reward that is infinite, or beyond +-{most:,}", f"{way_out} {missing}"


def _reward_list(trials: Trials) -> pl.Expr:
    """The categories of a question themselves, one for each trial that has one."""
    if trials.count is None:
        return pl.col(CATEGORY).drop_nulls()
    times = pl.col(COUNT).clip(0).cast(pl.Int64, strict=False)
    return pl.col(CATEGORY).repeat_by(times).explode(**AS_ROWS).drop_nulls()


def reward_numbers(asked: RewardSums, *, counted: bool) -> list[Number]:
    """The aggregations of rewards; `counted` rows stand for several trials each."""
    # A row may stand for no trial.
    kept = pl.when(pl.col(COUNT) > 0).then(_float_reward()) if counted else _float_reward()
    ends = [least_number(LEAST_REWARD, kept.min()), largest_number(LARGEST_REWARD, kept.max())]
    if not asked.averages:
        fractional = (kept != 0) & (kept != 1)
        return [*ends, largest_number(FRACTIONS, fractional.any().cast(pl.Int8))]
    parts = {name: part for name, (part, _) in _integer_parts(asked).items()}
    products = {f"{a}{b}": parts[a] * parts[b] for a, b in _part_pairs(parts)}
    return ends + [
        summed_number(f":sum_{name}", (part * pl.col(COUNT) if counted else part).sum())
        for name, part in (parts | products).items()
    ]


def _stray_reward(asked: RewardSums) -> pl.Expr:
    """A reward outside the range, infinite, or too large; null if all are fine."""
    low, high = asked.range or (-LARGEST_REWARD_SIZE, LARGEST_REWARD_SIZE)
    if asked.range is None and not asked.averages:
        low, high = -_LARGEST_FLOAT, _LARGEST_FLOAT
    below, above = pl.col(LEAST_REWARD) < low, pl.col(LARGEST_REWARD) > high
    return pl.when(below).then(LEAST_REWARD).when(above).then(LARGEST_REWARD)


def sure_successes(asked: RewardSums) -> pl.Expr:
    """How many rewards of a question are 1, if all of its rewards are 0 or 1; else 0."""
    part, (_, unit) = next(iter(_integer_parts(asked).items()))
    ones = (pl.col(f":sum_{part}").cast(pl.Float64) * unit).round().cast(pl.Int64, strict=False)
    return pl.when(_all_zero_or_one(asked)).then(ones).otherwise(0)


def reward_moments(asked: RewardSums) -> dict[str, pl.Expr]:
    """`MEAN_REWARD`, `REWARD_ERROR` and `FRACTIONS` from the sums of questions."""
    # The error is null for a single trial. Products of sums may wrap around 128 bits, but sums of
    # squared distances from the whole part of the mean fit, so that these come out right.
    n = (pl.col(ROWS) - pl.col(MISSING)).cast(pl.Int128)
    trials = n.cast(pl.Float64)
    units = {name: unit for name, (_, unit) in _integer_parts(asked).items()}
    first = next(iter(units.values()))  # squares in units of its own may be no floats
    total = {name: pl.col(f":sum_{name}") for name in units}
    whole = {name: total[name] // n for name in units}
    mean = pl.sum_horizontal(total[name].cast(pl.Float64) * units[name] for name in units) / trials
    shift = pl.sum_horizontal(
        (total[name] - n * whole[name]).cast(pl.Float64) * (units[name] / first) for name in units
    )
    squares = pl.sum_horizontal(
        (1 if a == b else 2)
        * (units[a] / first * (units[b] / first))
        * _centred_products(pl.col(f":sum_{a}{b}"), (whole[a], whole[b]), (total[a], total[b]), n)
        for a, b in _part_pairs(units)
    )
    square = (squares - shift**2 / trials).clip(0.0) / (trials * (trials - 1))
    return {
        MEAN_REWARD: mean,
        REWARD_ERROR: pl.when(n > 1).then(square.sqrt() * first),
        FRACTIONS: (~_all_zero_or_one(asked)).cast(pl.Int8),
    }


def _summed_trials(asked: RewardSums, trials: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """The sums and moments of the rewards of trials, none of which is missing, by some keys."""
    rows = pl.len().cast(pl.Int64).alias(ROWS), pl.lit(0).alias(MISSING)
    sums = trials.group_by(keys).agg(*rows, *over_trials(reward_numbers(asked, counted=False)))
    return sums.with_columns(**reward_moments(asked))


def _all_zero_or_one(asked: RewardSums) -> pl.Expr:
    """Whether all rewards of a question are 0 or 1, from their ends and sums."""
    # An integer q between 0 and 1/unit is one of the two if, and only if, q^2 = q/unit. The ends
    # tell rewards that are too small for a unit from 0.
    within = pl.all_horizontal(pl.col(LEAST_REWARD, LARGEST_REWARD).is_in([0.0, 1.0]))
    (whole, (_, unit)), *finer = _integer_parts(asked).items()
    one = round(1 / unit) if asked.range is None or asked.range[1] >= 1 else 0
    equal = pl.col(f":sum_{whole}{whole}") == pl.col(f":sum_{whole}") * one
    return pl.all_horizontal(within, equal, *(pl.col(f":sum_{name * 2}") == 0 for name, _ in finer))


def _centred_products(
    products: pl.Expr, whole: tuple[pl.Expr, pl.Expr], total: tuple[pl.Expr, pl.Expr], n: pl.Expr
) -> pl.Expr:
    """Sum of the products of distances from two numbers, exact, as a float."""
    (a, b), (sum_a, sum_b) = whole, total
    return (products - a * sum_b - b * sum_a + n * a * b).cast(pl.Float64)


def _float_reward() -> pl.Expr:
    return pl.col(CATEGORY).cast(pl.Float64)


def _integer_parts(asked: RewardSums) -> dict[str, tuple[pl.Expr, float]]:
    """The integers of a reward, each with its unit."""
    if asked.range is not None:
        _, exponent = math.frexp(max(map(abs, asked.range)))
        unit = math.ldexp(1.0, exponent - 53)
        return {"q": (_nearest_integer(_float_reward() / unit), unit)}
    scaled = _float_reward() * _COARSE
    coarse = scaled.round()
    fine = (scaled - coarse) * _FINE
    return {
        "h": (_nearest_integer(coarse), 1 / _COARSE),
        "l": (_nearest_integer(fine), 1 / (_COARSE * _FINE)),
    }


def _nearest_integer(number: pl.Expr) -> pl.Expr:
    """The nearest integer in 128 bits; any integer for numbers that are refused elsewhere."""
    # A cast to 64 bits that checks nothing, and then one to 128, takes a quarter less time than a
    # checked cast to 128 bits: the checks of floats are what is slow.
    return number.round().cast(pl.Int64, wrap_numerical=True).cast(pl.Int128)


def _part_pairs(parts: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of parts of which products are summed."""
    names = [*parts]
    return [(a, b) for i, a in enumerate(names) for b in names[i:]]


_SUMS = RewardSums(None, None, observed=False, averages=True, lists=True)


@dataclass(frozen=True, slots=True)
class ListedRewards:
    """The rewards of each group as a list, in an aggregation; of `roles` only `missing` applies."""

    roles: Roles

    def aggregation(self, outcome: pl.Expr) -> pl.Expr:
        """The rewards of a group; an empty list if its column has no floats."""
        rewards = outcome.map_batches(
            self._float_rewards, return_dtype=pl.Float64(), is_elementwise=True
        )
        return rewards.drop_nulls().implode()

    def estimates(self, metric: object, name: str, lists: pl.Series) -> pl.Series:
        """The estimate of each group; null without rewards, or if k exceeds them."""
        (reward_metric,) = reward_metrics([metric])  # no other has such lists
        (k,), some = reward_metric.row_sizes, (lists.list.len() > 0).fill_null(value=False)
        estimates = np.full(len(lists), np.nan)
        if some.any():
            rewards = grouped_rewards(name, lists.filter(some))
            values = reward_metric.reward_estimates(rewards, k).values
            estimates[some.to_numpy()] = rewards.low + rewards.width * values
        return pl.Series(name, estimates).fill_nan(None)

    def _float_rewards(self, column: pl.Series) -> pl.Series:
        """The rewards, null if missing; all null if the column has another dtype than a float."""
        if not column.dtype.is_float():
            return pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
        missing = self.roles.missing
        rewards = column.cast(pl.Float64).fill_nan(None)
        return rewards if isinstance(missing, str) else rewards.fill_null(float(missing))


def grouped_rewards(name: str, lists: pl.Series) -> GroupRewards:
    """The rewards of groups, each a question whose range is that of its rewards, all finite."""
    trials = lists.list.len().to_numpy().astype(np.int64)
    flat = lists.explode(**AS_ROWS)
    # A callback sees some of the groups: it can neither count the bad ones nor name the first.
    if not flat.is_finite().all():
        raise ValueError(
            f"an infinite reward in {name!r}: recode it, or set it to null and see missing=."
        )
    low, high = (end.to_numpy() for end in (lists.list.min(), lists.list.max()))
    group = np.arange(trials.size)
    # A power of two that makes the largest reward of a group about 1 changes no digit.
    _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
    scaled = np.ldexp(flat.to_numpy(), -np.repeat(exponent, trials))
    rows = pl.LazyFrame({GROUP: np.repeat(group, trials), CATEGORY: scaled})
    moments = _summed_trials(_SUMS, rows, [GROUP]).sort(GROUP).collect()
    mean, error = (
        np.ldexp(moments[column].to_numpy().astype(np.float64), exponent)
        for column in (MEAN_REWARD, REWARD_ERROR)
    )
    return GroupRewards(trials, group, trials.size, low, high - low, mean, error, flat.to_numpy())
