"""Facts know no sentence, words know no frame, and all media begin with the same title."""

import ast
import html
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from polars_scorio.display.blocks import Account
from polars_scorio.display.words import gate_words, ranking_words
from tests.display.test_captures import KINDS, file_of
from tests.test_layout import MODULES, imported_modules, relative_name, syntax_tree

ROOMS = ("display/facts", "display/words", "display/media")
TITLED = [name for name, (_, command, _) in KINDS.items() if command in {"report", "gate"}]
STORIES = [ranking_words.tell_ranking, ranking_words.tell_divided, ranking_words.tell_one_model,
           ranking_words.tell_pairs, gate_words.tell_gate]  # fmt: skip


def modules_of(room: str) -> list[Path]:
    return [path for path in MODULES if relative_name(path).startswith(f"{room}/")]


def sentences(path: Path) -> Iterator[str]:
    """Strings of three words or more and a full stop, without docstrings."""
    nodes = list(ast.walk(syntax_tree(path)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            words = re.findall(r"[A-Za-z]{2,}", node.value)
            if len(words) > 2 and node.value.rstrip().endswith("."):
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


def test_facts_hold_no_sentence():
    modules = modules_of("display/facts")
    assert modules
    assert {relative_name(path): list(sentences(path)) for path in modules} == {
        relative_name(path): [] for path in modules
    }


def test_the_test_of_sentences_finds_those_of_words():
    (path,) = [each for each in modules_of("display/words") if each.stem == "gate_words"]
    assert len(list(sentences(path))) > 3


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_story_is_a_function_of_the_facts_alone(story):
    signature = inspect.signature(story, eval_str=True)
    (facts,) = signature.parameters.values()
    assert facts.annotation.__module__.startswith("polars_scorio.display.facts.")
    assert signature.return_annotation is Account


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
