"""Answers of the commands in a terminal: one sentence, a narrow table, facts, the next command."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import p_words
from polars_scorio.command_line.log_arguments import next_words
from polars_scorio.command_line.terminal import (
    Cell,
    Column,
    Forest,
    Screen,
    command_words,
    print_lines,
    print_table,
)
from polars_scorio.counting.log import Trials, bind_roles, collected_together
from polars_scorio.counting.roles import is_label
from polars_scorio.display.facts.log_summary import holds_steps, overall_of_cover
from polars_scorio.display.facts.scopes import Scope, holds_fractions
from polars_scorio.display.finding import (
    MINUS,
    Board,
    Unit,
    chance_words,
    cheapest_title,
    gap_unit,
    gates_title,
    named,
    pairs_title,
    questions_title,
    rank_board,
    ranking_title,
    trails,
    worst_gate,
)
from polars_scorio.display.media.cost_sections import price_words
from polars_scorio.display.media.gate_sections import as_number
from polars_scorio.display.media.sections import (
    QuestionFacts,
    strata_heading,
    stratum_boards,
    without_stratum,
)
from polars_scorio.display.media.step_sections import TrainingRun
from polars_scorio.display.media.story import Story, next_of_ranking
from polars_scorio.display.media.unranked_sections import WHATEVER
from polars_scorio.display.media.write_page import log_size
from polars_scorio.display.sentences import (
    bracket_sentence,
    curve_sentences,
    question_sentences,
    rerun_sentences,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import cell_text
from polars_scorio.display.verdict import lead_label
from polars_scorio.display.words.phrases import (
    NumberFormat,
    about_words,
    count_of,
    judge_words,
    range_text,
    short_name,
    success_word,
    these_questions,
)
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.errored import LEAST

_ROWS, _PLACES = 15, 5  # of a table, and of strata with one each, unless --all is asked for
_DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Reply:
    """A log, what is asked of it, and the terminal that the answer is for."""

    log: Scorio[Any]
    asked: Namespace
    call: str
    cover: pl.DataFrame  # what is in the log, by stratum and model
    screen: Screen

    @classmethod
    def read(
        cls, log: Scorio[Any], asked: Namespace, call: str, *plans: pl.DataFrame | pl.LazyFrame
    ) -> tuple[Reply, list[pl.DataFrame]]:
        """The reply with what the plans give, and what is in the log."""
        cover, *answers = collected_together(plan.lazy() for plan in (log._described(), *plans))
        return cls(log, asked, call, cover, Screen.from_output()), answers

    @property
    def trials(self) -> Trials:
        """The log with its roles found."""
        return bind_roles(self.log.frame.lazy(), self.log._roles)

    @property
    def strata(self) -> list[str]:
        """The columns of strata."""
        return [*self.trials.strata]

    @property
    def model(self) -> str:
        """The column of models."""
        return next(iter(self.trials.models), "model")

    @property
    def models(self) -> int:
        """Number of models."""
        named = {self.model, "model"} & {*self.cover.columns}
        return self.cover[named.pop()].n_unique() if named else 1

    def places(self, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame]]:
        """Each stratum of a result: its name, its rows, and what the log has of it."""
        strata = self.strata
        if not strata:
            yield "", rows, self.cover
            return
        parts = rows.partition_by(strata, as_dict=True, maintain_order=True)
        # Rows over all strata come first.
        for place, part in sorted(parts.items(), key=lambda each: {None} < {None, *each[0]}):
            same = [pl.col(name).eq_missing(pl.lit(value, part.schema[name]))
                    for name, value in zip(strata, place, strict=True)]  # fmt: skip
            cells = self.cover.filter(same)
            words = (value if isinstance(value, str) else f"{name} {value}"
                     for name, value in zip(strata, place, strict=True))  # fmt: skip
            name = " / ".join(filter(None, words))
            yield (name, part, cells) if cells.height else (self.whole, part, self.cover)

    @property
    def whole(self) -> str:
        """How numbers over all strata were made, in words."""
        return overall_of_cover(self.cover, self.trials, self.asked.overall)

    def about(self, cover: pl.DataFrame) -> str:
        """The questions that the numbers are about, in words."""
        strata = [name for name in cover.columns if name in {"stratum", *self.strata}]
        strata = [] if holds_steps(self.trials) else strata  # steps have the same questions
        target, unmatched = (getattr(self.asked, name, None) for name in ("target", "unmatched"))
        return about_words(cover, strata, target, common=unmatched == "drop")

    def label(self, metric: Metric, cover: pl.DataFrame, k: int | None = None) -> str:
        """The metric as people write it."""
        least, most = cover["n_min"].min(), cover["n_max"].max()
        k = metric.row_sizes[0] if k is None else k
        return metric.heading(k, int(str(most)) if most and least == most else None)

    def basis(self, cover: pl.DataFrame, *words: str) -> list[str]:
        """The line below a sentence: metric, confidence, and what it is about."""
        judged = judge_words(self.log._roles)
        planned = getattr(self.asked, "planned_trials", None) or getattr(
            self.asked, "planned_questions", None
        )
        facts = [*words, *["at every look"] * bool(planned), *[judged] * bool(judged)]
        return self.screen.prose([(", ".join([*facts, self.about(cover)]), "faint")])

    def level(self, family: str = "") -> str:
        """The confidence, and over what it holds."""
        return f"{100 * self.asked.confidence:.6g} % confidence{family and ' '}{family}"

    def title(self, text: str, place: str = "", mark: tuple[str, str] | None = None) -> list[str]:
        """The sentence that answers, with its stratum and a mark in front."""
        head = [("  ", ""), mark, ("  ", "")] if mark else ""
        return self.screen.prose([(f"{place}: " * bool(place) + text, "bold")], first=head)

    def next(self, *commands: str, **changes: object) -> list[str]:
        """The command to type next: the first that asks the same of the log of this call."""
        if self.cover["missing"].sum() and not hasattr(self.asked, "unmatched"):
            changes["unmatched"] = "drop"
        asked = (next_words(self.call, command, **changes) for command in commands)
        words = next(filter(None, asked), None)
        return ["", *self.screen.command(words)] if words else []

    def cut(self, rows: pl.DataFrame, most: int = _ROWS) -> pl.DataFrame:
        """The first rows of a table, or all of them."""
        return rows if self.asked.all else rows.head(most)

    def rows_left(self, whole: int, most: int = _ROWS, what: str = "more") -> list[str]:
        """A line that says what is left out."""
        if self.asked.all or whole <= most:
            return []
        left = f"{whole - most:,} {what}"
        return self.screen.prose([(f"\N{HORIZONTAL ELLIPSIS} {left}: --all", "faint")])

    def blocks(
        self, rows: pl.DataFrame, block: Callable[[str, pl.DataFrame, pl.DataFrame], list[str]]
    ) -> list[str]:
        """The answer for each stratum, of many the first ones."""
        places, lines = [*self.places(rows)], list[str]()
        for place in places if self.asked.all else places[:_PLACES]:
            lines += [*[""] * bool(lines), *block(*place)]
        rest = self.rows_left(len(places), _PLACES, "more strata")
        return [*lines, *[""] * bool(rest), *rest]

    def show(self, lines: Sequence[str], rows: pl.DataFrame | None = None) -> None:
        """Print the answer; with --wide all columns of its rows behind it."""
        print_lines(lines)
        if rows is not None and getattr(self.asked, "wide", False):
            print_table(rows)


def _score_cell(unit: Unit, value: float, lo: float, hi: float, *, bold: bool) -> Cell:
    """A score with its interval in faint brackets."""
    if math.isnan(value):
        return _DASH
    ends = f" {unit.interval(lo, hi)}" if math.isfinite(lo + hi) else ""
    return [(unit.score(value, sign=False), "bold" * bold), (ends, "faint")]


def _gap_cells(unit: Unit, rows: Sequence[tuple[float, float, float]]) -> list[Cell]:
    """Differences with their ends, of which the points stand below one another."""
    texts = ["" if math.isnan(value) else unit.gap(value) for value, *_ in rows]
    width = max(map(len, texts), default=0)
    return [
        [(f"{text or _DASH:>{width}}", ""),
         (f" {unit.gaps(lo, hi)}" if math.isfinite(lo + hi) else "", "faint")]
        for text, (_, lo, hi) in zip(texts, rows, strict=True)
    ]  # fmt: skip


def _tick_label(unit: Unit, step: float = 0.0) -> Callable[[float], str]:
    """The number at a tick of an axis."""
    return lambda value: f"{(100 if unit.percent else 1) * value + step:.6g}".replace("-", MINUS)


def _three_numbers(rows: pl.DataFrame, *names: str) -> list[tuple[float, float, float]]:
    """Three numbers of each row, NaN where they are unknown."""
    return rows.select(pl.col(*names).cast(pl.Float64).fill_null(math.nan)).rows()


def scored_lines(
    screen: Screen, head: str, names: Sequence[str],
    numbers: Sequence[tuple[float, float, float]], label: str, unit: Unit, bright: Sequence[bool],
    *, before: Sequence[Column] = (), beside: Sequence[Column] = (), after: Sequence[Column] = (),
) -> list[str]:  # fmt: skip
    """Names with a score, lo, middle and hi, and its interval drawn; the bright ones in bold."""
    cells = [_score_cell(unit, mid, lo, hi, bold=one)
             for (lo, mid, hi), one in zip(numbers, bright, strict=True)]  # fmt: skip
    columns = [
        *before,
        Column(head, [[(name, "bold" * one)] for name, one in zip(names, bright, strict=True)],
               names=True),
        *beside,
        Column(label + " (%)" * unit.percent, cells),
    ]  # fmt: skip
    share, place = unit.percent, len(columns)
    forest = Forest(numbers, bright, _tick_label(unit), share=share, place=place)
    return screen.table([*columns, *after], forest)


def forest_lines(
    screen: Screen, board: Board, label: str, *, most: int | None = _ROWS,
    beside: Sequence[Column] = (),
) -> list[str]:  # fmt: skip
    """Ranks, models, scores and their intervals; on wide terminals the chance to be the best."""
    some = slice(most)
    first = [bool(each) for each in board.first_tier[some]]
    ends = zip(board.lo[some].tolist(), board.score[some].tolist(), board.hi[some].tolist(),
               strict=True)  # fmt: skip
    before, after = list[Column](), list[Column]()
    if board.ranked:
        places = zip(board.rank_lo[some].tolist(), board.rank_hi[some].tolist(), strict=True)
        before = [Column("rank", [_DASH if not low else f"{low}" if low == high
                                  else f"{low}{_DASH}{high}" for low, high in places])]  # fmt: skip
        if len(board.models) > 2 and board.tier.max() > 1:
            tiers = [str(tier or _DASH) for tier in board.tier[some].tolist()]
            before.append(_number_column("tier", tiers, spare=True))
    if screen.roomy and len(board.leaders) > 1:
        chances = [chance_words(chance) if one and not math.isnan(chance) else "" for chance, one in
                   zip(board.prob_best[some].tolist(), first, strict=True)]  # fmt: skip
        after = [_number_column("chance to be best", chances, spare=True)]
    return scored_lines(
        screen, "model", board.models[some], [*ends], label, board.unit, first,
        before=before, beside=beside, after=after,
    )  # fmt: skip


def rank_answer(reply: Reply, ranks: pl.DataFrame, alone: Callable[[pl.DataFrame], int]) -> None:
    """The models of each stratum in their order."""
    metric, held = reply.asked.metric or avg(), WHATEVER * (LEAST in ranks.columns)

    def block(place: str, rows: pl.DataFrame, cover: pl.DataFrame) -> list[str]:
        board = rank_board(rows, reply.model)
        label = reply.label(metric, cover)
        tiers = int(board.tier.max(initial=0))
        sentence = f"{tiers:,} tiers: a model of one is worse than some model of the tier before."
        title = ranking_title(board, None, alone(rows), of=reply.models)[0]
        return [
            *reply.title(title, place),
            *(reply.screen.prose(sentence) if tiers > 1 and len(board.models) > 2 else []),
            *reply.basis(cover, label, reply.level("for all models at once") + held),
            "",
            *forest_lines(reply.screen, board, label, most=None if reply.asked.all else _ROWS),
            *reply.rows_left(rows.height),
        ]

    then = ["compare"] * (reply.models > 1)
    reply.show([*reply.blocks(ranks, block), *reply.next(*then, "summary")], ranks)


def compare_answer(reply: Reply, tables: Sequence[tuple[Metric, pl.DataFrame]]) -> None:
    """The pairs of each stratum by one metric after the other, open ones first."""
    lines, decided = list[str](), True
    for metric, pairs in tables:
        decided &= pairs["better"].null_count() == 0
        lines += [*[""] * bool(lines), *reply.blocks(pairs, _pairs_block(reply, metric))]
    planned = tables[0][0].name in {"avg", "bayes"} and not judge_words(reply.log._roles)
    command = reply.next(*["plan"] * (planned and not decided), "report")
    lines = lines or reply.title("Nothing to compare: no stratum has two models.")
    reply.show([*lines, *command], pl.concat([rows for _, rows in tables], how="diagonal"))


def _pairs_block(
    reply: Reply, metric: Metric
) -> Callable[[str, pl.DataFrame, pl.DataFrame], list[str]]:
    def block(place: str, pairs: pl.DataFrame, cover: pl.DataFrame) -> list[str]:
        curved = pairs["k"].n_unique() > 1
        label = metric.name if curved else reply.label(metric, cover)
        family = "for each pair by itself" if reply.asked.each_pair else "for all pairs at once"
        if reply.asked.baseline is not None and not reply.asked.each_pair:
            family = "for all models against the baseline at once"
        bounded = LEAST in pairs.columns
        lower = reply.log._roles.lower_is_better
        title = [bracket_sentence(pairs) if bounded else pairs_title(pairs, lower_is_better=lower)]
        title = curve_sentences(pairs, reply.asked.confidence) if curved else title
        return [
            *(line for each in title for line in reply.title(each, place)),
            *reply.basis(cover, label, reply.level(family)),
            "",
            *_pair_lines(reply, metric, pairs, curved=curved),
            *reply.rows_left(pairs.height),
        ]

    return block


def _pair_lines(reply: Reply, metric: Metric, pairs: pl.DataFrame, *, curved: bool) -> list[str]:
    """A row for each pair, the model that is ahead first."""
    ratios = "ratio" in pairs.columns
    rows = []
    for row in pairs.rows(named=True):
        a, b, better = str(row["model_a"]), str(row["model_b"]), row["better"]
        value, lo, hi = (
            as_number(row[name]) for name in ("ratio" if ratios else "diff", "lo", "hi")
        )
        centre = 1.0 if ratios else 0.0
        if trails(row, lower_is_better=reply.log._roles.lower_is_better):
            a, b = b, a
            value, lo, hi = (1 / value, 1 / hi, 1 / lo) if ratios else (-value, -hi, -lo)
        rows.append((better is not None, abs(value - centre), a, b, (lo, value, hi), row["k"]))
    if not curved:
        rows.sort(key=lambda row: (row[0], math.inf if math.isnan(row[1]) else row[1]))
    rows = rows if reply.asked.all else rows[:_ROWS]
    sure = [row[0] for row in rows]
    columns = [
        Column("ahead", [[(row[2], "bold" if row[0] else "open")] for row in rows], names=True),
        Column("of", [row[3] for row in rows], names=True),
    ]
    if curved:
        columns.append(Column("k", [str(row[5]) for row in rows], right=True))
    numbers = [row[4] for row in rows]
    if ratios:
        cells: list[Cell] = [f"{mid:.3g} [{lo:.3g}, {hi:.3g}]" for lo, mid, hi in numbers]
        columns.append(Column("times the cost", cells))
        forest = Forest(numbers, sure, lambda value: f"{value:.6g}", zero=1.0)
        return reply.screen.table(columns, forest)
    unit = gap_unit(metric, pairs)
    cells = _gap_cells(unit, [(mid, lo, hi) for lo, mid, hi in numbers])
    columns.append(Column("points" if unit.percent else "difference", cells))
    return reply.screen.table(columns, Forest(numbers, sure, _tick_label(unit), zero=0.0))


def frontier_answer(reply: Reply, rows: pl.DataFrame, ranks: pl.DataFrame) -> None:
    """The models from the cheapest to the dearest, with the chance to be on the frontier."""
    metric, model = reply.asked.metric or avg(), reply.model
    leading = ranks.filter(pl.col("tier") == 1).select(*reply.strata, model)

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> list[str]:
        best = part.join(leading, on=leading.columns, how="semi", nulls_equal=True)
        best = best.sort("mean_cost")
        first = part[model].is_in(best[model].implode()).to_list()
        unit, label = Unit.from_rows(part.with_columns(mu="estimate")), reply.label(metric, cover)
        title = "No model has a rank."
        if best.height:
            price = _price_text(best["mean_cost"][0])
            title = f"{cheapest_title(best[model][0])} It costs {price} a trial."
        chances = [
            _DASH if each is None else chance_words(each) for each in part["prob_on_frontier"]
        ]
        beside = [_number_column("a trial", [*map(_price_text, part["mean_cost"])])]
        lines = scored_lines(
            reply.screen, "model", part[model].cast(pl.String).to_list(),
            _three_numbers(part, "lo", "estimate", "hi"), label, unit, first, beside=beside,
            after=[_number_column("on frontier", chances, spare=True)],
        )  # fmt: skip
        return [
            *reply.title(title, place),
            *reply.basis(cover, label, reply.level("for all models at once")),
            "",
            *lines,
        ]

    reply.show([*reply.blocks(rows, block), *reply.next("report")], rows)


def _price_text(value: float | None) -> str:
    return _DASH if value is None else price_words(value)


def _number_column(head: str, cells: Sequence[Cell], *, spare: bool = False) -> Column:
    return Column(head, cells, right=True, spare=spare)


def summary_answer(reply: Reply, story: Story) -> None:
    """The finding of a log, its leaderboard, what else is known, and the command for its page."""
    screen, sheet, finding = reply.screen, story.sheet, story.finding
    about = sheet.basis()[-1:] if not story.divided else ()
    basis = ", ".join(dict.fromkeys([*finding.basis, *about]))
    whole = all(good for what, _, good in cover_words(reply) if what != "ids")
    size = f"{log_size(story.log, story.coverage)}{', complete' * whole}"
    biased = story.verdict.bias is not None
    aside = f" {finding.aside}" if biased or len(sheet.board.models) == 1 else ""
    aside = command_words(aside, vars(reply.asked))
    mark = ("BIASED", "fail") if biased else None
    reply.show(
        [
            *reply.title(finding.title, mark=mark),
            *screen.prose(f"{finding.numbers}{aside}"),
            *screen.prose([(basis, "faint")]),
            "",
            *_summary_table(reply, story),
            "",
            *screen.facts([*_story_facts(reply, story), ("log", size)]),
            *reply.next("check" if biased else "report"),
        ]
    )


def _summary_table(reply: Reply, story: Story) -> list[str]:
    """The forest of models, of steps, or of one model here and on questions like these."""
    screen, sheet = reply.screen, story.sheet
    most, label = None if reply.asked.all else _ROWS, lead_label(sheet.main)
    if story.run is not None:
        return _step_lines(reply, story.run)
    board = sheet.board
    if len(board.models) == 1 or story.divided:
        return _one_model_lines(reply, story, label)
    known = story.beside_scores()
    beside = [] if known is None else [Column(known[0], known[1][:most], right=True)]
    lines = forest_lines(screen, board, label, most=most, beside=beside)
    return [*lines, *reply.rows_left(len(board.models))]


def _one_model_lines(reply: Reply, story: Story, label: str) -> list[str]:
    """The score on these questions, on questions like these, and in each stratum.

    Where no stratum has all models, those of each stratum.
    """
    board = story.sheet.board
    rows = [(these_questions(story.sheet.asked), board, 0)] * (not story.divided)
    for name, part in stratum_boards(story.parts).items():
        models = part.models if story.divided else [""]
        rows += [(f"{name} {model}".strip(), part, at) for at, model in enumerate(models)]
    names = [name for name, *_ in rows]
    numbers = [(float(row.lo[at]), float(row.score[at]), float(row.hi[at])) for _, row, at in rows]
    if story.like is not None:
        score, lo, hi = story.like
        names.insert(1, "questions like these")
        numbers.insert(1, (lo, score, hi))
    most = None if reply.asked.all else _ROWS
    bold = [place == 0 and not story.divided for place in range(len(names))][:most]
    lines = scored_lines(reply.screen, "", names[:most], numbers[:most], label, board.unit, bold)
    return [*lines, *reply.rows_left(len(names))]


def _step_lines(reply: Reply, run: TrainingRun) -> list[str]:
    """The steps of a run in their order; bright ones may be the best."""
    board, whole = run.board, len(run.steps)
    place = {name: at for at, name in enumerate(board.models)}
    steps = run.steps
    if not reply.asked.all and whole > _ROWS:  # spread over the run
        steps = [run.steps[round(at)] for at in np.linspace(0, whole - 1, _ROWS)]
    at = [place[step] for step in steps]
    numbers = [(float(board.lo[row]), float(board.score[row]), float(board.hi[row])) for row in at]
    bright = [bool(board.first_tier[row]) for row in at]
    lines = scored_lines(reply.screen, run.name, steps, numbers, "avg", board.unit, bright)
    return [*lines, *reply.rows_left(whole)]


def _story_facts(reply: Reply, story: Story) -> list[tuple[str, str]]:
    """Further facts about a log, each with a word in front."""
    sheet, facts = story.sheet, list[tuple[str, str]]()
    board = sheet.board
    if story.parts and not story.divided and len(board.models) > 1:
        boards = stratum_boards(story.parts)
        facts.append(("where", strata_heading(boards, board.models[0], story.log.noun)))
    fan = story.fan
    if fan is not None and not fan.rewards and len(board.models) > 1 and fan.models:
        many = fan.k[-1]
        least, most = (board.unit.score(fan.numbers[kind, 0, -1, 0]) for kind in (1, 0))
        once = f"{most} {fan.word} at least once in {many:,}, {least} all {many:,} times"
        once = f"{named(fan.models[0])}: {once}"
        facts.append(("rely on it" if fan.word == "right" else "how often", once))
    if story.run is None and not story.divided and len(board.models) > 1:
        steps = [text for text in next_of_ranking(sheet) if not text.startswith("Nothing")]
        facts += [*zip(["to decide", *[""] * len(steps)], steps, strict=False)]
    facts += [("note", command_words(f"{alert.title}. {alert.text}", vars(reply.asked)))
              for alert in story.verdict.alerts]  # fmt: skip
    if story.verdict.outcomes:
        facts.append(("counted", story.verdict.outcomes))
    return facts


_MARKS = {"pass": ("PASS", "pass"), "fail": ("FAIL", "fail"), "undecided": ("OPEN", "open")}
_SAID = {"pass": "pass", "fail": "fail", "undecided": "open"}


def gate_lines(
    reply: Reply, metric: Metric, rows: pl.DataFrame, clauses: Sequence[str], level: str
) -> list[str]:
    """A gate by one metric, from its rows as `gate_rows` has them, and clauses on the worst one."""
    worst = worst_gate(rows)
    unit = replace(gap_unit(metric, rows), edge=float(worst["margin"]))
    label = reply.label(metric, reply.cover, worst["k"])
    whole = rows.filter(pl.col("stratum").is_null())
    several = whole.height > 1
    listed = whole if several else rows
    verdict = str(worst["verdict"])
    diff, lo, hi = (as_number(worst[name]) for name in ("diff", "lo", "hi"))
    numbers = f"{unit.gap(diff, points=True)} {unit.gaps(lo, hi)}" if math.isfinite(diff) else ""
    names = [row["model"] if several else row["stratum"] or reply.whole or "all questions"
             for row in listed.rows(named=True)]  # fmt: skip
    kinds = listed["side"].to_list()
    triples = _three_numbers(listed, "lo", "diff", "hi")
    parts = listed["stratum"].is_not_null().to_list()
    order = sorted(range(len(names)), key=lambda at: (parts[at], triples[at][1]))
    order = order if reply.asked.all else order[:_ROWS]
    drawn, margin = [triples[at] for at in order], float(worst["margin"])
    columns = [
        Column("", [[(names[at], "bold" * (place == 0))] for place, at in enumerate(order)],
               names=True),
        Column("points" if unit.percent else "difference",
               _gap_cells(unit, [(mid, lo, hi) for lo, mid, hi in drawn])),
        Column("verdict", [[(_SAID[kinds[at]], _MARKS[kinds[at]][1])] for at in order]),
    ]  # fmt: skip
    sides = (margin,) if reply.log._roles.lower_is_better else (-margin,)
    forest = Forest(drawn, [kinds[at] != "undecided" for at in order],
                    _tick_label(unit), zero=0.0, marked=sides, place=2)  # fmt: skip
    return [
        *reply.title(gates_title(rows, unit)[0], mark=_MARKS[verdict]),
        *(reply.screen.prose(numbers) if numbers else []),
        *reply.basis(reply.cover, ", ".join(filter(None, [label, reply.whole])), level),
        "",
        *reply.screen.table(columns, forest),
        *reply.rows_left(len(names)),
        *[""] * bool(clauses),
        *(
            line
            for each in clauses
            for line in reply.screen.prose(f"{each[:1].upper()}{each[1:]}.")
        ),
    ]


_SIGNS = {"alarm": ("alarm", "fail"), "note": ("note ", "open"), "look": ("look ", "open"),
          "ok": ("ok   ", "pass"), "not tested": ("-    ", "faint")}  # fmt: skip


def check_answer(reply: Reply, rows: pl.DataFrame) -> None:
    """All tests of a log, the most urgent first."""
    number = dict(rows["verdict"].value_counts().iter_rows())
    made = count_of(rows.height - number.get("not tested", 0), "test")
    worst = next(each for each in _SIGNS if each in number)
    title, *mark = {
        "alarm": (f"{number.get('alarm')} of {made}: alarm.", "ALARM", "fail"),
        "note": ("No alarm, and a fact that no test can judge.", "NOTE", "open"),
        "look": (f"No alarm; {number.get('look')} of {made}: worth a look.", "LOOK", "open"),
    }.get(worst, (f"Nothing found in {made}.", "CLEAN", "pass"))
    lines = [*reply.title(title, mark=(mark[0], mark[1])), *reply.basis(reply.cover), ""]
    for row in rows.to_dicts():
        text = command_words(f"{row['asks']} {row['sentence']}", vars(reply.asked))
        lines += _check_lines(reply.screen, *_SIGNS[row["verdict"]], row["check"], text)
    for what, words, good in cover_words(reply):
        lines += _check_lines(reply.screen, *_SIGNS["ok" if good else "look"], what, words)
    alarm = worst == "alarm"
    lines += reply.next("summary" if alarm or reply.models == 1 else "rank")
    lines += reply.screen.prose([("exit status 1", "faint")]) if alarm else []
    reply.show(lines, rows.drop("sentence"))


def _check_lines(screen: Screen, word: str, style: str, what: str, words: str) -> list[str]:
    first = [("  ", ""), (word, style), ("  ", ""), (f"{what:<12}", "")]
    return screen.prose(words, indent=21, first=first)


def cover_words(reply: Reply) -> Iterator[tuple[str, str, bool]]:
    """Contents and gaps of a log: a word, a sentence, and whether all is well."""
    cover = reply.cover
    missing, nulls, trials = (int(cover[name].sum()) for name in ("missing", "nulls", "trials"))
    asked = reply.about(cover).removeprefix("about ").removeprefix("these ").replace("this", "1")
    lack = f"{missing:,} missing" if missing else "none missing"
    yield "questions", f"{asked} for {count_of(reply.models, 'model')}, {lack}", not missing
    yield "outcomes", f"{count_of(trials, 'trial')} with an outcome, {nulls:,} without", not nulls
    strata = [name for name in cover.columns if name in {"stratum", *reply.strata}]
    whole = reply.models * (cover.select(strata).n_unique() if strata else 1)
    if cover.height < whole:
        kind = strata[0] if len(strata) == 1 else "stratum"
        pairs = f"{whole - cover.height:,} of {count_of(whole, 'pair')} of model and {kind}"
        yield "strata", f"{pairs} without a trial", False
    sizes = sorted({*(cover["questions"] + cover["missing"]).to_list()})
    if holds_steps(reply.trials) and len(sizes) > 1:
        yield "steps", f"they have {range_text(sizes[0], sizes[-1])} questions", False
    planned = int(cover.get_column("planned", default=pl.Series([0])).sum())
    if planned > trials + nulls:
        yield "planned", f"{trials + nulls:,} of {count_of(planned, 'trial')}", False
    repeated, unknown = int(cover["duplicates"].sum()), cover["duplicates"].null_count()
    ids = "not checked: the rows have no trial ids" if unknown else f"{repeated:,} repeated"
    yield "ids", ids, not (unknown or repeated)


def _label_facts(reply: Reply) -> list[tuple[str, str]]:
    """All labels of a log with their trials, the most frequent first."""
    named = reply.cover.select(pl.col("categories").explode().struct.unnest()).drop_nulls()
    if not is_label(named.schema["category"]):
        return []
    each = named.group_by(pl.col("category").cast(pl.String)).agg(pl.col("trials").sum())
    counted = each.sort("trials", "category", descending=[True, False]).rows()
    words = ", ".join(f"{label!r} {trials:,}" for label, trials in counted)
    return [("labels", words)] * bool(words)


def describe_answer(reply: Reply, rows: pl.DataFrame) -> None:
    """The size of a log, and its gaps."""
    cover = reply.cover
    least, most = cover["n_min"].min(), cover["n_max"].max()
    asked = reply.about(cover).removeprefix("about ").removeprefix("these ").replace("this", "1")
    lacking = [(what, words) for what, words, good in cover_words(reply) if not good]
    size = [count_of(reply.models, "model"), asked]
    size += [] if most is None else [f"{range_text(int(str(least)), int(str(most)))} trials"]
    title = " \N{MULTIPLICATION SIGN} ".join(size) + (", complete." if not lacking else ".")
    facts = reply.screen.facts([*_label_facts(reply), *lacking])
    reply.show(
        [
            *reply.title(title.replace(" 1 trials", " 1 trial")),
            *([""] * bool(facts)),
            *facts,
            "",
            *frame_lines(reply, rows, _described_columns(rows)),
            *reply.next("check"),
        ],
        rows,
    )


def _described_columns(rows: pl.DataFrame) -> list[str]:
    """The columns of a description that say more than that nothing is wrong."""
    quiet = {"missing", "nulls", "duplicates", "dropped", "unscored"}
    known = {name for name in rows.columns if rows[name].null_count() < rows.height}
    hidden = {"categories"} | {name for name in quiet & known if not rows[name].sum()}
    return [name for name in rows.columns if name in known - hidden]


_KEPT = {"questions", "missing", "nulls", "duplicates", "rate", "flips"}  # on narrow terminals
_HEADS = {
    "n_min": "fewest", "n_max": "most", "nulls": "no outcome", "duplicates": "repeated",
}  # fmt: skip


def frame_lines(reply: Reply, rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns of a frame as they are: names on the left, numbers on the right."""
    some, columns = reply.cut(rows), list[Column]()
    for name in names:
        dtype = some.schema[name]
        form = ",.3g" if dtype.is_float() else "," if dtype.is_integer() else ""
        cells = [cell_text(value, form, 3) for value in some[name]]
        number = dtype.is_numeric()
        columns.append(Column(_HEADS.get(name, name), cells, right=number, names=not number,
                              spare=number and name not in _KEPT))  # fmt: skip
    return [*reply.screen.table(columns), *reply.rows_left(rows.height)] if some.height else []


