"""Docstrings in numpydoc's form as Markdown that reads well where a repository is hosted."""

import re
from collections.abc import Callable, Iterable
from inspect import Parameter, cleandoc, isfunction, signature
from textwrap import dedent, fill, indent

from polars_scorio.signatures import sections_of

WIDTH = 96  # of a signature, which GitHub does not wrap
LISTS = {"Parameters", "Attributes", "Returns", "Raises", "Warns"}
# What is no prose: code of either kind, and emphasis.
SPANS = re.compile(r"(``.+?``|`[^`]+`|(?<!\S)\*\S(?:[^*]*\S)?\*(?=[\s,.:;)]|$))", re.DOTALL)


def called(name: str, function: Callable[..., object]) -> str:
    """How a function is called: its parameters and their defaults, whose types are listed below."""
    given = [p for p in signature(function).parameters.values() if p.name != "self"]
    words, starred = [], False
    for each in given:
        starred = starred or each.kind is each.VAR_POSITIONAL
        if each.kind is each.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        words.append(bare(each))
    line = f"{name}({', '.join(words)})"
    if len(line) <= WIDTH:
        return line
    glued = ", ".join(word.replace(" ", "\0") for word in words)
    inner = fill(glued, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return f"{name}(\n{indent(inner, '    ')},\n)".replace("\0", " ")


def bare(parameter: Parameter) -> str:
    """A parameter without its type; a function that is a default by its name."""
    if isfunction(parameter.default):
        return f"{parameter.name}=ps.{parameter.default.__name__}"
    return str(parameter.replace(annotation=parameter.empty)).replace("'", '"')


def as_markdown(doc: str) -> str:
    """A docstring: its text, then each section under its title."""
    head, sections = sections_of(doc)
    titled = [f"**{title}**\n\n{section(title, body)}" for title, body in sections.items()]
    return "\n\n".join([prose(head), *titled])


def section(title: str, body: str) -> str:
    """The body of a section: a list of what is named, or prose."""
    if title not in LISTS:
        return prose(body)
    parameters = title in {"Parameters", "Attributes"}
    return "\n".join(item(entry, parameters) for entry in re.split(r"\n(?=\S)", body))


def item(entry: str, parameter: bool) -> str:
    """A named thing, its type, and what is said of it, as an item of a list."""
    named, _, text = entry.partition("\n")
    name, colon, kind = named.partition(" : ")
    said = prose(dedent(text))
    name = f"`{name}`" if colon or parameter else name
    name = f"{name} ({inline(kind)})" if colon else name
    return "- " + indent(f"{name}: {said}" if said else name, "  ").lstrip()


def prose(text: str) -> str:
    """Paragraphs, with examples, tables and references among them."""
    blocks = re.split(r"\n\s*\n", cleandoc(text)) if text.strip() else []
    return "\n\n".join(merged(block_of(block) for block in blocks))


def merged(blocks: Iterable[str]) -> list[str]:
    """Examples that follow each other, in one block of code."""
    found: list[str] = []
    for block in blocks:
        if found and block.startswith("```pycon") and found[-1].startswith("```pycon"):
            found[-1] = found[-1][:-3] + "\n" + block.removeprefix("```pycon\n")
        else:
            found.append(block)
    return found


def block_of(block: str) -> str:
    """A paragraph of a docstring."""
    if block.startswith(">>>"):
        return f"```pycon\n{re.sub(r' *# doctest: .*|<BLANKLINE>', '', block)}\n```"
    if block.startswith("===="):
        return table(block.splitlines())
    if block.startswith(".. ["):
        return inline(re.sub(r"^\.\. (\[\d+\])", r"- \1", block, flags=re.MULTILINE))
    return re.sub(r"^([-+#>]|\d+\.)(?= )", r"\\\1", inline(block), flags=re.MULTILINE)


def inline(text: str) -> str:
    """Words, with what Markdown would take for something else escaped."""
    spans = SPANS.split(text)
    spans[::2] = [
        re.sub(r"(\[\d+\])_", r"\1", span).replace("<", "\\<").replace("*", "\\*")
        for span in spans[::2]
    ]
    return "".join(re.sub(r"^``(.+)``$", r"`\1`", span, flags=re.DOTALL) for span in spans)


def table(lines: list[str]) -> str:
    """A table of two columns; a cell alone, or after a comma, continues the row before."""
    start = lines[0].index(" =") + 1
    rows: list[list[str]] = []
    for line in lines[1:-1]:
        cells = [line[:start].strip(), line[start:].strip()]
        if rows and (not all(cells) or rows[-1][0].endswith(",")):
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    shown = [" | ".join(inline(cell).replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(["| | |", "|---|---|", *(f"| {row} |" for row in shown)])
