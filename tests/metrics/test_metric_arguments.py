"""The arguments that metrics share; `test_metric` has their messages for each metric."""

import inspect

import pytest

from polars_scorio.metrics.metric import (
    PARAMETERS,
    draw_sizes,
    interval_bounds,
    typed_value,
    weight_array,
    weight_pairs,
    with_parameter_help,
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


# Help on parameters that metrics share.


def test_help_describes_what_the_docstring_leaves_out():
    @with_parameter_help
    def two_of_k(k, *, tau, pass_power=1.0, unanimous_power=1.0):
        """Do two succeed?

        Parameters
        ----------
        tau : float
            The share.
        """

    doc = inspect.getdoc(two_of_k)
    head, _, body = doc.partition("\n\nParameters\n----------\n")
    parameters, _, rest = body.partition("\n\nReturns\n-------\n")
    returns, _, raises = rest.partition("\n\nRaises\n------\n")
    assert head == "Do two succeed?"
    assert returns == "Metric\n    A value for `report`, `compare` and other methods."
    assert raises == "ValueError\n    As for `pass_at_k`."
    entries = [PARAMETERS["k"], "tau : float\n    The share.", PARAMETERS["pass_power"]]
    assert parameters == "\n".join(entries)


def test_a_parameter_without_any_description_is_an_error():
    def of_nothing(unheard_of):
        """Nothing."""

    with pytest.raises(KeyError, match="unheard_of"):
        with_parameter_help(of_nothing)


def test_parameters_that_share_an_entry_name_both():
    for entry in PARAMETERS.values():
        names, _, rest = entry.partition(" : ")
        assert rest
        assert {PARAMETERS[name] for name in names.split(", ")} == {entry}
