"""The members of a zip archive, with a limit on what they unpack to."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import SEEK_CUR, BytesIO
from pathlib import Path

from polars_scorio.logs.json_files import empty_file, unexpected_content
from polars_scorio.logs.paths import DAMAGE, zstd_stream

GIGABYTE = 10**9
_ZSTD = 93  # the number of zstd among the compressions of zip archives
# Lengths of the name and of further fields, at the end of the header before a member.
_LOCAL_HEADER = struct.Struct("<26x2H")


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
        """The bytes of some members, unpacked; damage and more than the limit are errors."""
        size = sum(self._sizes[member] for member in members)
        if size > self._limit:
            raise ValueError(
                f"{self._file} would unpack to {size:,} bytes, more than unpack_limit="
                f"{self._limit:,}: raise the limit if you trust the file"
            )
        try:
            with zipfile.ZipFile(self._file) as archive:
                return [self._member_bytes(archive, member) for member in members]
        except (zipfile.BadZipFile, NotImplementedError, struct.error, *DAMAGE) as error:
            raise unexpected_content(
                self._file, self._expected, f"an archive that cannot be unpacked ({error})"
            ) from error

    def _member_bytes(self, archive: zipfile.ZipFile, name: str) -> bytes:
        """The bytes of a member; pyarrow unpacks zstd: `zipfile` cannot before Python 3.14."""
        member = archive.getinfo(name)
        if member.compress_type != _ZSTD:
            return archive.read(name)
        with self._file.open("rb") as source:
            source.seek(member.header_offset)
            name_length, extra_length = _LOCAL_HEADER.unpack(source.read(_LOCAL_HEADER.size))
            source.seek(name_length + extra_length, SEEK_CUR)
            content: bytes = zstd_stream(BytesIO(source.read(member.compress_size))).read(
                member.file_size + 1
            )
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise zipfile.BadZipFile(f"size or check sum of {name!r} is wrong")
        return content
