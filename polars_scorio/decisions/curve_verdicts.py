"""Verdicts about pairs of models that hold at all draw sizes at once, and how they read.

A curve that is compared pair by pair and k by k has a false verdict somewhere in about a tenth of
the logs. Here pairs and k are one family; see `maths.curves`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polars_scorio.counting.roles import Category
from polars_scorio.decisions.model_scores import ModelRows, Models
from polars_scorio.decisions.models import Block
from polars_scorio.maths.array_rows import Mask
from polars_scorio.maths.curves import first_stretch, last_stretch
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.calibrated import credited_classes
from polars_scorio.study.request import DecisionOptions
from polars_scorio.subjects.curve_paths import pair_critical, pair_path
from polars_scorio.subjects.score_differences import Differences, Scores


def refuse_curve(metric: Metric, options: DecisionOptions) -> None:
    """Refuse curves of posteriors and of costs, whose points have no common critical value.

    Raises
    ------
    ValueError
        With what answers the question.
    """
    if options.get("prior") is not None or metric.looks_at == "costs" or not metric.calibrated:
        raise ValueError(
            f"{metric.name}: simultaneous=True makes one statement of several k, by calibrated "
            "numbers of outcomes: posteriors and costs have none. Leave prior= out, ask for one k "
            "at a time, or compare each pair alone"
        )


def stretch_dtypes(model: pl.DataType, baseline: Category | None) -> dict[str, pl.DataType]:
    """The columns that read the curve of a pair from both of its ends."""
    k = pl.Int64()
    found = {"first_better": model, "first_to": k, "last_better": model, "last_from": k}
    return found if baseline is None else {**found, "gain_to": k, "loss_from": k}


def curve_verdicts(
    models: Models, rows: Sequence[ModelRows], block: Block, scores: Sequence[Scores]
) -> list[tuple[Differences, Mask]]:
    """Numbers and verdicts of the pairs of a block at each draw size, all of which hold at once."""
    a, b = block.pairs()
    nothing = np.zeros((block.strata.size, a.size))
    plain = [each.pair_differences(a, b, nothing) for each in scores]
    ((metric, view),) = models.request.metrics
    judged = models.trials.judged
    success = None if judged else credited_classes(metric, view, models.request.classes)
    of_k = [each.found.models(each.row, block.rows) for each in rows]
    path = pair_path(of_k, scores, a, b, success, [each.sigma for each in plain])
    c = pair_critical(scores, a, b, models.confidence, block.baseline, path)
    found = []
    for each, numbers in zip(scores, plain, strict=True):
        known = np.isfinite(numbers.sigma)
        lo, hi = (
            np.where(known, end, forecast)
            for end, forecast in zip(each.pair_ends(a, b)(c), numbers[2:], strict=True)
        )
        banded = numbers._replace(lo=lo, hi=hi)
        found.append((banded, banded.without_zero()))
    return found


def stretch_columns(
    models: Models,
    numbers: Sequence[Differences],
    block: Block,
    names: pl.Series,
    *,
    beside_baseline: bool,
) -> pl.DataFrame:
    """The models that are better from either end of the curve on, and how far, for each pair."""
    k = np.array([size or 0 for size in models.metric.row_sizes])
    known = np.isfinite(np.stack([each.sigma for each in numbers], axis=-1))
    band = (np.stack([each[end] for each in numbers], axis=-1) for end in (2, 3))
    lo, hi = (np.where(known, end, np.nan) for end in band)
    if models.sign < 0:
        lo, hi = -hi, -lo
    sides = [block.rows[:, side].ravel() for side in block.pairs()]
    found: dict[str, pl.Series] = {}
    for end, far, stretch in (
        ("first", "first_to", first_stretch(k, lo, hi)),
        ("last", "last_from", last_stretch(k, lo, hi)),
    ):
        sign, reach = (pl.Series(each.ravel()) for each in stretch)
        better = names.gather(np.where(sign > 0, *sides))
        found[f"{end}_better"] = better.set(sign == 0, None)
        found[far] = reach.set(sign == 0, None)
        if beside_baseline:
            name, wrong = ("gain_to", sign < 1) if end == "first" else ("loss_from", sign > -1)
            found[name] = reach.set(wrong, None)
    return pl.DataFrame(found)
