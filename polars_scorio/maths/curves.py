"""Curves over k: how many statements a curve makes, and how its band and its verdicts read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask


def statement_number(sizes: Sequence[int | None], known: Mask, *, draws: bool) -> Floats:
    """How many statements the points of a curve make that are `known`, by the last axis.

    Of `draws`, one and one more for each doubling of k, at most the number of points: between k and
    2k the noise hardly turns. Thresholds count one each.

    >>> statement_number([1, 2, 3, 4], np.array([True, True, True, True]), draws=True).item()
    3.0
    """
    number = known.sum(axis=-1)
    if draws:
        k = np.log2(np.array(sizes, np.float64))
        most, least = (np.where(known, sign * k, -np.inf).max(axis=-1) for sign in (1, -1))
        number = np.minimum(number, 1 + most + least)
    return np.asarray(np.maximum(number, 1.0))


class Stretch(NamedTuple):
    """The sign at one end of a curve, and the last k at which it holds, (...)."""

    sign: Floats  # 1: the first model is better, -1: the second, 0: this end is not decided
    reach: Ints  # 0 without a sign


def first_stretch(k: Ints, sign: Floats, here: Mask) -> Stretch:
    """From the first point on, as long as the sign stays decided and the same, by the last axis."""
    # `sign` of verdicts, 0 if undecided; `here`: which points have a number.
    first = np.take_along_axis(np.where(here, sign, 0), here.argmax(axis=-1)[..., None], axis=-1)
    same = np.logical_and.accumulate(((sign == first) | ~here) & (first != 0), axis=-1) & here
    last = same.shape[-1] - 1 - same[..., ::-1].argmax(axis=-1)
    return Stretch(first[..., 0], np.where(same.any(axis=-1), k[last], 0))


def last_stretch(k: Ints, sign: Floats, here: Mask) -> Stretch:
    """`first_stretch` from the last point down."""
    return first_stretch(k[::-1], sign[..., ::-1], here[..., ::-1])


def rising_band(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """The band of a curve that never falls, by the first axis; NaN is no point."""
    low, high = np.fmax.accumulate(lo, axis=0), np.fmin.accumulate(hi[::-1], axis=0)[::-1]
    return np.where(np.isnan(lo), np.nan, low), np.where(np.isnan(hi), np.nan, high)
