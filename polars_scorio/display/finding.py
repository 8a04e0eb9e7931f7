"""The finding of a log as sentences: what page, terminal, notebook and card say first.

Each title has an exact rule. No model of the first tier was shown to be worse than any, and each
model outside of it was shown to be worse than some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import Any, Literal

import numpy as np
import polars as pl

from polars_scorio.display.words.phrases import (
    NumberFormat,
    count_of,
    short_name,
    sigma_values,
    text_list,
)
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import LEAST

MINUS = "\N{MINUS SIGN}"
_NAME = 28  # characters of a name in a title
_UNBROKEN = 22  # characters of a name that fit beside a picture
_BEGIN, _END = "\x01", "\x02"  # around a name; no name has them, as hidden characters are spelled
_NAMED = re.compile(f"([(]?){_BEGIN}(.*?){_END}([).,;:?]*)")
_BROAD = 0.01  # width of an interval, from where on one decimal of a percentage is enough
_SAME = 1e-9  # scores that differ by less are the same
_SURE = 0.99


def named(name: object) -> str:
    """A name, cut in its middle, with marks by which a page keeps it apart from its sentence."""
    return f"{_BEGIN}{short_name(name, _NAME)}{_END}"


def plain_text(text: str) -> str:
    """A sentence without the marks of its names."""
    return text.replace(_BEGIN, "").replace(_END, "")


def unbroken_text(text: str) -> str:
    """A sentence whose numbers stay with their units and ends, by no-break spaces."""
    whole = re.sub(r"(?<=[\d.]) (?=%|points?\b|=)|(?<=[<>]) (?=[\d.])", "\N{NO-BREAK SPACE}", text)
    return re.sub(r"(\[[^\]]*,) ", "\\1\N{NO-BREAK SPACE}", whole)


def html_text(text: str) -> str:
    """A sentence for a page: names as units of their own, numbers unbroken."""
    return _NAMED.sub(_named_html, escape(unbroken_text(text)))


def _named_html(match: re.Match[str]) -> str:
    """A name of a page, to which the marks around it stick."""
    before, inner, behind = match.groups()
    whole = len(unescape(inner)) <= _UNBROKEN
    kind = ' class="nb"' * whole
    name = f"{before}<bdi{kind}>{inner}</bdi>{behind}"
    return f'<span class="gl">{name}</span>' if before + behind and whole else name


def names_list(names: Sequence[object], most: int = 3) -> str:
    """Names in a sentence; of more than `most` the first ones."""
    if len(names) > most:
        listed = [*map(named, names[: most - 1])]
        return text_list([*listed, f"{len(names) - most + 1:,} others"])
    return text_list([*map(named, names)])


def chance_words(value: float) -> str:
    """A probability in percent, which never says that something is certain.

    >>> chance_words(0.738), chance_words(0.001)
    ('74 %', '< 1 %')
    """
    return "> 99 %" if value > _SURE else "< 1 %" if value < 1 - _SURE else f"{100 * value:.0f} %"


@dataclass(frozen=True, slots=True)
class Unit:
    """How scores and their differences are written: in percent and points, or in their own unit."""

    percent: bool = True
    digits: int = 1  # decimals
    edge: float = 0.0  # the margin of a gate

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> Unit:
        """The unit of rows with mu, lo and hi: two decimals for intervals below one point."""
        scale = NumberFormat.from_values(rows["mu"], sigma_values(rows))
        if not scale.percent:
            return cls(percent=False, digits=scale.digits)
        width = (rows["hi"] - rows["lo"]).drop_nulls().median()
        return cls(digits=1 if width is None or width >= _BROAD else 2)  # type: ignore[operator]

    def score(self, value: float, *, sign: bool = True) -> str:
        """A score, with a percent sign unless another place has it."""
        text = f"{(100 if self.percent else 1) * value + 0.0:,.{self.digits}f}"
        if not self.percent:
            return text.replace("-", MINUS)
        zero, full = f"{0:.{self.digits}f}", f"{100:.{self.digits}f}"
        least = f"0.{'1':0>{self.digits}}"
        if text == zero and value > 0:
            text = f"< {least}"
        if text == full and value < 1:
            text = f"> 99.{'9' * self.digits}"
        return text.replace("-", MINUS) + " %" * sign

    def interval(self, lo: float, hi: float) -> str:
        """The ends of a score, in brackets."""
        return f"[{self.score(lo, sign=False)}, {self.score(hi, sign=False)}]"

    def gap(self, value: float, *, points: bool = False) -> str:
        """A difference with its sign, and its unit if no other place has it."""
        text = f"{abs((100 if self.percent else 1) * value):,.{self.digits}f}"
        mark = "" if float(text.replace(",", "")) == 0 else "+" if value > 0 else MINUS
        return f"{mark}{text}{' points' * (points and self.percent)}"

    def gaps(self, lo: float, hi: float) -> str:
        """The ends of a difference, in brackets, with the decimals that show their signs."""
        return f"[{self.finer(lo).gap(lo)}, {self.finer(hi).gap(hi)}]"

    def finer(self, value: float) -> Unit:
        """The unit with as many decimals as tell a number from 0, and from the margin."""
        scale = 100 if self.percent else 1
        sizes = [scale * abs(abs(value) - edge) for edge in (0.0, self.edge)]
        least = min((size for size in sizes if size > _SAME), default=1.0)
        return replace(self, digits=max(self.digits, math.ceil(-math.log10(2 * least))))

    def size(self, value: float) -> str:
        """The size of a difference, with its unit."""
        digits = self.finer(value).digits
        if not self.percent:
            return f"{abs(value):,.{digits}f}"
        text = f"{abs(100 * value):.{digits}f}"
        return f"{text} point{'' if float(text) == 1 else 's'}"

    def margin(self, value: float) -> str:
        """A margin as it was asked for."""
        text = f"{(100 if self.percent else 1) * value:.4g}"
        return f"{text} point{'' if text == '1' else 's'}" if self.percent else text


def gap_unit(metric: Metric, rows: pl.DataFrame) -> Unit:
    """The unit of differences: points of a hundred, or those of the metric."""
    fractions = "bounds" in rows.columns and rows["bounds"].null_count() < rows.height
    if metric.support == (0, 1) and not fractions:
        return Unit()
    scale = NumberFormat.from_values(rows["diff"], sigma_values(rows), percent=False)
    return Unit(percent=False, digits=scale.digits)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Models from the best to the worst by one score, (L,): what a forest shows."""

    models: list[str]
    score: Floats
    lo: Floats
    hi: Floats
    unit: Unit
    rank_lo: Ints
    rank_hi: Ints
    tier: Ints  # 0 without a rank
    prob_best: Floats  # NaN where it is unknown

    @classmethod
    def from_rows(cls, rows: pl.DataFrame, ranks: pl.DataFrame, model: str = "model") -> Board:
        """The rows of a report of one metric in the order of a ranking; of one model without."""
        columns = ["rank_lo", "rank_hi", "tier", "prob_best"]
        order = ranks.select(pl.col(model).cast(pl.String), *columns)
        scores = rows.select(pl.col(model).cast(pl.String), "mu", "lo", "hi")
        both = order.join(scores, on=model, how="left", maintain_order="left")
        numbers = both.select(
            pl.col("mu", "lo", "hi", "prob_best").cast(pl.Float64).fill_null(float("nan")),
            pl.col("rank_lo", "rank_hi", "tier").cast(pl.Int64).fill_null(0),
        )
        score, lo, hi, *ranked = (
            numbers[name].to_numpy()
            for name in ("mu", "lo", "hi", "rank_lo", "rank_hi", "tier", "prob_best")
        )
        return cls(both[model].to_list(), score, lo, hi, Unit.from_rows(rows), *ranked)

    @property
    def first_tier(self) -> Mask:
        """The models that were not shown to be worse than any: those without a rank were not."""
        return np.less_equal(self.tier, 1) & self.ranked

    @property
    def tier_starts(self) -> Mask:
        """Models from which on all are of later tiers than all before them.

        With unequal trials, a model may be of an earlier tier than one of a higher score.
        """
        later = np.where(self.tier > 0, self.tier, np.iinfo(np.int64).max)  # without a rank: last
        after = np.minimum.accumulate(later[::-1])[::-1]
        before = np.maximum.accumulate(self.tier)
        starts = (self.tier > 0) & (after > np.append(after[:1], before[:-1]))
        return np.asarray(starts)

    @property
    def leaders(self) -> list[str]:
        """Their names."""
        return [name for name, first in zip(self.models, self.first_tier, strict=True) if first]

    @property
    def without_rank(self) -> list[str]:
        """The names of those without a rank, where others have one."""
        tiers = zip(self.models, self.tier, strict=True)
        return [name for name, tier in tiers if not tier and self.ranked]

    @property
    def ruled_out(self) -> list[str]:
        """The names of all others."""
        return [name for name, one in zip(self.models, self.first_tier, strict=True) if not one]

    @property
    def ranked(self) -> bool:
        """Whether the models have ranks."""
        return bool((self.tier > 0).any())

    def rows_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A row for each model in this order, nulls where it has none."""
        named_rows = rows.with_columns(pl.col("model").cast(pl.String))
        order = pl.DataFrame({"model": self.models})
        return order.join(named_rows, on="model", how="left", maintain_order="left")

    def hue(self, place: int) -> str:
        """Colour of a model: the first, the second, others of the first tier, or the rest."""
        return "ab"[place] if place < 2 else "m" if self.tier[place] == 1 else "o"

    def numbers(self, place: int) -> str:
        """The score of a model with its interval, in words."""
        ends = self.unit.interval(self.lo[place], self.hi[place])
        return f"{self.models[place]}: {self.unit.score(self.score[place])} {ends}"


@dataclass(frozen=True, slots=True)
class Gap:
    """The first of two models less the second one."""

    diff: float
    lo: float
    hi: float
    prob_better: float
    better: str | None

    @classmethod
    def from_pairs(cls, pairs: pl.DataFrame, first: str, second: str) -> Gap | None:
        """The row of two models in either order; None if a number is missing."""
        columns = ("model_a", "model_b", "diff", "lo", "hi", "prob_better", "better")
        a, b = pl.col("model_a"), pl.col("model_b")
        pair = pairs.filter(((a == first) & (b == second)) | ((a == second) & (b == first))).select(
            columns
        )
        if not pair.height or None in pair.row(0)[2:6]:
            return None
        one, _, diff, lo, hi, prob, better = pair.row(0)
        here = cls(diff, lo, hi, prob, better)
        turned = cls(-here.diff, -here.hi, -here.lo, 1 - here.prob_better, better)
        return here if one == first else turned


Mood = Literal["", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Sentences that are said first: names in it have marks (`plain_text`, `html_text`)."""

    title: str
    chip: str
    mood: Mood = ""
    numbers: str = ""  # the sentence of numbers below the title
    aside: str = ""  # what is said behind it in grey
    basis: tuple[str, ...] = ()  # metric, confidence and family, target

    def words(self) -> str:
        """Title, numbers and aside without marks."""
        return plain_text(" ".join(filter(None, [self.title, self.numbers, self.aside])))


