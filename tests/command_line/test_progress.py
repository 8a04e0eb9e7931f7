"""A word on what takes long, and none on what does not."""

import io
import time

from polars_scorio.command_line import terminal


def test_what_is_quick_is_silent():
    stream = io.StringIO()
    with terminal.Progress(stream) as steps:
        steps.tell("reading")
        steps.tell("drawing")
    assert stream.getvalue() == ""


def test_what_takes_long_says_at_which_step_it_is(monkeypatch):
    monkeypatch.setattr(terminal, "_PATIENCE", 0.05)
    stream = io.StringIO()
    with terminal.Progress(stream) as steps:
        steps.tell("reading")
        steps.tell("reporting")
        deadline = time.monotonic() + 30
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        steps.tell("drawing")
    assert stream.getvalue() == "reporting ...\ndrawing ...\n"
