"""Paths, compressed files, and files that cannot be read."""

from __future__ import annotations

import glob
import gzip
import importlib
import io
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from errno import ENAMETOOLONG
from os import PathLike, fspath, walk
from os.path import abspath, lexists, realpath
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.arguments import value_text, value_tuple
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.logs.runs import line_list, pattern_argument, repeated_values

PathT = TypeVar("PathT", bound=PurePath)

_NAMES = {".gz": "gzip", ".zst": "zstd"}
# Errors of a compressed file that is damaged or broken off.
DAMAGE = (EOFError, OSError, zlib.error)


def compression_of(file: PurePath) -> str | None:
    """The compression that the ending of a file names; None for other endings."""
    return _NAMES.get(file.suffix.lower())


def plain_path(file: PathT) -> PathT:
    """The path without the ending of a compression: the path that tools write and readers parse."""
    return file if compression_of(file) is None else file.with_suffix("")


def side_file(file: Path, name: str) -> Path:
    """The file of some name beside another one, compressed or not; it need not exist."""
    sides = [file.with_name(f"{name}{ending}") for ending in ("", *_NAMES)]
    return next(map(readable_file, filter(lexists, sides)), sides[0])


def open_plain(file: Path) -> BinaryIO:
    """The bytes of a file, decompressed as they are read."""
    compression = compression_of(readable_file(file))
    if compression is None:
        return file.open("rb")
    if compression == "gzip":
        return cast("BinaryIO", gzip.open(file))
    return io.BufferedReader(zstd_stream(str(file)))


def zstd_stream(source: str | BinaryIO) -> Any:
    """The stream that unpacks a file, or the bytes of a stream, which zstd has packed."""
    # Imported here: few files need pyarrow, and its import takes .1 s.
    arrow: Any = importlib.import_module("pyarrow")
    return arrow.CompressedInputStream(source, "zstd")


ContentT = TypeVar("ContentT")


class UnexpectedContentError(ValueError):
    """A file is not what a reader expects."""


def read_each(
    files: Iterable[Path], read: Callable[[Path], ContentT], options: Mapping[str, object]
) -> dict[Path, ContentT]:
    """The contents of files as a function reads them, without files that it cannot read."""
    # With on_error="warn" one warning lists these, and it is an error if none can be read.
    contents: dict[Path, ContentT] = {}
    faults: list[Exception] = []
    several, raises = [*files], options.get("on_error", "raise") == "raise"
    for file in several:
        try:  # inside the loop: the other files are read all the same
            contents[file] = read(file)
        except (ValueError, OSError, PolarsError) as fault:  # noqa: PERF203 - a file takes longer
            if raises and isinstance(fault, UnexpectedContentError) and several[1:]:
                cure = 'To skip files that cannot be read, pass on_error="warn"'
                raise UnexpectedContentError(f"{fault}. {cure}") from fault
            if raises:
                raise
            faults.append(fault)
    if faults and not contents:
        raise faults[0]
    if faults:
        head = "1 file is" if len(faults) == 1 else f"{len(faults):,} files are"
        warn_of_log(f"{head} skipped, as on_error='warn' says:{line_list(faults)}")
    return contents


def joined_files(
    runs: Mapping[Path, ContentT],
    scan: Callable[[Path, ContentT], pl.LazyFrame],
    options: Mapping[str, object],
) -> tuple[pl.LazyFrame, dict[Path, ContentT]]:
    """One table of files that are read lazily, and the runs that are in it."""
    # With on_error="warn" each file is read to its end at the call, as an unreadable line may be
    # its last one.

    def read(file: Path) -> pl.LazyFrame:
        frame = scan(file, runs[file])
        if options.get("on_error") == "warn":  # all rows are read once, batch by batch
            deque(frame.collect_batches(), maxlen=0)
        return frame

    frames = read_each(runs, read, options)
    return pl.concat([*frames.values()]), {file: runs[file] for file in frames}


# As in hf://a/b and, in chains of fsspec, zip::s3://a/b; a single letter is a drive of Windows.
_URL = re.compile(r"([a-z][a-z0-9+.-]+::?)+//?", re.IGNORECASE)

Paths: TypeAlias = "str | PathLike[str] | Iterable[str | PathLike[str]]"