def ranking_title(
    board: Board, gap: Gap | None, alone: int = 0, *, of: int = 0
) -> tuple[str, str, Mood]:
    """Title and chip of several models; `gap` is that of the first two.

    So many pairs would be decided `alone`, each by an interval of its own. `of`: the models of the
    log, of which a stratum may have fewer.
    """
    names, leaders = board.models, board.leaders
    number = len(names)
    many = f"{number:,} of {of:,}" if of > number else f"{number:,}"
    if not board.ranked:
        return "No ranking: some questions have too few trials.", "not ranked", ""
    if number < 3:
        return _few_title(board, gap, of)
    if len(leaders) == number and alone:
        title = f"{count_of(alone, 'pair')} would be decided alone, none with all at once."
        return title, "nothing decided", ""
    if len(leaders) == number:
        return f"Nothing is decided between {many} models.", "nothing decided", ""
    if len(leaders) == 1:
        return f"{named(leaders[0])} is the best of {many} models.", "decided", "yes"
    first, *later = leaders
    leads = f"{named(first)} is ahead"
    if leaders[:2] == names[:2] and abs(board.score[0] - board.score[1]) < _SAME:
        leads = f"{named(first)} and {named(later.pop(0))} are ahead"
    rest = names_list(later) if len(later) < 3 else f"{len(later):,} others"
    return leads + f"; {rest} may be as good" * bool(later) + ".", "winner open", ""


