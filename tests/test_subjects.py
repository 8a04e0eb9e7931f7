"""A subject is a file and a line: without both, whatever does not name it works as before."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.documents import ROOT

# The class of each subject, what is asked of a log, and what is said where the subject is gone.
SUBJECTS = {
    "costs": (
        "CostSums",
        'scorio(cost="value").report(ps.mean_cost())',
        "looks at costs, which nothing",
    ),
    "votes": ("AnswerVotes", 'scorio(answer="value").vote_at_k(2)', "answers, which nothing reads"),
    "verdicts": ("Verdicts", 'scorio(truth="value").avg()', "a judge, whose errors nothing"),
    "rewards": ("RewardSums", 'scorio(category="value").avg()', "that is neither 0 nor 1"),
}
USE = """
import polars as pl
import polars_scorio as ps
log = pl.DataFrame({{"model": "a", "question": [1, 2], "trial": 0, "category": [0, 1]}})
print(log.scorio().report(ps.avg()).height, log.scorio().counts().height)
log.with_columns(value=0.3 * pl.col("question")).{asked}
"""
# Tests of outcomes that name no other subject.
SILENT = (
    *("counting/test_tally.py", "counting/test_refusals.py", "counting/test_engines.py"),
    *("study/test_report.py", "decisions/test_strata.py"),
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """One copy for all subjects, so that Python compiles it once."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in ("polars_scorio", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def without(checkout, request):
    """The checkout without the file and the line of a subject, which are put back."""
    subjects = checkout / "polars_scorio" / "subjects"
    texts = {
        listed: listed.read_text(encoding="utf-8")
        for listed in (subjects / "__init__.py", subjects.parent / "__init__.py")
    }
    kind, file = SUBJECTS[request.param][0], subjects / f"of_{request.param}.py"
    kept = file.rename(checkout / "kept")
    for listed, text in texts.items():
        lines = text.splitlines(keepends=True)
        listed.write_text("".join(line for line in lines if kind not in line), encoding="utf-8")
    yield checkout, request.param
    kept.rename(file)
    for listed, text in texts.items():
        listed.write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("without", SUBJECTS, indirect=True)
def test_a_subject_can_be_deleted_by_its_file_and_its_line(without):
    folder, name = without
    _, asked, said = SUBJECTS[name]

    def run(*command):
        return subprocess.run(  # noqa: S603 - our own code
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            check=False,
        )

    used = run("-c", USE.format(asked=asked))
    assert used.stdout == "1 2\n", used.stderr
    assert said in used.stderr
    files = [f"tests/{file}" for file in SILENT]
    plain = ("-p", "no:xdist", "-p", "no:cacheprovider", "--assert=plain")
    tests = run("-m", "pytest", "-q", *plain, *files)
    assert tests.returncode == 0, tests.stdout[-4000:]