def find_files(paths: Paths, *patterns: str, left_out: list[str] | None = None) -> dict[Path, bool]:
    """The absolute path of each file, ascending, and whether it was named itself."""
    # Folders are searched at any depth for the patterns, also of compressed files. A file that is
    # reached in several ways, by links too, is there once. Folders with the name of a file are
    # added to `left_out`, or without that a warning lists them.
    several = given_paths(paths)
    for path in several:
        if is_remote(path):
            raise ValueError(
                f"{path} is not on this machine. Readers of tools open only local files: download "
                "it, and pass the file or folder"
            )
    matches: dict[Path, tuple[Path, bool]] = {}
    folders: list[str] = []
    for path in several:
        for file, named in _path_files(Path(path).expanduser(), patterns):
            if file.is_dir():
                folders.append(f"{file}: a folder")
                continue
            # A link keeps its name, as the name of its target may be a hash.
            known = Path(abspath(file))  # noqa: PTH100 - resolve() would follow them
            place = file.resolve()
            first, before = matches.get(place, (known, named))
            matches[place] = (first, named or before)
    if not matches:
        given = [str(path) for path in several]
        raise FileNotFoundError(f"no file in {given} is called {' or '.join(patterns)}")
    files = dict(sorted(matches.values()))
    for one, other in repeated_values({file: plain_path(file) for file in files}):
        raise ValueError(f"{one} and {other} are one file, once compressed: remove one of them")
    if left_out is None:
        warn_of_left_out(folders)
    else:
        left_out += folders
    return files


def warn_of_left_out(lines: Sequence[str]) -> None:
    """Warn of what has the name of a log, but no trial."""
    if lines:
        head = "1 file is" if len(lines) == 1 else f"{len(lines):,} files are"
        text = f"{head} skipped, with the name of a log but without trials"
        warn_of_log(f"{text}:{line_list(sorted(lines))}")


def given_paths(paths: Paths) -> list[str | PathLike[str]]:
    """The paths as a list, be it one or several; a local URL is a path."""
    frame = isinstance(paths, pl.DataFrame | pl.LazyFrame)
    several: list[str | PathLike[str]] = []
    for path in (paths,) if frame else value_tuple(paths):
        if not isinstance(path, str | PathLike):
            cure = ". A table of your own needs no reader: ask frame.scorio" if frame else ""
            raise TypeError(
                "paths must be files, folders or globs, each a str or a Path, got "
                f"{value_text(path)}{cure}"
            )
        several.append(path.removeprefix("file://") if isinstance(path, str) else path)
    return several


def is_remote(path: str | PathLike[str]) -> bool:
    """Whether a path is that of another machine, also if pathlib has merged its two slashes."""
    return _URL.match(fspath(path)) is not None


def _path_files(path: Path, patterns: Collection[str]) -> list[tuple[Path, bool]]:
    """The files of a path, ascending, each with whether the user named it."""
    try:
        return sorted(_walked_files(path, patterns))
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        raise FileNotFoundError(
            f"there is no file or folder {value_text(str(path))}: the name is too long"
        ) from None


def _walked_files(path: Path, patterns: Collection[str]) -> Iterator[tuple[Path, bool]]:
    if path.is_dir():
        for pattern in patterns:
            for file in path.rglob(f"{pattern}*"):
                if plain_path(file).match(pattern):
                    yield readable_file(file, folder=True), False
    elif path.exists():
        yield readable_file(path), True
    else:
        matches = _glob_matches(str(path))
        if not matches:
            what = "file that matches" if glob.has_magic(str(path)) else "file or folder"
            raise FileNotFoundError(f"there is no {what} {path}")
        for match in matches:
            yield from _walked_files(readable_file(match, folder=True), patterns)


def readable_file(path: Path, *, folder: bool = False) -> Path:
    """A path that is a file, or a folder if that is allowed; nobody may ever write to a pipe."""
    if path.is_file() or (folder and path.is_dir()):
        return path
    if path.exists():
        raise ValueError(f"{path} is a folder, a pipe or a device: what it gives must be a file")
    raise FileNotFoundError(f"{path} is a symbolic link that leads nowhere, or back to itself")