def _few_title(board: Board, gap: Gap | None, of: int) -> tuple[str, str, Mood]:
    """Title and chip of one model, or two."""
    if len(board.models) == 1:
        only = f"alone here, of {of:,} models" if of > 1 else "the only model"
        return f"{named(board.models[0])} is {only}.", "one model", ""
    first, second = map(named, board.models)
    if len(board.leaders) == 1:
        winner = board.leaders[0] == board.models[0]
        title = f"{first} beats {second}." if winner else f"{second} beats {first}."
        return title, "decided", "yes"
    if abs(board.score[0] - board.score[1] if gap is None else gap.diff) < _SAME:
        return f"{first} and {second} have the same score.", "winner open", ""
    return f"{first} is ahead; {second} may be as good.", "winner open", ""


def rank_board(ranks: pl.DataFrame, model: str) -> Board:
    """The models of a ranking of one stratum, the best first."""
    rows = ranks.rename({"estimate": "mu"}, strict=False)
    if LEAST in rows.columns:  # the score if errored trials failed
        rows = rows.with_columns(pl.col("mu").fill_null(pl.col(LEAST)))
    return Board.from_rows(rows, rows, model)


def decided_alone(pairs: pl.DataFrame, confidence: float) -> int:
    """The pairs that an interval of their own would decide; none of a single pair."""
    sure = (pl.col("prob_better") - 0.5).abs() > confidence / 2
    return pairs.filter(sure).height if pairs.height > 1 else 0


