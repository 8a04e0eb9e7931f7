"""Models on all questions that could have been asked: the questions at hand are a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.counting.cluster_membership import refuse_divided
from polars_scorio.counting.trials import CLUSTER, Trials
from polars_scorio.decisions.memory_limits import refuse_large_covariance
from polars_scorio.decisions.sampled_scores import SampledScores, ScoreEnds
from polars_scorio.decisions.strata_arrays import STRATUM, Block
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.population_mean import UnitSample
from polars_scorio.kernels.calibrated.root_credit import largest_bias
from polars_scorio.kernels.simultaneous.paired_means import Paired, paired_means
from polars_scorio.kernels.simultaneous.two_way_fit import adjusted_means, connected_parts
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.metric_arguments import Bounds
from polars_scorio.metrics.weighted import WeightedMetric
from polars_scorio.reporting.inference.cell_numbers import BOUNDS, REWARD_RANGE, WEIGHT
from polars_scorio.reporting.options import DecisionOptions


def units_of_models(
    values: Floats,
    bias: Floats,
    sizes: Ints,
    cluster: Ints | None = None,
    share: Floats | None = None,
) -> UnitSample:
    """A sample of units for each model of each stratum, stratum after stratum.

    Parameters
    ----------
    values : ndarray of float, shape (Q, L)
        The estimate of each question under each model, inside [0, 1], stratum after stratum.
    bias : ndarray of float, shape (Q, L)
        Largest bias of these estimates.
    sizes : ndarray of int, shape (S,)
        Questions of each stratum.
    cluster : ndarray of int, shape (Q,), optional
        The cluster of each question; a number in two strata stands for two clusters.
    share : ndarray of float, shape (Q,), optional
        The share of each question in the mean, but for a factor; by default they are equal.

    Examples
    --------
    One stratum, two models; the first two questions are a cluster.

    >>> values = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])
    >>> sample = units_of_models(values, 0 * values, np.array([3]), np.array([0, 0, 1]))
    >>> sample.values.tolist(), sample.weight.tolist(), sample.group.tolist()
    ([0.5, 1.0, 0.5, 0.0], [2.0, 2.0, 1.0, 1.0], [0, 1, 0, 1])
    """
    stratum, models = np.repeat(np.arange(sizes.size), sizes), values.shape[1]
    weight = np.ones(stratum.size) if share is None else share
    if cluster is not None:
        _, first, unit = np.unique(
            stratum * (cluster.max() + 1) + cluster, return_index=True, return_inverse=True
        )
        stratum, rows = stratum[first], weight
        weight = np.bincount(unit, rows).astype(np.float64)
        values, bias = (_cluster_means(each, rows, unit, weight) for each in (values, bias))
    group = stratum[:, None] * models + np.arange(models)
    one = np.ones(group.size, dtype=np.int64)
    weight, groups = np.repeat(weight, models), sizes.size * models
    return UnitSample(values.ravel(), weight, one, group.ravel(), groups, bias.ravel())


def _cluster_means(values: Floats, weight: Floats, unit: Ints, total: Floats) -> Floats:
    """Weighted mean of each column over the rows of each unit, whose weights have this sum."""
    sums = [np.bincount(unit, weight * of_model, total.size) for of_model in values.T]
    return np.stack(sums, axis=1) / total[:, None]


# The place of a row among those of a model that have the name of its question.
_OCCURRENCE = ":occurrence"


def sample_options(metric: Metric, options: DecisionOptions) -> DecisionOptions:
    """The options of the report that gives the estimates of the questions.

    Raises
    ------
    ValueError
        If an option is given that would not change them.
    """
    if not metric.per_question:
        raise ValueError(
            f"{metric.name}: a blend of the whole benchmark has no value for a single question, "
            'so that target="population" cannot compare them; ps.geom_at_k has'
        )
    idle = {
        "prior trials have no say, leave prior= out": options.get("prior") is not None,
        'a fitted population has no say, leave inference="pooled" out': (
            options.get("inference") == "pooled"
        ),
        "alpha0 and beta0 have no say, leave them out": metric.beta_prior != (1.0, 1.0),
    }
    for way_out in (text for text, given in idle.items() if given):
        raise ValueError(
            'target="population" compares what the trials themselves say of each question: '
            f"{way_out}"
        )
    return {**options, "target": "benchmark", "inference": "published", "anytime": None}


def refuse_unadjustable(metric: Metric, options: DecisionOptions, *, population: bool) -> None:
    """Refuse ``questions="adjusted"`` for targets and metrics that it does not serve.

    Raises
    ------
    ValueError
        If the target are these very questions, or for other metrics than `avg` and `bayes`.
    """
    if options.get("questions") != "adjusted":
        return
    if not population:
        raise ValueError(
            'questions="adjusted" takes the questions as a sample, some of which each model was '
            'asked: it needs target="population"'
        )
    additive = isinstance(metric, WeightedMetric)
    if not additive:
        raise ValueError(
            'questions="adjusted" adds up effects of models and questions, which ps.avg() and '
            f'ps.bayes() allow, got {metric!r}; questions="common" takes every metric'
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairedQuestions:
    """Scores of the models on each question, of one metric and draw size.

    Attributes
    ----------
    rows : DataFrame
        Ascending by stratum, question and model.
    trials, metric
        The log, and the metric of the scores.
    """

    rows: pl.DataFrame
    trials: Trials
    metric: Metric

    @classmethod
    def read(
        cls,
        rows: pl.DataFrame,
        trials: Trials,
        metric: Metric,
        k: int | None,
        *,
        overall: bool = False,
    ) -> PairedQuestions:
        """Read the rows of a report per question, which know their `STRATUM`.

        `overall` says whether the last one has the questions of all others.
        """
        of_k = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))
        if trials.cluster is not None:
            # Over all strata, a name stands for one question of each of them.
            in_stratum = [pl.col(name).is_not_null() for name in trials.strata]
            refuse_divided(of_k.filter(*in_stratum) if overall else of_k, trials)
        question, model = trials.question.name, [*trials.models]
        place = pl.int_range(pl.len()).over(STRATUM, question, *model).alias(_OCCURRENCE)
        ordered = of_k.with_columns(place).sort(STRATUM, question, _OCCURRENCE, *model)
        return cls(ordered, trials, metric)

    def scores(self, block: Block, *, adjusted: bool, anytime: int | None) -> SampledScores:
        """The models of some strata, whose intervals hold at every look if there is a plan."""
        found = self._scores_of_one_look(block, adjusted=adjusted)
        if anytime is None:
            return found
        return replace(found, information=self._block_questions(block) / anytime)

    def _block_questions(self, block: Block) -> Floats:
        """Number of questions of each stratum."""
        question = pl.struct(self.trials.question.name, _OCCURRENCE)
        inside = pl.col(STRATUM).is_in(pl.Series(block.strata).implode())
        strata = self.rows.filter(inside).group_by(STRATUM).agg(question.n_unique().alias("size"))
        return strata.sort(STRATUM)["size"].to_numpy().astype(np.float64)

    def _scores_of_one_look(self, block: Block, *, adjusted: bool) -> SampledScores:
        """The models of some strata."""
        refuse_large_covariance(block.rows.shape[1])
        low, unit, ends = self._score_range(block)
        span = float(np.any(np.less(*ends))) if self.of_rewards else self._known_span
        if adjusted:
            return SampledScores(self._adjusted_models(block, unit), unit, span, ends)
        values, sizes, cluster, weight = self._question_values(block)
        least, each = (
            np.repeat(np.broadcast_to(x, (sizes.size, 1)), sizes, 0) for x in (low, unit)
        )
        first = np.cumsum(sizes) - sizes
        single = self._single_trials(block, first)
        models = paired_means(values / each, first, span, cluster, weight, single)
        if not span:
            return SampledScores(models, unit, span, ends)
        bias = self._largest_bias(block).reshape(values.shape)
        units = units_of_models((values - least) / each, bias, sizes, cluster, weight)
        return SampledScores(models, unit, span, ends, low, units)

    @property
    def of_rewards(self) -> bool:
        """Whether the estimates are those of real-valued rewards, with a range of each stratum."""
        return BOUNDS in self.rows.columns and self.rows[BOUNDS].null_count() < len(self.rows)

    @property
    def _known_span(self) -> float:
        """The range of the metric in units of it: 0 if all its values are equal."""
        low, high = self.metric.support
        return float(low < high)

    def _score_range(self, block: Block) -> tuple[Floats | float, Floats | float, ScoreEnds]:
        """The least value and the unit of the scores of some strata, and the range of a score."""
        if not self.of_rewards:
            low, high = self.metric.support
            return low, high - low if low < high else 1.0, _score_ends(self.metric)
        bounds = pl.col(REWARD_RANGE).struct
        least, width = bounds.field("low"), bounds.field("width")
        of_block = self.rows.filter(pl.col(STRATUM).is_in(pl.Series(block.strata).implode()))
        # Over all strata, the range is that of all their rewards.
        ranges = of_block.group_by(STRATUM, maintain_order=True).agg(
            least.min(), high=(least + width).max()
        )
        lowest, highest = (ranges[name].to_numpy()[:, None] for name in ("low", "high"))
        # Rewards that are all equal tell nothing of their range.
        unit = np.where(highest > lowest, highest - lowest, np.nan)
        return lowest, unit, (lowest, highest)

    def _largest_bias(self, block: Block) -> Floats:
        """Largest bias of the estimate of each question of some strata, on the unit scale."""
        of_block = self.rows.filter(pl.col(STRATUM).is_in(pl.Series(block.strata).implode()))
        k = None if of_block.is_empty() else of_block["k"][0]
        draw = None if self.of_rewards else self.metric.draw(k)
        return largest_bias(draw, of_block["trials"].to_numpy().astype(np.int64))

    def _question_values(self, block: Block) -> tuple[Floats, Ints, Ints | None, Floats | None]:
        """Estimates of each question and model, questions of each stratum, clusters, weights."""
        stratum, models = self.rows[STRATUM].to_numpy(), block.rows.shape[1]
        of_block = np.isin(stratum, block.strata)
        values = self.rows["estimate"].to_numpy()[of_block].reshape(-1, models)
        sizes = np.unique(stratum[of_block], return_counts=True)[1] // models
        cluster = (
            None
            if self.trials.cluster is None
            else _value_places(self.rows[CLUSTER])[of_block][::models]
        )
        share = self.rows[WEIGHT].filter(pl.Series(of_block))
        weight = share.to_numpy()[::models] if share.null_count() == 0 else None
        return values, sizes, cluster, weight

    def _single_trials(self, block: Block, first: Ints) -> Mask:
        """Models with one trial of each question, by the first question of each stratum."""
        inside = self.rows[STRATUM].is_in(pl.Series(block.strata).implode())
        trials = self.rows["trials"].filter(inside).to_numpy().reshape(-1, block.rows.shape[1])
        return np.asarray(np.logical_and.reduceat(trials == 1, first, axis=0))

    def _adjusted_models(self, block: Block, unit: Floats | float) -> Paired:
        """Models on questions of which each was asked a part."""
        parts = self.rows.filter(
            pl.col(STRATUM).is_in(pl.Series(block.strata).implode())
        ).partition_by(STRATUM)
        units = np.broadcast_to(unit, (len(parts), 1)).ravel().tolist()
        each = [self._adjusted_stratum(*part) for part in zip(parts, units, strict=True)]
        moments = ("mean", "covariance", "freedom", "variance", "alike")
        return Paired.of_moments(
            *(np.concatenate([getattr(one, name) for one in each]) for name in moments)
        )

    def _adjusted_stratum(self, part: pl.DataFrame, unit: float) -> Paired:
        """The models of one stratum.

        Raises
        ------
        ValueError
            If some cannot be compared through common questions.
        """
        (model,), question = self.trials.models, self.trials.question.name
        names = part[model].unique().sort()
        place, asked = _value_places(part[model]), _value_places(part[question])
        cluster = None if self.trials.cluster is None else _value_places(part[CLUSTER])
        connected = connected_parts(place, asked)
        if connected.any():
            groups = [names.filter(connected == first).to_list() for first in np.unique(connected)]
            where = "".join(f"{name}={part[name][0]!r}: " for name in self.trials.strata)
            raise ValueError(
                f"{where}the models are in {len(groups)} parts without a common question, so that "
                f"no question connects them: {'; '.join(map(str, groups))}. Compare each part by "
                "itself."
            )
        return adjusted_means(place, asked, part["estimate"].to_numpy() / unit, 1.0, cluster)


def _value_places(column: pl.Series) -> Ints:
    """Place of each value among the distinct values, from 0 on, ascending."""
    return (column.rank("dense") - 1).to_numpy().astype(np.int64)


def _score_ends(metric: Metric) -> Bounds:
    """The range of a score, clipped to the bounds of the metric."""
    ends = metric.support if metric.bounds is None else np.clip(metric.support, *metric.bounds)
    return float(ends[0]), float(ends[1])