def rows_answer(
    reply: Reply, title: str, rows: pl.DataFrame, after: Sequence[str], *, refused: bool = False
) -> None:
    """A sentence and rows with their columns as they are; what is refused is about nothing."""
    names = [name for name in _described_columns(rows) if name not in {"metric", "k"}]
    lines = frame_lines(reply, rows, names)
    basis = reply.basis(reply.cover) if reply.cover.height and not refused else []
    reply.show([*reply.title(title), *basis, "", *lines, *after], rows)


def reruns_answer(reply: Reply, rows: pl.DataFrame) -> None:
    """The noise of a rerun of each model, and how many questions flip."""
    metric = reply.asked.metric or avg()
    percent = metric.support == (0, 1) and rows["flips_hi"].null_count() == 0

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> list[str]:
        part = part.sort("noise_floor", descending=True, nulls_last=True, maintain_order=True)
        scale = NumberFormat.from_values(part["estimate"], part["noise_floor"], percent=False)
        unit = Unit(percent=percent, digits=1 if percent else scale.digits)
        label = reply.label(metric, cover)
        floors = [*map(as_number, part["noise_floor"])]
        title = "No noise floor: some question has fewer trials than are drawn."
        if not math.isnan(floors[0]):
            title = f"Below {unit.size(floors[0])}, a change of a score is not news."
            if percent and floors[0] >= max(part["estimate"][0], 1 - part["estimate"][0]):
                title = "Any change of a score may be chance: the log is too small to tell."
        named_ = reply.model in part.columns
        names = part[reply.model].cast(pl.String).to_list() if named_ else ["all"]
        scores = [
            _DASH if each is None else unit.score(each, sign=False) for each in part["estimate"]
        ]
        moved = [
            _DASH if math.isnan(each) else f"\N{PLUS-MINUS SIGN}{unit.size(each)}"
            for each in floors
        ]
        columns = [
            Column("model", names, names=True),
            _number_column(label + " (%)" * unit.percent, scores),
            _number_column("a rerun moves it by", moved),
            _number_column("questions flip", [*map(_share_text, part["flips"])], spare=True),
        ]
        ends = [(-each, 0.0, each) for each in floors]
        forest = Forest(ends, [False] * len(ends), _tick_label(unit), zero=0.0, place=3)
        sentence = " ".join(rerun_sentences(part.row(0, named=True), percent=percent))
        return [
            *reply.title(title, place),
            *reply.screen.prose(f"{names[0]}: " * named_ + sentence),
            *reply.basis(cover, label, reply.level()),
            "",
            *reply.screen.table(columns, forest),
        ]

    reply.show([*reply.blocks(rows, block), *reply.next("reruns", per="question")], rows)