def trails(row: Mapping[str, Any], *, lower_is_better: bool) -> bool:
    """Whether model_a of a comparison is behind: as `better` says, else as the numbers lie."""
    if row["better"] is not None:
        return str(row["better"]) == str(row["model_b"])
    if "ratio" in row:
        return (row["ratio"] or 1.0) > 1
    return (row["diff"] or 0.0) > 0 if lower_is_better else (row["diff"] or 0.0) < 0


def pairs_title(pairs: pl.DataFrame, *, lower_is_better: bool) -> str:
    """Title of the rows of a comparison of one stratum: of two models that of a page."""
    gap = pl.col("diff") if "diff" in pairs.columns else pl.col("ratio").log()
    gaps = pairs.with_columns(gap=gap.abs())
    number, decided = pairs.height, pairs["better"].len() - pairs["better"].null_count()
    if number == 1:
        row = gaps.row(0, named=True)
        a, b = named(row["model_a"]), named(row["model_b"])
        if row["gap"] is None:
            return f"Nothing is known of {a} and {b}."
        first, second = (b, a) if trails(row, lower_is_better=lower_is_better) else (a, b)
        if decided:
            return f"{first} beats {second}."
        if row["gap"] < _SAME:
            return f"{first} and {second} have the same score."
        return f"{first} is ahead; {second} may be as good."
    title = f"{decided:,} of {number:,} pairs {'is' if decided == 1 else 'are'} decided"
    if decided == number:
        return f"All {number:,} pairs are decided."
    open_pairs = gaps.filter(pl.col("better").is_null()).sort("gap", nulls_last=True)
    a, b = open_pairs.select("model_a", "model_b").row(0)
    rest = "are not" if number - decided == 1 else "are the closest"
    return f"{title}; {named(a)} and {named(b)} {rest}."


