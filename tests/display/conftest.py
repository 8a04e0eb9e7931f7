"""The log that most tests of pictures draw."""

import pytest

from tests.made_logs import drawn


@pytest.fixture
def log():
    """Three models with the same seven questions in each of two strata."""
    return drawn(3, range(7), most=4)
