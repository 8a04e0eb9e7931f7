"""What a metric is to the report, and the checks that all metrics share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from polars_scorio.arguments import (
    POSITIVE,
    check_categories,
    check_count,
    check_number,
    flat_numbers,
    is_int,
    several,
    shown,
)
from polars_scorio.counting.roles import Category
from polars_scorio.kernels.arrays import Floats

# A draw of more trials than any log holds; some metrics sum over its successes.
_MOST_DRAWN = 1_000_000

Bounds: TypeAlias = "tuple[float, float]"
DrawSizes: TypeAlias = "int | Iterable[int]"
Weights: TypeAlias = "ArrayLike | Mapping[str, float] | Mapping[int, float]"
Headline: TypeAlias = 'Literal["estimate", "mu"]'
# Category and weight, ascending by category: hashable, and in the order of the counts.
WeightPairs: TypeAlias = "tuple[tuple[Category, float], ...]"


class Summary(NamedTuple):
    """What a metric says of each group: three arrays of shape (G,)."""

    estimate: Floats  # NaN where no unbiased estimate exists
    mu: Floats
    sigma: Floats
    around: Floats | None = (
        None  # mean and sigma of the interval, shape (2, G), if not mu and sigma
    )


@runtime_checkable
class Metric(Protocol):
    """A metric as the report sees it: a value that sums up states.

    Attributes
    ----------
    name : str
        What the result calls it.
    k : tuple of int or None
        The draw sizes, ascending, one row of the result each; ``(None,)`` where it has none.
    w : tuple of pairs or None
        Category and weight of all known categories; None for a metric of success and failure.
    bounds : tuple of float or None
        The range of the metric, into which intervals are clipped.
    span : tuple of float
        What the metric can be at least and at most.
    prior : tuple of float
        Parameters of the Beta prior of a success rate; (1, 1) where the metric leaves it uniform.
    uses_prior : bool
        Whether prior trials have a say.
    rewards : bool
        Whether, without a `w`, a column of floats holds the rewards themselves.
    poles : bool
        Whether a number can be infinite, which the report refuses.
    headline : "estimate" or "mu"
        Which number people mean by the name of the metric.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - in the class docstring

    @property
    def k(self) -> tuple[int | None, ...]: ...  # noqa: D102

    @property
    def w(self) -> WeightPairs | None: ...  # noqa: D102

    @property
    def bounds(self) -> Bounds | None: ...  # noqa: D102

    @property
    def span(self) -> Bounds: ...  # noqa: D102

    @property
    def prior(self) -> tuple[float, float]: ...  # noqa: D102

    @property
    def uses_prior(self) -> bool: ...  # noqa: D102

    @property
    def rewards(self) -> bool: ...  # noqa: D102

    @property
    def poles(self) -> bool: ...  # noqa: D102

    @property
    def headline(self) -> Headline: ...  # noqa: D102

    def summary(self, posterior: Any, k: int | None) -> Summary:  # noqa: ANN401 - by the metric
        """Estimate and posterior of each group.

        `posterior` is one of `kernels.posteriors` over the categories of `w`, or over failure and
        success; or, for `rewards`, the `Rewards`.
        """
        ...


def draw_sizes(k: DrawSizes) -> tuple[int, ...]:
    """The draw sizes as an ascending tuple.

    Raises
    ------
    ValueError
        If one is not a positive int, is too large, or is given twice.
    """
    sizes = several(k)
    if not sizes or not all(is_int(size) and size > 0 for size in sizes):
        raise ValueError(f"k must be a positive int or a sequence of them, got {shown(k)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"k must name each draw size once, got {shown(k)}")
    return tuple(sorted(check_count("k", size, most=_MOST_DRAWN) for size in sizes))


def weight_pairs(w: Weights | None) -> WeightPairs | None:
    """The weights of all known categories, ascending by category.

    Raises
    ------
    ValueError
        If there are none, or if they are not finite numbers in one dimension.
    """
    if w is None:
        return None
    values = flat_numbers([*w.values()] if isinstance(w, Mapping) else w)
    if not values.size or not np.isfinite(values).all():
        raise ValueError(
            "w must be a flat sequence of finite numbers, the weights of the categories 0, 1, ..., "
            f"or a dict from category to weight, got {shown(w)}"
        )
    known = check_categories("the categories of w", [*w]) if isinstance(w, Mapping) else None
    categories: Iterable[Category] = range(values.size) if known is None else known
    try:
        return tuple(sorted(zip(categories, values.tolist(), strict=True)))
    except TypeError:
        raise TypeError(
            f"the categories of w must be all labels or all numbers, got {shown(w)}"
        ) from None


def weights(w: WeightPairs | None) -> Floats:
    """The weights in the order of the categories: of failure and success where `w` is None."""
    return np.array([0.0, 1.0] if w is None else [weight for _, weight in w])


def interval_bounds(bounds: Bounds | None) -> Bounds | None:
    """The bounds as a pair of floats.

    Raises
    ------
    ValueError
        If they are not two numbers, the lower first.
    """
    if bounds is None:
        return None
    ends = flat_numbers(bounds)
    low, high = ends.tolist() if ends.shape == (2,) else (np.nan, np.nan)
    if not low <= high:
        raise ValueError(
            f"bounds must be None or two numbers, the lower first, got {shown(bounds)}"
        )
    return low, high


def beta_prior(*, alpha0: float, beta0: float) -> tuple[float, float]:
    """The parameters of a Beta prior, which must be positive and finite.

    Raises
    ------
    ValueError
        If one of them is not.
    """
    return check_number("alpha0", alpha0, POSITIVE), check_number("beta0", beta0, POSITIVE)


def full_name(function: str, name: str | None, **arguments: tuple[object, object]) -> str:
    """What the result calls a metric: its function, and what differs from the default.

    Parameters
    ----------
    function : str
        The function that made the metric.
    name : str or None
        Takes the place of all that.
    **arguments : tuple of object
        For each argument but `k`: its value, and its default.

    Examples
    --------
    >>> full_name("pass_at_k", None, alpha0=(0.5, 1.0), beta0=(1.0, 1.0))
    'pass_at_k(alpha0=0.5)'
    """
    if name is not None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"name must be a non-empty string or None, got {shown(name)}")
        return name
    given = [f"{key}={_show(value)}" for key, (value, usual) in arguments.items() if value != usual]
    return f"{function}({', '.join(given)})" if given else function


def _show(value: object) -> str:
    """A value as one would type it: 0.5, (0, 1), [0, 0.5, 1], {'wrong': 0, 'right': 1}."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004
        return str(int(value))
    if not isinstance(value, tuple):
        return repr(value)
    if not value or not isinstance(value[0], tuple):
        return f"({', '.join(_show(item) for item in value)})"
    if [category for category, _ in value] == list(range(len(value))):
        return f"[{', '.join(_show(weight) for _, weight in value)}]"
    return f"{{{', '.join(f'{category!r}: {_show(weight)}' for category, weight in value)}}}"