def cheapest_title(name: str) -> str:
    """Title of costs, of the cheapest model of the first tier."""
    return f"{named(name)} is the cheapest that may be the best."


def ranking_finding(
    board: Board, gap: Gap | None, basis: Sequence[str] = (), prefix: str = "", alone: int = 0
) -> Finding:
    """The finding about several models; so many pairs would be decided `alone`."""
    title, chip, mood = ranking_title(board, gap, alone)
    if not board.ranked:
        return Finding(prefix + title, chip, mood, basis=tuple(basis))
    a, b = (board.unit.score(value) for value in board.score[:2])
    numbers = f"{a} against {b}."
    if gap is not None:
        diff = board.unit.gap(gap.diff, points=True)
        numbers = f"{a} against {b}: {diff} {board.unit.gaps(gap.lo, gap.hi)}."
    elif not np.isfinite(board.score[1]):
        numbers = f"{named(board.models[0])} has {a}."
    rest, asides = board.ruled_out, list[str]()
    if rest and len(board.models) > 2:
        who = names_list(rest) if len(rest) <= 3 else f"The other {len(rest):,}"
        asides.append(f"{who} {'is' if len(rest) == 1 else 'are'} ruled out as the best.")
    if unknown := board.without_rank:
        asides.append(f"{names_list(unknown)} {'has' if len(unknown) == 1 else 'have'} no rank.")
    aside = " ".join(asides)
    return Finding(prefix + title, chip, mood, numbers, aside, tuple(basis))


def one_model_title(
    model: str, score: str, *, always: str | None, tries: int, questions: int
) -> str:
    """Title of a single model; `always` is its share of questions right in all tries, if known."""
    if always is None:
        return f"{named(model)} gets {score} of {count_of(questions, 'question')} right."
    return f"{named(model)} gets {score} right at one try, and {always} all {tries:,} times."


def gate_title(
    new: str, old: str, lo: float, hi: float, margin: float, unit: Unit
) -> tuple[str, str, Mood]:
    """Title and chip of a gate from the two one-sided ends alone."""
    a, b, m = named(new), named(old), unit.margin(margin)
    by_more = f" by more than {m}" if margin else ""
    if hi < -margin:
        return f"{a} is worse than {b}{by_more}.", "gate: fail", "no"
    if lo > 0:
        return f"{a} is better than {b}.", "gate: pass", "yes"
    if lo > -margin:
        but = ", but it is worse" if hi < 0 else ""
        return f"{a} is not worse than {b} by more than {m}{but}.", "gate: pass", "yes"
    if hi < 0:
        least = unit.size(hi)
        title = f"{a} is worse than {b}, by at least {least}; whether by more than {m} is open."
        return title, "gate: undecided", ""
    return f"Undecided: {a} may be worse than {b}{by_more}.", "gate: undecided", ""


def gate_rows(rows: pl.DataFrame, *, lower_is_better: bool) -> pl.DataFrame:
    """The rows of a gate with `stratum`, null over all of them, `model`, `baseline` and `extra`.

    `least` and `most` are the ends of how much better the candidate is, and `side` the verdict of
    these ends alone; "undecided" of those that fail but for the adjustment for all parts.
    """
    place = rows.columns.index("baseline")
    extra = next(each for each in rows.columns if each.startswith("extra_"))
    rows = rows.rename({rows.columns[place - 1]: "model"})
    strata = rows.columns[: min(place - 1, rows.columns.index("metric"))]
    label = pl.concat_str(strata, separator=" / ") if strata else pl.lit(None, pl.String)
    names = pl.col("model", "baseline").cast(pl.String)
    ends = pl.col("lo"), pl.col("hi")
    least, most = (-ends[1], -ends[0]) if lower_is_better else ends
    rows = rows.with_columns(names, stratum=label, extra=pl.col(extra), least=least, most=most)
    fails = pl.col("most") < -pl.col("margin"), pl.col("verdict") == "fail"
    passes = pl.when(pl.col("least") > -pl.col("margin")).then(pl.lit("pass"))
    return rows.with_columns(
        side=passes.when(*fails).then(pl.lit("fail")).otherwise(pl.lit("undecided"))
    )


