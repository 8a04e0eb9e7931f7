"""Arrays of outcomes, as the Python package scorio takes them, as a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import flat_numbers, is_several, value_text

_ONE, _SEVERAL = 2, 3  # dimensions of an array of one model, and of several


def from_array(
    R: npt.ArrayLike,  # noqa: N803 - scorio's name
    w: Sequence[float] | None = None,
    models: str | Sequence[str] | None = None,
) -> Scorio[pl.DataFrame]:
    """Log of an array of outcomes, questions by trials.

    Parameters
    ----------
    R : array of int, shape (M, N) or (L, M, N)
        The category 0..C of each trial, of one model or of several.
    w : sequence of float, optional
        Weight of each category, which then becomes the category of the log.
    models : str or sequence of str, optional
        Name of each model. Default: 0..L-1; for an array of one model, no name.

    Returns
    -------
    Scorio
        The accessor of a table with the columns model (unless there is no name), question, trial
        (both from 0) and category.

    Raises
    ------
    TypeError
        If `R` holds no integers.
    ValueError
        If `R` has another shape, rows of different lengths or categories outside 0..C, or there is
        not one name a model; if weights are not finite, or equal for two categories.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> ps.from_array(R, w=[0, 0.5, 1]).bayes()["mu"].item()
    0.5625

    And back:

    >>> log = ps.from_array(R).frame.sort("question", "trial")
    >>> log["category"].to_numpy().reshape(log["question"].n_unique(), -1).tolist()
    [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    """
    weights = None if w is None else _category_weights(w)
    outcomes = _category_codes(_even_array(R), None if weights is None else len(weights))
    names = _given_names(models, outcomes)
    by_model = outcomes.reshape(-1, *outcomes.shape[-2:])
    model, question, trial = (place.ravel() for place in np.indices(by_model.shape))
    frame = pl.DataFrame({"question": question, "trial": trial, "category": by_model.ravel()})
    if names is not None:
        frame.insert_column(0, pl.Series("model", names).gather(model))
    if weights is not None:
        frame = frame.with_columns(category=pl.Series(weights).gather(frame["category"]))
    return Scorio(frame)(model=None if names is None else "model", levels=weights)


def _category_weights(w: Sequence[float]) -> list[float]:
    """The weights of the categories, which are different finite numbers."""
    weights: list[float] = flat_numbers(w).tolist()
    if not weights or not np.isfinite(weights).all():
        raise ValueError(
            "w must be a flat sequence of finite numbers, the weights of the categories 0, 1, ..., "
            f"got {value_text(w)}"
        )
    if len({*weights}) < len(weights):
        raise ValueError(
            f"two categories have the same weight, w={value_text(w)}, so that a table of weights "
            "does not distinguish them: omit w here, and pass it to the metrics"
        )
    return weights


def _even_array(R: npt.ArrayLike) -> npt.NDArray[np.generic]:  # noqa: N803 - scorio's name
    """The outcomes as an array, if all questions have the same number of trials."""
    try:
        return np.asarray(R)
    except ValueError:  # nested sequences of different lengths
        lengths = [*_row_lengths(R)]
        uneven = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        what = "its models have different numbers of questions"
        if uneven is not None:
            trials = f"{lengths[uneven]} trial{'s' * (lengths[uneven] != 1)}"
            what = f"row {uneven} has {trials}, row 0 has {lengths[0]}"
        raise ValueError(
            f"R is no array: {what}. Make a table of it, with a row for each trial and the columns "
            "model, question, trial and category, and ask table.scorio"
        ) from None


def _row_lengths(rows: object) -> Iterator[int]:
    """The lengths of the innermost sequences."""
    inner = [row for row in rows if is_several(row)] if is_several(rows) else []
    for row in inner:
        yield from _row_lengths(row)
    if is_several(rows) and not inner:
        yield len([*rows])


def _category_codes(
    array: npt.NDArray[np.generic], categories: int | None
) -> npt.NDArray[np.int64]:
    """The array as categories; entries that are none are refused."""
    if array.ndim not in (_ONE, _SEVERAL) or not array.size:
        raise ValueError(
            f"R must be questions x trials, or models x questions x trials, got shape {array.shape}"
        )
    if array.dtype.kind not in "biu":
        raise TypeError(f"R must hold the integer codes of categories, got {array.dtype}")
    codes = array.astype(np.int64)
    outside = (codes < 0) | (False if categories is None else codes >= categories)
    if outside.any():
        first = tuple(int(i) for i in np.argwhere(outside)[0])
        top = "" if categories is None else f"..{categories - 1}, one for each of w"
        raise ValueError(
            f"{outside.sum():,} entries of R are no categories 0{top or ', 1, ...'}; the first is "
            f"R{list(first)} = {codes[first]}"
        )
    return codes


def _given_names(
    models: str | Sequence[str] | None, outcomes: npt.NDArray[np.int64]
) -> list[str] | list[int] | None:
    several = outcomes.ndim == _SEVERAL
    number = len(outcomes) if several else 1
    if models is None:
        return [*range(number)] if several else None
    names = [models] if isinstance(models, str) else [*models]
    if len(names) != number or len({*names}) != number:
        raise ValueError(f"models must be {number} different name(s), one a model, got {names}")
    return names
