"""The words that options choose from, and one check each for a number, an int, a flag, a choice.

Every message says what must be, and what was given. Booleans are no numbers; NumPy's scalars leave
as Python's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard, get_args

import numpy as np
import polars as pl

from polars_scorio.maths.array_rows import Floats

Per = Literal["model", "question"]
QuestionUnit = Literal["question", "cluster"]
Unmatched = Literal["error", "drop"]  # meaning of questions that not all models have
UnmatchedPairs = Literal["error", "drop", "unpaired"]
OverallWord = Literal["macro", "micro"]
# How numbers over all strata are made: in a word, or by a weight for each stratum.
Overall: TypeAlias = OverallWord | Mapping[Any, float]
RankMethod = Literal["competition", "competition_max", "dense", "average"]
RankTies = Literal["z", "overlap"]
FailOn = Literal["regressed"]
SpokenTests = Literal["all", "of small logs", "counts", "none"]  # of which a plan warns
OnError = Literal["raise", "warn"]
View: TypeAlias = str  # "categories", "success", or that of a subject

CONFIDENCE = 0.95  # of intervals, unless a call or an accessor says another one

# The largest of most ints: sums of a few of them are still 64 bits.
MOST = 10**18

_LONGEST = 200  # characters of a value in a message
_LISTED = 10  # names in a message


class Range(NamedTuple):
    """Ranges of the numbers that options may have, and the words of messages about them."""

    words: str
    low: float
    high: float
    closed: bool  # whether the ends are allowed


class Refusal(NamedTuple):
    """A combination of options without an answer: when it is there, what it is, and the way out."""

    when: Callable[..., object]
    what: str
    way_out: str

    def error(self, owner: str, **words: str) -> ValueError:
        """The error of a metric, or of a method."""
        return ValueError(f"{owner}: {self.what}: {self.way_out}".format(**words))


FINITE = Range("a finite number", -math.inf, math.inf, closed=False)
POSITIVE = Range("a positive finite number", 0, math.inf, closed=False)
NOT_NEGATIVE = Range("a number that is not negative", 0, math.inf, closed=True)
SHARE = Range("a number from 0 to 1", 0, 1, closed=True)
CHANCE = Range("a number between 0 and 1, exclusive", 0, 1, closed=False)


def check_number(keyword: str, value: object, within: Range = FINITE) -> float:
    """The number as a float; a `ValueError` if it is none, or outside the range."""
    number = as_number(value)
    low, high = within.low, within.high
    if not (low <= number <= high if within.closed else low < number < high):
        raise ValueError(f"{keyword} must be {within.words}, got {value_text(value)}")
    return number


def check_confidence(confidence: object = None) -> float:
    """The probability of an interval as a float, between 0 and 1; `CONFIDENCE` by default."""
    return CONFIDENCE if confidence is None else check_number("confidence", confidence, CHANCE)


def check_count(keyword: str, value: object, *, least: int = 1, most: int | None = MOST) -> int:
    """The int as one of Python's, from `least` to `most`."""
    kinds = {0: "an int that is not negative", 1: "a positive int"}
    kind = kinds.get(least, f"an int of at least {least}")
    if not is_int(value) or value < least:
        raise ValueError(f"{keyword} must be {kind}, got {value_text(value)}")
    if most is not None and value > most:
        raise ValueError(f"{keyword} must be {kind}, at most {most:,}, got {value_text(value)}")
    return int(value)


# For each target the keyword of the planned number, and what is counted.
PLANS = {
    "benchmark": ("planned_trials", "trials of each question", "about these questions"),
    "population": ("planned_questions", "questions", "about a population"),
}


def check_planned(keyword: str, value: object) -> int:
    """The planned trials of each question, or the planned questions.

    True is an error: the plan cannot be read from the log.
    """
    if not is_int(value) or not 1 <= value <= MOST:
        planned = next(words for name, words, _ in PLANS.values() if name == keyword)
        raise ValueError(
            f"{keyword} must be the planned number of {planned}, a positive int that was written "
            f"down before the first look, as in {keyword}=16, got {value_text(value)}"
        )
    return int(value)