def gate_row_words(rows: pl.DataFrame, row: Mapping[str, Any], unit: Unit) -> str:
    """Words of a row of `gate_rows`: the verdict of its ends, and what else decides the gate."""
    size, side, verdict = unit.margin(row["margin"]), row["side"], row["verdict"]
    worse, least = (row["most"] or 0.0) < 0, row["least"] or 0.0
    if side == "undecided" and row["most"] is not None and row["most"] < -row["margin"]:
        return f"worse by more than {size} alone, open among all parts"
    if side == verdict:
        return {
            "fail": f"worse by more than {size}" if row["margin"] else "worse",
            "pass": "better" if least > 0 else f"not worse by more than {size}",
        }.get(side, f"worse; by more than {size}?" if worse else "open")
    parts = rows.filter(pl.col("stratum").is_not_null(), model=row["model"], verdict=verdict)
    who, many = names_list(parts["stratum"].to_list()), parts.height > 1
    if _questions_decide(row):
        who, many = "single questions", True
    verbs = {"fail": ("fails", "fail"), "undecided": ("is open", "are open")}[verdict]
    of_ends = {"fail": "fails", "pass": "passes"}.get(side, "open")
    return f"{of_ends}; {who} {verbs[many]}"


def _questions_decide(row: Mapping[str, Any]) -> bool:
    """Whether single questions decide a gate against the difference of the scores."""
    return bool(row.get("score_verdict", row["verdict"]) != row["verdict"])


def worst_gate(rows: pl.DataFrame) -> dict[str, Any]:
    """The row over all strata of the candidate with the worst verdict; `rows` of `gate_rows`."""
    order = pl.col("verdict").cast(pl.Enum(["fail", "undecided", "pass"]))
    return rows.filter(pl.col("stratum").is_null()).sort(order, "least").row(0, named=True)


def gates_title(rows: pl.DataFrame, unit: Unit) -> tuple[str, str, Mood]:
    """Title and chip of a gate: of the ends, or of the strata or cases that decide against them."""
    row = worst_gate(rows)
    new, old, verdict = row["model"], row["baseline"], row["verdict"]
    lo, hi = (math.nan if row[end] is None else row[end] for end in ("least", "most"))
    title, chip, mood = gate_title(new, old, lo, hi, row["margin"], unit)
    if verdict == chip.removeprefix("gate: "):
        return title, chip, mood
    if _questions_decide(row):
        return _cases_gate_title(new, row)
    parts = rows.filter(pl.col("stratum").is_not_null(), model=new, verdict=verdict)
    margin = unit.margin(parts["margin"].max() if parts.height else row["margin"])  # type: ignore[arg-type]
    return _strata_gate_title(new, old, verdict, parts["stratum"].to_list(), margin)


def _cases_gate_title(new: str, row: dict[str, Any]) -> tuple[str, str, Mood]:
    """Title of a gate that single questions decide, against the difference of the scores."""
    failed, regressed = (len(row.get(name) or []) for name in ("not_passed", "regressed"))
    if failed:
        title = f"{named(new)} fails {count_of(failed, 'question')} that must pass."
        return title, "gate: fail", "no"
    if regressed:
        return f"{named(new)} broke {count_of(regressed, 'question')}.", "gate: fail", "no"
    unclear = count_of(len(row.get("unclear") or []), "question")
    title = f"Undecided: whether {named(new)} broke {unclear} is unclear."
    return title, "gate: undecided", ""


