"""Size of the package and paths through it, the same way each time: `python -m tests.measure`.

Code lines are lines with code that are neither docstring, comment, blank nor import. A path is a
warm call of a public method: the files of the package that it enters, and how often it changes from
one of them to another, returns counted.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import polars_scorio as ps
from tests.documents import ROOT, syntax_nodes
from tests.golden.logs import made_log

PACKAGE = ROOT / "polars_scorio"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONG = 40  # lines of the body of a function
LOG = made_log(3, 40, 4, 0)
CALLS: dict[str, Callable[[], object]] = {
    "report": lambda: LOG.scorio.report(ps.pass_at_k(2)),
    "compare": lambda: LOG.scorio.compare(ps.pass_at_k(2)),
    "rank": LOG.scorio.rank,
    "gate": lambda: LOG.scorio.gate("m0", margin=0.1),
}
# What a feature is called in code: the fewer files name it, the cheaper are its changes.
FEATURES = ("judge", "cost", "reward", "cluster", "vote", "run", "planned")
# Between these a report should not go to and fro: what one needs of another is data.
CHATTY = re.compile(r"(study/request|counting/categories|counting/log|metrics/.*)\.py")


class Walk(NamedTuple):
    """Files of the package that a call enters, in the order of the changes between them."""

    files: set[str]
    steps: list[str]

    @property
    def changes(self) -> int:
        """Changes from one file to another."""
        return len(self.steps)

    @property
    def chatter(self) -> int:
        """Changes between files of `CHATTY`."""
        return sum(all(map(CHATTY.fullmatch, pair)) for pair in pairwise(self.steps))


def code_lines(path: Path) -> int:
    """Lines of a module with code, without docstrings, comments, blank lines and imports."""
    text = path.read_text(encoding="utf-8")
    left_out, code = set[int](), set[int]()
    for node in syntax_nodes(path):
        words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if (words and isinstance(node.value.value, str)) or isinstance(
            node, ast.Import | ast.ImportFrom
        ):
            left_out |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    blank = {
        *(tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
        tokenize.COMMENT,
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in blank:
            code |= {*range(token.start[0], token.end[0] + 1)}
    return len(code - left_out)


def function_lengths(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of the body of each function of a module, with its name."""
    for node in syntax_nodes(path):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                yield (body[-1].end_lineno or 0) - body[0].lineno + 1, node.name


BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.match_case),
    *(ast.BoolOp, ast.comprehension),
)


def branches(path: Path, name: str) -> int:
    """Branches of the functions of a name in a module, each condition and filter counted."""
    functions = [
        node
        for node in syntax_nodes(path)
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    found = [each for node in functions for each in ast.walk(node) if isinstance(each, BRANCHES)]
    beside = (
        len(getattr(each, "values", ())) - 2 for each in found if isinstance(each, ast.BoolOp)
    )
    filters = (len(each.ifs) - 1 for each in found if isinstance(each, ast.comprehension))
    return len(found) + sum(beside) + sum(filters)


def files_that_name(feature: str) -> int:
    """Modules whose code has a feature in a name or an option; `run` is a whole word."""
    word = re.compile(rf"\b{feature}s?(_\w+)?\b" if feature == "run" else feature)
    return sum(bool(word.search(path.read_text(encoding="utf-8"))) for path in MODULES)


def walked(call: Callable[[], object]) -> Walk:
    """The path of a warm call through the package."""
    package, found = str(PACKAGE), Walk(set(), [])

    def caller_of(frame: FrameType | None) -> str:
        while frame and not frame.f_code.co_filename.startswith(package):
            frame = frame.f_back
        return frame.f_code.co_filename if frame else ""

    def profile(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event not in {"call", "return"} or not file.startswith(package):
            return
        here = file if event == "call" else caller_of(frame.f_back)
        if event == "call":
            found.files.add(file)
        name = here.removeprefix(f"{package}/")
        if here and found.steps[-1:] != [name]:
            found.steps.append(name)

    call()  # imports, and what is kept between calls
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Print what the budgets of the package are about."""
    rooms = Counter[str]()
    for path in MODULES:
        rooms[path.relative_to(PACKAGE).parts[0].removesuffix(".py")] += code_lines(path)
    for room, lines in sorted(rooms.items()):
        print(f"{room:16} {lines:7,}")
    lengths = sorted((each for path in MODULES for each in function_lengths(path)), reverse=True)
    long = sum(lines > LONG for lines, _ in lengths)
    print(f"{'code lines':16} {rooms.total():7,}  files {len(MODULES)}  long functions {long}")
    print("longest:", ", ".join(f"{name} {lines}" for lines, name in lengths[:8]))
    for name, call in CALLS.items():
        path = walked(call)
        counts = f"files {len(path.files)}  changes of file {path.changes:,}"
        print(
            f"{name:16} {counts}  of these between request, categories, log, metrics {path.chatter}"
        )
    print("files that name:", ", ".join(f"{each} {files_that_name(each)}" for each in FEATURES))


if __name__ == "__main__":
    main()
