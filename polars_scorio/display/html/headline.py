"""The sentence at the top of a page: who leads, by how much, and what is undecided."""

from __future__ import annotations

import polars as pl

from polars_scorio.display.html.labels import metric_label
from polars_scorio.display.html.scopes import Scope
from polars_scorio.display.number_format import Scale, sigma_values
from polars_scorio.display.phrases import count_of, name_list
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric

_SAME = 1e-9  # numbers that differ by less are the same


def headline_sentence(overall: Scope | None, parts: list[Scope], settings: Settings) -> str:
    """Sentence that says who leads, by how much, and how many pairs are undecided.

    Parameters
    ----------
    overall : Scope or None
        The whole log, if there is a stratum that has all models.
    parts : list of Scope
        The strata.
    settings : Settings
        Confidence of the intervals.
    """
    if overall is not None:
        return _scope_sentence(overall, settings)
    return "No stratum has all models. " + " ".join(
        f"In {part.name}: {_scope_sentence(part, settings)}" for part in parts
    )


def _scope_sentence(scope: Scope, settings: Settings) -> str:
    rows = lead_rows(scope)
    first, *others = scope.ranks.rows(named=True)
    leading = rows.row(by_predicate=pl.col("model") == first["model"], named=True)
    scale = scale_of(rows)
    number = scale.cell(leading["mu"], leading["lo"], leading["hi"], unit=True)
    metric = lead_label(scope)
    if not others:
        return f"{first['model']} scores {number} ({metric})."
    if first["rank"] is None:
        return f"The models cannot be ranked by {metric}: some questions have too few trials."
    leaders = [row["model"] for row in (first, *others) if row["rank"] == first["rank"]]
    one = len(leaders) == 1
    best = scope.best.row(0, named=True)
    corrected = (
        f"corrected for being the best of {best['candidates']:,}: "
        f"[{scale.text(best['best_lo'])}, {scale.text(best['best_hi'])}]"
    )
    unsure = [name for name in best["could_be_best"] if name not in leaders]
    others_are = f"all others are worse, at {settings.level} confidence; "
    if unsure:
        others_are = f"{count_of(len(unsure), 'other model')} may be the best; "
    elif len(leaders) > len(others):
        others_are = ""
    undecided, pairs = scope.pairs["better"].null_count(), scope.pairs.height
    are = "is" if 1 in {undecided, pairs} else "are"
    return (
        f"{name_list(leaders)} {'leads' if one else 'share the lead'} with {number} ({metric}); "
        f"{corrected}; {others_are}{undecided:,} of {count_of(pairs, 'pair')} {are} undecided "
        f"at {settings.level}."
    )


def possible_best_words(scope: Scope, settings: Settings) -> str:
    """The models that may be the best; empty if the models cannot be ranked.

    One interval for all pairs at once needs more evidence: a model that cannot be the best may
    still be statistically indistinguishable from the first one.
    """
    possible = [*scope.best["could_be_best"][0]]
    if not possible:
        return ""
    models = [name for name in scope.models if name in possible]
    only = f"only {models[0]} may be" if len(models) == 1 else f"{name_list(models)} may be"
    return f"{only} the best, at {settings.level} confidence"


def rival_models(scope: Scope) -> list[str]:
    """Models that are statistically indistinguishable from the first one."""
    first = scope.models[0]
    both = pl.any_horizontal(pl.col("model_a", "model_b") == first)
    unsure = scope.pairs.filter(both, pl.col("better").is_null())
    return [name for name in scope.models if name != first and _in_pairs(name, unsure)]


def _in_pairs(name: str, pairs: pl.DataFrame) -> bool:
    return name in pairs["model_a"] or name in pairs["model_b"]


def lead_rows(scope: Scope) -> pl.DataFrame:
    """The rows of the leading metric."""
    return metric_rows(scope, scope.lead, scope.lead.k[0])


def metric_rows(scope: Scope, metric: Metric, k: int | None) -> pl.DataFrame:
    """The rows of a metric with one draw size."""
    rows = scope.rows.filter(metric=metric.name)
    return rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))


def scale_of(rows: pl.DataFrame) -> Scale:
    """Unit and decimals for the numbers of a metric."""
    return Scale.of(rows["mu"], sigma_values(rows))


def lead_label(scope: Scope) -> str:
    """The leading metric as people write it."""
    return metric_label(scope.lead, scope.lead.k[0], scope.each)


def estimate_differs(rows: pl.DataFrame) -> pl.Series:
    """Whether the estimate is another number than the posterior mean."""
    return ((rows["estimate"] - rows["mu"]).abs() > _SAME).fill_null(value=False)
