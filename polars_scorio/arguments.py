"""The words that options choose from, and the checks of options that are numbers."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Interval = Literal["normal", "beta"]
Pooling = Literal["none", "partial"]
Per = Literal["model", "question"]
Compared = Literal["same", "common"]
Overall = Literal["macro", "micro"]
RankMethod = Literal["competition", "competition_max", "dense", "average"]
RankTies = Literal["z", "overlap"]
View = Literal["categories", "success", "rewards"]


def check_confidence(confidence: float) -> None:
    """Refuse what is no probability of an interval.

    Raises
    ------
    TypeError, ValueError
        If it is not a number, or not between 0 and 1.
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.number):
        raise TypeError(f"confidence must be a number between 0 and 1, got {confidence!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")


def check_count(keyword: str, count: int, *, least: int = 1) -> None:
    """Refuse what is no int, or a smaller one.

    Raises
    ------
    ValueError
        If it is not.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
        kind = "a positive int" if least else "an int that is not negative"
        raise ValueError(f"{keyword} must be {kind}, got {count!r}")


def check_choice(keyword: str, value: object, choices: object) -> None:
    """Refuse what is none of the choices of a Literal.

    Raises
    ------
    ValueError
        If the value is none of them.
    """
    if value not in get_args(choices):
        named = " or ".join(f'"{choice}"' for choice in get_args(choices))
        raise ValueError(f"{keyword} must be {named}, got {value!r}")
