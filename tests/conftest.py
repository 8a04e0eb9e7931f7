"""The small logs that many tests use, and the settings of all tests."""

import gc
import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

# One thread of linear algebra and of Polars for each of the test processes: with two they fight for
# the cores. Linear algebra then takes 20 times as long, Polars a tenth longer. Processes inherit
# it; both read it when they are imported, below. `.ci/run` runs tests with two threads, too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl
import pytest
from hypothesis import given, settings, strategies

from tests.core import is_core
from tests.made_logs import long

# A busy machine pauses any example for longer than the default limit of 0.2 s. `.ci/run` names the
# profile "thorough", with the number of examples that is Hypothesis' own default.
settings.register_profile("thorough", deadline=None, max_examples=30)
settings.register_profile("quick", deadline=None, max_examples=6)
settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m core`, import no test of what stands around the core."""
    asked = "core" in config.option.markexpr.split()
    return True if asked and not is_core(collection_path) else None


@given(strategies.none())
def _register_random_states(_: None) -> None:
    """Hypothesis registers the generators of Python and NumPy before its first test."""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the docstrings of the package alone: tests have none."""
    collectors = yield
    return [each for each in collectors if type(each) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector the modules and the tests, which all live to the end.

    Hypothesis asks the collector who refers to the generators that it registers, so it does first.
    """
    gc.disable()
    result = yield
    _register_random_states()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # Hypothesis is called at each collection
    gc.enable()
    return result


@pytest.hookimpl(tryfirst=True)  # before pytest deselects slow tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the core, and as slow all but each nth case that `every(n)` marks."""
    cases = Counter[object]()
    for item in items:
        if is_core(item.path):
            item.add_marker(pytest.mark.core)
        every = item.get_closest_marker("every")
        if every is not None:
            if cases[item.parent, item.originalname] % every.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[item.parent, item.originalname] += 1


@pytest.fixture
def r1() -> pl.DataFrame:
    """Two questions, five binary trials each: the R1 of the published examples."""
    return long([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])


@pytest.fixture
def r2() -> pl.DataFrame:
    """Two questions, five trials in three categories: the R2 of the published examples."""
    return long([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])


@pytest.fixture
def r0() -> pl.DataFrame:
    """Two prior trials of each question of R2."""
    return long([[0, 2], [1, 2]])
