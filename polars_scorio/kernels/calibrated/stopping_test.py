"""Did the number of trials depend on their outcomes, or on how hard a question is?"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask

_FEWEST = 5  # stopped questions that make a pattern
_SURE = 3.0  # standard deviations
_RARE = 0.01  # so rarely do questions without a success (a failure) happen to be the short ones


def stopped_in_a_pattern(n: Ints, c: Ints, questions: Ints) -> bool:
    """Whether all questions with fewer trials have the same number of successes, or of failures.

    As trials do that stop at the first success, or after so many failures. That they have none is
    a pattern only where few questions have none: those of hopeless models never have a success.

    Parameters
    ----------
    n, c, questions : ndarray of int, shape (S,)
        Trials and successes of each state of a group, and how many questions share it.

    Examples
    --------
    Up to four trials, until one succeeds.

    >>> stopped_in_a_pattern(np.array([1, 2, 4]), np.array([1, 1, 0]), np.array([4, 3, 9]))
    True
    """
    short = n < n.max(initial=0)
    if questions[short].sum() < _FEWEST:
        return False
    return any(_all_the_same(kind, short, questions) for kind in (c, n - c))


def _all_the_same(kind: Ints, short: Mask, questions: Ints) -> bool:
    """Whether the short questions have the same number, which is not 0 by chance."""
    first, *others = np.unique(kind[short])
    if others or first:
        return not others
    none = questions[kind == 0].sum() / questions.sum()
    return bool(none ** questions[short].sum() < _RARE)


def stopped_in_order(last: Floats, others: Floats) -> bool:
    """Whether the last trial of a question differs from those before it.

    Parameters
    ----------
    last, others : ndarray of float, shape (Q,)
        Outcome of the last trial of each question, and the mean of those before it; NaN (left out)
        where there are none.

    Examples
    --------
    Nothing but the last trial ever succeeds.

    >>> stopped_in_order(np.ones(10), np.zeros(10))
    True
    """
    d = last - others
    d = d[~np.isnan(d)]
    square = float(d @ d)
    return square > 0 and abs(float(d.sum())) > _SURE * square**0.5


def follows_difficulty(n: Ints, c: Ints, questions: Ints) -> bool:
    """Whether questions that are harder, or easier, have more trials.

    Parameters
    ----------
    n, c, questions
        As for `stopped_in_a_pattern`. Where trials stopped on outcomes it says so too: ask first.

    Examples
    --------
    >>> n, c, often = np.array([4, 4, 16, 16]), np.array([4, 3, 2, 1]), np.array([20, 10, 10, 20])
    >>> follows_difficulty(n, c, often)
    True
    """
    size = questions.sum()
    x, y = np.log(n), c / n
    x, y = x - questions @ x / size, y - questions @ y / size
    product, scale = questions @ (x * y), np.sqrt((questions @ x**2) * (questions @ y**2))
    return bool(abs(product) * np.sqrt(size - 1) > _SURE * scale)


def stopping(
    n: Ints, c: Ints, questions: Ints, order: tuple[Floats, Floats] | None = None
) -> str | None:
    """Reason why numbers of trials differ: "outcomes", "difficulty", or None.

    Parameters
    ----------
    n, c, questions
        As for `stopped_in_a_pattern`.
    order : tuple of ndarray, optional
        Where the order of the trials is known: what `stopped_in_order` asks for.

    Examples
    --------
    >>> stopping(np.array([4, 4]), np.array([1, 2]), np.array([5, 5])) is None  # equal n
    True
    """
    if n.size == 0 or n.min() == n.max():
        return None
    if stopped_in_a_pattern(n, c, questions) or (order is not None and stopped_in_order(*order)):
        return "outcomes"
    return "difficulty" if follows_difficulty(n, c, questions) else None
