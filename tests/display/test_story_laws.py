"""Facts know no sentence, words know no frame, and all media begin with the same title."""

import ast
import html
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from polars_scorio.counting.roles import Roles
from polars_scorio.display.blocks import Account
from polars_scorio.display.facts.scopes import Scope
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import StoryOptions
from polars_scorio.display.words import answer_words, gate_words, ranking_words, run_words
from tests.display.html.logs import models, new_page
from tests.display.test_captures import KINDS, file_of
from tests.documents import syntax_nodes
from tests.test_layout import MODULES, imported_modules, relative_name

BY_SIZE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
NUMBERS = {"lo", "mid", "hi", "share", "centre", "margin", "numbers"}  # of blocks
FACTS = "polars_scorio.display.facts."
ROOMS = ("display/facts", "display/words", "display/media")
TITLED = [name for name, (_, command, _) in KINDS.items() if command in {"report", "gate"}]
STORIES = [ranking_words.tell_ranking, ranking_words.tell_divided, ranking_words.tell_one_model,
           ranking_words.tell_pairs, gate_words.tell_gate, run_words.tell_run,
           answer_words.tell_frontier, answer_words.tell_reruns, answer_words.tell_regressions,
           answer_words.tell_plan]  # fmt: skip


def modules_of(room: str) -> list[Path]:
    return [path for path in MODULES if relative_name(path).startswith(f"{room}/")]


