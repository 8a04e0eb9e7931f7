"""The pages about public leaderboards: code, numbers, and the readers of the sources."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.documents import ROOT, check_prints, code_blocks
from tests.test_guide import DISPLAY, link_targets

FINDINGS = ROOT / "examples" / "findings"
INDEX = FINDINGS / "README.md"
PAGES = [pytest.param(page, id=page.stem) for page in sorted(FINDINGS.glob("*_*.md"))] + [
    pytest.param(FINDINGS / "livecodebench.md", id="livecodebench")
]
# The counts are data of others, and beside the repository.
DATA = Path(os.environ.get("FINDINGS_DATA", ROOT.parent / "shared" / "data" / "findings"))
NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])")


def prose(page: Path) -> str:
    """The text of a page up to its source, without code, headings, links and pictures."""
    text, _, _ = page.read_text(encoding="utf-8").partition("## Source")
    text = re.sub(r"```.*?```|`[^`]*`|!?\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)


def numbers(text: str) -> list[float]:
    """The numbers of a text."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def printed_numbers(page: Path) -> set[float]:
    """The numbers that the blocks of a page print, and those of fractions in percent."""
    texts = [text for language, text in code_blocks(page) if language == "text"]
    found = set(numbers(" ".join(texts)))
    return found | {round(100 * number, 1) for number in found}


@pytest.mark.slow
@pytest.mark.filterwarnings("error::polars_scorio.PriorWarning")
@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_prints_what_the_page_shows(page, monkeypatch):
    (counts,) = re.findall(r'read_parquet\("(.*)"\)', page.read_text(encoding="utf-8"))
    if not (DATA / counts).exists():
        pytest.skip(f"the counts are not here: examples/findings/{page.stem}.py writes them")
    monkeypatch.chdir(DATA)
    check_prints(page, **DISPLAY)


@pytest.mark.parametrize("page", PAGES)
def test_each_number_of_the_text_is_printed_by_a_block(page):
    assert {95.0, *printed_numbers(page)} >= {*numbers(prose(page))}


@pytest.mark.parametrize("page", PAGES)
def test_the_index_says_where_the_counts_are_from(page):
    script = page.with_suffix(".py").read_text(encoding="utf-8")
    (commit,) = re.findall(r'^COMMIT = "(\w{7})', script, re.MULTILINE)
    (repository,) = re.findall(r"^CLONE is a clone of github.com/(.*)\.$", script, re.MULTILINE)
    (row,) = re.findall(
        rf"^\| .* \| `{repository}` \| {commit} \| (.*) \| (.*) \|$",
        INDEX.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    _, _, source = page.read_text(encoding="utf-8").partition("## Source")
    date, licence = row
    assert f"commit {commit} of {date}" in " ".join(source.split())
    assert licence.replace("none", "no licence") in source


def test_the_index_has_the_numbers_of_the_pages():
    rows = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line.count("|") > 6]
    assert len(rows) == 2 + len(PAGES)
    for row in rows[2:]:
        board, _, *cells = row.strip("| ").split(" | ")
        page = FINDINGS / re.search(r"\((\w+\.md)\)", board)[1]
        _, answer, _ = page.read_text(encoding="utf-8").split("\n\n", 2)
        assert {*numbers(" ".join(cells[:-1]))} <= {*numbers(answer)}
    _, _, rest = prose(INDEX).partition("What to do about it:")
    advice, _, _ = rest.partition("The data belong to the boards")
    assert {*numbers(advice)} <= {*printed_numbers(FINDINGS / "terminal_bench.md")}


@pytest.mark.parametrize("page", [*PAGES, pytest.param(INDEX, id="index")])
def test_links_lead_somewhere(page):
    for file, _ in link_targets(page):
        assert (page.parent / file).resolve().is_file(), f"{page.name} links to {file}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_its_answer_and_names_its_source(page):
    title, answer, picture, _ = page.read_text(encoding="utf-8").split("\n\n", 3)
    assert title.startswith("# ")
    assert 2 <= len(answer.splitlines()) <= 6
    assert picture.endswith(f"({page.stem}.png)")
    _, _, source = page.read_text(encoding="utf-8").partition("## Source")
    assert re.search(r"commit\s+[0-9a-f]{7} of\s+\d+\s+\w+ 20\d\d", source)
    assert re.search(r"licen[cs]e|CC BY", source)


