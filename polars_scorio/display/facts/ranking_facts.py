"""Facts of models: read from the frames of the public methods; no words but names.

A winner is that of `compare`, or of `rank`, whose tests are the same; nothing here decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from polars_scorio.decisions.compare import pair_ends
from polars_scorio.display.facts.scopes import Scope, lead_label, lead_rows
from polars_scorio.display.numbers import SAME, Unit, gap_unit
from polars_scorio.display.phrases import count_of, text_list, these_questions
from polars_scorio.display.settings import Settings
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.errored import LEAST

FEW_QUESTIONS = 10  # below which a verdict is about these alone
# Over what a confidence holds at once.
Family = Literal["", "page", "models", "pairs", "alone", "baseline", "curve"]


def as_number(value: object) -> float:
    """A cell of a frame, NaN where it is null."""
    return math.nan if value is None else float(value)  # type: ignore[arg-type]  # numbers of a frame


@dataclass(frozen=True, slots=True)
class About:
    """Metric, questions and confidence that numbers are about."""

    metric: str  # as people write it
    confidence: float
    target: str = ""  # the questions, in words
    made: str = ""  # how the numbers were made of those of strata, and corrected
    family: Family = ""
    candidates: int = 0  # of one-sided verdicts that hold at once; 0: intervals have two sides
    margin: str = ""  # as written
    looks: str = ""  # that verdicts hold at every look
    judged: str = ""  # how errors of a judge are corrected
    errored: bool = False  # numbers hold whatever errored trials were
    few: str = ""  # questions, where they are too few to say much about others


@dataclass(frozen=True, slots=True, eq=False)
class AnswerRows:
    """Rows of an answer that ranks nothing, of a part of a log, and what they are about."""

    rows: Sequence[Mapping[str, Any]]
    model: str  # the column of models; empty without one
    about: About
    place: str = ""
    unit: Unit = field(default_factory=Unit)  # of scores
    width: float | None = None  # that intervals are to have
    improvements: bool = False  # whether questions became better

    @property
    def leading(self) -> list[bool]:
        """Whether a model may be the best, by the tier that was joined."""
        return [row[":tier"] == 1 for row in self.rows]

    @property
    def cheapest(self) -> Mapping[str, Any] | None:
        """The cheapest of them, at the same cost the first in rank; None if none has a rank."""
        best = [row for row, one in zip(self.rows, self.leading, strict=True) if one]
        # Means that differ in their last digits are the same.
        return min(best, key=lambda row: (float(f"{row['mean_cost']:.12g}"), row[":rank"]),
                   default=None)  # fmt: skip


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
        places, chance = ["rank_lo", "rank_hi", "tier"], "prob_best"
        order = ranks.select(pl.col(model).cast(pl.String), *places, chance)
        scores = rows.select(pl.col(model).cast(pl.String), "mu", "lo", "hi")
        both = order.join(scores, on=model, how="left", maintain_order="left")
        numbers = both.select(
            pl.col("mu", "lo", "hi").cast(pl.Float64).fill_null(math.nan),
            pl.col(places).cast(pl.Int64).fill_null(0),
            pl.col(chance).cast(pl.Float64).fill_null(math.nan),
        )
        score, lo, hi, *ranked = (column.to_numpy() for column in numbers)
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
        a, b = pl.col("model_a"), pl.col("model_b")
        pair = pairs.filter(((a == first) & (b == second)) | ((a == second) & (b == first)))
        numbers = pair.select("diff", "lo", "hi", "prob_better").rows()
        if not numbers or None in numbers[0]:
            return None
        (diff, lo, hi, prob), better = numbers[0], pair["better"][0]
        if pair["model_a"][0] == first:
            return cls(diff, lo, hi, prob, better)
        return cls(-diff, -hi, -lo, 1 - prob, better)


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


def first_is_behind(row: Mapping[str, Any], *, lower_is_better: bool) -> bool:
    """Whether model_a of a comparison is behind: as `better` says, else as the numbers lie."""
    if row["better"] is not None:
        return str(row["better"]) == str(row["model_b"])
    if "ratio" in row:
        return (row["ratio"] or 1.0) > 1
    return (row["diff"] or 0.0) > 0 if lower_is_better else (row["diff"] or 0.0) < 0


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """Further trials, or questions, that would decide between the first two models."""

    trials: int | None  # of each question; None: no number would
    questions: int | None
    fewest: int  # trials of a question that the log has


@dataclass(frozen=True, slots=True, eq=False)
class Errored:
    """Trials that may have failed or been solved, and what they change."""

    trials: int
    readings: Mapping[str, Gap]  # the first two models under each meaning of an error
    decisive: bool  # whether a meaning decides between models that may be the best
    of_models: Mapping[str, int]  # the trials of each model
    ends: tuple[float, float]  # of the first score: all failed, all solved
    words: Sequence[str] = ()  # of each model, as written


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of a question, and the cheapest model that may be the best."""

    words: Sequence[str]  # of each model
    cheapest: int  # its place
    ratio: float  # of the first model's cost to it
    lead: Gap | None  # of the first model over it


