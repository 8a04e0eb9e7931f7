"""Pictures of decisions."""

import polars as pl
import pytest

import polars_scorio as ps

pytest.importorskip("altair")


def test_places_by_more_draws_than_trials_are_refused():
    log = pl.DataFrame({"model": ["a", "b"], "question": 1, "category": [1, 0]})
    with pytest.raises(ValueError, match=r"pass_at_k: models have no ranks by k=\[2\], more than"):
        log.scorio(trial=None, inference="calibrated").plot.ranks(ps.pass_at_k(2))
