"""The scopes of a log, the alerts above its numbers, and how they were made."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from warnings import catch_warnings, simplefilter

import polars as pl

from polars_scorio.counting.categories import SuccessWarning, check_counted_labels, counted_classes
from polars_scorio.counting.log import CATEGORY, COUNT, bind_roles
from polars_scorio.counting.roles import TRIAL_NAMES, Roles
from polars_scorio.counting.tally import class_members
from polars_scorio.counting.ways_out import JOINED_IDS, escaped_text
from polars_scorio.display.facts.log_summary import LogSummary, metric_label
from polars_scorio.display.facts.ranking_facts import FEW_QUESTIONS
from polars_scorio.display.facts.scopes import (
    Scope,
    common_questions,
    default_metrics,
    knows_success,
    lead_rows,
    page_scopes,
)
from polars_scorio.display.phrases import (
    count_of,
    name_list,
    number_list,
    range_text,
    short_name,
    step_words,
    text_list,
)
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.count_checks import CheckFinding, spoken_findings
from polars_scorio.study.log_checks import CheckWarning, LogChecks, population_findings
from polars_scorio.study.run_terms import RunWarning
from polars_scorio.subjects import SUBJECTS
from polars_scorio.subjects.scores import INFERENCE, OTHER_RUNS

_GROUPS = 3  # of identical models that are named
_ALERTS = {  # above the numbers, the first one before all others
    "errors": "More errors of one model",
    "stopping": "Trials stopped on outcomes",
    "order": "Trials stopped on outcomes",
    "copies": "Copied trials",
    "repeats": "Repeated questions",
    "runs": "Runs differ",
    "labels": "Labels on other questions",
    "unequal": "Fewer trials of some questions",
    "mixed": "No outcome changed",
}


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning on a page: its title and its text."""

    title: str
    text: str


