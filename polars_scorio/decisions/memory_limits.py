"""Refusals of comparisons that need more memory than a stated amount, before they start."""

from __future__ import annotations

LIMIT = 2_000_000_000  # bytes

_ROW = 100  # bytes of a pair in the result of `compare`
_CELL = 128  # bytes of a pair, in both orders, in the tables of a population of questions


def refuse_many_pairs(models: int, pairs: int, rows: int) -> None:
    """Refuse a comparison whose result would exceed `LIMIT`.

    Parameters
    ----------
    models : int
        Models of the largest stratum.
    pairs, rows : int
        Pairs of models of all strata, and rows of the result: a pair has one for each draw size.

    Raises
    ------
    ValueError
        If the result is too large.
    """
    if rows * _ROW > LIMIT:
        raise ValueError(
            f"{models:,} models make {pairs:,} pairs, a result of about {_size_text(rows * _ROW)}; "
            f"compare makes at most {_size_text(LIMIT)}. Name one model with baseline= to compare "
            "all others with it, filter the models, or use rank"
        )


def refuse_large_covariance(models: int) -> None:
    """Refuse models on a sample of questions, if their covariances would exceed `LIMIT`.

    Raises
    ------
    ValueError
        If there are too many models.
    """
    if models**2 * _CELL > LIMIT:
        raise ValueError(
            f'target="population" needs the covariances of all pairs of {models:,} models, '
            f"about {_size_text(models**2 * _CELL)}; the limit is {_size_text(LIMIT)}. Filter "
            'the models, or use target="benchmark"'
        )


def _size_text(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
