"""Sentences on verdicts of gates, and on questions: never solved, always solved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_scorio.arguments import QuestionUnit, p_words
from polars_scorio.display.finding import Unit
from polars_scorio.display.words.phrases import (
    count_of,
    name_list,
    planned_units,
    short_name,
    text_list,
)
from polars_scorio.metrics.metric import Metric

_VERDICTS = {
    "pass": "{candidate} is not worse than {baseline} by more than {margin}",
    "fail": "{candidate} is worse than {baseline} by more than {margin}",
    "undecided": "it is open whether {candidate} is worse than {baseline} by more than {margin}",
}
_AT_ZERO = {
    "pass": "{candidate} is better than {baseline}",
    "fail": "{candidate} is worse than {baseline}",
    "undecided": "it is open whether {candidate} or {baseline} is better",
}

# What is said of strata that have a verdict, before their margin and their names.
_OF_STRATA = {
    "fail": "worse by more than",
    "undecided": "open at a margin of",
}
# What is said of lists of single questions, before their names.
_OF_CASES = {
    "unclear": "{of} went from all right to all wrong, by too few trials to rule out chance",
    "not_passed": "{of} that must pass did not in every trial",
}
_ADJUSTED = ", after Holm's adjustment for all strata"
_NAMED = 10  # questions in a sentence


@dataclass(frozen=True, slots=True)
class GateWords:
    """Metric, confidences and names in sentences about the rows of a gate."""

    metric: Metric  # compared
    model: str  # column of the candidates
    confidence: float  # of the verdicts
    power: float  # of the further trials
    fdr: float  # false discovery rate of single questions
    points: bool = True  # points of a hundred, not units of the metric
    population: bool = False  # the questions are a sample
    planned: int | None = None  # trials (or questions), if verdicts hold at every look
    corrected: str = ""  # correction for the errors of a judge; empty without one
    undecided: str | None = None  # as what an undecided gate counts
    lower_is_better: bool = False
    candidates: int = 1  # whose verdicts hold at once
    whole: str = ""  # how the row over all strata was made

    def sentence(
        self,
        row: Mapping[str, Any],
        regressed: Sequence[str] | None = None,
        *,
        nameable: bool = True,
        strata: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> str:
        """The verdict about a candidate, and the clauses on what it rests on."""
        claim, rest = self.clauses(row, regressed, nameable=nameable, strata=strata)
        decided_by_cases = row.get("case_verdict") == row["verdict"] != self._of_score(row)
        of_cases = self._case_words(row) if decided_by_cases else []
        rest = [each for each in rest if each not in of_cases]
        return f"{self.verdict_words(row['verdict'])}: {'; '.join([*of_cases, claim, *rest])}"

    @staticmethod
    def _of_score(row: Mapping[str, Any]) -> str:
        return str(row.get("score_verdict") or row["verdict"])

    def clauses(
        self,
        row: Mapping[str, Any],
        regressed: Sequence[str] | None = None,
        *,
        nameable: bool = True,
        strata: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> tuple[str, list[str]]:
        """The verdict as a clause, from a row of the gate, and clauses on strata and questions.

        `regressed` questions of the candidate are named; `nameable` if the trials suffice to name
        one question; `strata` are the rows by stratum, if `row` is about all of them.
        """
        of_score = self._of_score(row)
        of_mean = self._own_verdict(row) if strata else of_score
        words = self._claim(row, of_mean) + " over all strata" * bool(strata)
        words += _ADJUSTED * (of_mean == "undecided" and self._own_verdict(row) == "fail")
        made = f", {self.whole}," * bool(strata and self.whole)
        detail = (
            f"difference in {self.metric.heading(row['k'])}{made} {self._ends(row)}, {self.level}"
        )
        parts = list[str]()
        for verdict in ("fail", "undecided"):
            named = {
                name: each for name, each in (strata or {}).items() if each["verdict"] == verdict
            }
            if named:
                parts.append(self._strata_words(named, verdict))
        if row["diff"] is None and row.get("lo_missing") is not None:
            parts.append(self._errored_words(row))
        elif of_score == "undecided":
            units = "extra_questions" if self.population else "extra_trials"
            parts.append(self._further_words(row[units]))
        if row["broken"] is not None:
            parts.append(broken_words(row, lower_is_better=self.lower_is_better))
        if regressed is not None and row.get("regressed") is None:
            parts.append(self._regressed_words(regressed, nameable=nameable))
        parts += self._case_words(row)
        return f"{words} ({detail})", parts

    def _claim(self, row: Mapping[str, Any], verdict: str) -> str:
        """The verdict as a clause about the candidate and the baseline."""
        return (_VERDICTS if row["margin"] else _AT_ZERO)[verdict].format(
            candidate=short_name(row[self.model]),
            baseline=short_name(row["baseline"]),
            margin=self._size(row["margin"]) + self._unit(row["margin"]),
        )

    def _ends(self, row: Mapping[str, Any]) -> str:
        """The difference of a row with its ends."""
        diff = self._size(row["diff"])
        if row["diff"] is None and row.get("lo_missing") is not None:
            diff = f"{self._size(row['lo_missing'])} to {self._size(row['hi_missing'])}"
        lo, hi = (self._size(row[end], row["margin"]) for end in ("lo", "hi"))
        return f"{diff} [{lo}, {hi}]"

    def _errored_words(self, row: Mapping[str, Any]) -> str:
        """How far errored trials could move the difference of a row."""
        moved = row["hi_missing"] - row["lo_missing"]
        words = f"errored trials could move it by {self._size(moved)}{self._unit(moved)}"
        held = "; the verdict holds whatever they were"
        return words if row["verdict"] == "undecided" else words + held

    def _strata_words(self, rows: Mapping[str, Mapping[str, Any]], verdict: str) -> str:
        """The strata that have a verdict, with their differences."""
        margin = next(iter(rows.values()))["margin"]
        named = [f"{short_name(name)} {self._ends(row)}" for name, row in rows.items()]
        words = f"{_OF_STRATA[verdict]} {self._size(margin)}{self._unit(margin)}"
        # A stratum may lie beyond its margin and be open all the same.
        adjusted = any(self._own_verdict(row) == "fail" for row in rows.values())
        words += _ADJUSTED * (adjusted and verdict == "undecided")
        return f"{words}: {text_list(named, _NAMED)}"

    def verdict_words(self, verdict: str) -> str:
        """The verdict, and as what it counts if it is undecided."""
        if verdict != "undecided" or self.undecided is None:
            return verdict
        return f"undecided, which counts as {self.undecided}"

    @property
    def level(self) -> str:
        """The confidence of each verdict, in words."""
        words = f"one-sided {100 * self.confidence:.10g} %"
        words += f", for all {self.candidates} candidates at once" * (self.candidates > 1)
        words += f", {self.corrected}" if self.corrected else ""
        if self.planned is None:
            return words
        planned = planned_units("population" if self.population else "benchmark")
        return f"{words}, which holds at every look (planned: {self.planned:,} {planned})"

    def _further_words(self, further: int | None) -> str:
        unit, rest = ("question", "") if self.population else ("trial", " of each question")
        if further is None:
            return f"no number of further {unit}s{rest} is in sight that would decide it"
        chance = f"{100 * self.power:.10g} %"
        decide = "decides" if further == 1 else "decide"
        further_text = count_of(further, f"further {unit}")
        return f"{further_text}{rest} {decide} it with a chance of {chance}"

    def _regressed_words(self, regressed: Sequence[str], *, nameable: bool) -> str:
        """The questions that regressed by a test of each, or why none can be named."""
        level = f"(FDR {100 * self.fdr:.10g} %)"
        if not nameable:
            return f"tested one by one, no question is named: one alone has too few trials {level}"
        words = f"tested one by one, {count_of(len(regressed), 'question')} regressed {level}"
        return _with_names(words, regressed)

    def _case_words(self, row: Mapping[str, Any]) -> list[str]:
        """Clauses on single questions, if the gate was told to look at them."""
        said = []
        if row.get("regressed") is not None:
            said.append(self._regressed_words([*map(str, row["regressed"])], nameable=True))
        for name, words in _OF_CASES.items():
            if row.get(name):
                of = count_of(len(row[name]), "question")
                said.append(_with_names(words.format(of=of), [*map(str, row[name])]))
        return said

    def _own_verdict(self, row: Mapping[str, Any]) -> str:
        """The verdict about the difference of a row alone, whatever its strata have."""
        lo, hi = row["lo"], row["hi"]
        if self.lower_is_better:
            lo, hi = (None if end is None else -end for end in (hi, lo))
        if lo is not None and lo > -row["margin"]:
            return "pass"
        return "fail" if hi is not None and hi < -row["margin"] else "undecided"

    def _size(self, value: float | None, edge: float = 0.0) -> str:
        """A number in points, with decimals that tell it from 0 and an edge, or in metric units."""
        if value is None:
            return "unknown"
        if not self.points:
            return f"{value:.4g}"
        digits = Unit(edge=edge).finer(value).digits
        return f"{100 * value + 0.0:.{digits}f}".removesuffix(".0") or "0"

    def _unit(self, value: float) -> str:
        if not self.points:
            return ""
        return " point" if 100 * value == 1 else " points"


def _with_names(words: str, names: Sequence[str]) -> str:
    """Words, and behind a colon the first few of some names."""
    return f"{words}: {name_list(names, _NAMED)}" if names else words


def broken_words(row: Mapping[str, Any], *, lower_is_better: bool) -> str:
    """The count of broken questions, with what chance breaks."""
    broken = count_of(row["broken"], "question")
    by_chance, p = row["broken_by_chance"], p_words(row["pvalue_broken"])
    chance = f"{by_chance:.1f} expected between equal models, {p}"
    kinds = "rare to frequent" if lower_is_better else "mostly right to mostly wrong"
    return f"{broken} went from {kinds} ({chance})"


_LISTED = 8  # questions in a sentence
# Of a status: what is said of the questions that have it, and where none has it.
_SOLVED = {
    "never": ("never solved by any model", "Each {unit} was solved by some model."),
    "always": (
        "solved by every model in every trial",
        "No {unit} was solved by every model in every trial.",
    ),
}
_SOLVED_BY_ONE = {
    "never": ("never solved", "Each {unit} was solved at least once."),
    "always": ("solved in every trial", "No {unit} was solved in every trial."),
}


def question_sentences(
    rows: pl.DataFrame, question: str, unit: QuestionUnit = "question", word: str = "right"
) -> list[str]:
    """Sentences on the questions of one stratum, from rows of `Scorio.questions`."""
    if rows.is_empty():
        return ["The log has no questions."]
    said = []
    if rows["solved_by"].null_count() < rows.height:
        solved = "solved" if word == "right" else word
        said = [_solved_sentence(rows, question, unit, status).replace("solved", solved)
                for status in ("never", "always")]  # fmt: skip
    return [*said, *_removable_sentence(rows)]


def _removable_sentence(rows: pl.DataFrame) -> list[str]:
    """The sentence on what more trials, or questions, can do; none if that is unknown."""
    share = rows["removable"][0]
    if share is None:
        return []
    can, part = "of the variance of a difference on other questions", f"{100 * share:.0f} %"
    if share >= 0.5:
        return [f"More trials help: they can remove up to {part} {can}."]
    return [f"More trials can remove only {part} {can}; more questions can remove all of it."]


def rerun_sentences(row: Mapping[str, Any], *, percent: bool) -> list[str]:
    """Sentences on the noise of a rerun, from a row of `Scorio.reruns` and whether it is a rate."""
    floor, each = row["noise_floor"], row["rerun_trials"]
    if floor is None:
        return [f"k={row['k']} is more than the trials of some question: it has no noise floor."]
    moved = f"{100 * floor:.1f} points" if percent else f"{floor:.3g}"
    of = f"{count_of(row['questions'], 'question')}, {count_of(round(each), 'trial')} each"
    unseen = ", if runs differ by nothing but chance" * (row["run_sd"] is None)
    # The noise of single trials is not identified: its bound is a floor for any rates.
    single = row["trials"] == row["questions"]
    reach = "at most" if single else "up to"
    why = "; a single trial of each question does not show its noise" * single
    said = [f"Run again ({of}), this score moves by {reach} {moved} by chance alone{unseen}{why}."]
    if row["flips"] is not None and row["flips_lo"] is not None:
        ends = [round(row["questions"] * row[name]) for name in ("flips", "flips_lo", "flips_hi")]
        said.append(
            f"Of {count_of(row['questions'], 'question')} about {ends[0]:,} ({ends[1]:,} to "
            f"{ends[2]:,}) change their outcome from one run to the next."
        )
    elif row["flips_hi"] is not None:
        most = count_of(math.ceil(row["questions"] * row["flips_hi"]), "question")
        said.append(
            f"At most {most} of {row['questions']:,} may change outcome from one run to the next."
        )
    return said


def bracket_sentence(pairs: pl.DataFrame) -> str:
    """Sentence on the pairs of a comparison with `missing="bounds"`."""
    moved = max((pairs["hi_missing"] - pairs["lo_missing"]).drop_nulls().to_list(), default=0.0)
    if moved == 0:
        return "Errored trials move no difference."
    named = pairs["better"].len() - pairs["better"].null_count()
    return (
        f"Errored trials could move a difference by up to {moved:.3g}. In {named:,} of "
        f"{count_of(pairs.height, 'pair')} a model is better whatever they were."
    )


def curve_sentence(rows: pl.DataFrame, confidence: float) -> str:
    """Sentence on the whole curve of a pair, from its rows of `Scorio.compare` at each k.

    If there is a baseline, models gain on it or lose.
    """
    return ": ".join(filter(None, _asked_and_found(rows, confidence)))


def curve_sentences(pairs: pl.DataFrame, confidence: float, most: int = 10) -> list[str]:
    """Sentences on the whole curves of the first pairs, of which one says what all are about."""
    parts = pairs.partition_by("model_a", "model_b", maintain_order=True)[:most]
    said = [_asked_and_found(part, confidence) for part in parts]
    if len(said) > 1 and len({asked for asked, _ in said}) == 1:
        return [f"{said[0][0]}:", *(words for _, words in said)]
    return [curve_sentence(part, confidence) for part in parts]


def _asked_and_found(rows: pl.DataFrame, confidence: float) -> tuple[str, str]:
    """The confidence and the draw sizes of a curve, empty if it has none, and its words."""
    pair, k = rows.row(0, named=True), rows.filter(pl.col("sigma").is_not_null())["k"].to_list()
    a, b = (short_name(pair[side]) for side in ("model_a", "model_b"))
    if not k:
        return "", f"{a} and {b} have too few trials for these k."
    words = _curve_words(pair, a, b, k)
    if words is None:
        inside = rows["better"].null_count() < rows.height
        ends = f"at neither end, k = {k[0]} or k = {k[-1]}," if inside else "at no k"
        words = f"{ends} does this log name a better model of {a} and {b}"
    whole = len(k) > 1 and k == [*range(k[0], k[-1] + 1)]
    asked = f"k = {k[0]} to {k[-1]}" if whole else f"k = {text_list([*map(str, k)], _LISTED)}"
    return f"With {100 * confidence:.10g} % confidence for the whole curve ({asked})", f"{words}."


def _curve_words(pair: Mapping[str, Any], a: str, b: str, k: Sequence[int]) -> str | None:
    """The stretches of a pair at both ends of the points k; None if there are none."""
    first, last = pair["first_to"], pair["last_from"]

    def clause(end: str, far: str) -> str:
        leads = pair[f"{end}_better"] == pair["model_a"]
        if "gain_to" in pair:
            return f"{'gains on' if leads else 'loses to'} {b} {far}"
        if end == "last" and first:  # the subject is that of the clause before
            same = pair["first_better"] == pair["last_better"]
            return far if same else f"worse {far}"
        return f"{a if leads else b} is better than {b if leads else a} {far}"

    subject = f"{a} " * ("gain_to" in pair)
    if first == k[-1]:
        every = f"at every k from {k[0]} to {k[-1]}" if len(k) > 1 else f"at k = {first}"
        return subject + clause("first", every)
    between = "between" if first and last else "beyond" if first else "below"
    up_to = f"up to k = {first}" if first != k[0] else f"at k = {first}"
    on = f"from k = {last} on" if last != k[-1] else f"at k = {last}"
    clauses = [clause("first", up_to)] * bool(first) + [clause("last", on)] * bool(last)
    if not clauses:
        return None
    if first and last and k.index(last) == k.index(first) + 1:
        return subject + " and ".join(clauses)
    return f"{subject}{' and '.join(clauses)}; {between}, this log does not decide every k"


def _solved_sentence(rows: pl.DataFrame, question: str, unit: QuestionUnit, status: str) -> str:
    """How many questions are never (always) solved, and which."""
    sentence, none = (_SOLVED if rows["models"].max() != 1 else _SOLVED_BY_ONE)[status]
    names = rows.filter(status=status).sort(question)[question].to_list()
    of = count_of(rows.height, unit)
    if not names:
        return none.format(unit=unit)
    # A name alone could be read as a count.
    verb, units = ("was", unit) if len(names) == 1 else ("were", f"{unit}s")
    return f"{len(names):,} of {of} {verb} {sentence}: {units} {name_list(names, _LISTED)}."
