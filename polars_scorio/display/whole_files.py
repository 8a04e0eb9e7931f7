"""Write a file whole: until the new text is on the disk, the old file stays as it is."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def refuse_missing_folder(path: Path) -> None:
    """Refuse a path whose folder does not exist, before any work is done for it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} for the file {path.name!r}: make it")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")


def write_whole(path: Path, text: str | bytes) -> None:
    """Write bytes or text (UTF-8), or leave what was there; an OSError has `path` as `filename`.

    The text goes to a temporary file in the folder, which replaces the old one once it is on the
    disk. Links and permissions are kept; devices and pipes are written directly, not replaced.
    """
    content = text.encode() if isinstance(text, str) else text
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace_file(target, content)
    except OSError as error:
        # What a full disk raises has no file name, or that of the temporary file.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace_file(target: Path, content: bytes) -> None:
    """Write a temporary file beside the target, and move it into its place."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
