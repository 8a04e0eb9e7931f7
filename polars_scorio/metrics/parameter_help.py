"""Help on the parameters of metrics, written once and shown in the help of each metric."""

from __future__ import annotations

from inspect import signature

from polars_scorio.signatures import FunctionT, described_parameters

_PRIOR = """alpha0, beta0 : float
    Beta prior of a question's success rate; the default is uniform."""

PARAMETERS = {
    "k": """k : int or sequence of int
    Draw sizes; the result has a row for each. If k exceeds the trials of a question, no unbiased
    estimate exists and `estimate` is null; the posterior is valid for any k.""",
    "pass_power": """pass_power, unanimous_power : float
    Powers of Pass@k and of Pass^k. Negative ones are allowed, both zero are not.""",
    "w": """w : sequence or dict of float, optional
    The weight of each category: a sequence for the codes 0, 1, ..., a dict for labels. List all
    categories, also those that the log lacks. Default: success 1, failure 0.""",
    "alpha0": _PRIOR,
    "beta0": _PRIOR,
    "bounds": """bounds : tuple of float or None
    Range into which the interval is clipped; None leaves it as it is. A calibrated value
    outside is an error.""",
    "name": """name : str, optional
    What the result calls the metric.""",
}
PARAMETERS["unanimous_power"] = PARAMETERS["pass_power"]


def with_parameter_help(function: FunctionT) -> FunctionT:
    """Describe the parameters of a metric's function that its own docstring does not."""
    returns = "Metric\n    To be given to `report`."
    shown = signature(function)
    function.__doc__ = described_parameters(function.__doc__, shown, PARAMETERS, Returns=returns)
    return function
