"""The warning of logs that are not what they seem to be."""

import pytest

import polars_scorio as ps
from polars_scorio.counting.coverage import warn_of_log


def test_a_log_warning_is_a_user_warning_of_the_package():
    with pytest.warns(ps.LogWarning, match="3 of 100 planned samples") as caught:
        warn_of_log("a.json: 3 of 100 planned samples")
    assert issubclass(ps.LogWarning, UserWarning)
    assert len(caught) == 1
