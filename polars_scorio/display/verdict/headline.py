"""The verdict at the top of a page: who leads, by how much, and what is undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_scorio.display.number_format import Scale, sigma_values
from polars_scorio.display.phrases import count_of, name_list, range_text, short_name
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.labels import metric_label
from polars_scorio.display.verdict.scopes import Scope
from polars_scorio.metrics.metric import Metric

_SAME = 1e-9  # numbers that differ by less are the same
_SENTENCES = 5  # strata with a sentence each, if there is none of all models
_PAIR = 2


def verdict_sentence(
    overall: Scope | None,
    parts: Sequence[Scope],
    settings: Settings,
    biased: Sequence[str] = (),
    best_steps: Sequence[str] = (),
) -> str:
    """Sentence that says who leads, by how much, and how many models may be as good.

    Parameters
    ----------
    overall : Scope or None
        The scope that the page is about; None if no stratum has all models.
    parts : sequence of Scope
        The strata.
    settings : Settings
        Confidence of the intervals.
    biased : sequence of str
        Models whose trials stopped on outcomes: with one of them no model is named.
    best_steps : sequence of str
        Sentences on the best step of each model. That of a single run comes first.
    """
    if biased:
        return (
            f"These numbers are biased: trials of {name_list(biased)} stopped on outcomes, such as "
            "a retry until success. No model is called better than another."
        )
    if overall is not None:
        first = [*best_steps] if len(overall.models) == 1 else []
        return " ".join([*first, _step_words(overall, parts) + _scope_sentence(overall, settings)])
    told = [f"In {part.name}: {_scope_sentence(part, settings)}" for part in parts[:_SENTENCES]]
    rest = len(parts) - _SENTENCES
    told += [f"There are {rest:,} more strata."] * (rest > 0)
    return " ".join(["No stratum has all models.", *told])


def _step_words(overall: Scope, parts: Sequence[Scope]) -> str:
    """Beginning of the sentence on a step; empty if the scope is the whole log."""
    if not overall.name:
        return ""
    lacking = len(parts[-1].models) < len(overall.models)
    return f"At {overall.name}, the last one{' that all models have' * lacking}: "


def verdict_basis(scope: Scope, settings: Settings) -> str:
    """Metric, questions, trials and criterion of the verdict.

    They stand below it, and behind it where the command prints it.
    """
    dot = " \N{MIDDLE DOT} "
    rows = lead_rows(scope)
    asked = int(rows["questions"].max())  # type: ignore[arg-type]  # integers
    trials = rows["trials"]
    ends = int(trials.min()), int(trials.max())  # type: ignore[arg-type]  # as above
    at_once = ", for all pairs at once" if len(scope.models) > _PAIR else ""
    looks = "" if settings.anytime is None else ", at every look"
    return dot.join(
        [
            lead_label(scope),
            count_of(asked, "question"),
            f"{range_text(*ends)} trial{'' if ends[1] == 1 else 's'} of each model",
            f"{settings.level} confidence{at_once}{looks}",
        ]
    )


def _scope_sentence(scope: Scope, settings: Settings) -> str:
    rows = lead_rows(scope)
    first, *others = scope.ranks.rows(named=True)
    leading = rows.row(by_predicate=pl.col("model") == first["model"], named=True)
    number = scale_of(rows).cell(leading["mu"], leading["lo"], leading["hi"], unit=True)
    metric = lead_label(scope)
    if not others:
        return f"{short_name(first['model'])} scores {number} ({metric})."
    if first["rank"] is None:
        return f"The models cannot be ranked by {metric}: some questions have too few trials."
    if len(scope.models) == _PAIR:
        return _pair_sentence(scope)
    if scope.pairs["better"].null_count() == scope.pairs.height:
        return (
            f"Nothing is decided between {len(scope.models):,} models: the gap of first and last "
            f"is at most {points_text(scope, _largest_gap(scope.pairs))} ({metric})."
        )
    leaders = [row["model"] for row in (first, *others) if row["rank"] == first["rank"]]
    one = len(leaders) == 1
    leads = f"{name_list(leaders)} {'leads' if one else 'share the lead'} with {number} ({metric})"
    rivals = [name for name in rival_models(scope) if name not in leaders]
    if rivals:
        are, them = "is" if len(rivals) == 1 else "are", "it" if one else "them"
        return (
            f"{leads}; {count_of(len(rivals), 'other model')} {are} statistically "
            f"indistinguishable from {them}."
        )
    worse = len(scope.models) - len(leaders)
    all_others = "the other one is" if worse == 1 else f"all {worse:,} others are"
    return f"{leads}; {all_others} worse, at {settings.level} confidence."


def _pair_sentence(scope: Scope) -> str:
    """Sentence about two models: which is better, by how much."""
    first, second = map(short_name, scope.models)
    gap = pair_gap(scope, *scope.models)
    by = f"by {gap.words(scope)} ({lead_label(scope)})."
    if gap.better is not None:
        winner, loser = (first, second) if gap.better == scope.models[0] else (second, first)
        return f"{winner} beats {loser} {by}"
    if abs(gap.diff) < _SAME:
        return (
            f"Nothing is decided: {first} and {second} have the same score, and the gap is at most "
            f"{points_text(scope, max(-gap.lo, gap.hi))} ({lead_label(scope)})."
        )
    return f"Nothing is decided: {first} is ahead of {second} {by}"


@dataclass(frozen=True, slots=True)
class PairGap:
    """Difference of two models with its interval, probability and verdict."""

    diff: float
    lo: float
    hi: float
    prob: float
    better: str | None

    def turned(self) -> PairGap:
        """The second model against the first one."""
        return PairGap(-self.diff, -self.hi, -self.lo, 1 - self.prob, self.better)

    def words(self, scope: Scope) -> str:
        """The difference with its interval."""
        scale = scale_of(lead_rows(scope))
        ends = f"[{scale.text(self.lo)}, {scale.text(self.hi)}]"
        return f"{points_text(scope, self.diff)} {ends}"


def pair_gap(scope: Scope, first: str, second: str) -> PairGap:
    """The first model against the second one."""
    numbers = scope.pairs.select("model_a", "model_b", "diff", "lo", "hi", "prob", "better")
    there = numbers.filter(model_a=first, model_b=second)
    if there.height:
        return PairGap(*there.row(0)[2:])
    return PairGap(*numbers.filter(model_a=second, model_b=first).row(0)[2:]).turned()


def _largest_gap(pairs: pl.DataFrame) -> float:
    """Largest difference of any two models that the intervals leave open."""
    return float(pairs.select(pl.max_horizontal(-pl.col("lo"), "hi").max()).item())


def points_text(scope: Scope, value: float) -> str:
    """A difference with its unit: points where the metric is shown in percent."""
    scale = scale_of(lead_rows(scope))
    return scale.text(value) + (" points" if scale.percent else "")


def selected_words(scope: Scope) -> str:
    """The corrected interval of the leader; empty if there is nothing to select from."""
    if scope.best.is_empty():
        return ""
    best, scale = scope.best.row(0, named=True), scale_of(lead_rows(scope))
    if best["candidates"] is None or best["candidates"] < _PAIR or best["best_lo"] is None:
        return ""
    return (
        f"The interval of {short_name(scope.models[0])}, corrected for being the best of "
        f"{best['candidates']:,}: [{scale.text(best['best_lo'])}, {scale.text(best['best_hi'])}]."
    )


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
    return metric_rows(scope, scope.lead, scope.lead.row_sizes[0])


def metric_rows(scope: Scope, metric: Metric, k: int | None) -> pl.DataFrame:
    """The rows of a metric with one draw size."""
    rows = scope.rows.filter(metric=metric.name)
    return rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))


def scale_of(rows: pl.DataFrame) -> Scale:
    """Unit and decimals for the numbers of a metric."""
    return Scale.of(rows["mu"], sigma_values(rows))


def lead_label(scope: Scope) -> str:
    """The leading metric as people write it."""
    return metric_label(scope.lead, scope.lead.row_sizes[0], scope.each)


def estimate_differs(rows: pl.DataFrame) -> pl.Series:
    """Whether the estimate is another number than the posterior mean."""
    return ((rows["estimate"] - rows["mu"]).abs() > _SAME).fill_null(value=False)
