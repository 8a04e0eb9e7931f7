"""The files of inspect_ai: their headers and samples, without messages and events."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from polars_scorio.logs.json_files import (
    describe_content,
    empty_file,
    parse_json,
    read_json,
    single_keys,
    unexpected_content,
)
from polars_scorio.logs.paths import DAMAGE, Paths, find_files, open_plain, plain_path, zstd_stream

Sample: TypeAlias = "dict[str, Any]"
INSPECT_LOG = "a log of inspect_ai, with the parts 'eval' and 'samples'"
_HEAD_BYTES = 4_096  # bytes that are read to recognise a log
# Fields of samples that no table needs; they make up nearly all of a file.
_LEFT_OUT = frozenset({"messages", "events", "store", "attachments", "timelines"})


def find_inspect_logs(paths: Paths) -> list[Path]:
    """The logs among the paths, by their names or beginnings."""
    # If no file is a log, all files are returned, so that reading them says what is wrong.
    files = find_files(paths, "*.eval", "*.json")
    logs = [
        file for file, named in files.items() if named or _is_log_name(file) or is_inspect_log(file)
    ]
    return logs or [*files]


def _is_log_name(file: Path) -> bool:
    """Whether the name of a file is one that inspect_ai gives to logs."""
    name = plain_path(file).name
    return name.endswith(".eval") or re.match(r"\d{4}-.*\.json$", name) is not None


def is_inspect_log(file: Path) -> bool:
    """Whether a file begins as the JSON logs of inspect_ai do."""
    try:
        with open_plain(file) as source:
            head = source.read(_HEAD_BYTES)
    except DAMAGE:
        return False
    return re.match(rb'\s*\{\s*"version"', head) is not None and b'"eval"' in head


def read_inspect_log(file: Path, limit: int) -> dict[str, Any]:
    """Header and samples of a log: an archive of at most `limit` unpacked bytes, or a JSON file."""
    if zipfile.is_zipfile(file):
        return _archive_log(file, limit)
    if file.suffix == ".eval":
        Archive(file, INSPECT_LOG, 0)  # raises an error that says what is wrong with the file
    log = read_json(file, INSPECT_LOG, slim_sample)
    if not isinstance(log, dict) or "eval" not in log:
        raise unexpected_content(file, INSPECT_LOG, describe_content(log))
    return log


def slim_sample(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, without the large fields if it is a sample: only one sample is whole at a time."""
    content = single_keys(members)
    if {"id", "epoch"} <= content.keys():
        return {name: value for name, value in content.items() if name not in _LEFT_OUT}
    return content


def _archive_log(file: Path, limit: int) -> dict[str, Any]:
    """Header and samples of an archive; if the run was cut short, those of its journal."""
    archive = Archive(file, INSPECT_LOG, limit)
    header = archive.members("header.json") or archive.members("_journal/start.json")
    if not header:
        raise unexpected_content(file, INSPECT_LOG, "an archive without header.json")
    members = archive.members("summaries.json") or archive.members("_journal/summaries/")
    head, *parts = archive.read(*header, *members)
    log: dict[str, Any] = parse_json(file, head, INSPECT_LOG)
    samples = [sample for part in parts for sample in parse_json(file, part, INSPECT_LOG)]
    if log.get("invalidated"):
        # Summaries do not say which samples are invalid; the samples themselves do.
        whole = _samples_by_key(file, archive)
        samples = [
            {**sample, "invalidation": whole.get(_sample_key(sample), {}).get("invalidation")}
            for sample in samples
        ]
    return {**log, "samples": samples}


def whole_samples(file: Path, limit: int, summaries: Iterable[Sample]) -> list[Sample]:
    """The whole samples of an archive, in the order of their summaries."""
    whole = _samples_by_key(file, Archive(file, INSPECT_LOG, limit))
    return [whole.get(_sample_key(summary), summary) for summary in summaries]


def _samples_by_key(file: Path, archive: Archive) -> dict[tuple[object, object], Sample]:
    """The samples of an archive by id and epoch, without what no table needs."""
    samples: dict[tuple[object, object], Sample] = {}
    for member in archive.members("samples/"):
        (text,) = archive.read(member)
        sample = parse_json(file, text, INSPECT_LOG, slim_sample)
        samples[_sample_key(sample)] = sample
    return samples


def _sample_key(sample: Sample) -> tuple[object, object]:
    """Id and epoch of a sample."""
    return sample["id"], sample["epoch"]


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