def planned_looks(options: Mapping[str, Any]) -> int | None:
    """The planned number that belongs to the target, if intervals hold at every look.

    >>> planned_looks({"planned_trials": 16}), planned_looks({})
    (16, None)
    """
    target = options.get("target") or "benchmark"
    given = [name for name, *_ in PLANS.values() if options.get(name) is not None]
    if len(given) > 1:
        raise ValueError(
            f"{' and '.join(f'{name}=' for name in given)} are two plans of one log: numbers about "
            f"these questions need the first, about a population the second. Pass one, and None "
            "for one that was set before"
        )
    numbers = {name: check_planned(name, options[name]) for name in given}
    option, planned, about = PLANS[target]
    if numbers and option not in numbers:
        raise ValueError(
            f"{given[0]}= does not say when the log is complete: numbers {about} "
            f'(target="{target}") need {option}=, the planned number of {planned}'
        )
    return numbers.get(option)


def check_flag(keyword: str, value: object) -> bool:
    """The flag as one of Python's; a `TypeError` for all but true and false."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{keyword} must be True or False, got {value_text(value)}")
    return bool(value)


def check_choice(keyword: str, value: object, choices: object) -> None:
    """Refuse a value that is none of the choices of a Literal, with the nearest of them.

    A value that is no word is a `TypeError`: comparing an expression or a frame has no truth value.
    """
    words = get_args(choices)
    named = " or ".join(f'"{choice}"' for choice in words)
    message = f"{keyword} must be {named}, got {value_text(value)}"
    if not isinstance(value, str):  # nor compared: Polars' expressions have no truth value
        raise TypeError(message)
    if value not in words:
        raise ValueError(f"{message}{nearest_hint(value, words)}")


def check_overall(overall: object) -> None:
    """Refuse what is neither a word nor a positive weight for each stratum."""
    if not isinstance(overall, Mapping):
        check_choice("overall", overall, OverallWord)
        return
    for stratum, weight in overall.items():
        check_number(f"overall[{stratum!r}]", weight, POSITIVE)


def nearest_hint(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known word that is nearest, if one is near.

    >>> nearest_hint("tau3", ["helm", "tau2_bench"])  # begins alike, however long it is
    ": did you mean 'tau2_bench'?"
    """
    known = list(known)
    near = get_close_matches(word, known, 1)
    near += [other for other in known if other[:3] == word[:3]]
    return f": did you mean {near[0]!r}?" if near else ""


def known_text(name: object, known: Iterable[object]) -> str:
    """The names that there are, at most ten of them, and the nearest one to an unknown name.

    >>> known_text(0, range(5_000))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9] and 4,990 more'
    """
    names = [*known]
    listed, rest = names[:_LISTED], len(names) - _LISTED
    hint = nearest_hint(name, map(str, names)) if isinstance(name, str) else ""
    return f"{listed}{f' and {rest:,} more' if rest > 0 else ''}{hint}"


def row_place(row: Mapping[str, object], names: Iterable[str]) -> str:
    """The words " at name=value, ..." for a row; empty without names."""
    place = ", ".join(f"{name}={row[name]!r}" for name in names)
    return f" at {place}" if place else ""