def coverage_alerts(log: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    """Warnings about the coverage of a log, the most important first."""
    yield from _identical_models(log)
    yield from _numbered_models(log)
    yield from _missing_questions(log, coverage)
    yield from _uneven_steps(log)
    yield from _few_questions(log)
    yield from _missing_models(log)
    yield from _unfinished_runs(coverage)
    yield from _skipped_runs(log)
    yield from _missing_outcomes(log, coverage)
    yield from _repeated_ids(coverage)
    yield from _trial_numbers(coverage)


def _by_model(coverage: pl.DataFrame, column: str, *, same: bool = False) -> list[tuple[str, int]]:
    """The models of which something is to be said, the worst first; once if strata are the same."""
    number = pl.col(column).max() if same else pl.col(column).sum()
    totals = coverage.group_by("model").agg(number).filter(pl.col(column) > 0)
    return totals.sort(pl.col(column), "model", descending=[True, False]).rows()


def _missing_questions(log: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    lacking = _by_model(coverage, "missing", same=log.steps is not None)
    if lacking:
        keys, asked = ["stratum", "question"], log.question_count
        lost = log.cells.join(common_questions(log), on=keys, how="anti")
        left_out = lost.select(log.question_keys).n_unique()
        yield Alert(
            "Missing questions",
            f"{count_of(len(lacking), 'model')} {'lacks' if len(lacking) == 1 else 'lack'} "
            f"questions that other models have ({number_list(lacking)}). The numbers leave out "
            f"{left_out:,} of {asked:,} questions, which not all models have. If those are "
            "hard, all models look better than they are.",
        )


def _uneven_steps(log: LogSummary) -> Iterator[Alert]:
    """Steps that lack questions of other steps, unless each step has questions of its own."""
    shared, whole = log.shared_by_steps, log.question_count
    if shared is None:
        return
    (name,) = log.trials.strata
    asked = log.counted_questions.group_by("stratum")
    sizes = dict(asked.agg(pl.col("question").n_unique()).rows())
    lacking = [(f"{name} {step_words(step)}", whole - sizes[step])
               for step in log.strata if sizes[step] < whole]  # fmt: skip
    numbers = "The numbers leave" if len(log.models) == 1 else "Curves along the steps leave"
    yield Alert(
        "Missing questions of steps",
        f"{len(lacking):,} of {count_of(len(sizes), 'step')} "
        f"{'lacks' if len(lacking) == 1 else 'lack'} questions that other steps have "
        f"({number_list(lacking)}). {numbers} out {whole - len(shared):,} of {whole:,} questions, "
        "which not all steps have.",
    )


def _few_questions(log: LogSummary) -> Iterator[Alert]:
    asked = log.question_count
    if asked < FEW_QUESTIONS:
        yield Alert(
            "Few questions",
            f"The log has {count_of(asked, 'question')} in all. The intervals are about these "
            "questions; about others they say next to nothing.",
        )


def _identical_models(log: LogSummary) -> Iterator[Alert]:
    groups = log.identical
    if groups:
        named = "; ".join(name_list(names) for names in groups[:_GROUPS])
        yield Alert(
            "Identical models",
            f"The same outcomes at every question: {named}. Was one file read under several names?",
        )


# The word before the last number of a name: of runs, and of models that differ.
_RUN_WORDS = {*TRIAL_NAMES, "rs", "rep", "try", "iter"}
_MODEL_WORDS = {"stage", "level", "step", "layer", "checkpoint", "v", "shot", "k", "b", "budget"}
_NUMBERED = re.compile(r"(.*?([A-Za-z]*))([^A-Za-z0-9]*)(\d+)((?:[^A-Za-z0-9]\D*)?)", re.DOTALL)
_COUNTED = 3  # models, from where on 0, 1, 2, ... or 1, 2, 3, ... are counted


def _numbered_models(log: LogSummary) -> Iterator[Alert]:
    """Models with the same questions whose names differ in the last number: runs of one model?"""
    asked = log.each.group_by("model").agg(pl.struct("stratum", "question").hash().sum())
    groups: dict[tuple[object, ...], list[tuple[str, int]]] = {}
    for name, questions in asked.sort("model").iter_rows():
        if match := _NUMBERED.fullmatch(name):
            start, word, separator, number, end = match.groups()
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


def _missing_models(log: LogSummary) -> Iterator[Alert]:
    models = log.cells.group_by("stratum").agg(pl.col("model").n_unique()).sort("stratum")
    partial = models.filter(pl.col("model") < len(log.models))["stratum"].to_list()
    if partial and log.steps is not None:
        (name,) = log.trials.strata
        partial = [f"{name} {step_words(step)}" for step in log.strata if step in partial]
    if partial:
        yield Alert(
            "Missing models",
            f"Not all {len(log.models):,} models were run on {name_list(partial)}. Numbers over "
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
            f"{short_name(model)}: {done:,} of {planned:,}" for model, done, planned in short.rows()
        ]
        yield Alert(
            "Unfinished runs",
            f"The tool planned more trials than the log has ({text_list(parts)}). Trials that are "
            "missing may be the hard ones.",
        )


def _skipped_runs(log: LogSummary) -> Iterator[Alert]:
    """Runs of which no trial is in the log, because they were stopped before the first one."""
    number = len(log.skipped)
    if number:
        yield Alert(
            "Skipped runs",
            f"{count_of(number, 'run')} {'was' if number == 1 else 'were'} stopped before the "
            f"first trial ({text_list(log.skipped)}). The numbers leave that out.",
        )


def _missing_outcomes(log: LogSummary, coverage: pl.DataFrame) -> Iterator[Alert]:
    missing = _by_model(coverage, "nulls")
    if not missing:
        return
    meaning = log.trials.roles.missing
    handled = {
        "error": 'A report refuses them: missing="drop" leaves them out, a category counts them.',
        "drop": "They were dropped, which flatters a model that crashes on hard questions.",
        "bounds": "Scores count them as failed; intervals and verdicts hold whatever they were.",
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


def test_alerts(findings: Sequence[CheckFinding]) -> Iterator[Alert]:
    """Alerts of tests above the numbers; the alarm that scores are biased is the title."""
    spoken = {each.check: each for each in spoken_findings(findings) if not each.biases_scores}
    for check, title in _ALERTS.items():
        if check in spoken:
            yield Alert(title, spoken[check].sentence)


def foot_words(findings: Sequence[CheckFinding]) -> str:
    """Sentences for the foot of a page: how many tests found nothing, and those with a look."""
    made = [each for each in findings if each.verdict != "not tested"]
    quiet = sum(each.verdict == "ok" for each in made)
    if not made:
        return "The trials could not be tested; check() says why."
    looks = [each.sentence for each in findings if each.verdict == "look"]
    tests = f"{quiet:,} of {count_of(len(made), 'test')} of the trials found nothing"
    return " ".join([f"Independent trials are assumed. {tests}; check() lists them.", *looks])


RUNS_UNTOLD = "Runs not told apart"  # by pages; reports do


def _differing_runs(log: LogSummary, checks: LogChecks, main: Scope) -> Iterator[Alert]:
    """Whether the numbers of the scope include how the named runs differ."""
    if log.trials.roles.effects == "none":
        return
    if lead_rows(main)[INFERENCE].str.contains(OTHER_RUNS, literal=True).any():
        about = "Intervals and verdicts are about other runs like these, which run= names."
        yield Alert("Other runs", about)
        return
    said = "Intervals and verdicts are about the runs of the log, not about others like these"
    few = "too few runs are known to say how far others would be apart."
    single = "a page holds one success or failure of a question in a run. compare() reads them all."
    if checks.counts_hold_runs:
        yield Alert("These very runs", f"{said}: {few}")
    else:
        yield Alert(RUNS_UNTOLD, f"{said}: {single}")


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


def stepped_log(summary: LogSummary) -> tuple[pl.LazyFrame, Roles]:
    """The counts of a log, whose steps are numbers or times again, and their roles."""
    assert summary.steps is not None  # the strata are steps
    (name,) = summary.trials.strata
    log = (
        summary.cells.join(summary.steps, on="stratum", how="left")
        .drop("stratum")
        .rename({"at": name})
    )
    return log.lazy(), replace(summary.roles, by=name)


_NAMED = 5  # so many categories are named


@dataclass(frozen=True, slots=True)
class LogVerdict:
    """The scopes of a log, and what is to be known before their numbers."""

    metrics: tuple[Metric, ...]  # asked for (but for costs), or suited to the log
    overall: Scope | None  # scope of the finding; None if no stratum has all models
    parts: list[Scope]  # strata, if any
    outcomes: str  # what counted as success and as failure
    alerts: list[Alert]
    counted: LogSummary  # with the outcomes in named runs
    checked: str  # what the tests found, in a sentence
    bias: CheckFinding | None  # the alarm that every score is biased
    findings: list[CheckFinding]  # of all tests

    @property
    def main(self) -> Scope:
        """The scope that the finding is about, or the first stratum."""
        return self.overall or self.parts[0]


def log_verdict(
    log: LogSummary, coverage: pl.DataFrame, metrics: Sequence[Metric], settings: Settings
) -> LogVerdict:
    """The scopes of a log that was counted; without `metrics`, by what suits the log."""
    log.refuse()
    given = tuple(metric for metric in metrics if metric.looks_at != "costs")
    scores = given or default_metrics(log)
    for metric in scores:
        if metric.looks_at == "answers":
            raise ValueError(
                f"{metric.name}: a page is made of counts of categories, in which there are no "
                "answers: leave it out, and show votes with leaderboard and plot"
            )
    if not any(metric.w for metric in scores):
        check_counted_labels(log.cells, log.trials)
    checks = log.checks()
    counted = log.with_runs(checks)
    if len(log.models) == 1:  # its steps are compared
        counted = counted.of_shared_steps()
    scores = given or default_metrics(counted)
    with without_repeated_warnings():
        overall, parts = page_scopes(counted, scores, settings)
    main = overall or parts[0]
    findings = page_findings(checks, settings) if log.trials.roles.validate else []
    return LogVerdict(
        metrics=scores,
        overall=overall,
        parts=parts,
        outcomes=outcome_words(log, scores),
        alerts=[
            *test_alerts(findings),
            *_differing_runs(log, checks, main),
            *coverage_alerts(log, coverage),
            *draws_beyond_trials(main, scores),
        ],
        counted=counted,
        checked=foot_words(findings) if findings else "",
        bias=next((each for each in findings if each.biases_scores), None),
        findings=findings,
    )


def page_findings(checks: LogChecks, settings: Settings) -> list[CheckFinding]:
    """The findings of all tests, as far as they are about the numbers of a page."""
    pooled = isinstance(settings.prior, str) and settings.prior == "population"
    return population_findings(checks.findings, checks.counted) if pooled else checks.findings


def outcome_words(log: LogSummary, metrics: Sequence[Metric]) -> str:
    """Sentences on the categories that counted as success and as failure; empty without any."""
    if not knows_success(log.cells, log.roles, metrics):
        return ""
    cells = bind_roles(log.cells.lazy(), log.roles)
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    classes = counted_classes(cells, weighted, binary=True)
    members = class_members(cells, classes)
    succeeded = pl.any_horizontal(members[place] for place in classes.successful)
    trials = cells.rows().filter(pl.col(CATEGORY).is_not_null(), pl.col(COUNT) > 0)
    counted = trials.group_by(CATEGORY).agg(pl.col(COUNT).sum().cast(pl.Int64))
    rows = counted.sort(-pl.col(COUNT), CATEGORY).with_columns(succeeded.alias("")).collect()
    name, threshold = log.trials.category.name, log.trials.roles.threshold

    def words(category: object) -> str:
        if threshold is not None:
            return f"{short_name(name)} {'at least' if category else 'below'} {threshold:g}"
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return str(category).lower() if isinstance(category, bool) else short_name(category)

    parts = []
    for title, chosen in (("Success", True), ("Failure", False)):
        outcomes = rows.filter(pl.col("") == chosen).select(CATEGORY, COUNT).rows()
        texts = [f"{words(category)} ({number:,})" for category, number in outcomes[:_NAMED]]
        if outcomes[_NAMED:]:
            rest = sum(number for _, number in outcomes[_NAMED:])
            texts.append(f"{len(outcomes) - _NAMED:,} more ({rest:,})")
        parts.append(f"{title}: {', '.join(texts) or 'none'}.")
    return " ".join(parts)


@contextmanager
def without_repeated_warnings() -> Iterator[None]:
    """Ignore what reports of strata warn of: a page warns once, about the whole log.

    Of trials that are not independent it has an alert, of judges a sentence.
    """
    with catch_warnings():
        simplefilter("ignore", SuccessWarning)
        simplefilter("ignore", CheckWarning)
        simplefilter("ignore", RunWarning)
        for subject in SUBJECTS:
            for kind in subject.page_warnings:
                simplefilter("ignore", kind)
        yield


_TARGETS = {
    "benchmark": "these questions, and no others",
    "population": "the population of questions that these are a sample of",
}


@dataclass(frozen=True, slots=True)
class MethodNotes:
    """How a page was made."""

    sentences: Sequence[str]  # meaning of the numbers, without statistics
    facts: dict[str, str]  # assumptions, and by what it was made
    formulas: dict[str, str]  # metrics as people write them, with their formula


def method_notes(
    counts: pl.DataFrame,
    metrics: Sequence[Metric],
    settings: Settings,
    *,
    call: str,
    version: str,
    now: datetime | None = None,
) -> MethodNotes:
    """How a page was made from its counts (in a fixed order), at `now` or `build_time`."""
    when = (now or build_time()).strftime("%Y-%m-%d %H:%M UTC")
    facts = {
        "intervals": settings.intervals,
        "prior": settings.prior_in_words,
        "target": _TARGETS[settings.target],
        "made by": f"polars-scorio {version}, polars {pl.__version__}",
        "made on": when,
        "call": call,
        "counts, SHA-256": counts_hash(counts),
    }
    return MethodNotes(method_sentences(settings), facts, metric_formulas(metrics))


def method_sentences(settings: Settings) -> tuple[str, str, str]:
    """Meaning of the numbers, in three sentences for readers without statistics.

    >>> method_sentences(Settings())[2]
    'A model is called better only if the interval of the difference leaves out zero.'
    """
    about = (
        "more trials of the same questions"
        if settings.target == "benchmark"
        else "other questions of the same kind"
    )
    return (
        "A score is the mean over the questions of what the trials of a model achieved.",
        f"The interval beside it says how far {about} could move it ({settings.level} confidence).",
        "A model is called better only if the interval of the difference leaves out zero.",
    )


def build_time() -> datetime:
    """When a page is made: now, or the time that SOURCE_DATE_EPOCH sets for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(timezone.utc)
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be whole seconds since 1970, got {epoch!r}: set it so, or "
            "unset it"
        ) from None


def metric_formulas(metrics: Sequence[Metric]) -> dict[str, str]:
    """Metrics as people write them, with the formulas of those that have one."""
    return {metric_label(metric): metric.formula for metric in metrics if metric.formula}


def counts_hash(counts: pl.DataFrame) -> str:
    """A hash of the counts: the same for the same trials, in whatever order, anywhere.

    >>> counts_hash(pl.DataFrame({"category": [0, 1], "count": [3, 5]}))[:12]
    'bbce923d941b'
    """
    return hashlib.sha256(counts.write_csv().encode()).hexdigest()