def _glob_matches(pattern: str) -> list[Path]:
    """The paths that match a glob; ``**`` enters a folder once, however many links lead there."""
    top, *below = re.split(r"(?:^|(?<=[/\\]))\*\*(?:[/\\]+|$)", pattern, maxsplit=1)
    if not below:
        return [Path(match) for match in glob.glob(pattern)]  # noqa: PTH207 - may start at the root
    matches = []
    for start in glob.glob(top) if top else ["."]:  # noqa: PTH207 - as above
        for folder in _folders_below(start):
            matches += _glob_matches(str(Path(glob.escape(folder), below[0] or "*")))
    return matches


def _folders_below(top: str) -> Iterator[str]:
    """A folder and those below it but for hidden ones; links may lead in circles."""
    entered = set[str]()
    for folder, names, _ in walk(top, followlinks=True):
        place = realpath(folder)
        names[:] = [] if place in entered else sorted(name for name in names if name[0] != ".")
        if place not in entered:
            entered.add(place)
            yield folder


def path_model(file: Path, model: str | None, name: str = "model") -> str | None:
    """The model of a file: a name, or a pattern with one group that its path must match."""
    # A text with parentheses is a pattern. Errors say `name`.
    if model is None or not {"(", ")"} & {*model}:
        return model
    match = _path_pattern(model, name).search(file.as_posix())
    if match is None or match[1] is None:
        raise ValueError(f"the pattern {name}={model!r} is not found in the path {file}")
    return match[1]


def _path_pattern(model: str, name: str) -> re.Pattern[str]:
    """The compiled pattern of a text with parentheses, which must have one group."""
    try:
        pattern = re.compile(model)
    except re.error as error:
        fault = f"it is no pattern ({error})"
    else:
        if pattern.groups == 1:
            return pattern
        fault = f"it has {pattern.groups} groups"
    raise ValueError(
        f"{name}={model!r} has parentheses, so it must be a pattern with one group, which finds "
        f"the {name} in the path: {fault}. If it is a name, change the column {name} of .frame "
        "instead"
    )


def model_names(
    places: Mapping[Path, Path],
    model: str | None = None,
    *,
    alone: bool = False,
    parts: Mapping[Path, int] | None = None,
) -> dict[Path, str]:
    """The model of each file, for logs that do not name it: the last parts of its place."""
    # A place is the path that the tool names after the model; `parts` of it are the name (2 in
    # org/model), with as many parents as tell places apart. If files are `alone`, two may not share
    # one.
    if model is not None:
        return {file: str(path_model(file, model)) for file in places}
    if alone:
        _refuse_twins(places)
    depth = {place: (parts or {}).get(place, 1) for place in places.values()}
    while shared := _shared_places(depth):
        depth = {place: parts + (place in shared) for place, parts in depth.items()}
    return {file: _last_parts(place, depth[place]) for file, place in places.items()}


def _shared_places(depth: Mapping[Path, int]) -> set[Path]:
    """Places that share their name with another place."""
    count = Counter(_last_parts(place, parts) for place, parts in depth.items())
    return {place for place, parts in depth.items() if count[_last_parts(place, parts)] > 1}


def _last_parts(place: Path, parts: int) -> str:
    """The last parts of a path, joined by slashes."""
    return "/".join(place.parts[-parts:])


def samples_place(file: Path, ending: str) -> Path:
    """The path that is named after the model: a file without ending, or a folder of `samples`."""
    stem = re.sub(f"{ending}$", "", file.name)
    return file.parent if stem in {"", "samples"} else file.with_name(stem)


def _refuse_twins(places: Mapping[Path, Path]) -> None:
    """Refuse two files that would have one model although each is a whole run."""
    for one, other in repeated_values(places):
        raise ValueError(
            f"{one} and {other} would both be the model {places[one].name!r}: read each by itself "
            f"and name it with model=, or pass {pattern_argument(one, other)}"
        )


def refuse_unnamed(files: Collection[Path], model: str | None) -> None:
    """Refuse files of several folders if neither file nor user names the model."""
    folders = sorted({file.parent: file for file in files}.values())
    if model is None and len(folders) > 1:
        raise ValueError(
            f"{folders[0]} and {folders[1]} lie in two folders, so they may belong to two models, "
            "which the files do not name: name the model with model=, or pass "
            f"{pattern_argument(folders[0], folders[1])}"
        )
