"""The version of the installed package."""

from importlib import metadata

import polars_scorio as ps
from polars_scorio.display.phrases import installed_version


def test_the_version_is_that_of_the_installed_package():
    assert ps.__version__ == installed_version() == metadata.version("polars-scorio")


def test_a_source_tree_that_is_not_installed_has_no_known_version(monkeypatch):
    def missing(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert installed_version() == "0+unknown"