def sentences(path: Path) -> Iterator[str]:
    """Strings of three words or more and a full stop, but for docstrings, errors and options."""
    nodes = syntax_nodes(path)
    others = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        option = isinstance(node, ast.Call) and ast.unparse(node.func) == "Option"
        if option or isinstance(node, ast.Raise):
            others |= {id(each) for each in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.findall(r"[A-Za-z]{2,}", node.value)
            if len(words) > 2 and node.value.rstrip().endswith(".") and id(node) not in others:
                yield node.value


def parts_of(name: str) -> dict[str, str]:
    """The parts of a capture by their names, with single spaces."""
    text = file_of(name).read_text(encoding="utf-8")
    found = re.findall(r"^=== (.+?)\n(.*?)(?=^=== |\Z)", text, re.DOTALL | re.MULTILINE)
    return dict(found)


def plain(text: str) -> str:
    """Text of a terminal, a page or a file with single spaces."""
    return " ".join(html.unescape(text).split())


def test_facts_have_no_words_and_words_have_no_medium():
    for number, room in enumerate(ROOMS):
        for path in modules_of(room):
            imported = {relative_name(each) for each in imported_modules(path)}
            above = [each for each in imported if each.startswith(ROOMS[number + 1 :])]
            assert above == [], relative_name(path)


def test_words_and_media_know_no_frame():
    """What is so was read before, once."""
    rooms = [path for room in ROOMS[1:] for path in modules_of(room)]
    reading = {
        relative_name(path)
        for path in rooms
        if re.search(r"^import polars\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert reading == set()


def test_media_know_blocks_alone():
    """Neither what is so, nor what is said of it, nor where it comes from."""
    reading = ("display/facts", "display/words", "display/story", "display/page", "decisions",
               "study", "subjects", "counting")  # fmt: skip
    imported = {
        (relative_name(path), relative_name(each))
        for path in modules_of("display/media")
        for each in imported_modules(path)
        if relative_name(each).startswith(reading)
    }
    assert imported == set()


def test_no_room_but_words_holds_a_sentence():
    words = modules_of(ROOMS[1])
    rooms = [path for room in ("display", "command_line") for path in modules_of(room)]
    found = {relative_name(path): [*sentences(path)] for path in rooms if path not in words}
    assert len(found) > 2 * len(words)
    of_help = {"command_line/log_arguments", "command_line/main"}
    assert {path for path, said in found.items() if said} == of_help


def test_a_condition_is_written_as_one():
    """`words if known else ""`, not `words * bool(known)`."""
    found = {
        f"{relative_name(path)}: {ast.unparse(node)}"
        for room in ("display", "command_line")
        for path in modules_of(room)
        for node in syntax_nodes(path)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        if ast.unparse(node.right).startswith("bool(")
    }
    assert found == set()


def test_the_test_of_sentences_finds_those_of_words():
    (path,) = [each for each in modules_of("display/words") if each.stem == "gate_words"]
    assert len(list(sentences(path))) > 3


def compared_numbers(path: Path) -> Iterator[str]:
    """Comparisons by size of what blocks have as numbers, or of names given to one of these."""
    for function in syntax_nodes(path):
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(ast.walk(function))
        given = {
            name.id
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            for name, value in paired(target, node.value)
            if isinstance(name, ast.Name) and reads_number(value, set())
        }
        for node in nodes:
            if isinstance(node, ast.Compare) and any(isinstance(op, BY_SIZE) for op in node.ops):
                sides = [node.left, *node.comparators]
                yield from [ast.unparse(node)] * any(reads_number(each, given) for each in sides)


def paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The names of an assignment with their values."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def reads_number(value: ast.expr, given: set[str]) -> bool:
    """Whether an expression is a number of a block, and not its place in a picture."""
    known = isinstance(value, ast.Attribute) and value.attr in NUMBERS
    return known or (isinstance(value, ast.Name) and value.id in given)


def test_a_medium_chooses_by_role_and_kind_and_never_by_number():
    """Which is best, and what is decided, is said by blocks; places and counts may be compared."""
    found = {relative_name(path): list(compared_numbers(path)) for path in modules_of(ROOMS[2])}
    assert {path: said for path, said in found.items() if said} == {}


def test_a_comparison_of_numbers_is_found(tmp_path):
    text = (
        "def f(row, table):\n    edge, two = table.margin, 2\n    return edge > 0 or row.lo < two\n"
    )
    (tmp_path / "made.py").write_text(text, encoding="utf-8")
    assert list(compared_numbers(tmp_path / "made.py")) == ["edge > 0", "row.lo < two"]


@pytest.mark.parametrize("roles", [{}, {"by": "bench"}])
def test_a_page_asks_each_question_once(roles, monkeypatch):
    asked = Counter[tuple[str, ...]]()

    def counted(name, ask):
        def wrapped(study, given, *rest, **options):
            strata = f"{given.by} {sorted(study.frame.columns)} {study.frame.height}"
            asked[name, strata, str(rest), str(sorted(options.items()))] += 1
            return ask(study, given, *rest, **options)

        return wrapped

    for path in modules_of(ROOMS[0]):
        module = importlib.import_module(f"polars_scorio.{relative_name(path).replace('/', '.')}")
        for name in ("report", "rank", "compare", "best"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    read, scores = [], Scope.question_scores
    monkeypatch.setattr(Scope, "question_scores", lambda scope: read.append(1) or scores(scope))
    log = models(3, strata=2 * bool(roles))
    assert new_page(log, StoryOptions((), Settings()), Roles(**roles)).html()
    assert read == [1]
    assert {name for name, *_ in asked} == {"report", "rank", "compare", "best"}
    assert {*asked.values()} == {1}
    once = Counter(name for name, *_ in asked)
    assert (once["compare"], once["best"]) == (1, 1)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_story_is_a_function_of_the_facts_alone(story):
    signature = inspect.signature(story, eval_str=True)
    (facts,) = signature.parameters.values()
    assert facts.annotation.__module__.startswith(FACTS)
    assert signature.return_annotation is Account


@pytest.mark.parametrize("module", modules_of("display/words"), ids=relative_name)
def test_a_section_is_a_function_of_one_record_of_facts(module):
    words = importlib.import_module(f"polars_scorio.{relative_name(module).replace('/', '.')}")
    for name, section in vars(words).items():
        if re.fullmatch(r"[a-z]\w+_section", name):
            (facts,) = inspect.signature(section, eval_str=True).parameters.values()
            kinds = {*get_args(facts.annotation)} - {type(None)} or {facts.annotation}
            assert all(each.__module__.startswith(FACTS) for each in kinds), name


@pytest.mark.parametrize("name", TITLED)
def test_all_media_have_one_title(name):
    parts = parts_of(name)
    markdown = parts.pop("Markdown", None) or parts.pop("gate.md", "")
    title = re.search(r"^# (.+)$", markdown, re.MULTILINE)
    if title is None:  # refused: the message stands for the title
        assert name == "errors refused"
        return
    said = plain(re.sub(r"\\(?=[^\w\s])", "", title[1])).rstrip(".")
    found = {part: said in plain(text) for part, text in parts.items() if part != "gate.xml"}
    assert found == dict.fromkeys(found, True), said
    if 'failures="0"' not in parts.get("gate.xml", 'failures="0"'):
        assert said in plain(parts["gate.xml"])