def _share_text(value: float | None) -> str:
    return _DASH if value is None or math.isnan(value) else f"{100 * value:.0f} %"


def regressions_answer(reply: Reply, rows: pl.DataFrame) -> None:
    """The questions that changed beyond chance, the surest first."""
    asked = reply.asked
    change = "became better" if asked.improvements else "broke"
    question = rows.columns[rows.columns.index("trials_baseline") - 1]
    sure = rows.filter(pl.col("qvalue") <= asked.fdr)
    number, models = sure.select(*reply.strata, question).n_unique(), sure[reply.model].n_unique()
    of = f", under one or more of {models:,} models" * (models > 1)
    many = count_of(number, "question") if number else "No single question"
    title = f"{many} {change} beyond chance{of}."
    some = reply.cut(rows.sort("qvalue", "pvalue", nulls_last=True, maintain_order=True))
    bold = (some["qvalue"] <= asked.fdr).fill_null(value=False)
    names = [without_stratum(" / ".join(map(str, row)))
             for row in some.select(*reply.strata, question).rows()]  # fmt: skip
    chances = ["" if q is None else p_words(q)[2:].removeprefix("= ") for q in some["qvalue"]]
    columns = [
        Column("question", [[(name, "bold" * one)] for name, one in zip(names, bold, strict=True)],
               names=True),
        Column("model", some[reply.model].cast(pl.String).to_list(), names=True),
        _number_column("before", [*map(_share_text, some["rate_baseline"])]),
        _number_column("now", [*map(_share_text, some["rate"])]),
        _number_column("q", chances),
    ]  # fmt: skip
    if rows[reply.model].n_unique() == 1:
        del columns[1]
    level = f"false discovery rate {100 * asked.fdr:.6g} %"
    reply.show(
        [
            *reply.title(title),
            *reply.basis(reply.cover, f"against {asked.baseline}", level),
            "",
            *reply.screen.table(columns),
            *reply.rows_left(rows.height),
            *reply.next("compare"),
        ],
        rows,
    )


