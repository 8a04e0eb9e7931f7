"""Large JSON files, read piece by piece; fields that no table needs are dropped at once."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TextIO

from polars_scorio.logs.compressed_files import DAMAGE, open_plain
from polars_scorio.logs.json_files import (
    RepeatedKeyError,
    read_json,
    single_keys,
    unexpected_content,
)

_CHUNK = 1 << 20  # characters
_BLANKS = re.compile(r"[ \t\n\r]*")


def read_slim_json(file: Path, expected: str, array: str, left_out: Collection[str]) -> Any:
    """The content of a JSON file, without some fields of the objects in one of its arrays.

    The objects of the array are parsed one after the other, so that no more than one of them is in
    memory as a whole. A file that is no such object is parsed at once, which also says what is
    wrong with it.

    Parameters
    ----------
    file : Path
        The file.
    expected : str
        What it should be, for errors.
    array : str
        The field of the outermost object that has the array.
    left_out : collection of str
        The fields of the objects in the array that are left out.

    Returns
    -------
    object
        The JSON value.

    Raises
    ------
    ValueError
        If the file is no JSON.
    """
    try:
        with open_plain(file) as source:
            window = _Window(io.TextIOWrapper(source, encoding="utf-8"))
            return single_keys([*_slim_members(window, array, left_out)])
    except RepeatedKeyError as error:
        raise unexpected_content(file, expected, str(error)) from None
    except (ValueError, RecursionError, *DAMAGE):
        return read_json(file, expected)


class _Window:
    """The part of a text that is being parsed; it grows as values need it.

    Parameters
    ----------
    source : TextIO
        The text.
    """

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._decode = json.JSONDecoder(object_pairs_hook=single_keys).raw_decode
        self._text, self._place, self._largest = "", 0, _CHUNK

    def take_character(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            self._place = _blank_end(self._text, self._place)
            if self._place < len(self._text):
                self._place += 1
                return self._text[self._place - 1]
            if not self._grow():
                return ""

    def put_back(self) -> None:
        """Put the last character back."""
        self._place -= 1

    def take_value(self) -> Any:
        """The next value."""
        if self.take_character():
            self.put_back()
        # Text for the largest value so far: parsing half a value would be repeated from its start.
        while len(self._text) - self._place <= self._largest and self._grow():
            pass
        while True:
            try:
                value, end = self._decode(self._text, self._place)
            except RepeatedKeyError:
                raise
            except ValueError:
                if not self._grow():
                    raise
                continue
            if end < len(self._text) or not self._grow():  # the end may cut a number
                self._largest = max(self._largest, end - self._place)
                self._place = end
                return value

    def _grow(self) -> bool:
        """Read as much again as is left; False at the end of the text."""
        rest = self._text[self._place :]
        further = self._source.read(max(_CHUNK, len(rest)))
        self._text, self._place = rest + further, 0
        return bool(further)


def _blank_end(text: str, place: int) -> int:
    """The first place from here on that is not blank."""
    blanks = _BLANKS.match(text, place)
    return place if blanks is None else blanks.end()


def _slim_members(
    window: _Window, array: str, left_out: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """The fields of an object and their values."""
    for _ in _part_places(window, "{", "}"):
        name = window.take_value()
        _expect_character(window, ":")
        if name == array and window.take_character() == "[":
            window.put_back()
            yield name, [*_slim_objects(window, left_out)]
        else:
            if name == array:
                window.put_back()
            yield name, window.take_value()
    if window.take_character():
        raise ValueError("more than one value")


def _slim_objects(window: _Window, left_out: Collection[str]) -> Iterator[Any]:
    """The values of an array, its objects without some fields."""
    for _ in _part_places(window, "[", "]"):
        value = window.take_value()
        if isinstance(value, dict):
            value = {name: part for name, part in value.items() if name not in left_out}
        yield value


def _part_places(window: _Window, opening: str, closing: str) -> Iterator[None]:
    """Yield at the start of each member of an object or array; the caller takes the member."""
    _expect_character(window, opening)
    if window.take_character() == closing:
        return
    window.put_back()
    while True:
        yield
        character = window.take_character()
        if character == closing:
            return
        if character != ",":
            raise ValueError(f"{character!r} where a comma is needed")


def _expect_character(window: _Window, character: str) -> None:
    """Take a character, which must be the next one."""
    if window.take_character() != character:
        raise ValueError(f"no {character!r}")
