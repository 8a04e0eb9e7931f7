"""The runs of each question as the bits of integers.

Bit r of a question's mask says that it has a trial in run r, bit r of its outcomes that this one
succeeded: sums of powers of two, whose ones also say whether a run repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_scorio.counting.categories import Classes, Need
from polars_scorio.counting.checks import Tally, summed_number
from polars_scorio.counting.log import CATEGORY, RUN, Role, Trials
from polars_scorio.counting.tally import trial_succeeded

Flags = NDArray[np.bool_]

MOST_RUNS = 512
_BITS = 64  # of a word


@dataclass(frozen=True, slots=True)
class RunWords(Need):
    """The ids that name the runs of a log, and the words that hold them."""

    ids: tuple[object, ...]  # ascending
    ordered: bool  # whether ids say which run came first
    first: int | None  # of integers without large gaps, the id of run 0

    @property
    def words(self) -> range:
        """The numbers of the words."""
        return range(-(-len(self.ids) // _BITS))

    @property
    def columns(self) -> list[str]:
        """The columns of a question: masks, then outcomes."""
        return [f":{name}{word}" for name in ("mask", "bits") for word in self.words]

    def tally(self, trials: Trials, classes: Classes) -> Tally:
        """The words of each question, of its trials that have an outcome."""
        return Tally(
            read=run_ids(trials),
            of_trial=self._powers(trial_succeeded(trials, classes)),
            numbers=(*(summed_number(name, pl.col(name).sum()) for name in self.columns),),
            kept=(*self.columns,),
        )

    def _powers(self, success: pl.Expr) -> dict[str, pl.Expr]:
        """The powers of two of each trial that has an outcome, to be added up by question."""
        if self.first is None:
            place = pl.col(RUN).replace_strict(
                pl.Series(self.ids), pl.int_range(len(self.ids), eager=True), default=None
            )
        else:
            place = pl.col(RUN).cast(pl.Int64) - self.first
        zero, present = pl.lit(0, pl.UInt64), pl.col(CATEGORY).is_not_null()
        power = pl.lit(2, pl.UInt64).pow((place % _BITS).cast(pl.UInt32)).cast(pl.UInt64)
        masks, outcomes = {}, {}
        for word in self.words:
            here = present if len(self.words) == 1 else present & (place // _BITS == word)
            masks[f":mask{word}"] = pl.when(here).then(power).otherwise(zero)
            outcomes[f":bits{word}"] = pl.when(here & success).then(power).otherwise(zero)
        return masks | outcomes

    def question_bytes(self, questions: pl.DataFrame) -> NDArray[np.uint8]:
        """Masks and outcomes of each question as bytes, (M, 2, 8 x words)."""
        words = np.stack([questions[name].to_numpy() for name in self.columns], axis=1)
        return words.astype("<u8").view(np.uint8).reshape(len(words), 2, 8 * len(self.words))

    def unpacked(self, packed: NDArray[np.uint8]) -> tuple[Flags, Flags]:
        """Whether each question (a row) has a trial in each run (a column), and succeeded there."""
        bits = np.unpackbits(packed, axis=2, count=len(self.ids), bitorder="little")
        present, success = bits.view(np.bool_).transpose(1, 0, 2)
        return present, success

    def repeats(self, questions: pl.DataFrame, trials: NDArray[np.int64]) -> Flags:
        """Whether a run has several trials of a question, of which `trials` have an outcome."""
        ones = questions.select(
            pl.sum_horizontal(pl.col(f":mask{w}").bitwise_count_ones() for w in self.words)
        )
        return np.asarray(ones.to_series().to_numpy() < trials)


def run_part(trials: Trials) -> Role | None:
    """The column of runs: the role, else the trial ids; None if rows have none."""
    return trials.run or trials.trial


def run_ids(trials: Trials) -> dict[str, pl.Expr]:
    """The run of each trial, which `Trials.rows` reads; empty if rows have none."""
    part = run_part(trials)
    return {} if part is None else {RUN: part.without_nan}


def has_order(part: Role) -> bool:
    """Whether ids tell which trial, or run, came first: words do not."""
    return part.dtype.is_numeric() or part.dtype.is_temporal()


def kept_words(trials: Trials) -> RunWords | None:
    """The words that rows of counts hold, whose log was read before; None if they hold none."""
    names = [] if trials.study is None else trials.study.frame.columns
    words = sum(name.startswith(":mask") for name in names)
    return RunWords(tuple(range(_BITS * words)), ordered=False, first=0) if words else None


_LEAST, _MOST = ":least", ":most"


def found_words(trials: Trials) -> RunWords | None:
    """The words that hold the runs of a log, which is read for their ids; None if it has no runs.

    Null ids are no runs: trials without one are in no word.
    """
    part = run_part(trials)
    if part is None or trials.count is not None or part.dtype in (pl.Boolean, pl.Null):
        return None
    ids = trials.rows(run_ids(trials)).select(RUN)
    if part.dtype.is_integer():
        ends = ids.select(pl.col(RUN).min().alias(_LEAST), pl.col(RUN).max().alias(_MOST))
        least, most = ends.collect(engine=trials.engine).row(0)
        if least is None:
            return None
        if most - least < MOST_RUNS:
            return RunWords(tuple(range(least, most + 1)), ordered=True, first=least)
    known = ids.drop_nulls().unique().collect(engine=trials.engine).to_series()
    if not 0 < known.len() <= MOST_RUNS:
        return None
    return RunWords(tuple(known.sort()), ordered=has_order(part), first=None)
