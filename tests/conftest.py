"""The small logs that many tests use."""

import polars as pl
import pytest

from tests.logs import long


@pytest.fixture
def r1() -> pl.DataFrame:
    """Two questions, five binary trials each: the R1 of the published examples."""
    return long([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])


@pytest.fixture
def r2() -> pl.DataFrame:
    """Two questions, five trials in three categories: the R2 of the published examples."""
    return long([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])


@pytest.fixture
def r0() -> pl.DataFrame:
    """Two prior trials of each question of R2."""
    return long([[0, 2], [1, 2]])
