"""Every sentence that the package can print: errors, warnings, words of pages and commands."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.documents import DATA, ROOT, syntax_nodes

MESSAGES = DATA / "messages.txt"
FEWEST_WORDS = 4


def template_of(node: ast.AST) -> str | None:
    """A string as the code has it, with {} for what is filled in; None: it is no string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def sentences_of(path: Path) -> Iterator[str]:
    """The strings of several words of a module, without docstrings and parts of other strings."""
    left_out = {
        id(part)
        for node in syntax_nodes(path)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    left_out |= {id(node.value) for node in syntax_nodes(path) if isinstance(node, ast.Expr)}
    for node in syntax_nodes(path):
        text = None if id(node) in left_out else template_of(node)
        if text is not None and len(text.split()) >= FEWEST_WORDS and "\n" not in text:
            yield text


def printed_sentences() -> list[str]:
    """The sentences of all modules, each once."""
    modules = (ROOT / "polars_scorio").rglob("*.py")
    return sorted({text for path in modules for text in sentences_of(path)})