def _strata_gate_title(
    new: str, old: str, verdict: str, where: list[str], margin: str
) -> tuple[str, str, Mood]:
    """Title of a gate whose strata decide otherwise than the difference over all of them."""
    a, b, parts = named(new), named(old), f" in {names_list(where)}" * bool(where)
    if verdict == "fail":
        return f"{a} is worse than {b}{parts} by more than {margin}.", "gate: fail", "no"
    title = f"Undecided: {a} may be worse than {b}{parts} by more than {margin}."
    return title, "gate: undecided", ""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The last step of a run less its first one in Pass@k, at each k, by one band over all k."""

    k: tuple[int, ...]
    diff: Floats
    lo: Floats
    hi: Floats
    better: Ints  # 1 where the last step is better, -1 where it is worse, 0 where it is open

    @property
    def first(self) -> tuple[int, int]:
        """The verdict from the smallest k on (0: open), and the last k that has it."""
        return self._stretch(1)

    @property
    def last(self) -> tuple[int, int]:
        """The verdict up to the largest k (0: open), and the first k that has it."""
        return self._stretch(-1)

    def _stretch(self, step: int) -> tuple[int, int]:
        signs = self.better[::step]
        same = signs.size if (signs == signs[0]).all() else int(np.argmax(signs != signs[0]))
        return int(signs[0]), self.k[::step][same - 1]

    def places(self, sign: int) -> str:
        """Every k that has a verdict, 1 or -1, in words; empty without any."""
        (start, until), (end, since) = self.first, self.last
        if start == sign and until == self.k[-1]:
            return "at every k"
        low = until if start == sign else 0
        high = since if end == sign else math.inf
        inside = [
            f"{k:,}"
            for k, each in zip(self.k, self.better, strict=True)
            if each == sign and low < k < high
        ]
        parts = [f"up to k = {low}"] * bool(low) + [f"at k = {text_list(inside)}"] * bool(inside)
        return text_list([*parts, *[f"from k = {high} on"] * (high < math.inf)])


def steps_title(curve: Curve, first: str, last: str) -> str:
    """Title of one run over its steps, from one band over all k."""
    (start, until), (end, _) = curve.first, curve.last
    if start * end < 0:
        moves = ["up" if diff > 0 else "down" for diff in (curve.diff[0], curve.diff[-1])]
        return f"Pass@{until} is {moves[0]}, Pass@{curve.k[-1]} is {moves[1]}."
    gains, losses, than = curve.places(1), curve.places(-1), f"than step {first} "
    if not gains and not losses:
        return f"Nothing is decided between step {first} and step {last}."
    parts = [f"better {than}{gains}"] * bool(gains)
    parts += [f"worse {'' if gains else than}{losses}"] * bool(losses)
    return f"Step {last} is {', '.join(parts)}."


def strata_title(firsts: dict[str, str], sure: dict[str, str], leader: str, noun: str) -> str:
    """Heading over strata: the first model of each, and its sure winner where it has one."""
    winners = list(dict.fromkeys(sure.values()))
    if len(winners) > 1:
        clauses = [
            f"{named(model)} wins {names_list([p for p in sure if sure[p] == model])}"
            for model in winners[:3]
        ]
        return "; ".join(clauses) + "."
    if set(firsts.values()) == {leader}:
        where = f"beyond chance in {len(sure):,}" if sure else "nowhere beyond chance"
        return f"{named(leader)} is first in every {noun}, {where}."
    if sure:
        where = names_list([*sure])
        return f"{named(winners[0])} wins {where}; elsewhere the winner is open."
    return f"No {noun} has a sure winner."


def questions_title(facts: dict[str, Any], leader: str, word: str = "right") -> str:
    """Heading over all questions, from how many are never, always or sometimes solved.

    `word` is what a trial is called that counts.
    """
    number, never, always = facts["questions"], facts["never"], facts["always"]
    if 2 * (never + always) > number and facts["models"] > 1:
        return (
            f"{never + always:,} of {count_of(number, 'question')} tell nothing about these models."
        )
    if facts["trials"] >= 4 and 2 * facts["mixed"] >= number:
        return f"{facts['mixed']:,} of {number:,} questions come out both ways for {named(leader)}."
    if never:
        if word != "right":
            return f"{count_of(never, 'question')} {'is' if never == 1 else 'are'} never {word}."
        return f"{count_of(never, 'question')} nobody solves."
    return "No question is out of reach." if word == "right" else f"Each question is {word} once."
