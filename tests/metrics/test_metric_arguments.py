"""The arguments that metrics share; `test_metric` has their messages for each metric."""

import pytest

from polars_scorio.metrics.metric import (
    draw_sizes,
    interval_bounds,
    typed_value,
    weight_array,
    weight_pairs,
)


def test_draw_sizes_are_ascending():
    assert draw_sizes(4) == (4,)
    assert draw_sizes([8, 1, 4]) == (1, 4, 8)


def test_weights_are_in_the_order_of_their_categories():
    assert weight_pairs([0, 0.5]) == ((0, 0.0), (1, 0.5))
    assert weight_pairs({"right": 1, "half": 0.5}) == (("half", 0.5), ("right", 1.0))
    assert weight_array(None).tolist() == [0, 1]


def test_bounds_are_two_numbers_or_none():
    assert interval_bounds((0, 1)) == (0.0, 1.0)
    assert interval_bounds(None) is None
    with pytest.raises(ValueError, match=r"the lower first, got \(1, 0\)"):
        interval_bounds((1, 0))
    # Without a look at what follows the third: as numbers they would take 8 EB.
    with pytest.raises(ValueError, match=r"got range\(0, 1000000000000000000\)"):
        interval_bounds(range(10**18))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1"),
        ((0.0, 1.0), "(0, 1)"),
        (((0, 0.0), (1, 0.5)), "[0, 0.5]"),
        ((("right", 1.0),), "{'right': 1}"),
    ],
)
def test_a_value_is_shown_as_one_types_it(value, text):
    assert typed_value(value) == text
