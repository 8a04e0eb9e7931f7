"""Files that may be compressed with gzip or zstd: their names and their bytes."""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeVar, cast

PathT = TypeVar("PathT", bound=PurePath)

_NAMES = {".gz": "gzip", ".zst": "zstd"}
# Errors of a compressed file that is damaged or broken off.
DAMAGE = (EOFError, OSError, zlib.error)


def compression_of(file: PurePath) -> str | None:
    """The compression that the ending of a file names; None for other endings.

    >>> compression_of(Path("a.jsonl.gz")), compression_of(Path("a.JSON.ZST"))
    ('gzip', 'zstd')
    """
    return _NAMES.get(file.suffix.lower())


def plain_path(file: PathT) -> PathT:
    """The path without the ending of a compression: the path that tools write and readers parse.

    >>> plain_path(Path("m/samples.jsonl.gz")).name, plain_path(Path("m/gpt-4.1")).name
    ('samples.jsonl', 'gpt-4.1')
    """
    return file if compression_of(file) is None else file.with_suffix("")


def side_file(file: Path, name: str) -> Path:
    """The file of some name beside another one, compressed or not; it need not exist."""
    plain = file.with_name(name)
    packed = (plain.with_name(f"{name}{ending}") for ending in _NAMES)
    return next((side for side in (plain, *packed) if side.exists()), plain)


def open_plain(file: Path) -> BinaryIO:
    """The bytes of a file, decompressed as they are read."""
    compression = compression_of(file)
    if compression is None:
        return file.open("rb")
    if compression == "gzip":
        return cast("BinaryIO", gzip.open(file))
    # Imported here: few files need pyarrow, and its import takes .1 s.
    arrow: Any = importlib.import_module("pyarrow")
    return io.BufferedReader(arrow.CompressedInputStream(str(file), "zstd"))
