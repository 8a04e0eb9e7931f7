"""Archives of which members are read whole, up to a limit."""

import zipfile

import pytest

from polars_scorio.logs.archives import Archive


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
    with pytest.raises(ValueError, match=r"a\.eval: expected a log, found a damaged archive \("):
        archive.read("header.json")


def test_a_member_that_cannot_be_unpacked_is_refused(path):
    whole = bytearray(path.read_bytes())
    archive = Archive(path, "a log", 10**6)
    start = whole.index(b"parts/1.json") + len("parts/1.json")
    whole[start : start + 4] = b"\xff" * 4
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"a\.eval: expected a log, found a damaged archive \("):
        archive.read("parts/1.json")
