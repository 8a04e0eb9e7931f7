"""The examples for other tools; each is skipped if its tool is not installed.

To run all of them, with the extra `inspect`, and `-m ''`:
python -m pip install marimo mlflow-skinny sqlalchemy alembic wandb
"""

import contextlib
import os
import re
import runpy
import sqlite3
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.documents import ROOT

EXAMPLES = ROOT / "examples" / "ecosystem"
MODELS = ["atlas-7b", "borea-13b", "comet-70b", "delta-mini", "ember-large"]
LONGEST = 60  # lines

# No model is called: the answers are right in three of four epochs.
TASK = """
import inspect_hook
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match, scorer
from inspect_ai.solver import solver


@solver
def answered():
    async def solve(state, generate):
        state.output.completion = "3" if state.epoch == 1 else "2"
        state.completed = True
        return state

    return solve


@task
def sums():
    samples = [Sample(input="1 + 1", target="2", id=name) for name in "abcde"]
    return Task(dataset=samples, solver=answered(), scorer=match())
"""


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    return runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()


@pytest.fixture
def folder(log: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the log that the examples read."""
    log.write_parquet(tmp_path / "rollouts.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return tmp_path


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python in the current folder, with the examples on its path."""
    path = os.pathsep.join([str(ROOT), str(EXAMPLES)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(  # noqa: S603
        [sys.executable, *command],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=environment,
    )


def printed(example: str, *arguments: str) -> list[str]:
    """The lines that an example prints."""
    done = run(EXAMPLES / example, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short_and_the_guide_links_it(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST
    linked = (ROOT / "examples" / "guide" / "ecosystem.md").read_text(encoding="utf-8")
    assert f"](../ecosystem/{example.name})" in linked


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_duckdb_keeps_tables_that_a_dashboard_asks():
    duckdb = pytest.importorskip("duckdb")
    lines = printed("duckdb_dashboard.py", "rollouts.parquet", "board.duckdb")
    assert len(lines) == 2 * len(MODELS)
    assert lines[0] == "airline | comet-70b | 76.3 | 71.1 to 80.9 | 1 to 2"
    with duckdb.connect("board.duckdb", read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM report").fetchone() == (20,)


def gate_summary(folder: Path) -> str:
    """The last line of pytest with the example of a gate."""
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    return run(*command, EXAMPLES / "pytest_gate.py").stdout.splitlines()[-1]


@pytest.mark.slow
def test_the_gate_in_pytest_passes_a_better_model(folder):
    assert gate_summary(folder).startswith("4 passed")


@pytest.mark.slow
def test_the_gate_in_pytest_fails_a_worse_model(folder, log):
    swapped = {"atlas-7b": "comet-70b", "comet-70b": "atlas-7b"}
    log.with_columns(pl.col("model").replace(swapped)).write_parquet("rollouts.parquet")
    assert gate_summary(folder).startswith("4 failed")


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_mlflow_keeps_the_numbers_of_each_model(log):
    pytest.importorskip("mlflow")
    pytest.importorskip("alembic")  # the store; without it MLflow can only send to a server
    lines = printed("mlflow_report.py", "rollouts.parquet", "sqlite:///runs.db")
    assert lines == [f"{model}: 30 numbers" for model in MODELS]
    query = "SELECT name, value FROM metrics JOIN runs USING (run_uuid) WHERE key = ?"
    with contextlib.closing(sqlite3.connect("runs.db")) as store:
        kept = dict(store.execute(query, ["retail/avg/estimate"]).fetchall())
    retail = log.filter(domain="retail").group_by("model").agg(pl.col("category").mean())
    assert kept == pytest.approx(dict(retail.rows()))


@pytest.mark.slow
def test_wandb_keeps_a_curve_offline(folder):
    pytest.importorskip("wandb")
    lines = printed("wandb_training.py", str(folder))
    assert [line.split()[0] for line in lines] == ["0", "100", "200", "300", "400"]
    assert all("'lo'" in line for line in lines)
    assert list(folder.glob("wandb/offline-run-*/*.wandb"))


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_the_picture_of_marimo_follows_its_settings():
    pytest.importorskip("marimo")
    pytest.importorskip("altair")
    code = """
import runpy, sys
app = runpy.run_path(sys.argv[1])["app"]
for defined in ({}, {"chosen": "retail", "trials": 2}):
    print(app.run(defs=defined)[1]["picture"].to_json())
"""
    done = run("-c", code, EXAMPLES / "marimo_report.py")
    assert done.returncode == 0, done.stderr
    first, _, second = done.stdout.partition("}\n{")
    assert "Pass^4" in first
    assert "Pass^4" not in second
    assert "Pass^2" in second


@pytest.mark.slow
@pytest.mark.inspect_ai
def test_inspect_writes_a_page_after_a_run(folder):
    pytest.importorskip("inspect_ai")
    Path("sums.py").write_text(TASK, encoding="utf-8")
    command = "eval sums.py --model mockllm/model --epochs 4 --log-dir logs --display none"
    done = run("-m", "inspect_ai", *command.split())
    pages = list(folder.glob("logs/*.html"))
    assert len(pages) == 1, done.stdout + done.stderr
    page = pages[0].read_text(encoding="utf-8")
    assert "mockllm/model gets 75.0 %" in re.sub("<[^>]+>", "", page)
