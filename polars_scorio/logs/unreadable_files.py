"""Files that cannot be read: an error, or left out and listed in a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.arguments import check_choice
from polars_scorio.logs.log_warning import LogWarning, warn_of_log

OnError: TypeAlias = Literal["raise", "warn"]
ContentT = TypeVar("ContentT")
_LISTED = 5


def read_each(
    files: Iterable[Path], read: Callable[[Path], ContentT], on_error: OnError
) -> dict[Path, ContentT]:
    """The contents of files as a function reads them, without files that it cannot read.

    Parameters
    ----------
    files : iterable of Path
        The files.
    read : callable
        Reads a file; a `ValueError` or `OSError` says that it cannot.
    on_error : {"raise", "warn"}
        Whether the first file that cannot be read is an error, or a warning lists all of them.

    Raises
    ------
    ValueError, OSError
        Of the first file that cannot be read; with "warn" if no file can be read.
    """
    check_choice("on_error", on_error, OnError)
    contents: dict[Path, ContentT] = {}
    faults: list[Exception] = []
    for file in files:
        try:  # inside the loop: the other files are read all the same
            contents[file] = read(file)
        except (ValueError, OSError, NotImplementedError, PolarsError) as fault:  # noqa: PERF203 - a file takes longer
            if on_error == "raise":
                raise
            faults.append(fault)
    if faults and not contents:
        raise faults[0]
    if faults:
        warn_of_log(_fault_list(faults))
    return contents


def joined_files(
    runs: Mapping[Path, ContentT],
    scan: Callable[[Path, ContentT], pl.LazyFrame],
    on_error: OnError,
) -> tuple[pl.LazyFrame, dict[Path, ContentT]]:
    """One table of files that are read lazily, and the runs that are in it.

    Parameters
    ----------
    runs : mapping of Path to Run
        The run of each file.
    scan : callable
        Makes the table of a file and its run.
    on_error : {"raise", "warn"}
        With "warn" each file is read to its end at the call, to find lines that cannot be read; a
        file with one is left out.

    Raises
    ------
    ValueError
        With "warn" if no file can be read.
    """

    def read(file: Path) -> pl.LazyFrame:
        frame = scan(file, runs[file])
        return _whole_frame(frame) if on_error == "warn" else frame

    frames = read_each(runs, read, on_error)
    return pl.concat([*frames.values()]), {file: runs[file] for file in frames}


def _whole_frame(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The frame itself, after all of its rows have been read once, batch by batch."""
    with warnings.catch_warnings():
        # The rows are read again for the report, which then warns.
        warnings.simplefilter("ignore", LogWarning)
        for _ in frame.collect_batches():
            pass
    return frame


def _fault_list(faults: list[Exception]) -> str:
    """The message of a warning of files that are left out."""
    number = len(faults)
    head = "1 file is" if number == 1 else f"{number:,} files are"
    further = f"\n- and {number - _LISTED:,} more" if number > _LISTED else ""
    lines = "".join(f"\n- {fault}" for fault in faults[:_LISTED])
    return f"{head} left out, as on_error='warn' says:{lines}{further}"