def unknown_name(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that a module or an accessor lacks, with the nearest that it has."""
    return AttributeError(f"{owner} has no attribute {name!r}{nearest_hint(name, known)}")


def public_face(
    module: str, names: list[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module: the nearest of its names, and these only."""

    def unknown(name: str) -> object:
        raise unknown_name(f"module {module!r}", name, names)

    return unknown, lambda: names


def public_names(owner: type) -> list[str]:
    """The public methods and properties of a class."""
    return [name for name in dir(owner) if not name.startswith("_")]


def check_column(keyword: str, value: object, *, optional: bool = False) -> None:
    """Refuse what is neither a column name nor an expression."""
    if not (isinstance(value, str | pl.Expr) or (optional and value is None)):
        choices = "a column name, an expression or None" if optional else _COLUMN
        joined = '. Join several with pl.concat_str(..., separator="/")' * is_several(value)
        raise TypeError(f"{keyword} must be {choices}, got {value_text(value)}{joined}")


def check_columns(keyword: str, value: object) -> tuple[str | pl.Expr, ...]:
    """One column or several, names or expressions, as a tuple."""
    columns = value_tuple(value)
    if not all(isinstance(column, str | pl.Expr) for column in columns):
        raise TypeError(f"{keyword} must be {_COLUMN}, or several of them, got {value_text(value)}")
    return columns  # type: ignore[return-value]  # mypy does not narrow the items of a tuple


_COLUMN = "a column name or an expression"


def check_categories(keyword: str, value: object) -> tuple[str | int | float | bool, ...]:
    """One category or several as a tuple: words, numbers that fit a column, or truth values."""
    categories = value_tuple(value)
    if not all(isinstance(category, str | int | float | bool) for category in categories):
        raise TypeError(f"{keyword} must be a category or several of them, got {value_text(value)}")
    for category in categories:
        if not fits_column(category):
            raise ValueError(
                f"{keyword} must be made of ints of at most 64 bits, got {value_text(category)}: "
                "write longer codes as words"
            )
    return categories  # type: ignore[return-value]  # mypy does not narrow the items of a tuple


def fits_column(value: object) -> bool:
    """Whether a column can hold a value: an int has at most 64 bits."""
    return not is_int(value) or -(2**63) <= value < 2**64


def is_int(value: object) -> TypeGuard[int]:
    """Whether it is an int of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_number(value: object) -> float:
    """A number of Python or NumPy as a float, infinite if it is too large; NaN for anything else.

    >>> as_number(np.int8(2)), as_number(10**400), as_number(True)
    (2.0, inf, nan)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # an int or a Fraction


def flat_numbers(values: object, most: int | None = None) -> Floats:
    """The numbers of a sequence as an array, with NaN for what is none; empty if it is no sequence.

    Of a sequence of any length only the first `most` are read, if that is given.

    >>> flat_numbers([1, np.float32(0.5), "2"]).tolist(), flat_numbers("12").tolist()
    ([1.0, 0.5, nan], [])
    """
    if isinstance(values, AbstractSet | Mapping) or not is_several(values):
        return np.empty(0)
    some = values if most is None else [*islice(values, most)]
    return np.array([as_number(value) for value in value_tuple(some)], dtype=np.float64)


def is_several(value: object) -> TypeGuard[Iterable[object]]:
    """Whether it is an iterable of values, not a single word, expression or number."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | np.generic)


def value_tuple(value: object) -> tuple[object, ...]:
    """One value or several as a tuple; NumPy's scalars become Python's, a set gets an order.

    >>> value_tuple("a"), value_tuple(np.array([2, 1])), value_tuple({"b", "a"})
    (('a',), (2, 1), ('a', 'b'))
    """
    if not is_several(value):
        return (python_scalar(value),)
    values = [python_scalar(item) for item in value]
    if isinstance(value, AbstractSet):
        # Of any order: that of a set of words changes from run to run.
        values.sort(key=lambda item: (type(item).__name__, str(item)))
    return tuple(values)


def python_scalar(value: object) -> object:
    """A scalar of NumPy as one of Python; anything else as it is."""
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return value.item() if single else value  # type: ignore[attr-defined]  # one of NumPy's


def p_words(p: float) -> str:
    """A p-value behind its name: ``p = 0.012``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def value_text(value: object) -> str:
    """A value as messages show it, cut where it is long; of several lines, only its type.

    >>> value_text("high"), value_text(10**5000), value_text(pl.Series([1, 2]))
    ("'high'", 'an int of 16,610 bits', 'a polars Series')
    """
    if isinstance(value, pl.LazyFrame):  # whose text is its plan
        return "a polars LazyFrame"
    try:
        text = repr(value)
    except ValueError:  # Python does not write out ints of more than 4,300 digits
        return f"an int of {value.bit_length():,} bits" if is_int(value) else "what has no repr"
    if "\n" in text and not isinstance(value, np.ndarray):  # a table
        return f"a {type(value).__module__.partition('.')[0]} {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
