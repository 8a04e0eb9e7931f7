"""What people see of forty kinds of questions, in a terminal, on a page and in files.

``python -m tests.display.test_captures`` writes them anew.
"""

import io
import os
import re
import shutil
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

from polars_scorio.command_line.main import main
from tests.display.html.logs import Checked, models, retried
from tests.display.html.test_gallery import clustered, dollars, labelled, training
from tests.documents import DATA
from tests.made_logs import long

CAPTURES = DATA / "captures"
LOG, PAIR, ONE = models(3, questions=40), models(2), models(1)
STRATA = models(3, strata=2, questions=30)
SURE = pl.concat([long([[1, 1, 1, 0]] * 40, "m0"), long([[0, 0, 1, 0]] * 40, "m1")])
ERRORED = LOG.with_columns(pl.when(pl.col("question") % 9 > 0).then("category"))
WORDS = pl.col("category").replace_strict({0: "wrong", 1: "right"}, return_dtype=pl.String)
TIMED_OUT = models(2, questions=40).with_columns(
    category=pl.when(pl.col("model") == "m01", (pl.col("question") + pl.col("trial")) % 3 == 0)
    .then(pl.lit("timeout"))
    .otherwise(WORDS)
)
HIT = LOG.with_columns(pl.col("category").replace_strict({0: "resisted", 1: "hit"},
                                                         return_dtype=pl.String))  # fmt: skip
REWARDS = LOG.with_columns(category=pl.col("category") * 0.75 + 0.1 * (pl.col("question") % 3))
DIVIDED = STRATA.filter((pl.col("model") != "m00") | (pl.col("bench") == "bench 0")).filter(
    (pl.col("model") != "m01") | (pl.col("bench") == "bench 1")
)
RUNS = LOG.with_columns(run=pl.col("trial"))
LACKING = LOG.filter((pl.col("model") != "m01") | (pl.col("question") > 3))
BROKEN = pl.concat(
    [long([[1] * 8] * 40, "m0"), long([[int(question > 5)] * 8 for question in range(40)], "m1")]
)
MARGIN = ["--margin", "0.1"]
GATE = ["--baseline", "m00", *MARGIN]
# Of each kind: its log, the command, and its options.
KINDS: dict[str, tuple[pl.DataFrame, str, list[str]]] = {
    "several models": (LOG, "report", []),
    "several models, sure": (models(4, questions=80, trials=8), "report", []),
    "two models": (PAIR, "report", []),
    "two models, sure": (SURE, "report", []),
    "one model": (ONE, "report", []),
    "one model in strata": (STRATA.filter(model="m00"), "report", ["--by", "bench"]),
    "many models": (models(25, questions=20, trials=8), "report", []),
    "strata": (STRATA, "report", ["--by", "bench"]),
    "strata pooled": (STRATA, "report", ["--by", "bench", "--overall", "micro"]),
    "no common stratum": (DIVIDED, "report", ["--by", "bench"]),
    "three questions": (LOG.filter(pl.col("question") < 3), "report", []),
    "one trial": (LOG.filter(trial=0), "report", []),
    "several metrics": (LOG, "report", ["--metric", "pass_hat_k([2, 4])", "--metric", "avg"]),
    "lower is better": (LOG, "report", ["--lower-is-better"]),
    "labels": (HIT, "report", ["--success", "hit", "--lower-is-better"]),
    "rewards": (REWARDS, "report", []),
    "errors may be anything": (ERRORED, "report", ["--missing", "bounds"]),
    "errors left out": (ERRORED, "report", ["--missing", "drop"]),
    "errors refused": (ERRORED, "report", []),
    "errors of one model": (TIMED_OUT, "report", ["--success", "right"]),
    "missing questions": (LACKING, "report", []),
    "questions like these": (LOG, "report", ["--target", "population"]),
    "clusters": (clustered(), "report", ["--cluster", "passage"]),
    "runs": (RUNS, "report", ["--run", "run"]),
    "a judge": (labelled(), "report", ["--truth", "human"]),
    "costs": (dollars(), "report", ["--cost", "usd"]),
    "a run of training": (training().filter(model="m00"), "report", ["--by", "step"]),
    "several runs of training": (training(), "report", ["--by", "step"]),
    "retries": (retried(), "report", []),
    "a gate": (LOG, "gate", GATE),
    "a gate that passes": (SURE, "gate", ["--baseline", "m1", *MARGIN]),
    "a gate that fails": (SURE, "gate", ["--baseline", "m0", *MARGIN]),
    "a gate of strata": (STRATA, "gate", ["--by", "bench", *GATE]),
    "a gate of lower scores": (LOG, "gate", [*GATE, "--lower-is-better"]),
    "a gate of questions": (BROKEN, "gate",
                            ["--baseline", "m0", "--margin", "0.9", "--fail-on", "regressed"]),
    "a gate of errors": (ERRORED, "gate", [*GATE, "--missing", "bounds"]),
    "pairs": (LOG, "compare", []),
    "pairs with a baseline": (STRATA, "compare", ["--by", "bench", "--baseline", "m00"]),
    "pairs along k": (LOG, "compare", ["--metric", "pass_at_k([1, 2, 4])"]),
    "pairs of costs": (dollars(), "compare", ["--cost", "usd", "--metric", "mean_cost"]),
    "ranks": (LOG, "rank", []),
    "ranks of strata": (STRATA, "rank", ["--by", "bench"]),
    "checks": (LOG, "check", []),
    "checks with an alarm": (retried(), "check", []),
    "a plan": (LOG, "plan", []),
    "a plan of a width": (LOG, "plan", ["--half-width", "0.02"]),
    "questions": (LOG, "questions", []),
    "reruns": (LOG, "reruns", []),
    "a frontier": (dollars(), "frontier", ["--cost", "usd"]),
    "a description": (LACKING, "describe", []),
    "regressions": (BROKEN, "regressions", ["--baseline", "m0"]),
    "a leaderboard": (LOG, "leaderboard", []),
}  # fmt: skip


