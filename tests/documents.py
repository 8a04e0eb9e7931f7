"""Files that tests read: numbers of the studies, code of the package, and code in the documents."""

import ast
import contextlib
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
TAU_BENCH = DATA / "tau_bench_gpt4o_airline.parquet"


def study_numbers(study: str) -> Any:
    """Inputs and expected results of a study, as `tests/data/README.md` describes them."""
    return json.loads((DATA / f"{study}_vectors.json").read_text(encoding="utf-8"))


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The syntax tree of a module, which is parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def syntax_nodes(path: Path) -> list[ast.AST]:
    """All nodes of the syntax tree of a module."""
    return [*ast.walk(syntax_tree(path))]


def code_blocks(document: Path) -> list[tuple[str, str]]:
    """The language and the text of each block."""
    text = document.read_text(encoding="utf-8")
    return re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)


def check_prints(document: Path, **display: Any) -> None:
    """Run the Python of a document; the text blocks must be what it prints.

    One block after the other, in one namespace and in the working directory. `display` has settings
    of `pl.Config`.
    """
    names: dict[str, object] = {}
    printed = ""
    with pl.Config(**display):
        for language, text in code_blocks(document):
            if language == "python":
                assert printed == "", f"{document.name} does not show what precedes:\n{text}"
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(text, document.name, "exec"), names)  # noqa: S102 - our own text
                printed = output.getvalue()
            elif language == "text":
                assert text == printed, f"{document.name} shows\n{text}\nand prints\n{printed}"
                printed = ""
    assert printed == "", f"{document.name} does not show what it prints last:\n{printed}"