@dataclass(frozen=True, slots=True, eq=False)
class RankingFacts:
    """Several models in their order, of a log or of a part of it."""

    board: Board
    about: About
    place: str = ""  # the part
    gap: Gap | None = None  # of the first two
    alone: int = 0  # pairs that intervals of their own would decide
    paired: bool = False  # whether the first two were compared, with a plan
    plan: PlanFacts | None = None
    selected: tuple[float, float] | None = None  # ends of the first, chosen as the highest
    of_log: int = 0  # models of the log, of which a part may have fewer
    questions: int = 0
    costs: Costs | None = None
    runs: bool = False  # whether the numbers are about other runs
    judged: bool = False
    judge_names: str | None = None  # the winner by verdicts alone
    errored: Errored | None = None
    further: Sequence[tuple[str, Unit, Sequence[tuple[float, float, float]]]] = ()  # metrics


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, the one that is ahead first."""

    first: str
    second: str
    lo: float
    mid: float
    hi: float
    decided: bool
    k: int | None
    known: bool
    named: tuple[str, str]  # in the order of the frame


@dataclass(frozen=True, slots=True, eq=False)
class PairsFacts:
    """A comparison of one part of a log: of two models or of more."""

    rows: Sequence[Pair]
    unit: Unit
    about: About
    place: str = ""
    ratios: bool = False  # of costs
    curves: Sequence[PairCurve] = ()  # over k
    bracket: tuple[float, int, int] | None = None  # of `pair_bracket`, of errored trials

    @classmethod
    def from_frame(
        cls, pairs: pl.DataFrame, metric: Metric, about: About, place: str = "", *,
        lower: bool = False,
    ) -> PairsFacts:  # fmt: skip
        """From rows of `compare`; where it names a better model, that one is first."""
        ratios = "ratio" in pairs.columns
        centre, rows = float(ratios), list[Pair]()
        for row in pairs.rows(named=True):
            a, b = str(row["model_a"]), str(row["model_b"])
            value = row["ratio" if ratios else "diff"]
            mid, lo, hi = (as_number(each) for each in (value, row["lo"], row["hi"]))
            sides, known = (a, b), value is not None
            if first_is_behind(row, lower_is_better=lower):
                a, b = b, a
                mid, lo, hi = (1 / mid, 1 / hi, 1 / lo) if ratios else (-mid, -hi, -lo)
            rows.append(Pair(a, b, lo, mid, hi, row["better"] is not None, row["k"], known, sides))
        curves = pair_curves(pairs) if pairs["k"].n_unique() > 1 else []
        if not curves:  # undecided ones first, the closest on top
            rows.sort(key=lambda row: (row.decided, _distance_between(row.mid, centre)))
        unit = Unit(percent=False) if ratios else gap_unit(metric, pairs)
        bracket = pair_bracket(pairs) if LEAST in pairs.columns else None
        return cls(rows, unit, about, place, ratios, curves, bracket)

    @property
    def decided(self) -> int:
        """How many have a better model."""
        return sum(row.decided for row in self.rows)

    @property
    def tied(self) -> bool:
        """Whether the closest have the same score."""
        return _distance_between(self.rows[0].mid, float(self.ratios)) < SAME


@dataclass(frozen=True, slots=True, eq=False)
class PairCurve:
    """A pair along k, by one band; beside a baseline a model gains on it or loses."""

    pair: Mapping[str, Any]  # its first row
    k: Sequence[int]  # at which it has a number
    named: bool  # whether a better model is named at some k


def pair_curves(pairs: pl.DataFrame) -> list[PairCurve]:
    """The pairs of a comparison at several k."""
    return [
        PairCurve(
            rows.row(0, named=True), rows.filter(pl.col("sigma").is_not_null())["k"].to_list(),
            rows["better"].null_count() < rows.height,
        )
        for rows in pairs.partition_by("model_a", "model_b", maintain_order=True)
    ]  # fmt: skip


def pair_bracket(pairs: pl.DataFrame) -> tuple[float, int, int]:
    """How far errored trials move a difference, and in how many pairs of all one is better."""
    moved = (pairs["hi_missing"] - pairs["lo_missing"]).drop_nulls().to_list()
    return max(moved, default=0.0), pairs["better"].count(), pairs.height


def _distance_between(value: float, centre: float) -> float:
    return math.inf if math.isnan(value) else abs(value - centre)


@dataclass(frozen=True, slots=True, eq=False)
class OneModel:
    """A single model, on these questions and on others like them."""

    board: Board
    about: About
    place: str  # the step
    like: tuple[float, float, float] | None  # score, lo and hi on questions like these
    parts: Sequence[tuple[str, tuple[float, float, float]]]  # strata: score, lo and hi
    questions: int
    always: str | None  # share of the questions right in all tries, as written
    tries: int
    flaky: int  # questions that come out both ways
    shares: bool  # whether the score is a share of right answers
    averaged: bool  # whether it is that of single trials
    plain: float | None  # the estimate without a prior
    each: int | None  # trials of each question
    cost: str = ""  # of a question, as written
    errored: Errored | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Divided:
    """Models of which no stratum has all."""

    models: int
    noun: str  # for a stratum
    about: About
    boards: Mapping[str, Board]  # of each stratum


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The last step of training less the first one in Pass@k, at each k, by one band over all k."""

    k: tuple[int, ...]
    diff: Floats
    lo: Floats
    hi: Floats
    better: Ints  # 1 where the last step is better, -1 where it is worse, 0 where it is open
    steps: tuple[str, str]  # the first and the last, as a reader sees them
    level: str

    @property
    def first(self) -> tuple[int, int]:
        """The verdict from the smallest k on (0: open), and the last k that has it."""
        return self._verdict_stretch(1)

    @property
    def last(self) -> tuple[int, int]:
        """The verdict up to the largest k (0: open), and the first k that has it."""
        return self._verdict_stretch(-1)

    def _verdict_stretch(self, step: int) -> tuple[int, int]:
        signs = self.better[::step]
        same = signs.size if (signs == signs[0]).all() else int(np.argmax(signs != signs[0]))
        return int(signs[0]), self.k[::step][same - 1]

    def verdict_places(self, sign: int) -> str:
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
        parts = [f"up to k = {low}"] if low else []
        parts += [f"at k = {text_list(inside)}"] if inside else []
        return text_list([*parts, *([f"from k = {high} on"] if high < math.inf else [])])


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Numbers of a scope, from which all accounts of a log are made."""

    main: Scope
    board: Board
    gap: Gap | None  # of the first two
    settings: Settings

    @classmethod
    def from_scope(cls, main: Scope, settings: Settings) -> Sheet:
        """The numbers of a scope, the best model first."""
        board = Board.from_rows(lead_rows(main), main.ranks)
        several = len(board.models) > 1 and main.pairs.width
        gap = Gap.from_pairs(main.pairs, *board.models[:2]) if several else None
        return cls(main, board, gap, settings)

    @property
    def asked(self) -> int:
        """The number of questions."""
        return int(lead_rows(self.main)["questions"].max() or 0)  # type: ignore[arg-type]

    @property
    def population(self) -> bool:
        """Whether the numbers are about questions like these."""
        return self.settings.target == "population"

    @property
    def about(self) -> About:
        """Metric, confidence, family and target."""
        rows = lead_rows(self.main)
        many = int(rows["clusters"].max() or 0) if "clusters" in rows.columns else 0  # type: ignore[arg-type]
        within = f" in {count_of(many, 'cluster')}" if many else ""
        asked = f"questions like these {self.asked:,}" if self.population else (
            these_questions(self.asked))  # fmt: skip
        judged = "corrected for the errors of the judge" * self.main.judged
        made = ", ".join(filter(None, (self.main.overall_basis(), judged)))
        few = self.asked < FEW_QUESTIONS and not self.population
        return About(
            lead_label(self.main), self.settings.confidence, f"about {asked}{within}", made,
            "page" if len(self.board.models) > 2 else "", errored=bool(self.main.errored),
            few=these_questions(self.asked) * few,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AllPairs:
    """The pairs of several models, and in which of them one is better beyond chance."""

    models: list[str]
    pairs: Sequence[tuple[str, str, bool]]

    @classmethod
    def from_sheet(cls, sheet: Sheet) -> AllPairs:
        """All pairs of a log."""
        decided = pl.col("better").is_not_null()
        return cls(
            sheet.board.models, sheet.main.pairs.select("model_a", "model_b", decided).rows()
        )


def stratum_boards(parts: Sequence[Scope]) -> dict[str, Board]:
    """The models of each stratum."""
    return {part.name: Board.from_rows(lead_rows(part), part.ranks) for part in parts}


def sure_winners(boards: Mapping[str, Board]) -> dict[str, str]:
    """The strata in which one of several models is the best beyond chance, with its name."""
    several = ((name, each) for name, each in boards.items() if len(each.models) > 1)
    return {name: each.leaders[0] for name, each in several if len(each.leaders) == 1}


@dataclass(frozen=True, slots=True)
class Winners:
    """The first model of each stratum, and the sure winners."""

    firsts: Mapping[str, str]
    sure: Mapping[str, str]
    leader: str  # of the whole log
    noun: str

    @classmethod
    def from_boards(
        cls, boards: Mapping[str, Board], noun: str, leader: str | None = None
    ) -> Winners:
        """Without a leader the first of most strata is one; strata of one model have no winner."""
        several = {name: board for name, board in boards.items() if len(board.models) > 1}
        firsts = {name: board.models[0] for name, board in (several or boards).items()}
        leader = leader or max(firsts.values(), key=[*firsts.values()].count)
        return cls(firsts, sure_winners(boards), leader, noun)


@dataclass(frozen=True, slots=True)
class Strata:
    """The models of each stratum, beside those of the whole log in their order."""

    whole: Board
    boards: Mapping[str, Board]
    noun: str
    level: str
    lower: bool  # is better

    @classmethod
    def from_sheet(cls, sheet: Sheet, parts: Sequence[Scope], noun: str) -> Strata:
        """The strata of a log."""
        lower = sheet.main.roles.lower_is_better
        return cls(sheet.board, stratum_boards(parts), noun, sheet.settings.level, lower)

    @property
    def winners(self) -> Winners:
        """The winners of the strata beside the leader of the log."""
        return Winners.from_boards(self.boards, self.noun, self.whole.models[0])

    def lead(self, name: str) -> float:
        """How far the first of the two models that lead the log is ahead in a stratum."""
        board = self.boards[name]
        known: dict[str, float] = dict(zip(board.models, board.score.tolist(), strict=True))
        first, *rest = self.whole.models[1::-1] if self.lower else self.whole.models[:2]
        lead = known.get(first, math.nan) - known.get((rest or [first])[-1], math.nan)
        return -math.inf if math.isnan(lead) else lead


_DOTS = 20  # of equal chance


@dataclass(frozen=True, slots=True)
class Duel:
    """The first two models: where their difference lies, and the questions of each."""

    board: Board
    gap: Gap
    places: Sequence[float]  # of the difference, ascending, of equal chance
    wins: tuple[int, int, int]  # questions that the first one answers better, alike, and worse
    level: str
    lower: bool  # is better

    @classmethod
    def from_sheet(cls, sheet: Sheet, scores: Floats) -> Duel | None:
        """With their scores at each question, (2, M); None if a number of the two is missing."""
        if sheet.gap is None:
            return None
        places = pair_quantiles(sheet.main, sheet.settings, *sheet.board.models[:2])
        lower = sheet.main.roles.lower_is_better
        gaps = scores[1] - scores[0] if lower else scores[0] - scores[1]
        won, lost = int((gaps > SAME).sum()), int((gaps < -SAME).sum())
        wins = won, gaps.size - won - lost, lost
        return cls(sheet.board, sheet.gap, places, wins, sheet.settings.level, lower)


def score_matrix(scope: Scope, models: Sequence[str]) -> tuple[list[str], Floats]:
    """The questions, the hardest first, and the score of each model at each, (L, M)."""
    rows = scope.question_scores()
    # Means are rounded sums in a fixed order: they are always the same.
    means = rows.group_by("question").agg(pl.col("score").sort().mean().round(12).alias(":mean"))
    wide = rows.pivot("model", index="question", values="score")
    wide = wide.join(means, on="question").sort(":mean", "question")
    names = wide["question"].cast(pl.String).to_list()
    return names, np.asarray(wide.select(models).to_numpy().T)


def pair_quantiles(main: Scope, settings: Settings, a: str, b: str) -> list[float]:
    """The difference a - b at 20 equal chances: ends of the pair's intervals."""
    confidences = [(2 * place + 1) / _DOTS for place in range(_DOTS // 2)]
    ends = main.numbers(pair_ends, main.lead, (a, b), confidences, **settings.report).collect()
    return sorted([*ends["lo"], *ends["hi"]])