@contextmanager
def empty_folder(columns: int):
    """A folder, and a terminal of some width."""
    before, width = Path.cwd(), os.environ.get("COLUMNS")
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["COLUMNS"] = str(columns)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ.pop("COLUMNS") if width is None else os.environ.update(COLUMNS=width)


def printed(words: list[str]) -> str:
    """What a command prints, on both streams, and its status."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(words)
    errors = "".join(f"! {line}\n" for line in err.getvalue().splitlines())
    return f"$ polars-scorio {' '.join(words)}\n{out.getvalue()}{errors}status {status}\n"


def page_top(path: Path) -> str:
    """The texts of a page down to the first section, and what it says to do next."""
    html = path.read_text(encoding="utf-8")
    main_part = html.partition("<main>")[2].partition("<footer>")[0]
    top, _, rest = main_part.partition('<section class="s"')
    following = '<section class="next"' + rest.partition('<section class="next"')[2]
    parts = [top, following if "</section>" in following else ""]
    texts = [re.sub(r"<(path|svg|g|rect|circle|use)[^>]*>", "", part) for part in parts]
    said = [" ".join(Checked(f"<main>{only_whole(text)}</main>").texts).split() for text in texts]
    heads = [" ".join(Checked(head).texts) for head in re.findall(r"<h2>(.+?)</h2>", main_part)]
    return "\n".join([" ".join(said[0]), *(f"## {head}" for head in heads), " ".join(said[1]), ""])


def only_whole(text: str) -> str:
    """Text without tags that close what was cut away."""
    return re.sub(r"</?(path|svg|g|rect|circle|use|main|body)\b[^>]*>", "", text)


def captured(name: str) -> str:
    """All that is seen of a kind."""
    log, command, options = KINDS[name]
    said: dict[str, Any] = {}
    for columns in (72, 120):
        with empty_folder(columns) as folder:
            log.write_parquet("log.parquet")
            asked = "summary" if command == "report" else command
            said[f"terminal, {columns} columns"] = printed([asked, "log.parquet", *options])
            if columns == 120:
                continue
            if command == "report":
                printed(["report", "log.parquet", *options, "-o", "page.html"])
                said["top of the page"] = page_top(folder / "page.html")
                text = printed(["report", "log.parquet", *options, "-o", "-"])
                said["Markdown"] = text.partition("## How it was computed")[0]
            if command == "gate":
                files = ["--markdown", "gate.md", "--junit", "gate.xml", "--html", "page.html"]
                printed(["gate", "log.parquet", *options, *files])
                said["top of the page"] = page_top(folder / "page.html")
                for file in ("gate.md", "gate.xml"):
                    said[file] = (folder / file).read_text(encoding="utf-8")
    return "\n".join(f"=== {part}\n{text}" for part, text in said.items())


def file_of(name: str) -> Path:
    return CAPTURES / f"{name.replace(',', '').replace(' ', '_')}.txt"


@pytest.mark.every(4)
@pytest.mark.parametrize("name", KINDS)
def test_what_people_see_is_under_review(name):
    expected = file_of(name).read_text(encoding="utf-8")
    assert captured(name) == expected, "run python -m tests.display.test_captures"


def test_no_line_is_wider_than_its_terminal():
    """But for the frame of a leaderboard, which has all columns."""
    for name in KINDS.keys() - {"a leaderboard"}:
        text = file_of(name).read_text(encoding="utf-8")
        for columns, said in re.findall(
            r"^=== terminal, (\d+) columns\n\$.*\n((?:(?!===).*\n)*)", text, re.MULTILINE
        ):
            assert max(map(len, said.splitlines())) <= int(columns), name


def test_each_capture_is_of_a_kind():
    assert {*CAPTURES.iterdir()} == {*map(file_of, KINDS)}


if __name__ == "__main__":
    shutil.rmtree(CAPTURES, ignore_errors=True)
    CAPTURES.mkdir()
    for each in KINDS:
        file_of(each).write_text(captured(each), encoding="utf-8")
