"""Numbers, titles and phrases for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from math import floor, log10
from statistics import median
from typing import Any

import polars as pl

from polars_scorio.arguments import Overall
from polars_scorio.counting.roles import Roles
from polars_scorio.metrics.from_text import named_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.posterior import UNIFORM, QuestionPrior
from polars_scorio.study.request import InferenceChoice, InferenceOptions, read_prior

MISSING = "\N{EN DASH}"
_WEIGHTS = 8  # of strata, which a line can list
_USUAL_SIGMA = 0.01  # where all are zero
_SURE = 0.9995  # above it three digits would say that it is certain


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of a metric are written."""

    percent: bool
    digits: int  # decimals

    @classmethod
    def from_values(
        cls, values: Iterable[float | None], sigmas: Iterable[float | None], *,
        least: float = 0.0, percent: bool | None = None, digits: int | None = None,
    ) -> NumberFormat:  # fmt: skip
        """Percentages of what lies within `least` and 1, and two significant digits of sigma.

        `percent` and `digits` win over both.
        """
        if percent is None:
            percent = all(value is None or least <= value <= 1 for value in values)
        if digits is None:
            known = [sigma for sigma in sigmas if sigma is not None and sigma > 0]
            size = (100 if percent else 1) * median(known or [_USUAL_SIGMA])
            digits = max(1 - floor(log10(size)), 1 if percent else 0)
        return cls(percent, digits)

    @property
    def sign(self) -> str:
        """Unit behind the heading of a metric."""
        return " (%)" if self.percent else ""

    def text(self, value: float | None) -> str:
        """A number without its unit."""
        if value is None:
            return MISSING
        # Adding zero turns -0.0 into 0.0.
        return f"{round((100 if self.percent else 1) * value, self.digits) + 0.0:.{self.digits}f}"

    def cell(self, value: float | None, lo: float | None, hi: float | None) -> str:
        """A number with its interval, if it has one."""
        interval = "" if lo is None or hi is None else f" [{self.text(lo)}, {self.text(hi)}]"
        return self.text(value) + interval


def sigma_values(
    rows: pl.DataFrame, sigma: str = "sigma", lo: str = "lo", hi: str = "hi"
) -> list[float | None]:
    """How far numbers may be off: sigma, or a quarter of an interval that is wider.

    Where all trials are right sigma is next to nothing, and the interval is not.
    """
    quarter = (pl.col(hi) - pl.col(lo)) / 4
    usual = pl.col(sigma) if sigma in rows.columns else pl.lit(None, pl.Float64)
    return rows.select(pl.max_horizontal(usual, quarter)).to_series().to_list()


def probability_text(value: float | None) -> str:
    """A probability, which never says that something is certain."""
    if value is None:
        return MISSING
    return ">0.999" if value >= _SURE else "<0.001" if value <= 1 - _SURE else f"{value:.3f}"


_CALIBRATED = "calibrated"


def prior_words(prior: QuestionPrior | None) -> str:
    """The ground of numbers under a prior; None: they are calibrated."""
    if prior is None:
        return _CALIBRATED
    if prior == "population":
        return "weighted populations"
    return "uniform prior" if prior == UNIFORM else f"prior Beta({prior[0]:g}, {prior[1]:g})"


def row_heading(name: str, k: int | None, trials: int | None = None) -> str:
    """Metric of a row of a report, as people write it; `k` may be a threshold of a curve.

    A frame has only the name of a metric; in this package it is what one types to get it.
    """
    metric = named_metric(name, k)
    if metric is not None:
        return metric.heading(k, trials)
    return name if k is None else f"{name}, k = {k:,}"


def column_heading(name: str, trials: int | None = None) -> str:
    """Column of a report with metrics as columns, as people write its metric."""
    function, _, k = name.rpartition("_")
    metric = named_metric(function, int(k)) if k.isdecimal() else named_metric(name, None)
    return name if metric is None else metric.heading(metric.row_sizes[0], trials)


def inference_words(
    options: InferenceOptions | Mapping[str, Any], metrics: Sequence[Metric]
) -> str:
    """Inference and target of the intervals of some metrics, in words.

    Posterior means are never calibrated, votes always are. About a population, neither are blends
    of the whole benchmark.
    """
    (chosen, earlier), target = read_prior(options.get("prior")), options.get("target")
    choice = InferenceChoice(chosen, target=target or "benchmark")
    kinds = {metric: choice.prior_of(metric) for metric in metrics}
    first = chosen if chosen in kinds.values() or not kinds else next(iter(kinds.values()))
    words = [prior_words(first)]
    for kind in dict.fromkeys(kind for kind in kinds.values() if kind != first):
        names = ", ".join(metric.heading() for metric in metrics if kinds[metric] == kind)
        words[0] += f" ({names}: {prior_words(kind)})"
    if earlier is not None:
        words.append("with prior trials")
    if target == "population":
        words.append("questions as a sample")
    return ", ".join(words)


def look_words(options: Mapping[str, Any]) -> str:
    """Whether verdicts hold at every look, which they do up to a planned number."""
    names = ("planned_trials", "planned_questions")
    number = next(filter(None, map(options.get, names)), None)
    unit = "questions" if options.get("target") == "population" else "trials a question"
    return "" if number is None else f"at every look (planned: {number:,} {unit})"


def interval_words(confidence: float, inference: str) -> str:
    """Kind and confidence of intervals, in words."""
    level = f"{100 * confidence:.6g} %"
    if inference.startswith(_CALIBRATED):
        return f"calibrated {level} intervals{inference.removeprefix(_CALIBRATED)}"
    return f"{level} intervals ({inference})"


