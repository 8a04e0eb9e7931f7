"""Names, numbers of things and lists as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LISTED = 5  # names in a sentence
_NAME = 60  # characters of a name in a sentence
# Characters that command a terminal, reverse the direction of a text, or break XML or JavaScript:
# C0 and C1 but for tab and newline, separators of lines, marks of direction, and no characters.
HIDDEN = {
    chr(code): f"(U+{code:04X})"
    for first, last in (
        *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200E, 0x200F)),
        *((0x2028, 0x202E), (0x2066, 0x2069), (0xFFFE, 0xFFFF)),
    )
    for code in range(first, last + 1)
}
_SURROGATE = {chr(code): f"(U+{code:04X})" for code in range(0xD800, 0xE000)}  # of broken paths
_VISIBLE = str.maketrans(HIDDEN | _SURROGATE)


def visible_text(text: str) -> str:
    r"""Text with the codes of characters that are not seen but do things; it may have lines.

    >>> visible_text("safe\u202e5-tpg\x1b[2J")
    'safe(U+202E)5-tpg(U+001B)[2J'
    """
    return text.translate(_VISIBLE)


def count_of(number: int, unit: str) -> str:
    """A number of things.

    >>> count_of(1, "trial"), count_of(2500, "trial")
    ('1 trial', '2,500 trials')
    """
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def range_text(least: int, most: int) -> str:
    """A range of numbers.

    >>> range_text(3, 3), range_text(3, 8)
    ('3', '3 to 8')
    """
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def short_name(name: object, most: int = _NAME) -> str:
    """A name on one line without hidden characters, and if it is long without its middle.

    >>> short_name("organisation/model-with-a-name-7b", 16)
    'organisa…name-7b'
    """
    text = visible_text(str(name)).replace("\n", "(U+000A)")
    kept = most - 1
    if len(text) <= most:
        return text
    return f"{text[: kept - kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[-(kept // 2) :]}"


def name_list(names: Iterable[object], most: int = _LISTED) -> str:
    """Names in a sentence, of many the first ones.

    >>> name_list(["a", "b", "c"]), name_list(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    return text_list([*map(short_name, names)], most)


def number_list(pairs: Iterable[tuple[str, int]]) -> str:
    """Names with a number each, in a sentence.

    >>> number_list([("ada", 2), ("bob", 1)])
    'ada: 2 and bob: 1'
    """
    return text_list([f"{short_name(name)}: {number:,}" for name, number in pairs])


def text_list(texts: Sequence[str], most: int = _LISTED) -> str:
    """Texts in a sentence, of many the first ones.

    >>> text_list(["ada (2)", "bob (1)"])
    'ada (2) and bob (1)'
    """
    shown = [*texts[:most]]
    if len(texts) > most:
        shown.append(f"{len(texts) - most:,} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
