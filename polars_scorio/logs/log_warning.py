"""The warning that a log differs from what its tool planned, or was repaired."""

from __future__ import annotations

import warnings


class LogWarning(UserWarning):
    """A log differs from what its tool planned or reported, or was repaired as it was read.

    The message names the file, what differs, and what was done about it.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.LogWarning)  # to stop at logs of which something is wrong
    >>> warnings.simplefilter("default", ps.LogWarning)
    """


def warn_of_log(message: str) -> None:
    """Warn of a log."""
    warnings.warn(message, LogWarning, stacklevel=2)
