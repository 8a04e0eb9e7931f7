"""An empty folder and a log in it, for all tests of the command."""

import pytest

from polars_scorio.command_line import messages
from tests.display.html.logs import models


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the command runs, and never says that it takes long."""
    monkeypatch.setattr(messages, "_PATIENCE", 3600)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log():
    """The file of a log of three models in two strata."""
    models(3, strata=2).write_parquet("log.parquet")
    return "log.parquet"
