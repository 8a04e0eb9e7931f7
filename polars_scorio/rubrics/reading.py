"""Rubrics read from tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

import polars as pl
from polars.exceptions import ColumnNotFoundError

from polars_scorio.arguments import (
    SHARE,
    check_choice,
    check_column,
    check_number,
    flat_numbers,
    value_text,
)
from polars_scorio.counting.roles import Column
from polars_scorio.rubrics.rubric import over_expressions, refuse_absent, root_columns
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


from polars_scorio.rubrics.rubric import At

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Interpolation = Literal["linear", "nearest", "lower", "higher", "midpoint"]
Thirds = tuple[float, float]
_THIRDS: Thirds = (0.33, 0.66)
_SIGNALS = (
    "has_box",
    "is_correct",
    "token_ratio",
    "repeated_pattern",
    "prompt_bpt",
    "completion_bpt",
    "A",
    "B",
    "C",
)


class ReadingOptions(TypedDict, total=False):
    """The keywords of `Reading`."""

    has_box: Column
    is_correct: Column
    repeated_pattern: Column
    token_ratio: Column
    prompt_bpt: Column
    completion_bpt: Column
    A: Column
    B: Column
    C: Column
    invalid_at: float
    A_high_at: float
    high_conf_q: float
    wrong_high_conf_q: float
    correct_conf_q: Thirds
    ood_q: float
    tokens_q: Thirds
    interpolation: Interpolation


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Columns of the signals, and our reading of the variables of table 4 [1]_.

    The table lost its formulas in the text that we have; what follows is our reading of the words
    that are left. All schemata share these keywords, and ignore those that they do not need. A
    trial is one attempt; percentiles are taken over all rows with the signal, or over all correct
    or all wrong ones, invalid attempts too.

    Parameters
    ----------
    has_box, is_correct, repeated_pattern : str or Expr
        Flags: 1 or true, 0 or false; anything else counts as missing. Box around the final answer;
        correct answer; degenerate output.
    token_ratio : str or Expr
        Length of the completion as a part of the most that is allowed.
    prompt_bpt, completion_bpt : str or Expr
        Bits per token of prompt and completion: fewer bits mean more confidence.
    A, B, C : str or Expr
        Probabilities of a verifier: the attempt is correct, wrong, off-task.
    invalid_at : float
        invalid: `repeated_pattern`, or ``C >= invalid_at``.
    A_high_at : float
        A_high: ``A >= A_high_at``.
    high_conf_q : float
        high_conf: `completion_bpt` is at most its quantile of this level; low_conf otherwise.
        Threshold ``high_conf``.
    wrong_high_conf_q : float
        wrong_high_conf: wrong, and `completion_bpt` is at most its quantile of this level among
        wrong attempts. Threshold ``wrong_high_conf``.
    correct_conf_q : pair of float
        Correct attempts are of high confidence up to the lower quantile of `completion_bpt` among
        correct attempts, of mid confidence up to the upper one, of low confidence above.
        Thresholds ``correct_high_conf`` and ``correct_mid_conf``.
    ood_q : float
        ood (out of distribution): `prompt_bpt` is at least its quantile of this level; ind
        otherwise. Threshold ``ood``.
    tokens_q : pair of float
        economical: `token_ratio` is at most its lower quantile; moderate: at most its upper one;
        verbose: above. Thresholds ``economical`` and ``moderate``; for correct attempts among
        correct attempts, ``correct_economical`` and ``correct_moderate``.
    interpolation : str
        How a quantile between two values is taken, as in `polars.Expr.quantile`.

    Raises
    ------
    TypeError
        If a signal is neither a column name nor an expression.
    ValueError
        If a level is not between 0 and 1, a pair of levels is not ascending, or there is no such
        interpolation.

    References
    ----------
    .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, appendix on categorical
       evaluation, table 4.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.exact_match(is_correct="solved", invalid_at=0.9).signals
    ('repeated_pattern', 'C', 'solved')
    """

    has_box: Column = "has_box"
    is_correct: Column = "is_correct"
    repeated_pattern: Column = "repeated_pattern"
    token_ratio: Column = "token_ratio"  # noqa: S105 - a column
    prompt_bpt: Column = "prompt_bpt"
    completion_bpt: Column = "completion_bpt"
    A: Column = "A"
    B: Column = "B"
    C: Column = "C"
    invalid_at: float = 0.5
    A_high_at: float = 0.5
    high_conf_q: float = 0.40
    wrong_high_conf_q: float = 0.60
    correct_conf_q: Thirds = _THIRDS
    ood_q: float = 0.90
    tokens_q: Thirds = _THIRDS
    interpolation: Interpolation = "linear"

    def __post_init__(self) -> None:
        """Refuse columns and levels that are wrong for every frame."""
        for name in _SIGNALS:
            check_column(name, getattr(self, name))
        for name in ("invalid_at", "A_high_at", "high_conf_q", "wrong_high_conf_q", "ood_q"):
            self._set_field(name, check_number(name, getattr(self, name), SHARE))
        for name in ("correct_conf_q", "tokens_q"):
            self._set_field(name, _ascending_levels(name, getattr(self, name)))
        check_choice("interpolation", self.interpolation, Interpolation)

    def _set_field(self, name: str, value: object) -> None:
        """Replace a field by its checked value, although the class is frozen."""
        object.__setattr__(self, name, value)

    def signal(self, name: str) -> pl.Expr:
        """A signal as a number; NaN is null."""
        return self._signal_number(name).fill_nan(None)

    def flag(self, name: str) -> pl.Expr:
        """A signal as true or false; null where it is neither 1 nor 0."""
        number = self._signal_number(name)
        return pl.when(number.is_in([0.0, 1.0])).then(number == 1)

    def percentiles(self) -> dict[str, pl.Expr]:
        """The expression of each threshold, by name."""
        bits, tokens = self.signal("completion_bpt"), self.signal("token_ratio")
        correct, wrong = self.flag("is_correct"), ~self.flag("is_correct")
        (high, mid), (economical, moderate) = self.correct_conf_q, self.tokens_q
        levels = {
            "high_conf": (bits, self.high_conf_q),
            "wrong_high_conf": (bits.filter(wrong), self.wrong_high_conf_q),
            "correct_high_conf": (bits.filter(correct), high),
            "correct_mid_conf": (bits.filter(correct), mid),
            "ood": (self.signal("prompt_bpt"), self.ood_q),
            "economical": (tokens, economical),
            "moderate": (tokens, moderate),
            "correct_economical": (tokens.filter(correct), economical),
            "correct_moderate": (tokens.filter(correct), moderate),
        }
        return {
            name: values.quantile(level, interpolation=self.interpolation)
            for name, (values, level) in levels.items()
        }

    def _signal_number(self, name: str) -> pl.Expr:
        column = getattr(self, name)
        return (pl.col(column) if isinstance(column, str) else column).cast(pl.Float64)