_LISTED = 5  # names in a sentence
_NAME = 60  # characters of a name in a sentence
# Characters that command a terminal, reverse the direction of a text, or break XML or JavaScript:
# C0 and C1 but for tab and newline, separators of lines, marks of direction, and no characters.
HIDDEN = {
    chr(code): f"(U+{code:04X})"
    for first, last in (
        *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200E, 0x200F)),
        *((0x2028, 0x202E), (0x2066, 0x2069), (0xFFFE, 0xFFFF)),
    )
    for code in range(first, last + 1)
}
_SURROGATE = {chr(code): f"(U+{code:04X})" for code in range(0xD800, 0xE000)}  # of broken paths
_VISIBLE = str.maketrans(HIDDEN | _SURROGATE)


def visible_text(text: str) -> str:
    """Text with the codes of characters that are not seen but do things; it may have lines."""
    return text.translate(_VISIBLE)


# Endings of nouns, and those of their plurals; of the first one that fits.
_PLURALS = {"stratum": "strata", "s": "s", "ch": "ches", "ty": "ties", "ry": "ries", "": "s"}


def count_of(number: int, unit: str) -> str:
    """A number of things.

    >>> count_of(1, "bench"), count_of(2, "bench"), count_of(1200, "category"), count_of(0, "task")
    ('1 bench', '2 benches', '1,200 categories', '0 tasks')
    """
    if number != 1:
        end = next(end for end in _PLURALS if unit.endswith(end))
        unit = unit.removesuffix(end) + _PLURALS[end]
    return f"{number:,} {unit}"


def all_of(number: int) -> str:
    """All of some things, in words.

    >>> all_of(2), all_of(1200)
    ('both', 'all 1,200')
    """
    return "both" if number == 2 else f"all {number:,}"


def overall_words(overall: Overall, weights: Iterable[float], noun: str, questions: int) -> str:
    """How numbers over several strata were made, as every header says it.

    >>> overall_words("macro", [1, 1, 1], "benchmark", 120), overall_words("micro", [], "", 120)
    ('mean of 3 benchmarks', 'pooled over 120 questions')
    >>> overall_words({"math": 2, "code": 1}, [1, 2], "domain", 120)
    'mean of 2 domains, weights 1 : 2'
    """
    if overall == "micro":
        return f"pooled over {count_of(questions, 'question')}"
    each = [f"{weight:.3g}" for weight in weights]
    mean = f"mean of {count_of(len(each), short_name(noun))}"
    if len(set(each)) < 2:
        return mean
    return f"{mean}, weights {' : '.join(each)}" if len(each) <= _WEIGHTS else f"weighted {mean}"


def range_text(least: int, most: int) -> str:
    """A range of numbers."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def short_name(name: object, most: int = _NAME) -> str:
    """A name on one line without hidden characters, and if it is long without its middle."""
    text = visible_text(str(name)).replace("\n", "(U+000A)")
    kept = most - 1
    if len(text) <= most:
        return text
    return f"{text[: kept - kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(kept // 2) :]}"


def name_list(names: Iterable[object], most: int = _LISTED) -> str:
    """Names in a sentence, of many the first ones."""
    return text_list([*map(short_name, names)], most)


def number_list(pairs: Iterable[tuple[str, int]]) -> str:
    """Names with a number each, in a sentence."""
    return text_list([f"{short_name(name)}: {number:,}" for name, number in pairs])


def text_list(texts: Sequence[str], most: int = _LISTED) -> str:
    """Texts in a sentence, of many the first ones."""
    listed = [*texts[:most]]
    if len(texts) > most:
        listed.append(f"{len(texts) - most:,} more")
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))


def success_word(roles: Roles) -> str:
    """The word for a trial that counts: right, or its own label where lower scores are better."""
    if not roles.lower_is_better:
        return "right"
    if roles.threshold is not None:
        return f"at least {roles.threshold:g}"
    return " or ".join(f"“{short_name(label)}”" for label in (roles.successes or (1,))[:_LISTED])


@cache
def installed_version(package: str = "polars-scorio") -> str:
    """The version in the metadata of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"


def these_questions(number: int) -> str:
    """The words "this question", or "these 12 questions"."""
    return "this question" if number == 1 else f"these {number:,} questions"


def question_total(cover: pl.DataFrame, strata: Sequence[str]) -> int:
    """Number of questions of a log; `cover` has `questions` and `missing` of each model."""
    whole = (pl.col("questions") + pl.col("missing")).max()
    return int(cover.group_by(pl.lit(0), *strata).agg(whole)["questions"].sum())


def about_words(cover: pl.DataFrame, strata: Sequence[str], target: object, *, common: bool) -> str:
    """The questions that numbers are about; `cover` has `questions` and `missing` of each model."""
    number = question_total(cover, strata)
    lacking = cover.filter(pl.col("missing") > 0)
    if target == "population":
        return f"about questions like these {number:,}"
    if not common or lacking.is_empty():
        return f"about {these_questions(number)}"
    if lacking.height > lacking.select(*strata, pl.lit(0)).n_unique():
        return "about the questions that all models have"  # some may lack the same ones
    left = number - int(lacking["missing"].sum())
    return f"about the {left:,} of {number:,} questions that all models have"


def step_words(label: str) -> str:
    """A step, whose thousands have commas.

    >>> step_words("2000"), step_words("warm up")
    ('2,000', 'warm up')
    """
    return f"{int(label):,}" if label.isascii() and label.isdigit() else label


def without_stratum(name: str) -> str:
    """A question without its stratum, where its own name says enough.

    >>> without_stratum("law / law-27"), without_stratum("law / 27")
    ('law-27', 'law / 27')
    """
    stratum, _, question = name.partition(" / ")
    return question if question.startswith(stratum) else name
