"""The stub that type checkers read is what the functions of the metrics say."""

from tests.accessors.stub import STUB, stub


def test_the_stub_is_up_to_date():
    assert STUB.read_text() == stub(), "run python -m tests.accessors.stub"
