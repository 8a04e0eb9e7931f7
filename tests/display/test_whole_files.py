"""Files are written whole, or not at all."""

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from polars_scorio.display import whole_files
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions of POSIX")


def test_a_file_is_written_and_written_again(tmp_path):
    path = tmp_path / "page.html"
    write_whole(path, "first\n")
    write_whole(path, "second, µ\n")
    assert path.read_bytes().decode() == f"second, µ{os.linesep}"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr(
        *((whole_files.os, "fsync") if step == "fsync" else (Path, "replace")), full
    )
    with pytest.raises(OSError, match=r"No space left on device: '.*page\.html'") as raised:
        write_whole(path, "new")
    assert raised.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr(whole_files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "a lone surrogate: \ud800")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@posix
def test_links_and_permissions_are_kept(tmp_path):
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix
def test_a_new_file_has_the_usual_permissions(tmp_path):
    write_whole(tmp_path / "page.html", "new")
    (tmp_path / "usual.html").write_text("new")
    modes = {file.stat().st_mode for file in tmp_path.iterdir()}
    assert len(modes) == 1


@posix
def test_a_device_is_written_and_stays_a_device():
    write_whole(Path(os.devnull), "new")
    assert Path(os.devnull).is_char_device()


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    refuse_missing_folder(tmp_path / "page.html")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere for the file 'a'"):
        refuse_missing_folder(tmp_path / "nowhere" / "a")
    with pytest.raises(FileNotFoundError, match=r"nowhere.*a'"):
        write_whole(tmp_path / "nowhere" / "a", "new")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: name a file in it"):
        refuse_missing_folder(tmp_path)
