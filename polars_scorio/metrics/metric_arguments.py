"""Checks of k, w, bounds; help of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from polars_scorio.arguments import (
    check_categories,
    check_count,
    flat_numbers,
    is_int,
    value_text,
    value_tuple,
)
from polars_scorio.counting.roles import Category
from polars_scorio.maths.array_rows import Floats
from polars_scorio.signatures import FunctionT, described_parameters

# A draw of more trials than any log holds; some metrics sum over its successes.
_MOST_DRAWN = 1_000_000
# Sums of such weights over a hundred million questions still fit into a float.
_LARGEST_WEIGHT = 1e300

Bounds: TypeAlias = "tuple[float, float]"
DrawSizes: TypeAlias = "int | Iterable[int]"
Weights: TypeAlias = "ArrayLike | Mapping[str, float] | Mapping[int, float]"
# Category and weight, ascending by category: hashable, and in the order of the counts.
WeightPairs: TypeAlias = "tuple[tuple[Category, float], ...]"
# Arguments of a function, by name.
Arguments: TypeAlias = "tuple[tuple[str, object], ...]"


def draw_sizes(k: DrawSizes) -> tuple[int, ...]:
    """The draw sizes as an ascending tuple of positive ints, none of them twice."""
    sizes = value_tuple(k)
    if not sizes or not all(is_int(size) and size > 0 for size in sizes):
        raise ValueError(f"k must be a positive int or a sequence of them, got {value_text(k)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"k must name each draw size once, got {value_text(k)}")
    return tuple(sorted(check_count("k", size, most=_MOST_DRAWN) for size in sizes))


def weight_pairs(w: Weights | None) -> WeightPairs | None:
    """The weights of all known categories, ascending by category: finite, at most 1e300."""
    if w is None:
        return None
    values = flat_numbers([*w.values()] if isinstance(w, Mapping) else w)
    if not values.size or not np.isfinite(values).all():
        raise ValueError(
            "w must be a flat sequence of finite numbers, the weights of the categories 0, 1, ..., "
            f"or a dict from category to weight, got {value_text(w)}"
        )
    check_weight_sizes("w", values.tolist())
    known = check_categories("the categories of w", [*w]) if isinstance(w, Mapping) else None
    categories: Iterable[Category] = range(values.size) if known is None else known
    try:
        return tuple(sorted(zip(categories, values.tolist(), strict=True)))
    except TypeError:
        raise TypeError(
            f"the categories of w must be all labels or all numbers, got {value_text(w)}"
        ) from None


def check_weight_sizes(word: str, weights: Iterable[float]) -> None:
    """Raise ValueError if a weight is so large that sums of it may not fit into a float."""
    largest = max(weights, key=abs, default=0.0)
    if abs(largest) > _LARGEST_WEIGHT:
        raise ValueError(
            f"{word} must hold numbers between -1e300 and 1e300, as sums of larger ones may not "
            f"fit into a float, got {largest!r}. Divide all of them by the same number"
        )


def weight_array(w: WeightPairs | None) -> Floats:
    """The weights in the order of the categories: of failure and success where `w` is None."""
    return np.array([0.0, 1.0] if w is None else [weight for _, weight in w])


def interval_bounds(bounds: Bounds | None) -> Bounds | None:
    """The bounds as a pair of floats, the lower first."""
    if bounds is None:
        return None
    ends = flat_numbers(bounds, most=3)
    low, high = ends.tolist() if ends.shape == (2,) else (np.nan, np.nan)
    if not low <= high:
        raise ValueError(
            f"bounds must be None or two numbers, the lower first, got {value_text(bounds)}"
        )
    return low, high


def unusual_arguments(**arguments: tuple[object, object]) -> Arguments:
    """The arguments that a metric's name shows, of pairs (value, default): those that differ."""
    return tuple((key, value) for key, (value, usual) in arguments.items() if value != usual)


def checked_label(name: str | None) -> str | None:
    """The name that a user gives to a metric, which must be a string and not empty."""
    if name is not None and (not isinstance(name, str) or not name):
        raise ValueError(f"name must be a non-empty string or None, got {value_text(name)}")
    return name


def typed_value(value: object) -> str:
    """A value as one would type it: 0.5, (0, 1), [0, 0.5, 1], {'wrong': 0, 'right': 1}."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # exact as an int
        return str(int(value))
    if not isinstance(value, tuple):
        return repr(value)
    if not value or not isinstance(value[0], tuple):
        return f"({', '.join(typed_value(item) for item in value)})"
    if [category for category, _ in value] == list(range(len(value))):
        return f"[{', '.join(typed_value(weight) for _, weight in value)}]"
    return f"{{{', '.join(f'{category!r}: {typed_value(weight)}' for category, weight in value)}}}"


PARAMETERS = {
    "k": """k : int or sequence of int
    Draw sizes; the result has a row for each. If k exceeds the trials of a question, no unbiased
    estimate exists and `estimate` is null; the posterior is valid for any k.""",
    "pass_power": """pass_power, unanimous_power : float
    Powers of Pass@k and of Pass^k. Negative ones are allowed, both zero are not.""",
    "w": """w : sequence or dict of float, optional
    The weight of each category: a sequence for the codes 0, 1, ..., a dict for labels. List all
    categories, also those that the log lacks. Default: success 1, failure 0.""",
    "bounds": """bounds : tuple of float or None
    Range into which the interval is clipped; None leaves it as it is. A calibrated value
    outside is an error.""",
    "name": """name : str, optional
    What the result calls the metric.""",
}
PARAMETERS["unanimous_power"] = PARAMETERS["pass_power"]


def with_parameter_help(function: FunctionT) -> FunctionT:
    """Describe the parameters of a metric's function that its own docstring does not."""
    returns = "Metric\n    To be given to `report`."
    shown = signature(function)
    function.__doc__ = described_parameters(function.__doc__, shown, PARAMETERS, Returns=returns)
    return function
