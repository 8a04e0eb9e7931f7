"""The version of the package that is installed."""

from importlib import metadata


def installed_version() -> str:
    """The version in the metadata of the installed package."""
    try:
        return metadata.version("polars-scorio")
    except metadata.PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"
