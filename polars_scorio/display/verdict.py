"""The sentence above the page, and its alerts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import polars as pl

from polars_scorio.counting.categories import SuccessWarning, check_counted_labels, counted_classes
from polars_scorio.counting.log import CATEGORY, COUNT, bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import class_members
from polars_scorio.counting.ways_out import JOINED_IDS, escaped_text
from polars_scorio.decisions.best import best
from polars_scorio.display.log_summary import LogSummary, key_labels, metric_label
from polars_scorio.display.scopes import (
    Scope,
    common_questions,
    default_metrics,
    knows_success,
    page_scopes,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.words import (
    Scale,
    count_of,
    name_list,
    number_list,
    range_text,
    short_name,
    sigma_values,
    text_list,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.log_checks import CheckWarning, LogChecks
from polars_scorio.subjects.judged import JudgeWarning

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
    """Sentence on who leads, by how much, and how many models may be as good.

    If trials of a model stopped on outcomes (`biased`), no model is named. `overall` is None if no
    stratum has all models. `best_steps` has a sentence per model; a single run's comes first.
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
    looks = "" if settings.planned is None else ", at every look"
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
        sure = (pl.col("prob_better") - 0.5).abs() > settings.confidence / 2
        alone = scope.pairs.filter(sure).height  # chances are about each pair alone
        none = f"{count_of(alone, 'pair')} would be decided alone, none with all at once,"
        return (
            f"{none if alone else 'Nothing is decided'} between {len(scope.models):,} models: the "
            f"gap of first and last is at most "
            f"{points_text(scope, _largest_gap(scope.pairs))} ({metric})."
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
    prob_better: float
    better: str | None

    def turned(self) -> PairGap:
        """The second model against the first one."""
        return PairGap(-self.diff, -self.hi, -self.lo, 1 - self.prob_better, self.better)

    def words(self, scope: Scope) -> str:
        """The difference with its interval."""
        scale = scale_of(lead_rows(scope))
        ends = f"[{scale.text(self.lo)}, {scale.text(self.hi)}]"
        return f"{points_text(scope, self.diff)} {ends}"


def pair_gap(scope: Scope, first: str, second: str) -> PairGap:
    """The first model against the second one."""
    numbers = scope.pairs.select("model_a", "model_b", "diff", "lo", "hi", "prob_better", "better")
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
    rivals = {*unsure["model_a"], *unsure["model_b"]} - {first}
    return [name for name in scope.models if name in rivals]


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


_FEW = 10  # questions, below which the sections say little
_GROUPS = 3  # of identical models that are named
_DEPENDENT = "Trials that are not independent"


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning on a page: its title and its text."""

    title: str
    text: str


def coverage_alerts(look: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    """Warnings about the coverage of a log, the most important first."""
    yield from _named_runs(look)
    yield from _identical_models(look)
    yield from _numbered_models(look)
    yield from _missing_questions(look, coverage)
    yield from _few_questions(look)
    yield from _missing_models(look)
    yield from _unfinished_runs(coverage)
    yield from _skipped_runs(look)
    yield from _missing_outcomes(look, coverage)
    yield from _repeated_ids(coverage)
    yield from _trial_numbers(coverage)


def biased_models(checks: LogChecks, settings: Settings) -> list[str]:
    """Models whose numbers are biased, since their trials stopped on outcomes.

    Posteriors under the population allow for it.
    """
    pooled = isinstance(settings.prior, str) and settings.prior == "population"
    return [] if pooled else checks.stopped_models()


def _by_model(coverage: pl.DataFrame, column: str, *, same: bool = False) -> list[tuple[str, int]]:
    """The models of which something is to be said, the worst first; once if strata are the same."""
    number = pl.col(column).max() if same else pl.col(column).sum()
    totals = coverage.group_by("model").agg(number).filter(pl.col(column) > 0)
    return totals.sort(pl.col(column), "model", descending=[True, False]).rows()


def _missing_questions(look: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    lacking = _by_model(coverage, "missing", same=look.steps is not None)
    if lacking:
        keys, asked = ["stratum", "question"], look.question_count
        lost = look.cells.join(common_questions(look), on=keys, how="anti")
        left_out = lost.select(look.question_keys).n_unique()
        yield Alert(
            "Missing questions",
            f"{count_of(len(lacking), 'model')} {'lacks' if len(lacking) == 1 else 'lack'} "
            f"questions that other models have ({number_list(lacking)}). The numbers leave out "
            f"{left_out:,} of {asked:,} questions, which not all models have. If those that are "
            "missing were hard, the models that lack them look better than they are.",
        )


def _few_questions(look: LogSummary) -> Iterator[Alert]:
    asked = look.question_count
    if asked < _FEW:
        yield Alert(
            "Few questions",
            f"The log has {count_of(asked, 'question')} in all. The intervals are about these "
            "questions; about others they say next to nothing.",
        )


def _identical_models(look: LogSummary) -> Iterator[Alert]:
    groups = look.identical
    if groups:
        named = "; ".join(name_list(names) for names in groups[:_GROUPS])
        yield Alert(
            "Identical models",
            f"The same outcomes at every question: {named}. Was one file read under several names?",
        )


# The word before the last number of a name: of runs, and of models that differ.
_RUN_WORDS = {"run", "rs", "seed", "rep", "trial", "try", "attempt", "epoch", "sample", "iter"}
_MODEL_WORDS = {"stage", "level", "step", "layer", "checkpoint", "v", "shot", "k", "b", "budget"}
_NUMBERED = re.compile(r"(.*?([A-Za-z]*))([^A-Za-z0-9]*)(\d+)((?:[^A-Za-z0-9]\D*)?)", re.DOTALL)
_COUNTED = 3  # models, from where on 0, 1, 2, ... or 1, 2, 3, ... are counted


def _numbered_models(look: LogSummary) -> Iterator[Alert]:
    """Models with the same questions whose names differ in the last number: runs of one model?"""
    asked = look.each.group_by("model").agg(pl.struct("stratum", "question").hash().sum())
    groups: dict[tuple[object, ...], list[tuple[str, int]]] = {}
    for name, questions in asked.sort("model").iter_rows():
        if found := _NUMBERED.fullmatch(name):
            start, word, separator, number, end = found.groups()
            known = groups.setdefault((start, word, separator, end, questions), [])
            known.append((name, int(number)))
    for (start, word, separator, end, _), models in groups.items():
        numbers = sorted(number for _, number in models)
        if len(models) > 1 and _count_runs(str(word).lower(), str(separator), numbers):
            before, between, after = (escaped_text(str(each)) for each in (start, separator, end))
            yield Alert(
                "Runs of one model?",
                f"{name_list(name for name, _ in models)} differ in a number alone. If they are "
                f'runs of one model, read them as one: model=r"({before}){between}\\d+{after}" '
                f"finds its name in the paths, and {JOINED_IDS} tells their trials apart.",
            )


def _count_runs(word: str, separator: str, numbers: list[int]) -> bool:
    """Whether the word before numbers, or the numbers, say that they count runs."""
    first, counted = numbers[0], [*range(numbers[0], numbers[0] + len(numbers))]
    in_order = numbers == counted and first in {0, 1} and len(numbers) >= _COUNTED
    return word not in _MODEL_WORDS and (word in _RUN_WORDS or (in_order and bool(separator)))


def _missing_models(look: LogSummary) -> Iterator[Alert]:
    models = look.cells.group_by("stratum").agg(pl.col("model").n_unique()).sort("stratum")
    partial = models.filter(pl.col("model") < len(look.models))["stratum"].to_list()
    if partial:
        yield Alert(
            "Missing models",
            f"Not all {len(look.models):,} models were run on {name_list(partial)}. Numbers over "
            "all strata leave that out.",
        )


def _unfinished_runs(coverage: pl.DataFrame) -> Iterator[Alert]:
    """Models of which fewer trials are in the log than their tool planned."""
    if "planned" not in coverage.columns:
        return
    rows = pl.col("trials") + pl.col("nulls")
    known = coverage.filter(pl.col("planned").is_not_null()).group_by("model")
    totals = known.agg(rows.sum().alias("rows"), pl.col("planned").sum())
    short = totals.filter(pl.col("rows") < pl.col("planned")).sort("model")
    if short.height:
        parts = [
            f"{short_name(model)}: {found:,} of {planned:,}"
            for model, found, planned in short.rows()
        ]
        yield Alert(
            "Unfinished runs",
            f"The tool planned more trials than the log has ({text_list(parts)}). Trials that are "
            "missing may be the hard ones.",
        )


def _skipped_runs(look: LogSummary) -> Iterator[Alert]:
    """Runs of which no trial is in the log, because they were stopped before the first one."""
    number = len(look.skipped)
    if number:
        yield Alert(
            "Skipped runs",
            f"{count_of(number, 'run')} {'was' if number == 1 else 'were'} stopped before the "
            f"first trial ({text_list(look.skipped)}). The numbers leave that out.",
        )


def _missing_outcomes(look: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    missing = _by_model(coverage, "nulls")
    if not missing:
        return
    meaning = look.trials.roles.missing
    handled = {
        "error": 'A report refuses them: missing="drop" leaves them out, a category counts them.',
        "drop": "They were dropped, which flatters a model that crashes on hard questions.",
    }.get(str(meaning), f"They count as category {meaning!r}.")
    yield Alert(
        "Dropped trials" if meaning == "drop" else "Missing outcomes",
        f"{count_of(sum(number for _, number in missing), 'trial')} without an outcome "
        f"({number_list(missing)}). {handled}",
    )


def _repeated_ids(coverage: pl.DataFrame) -> Iterator[Alert]:
    repeated = _by_model(coverage, "duplicates")
    if repeated:
        yield Alert(
            "Duplicates",
            f"{count_of(sum(number for _, number in repeated), 'trial')} with the id of an earlier "
            f"trial ({number_list(repeated)}): a file was read twice, or a stratum is missing.",
        )
    elif coverage["duplicates"].is_null().any():
        yield Alert(
            "Unchecked duplicates",
            "Rows have no trial ids, or the ids were not checked: repeated trials would not be "
            "noticed.",
        )


def _trial_numbers(coverage: pl.DataFrame) -> Iterator[Alert]:
    least, most = coverage.select(pl.col("n_min").min(), pl.col("n_max").max()).row(0)
    if most == 1:
        yield Alert(
            "One trial per question",
            "One trial does not show how reliable a model is on a question; intervals rest on what "
            "the questions have in common.",
        )
    elif least != most:
        yield Alert("Unequal trials", f"Questions have {range_text(least, most)} trials.")


def dependent_trials(checks: LogChecks) -> Iterator[Alert]:
    """Models whose trials count for less than they are, and what the first of them shows."""
    words = checks.alarm_words()
    if words is not None:
        yield Alert(_DEPENDENT, words)


def _named_runs(look: LogSummary) -> Iterator[Alert]:
    """Runs that were named, which the counts of a page do not know."""
    if look.trials.run is not None and look.trials.roles.effects not in {"none", "seen"}:
        yield Alert(
            "These very runs",
            "Intervals and verdicts of this page are about the runs of the log, not about others "
            "like these: report(), compare() and gate() add how far runs are apart.",
        )


def draws_beyond_trials(scope: Scope, metrics: Sequence[Metric]) -> Iterator[Alert]:
    """The draw sizes that some questions do not reach."""
    short = scope.rows.filter(pl.col("estimate").is_null(), pl.col("k").is_not_null())
    lacking = set(short.select("metric", "k").rows())
    names = [
        metric_label(metric, k)
        for metric in metrics
        for k in metric.row_sizes
        if (metric.name, k) in lacking
    ]
    if names:
        yield Alert(
            "More draws than trials",
            f"{text_list(names)}: some questions have fewer trials than are drawn. No unbiased "
            "estimate exists, and the numbers rest on an assumption about the questions.",
        )


_RUNS = 3  # models with a sentence on their best step


def best_step_sentences(look: LogSummary, main: Scope, settings: Settings) -> list[str]:
    """A sentence on the best step of each of the first models; `main` is the last step.

    None if trials stopped on outcomes, or if the questions change along the steps: then scores of
    different steps cannot be compared.
    """
    (name,) = look.trials.strata
    log, roles = stepped_log(look)
    if main.biased or not _same_questions(log, name):
        return []
    steps = replace(roles, model=name, by="model")
    found = best(log, steps, main.lead, **settings.report).collect()
    of_model = {row["model"]: row for row in found.iter_rows(named=True)}
    lines = [_best_step_words(of_model[model], name, main) for model in main.models[:_RUNS]]
    return [line for line in lines if line]


def stepped_log(look: LogSummary) -> tuple[pl.LazyFrame, Roles]:
    """The counts of a log, whose steps are numbers or times again, and their roles."""
    assert look.steps is not None  # the strata are steps
    (name,) = look.trials.strata
    log = look.cells.join(look.steps, on="stratum", how="left").drop("stratum").rename({"at": name})
    return log.lazy(), replace(look.roles, by=name)


def log_of_scope(look: LogSummary, scope: Scope) -> tuple[pl.LazyFrame, Roles]:
    """The rows of a log in the strata that a scope is about, and their roles.

    A scope with a name is one stratum, or step; the whole log is the strata that all models have.
    """
    trials, names = look.trials, [*look.trials.strata]
    if not names:
        return trials.frame, trials.roles
    label, whole = pl.col("stratum"), pl.col("model").n_unique() == len(look.models)
    known = look.cells.group_by(label).agg(whole.alias("whole"))
    of_scope = pl.col("whole")
    if scope.name:
        of_scope = (label == scope.name) | (pl.lit(f"{names[0]} ") + label == scope.name)
    labels = key_labels(look.questions, names).cast(pl.String).alias("stratum")
    chosen = known.filter(of_scope)["stratum"].to_list()
    if len(chosen) == known.height:
        return trials.frame, trials.roles
    keys = look.questions.select(names).filter(labels.is_in(chosen)).unique()
    rows = trials.frame.join(
        keys.lazy(),
        left_on=[part.expr for part in trials.by],
        right_on=names,
        how="semi",
        nulls_equal=True,
    )
    return rows, replace(trials.roles, by=()) if scope.name else trials.roles


def _same_questions(log: pl.LazyFrame, name: str) -> bool:
    """Whether each model has the same questions at all of its steps."""
    asked = log.select("model", name, "question").unique().group_by("model")
    counted = asked.agg(pl.len(), pl.col(name, "question").n_unique()).collect()
    return bool((counted["len"] == counted[name] * counted["question"]).all())


def _best_step_words(row: Mapping[str, Any], name: str, main: Scope) -> str:
    """Sentence on the best step of one model; empty if there is nothing to select from."""
    if row["candidates"] < _PAIR or row["best_lo"] is None:
        return ""
    of = f" of {short_name(row['model'])}" if len(main.models) > 1 else ""
    number = scale_of(lead_rows(main)).cell(
        row["estimate"], row["best_lo"], row["best_hi"], unit=True
    )
    words = (
        f"The best step{of} is {row[name]}: {number}, an interval corrected for being the best of "
        f"{row['candidates']:,}"
    )
    rivals = [step for step in row["could_be_best"] if step != row[name]]
    return f"{words}; {name_list(rivals)} may be as good." if rivals else f"{words}."


_NAMED = 5  # so many categories are named


@dataclass(frozen=True, slots=True)
class LogVerdict:
    """The verdict, and the scopes that it was read from."""

    metrics: tuple[Metric, ...]  # asked for (but for costs), or suited to the log
    overall: Scope | None  # scope of the headline; None if no stratum has all models
    parts: list[Scope]  # strata, if any
    headline: str  # who leads
    basis: str  # metric and criterion
    outcomes: str  # what counted as success and as failure
    alerts: list[Alert]  # what to know before the numbers
    best_steps: list[str]  # one per model, if strata are steps of the same questions

    @property
    def main(self) -> Scope:
        """The scope that the headline is about, or the first stratum."""
        return self.overall or self.parts[0]


def log_verdict(
    look: LogSummary, coverage: pl.DataFrame, metrics: Sequence[Metric], settings: Settings
) -> LogVerdict:
    """The verdict of a log that was counted; without `metrics`, by what suits the log."""
    look.refuse()
    scores = tuple(metric for metric in metrics if metric.looks_at != "costs")
    scores = scores or default_metrics(look)
    for metric in scores:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: a page is made of counts of categories, in which there are no "
                "answers: leave it out, and show votes with leaderboard and plot"
            )
    if not any(metric.w for metric in scores):
        check_counted_labels(look.cells, look.trials)
    with without_repeated_warnings():
        overall, parts = page_scopes(look, scores, settings)
    checks = look.checks()
    biased = biased_models(checks, settings)
    if biased:
        overall = None if overall is None else replace(overall, biased=True)
        parts = [replace(part, biased=True) for part in parts]
    main = overall or parts[0]
    best_steps = []
    if look.steps is not None:
        with without_repeated_warnings():
            best_steps = best_step_sentences(look, main, settings)
    return LogVerdict(
        metrics=scores,
        overall=overall,
        parts=parts,
        headline=verdict_sentence(overall, parts, settings, biased, best_steps),
        basis=verdict_basis(main, settings),
        outcomes=outcome_words(look, scores),
        alerts=[
            *dependent_trials(checks),
            *coverage_alerts(look, coverage),
            *draws_beyond_trials(main, scores),
        ],
        best_steps=best_steps,
    )


def outcome_words(look: LogSummary, metrics: Sequence[Metric]) -> str:
    """Sentences on the categories that counted as success and as failure; empty without any."""
    if not knows_success(look.cells, look.roles, metrics):
        return ""
    cells = bind_roles(look.cells.lazy(), look.roles)
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    classes = counted_classes(cells, weighted, binary=True)
    members = class_members(cells, classes)
    succeeded = pl.any_horizontal(members[place] for place in classes.successful)
    trials = cells.rows().filter(pl.col(CATEGORY).is_not_null(), pl.col(COUNT) > 0)
    counted = trials.group_by(CATEGORY).agg(pl.col(COUNT).sum().cast(pl.Int64))
    rows = counted.sort(-pl.col(COUNT), CATEGORY).with_columns(succeeded.alias("")).collect()
    name, threshold = look.trials.category.name, look.trials.roles.threshold

    def words(category: object) -> str:
        if threshold is not None:
            return f"{short_name(name)} {'at least' if category else 'below'} {threshold:g}"
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return str(category).lower() if isinstance(category, bool) else short_name(category)

    parts = []
    for title, chosen in (("Success", True), ("Failure", False)):
        found = rows.filter(pl.col("") == chosen).select(CATEGORY, COUNT).rows()
        texts = [f"{words(category)} ({number:,})" for category, number in found[:_NAMED]]
        if found[_NAMED:]:
            others = sum(number for _, number in found[_NAMED:])
            texts.append(f"{len(found) - _NAMED:,} more ({others:,})")
        parts.append(f"{title}: {', '.join(texts) or 'none'}.")
    return " ".join(parts)


def refusal_words(error: Exception) -> str:
    """The sentence in place of a verdict."""
    return f"This log cannot be reported. {error}"


@contextmanager
def without_repeated_warnings() -> Iterator[None]:
    """Ignore what reports of strata warn of: a page warns once, about the whole log.

    Of trials that are not independent it has an alert, of judges a sentence.
    """
    with catch_warnings():
        simplefilter("ignore", SuccessWarning)
        simplefilter("ignore", CheckWarning)
        simplefilter("ignore", JudgeWarning)
        yield
