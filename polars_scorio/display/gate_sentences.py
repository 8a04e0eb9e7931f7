"""Verdicts of gates as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polars_scorio.display.words import short_name, text_list
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

_OF_COSTS = {
    "pass": "{candidate} does not cost more than {price}",
    "fail": "{candidate} costs more than {price}",
    "undecided": "it is open whether {candidate} costs more than {price}",
}

# What is said of strata that have a verdict, before their margin and their names.
_OF_STRATA = {
    "fail": "worse by more than",
    "undecided": "open at a margin of",
}
_ADJUSTED = ", after Holm's adjustment for all strata"
_NAMED = 10  # questions in a sentence
_COST_ENDS = ("cost_lo", "cost_hi")


@dataclass(frozen=True, slots=True)
class GateWords:
    """Metric, confidences and names in sentences about the rows of a gate."""

    metric: Metric  # compared
    model: str  # column of the candidates
    confidence: float  # of the verdicts
    assurance: float  # of the further trials
    fdr: float  # false discovery rate of single questions
    points: bool = True  # points of a hundred, not units of the metric
    population: bool = False  # the questions are a sample
    anytime: int | None = None  # planned trials, if verdicts hold at every look
    corrected: str = ""  # correction for the errors of a judge; empty without one
    cost_margin: float | None = None  # allowed ratio of costs; None if cost does not count
    undecided: str | None = None  # as what an undecided gate counts

    def sentence(
        self,
        row: Mapping[str, Any],
        regressed: Sequence[str] | None = None,
        *,
        nameable: bool = True,
        strata: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> str:
        """The verdict about a candidate, from its row of the gate and its regressed questions.

        `nameable` if the trials suffice to name one question; `strata` are the rows by stratum, if
        `row` is about all of them.
        """
        of_score = row["verdict"] if self.cost_margin is None else row["score_verdict"]
        of_mean = _own_verdict(row) if strata else of_score
        words = self._claim(row, of_mean) + " over all strata" * bool(strata)
        words += _ADJUSTED * (of_mean == "undecided" and _own_verdict(row) == "fail")
        detail = f"difference in {self.metric.heading(row['k'])} {self._ends(row)}, {self.level}"
        parts = [f"{self.verdict_words(row['verdict'])}: {words} ({detail})"]
        for verdict in ("fail", "undecided"):
            named = {
                name: each for name, each in (strata or {}).items() if each["verdict"] == verdict
            }
            if named:
                parts.append(self._strata_words(named, verdict))
        if of_score == "undecided":
            parts.append(self._further_words(row["further"]))
        if self.cost_margin is not None and row["cost_verdict"] is not None:
            parts.append(self._cost_words(row, self.cost_margin))
        if row["broken"] is not None:
            parts.append(_broken_words(row))
        if regressed is not None:
            parts.append(self._regressed_words(regressed, nameable=nameable))
        return "; ".join(parts)

    def _claim(self, row: Mapping[str, Any], verdict: str) -> str:
        """The verdict as a clause about the candidate and the baseline."""
        return (_VERDICTS if row["margin"] else _AT_ZERO)[verdict].format(
            candidate=short_name(row[self.model]),
            baseline=short_name(row["baseline"]),
            margin=self._size(row["margin"]) + self._unit(row["margin"]),
        )

    def _ends(self, row: Mapping[str, Any]) -> str:
        """The difference of a row with its ends."""
        return f"{self._size(row['diff'])} [{self._size(row['lo'])}, {self._size(row['hi'])}]"

    def _strata_words(self, rows: Mapping[str, Mapping[str, Any]], verdict: str) -> str:
        """The strata that have a verdict, with their differences."""
        margin = next(iter(rows.values()))["margin"]
        named = [f"{short_name(name)} {self._ends(row)}" for name, row in rows.items()]
        words = f"{_OF_STRATA[verdict]} {self._size(margin)}{self._unit(margin)}"
        # A stratum may lie beyond its margin and be open all the same.
        adjusted = any(_own_verdict(row) == "fail" for row in rows.values())
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
        words += f", {self.corrected}" if self.corrected else ""
        if self.anytime is None:
            return words
        planned = "questions" if self.population else "trials a question"
        return f"{words}, which holds at every look (planned: {self.anytime:,} {planned})"

    def _cost_words(self, row: Mapping[str, Any], factor: float) -> str:
        """The verdict about the cost, whose ends need no judge."""
        times = "" if factor == 1 else f"{factor:.10g} times as much as "
        words = _OF_COSTS[row["cost_verdict"]].format(
            candidate=short_name(row[self.model]),
            price=times + short_name(row["baseline"]),
        )
        level = f"one-sided {100 * self.confidence:.10g} %"
        return f"{words} ({cost_ratio_words(row)}, {level})"

    def _further_words(self, further: int | None) -> str:
        unit, rest = ("question", "") if self.population else ("trial", " of each question")
        if further is None:
            return f"no number of further {unit}s{rest} is in sight that would decide it"
        chance = f"{100 * self.assurance:.10g} %"
        decide = "decides" if further == 1 else "decide"
        more = _counted_noun(further, f"further {unit}")
        return f"{more}{rest} {decide} it with a chance of {chance}"

    def _regressed_words(self, regressed: Sequence[str], *, nameable: bool) -> str:
        """The questions that regressed by a test of each, or why none can be named."""
        level = f"(FDR {100 * self.fdr:.10g} %)"
        if not nameable:
            return f"tested one by one, no question is named: one alone has too few trials {level}"
        words = f"tested one by one, {_counted_noun(len(regressed), 'question')} regressed {level}"
        names = [short_name(name) for name in regressed[:_NAMED]]
        shown = [*names, *["..."] * (len(regressed) > _NAMED)]
        return f"{words}: {', '.join(shown)}" if shown else words

    def _size(self, value: float | None) -> str:
        """A number in points of a hundred, or in the units of the metric."""
        if value is None:
            return "unknown"
        if not self.points:
            return f"{value:.4g}"
        return f"{100 * value + 0.0:.1f}".removesuffix(".0") or "0"

    def _unit(self, value: float) -> str:
        if not self.points:
            return ""
        return " point" if 100 * value == 1 else " points"


def _own_verdict(row: Mapping[str, Any]) -> str:
    """The verdict about the difference of a row alone, whatever its strata have."""
    if row["lo"] is not None and row["lo"] > -row["margin"]:
        return "pass"
    return "fail" if row["hi"] is not None and row["hi"] < -row["margin"] else "undecided"


def cost_ratio_words(row: Mapping[str, Any]) -> str:
    """The ratio of the mean costs of a row of a gate, with its ends."""
    if row["cost_ratio"] is None:
        return "cost ratio unknown"
    lo, hi = ("unknown" if row[end] is None else f"{row[end]:.3g}" for end in _COST_ENDS)
    return f"cost ratio {row['cost_ratio']:.3g} [{lo}, {hi}]"


def _broken_words(row: Mapping[str, Any]) -> str:
    """The count of broken questions, with what chance breaks."""
    broken = _counted_noun(row["broken"], "question")
    p = row["p_broken"]
    shown = "p < 0.001" if p < 0.0005 else f"p = {p:.3f}"  # rounds to no digit
    chance = f"{row['broken_by_chance']:.1f} would between equal models ({shown})"
    return f"{broken} went from mostly right to mostly wrong, where {chance}"


def _counted_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
