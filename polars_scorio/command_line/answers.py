"""Answers of the commands in a terminal: one sentence, a narrow table, facts, the next command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.log_arguments import next_words
from polars_scorio.command_line.messages import PROGRAM, command_words, print_lines, print_table
from polars_scorio.counting.log import Trials, bind_roles, collected_together
from polars_scorio.counting.roles import is_label
from polars_scorio.display.blocks import Account, Column, TableBlock, Text
from polars_scorio.display.facts.log_summary import Contents, holds_steps, overall_of_cover
from polars_scorio.display.facts.question_facts import QuestionFacts, SolvedFacts
from polars_scorio.display.facts.ranking_facts import (
    About,
    AnswerRows,
    Board,
    Family,
    PairsFacts,
    RankingFacts,
    Strata,
    rank_board,
)
from polars_scorio.display.facts.scopes import Scope, holds_fractions, lead_rows
from polars_scorio.display.media.terminal import Screen, account_lines, rows_left
from polars_scorio.display.numbers import Unit, named
from polars_scorio.display.page import worded_account
from polars_scorio.display.phrases import (
    NumberFormat,
    about_words,
    count_of,
    look_words,
    short_name,
    success_word,
    without_stratum,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story
from polars_scorio.display.table import cell_text
from polars_scorio.display.words.answer_words import (
    NO_PAIR,
    check_title,
    contents_sentences,
    contents_title,
    name_column,
    number_column,
    plain_table,
    question_sentences,
    share_text,
    tell_answer,
    tell_frontier,
    tell_plan,
    tell_regressions,
    tell_reruns,
)
from polars_scorio.display.words.log_words import log_alerts, outcome_words, size_words
from polars_scorio.display.words.ranking_words import account_from, tell_pairs, tell_ranking
from polars_scorio.display.words.section_words import questions_title, strata_title
from polars_scorio.display.words.table_words import judge_words
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.errored import LEAST

_JOINED = ("tier", "rank")  # of models on a frontier
_ROWS, _PLACES = 15, 5  # of a table, and of strata with one each, unless --all is asked for


@dataclass(frozen=True, slots=True)
class Call:
    """A log, what is asked of it, and the terminal that the answer is for."""

    log: Scorio[Any]
    asked: Namespace
    call: str
    cover: pl.DataFrame  # what is in the log, by stratum and model
    screen: Screen

    @classmethod
    def read(
        cls, log: Scorio[Any], asked: Namespace, call: str, *plans: pl.DataFrame | pl.LazyFrame
    ) -> tuple[Call, list[pl.DataFrame]]:
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
            cells = self.cover.join(part, on=strata, how="semi", nulls_equal=True,
                                    maintain_order="left")  # fmt: skip
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

    def facts(
        self, metric: Metric | None, cover: pl.DataFrame, family: Family = "", *, label: str = "",
        errored: bool = False,
    ) -> About:  # fmt: skip
        """Metric, questions and confidence of the numbers of a part of the log."""
        sure = 0.0 if metric is None else self.asked.confidence  # of no estimate
        label = label or ("" if metric is None else self.label(metric, cover))
        judged, looks = judge_words(self.log._roles), look_words(vars(self.asked))
        return About(label, sure, self.about(cover), family=family, looks=looks, judged=judged,
                     errored=errored)  # fmt: skip

    @property
    def contents(self) -> Contents:
        """The size of the log, and its gaps."""
        strata = [name for name in self.cover.columns if name in {"stratum", *self.strata}]
        asked = self.about(self.cover).removeprefix("about ")
        return Contents.from_cover(self.cover, self.trials, strata, self.models, asked)

    def account(self, account: Account) -> list[str]:
        """An account, as lines of this terminal."""
        return account_lines(self.screen, account, None if self.asked.all else _ROWS)

    def next(self, *commands: str, **changes: object) -> list[str]:
        """The command to type next: the first that asks the same of the log of this call."""
        if self.cover["missing"].sum() and not hasattr(self.asked, "unmatched"):
            changes["unmatched"] = "drop"
        asked = (next_words(self.call, command, **changes) for command in commands)
        words = next(filter(None, asked), None)
        return ["", *self.screen.command(PROGRAM, words)] if words else []

    def blocks(
        self, rows: pl.DataFrame, block: Callable[[str, pl.DataFrame, pl.DataFrame], Account]
    ) -> list[str]:
        """The answer for each stratum, of many the first ones."""
        places, lines = [*self.places(rows)], list[str]()
        for place in places if self.asked.all else places[:_PLACES]:
            lines += [*([""] if lines else []), *self.account(block(*place))]
        rest = rows_left(self.screen, len(places), None if self.asked.all else _PLACES, "strata")
        return [*lines, *([""] if rest else []), *rest]

    def show(self, lines: Sequence[str], rows: pl.DataFrame | None = None) -> None:
        """Print the answer; with --wide all columns of its rows behind it."""
        print_lines(lines)
        if rows is not None and getattr(self.asked, "wide", False):
            print_table(rows)


def rank_answer(reply: Call, ranks: pl.DataFrame, alone: Callable[[pl.DataFrame], int]) -> None:
    """The models of each stratum in their order."""
    metric = reply.asked.metric or avg()

    def block(place: str, rows: pl.DataFrame, cover: pl.DataFrame) -> Account:
        about = reply.facts(metric, cover, "models", errored=LEAST in ranks.columns)
        board = rank_board(rows, reply.model)
        ranking = RankingFacts(board, about, place, alone=alone(rows), of_log=reply.models)
        return tell_ranking(ranking)

    then = ["compare"] if reply.models > 1 else []
    reply.show([*reply.blocks(ranks, block), *reply.next(*then, "summary")], ranks)


def compare_answer(reply: Call, tables: Sequence[tuple[Metric, pl.DataFrame]]) -> None:
    """The pairs of each stratum by one metric after the other, open ones first."""
    lines, decided = list[str](), True
    for metric, pairs in tables:
        decided &= pairs["better"].null_count() == 0
        block = partial(_pairs_block, reply, metric)
        lines += [*([""] if lines else []), *reply.blocks(pairs, block)]
    plans = tables[0][0].name in {"avg", "bayes"} and not judge_words(reply.log._roles)
    command = reply.next(*(["plan"] if plans and not decided else []), "report")
    lines = lines or reply.account(tell_answer(NO_PAIR, None))
    reply.show([*lines, *command], pl.concat([rows for _, rows in tables], how="diagonal"))


def _pairs_block(
    reply: Call, metric: Metric, place: str, pairs: pl.DataFrame, cover: pl.DataFrame
) -> Account:
    curved, asked = pairs["k"].n_unique() > 1, reply.asked
    family: Family = "pairs" if asked.baseline is None else "baseline"
    family = "alone" if asked.each_pair else family
    about = reply.facts(metric, cover, family, label=metric.name * curved)
    lower = reply.log._roles.lower_is_better
    return tell_pairs(PairsFacts.from_frame(pairs, metric, about, place, lower=lower))


def frontier_answer(reply: Call, rows: pl.DataFrame, ranks: pl.DataFrame) -> None:
    """The models from the cheapest to the dearest, with the chance to be on the frontier."""
    metric, model = reply.asked.metric or avg(), reply.model
    keys, placed = [*reply.strata, model], [pl.col(name).alias(f":{name}") for name in _JOINED]
    ranked = rows.join(ranks.select(*keys, *placed), on=keys, how="left", nulls_equal=True,
                       maintain_order="left")  # fmt: skip

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> Account:
        unit = Unit.from_rows(part.with_columns(mu="estimate"))
        about = reply.facts(metric, cover, "models")
        facts = AnswerRows(part.to_dicts(), model, about, place, unit)
        return tell_frontier(facts)

    reply.show([*reply.blocks(ranked, block), *reply.next("report")], rows)


def summary_answer(reply: Call, story: Story) -> None:
    """The finding of a log, its leaderboard, what else is known, and the command for its page."""
    said = contents_sentences(reply.contents)
    whole = all(good for what, _, good in said if what != "ids")
    size = f"{size_words(story.verdict.gaps)}{', complete' if whole else ''}"
    biased = story.verdict.bias is not None
    say = partial(command_words, options=vars(reply.asked))
    account = worded_account(story.account, say, "alert", "aside")
    facts = reply.screen.facts([*_story_facts(reply, story), ("log", size)])
    reply.show([*reply.account(account), "", *facts, *reply.next("check" if biased else "report")])


def _story_facts(reply: Call, story: Story) -> list[tuple[str, str]]:
    """Further facts about a log, each with a word in front."""
    sheet, facts = story.sheet, list[tuple[str, str]]()
    board = sheet.board
    if story.parts and not story.divided and len(board.models) > 1:
        where = Strata.from_sheet(sheet, story.parts, story.log.noun).winners
        facts.append(("where", strata_title(where)))
    fan = story.fan
    if fan is not None and not fan.fractions and len(board.models) > 1 and fan.models:
        many = fan.k[-1]
        least, most = (board.unit.score(fan.numbers[kind, 0, -1, 0]) for kind in (1, 0))
        once = f"{fan.word} at least once in {many:,} tries: {most}; all {many:,} times: {least}"
        once = f"{named(fan.models[0])}: {once}"
        facts.append(("rely on it" if fan.word == "right" else "how often", once))
    if story.run is None and not story.divided and len(board.models) > 1:
        steps = [text for text in story.steps if not text.startswith("Nothing")]
        facts += [*zip(["to decide", *[""] * len(steps)], steps, strict=False)]
    facts += [("note", command_words(f"{alert.title}. {alert.text}", vars(reply.asked)))
              for alert in log_alerts(story.verdict)
              if alert.text not in story.account.texts("alert")]  # fmt: skip
    counted = outcome_words(story.verdict.outcomes)
    return [*facts, *([("counted", counted)] if counted else [])]


_SIGNS = {"alarm": ("alarm", "fail"), "note": ("note ", "open"), "look": ("look ", "open"),
          "ok": ("ok   ", "pass"), "not tested": ("-    ", "faint")}  # fmt: skip


def check_answer(reply: Call, rows: pl.DataFrame) -> None:
    """All tests of a log, the most urgent first."""
    number = dict(rows["verdict"].value_counts().iter_rows())
    title, mark, chip = check_title(number, checked=reply.contents.repeated is not None)
    account = tell_answer(title, reply.facts(None, reply.cover), mark=mark, chip=chip)
    lines = [*reply.account(account), ""]
    for row in rows.to_dicts():
        text = command_words(f"{row['asks']} {row['sentence']}", vars(reply.asked))
        lines += _check_lines(reply.screen, *_SIGNS[row["verdict"]], row["check"], text)
    for what, words, good in contents_sentences(reply.contents):
        lines += _check_lines(reply.screen, *_SIGNS["ok" if good else "look"], what, words)
    alarm = "alarm" in number
    lines += reply.next("summary" if alarm or reply.models == 1 else "rank")
    lines += reply.screen.prose([("exit status 1", "faint")]) if alarm else []
    reply.show(lines, rows.drop("sentence"))


def _check_lines(screen: Screen, word: str, style: str, what: str, words: str) -> list[str]:
    first = [("  ", ""), (word, style), ("  ", ""), (f"{what:<12}", "")]
    return screen.prose(words, indent=21, first=first)


def _label_facts(reply: Call) -> list[tuple[str, str]]:
    """All labels of a log with their trials, the most frequent first."""
    named = reply.cover.select(pl.col("categories").explode().struct.unnest()).drop_nulls()
    if not is_label(named.schema["category"]):
        return []
    each = named.group_by(pl.col("category").cast(pl.String)).agg(pl.col("trials").sum())
    counted = each.sort("trials", "category", descending=[True, False]).rows()
    words = ", ".join(f"{label!r} {trials:,}" for label, trials in counted)
    return [("labels", words)] if words else []


def describe_answer(reply: Call, rows: pl.DataFrame) -> None:
    """The size of a log, and its gaps."""
    contents = reply.contents
    lacking = [(what, words) for what, words, good in contents_sentences(contents) if not good]
    facts = reply.screen.facts([*_label_facts(reply), *lacking])
    table = frame_table(rows, _described_columns(rows))
    lines = reply.account(tell_answer(contents_title(contents), None))
    lines += [*([""] if facts else []), *facts, *reply.account(account_from([], [], None, table))]
    reply.show([*lines, *reply.next("check")], rows)


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


def frame_table(rows: pl.DataFrame, names: Sequence[str]) -> TableBlock:
    """Columns of a frame as they are: names on the left, numbers on the right."""
    columns = list[Column]()
    for name in names:
        dtype = rows.schema[name]
        form = ",.3g" if dtype.is_float() else "," if dtype.is_integer() else ""
        texts = [cell_text(value, form, 3) for value in rows[name]]
        head = _HEADS.get(name, name)
        numbers = number_column(head, texts, spare=name not in _KEPT)
        columns.append(numbers if dtype.is_numeric() else name_column(head, texts))
    return plain_table(columns)


def rows_answer(
    reply: Call, title: str, rows: pl.DataFrame, after: Sequence[str], *, refused: bool = False
) -> None:
    """A sentence and rows with their columns as they are; what is refused is about nothing."""
    names = [name for name in _described_columns(rows) if name not in {"metric", "k"}]
    about = reply.facts(None, reply.cover) if reply.cover.height and not refused else None
    account = tell_answer(title, about, frame_table(rows, names))
    reply.show([*reply.account(account), *after], rows)


def reruns_answer(reply: Call, rows: pl.DataFrame) -> None:
    """The noise of a rerun of each model, and how many questions flip."""
    metric = reply.asked.metric or avg()
    percent = metric.support == (0, 1) and rows["flips_hi"].null_count() == 0

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> Account:
        part = part.sort("noise_floor", descending=True, nulls_last=True, maintain_order=True)
        scale = NumberFormat.from_values(part["estimate"], part["noise_floor"], percent=False)
        unit = Unit(percent=percent, digits=1 if percent else scale.digits)
        model = reply.model if reply.model in part.columns else ""
        facts = AnswerRows(part.to_dicts(), model, reply.facts(metric, cover), place, unit)
        return tell_reruns(facts)

    reply.show([*reply.blocks(rows, block), *reply.next("reruns", per="question")], rows)


def regressions_answer(reply: Call, rows: pl.DataFrame) -> None:
    """The questions that changed beyond chance, the surest first."""
    asked = reply.asked
    question = rows.columns[rows.columns.index("trials_baseline") - 1]
    some = rows.sort("qvalue", "pvalue", nulls_last=True, maintain_order=True)
    names = [" / ".join(map(str, row)) for row in some.select(*reply.strata, question).rows()]
    sure = (pl.col("qvalue") <= asked.fdr).fill_null(value=False).alias(":sure")
    some = some.with_columns(sure, pl.Series(":name", names, pl.String))
    level = f"against {asked.baseline}, false discovery rate {100 * asked.fdr:.6g} %"
    about = reply.facts(None, reply.cover, label=level)
    facts = AnswerRows(some.to_dicts(), reply.model, about, improvements=asked.improvements)
    reply.show([*reply.account(tell_regressions(facts)), *reply.next("compare")], rows)


def plan_answer(reply: Call, rows: pl.DataFrame, questions: pl.DataFrame | None) -> None:
    """Further trials for neighbours in the ranking, or for intervals of a width."""
    metric, width = reply.asked.metric or avg(), reply.asked.half_width
    if questions is not None:
        keys = [*reply.strata, "model_a", "model_b"]
        further = questions.select(*keys, "extra_questions")
        rows = rows.join(further, on=keys, how="left", nulls_equal=True, maintain_order="left")

    def block(place: str, part: pl.DataFrame, cover: pl.DataFrame) -> Account:
        about = reply.facts(metric, cover, "" if width or reply.asked.pair else "pairs")
        chance = f"a chance of {100 * reply.asked.power:.6g} %"
        about = about if width else replace(about, looks=chance)
        facts = AnswerRows(part.to_dicts(), reply.model, about, place, width=width)
        return tell_plan(facts)

    reply.show([*reply.blocks(rows, block), *reply.next("compare")], rows)


def questions_answer(reply: Call, rows: pl.DataFrame, whole: Scope | None) -> None:
    """The number of questions that say nothing, and the ones to look at."""
    per = reply.asked.per
    question = rows.columns[rows.columns.index("models") - 1]
    title, facts = f"{count_of(rows.height, per)}.", None
    if whole is not None and per == "question" and not holds_fractions(whole.counts, whole.roles):
        board = Board.from_rows(lead_rows(whole), whole.ranks)
        facts = QuestionFacts.from_scope(whole, board, Settings())
        place = f"At {whole.name}: " if whole.name else ""
        title = place + questions_title(facts)

    def block(place: str, part: pl.DataFrame, _: pl.DataFrame) -> Account:
        word = success_word(reply.log._roles)
        sentences = question_sentences(SolvedFacts.from_rows(part, question, per), word)
        said = (f"{place}: " if place else "") + " ".join(sentences)
        return Account([Text("plain", said)] if sentences else [])

    table = _question_table(reply, rows, question, whole, facts)
    lines = [*reply.account(tell_answer(title, None)), *reply.blocks(rows, block)]
    lines += [*reply.account(account_from([], [], reply.facts(None, reply.cover), table))]
    reply.show([*lines, *reply.next("questions", format="csv")], rows)


def _question_table(
    reply: Call, rows: pl.DataFrame, question: str, whole: Scope | None,
    facts: QuestionFacts | None,
) -> TableBlock:  # fmt: skip
    """The questions that the first model solves about every second time; else the hardest."""
    if whole is None or facts is None:
        wanted = [*reply.strata, question, "rate", "status"]
        filled = _described_columns(rows)
        return frame_table(rows, [name for name in wanted if name in filled])
    known = {name: at for at, name in enumerate(facts.names)}
    kept = facts.mixed or facts.names
    each = 0 if facts.verdicts else whole.each

    def cell(share: float) -> str:
        return f"{round(share * each)}/{each}" if each else share_text(share)

    head = f"sometimes {facts.word}" if facts.mixed else "question"
    columns = [name_column(head, map(without_stratum, kept))]
    for at, model in enumerate(whole.models):
        shares = [cell(float(facts.scores[at, known[name]])) for name in kept]
        columns.append(number_column(short_name(model, 9), shares, spare=at > 0))
    return plain_table(columns)
