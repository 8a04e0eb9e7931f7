"""The layout of the package: rules that a reader may rely on to find one thing in one place."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.documents import ROOT, syntax_nodes, syntax_tree

PACKAGE = ROOT / "polars_scorio"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if not path.name.startswith("__")]
FOLDERS = sorted({path.parent for path in MODULES})

# A room imports the rooms on its line and on the lines above.
FLOORS = [
    {"maths"},
    {"arguments", "signatures"},
    {"counting", "sql"},
    {"metrics", "rubrics"},
    {"subjects", "arrays"},
    {"study"},
    {"decisions"},
    {"display"},
    {"accessors"},
    {"logs", "testing"},
    {"command_line"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
LONGEST_MODULE = 900  # lines: a module is one idea, whatever its length below this
# Words that say nothing about a value, as the name of which they are too little.
VAGUE_NAMES = {
    *("told", "ahead", "around", "outweighed", "nothing", "doubts", "more", "look", "found", "own"),
    *("shown", "seen", "others"),
}
# A method may begin with its question: "Which of two models is better?"
PRONOUN = re.compile(r"(Those|The same|That|What|Where|Whose|Who)\b|Which\b(?!.*\?)")


def relative_name(path: Path) -> str:
    """Name of a file or folder, from the package on: `maths/draws`."""
    return path.relative_to(PACKAGE).as_posix().removesuffix(".py")


@cache
def imported_modules(path: Path) -> set[Path]:
    """Modules of the package that a module imports anywhere, inside functions too."""
    names = set[str]()
    for node in syntax_nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    paths = {ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in names}
    return paths.intersection(MODULES)


def room_of(path: Path) -> str:
    """First part of a module's name: its room, or the name of a module outside all rooms."""
    return relative_name(path).split("/")[0]


def module_functions(path: Path) -> Iterator[str]:
    """Names of the functions of a module, without methods and nested functions."""
    for node in syntax_tree(path).body:
        if isinstance(node, ast.FunctionDef) and not overloaded(node):
            yield node.name


def overloaded(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).endswith("overload") for each in function.decorator_list)


def repeated(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def part_of(path: Path, folder: Path) -> Path:
    """The file or subfolder directly in a folder that is or holds a module."""
    return folder / path.relative_to(folder).parts[0]


def classes(path: Path) -> Iterator[ast.ClassDef]:
    return (node for node in syntax_nodes(path) if isinstance(node, ast.ClassDef))


def docstrings(path: Path) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in syntax_nodes(path):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield text


def test_no_two_modules_have_the_same_name():
    assert repeated(path.stem for path in MODULES) == set()


def test_a_module_imports_no_room_above_its_own_floor():
    above = {
        (relative_name(path), relative_name(imported))
        for path in MODULES
        for imported in imported_modules(path)
        if FLOOR_OF[room_of(imported)] > FLOOR_OF[room_of(path)]
    }
    assert above == set()


def test_the_core_imports_nothing_around_it_before_it_is_used():
    """So that each part around the core can be deleted, and the core stands alone: `.ci/core`."""
    around = {"logs", "command_line", "display", "rubrics", "sql"}
    subjects = {f"subjects/{name}" for name in ("of_costs", "of_verdicts")}
    outside = {
        path for path in MODULES if room_of(path) in around or relative_name(path) in subjects
    }
    found = {
        (relative_name(path), node.module)
        for path in {*MODULES} - outside
        for node in syntax_tree(path).body
        if isinstance(node, ast.ImportFrom) and node.module
        if ROOT.joinpath(*node.module.split(".")).with_suffix(".py") in outside
        or node.module.removeprefix("polars_scorio.") in around
    }
    assert found == set()


@pytest.mark.parametrize("folder", FOLDERS, ids=relative_name)
def test_the_parts_of_a_folder_do_not_import_each_other_in_a_circle(folder):
    graph = defaultdict(set)
    for path in MODULES:
        if path.is_relative_to(folder):
            inside = {each for each in imported_modules(path) if each.is_relative_to(folder)}
            part = part_of(path, folder)
            graph[part] |= {part_of(each, folder) for each in inside} - {part}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(relative_name(part) for part in error.args[1]))


@pytest.mark.parametrize("folder", FOLDERS, ids=relative_name)
def test_no_two_modules_of_a_folder_define_a_function_of_the_same_name(folder):
    modules = [path for path in MODULES if path.parent == folder]
    names = repeated(name for path in modules for name in module_functions(path))
    assert names == set()


def test_no_two_classes_have_the_same_name():
    names = repeated(each.name.lstrip("_") for path in MODULES for each in classes(path))
    assert names == set()


def test_a_constructor_is_named_for_what_it_reads():
    """`Unit.from_rows`, not `Unit.of`: a search for it finds one thing."""
    vague = {
        (relative_name(path), each.name, method.name)
        for path in MODULES
        for each in classes(path)
        for method in each.body
        if isinstance(method, ast.FunctionDef) and re.match(r"of(_|$)", method.name)
        if any(ast.unparse(how) == "classmethod" for how in method.decorator_list)
    }
    assert vague == set()


def test_a_private_function_has_a_name_of_two_words():
    short = {
        (relative_name(path), name)
        for path in MODULES
        for name in module_functions(path)
        if re.fullmatch(r"_+[^_]+", name)
    }
    assert short == set()


def test_a_docstring_begins_with_its_subject():
    vague = {
        (relative_name(path), text.splitlines()[0])
        for path in MODULES
        for text in docstrings(path)
        if PRONOUN.match(text)
    }
    assert vague == set()


def given_names(path: Path) -> Iterator[str]:
    """Names that a module gives: of variables, arguments, attributes, functions, and classes."""
    for node in syntax_nodes(path):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def test_a_name_says_what_its_value_is():
    vague = {
        (relative_name(path), name)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in given_names(path)
        if name.strip("_").lower() in VAGUE_NAMES
    }
    assert vague == set()


def test_a_price_is_an_amount_of_money():
    # A variance is called variance or noise: pages of costs stand beside it.
    of_money = ("display/facts/role_facts", "display/story")
    priced = {
        (relative_name(path), name)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in [path.stem, *given_names(path)]
        if "price" in name.lower() and relative_name(path) not in of_money
    }
    assert priced == set()


def test_a_module_is_not_longer_than_one_idea():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    long = {relative_name(path) for path, count in lines.items() if count > LONGEST_MODULE}
    assert long == set()


def test_contributors_find_every_room_on_the_map():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^- (`.*?`)(?: \(.*?\))?:", text, flags=re.MULTILINE)
    rooms = [room for line in lines for room in re.findall(r"`(\w+)(?:/|\.py)`", line)]
    assert {*rooms} == {*FLOOR_OF}
    floors = [FLOOR_OF[room] for room in rooms]
    assert floors == sorted(floors)


def test_only_tests_of_real_logs_and_boards_look_beside_the_repository():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    beside = {path.name for path, text in texts.items() if re.search(r'/ ["]shared" /', text)}
    assert beside == {"test_read.py", "test_real_logs.py", "test_findings.py"}
