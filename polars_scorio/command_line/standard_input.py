"""A log on standard input, as a file whose name says its format."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from polars_scorio.logs.compressed_files import DAMAGE, open_plain

STANDARD_INPUT = "-"
_HEAD = 1 << 16  # bytes in which the format is looked for
# The first bytes of compressed files, and the ending of such a file.
_COMPRESSED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


@contextmanager
def saved_input(logs: Sequence[str]) -> Iterator[list[str]]:
    """The names of logs, with a temporary file in place of ``-``, which is standard input.

    Raises
    ------
    ValueError
        If standard input is closed, empty, damaged, or named twice.
    """
    if STANDARD_INPUT not in logs:
        yield [*logs]
        return
    if logs.count(STANDARD_INPUT) > 1:
        raise ValueError("standard input can be read once: name - once")
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    with TemporaryDirectory(prefix="polars-scorio-") as folder:
        file = str(_copied_input(Path(folder), sys.stdin.buffer))
        yield [file if name == STANDARD_INPUT else name for name in logs]


def _copied_input(folder: Path, stream: BinaryIO) -> Path:
    """The file that holds a stream."""
    head = stream.read(_HEAD)
    packed = next((end for start, end in _COMPRESSED.items() if head.startswith(start)), "")
    file = folder / f"stdin{packed}"
    with file.open("wb") as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy)
    return file.rename(folder / f"stdin{format_ending(_plain_head(file))}{packed}")


def _plain_head(file: Path) -> bytes:
    """The first bytes of a file, decompressed."""
    try:
        with open_plain(file) as stream:
            return stream.read(_HEAD)
    except DAMAGE as error:
        raise ValueError(f"standard input is damaged or broken off: {error}") from error


def format_ending(head: bytes) -> str:
    r"""The ending of a file by its first bytes.

    >>> [format_ending(head) for head in (b"PAR1", b'[{"a": 1}]', b'{"a": 1}\n', b"a,b\n1,2\n")]
    ['.parquet', '.json', '.jsonl', '.csv']
    >>> format_ending(b"a\tb\n1\t2\n")
    '.tsv'
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    text = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if not text:
        raise ValueError("standard input is empty")
    if text[:1] in {b"[", b"{"}:
        return ".json" if text.startswith(b"[") else ".jsonl"
    first = text.partition(b"\n")[0]
    return ".tsv" if first.count(b"\t") > first.count(b",") else ".csv"
