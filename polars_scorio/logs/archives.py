"""The members of a zip archive, with a limit on what they unpack to."""

from __future__ import annotations

import importlib
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

from polars_scorio.logs.json_files import empty_file, unexpected_content
from polars_scorio.logs.paths import DAMAGE

GIGABYTE = 10**9
_NATIVE = (3, 14)  # since then the standard library reads zstd


class Archive:
    """A zip archive of which members are read whole, up to a limit of unpacked bytes.

    `expected` is what the file should be, for errors.
    """

    def __init__(self, file: Path, expected: str, limit: int) -> None:
        self._file, self._expected, self._limit = file, expected, limit
        try:
            with zipfile.ZipFile(file) as archive:
                self._sizes = {member.filename: member.file_size for member in archive.infolist()}
        except zipfile.BadZipFile as error:
            if not file.stat().st_size:
                raise empty_file(file, expected) from None
            raise unexpected_content(file, expected, f"no whole zip archive ({error})") from None

    def members(self, start: str) -> list[str]:
        """The names of members that begin with `start`, ascending."""
        return sorted(name for name in self._sizes if name.startswith(start))

    def read(self, *members: str) -> list[bytes]:
        """The bytes of some members, unpacked.

        Damage, or more bytes than the limit, is a `ValueError`; zstd without a library a
        `NotImplementedError`.
        """
        size = sum(self._sizes[member] for member in members)
        if size > self._limit:
            raise ValueError(
                f"{self._file} would unpack to {size:,} bytes, more than unpack_limit="
                f"{self._limit:,}: raise the limit if you trust the file"
            )
        if sys.version_info < _NATIVE:
            with suppress(ImportError):
                importlib.import_module("zipfile_zstd")  # teaches zipfile zstd
        try:
            with zipfile.ZipFile(self._file) as archive:
                return [archive.read(member) for member in members]
        except NotImplementedError as error:
            message = (
                f'{self._file} is compressed with zstd: pip install "polars-scorio[zstd]", or use '
                "Python 3.14"
            )
            raise NotImplementedError(message) from error
        except (zipfile.BadZipFile, *DAMAGE) as error:
            raise unexpected_content(
                self._file, self._expected, f"a damaged archive ({error})"
            ) from error