def plan_answer(reply: Reply, rows: pl.DataFrame, questions: pl.DataFrame | None) -> None:
    """Further trials for neighbours in the ranking, or for intervals of a width."""
    metric, width = reply.asked.metric or avg(), reply.asked.half_width
    sides = {"model_a": "better", "model_b": "than", reply.model: "model"}
    keys = [name for name in (*reply.strata, *sides) if name in rows.columns]
    extra = ["extra_trials"]
    if questions is not None:
        extra.append("extra_questions")
        rows = rows.join(questions.select(*keys, extra[1]), on=keys, how="left", nulls_equal=True,
                         maintain_order="left")  # fmt: skip

    def number(value: int | None) -> str:
        return "none in sight" if value is None else f"{value:,}" if value else "decided"

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> list[str]:
        some = reply.cut(part)
        columns = [Column(head, some[name].cast(pl.String).to_list(), names=True)
                   for name, head in sides.items() if name in some.columns]  # fmt: skip
        heads = {"extra_trials": "further trials", "extra_questions": "or questions"}
        columns += [_number_column(heads[name], [*map(number, some[name])]) for name in extra]
        chance = f"a chance of {100 * reply.asked.power:.6g} %"
        words = [reply.label(metric, cover), reply.level("" if width else "for all pairs at once")]
        return [
            *reply.title(_plan_title(part, width), place),
            *reply.basis(cover, *words, *[chance] * (width is None)),
            "",
            *reply.screen.table(columns),
            *reply.rows_left(part.height),
        ]

    reply.show([*reply.blocks(rows, block), *reply.next("compare")], rows)


