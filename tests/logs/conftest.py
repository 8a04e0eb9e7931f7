"""A test module test_<name>.py gets the recipe examples/logs/<name>.py."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

# It imports inspect_ai, which only one test needs.
collect_ignore = ["inspect_run.py"]

LOGS = Path(__file__).parents[2] / "examples" / "logs"


def loaded(name: str) -> ModuleType:
    """The recipe of a name."""
    specification = importlib.util.spec_from_file_location(f"recipes.{name}", LOGS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    # What a script finds beside itself; no longer than needed, for trl.py and the like are there.
    sys.path.insert(0, str(LOGS))
    try:
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(LOGS))
    return module


@pytest.fixture
def recipe(request: pytest.FixtureRequest) -> ModuleType:
    """The recipe that a test module is about."""
    return loaded(request.module.__name__.rpartition(".test_")[2])


@pytest.fixture
def printed(recipe, monkeypatch, capsys):
    """What a recipe prints for the arguments of its command line."""

    def run(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["recipe", *map(str, arguments)])
        recipe.main()
        return capsys.readouterr().out

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file below the folder of the test: an object as JSON, several as JSON lines."""

    def written(name: str, *objects: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(json.dumps(line) for line in objects) + "\n", encoding="utf-8")
        return path

    return written
