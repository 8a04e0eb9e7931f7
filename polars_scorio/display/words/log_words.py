"""Sentences on a log: alerts above its numbers, what counted, what tests found, the method."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone

from polars_scorio.arguments import p_words
from polars_scorio.counting.refusals import JOINED_IDS
from polars_scorio.display.blocks import (
    Alert,
    Cell,
    Column,
    MethodNotes,
    TableBlock,
    TableRow,
    Text,
)
from polars_scorio.display.facts.log_summary import metric_label
from polars_scorio.display.facts.log_verdict import CountedOutcomes, LogGaps, LogVerdict
from polars_scorio.display.facts.ranking_facts import FEW_QUESTIONS
from polars_scorio.display.phrases import (
    MISSING,
    count_of,
    installed_version,
    name_list,
    number_list,
    range_text,
    short_name,
    step_words,
    text_list,
)
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.count_checks import CHECKS, CheckFinding, spoken_findings

_GROUPS = 3  # of identical models that are named
_NAMED = 5  # so many categories are named
_COVERED = 100  # models whose coverage is shown
_ALERTS = {  # above the numbers, the first one before all others
    "errors": "More errors of one model", "stopping": "Trials stopped on outcomes",
    "order": "Trials stopped on outcomes", "copies": "Copied trials",
    "repeats": "Repeated questions", "runs": "Different runs",
    "labels": "Labels on other questions", "unequal": "Fewer trials of some questions",
    "mixed": "No outcome changed",
}  # fmt: skip


def log_alerts(verdict: LogVerdict) -> list[Alert]:
    """All warnings above the numbers of a log, the most important first."""
    draws = (
        f"{text_list(verdict.beyond)}: some questions have fewer trials than are drawn, so no "
        "unbiased estimate exists. A range is shown if one is known."
    )
    return [
        *_test_alerts(verdict.findings),
        *([Alert(*_RUNS[verdict.runs])] if verdict.runs else []),
        *gap_alerts(verdict.gaps),
        *([Alert("More draws than trials", draws)] if verdict.beyond else []),
    ]


_OTHER = "Because runs are named (run=), intervals and verdicts are about other runs like these."
_THESE = "Intervals and verdicts are about the runs of the log, not about others like these"
_TOO_FEW_RUNS = "too few runs are known to estimate how much others would differ."
_ONE = "a page holds one success or failure of a question in a run. compare() reads them all."
_RUNS = {
    "other": ("Other runs", _OTHER),
    "few": ("These runs only", f"{_THESE}: {_TOO_FEW_RUNS}"),
    "untold": ("Runs not distinguished", f"{_THESE}: {_ONE}"),
}


def error_alert(findings: Sequence[CheckFinding]) -> list[Text]:
    """The alarm that errors of one model decide, which stands below the title of every medium."""
    spoken = (each.sentence for each in spoken_findings(findings) if each.check == "errors")
    return [Text("alert", sentence) for sentence in spoken]


_CHECKS_OF_TRIALS = {"errors", "copies", "repeats"}  # alarms that come before any step


def careful_steps(steps: Sequence[str], findings: Sequence[CheckFinding]) -> Sequence[str]:
    """The steps of an account, which wait where its scores are biased or in doubt."""
    if any(each.biases_scores for each in findings):
        return ["Repair the trials first, as the alarm says: these scores decide nothing."]
    if not steps or not _CHECKS_OF_TRIALS & {each.check for each in spoken_findings(findings)}:
        return steps
    first = steps[0].removeprefix("Nothing: ")
    return [f"First look at the alerts. As the rows stand: {first}", *steps[1:]]


def _test_alerts(findings: Sequence[CheckFinding]) -> Iterator[Alert]:
    """Alerts of tests above the numbers; the alarm that scores are biased is the title."""
    spoken = {each.check: each for each in spoken_findings(findings) if not each.biases_scores}
    for check, title in _ALERTS.items():
        if check in spoken:
            yield Alert(title, spoken[check].sentence)


def gap_alerts(gaps: LogGaps) -> list[Alert]:
    """Warnings about what a log lacks, the most important first."""
    groups = "; ".join(name_list(names) for names in gaps.identical[:_GROUPS])
    same = f"The same outcomes at every question: {groups}. Was one file read under several names?"
    few = (
        f"The log has {count_of(gaps.questions, 'question')} in all. The intervals are about these "
        "questions; about others they say next to nothing."
    )
    stopped = (
        f"{count_of(len(gaps.skipped), 'run')} {'was' if len(gaps.skipped) == 1 else 'were'} "
        f"stopped before the first trial ({text_list(gaps.skipped)}). The numbers do not count "
        "them."
    )
    dropped = gaps.missing == "drop"
    texts = [
        ("Identical models", same if gaps.identical else ""),
        *(("Runs of one model?", numbered_words(*each)) for each in gaps.numbered),
        ("Missing questions", _lacking_words(gaps)),
        ("Missing questions of steps", _uneven_words(gaps)),
        ("Few questions", few if gaps.questions < FEW_QUESTIONS else ""),
        ("Missing models", _partial_words(gaps)),
        ("Unfinished runs", _unfinished_words(gaps)),
        ("Skipped runs", stopped if gaps.skipped else ""),
        ("Dropped trials" if dropped else "Missing outcomes", _outcomeless_words(gaps)),
        _repeated_words(gaps),
        _trials_words(gaps),
    ]
    return [Alert(title, text) for title, text in texts if title and text]


def size_words(gaps: LogGaps) -> str:
    """How large a log is; the steps of a run have the same questions, other strata have not."""
    least, most = gaps.trials
    noun = "stratum" if gaps.step is None else "step"
    sizes = [count_of(gaps.models, "model"), *[count_of(gaps.strata, noun)] * (gaps.strata > 1)]
    words = ", ".join([*sizes, count_of(gaps.questions, "question")])
    if least is None or most is None:
        return words
    return f"{words} \N{MULTIPLICATION SIGN} {range_text(least, most)} trial{'s' * (most != 1)}"


def coverage_block(coverage: Mapping[str, Sequence[object]]) -> TableBlock:
    """The coverage of models, of the first hundred."""
    columns = [
        Column("number" if at else "other", name,
               [Cell(str(each) if at else short_name(each)) for each in cells[:_COVERED]])
        for at, (name, cells) in enumerate(coverage.items())
    ]  # fmt: skip
    rows = [TableRow("")] * len(columns[0].cells)
    return TableBlock("plain", columns, rows, caption="What is in the log")


def numbered_words(names: Sequence[str], pattern: str) -> str:
    """How to read models as runs of one."""
    return (
        f"{name_list(names)} differ only in a number. If they are runs of one model, read them as "
        f'one: model=r"{pattern}" finds its name in the paths, and {JOINED_IDS} tells their trials '
        "apart."
    )


def _lacking_words(gaps: LogGaps) -> str:
    lack = "lacks" if len(gaps.lacking) == 1 else "lack"
    said = (
        f"{count_of(len(gaps.lacking), 'model')} {lack} questions that other models have "
        f"({number_list(gaps.lacking)}). The numbers skip {gaps.left_out:,} of "
        f"{gaps.questions:,} questions, which some model lacks. If these are hard, all models look "
        "better than they are."
    )
    return said if gaps.lacking else ""


def _uneven_words(gaps: LogGaps) -> str:
    """Steps that lack questions of other steps, unless each step has questions of its own."""
    numbers = "The numbers" if gaps.models == 1 else "Curves along the steps"
    lack = "lacks" if len(gaps.uneven) == 1 else "lack"
    lacking = number_list((f"{gaps.step} {step_words(step)}", n) for step, n in gaps.uneven)
    said = (
        f"{len(gaps.uneven):,} of {count_of(gaps.steps, 'step')} {lack} questions that other steps "
        f"have ({lacking}). {numbers} skip {gaps.unshared:,} of {gaps.questions:,} questions, "
        "which some step lacks."
    )
    return said if gaps.steps else ""


def _partial_words(gaps: LogGaps) -> str:
    partial = gaps.partial
    if gaps.step is not None:
        partial = [f"{gaps.step} {step_words(step)}" for step in partial]
    said = (
        f"{name_list(partial)} {'lacks' if len(partial) == 1 else 'each lack'} one or more of the "
        f"{gaps.models:,} models. Overall scores skip these strata."
    )
    return said if partial else ""


def _unfinished_words(gaps: LogGaps) -> str:
    parts = [f"{short_name(model)}: {done:,} of {all_:,}" for model, done, all_ in gaps.unfinished]
    said = (
        f"The tool planned more trials than the log has ({text_list(parts)}). Trials that are "
        "missing may be the hard ones."
    )
    return said if parts else ""


_HANDLED = {  # missing outcomes
    "error": 'A report refuses them: missing="drop" skips them, a category counts them.',
    "drop": "Dropping them flatters a model that crashes on hard questions.",
    "bounds": "Scores count them as failed; intervals and verdicts hold whatever they would be.",
}


def _outcomeless_words(gaps: LogGaps) -> str:
    handled = _HANDLED.get(str(gaps.missing), f"They count as category {gaps.missing!r}.")
    trials = count_of(sum(number for _, number in gaps.without_outcome), "trial")
    said = f"{trials} without an outcome ({number_list(gaps.without_outcome)}). {handled}"
    return said if gaps.without_outcome else ""


def _repeated_words(gaps: LogGaps) -> tuple[str, str]:
    if gaps.repeated:
        trials = count_of(sum(number for _, number in gaps.repeated), "trial")
        return "Duplicates", (
            f"{trials} with the id of an earlier trial ({number_list(gaps.repeated)}): a file was "
            "read twice, or a stratum is missing."
        )
    return "Unchecked duplicates" if gaps.unchecked else "", (
        "Rows have no trial ids, or the ids were not checked: repeated trials would not be noticed."
    )


def _trials_words(gaps: LogGaps) -> tuple[str, str]:
    least, most = gaps.trials
    if most == 1:
        return "One trial per question", (
            "One trial does not show how reliable a model is on a question; intervals rely on "
            "variation between questions."
        )
    if least == most or least is None or most is None:
        return "", ""
    return "Unequal trials", f"Questions have {range_text(least, most)} trials."


def foot_words(findings: Sequence[CheckFinding]) -> str:
    """Sentences for the foot of a page: how many tests found nothing, and those with a look."""
    made = [each for each in findings if each.verdict != "not tested"]
    quiet = sum(each.verdict == "ok" for each in made)
    if not findings:
        return ""
    if not made:
        return "The trials could not be tested; check() says why."
    looks = [each.sentence for each in findings if each.verdict == "look"]
    tests = f"{quiet:,} of {count_of(len(made), 'test')} of the trials found nothing"
    return " ".join([f"Independent trials are assumed. {tests}; check() lists them.", *looks])


def tested_rows(findings: Sequence[CheckFinding]) -> list[tuple[str, str, str, str]]:
    """Of each test what it asks, its p, its verdict, and what it found."""
    rows = []
    for each in findings:
        p = MISSING if each.result.p is None else p_words(each.result.p)[2:].removeprefix("= ")
        rows.append((CHECKS[each.check].asks, p, each.verdict, each.sentence))
    return rows


def outcome_words(outcomes: CountedOutcomes) -> str:
    """Sentences on the categories that counted as success and as failure; empty without any."""

    def words(category: object) -> str:
        if outcomes.threshold is not None:
            side = "at least" if category else "below"
            return f"{short_name(outcomes.column)} {side} {outcomes.threshold:g}"
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return str(category).lower() if isinstance(category, bool) else short_name(category)

    parts = []
    for title, counted in zip(("Success", "Failure"), outcomes.parts, strict=False):
        texts = [f"{words(category)} ({number:,})" for category, number in counted[:_NAMED]]
        if counted[_NAMED:]:
            rest = sum(number for _, number in counted[_NAMED:])
            texts.append(f"{len(counted) - _NAMED:,} more ({rest:,})")
        parts.append(f"{title}: {', '.join(texts) or 'none'}.")
    return " ".join(parts)


_TARGETS = {
    "benchmark": "these questions, and no others",
    "population": "the population of questions that these are a sample of",
}


def method_notes(
    digest: str, metrics: Sequence[Metric], settings: Settings, call: str
) -> MethodNotes:
    """How a page was made from counts with this hash."""
    facts = {
        "intervals": settings.intervals, "prior": settings.prior_in_words,
        "target": _TARGETS[settings.target],
        "made by": f"polars-scorio {installed_version()}, polars {installed_version('polars')}",
        "made on": build_time().strftime("%Y-%m-%d %H:%M UTC"), "call": call,
        "counts, SHA-256": digest,
    }  # fmt: skip
    return MethodNotes(method_sentences(settings), facts, metric_formulas(metrics))


def method_sentences(settings: Settings) -> tuple[str, str, str]:
    """Meaning of the numbers, in three sentences for readers without statistics.

    >>> method_sentences(Settings())[0]
    'A score is the mean over questions of what trials achieved; differences are rounded last.'
    """
    about = "other questions of the same kind"
    if settings.target == "benchmark":
        about = "more trials of the same questions"
    return (
        "A score is the mean over questions of what trials achieved; differences are rounded last.",
        f"The interval beside it says how far {about} could move it ({settings.level} confidence).",
        "A model is called better only if the interval of the difference excludes zero.",
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
