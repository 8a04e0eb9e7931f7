"""Strata with equally many models, as arrays."""

import numpy as np
import polars as pl

from polars_scorio.decisions.models import strata_blocks


def test_strata_of_one_size_and_baseline_share_a_block():
    stratum, baseline = pl.Series([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0])
    found = {block.baseline: block for block in strata_blocks(stratum, baseline)}
    assert found[0].rows.tolist() == [[0, 1], [4, 5]]
    assert found[1].strata.tolist() == [1]
    assert [side.tolist() for side in found[1].pairs()] == [[0], [1]]


def test_all_pairs_are_those_above_the_diagonal():
    (block,) = strata_blocks(pl.Series([0, 0, 0]))
    assert [side.tolist() for side in block.pairs()] == [[0, 0, 1], [1, 2, 2]]
