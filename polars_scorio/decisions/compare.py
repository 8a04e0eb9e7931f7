"""Which of two models is better, and how sure is that?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import Overall, SpokenTests, check_flag, planned_looks
from polars_scorio.counting.judge_counts import Judge
from polars_scorio.counting.log import Log, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.decisions.models import (
    PAIRS,
    PRIOR_DECIDES,
    STRATUM,
    Block,
    ModelRows,
    Models,
    baseline_columns,
    bounds_column,
    bounds_dtype,
    checked_model,
    in_all_strata,
    metric_of,
    models_of,
    named_model,
    refuse_many_pairs,
    warn_of_prior,
)
from polars_scorio.maths.array_rows import Floats, Mask
from polars_scorio.maths.comparison import Differences, Family, Scope, z_of_each
from polars_scorio.maths.families import first_end, last_end, statement_number
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import BOUNDED, ErroredLog
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.log_checks import spoken_plan
from polars_scorio.study.report import curve_columns, with_curves
from polars_scorio.study.request import SequentialOptions, on_levels
from polars_scorio.subjects.scores import (
    INFERENCE,
    INFORMATION,
    JUDGE,
    JUDGE_DTYPES,
    JUDGED,
    LABEL_COUNT,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EACH_ALONE = "each pair alone"


def compare(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    baseline: Category | None = None,
    simultaneous: bool = True,
    overall: Overall | None = None,
    warns: bool = False,
    spoken: SpokenTests = "of small logs",
    **options: Unpack[SequentialOptions],
) -> pl.LazyFrame:
    """The plan of a comparison; see `Scorio.compare`."""
    # `warns` says whether it warns of a log of one model: pages and pictures leave out the pairs;
    # `spoken` which tests it warns of: a gate does so itself, and pictures read a log once.
    simultaneous = check_flag("simultaneous", simultaneous)
    metric = metric_of(metric, "compare", single=False)
    if roles.missing == BOUNDED:
        errored = ErroredLog.from_log(log, roles, [metric], **options)
        named_model(errored.trials, "compare")
        if baseline is not None:
            baseline = checked_model(baseline, errored.trials, "baseline")
        said = {"simultaneous": simultaneous, "overall": overall, "warns": warns, **options}
        ask = partial(compare, metric=metric, baseline=baseline, **said)  # type: ignore[arg-type]  # by name
        rows = errored.bracket(ask, "diff", each=True, baseline=baseline)
        return spoken_plan(rows, log, roles, [metric], spoken)
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials)
    model = named_model(trials, "compare")
    if baseline is not None:
        baseline = checked_model(baseline, trials, "baseline")
    sizes = metric.row_sizes
    # Draw sizes of posteriors and costs have no common critical value.
    has_curve = options.get("prior") is None and metric.looks_at != "costs" and metric.calibrated
    curves = simultaneous and len(sizes) > 1 and has_curve
    plan, models = models_of(trials, metric, options, overall, spoken=spoken)
    comparison = _ComparedPairs(models, baseline, simultaneous, warns, sizes, curves)
    dtypes = comparison.dtypes(model)
    if planned_looks(options) is not None:
        dtypes[INFORMATION] = pl.Float64()
    columns = curve_columns([*trials.strata, *dtypes], [metric])
    refuse_repeats(columns)
    beside = ("metric", "adjusted_for")
    schema = {name: dtype for name, dtype in dtypes.items() if name not in beside}
    pairs = in_all_strata(plan, trials, comparison, schema)
    # Where k exceeds the trials, a row has the ends of both models, each by itself.
    ranges = pl.col("sigma").is_null() & pl.col("lo").is_not_null()
    holds = pl.when(ranges).then(pl.lit(_EACH_ALONE)).otherwise(pl.lit(comparison.holds))
    named = pairs.with_columns(pl.lit(metric.name).alias("metric"), holds.alias("adjusted_for"))
    return with_curves(named, [metric]).select(columns)


def pair_ends(
    log: Log,
    roles: Roles,
    metric: Metric,
    pair: tuple[str, str],
    confidences: Sequence[float],
    *,
    overall: Overall | None = None,
    **options: Unpack[SequentialOptions],
) -> pl.LazyFrame:
    """The plan of the intervals, lo and hi, of one pair of models at several confidences."""
    trials = bind_roles(log, roles)
    metric, (model,) = on_levels(metric, trials), trials.models
    plan, models = models_of(trials, metric, options, overall, spoken="none")
    c = scipy.special.ndtri((1 + np.array(confidences)) / 2)

    def ends(groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        (block,), rows = models.blocks(groups[STRATUM]), models.at_k(evaluated, metric.row_sizes[0])
        names = groups[model].cast(pl.String).gather(block.rows[0]).to_list()
        a, b = (np.full(c.size, names.index(name)) for name in pair)
        gaps = rows.comparison(rows.in_block(block)).differences(a, b, c[None])
        gaps = gaps if models.sign > 0 else gaps.reversed()
        strata = pl.Series(STRATUM, np.full(c.size, block.strata[0]), pl.UInt32)
        return pl.DataFrame({STRATUM: strata, "lo": gaps.lo[0], "hi": gaps.hi[0]})

    schema: dict[str, pl.DataType] = {"lo": pl.Float64(), "hi": pl.Float64()}
    return in_all_strata(plan, trials, ends, schema)


@dataclass(frozen=True, slots=True, eq=False)
class _ComparedPairs:
    """The function from the results of all models to the differences of the pairs."""

    models: Models
    baseline: Category | None
    simultaneous: bool
    warns: bool
    sizes: tuple[int | None, ...]  # the draw sizes
    curves: bool  # whether the confidence holds for all draw sizes at once

    def dtypes(self, model: pl.DataType) -> dict[str, pl.DataType]:
        """The columns of the result, beside those of the strata."""
        return {
            "metric": pl.String(),
            "k": pl.Int64(),
            "model_a": model,
            "model_b": model,
            **dict.fromkeys(pair_numbers(self.models.metric), pl.Float64()),
            "better": model,
            **(_stretch_dtypes(model, self.baseline) if self.curves else {}),
            "adjusted_for": pl.String(),
            INFERENCE: pl.String(),
            **(JUDGE_DTYPES if self.models.request.trials.judged else {}),
            **bounds_dtype(self.models),
        }

    @property
    def holds(self) -> str:
        """The statements of a stratum for which the confidence holds at once, as users read it."""
        return _EACH_ALONE if self.scope == "each pair" else self.scope + " and k" * self.curves

    @property
    def scope(self) -> Scope:
        """The pairs of a stratum for which the confidence holds at once."""
        if not self.simultaneous:
            return "each pair"
        return "all pairs" if self.baseline is None else "all with the baseline"

    def family(self, z: Sequence[Floats]) -> Family:
        """The statements at one draw size for which it holds at once, by z at each of them."""
        confidence: Floats | float = self.models.confidence
        if self.curves:
            known, draws = ~np.isnan(np.stack(z, axis=-1)), self.models.metric.t is None
            confidence **= 1 / statement_number(self.sizes, known, draws=draws)
        return Family(confidence, self.scope)

    def __call__(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum, draw size and pair of models."""
        (model,) = self.models.trials.models
        names = groups[model]
        columns = None
        if self.baseline is not None:
            columns = baseline_columns(groups, self.models.trials, self.baseline)
        models = groups[STRATUM].value_counts()["count"].to_list()
        number = sum(n * (n - 1) // 2 if columns is None else n - 1 for n in models)
        refuse_many_pairs(max(models, default=0), number, number * len(self.sizes))
        blocks = self.models.blocks(groups[STRATUM], columns)
        parts = [self._block_rows(evaluated, block, names) for block in blocks]
        pairs = pl.concat(parts) if parts else pl.DataFrame()
        if pairs.is_empty():
            if self.warns:
                _warn_of_no_pair(names)
            return pl.DataFrame()
        winner = pl.when(pl.col("z") > 0).then("model_a").otherwise("model_b")
        return (
            warn_of_prior(pairs)
            .with_columns(names[pairs[side]].alias(side) for side in ("model_a", "model_b"))
            .with_columns(bounds_column(evaluated), better=pl.when("differs").then(winner))
        )

    def _block_rows(self, evaluated: Evaluated, block: Block, names: pl.Series) -> pl.DataFrame:
        """The rows of a block, one draw size after another."""
        a, b = block.pairs()
        every = [self.models.at_k(evaluated, k) for k in self.sizes]
        models = [rows.in_block(block) for rows in every]
        compared = [rows.comparison(each) for rows, each in zip(every, models, strict=True)]
        z_of_sizes = z_of_each(compared, a, b)
        family = self.family(z_of_sizes)
        verdicts = [family.verdicts(each, a, b) for each in compared]
        gaps = [each.differences(a, b, c) for each, (_, c) in zip(compared, verdicts, strict=True)]
        ends = ("model_a", a), ("model_b", b)
        pairs = pl.DataFrame({name: block.rows[:, side].ravel() for name, side in ends})
        parts = [
            {
                **self._named_numbers(differences, z),
                INFORMATION: each.pair_information(a, b),
                "differs": differs,
                PRIOR_DECIDES: rows.outweighed_pairs(of_strata, a, b),
            }
            for rows, of_strata, each, (differs, _), differences, z in zip(
                every, models, compared, verdicts, gaps, z_of_sizes, strict=True
            )
        ]  # fmt: skip
        # NaN says that there is no such number.
        numbers = pl.DataFrame(
            {name: np.concatenate([part[name].ravel() for part in parts]) for name in parts[0]},
            nan_to_null=True,
        )
        times, sides = len(every), ("model_a", "model_b")
        words = [rows.pair_words(pairs, sides, sides) for rows in every]
        judged = [_judged_columns(rows, pairs) for rows in every]
        differ = [differs for differs, _ in verdicts]
        beside = self._read_curves(names, pairs, differ, z_of_sizes)
        k = pl.Series("k", self.sizes, pl.Int64)
        strata = np.repeat(block.strata.astype(np.uint32), a.size)
        return pl.concat([pairs] * times).hstack(numbers).hstack(beside).with_columns(
            pl.Series(STRATUM, np.tile(strata, times)),
            pl.lit(1, pl.UInt32).alias(PAIRS),
            k[np.repeat(np.arange(times), pairs.height)],
            pl.concat(words).alias(INFERENCE),
            *(pl.concat([each[name] for each in judged]).alias(name) for name in judged[0]),
        )  # fmt: skip

    def _read_curves(
        self, names: pl.Series, pairs: pl.DataFrame, differ: Sequence[Mask], z: Sequence[Floats]
    ) -> pl.DataFrame:
        """Readings of the curve of each pair, for each draw size; no columns without curves."""
        if not self.curves:
            return pl.DataFrame()
        sides = [names.gather(pairs[side]) for side in ("model_a", "model_b")]
        signs = np.sign(np.stack(z, axis=-1)) * np.stack(differ, axis=-1)
        first = self.baseline is not None
        return pl.concat([_stretch_columns(self.sizes, signs, sides, baseline=first)] * len(z))

    def _named_numbers(self, differences: Differences, z: Floats) -> dict[str, Floats]:
        """The numbers of pairs by column; those of costs, which are of logs, as ratios."""
        differences = differences if self.models.sign > 0 else differences.reversed()
        if self.models.metric.looks_at == "costs":
            differences = cost_ratios(differences)
        numbers = (
            differences.diff,
            differences.sigma,
            z,
            scipy.special.ndtr(z),
            differences.lo,
            differences.hi,
        )
        return dict(zip(pair_numbers(self.models.metric), numbers, strict=True))


def _stretch_dtypes(model: pl.DataType, baseline: Category | None) -> dict[str, pl.DataType]:
    """The columns that read the curve of a pair from both of its ends."""
    k = pl.Int64()
    dtypes = {"first_better": model, "first_to": k, "last_better": model, "last_from": k}
    return dtypes if baseline is None else {**dtypes, "gain_to": k, "loss_from": k}


def _stretch_columns(
    sizes: Sequence[int | None],
    signs: Floats,
    sides: Sequence[pl.Series],
    *,
    baseline: bool,
) -> pl.DataFrame:
    """The models that are better from either end of the curve on, and how far, for each pair."""
    # `signs` (S, P, K): of z if a model is better, 0 if none is, NaN without a number.
    k, known = np.array([size or 0 for size in sizes]), ~np.isnan(signs)
    columns: dict[str, pl.Series] = {}
    for end, far, stretch in (
        ("first", "first_to", first_end(k, signs, known)),
        ("last", "last_from", last_end(k, signs, known)),
    ):
        sign, reach = (pl.Series(each.ravel()) for each in stretch)
        columns[f"{end}_better"] = sides[0].zip_with(sign > 0, sides[1]).set(sign == 0, None)
        columns[far] = reach.set(sign == 0, None)
        if baseline:
            name, wrong = ("gain_to", sign < 1) if end == "first" else ("loss_from", sign > -1)
            columns[name] = reach.set(wrong, None)
    return pl.DataFrame(columns)


def _warn_of_no_pair(models: pl.Series) -> None:
    """Warn that no stratum has two models; a log without any trial needs no words."""
    if len(models):
        alone = f"one model ({models[0]!r})" if models.n_unique() == 1 else "one model per stratum"
        warnings.warn(f"{alone}: nothing to compare", UserWarning, stacklevel=2)


def pair_numbers(metric: Metric) -> tuple[str, ...]:
    """The columns of numbers of a pair: models differ, but by their costs they have a ratio."""
    first = "ratio" if metric.looks_at == "costs" else "diff"
    return first, "sigma", "z", "prob_better", "lo", "hi"


def _judged_columns(rows: ModelRows, pairs: pl.DataFrame) -> dict[str, pl.Series]:
    """The differences of the verdicts as they are, and the labels behind both models of pairs."""
    # Labels that tell how often one judge errs, and which both models share, count once. `pairs`
    # has the places of both models in `model_a` and `model_b`.
    trials, evaluated = rows.models.trials, rows.evaluated
    if not trials.judged:
        return {}
    sides = [pairs[side].to_numpy() for side in ("model_a", "model_b")]
    (a, b), (one, other), judges = (
        [values[side] for side in sides]
        for values in (evaluated.of_groups(rows.row, name) for name in (JUDGED, LABEL_COUNT, JUDGE))
    )
    one_sample = isinstance(trials.roles.calibration, Judge)
    unknown = np.isnan(judges[0]) | np.isnan(judges[1])
    shared = np.where(unknown, one_sample, judges[0] == judges[1])
    return {
        JUDGED: pl.Series(a - b, nan_to_null=True),
        LABEL_COUNT: pl.Series(np.where(shared, one, one + other), nan_to_null=True).cast(
            pl.UInt64
        ),
    }


def cost_ratios(differences: Differences) -> Differences:
    """Differences of negative logs of costs as ratios of costs; sigma is that of the log.

    >>> logs = Differences(*(np.array([x]) for x in (-np.log(2), 0.1, -0.9, -0.5)))
    >>> [float(each.round(2)[0]) for each in cost_ratios(logs)]
    [2.0, 0.1, 1.65, 2.46]
    """
    ratio, lo, hi = (np.exp(-each) for each in (differences.diff, differences.hi, differences.lo))
    return differences._replace(diff=ratio, lo=lo, hi=hi)