def _plan_title(rows: pl.DataFrame, width: float | None) -> str:
    """The first thing that needs further trials."""
    wanted = rows.filter(pl.col("extra_trials").is_null() | (pl.col("extra_trials") > 0))
    if not wanted.height:
        return "No further trial is needed."
    row = wanted.row(0, named=True)
    if width is None:
        goal = f"tell {named(row['model_a'])} from {named(row['model_b'])}"
    else:
        goal = f"make intervals of \N{PLUS-MINUS SIGN}{width:g}"
    if row["extra_trials"] is None:
        return f"No number of further trials is in sight that would {goal}."
    return f"{count_of(row['extra_trials'], 'further trial')} of each question would {goal}."


def questions_answer(reply: Reply, rows: pl.DataFrame, whole: Scope | None) -> None:
    """The number of questions that say nothing, and the ones to look at."""
    per = reply.asked.per
    question = rows.columns[rows.columns.index("models") - 1]
    facts = None
    if whole is not None and per == "question" and not holds_fractions(whole.counts, whole.roles):
        facts = QuestionFacts.from_scope(whole, whole.models, Settings())
    title = f"{count_of(rows.height, per)}."
    if whole is not None and facts is not None:
        place = f"At {whole.name}: " * bool(whole.name)
        title = place + questions_title(facts.facts(), whole.models[0], facts.word)

    def block(place: str, part: pl.DataFrame, _: pl.DataFrame) -> list[str]:
        word = success_word(reply.log._roles)
        sentences = question_sentences(part, question, per, word)
        said = f"{place}: " * bool(place) + " ".join(sentences)
        return reply.screen.prose(said) if sentences else []

    reply.show(
        [
            *reply.title(title),
            *reply.blocks(rows, block),
            *reply.basis(reply.cover),
            "",
            *_question_lines(reply, rows, question, whole, facts),
            *reply.next("questions", format="csv"),
        ],
        rows,
    )


def _question_lines(
    reply: Reply, rows: pl.DataFrame, question: str, whole: Scope | None,
    facts: QuestionFacts | None,
) -> list[str]:  # fmt: skip
    """The questions that the first model solves about every second time; else the hardest."""
    if whole is None or facts is None:
        wanted = [*reply.strata, question, "rate", "status"]
        filled = _described_columns(rows)
        return frame_lines(reply, rows, [name for name in wanted if name in filled])
    known = {name: at for at, name in enumerate(facts.names)}
    kept = facts.mixed or facts.names
    listed = kept if reply.asked.all else kept[:_ROWS]
    each = 0 if facts.judged else whole.each

    def cell(share: float) -> str:
        return f"{round(share * each)}/{each}" if each else _share_text(share)

    head = f"sometimes {facts.word}" if facts.mixed else "question"
    columns = [Column(head, [*map(without_stratum, listed)], names=True)]
    for at, model in enumerate(whole.models):
        shares = [cell(float(facts.scores[at, known[name]])) for name in listed]
        columns.append(_number_column(short_name(model, 9), shares, spare=at > 0))
    return [*reply.screen.table(columns), *reply.rows_left(len(kept))]