def commit_files(folder: Path, files: dict[str, object]) -> Path:
    """A repository with one commit of JSON files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "results")):
        subprocess.run(["git", *words], cwd=folder, check=True)  # noqa: S603, S607
    return folder


@pytest.fixture
def board(monkeypatch):
    """Imports the script of a board."""
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    monkeypatch.syspath_prepend(str(FINDINGS))
    yield __import__
    for name in ("public_results", "terminal_bench", "livecodebench", "swe_bench"):
        sys.modules.pop(name, None)


def terminal_bench_trial(task, resolved, number="1-of-1", start=None):
    """A trial as a results.json of Terminal-Bench has it."""
    trial = {"task_id": task, "trial_name": f"{task}.{number}", "is_resolved": resolved}
    return trial if start is None else {**trial, "trial_started_at": f"2025-01-01T{start}:00"}


def test_terminal_bench_marks_runs_that_are_there_twice(board, tmp_path):
    run = [
        terminal_bench_trial("a", True, "1-of-1.run1", "10:00"),
        terminal_bench_trial("b", None, "1-of-1.run1", "11:00"),
    ]
    entry = "results/core@1/20250101_agent_model"
    undated = [terminal_bench_trial("a", False)]
    files = {
        f"{entry}/run1/results.json": {"results": run},
        f"{entry}/run2/run1/results.json": {"results": run},
        f"{entry}/run1/a/a.1/results.json": {"task_id": "a"},
        "results/core@1/20250102_other/1_results.json": {"results": undated},
        "results/core@1/20250102_other/2_results.json": {"results": undated},
    }
    counts = board("terminal_bench").read_counts(commit_files(tmp_path, files), "HEAD")
    assert counts.drop("trials").rows() == [
        ("agent_model", "a", 1, 1, False),
        ("agent_model", "b", 1, 0, False),
        ("agent_model", "a", 2, 1, True),
        ("agent_model", "b", 2, 0, True),
        ("other", "a", 1, 0, False),
        ("other", "a", 2, 0, False),
    ]


def test_terminal_bench_takes_the_run_from_the_name_of_a_trial_in_a_file_of_several(
    board, tmp_path
):
    completed = [
        ("b.easy", "2", True),
        ("a", "10", False),
        ("b.easy", "1", False),
        ("a", "2", True),
    ]
    trials = [terminal_bench_trial(task, done, f"{n}-of-10") for task, n, done in completed]
    files = {"results/core@1/20250101_agent/results.json": {"results": trials}}
    counts = board("terminal_bench").read_counts(commit_files(tmp_path, files), "HEAD")
    assert counts.select("question", "run", "successes").rows() == [
        ("b.easy", 2, 1),
        ("a", 3, 0),
        ("b.easy", 1, 0),
        ("a", 2, 1),
    ]


def test_livecodebench_tells_one_trial_from_ten(board, tmp_path):
    rates = {"one": (0.0, 100.0), "ten": (100.0, 30.0)}
    performances = [
        {"model": model, "question_id": question, "difficulty": "easy", "pass@1": rate}
        for model, both in rates.items()
        for question, rate in zip("ab", both, strict=True)
    ]
    script = board("livecodebench")
    clone = commit_files(tmp_path, {script.NAME: {"performances": performances}})
    assert script.read_counts(clone, "HEAD").drop("difficulty").rows() == [
        ("one", "a", 1, 0),
        ("one", "b", 1, 1),
        ("ten", "a", 10, 10),
        ("ten", "b", 10, 3),
    ]


def test_swe_bench_draws_models_whose_tasks_give_the_printed_rate(board, tmp_path):
    details = {"a": {"resolved": True}, "b": {"resolved": False}}
    results = [
        {"name": "whole", "resolved": 50.0, "per_instance_details": details},
        {"name": "part", "resolved": 90.0, "per_instance_details": details},
        {"name": "no details", "resolved": 90.0, "per_instance_details": None},
    ]
    boards = [{"name": "Lite", "results": []}, {"name": "bash-only", "results": results}]
    clone = commit_files(tmp_path, {"data/leaderboards.json": {"leaderboards": boards}})
    script = board("swe_bench")
    counts = script.read_counts(clone, "HEAD")
    assert counts.rows() == [
        ("whole", "a", 1, 1, 50.0),
        ("whole", "b", 1, 0, 50.0),
        ("part", "a", 1, 1, 90.0),
        ("part", "b", 1, 0, 90.0),
    ]
    drawn = script.ranked_counts(counts)
    assert drawn["model"].unique().to_list() == ["whole"]
    saved = tmp_path / "counts.parquet"
    board("public_results").save_counts(counts, saved)
    assert pl.read_parquet(saved)["successes"].to_list() == [1, 0, 1, 0]
