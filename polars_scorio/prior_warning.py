"""The warning of numbers that the prior decides, not the trials."""


class PriorWarning(UserWarning):
    """The prior of the questions outweighs their trials.

    What the posteriors say of a pair of models then contradicts the unbiased estimates of the same
    trials. The message says how often, and what to do.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.PriorWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.PriorWarning)
    """