def _ascending_levels(name: str, given: object) -> Thirds:
    """A pair of ascending levels."""
    levels = flat_numbers(given)
    # Written so that NaN is refused too.
    if levels.shape != (2,) or not 0 <= levels[0] <= levels[1] <= 1:
        raise ValueError(
            f"{name} must be two ascending numbers from 0 to 1, got {value_text(given)}"
        )
    return float(levels[0]), float(levels[1])


@takes_options(Reading)
def thresholds(
    frame: FrameT, *, over: Column | Iterable[Column] = (), **reading: Unpack[ReadingOptions]
) -> FrameT:
    """The percentiles of a log, to be kept and used for other logs too.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        The log, of all models together.
    over : str, Expr or several of them
        The strata within which percentiles are taken. Default: the whole frame is one.

    Returns
    -------
    DataFrame or LazyFrame
        One row for each stratum, ascending: the columns of `over` and those of high_conf,
        wrong_high_conf, correct_high_conf, correct_mid_conf, ood, economical, moderate,
        correct_economical and correct_moderate whose signals the log has. Null where a stratum has
        no such value, for instance no wrong attempt.

    Raises
    ------
    ColumnNotFoundError
        If the log lacks a column that is named, or all signals.
    TypeError, ValueError
        As `Reading`.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"set": ["x", "x", "y"], "prompt_bpt": [1.0, 2.0, 7.0]})
    >>> ps.rubrics.thresholds(log, over="set", ood_q=0.5).rows()
    [('x', 1.5), ('y', 7.0)]
    """
    rows = _threshold_plan(frame.lazy(), over_expressions(over), reading)
    return rows if isinstance(frame, pl.LazyFrame) else rows.collect()


