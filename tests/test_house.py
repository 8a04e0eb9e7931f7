"""Budgets of the package: each number may fall in a commit, and none rises.

A report that runs through few files is one that a stranger can follow. `python -m tests.measure`
prints what is counted; a feature that needs room makes it first. `git blame` has the commit that
set a number.
"""

import ast
import re
from collections import Counter
from typing import Any

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.arguments import CONFIDENCE
from polars_scorio.counting.checks import WholePlan
from tests.documents import ROOT, syntax_nodes
from tests.golden.logs import made_log
from tests.measure import (
    CALLS,
    FEATURES,
    LONG,
    MODULES,
    PACKAGE,
    branches,
    code_lines,
    files_that_name,
    function_lengths,
    walked,
)
from tests.test_layout import imported_modules

MOST_FILES = 182
MOST_CODE_LINES = 30_511
MOST_LONG_FUNCTIONS = 0
MOST_BRANCHES = 10
# Files, changes of file, and those between the request, the categories, the log and the metrics.
PATHS = {
    "report": (32, 419, 10),
    "compare": (37, 707, 8),
    "rank": (36, 811, 8),
    "gate": (40, 804, 8),
}
# Files that name a feature.
NAMED = {
    "judge": 57,
    "cost": 52,
    "reward": 65,
    "cluster": 49,
    "vote": 15,
    "run": 89,
    "planned": 52,
}
MOST_LINES_OF_A_FILE = 900
WORDS_OF_A_BULLET, BULLETS_OF_A_VERSION = 25, 25  # of the changelog
FEWEST_LINES, FEWEST_IMPORTERS = 150, 2
LONELY = {
    "counting/engine_frames.py",
    "counting/label_sample.py",
}


def test_the_package_keeps_within_its_budget():
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES]
    assert len(MODULES) <= MOST_FILES
    assert sum(map(code_lines, MODULES)) <= MOST_CODE_LINES
    assert max(lines) <= MOST_LINES_OF_A_FILE


def test_few_functions_are_long():
    lengths = [lines for path in MODULES for lines, _ in function_lengths(path)]
    assert sum(lines > LONG for lines in lengths) <= MOST_LONG_FUNCTIONS


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("decisions/gate.py", "gate"),
        ("decisions/models.py", "models_of"),
        ("study/log_checks.py", "from_log"),
    ],
)
def test_the_doors_of_decisions_and_checks_have_few_branches(file, name):
    assert 0 < branches(PACKAGE / file, name) <= MOST_BRANCHES


@pytest.mark.parametrize("name", CALLS)
def test_a_call_runs_through_few_files(name):
    files, changes, chatter = PATHS[name]
    found = walked(CALLS[name])
    assert len(found.files) <= files
    assert found.changes <= changes
    assert found.chatter <= chatter


@pytest.mark.parametrize("feature", FEATURES)
def test_few_files_name_a_feature(feature):
    assert files_that_name(feature) <= NAMED[feature]


def test_a_small_module_has_several_importers():
    """One of fewer than 150 lines with one importer is a part of that one; none may be added."""
    modules = [path for path in MODULES if not path.name.startswith("__")]
    importers = Counter(
        imported for path in MODULES for imported in imported_modules(path) if imported != path
    )
    lonely = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules
        if importers[path] < FEWEST_IMPORTERS
        and len(path.read_text(encoding="utf-8").splitlines()) < FEWEST_LINES
        and path.parent.name not in {"logs", "command_line"}  # a file for each tool, and command
    }
    assert lonely <= LONELY


# What lists the rows of a group, as frames do: structs of numbers, words and their lists.
LISTS = {
    ":partial",
    ":questions",
    ":problems",
    ":results",
    ":rows",
    ":states",
}


@pytest.mark.parametrize("method", ["report", "compare", "rank", "gate", "trials_needed"])
@pytest.mark.parametrize("options", [{}, {"by": "domain"}, {"cost": "usd"}, {"run": "trial"}])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_hidden_column_carries_more_than_numbers(method, options, monkeypatch):
    """Of all frames between the steps of a plan: an object would hide what they depend on."""
    seen = dict[str, pl.DataType]()

    def applied(plan: WholePlan, made: Any) -> Any:
        for step in plan.steps:
            seen.update(made.schema if isinstance(made, pl.DataFrame) else {})
            made = step(made)
        return made

    monkeypatch.setattr(WholePlan, "_apply", applied)
    log = made_log(3, 20, 4, 0).with_columns(domain=pl.col("question").hash() % 2, usd=pl.lit(0.1))
    gate = {"baseline": "m0", "margin": 0.1} if method == "gate" else {}
    getattr(log.scorio(**options), method)(*[ps.pass_at_k(2)] * (method == "report"), **gate)
    hidden = {name: dtype for name, dtype in seen.items() if name.startswith(":")}
    assert hidden
    assert {name for name, dtype in hidden.items() if dtype.is_nested()} <= LISTS
    assert not any(dtype.is_object() for dtype in seen.values())


def test_a_kind_of_metric_law_or_subject_is_asked_for_in_its_own_room_alone():
    """Others ask it a question: a new kind then needs no branch elsewhere."""
    classes = [
        (node.name, path.parent, {base.id for base in node.bases if isinstance(base, ast.Name)})
        for path in MODULES
        for node in syntax_nodes(path)
        if isinstance(node, ast.ClassDef)
    ]
    kinds = {"Metric", "Law", "Inference", "Subject", "ComparedSide"}
    for _ in range(4):  # generations
        kinds |= {name for name, _, bases in classes if bases & kinds}
    rooms = {name: room for name, room, _ in classes if name in kinds - {"Metric"}}
    strangers = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {ast.unparse(node)}"
        for path in MODULES
        for node in syntax_nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "isinstance"
        for kind in ast.walk(node.args[1])
        if isinstance(kind, ast.Name) and rooms.get(kind.id, path.parent) != path.parent
    ]
    assert strangers == []


def test_the_usual_confidence_is_written_once():
    written = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        for node in syntax_nodes(path)
        if isinstance(node, ast.Constant) and node.value == CONFIDENCE
    ]
    assert len(written) == 1, f"take CONFIDENCE: {written}"


def test_the_changelog_has_short_bullets_and_few():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in text.split("\n## ")[1:]:
        bullets = re.findall(r"^- .*(?:\n  [^|\n].*)*", version, flags=re.MULTILINE)
        long = [bullet for bullet in bullets if len(bullet.split()) - 1 > WORDS_OF_A_BULLET]
        assert long == [], "say it shorter; what was measured stands in examples/validation"
        assert len(bullets) <= BULLETS_OF_A_VERSION, "join bullets about one thing"
