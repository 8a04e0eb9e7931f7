"""How often each answer of a question was given, and how often it was right: what votes count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import (
    AS_ROWS,
    MISSING,
    ROWS,
    Quoted,
    Rule,
    Tally,
    joined_list,
    least_number,
)
from polars_scorio.counting.log import Role, Trials
from polars_scorio.counting.roles import is_label
from polars_scorio.counting.tally import success_count
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.ballots import Ballots, Votes
from polars_scorio.maths.posteriors import Target
from polars_scorio.maths.questions import Subgroups
from polars_scorio.metrics.metric import Metric
from polars_scorio.subjects.question_cells import Confidence, Metrics, QuestionCells, ViewSubject
from polars_scorio.subjects.scores import Row, Scores, estimated_scores

ANSWER = ":answer"
# The trials of an answer that have an outcome, and how many of them are right.
VOTES, RIGHT = ":votes", ":right"
# The answers of a question that have votes, and one that is both right and wrong.
BALLOTS, TWOFOLD = ":ballots", ":twofold"


@dataclass(frozen=True, slots=True)
class AnswerVotes(ViewSubject):
    """The answers of each question, with the votes of each."""

    view = looks_at = "answers"
    binary = True

    def estimates(self, metric: Metric, k: int | None, cells: QuestionCells) -> Floats | None:
        """The votes of each question."""
        return metric.summary(votes_of(cells.by_question()), k).estimate

    @classmethod
    def takes(cls, metric: Metric, trials: Trials) -> bool:
        """All metrics of answers."""
        if trials.answer is None:
            raise ValueError(
                f"{metric.name} is about votes over answers: name the column of answers with "
                "answer=. A majority of verdicts, right or wrong, is ps.maj_at_k"
            )
        return True

    def numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> dict[Row, Scores]:
        """The numbers of metrics of answers, for each draw size and cell."""
        votes, part = votes_of(cells), cells.row_clusters() if target == "population" else None
        clusters = votes_of_parts(cells, part)
        return estimated_scores(metrics, votes, confidence, target, clusters)

    def macro_numbers(
        self, metrics: Metrics, cells: QuestionCells, confidence: Confidence, target: Target
    ) -> dict[Row, Scores]:
        """The numbers of means over strata, but not about a population of clusters."""
        if target == "population" and cells.clusters is not None:
            return {}
        part, weight = cells.row_strata() or (None, None)
        strata = votes_of_parts(cells, part, weight)
        return estimated_scores(metrics, votes_of(cells), confidence, target, strata=strata)

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """`BALLOTS` and `TWOFOLD` of a question, by way of its answers; empty of prior trials."""
        part = trials.answer
        if part is None:
            return Tally()
        right = success_count(classes).cast(pl.Int64, strict=False)
        votes = (pl.col(ROWS) - pl.col(MISSING)).cast(pl.Int64, strict=False)
        given = pl.col(ANSWER).is_not_null() & (pl.col(VOTES) > 0)
        return Tally(
            read={ANSWER: plain_answer(part.expr, part.dtype)},
            parts=(ANSWER,),
            of_part={RIGHT: right, VOTES: votes, TWOFOLD: _twofold_words(part, right, votes)},
            of_parts=(
                joined_list(BALLOTS, pl.struct(VOTES, RIGHT).filter(given)),
                least_number(TWOFOLD, pl.col(TWOFOLD).min()),
            ),
            kept=(BALLOTS,),
            rules=_answer_rules(part, trials),
        )


def _answer_rules(part: Role, trials: Trials) -> tuple[Rule, ...]:
    """An answer is right or wrong; and, if missing outcomes are an error, there has to be one."""
    twofold = Rule(
        pl.col(TWOFOLD).is_not_null(),
        (": ", Quoted(TWOFOLD)),
        f"an answer with two verdicts in {part.name!r}",
        "Equal answers must have equal verdicts: extract the answer that was judged, in one "
        "spelling, and set it to null if there is none.",
    )
    silent = Rule(
        (pl.col(ROWS) > pl.col(MISSING)) & (pl.col(BALLOTS).list.len() == 0),
        (": ", Quoted(ROWS, "trial")),
        f"no answer at all (null in {part.name!r})",
        "Trials without an answer abstain. Filter such questions out, or pass missing= with what "
        'missing outcomes mean ("drop", or a category, as in missing=0): then a question without '
        "a vote is never right.",
    )
    return (twofold, silent) if trials.roles.missing == "error" else (twofold,)


def plain_answer(answer: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The value by which answers are compared: of lists and structs their text in JSON."""
    if dtype.is_float():
        return answer.fill_nan(None)
    if not dtype.is_nested():
        return answer
    # Nested values can be compared, but none is the smallest that a message would name.
    text = pl.struct(answer.alias("answer")).struct.json_encode()
    return pl.when(answer.is_not_null()).then(text)


def _twofold_words(part: Role, right: pl.Expr, votes: pl.Expr) -> pl.Expr:
    """The finding on an answer that is both right and wrong; null for all other answers."""
    quote = "'" if is_label(part.dtype) else ""
    # Bytes need not be text.
    answer = pl.col(ANSWER).bin.encode("hex") if part.dtype == pl.Binary else pl.col(ANSWER)
    name = answer.cast(pl.String, strict=False).fill_null("an answer")
    parts = (quote, name, f"{quote} is right in ", right, " of ", votes, " trials")
    said = pl.concat_str(pl.lit(part) if isinstance(part, str) else part for part in parts)
    both = pl.col(ANSWER).is_not_null() & (right > 0) & (right < votes)
    return pl.when(both).then(said)


def votes_of(cells: QuestionCells) -> Votes:
    """The answers of each question."""
    return Votes.tally(_ballots_of(cells), cells.cell_of_row, cells.states.groups)


def votes_of_parts(
    cells: QuestionCells, part: Ints | None, weight: Floats | None = None
) -> Subgroups[Votes] | None:
    """The answers of the same questions in clusters, or in weighted strata; None without parts."""
    if part is None:
        return None
    tally = partial(Votes.tally, _ballots_of(cells))
    return Subgroups.from_rows(cells.cell_of_row, part, cells.states.groups, tally, weight)


def _ballots_of(cells: QuestionCells) -> Ballots:
    """The answers of each question."""
    return read_ballots(cells.flat[BALLOTS], cells.scored_trials())


def read_ballots(answers: pl.Series, trials: Ints) -> Ballots:
    """The answers of questions with so many trials each, of which some abstained."""
    lengths = answers.list.len().to_numpy().astype(np.int64)
    question = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(question.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    given = answers.explode(**AS_ROWS).drop_nulls().struct.unnest()
    shape = lengths.size, int(lengths.max(initial=0))
    votes, right = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    votes[question, place] = given[VOTES].to_numpy()
    right[question, place] = given[RIGHT].to_numpy() > 0
    return Ballots(votes, right, trials - votes.sum(axis=1))
