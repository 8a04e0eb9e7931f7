"""Help on parameters that metrics share."""

import inspect

import pytest

from polars_scorio.metrics.metric import PARAMETERS, with_parameter_help


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
