"""Pictures of decisions."""

import polars as pl
import pytest

import polars_scorio as ps

pytest.importorskip("altair")


def test_places_by_more_draws_than_trials_are_refused():
    log = pl.DataFrame({"model": ["a", "b"], "question": 1, "category": [1, 0]})
    with pytest.raises(ValueError, match=r"pass_at_k: models have no ranks by k=\[2\], more than"):
        log.scorio(trial=None).plot.ranks(ps.pass_at_k(2))


def test_places_have_whole_numbers_at_their_ticks():
    log = pl.DataFrame({"model": ["a", "b"] * 6, "question": [1, 1, 2, 2, 3, 3] * 2,
                        "category": [1, 0] * 4 + [0, 1] * 2})  # fmt: skip
    axes = [*axes_of(log.scorio(trial=None).plot.ranks().to_dict(), "place")]
    assert axes
    assert all(axis["values"] == [1, 2] for axis in axes)
    assert all(axis["format"] == "d" for axis in axes)


def axes_of(part, title):
    """The axes of a specification that have a title."""
    if isinstance(part, dict):
        if part.get("title") == title and "axis" in part:
            yield part["axis"]
        part = [*part.values()]
    if isinstance(part, list):
        for inner in part:
            yield from axes_of(inner, title)