def _threshold_plan(
    plan: pl.LazyFrame, strata: tuple[pl.Expr, ...], options: ReadingOptions
) -> pl.LazyFrame:
    """The plan of `thresholds`."""
    reading, schema = Reading(**options), plan.collect_schema()
    named = [reading.signal(name) for name in options if name in _SIGNALS]
    refuse_absent(
        root_columns([*strata, *named]), schema, "the thresholds", "Name existing columns."
    )
    found = {
        name: percentile
        for name, percentile in reading.percentiles().items()
        if set(percentile.meta.root_names()) <= set(schema)
    }
    if not found:
        raise ColumnNotFoundError(
            "there is no signal to take thresholds from: none of 'completion_bpt', 'prompt_bpt' "
            f"and 'token_ratio'; the columns are {schema.names()}. Name them with "
            "completion_bpt=, prompt_bpt=, token_ratio=."
        )
    names = [column.meta.output_name() for column in strata]
    return plan.group_by(*strata).agg(**found).sort(names) if strata else plan.select(**found)


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The variables of table 4 as conditions on a row, with the levels of a `Reading`."""

    reading: Reading
    at: At  # from the name and percentile of a threshold to what is compared

    @property
    def invalid(self) -> pl.Expr:
        """Degenerate repetition, or the verifier finds it off-task: C >= invalid_at."""
        off_task = self.reading.signal("C") >= self.reading.invalid_at
        return self.reading.flag("repeated_pattern") | off_task

    @property
    def correct(self) -> pl.Expr:
        """is_correct is 1."""
        return self.reading.flag("is_correct")

    @property
    def wrong(self) -> pl.Expr:
        """is_correct is 0."""
        return ~self.correct

    @property
    def boxed(self) -> pl.Expr:
        """has_box is 1."""
        return self.reading.flag("has_box")

    @property
    def unboxed(self) -> pl.Expr:
        """has_box is 0."""
        return ~self.boxed

    @property
    def high_conf(self) -> pl.Expr:
        """completion_bpt <= its percentile 40."""
        return self._at_most("completion_bpt", "high_conf")

    @property
    def low_conf(self) -> pl.Expr:
        """Not high_conf."""
        return ~self.high_conf

    @property
    def wrong_high_conf(self) -> pl.Expr:
        """Wrong, and completion_bpt <= its percentile 60 among wrong attempts."""
        return self.wrong & self._at_most("completion_bpt", "wrong_high_conf")

    @property
    def wrong_low_conf(self) -> pl.Expr:
        """Wrong, and not wrong_high_conf."""
        return self.wrong & ~self._at_most("completion_bpt", "wrong_high_conf")

    @property
    def correct_high_conf(self) -> pl.Expr:
        """Correct, and completion_bpt <= its percentile 33 among correct attempts."""
        return self.correct & self._at_most("completion_bpt", "correct_high_conf")

    @property
    def correct_mid_conf(self) -> pl.Expr:
        """Correct, and between correct_high_conf and correct_low_conf."""
        above = ~self._at_most("completion_bpt", "correct_high_conf")
        return self.correct & above & self._at_most("completion_bpt", "correct_mid_conf")

    @property
    def correct_low_conf(self) -> pl.Expr:
        """Correct, and completion_bpt > its percentile 66 among correct attempts."""
        return self.correct & ~self._at_most("completion_bpt", "correct_mid_conf")

    @property
    def ood(self) -> pl.Expr:
        """prompt_bpt >= its percentile 90."""
        return self.reading.signal("prompt_bpt") >= self._threshold("ood")

    @property
    def ind(self) -> pl.Expr:
        """Not ood."""
        return ~self.ood

    @property
    def economical(self) -> pl.Expr:
        """token_ratio <= its percentile 33."""
        return self._at_most("token_ratio", "economical")

    @property
    def moderate(self) -> pl.Expr:
        """Between economical and verbose."""
        return ~self.economical & self._at_most("token_ratio", "moderate")

    @property
    def verbose(self) -> pl.Expr:
        """token_ratio > its percentile 66."""
        return ~self._at_most("token_ratio", "moderate")

    @property
    def correct_economical(self) -> pl.Expr:
        """Correct, and token_ratio <= its percentile 33 among correct attempts."""
        return self.correct & self._at_most("token_ratio", "correct_economical")

    @property
    def correct_moderate(self) -> pl.Expr:
        """Correct, and between correct_economical and correct_verbose."""
        above = ~self._at_most("token_ratio", "correct_economical")
        return self.correct & above & self._at_most("token_ratio", "correct_moderate")

    @property
    def correct_verbose(self) -> pl.Expr:
        """Correct, and token_ratio > its percentile 66 among correct attempts."""
        return self.correct & ~self._at_most("token_ratio", "correct_moderate")

    @property
    def A_high(self) -> pl.Expr:  # noqa: N802 - the name in the table
        """The verifier finds it correct: A >= A_high_at."""
        return self.reading.signal("A") >= self.reading.A_high_at

    @property
    def A_low(self) -> pl.Expr:  # noqa: N802 - as above
        """Not A_high."""
        return ~self.A_high

    @property
    def high_B(self) -> pl.Expr:  # noqa: N802 - as above
        """The verifier finds it wrong rather than off-task: B >= C."""
        return self.reading.signal("B") >= self.reading.signal("C")

    def _at_most(self, signal: str, threshold: str) -> pl.Expr:
        return self.reading.signal(signal) <= self._threshold(threshold)

    def _threshold(self, name: str) -> pl.Expr:
        return self.at(name, self.reading.percentiles()[name])
