"""Reading of table 4 of the paper: columns of signals, percentiles, and variables as conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
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
from polars_scorio.rubrics.rubric import At, over_expressions, refuse_absent, root_columns
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Interpolation = Literal["linear", "nearest", "lower", "higher", "midpoint"]
Thirds = tuple[float, float]
_THIRDS: Thirds = (0.33, 0.66)


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


# Signals are the columns of their names, unless the user names others.
_SIGNALS = [each.name for each in fields(Reading) if each.default == each.name]


def _ascending_levels(name: str, given: object) -> Thirds:
    """A pair of ascending levels."""
    levels = flat_numbers(given)
    # Written so that NaN is refused too.
    if levels.shape != (2,) or not 0 <= levels[0] <= levels[1] <= 1:
        raise ValueError(
            f"{name} must be two ascending numbers from 0 to 1, got {value_text(given)}"
        )
    return float(levels[0]), float(levels[1])


@takes_options(Reading, as_in="Reading")
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
    plans = {
        name: percentile
        for name, percentile in reading.percentiles().items()
        if set(percentile.meta.root_names()) <= set(schema)
    }
    if not plans:
        raise ColumnNotFoundError(
            "there is no signal to take thresholds from: none of 'completion_bpt', 'prompt_bpt' "
            f"and 'token_ratio'; the columns are {schema.names()}. Name them with "
            "completion_bpt=, prompt_bpt=, token_ratio=."
        )
    names = [column.meta.output_name() for column in strata]
    return plan.group_by(*strata).agg(**plans).sort(names) if strata else plan.select(**plans)


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """The variables of table 4 as conditions on a row, with the levels of a `Reading`."""

    reading: Reading
    at: At  # from the name and percentile of a threshold to what is compared

    def __getattr__(self, name: str) -> pl.Expr:
        """The condition of a variable."""
        if name not in _CONDITIONS:
            raise AttributeError(f"table 4 has no variable {name!r}")
        return _CONDITIONS[name](self)

    def at_most(self, signal: str, threshold: str) -> pl.Expr:
        """Whether a signal is at most a threshold."""
        return self.reading.signal(signal) <= self.threshold(threshold)

    def threshold(self, name: str) -> pl.Expr:
        """A percentile, or what was given in its place."""
        return self.at(name, self.reading.percentiles()[name])

    def flag(self, name: str) -> pl.Expr:
        """A signal as true or false."""
        return self.reading.flag(name)

    def signal(self, name: str) -> pl.Expr:
        """A signal as a number."""
        return self.reading.signal(name)


_BITS, _TOKENS = "completion_bpt", "token_ratio"
_CONDITIONS: dict[str, Callable[[Variables], pl.Expr]] = {
    # Degenerate repetition, or the verifier finds it off-task.
    "invalid": lambda v: v.flag("repeated_pattern") | (v.signal("C") >= v.reading.invalid_at),
    "correct": lambda v: v.flag("is_correct"),
    "wrong": lambda v: ~v.correct,
    "boxed": lambda v: v.flag("has_box"),
    "unboxed": lambda v: ~v.boxed,
    "high_conf": lambda v: v.at_most(_BITS, "high_conf"),
    "low_conf": lambda v: ~v.high_conf,
    # The percentile is one of wrong attempts.
    "wrong_high_conf": lambda v: v.wrong & v.at_most(_BITS, "wrong_high_conf"),
    "wrong_low_conf": lambda v: v.wrong & ~v.at_most(_BITS, "wrong_high_conf"),
    # The percentiles are those of correct attempts.
    "correct_high_conf": lambda v: v.correct & v.at_most(_BITS, "correct_high_conf"),
    "correct_mid_conf": lambda v: (
        v.correct & ~v.at_most(_BITS, "correct_high_conf") & v.at_most(_BITS, "correct_mid_conf")
    ),
    "correct_low_conf": lambda v: v.correct & ~v.at_most(_BITS, "correct_mid_conf"),
    "ood": lambda v: v.signal("prompt_bpt") >= v.threshold("ood"),
    "ind": lambda v: ~v.ood,
    "economical": lambda v: v.at_most(_TOKENS, "economical"),
    "moderate": lambda v: ~v.economical & v.at_most(_TOKENS, "moderate"),
    "verbose": lambda v: ~v.at_most(_TOKENS, "moderate"),
    # The percentiles are those of correct attempts.
    "correct_economical": lambda v: v.correct & v.at_most(_TOKENS, "correct_economical"),
    "correct_moderate": lambda v: (
        v.correct
        & ~v.at_most(_TOKENS, "correct_economical")
        & v.at_most(_TOKENS, "correct_moderate")
    ),
    "correct_verbose": lambda v: v.correct & ~v.at_most(_TOKENS, "correct_moderate"),
    # The verifier finds it correct, or wrong rather than off-task.
    "A_high": lambda v: v.signal("A") >= v.reading.A_high_at,
    "A_low": lambda v: ~v.A_high,
    "high_B": lambda v: v.signal("B") >= v.signal("C"),
}
