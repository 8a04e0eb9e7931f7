"""Archives of which members are read whole, up to a limit."""

import zipfile
from contextlib import suppress

import pytest

from polars_scorio.logs.inspect_ai import Archive
from tests.logs.inspect_samples import write_zstd_archive


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("parts/2.json", "b" * 1_000)
        archive.writestr("parts/1.json", "a" * 1_000)
        archive.writestr("header.json", "{}")
    return path


def test_members_are_found_by_their_beginning_and_read_in_the_given_order(path):
    archive = Archive(path, "a log", 2_002)
    assert archive.members("parts/") == ["parts/1.json", "parts/2.json"]
    assert archive.members("nothing") == []
    assert archive.read("header.json", "parts/1.json") == [b"{}", b"a" * 1_000]


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused(path):
    archive = Archive(path, "a log", 1_999)
    with pytest.raises(ValueError, match=r"a\.eval would unpack to 2,000 bytes, more than unpack_"):
        archive.read(*archive.members("parts/"))


def test_files_that_are_no_archive_are_refused(path):
    whole = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"a\.eval is empty: expected a log"):
        Archive(path, "a log", 10**6)
    path.write_bytes(whole[:100])
    with pytest.raises(ValueError, match=r"a\.eval: expected a log, found no whole zip archive"):
        Archive(path, "a log", 10**6)


def test_a_damaged_member_is_refused(path):
    whole = bytearray(path.read_bytes())
    archive = Archive(path, "a log", 10**6)
    start = whole.index(b"header.json") + len("header.json")
    whole[start : start + 2] = b"[]"  # stored, so that only the check sum tells
    path.write_bytes(whole)
    with pytest.raises(
        ValueError, match=r"a\.eval: expected a log, found an archive that cannot be un"
    ):
        archive.read("header.json")


def test_a_member_that_cannot_be_unpacked_is_refused(path):
    whole = bytearray(path.read_bytes())
    archive = Archive(path, "a log", 10**6)
    start = whole.index(b"parts/1.json") + len("parts/1.json")
    whole[start : start + 4] = b"\xff" * 4
    path.write_bytes(whole)
    with pytest.raises(
        ValueError, match=r"a\.eval: expected a log, found an archive that cannot be un"
    ):
        archive.read("parts/1.json")


@pytest.fixture
def zstd(tmp_path):
    path = tmp_path / "zstd.eval"
    members = {"1.json": b"a" * 1_000, "2.json": bytes(range(256)) * 500, "empty.json": b""}
    write_zstd_archive(path, members)
    return path, members


def test_members_that_zstd_has_packed_are_read(zstd):
    path, members = zstd
    assert Archive(path, "a log", 10**6).read(*members) == [*members.values()]
    with pytest.raises(ValueError, match=r"zstd\.eval would unpack to 129,000 bytes"):
        Archive(path, "a log", 128_999).read(*members)


def test_no_damaged_byte_of_a_packed_member_changes_what_is_read(zstd):
    path, members = zstd
    whole = path.read_bytes()
    archive = Archive(path, "a log", 10**6)
    start = whole.index(b"1.json") + len("1.json")
    harmless = 0
    for place in range(start, whole.index(b"PK", start)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        # A bit may be one of the frame that says nothing on what it holds.
        with suppress(ValueError):
            assert archive.read("1.json") == [members["1.json"]]
            harmless += 1
    assert harmless < 5


def test_a_packed_member_of_another_size_is_refused_before_it_is_unpacked_whole(zstd):
    path, members = zstd
    data = bytearray(path.read_bytes())
    sizes = data.rindex(b"2.json") - 22  # in the directory: the size that the limit is held to
    data[sizes : sizes + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"\(size or check sum of '2.json' is wrong"):
        Archive(path, "a log", 10**5).read("2.json")
    assert len(members["2.json"]) > 10


def test_a_compression_that_is_not_known_is_refused(path):
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        directory = archive.start_dir
        header = archive.infolist()[0].header_offset
    data[header + 8] = data[directory + 10] = 97
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"unpacked \(That compression method is not supp"):
        Archive(path, "a log", 10**6).read("parts/2.json")
