import importlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.documents import ROOT, TAU_BENCH

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(example: str, *arguments: str | Path, silent: bool = True, encoding: str = "utf-8") -> str:
    """What an example prints; one that is silent writes nothing on its standard error."""
    command = [sys.executable, "-W", "error", EXAMPLES / example, *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, encoding=encoding, check=False, env=environment
    )
    assert (done.returncode, done.stderr if silent else "") == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
def test_quickstart_ends_with_one_answer():
    printed = run("quickstart.py")
    assert printed.count("┌") == 4
    answer = printed.partition("prints it:")[2]
    assert "  comet-70b is ahead" in answer or " may be the best" in answer
    assert "about these 30 questions" in answer
    for part in (
        "pass_hat_k",
        "partial credit",
        "from Parquet, lazily",
    ):
        assert part in printed


@pytest.mark.slow
def test_quickstart_runs_on_a_pipe_of_windows():
    printed = run("quickstart.py", encoding="cp1252")
    assert printed.count("| model ") == 4
    assert "?" not in printed.replace("How good is each model, and how sure are we?", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_quickstart_ends_quietly_if_nobody_reads_on():
    command = [sys.executable, EXAMPLES / "quickstart.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.slow
def test_logs_prints_the_estimates_of_a_trajectory_file():
    printed = run("logs.py")
    assert "agent" in printed
    assert "0.667" in printed  # pass^1: 4 of 6
    assert "0.333" in printed  # pass^2: 1 of 3


@pytest.mark.slow
def test_logs_reproduces_the_published_leaderboard(tmp_path):
    columns = {"question": "task_id", "category": "reward"}
    path = tmp_path / "gpt-4o-airline.json"
    pl.read_parquet(TAU_BENCH).rename(columns).cast({"reward": pl.Float64}).write_json(path)
    printed = run("logs.py", "tau_bench", path)
    for published in ("0.420", "0.273"):
        assert f"┆ {published}" in printed
    estimates = ps.logs.tau_bench(path).pass_hat_k([1, 2, 3, 4])["estimate"].to_list()
    assert estimates == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)  # to three decimals


@pytest.mark.slow
def test_biased_coins_rank_better_by_bayes_than_by_pass_at_k(tmp_path):
    printed = run("biased_coins.py", tmp_path / "curves.png")
    tau = {}
    for line in printed.splitlines():
        name, *cells = (cell.strip() for cell in line.strip("│ ").split("┆"))
        if name in {"Bayes@N", "Pass@2", "Pass@4", "Pass@8"}:
            tau[name] = [float(cell) for cell in cells]
    assert len(set(map(len, tau.values()))) == 1
    # After 1, 2, 5, 10, ... trials; with one trial all of them are the same.
    for early in (2, 3, 4):
        ours = tau["Bayes@N"][early]
        assert ours > 0.95
        assert ours > tau["Pass@2"][early] > tau["Pass@4"][early] > tau["Pass@8"][early]
    ranks = {line.split("┆")[0].strip("│ "): line for line in printed.splitlines() if "┆" in line}
    # Of the equal models LLM05 and LLM06 one comes first, but they are not told apart.
    assert [cell.strip(" │") for cell in ranks["with CI"].split("┆")][6:8] == ["5", "5"]
    assert (tmp_path / "curves.png").stat().st_size > 10_000


@pytest.mark.slow
def test_rubrics_prints_the_ranks_under_all_twelve_and_draws_them(tmp_path):
    printed = run("rubrics.py", tmp_path / "ranks.svg")
    names = [rubric.name for rubric in ps.rubrics.schemata()]
    rows = [line.split() for line in printed.splitlines() if line.startswith("│")]
    ranks = {row[1]: [int(rank) for rank in row[3:14:2]] for row in rows[1:13]}
    assert list(ranks) == names
    assert {tuple(sorted(row)) for row in ranks.values()} == {(1, 2, 3, 4, 5, 6)}
    assert len({tuple(row) for row in ranks.values()}) > 6
    drawn = (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    for word in ("overconfident", "verbose", *(name.replace("_", " ") for name in names)):
        assert f">{word}</text>" in drawn


@pytest.mark.slow
def test_rubrics_says_what_the_picture_needs():
    hidden = "import runpy, sys; sys.modules['altair'] = None\n"
    hidden += "runpy.run_path(sys.argv.pop(), run_name='__main__')"
    command = [sys.executable, "-W", "error", "-c", hidden, EXAMPLES / "rubrics.py"]
    printed = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)  # noqa: S603
    assert "│ concision_high_conf ┆" in printed.stdout
    assert printed.stdout.endswith('pip install "polars-scorio[plot]"\n')


@pytest.mark.slow
def test_duckdb_counts_and_polars_reports():
    pytest.importorskip("narwhals")
    pytest.importorskip("duckdb")
    printed = run("duckdb_counts.py")
    assert "DuckDB counted 6,400 trials. Polars was given" in printed
    assert printed.count("┆ pass_hat_k") == 2


@pytest.mark.slow  # it starts a JVM
@pytest.mark.pyspark
def test_spark_counts_and_polars_reports():
    pytest.importorskip("narwhals")
    pytest.importorskip("pyspark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("PySpark needs Java")
    printed = run("spark_counts.py", silent=False)  # the JVM tells how it is
    assert "Spark counted 6,400 trials. The driver was given 790 counts" in printed
    assert printed.count("┆ pass_hat_k") == 2


@pytest.mark.slow
def test_incremental_reports_on_all_trials_of_all_days_so_far():
    printed = run("incremental.py")
    assert re.findall(r"day (\d)", printed) == ["0", "1", "2"]
    # Two models, 30 questions, four more trials a day, two rows for each model.
    assert re.findall(r"┆ (\d{3}) ", printed) == ["120"] * 4 + ["240"] * 4 + ["360"] * 4


@pytest.fixture
def incremental(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("incremental")


@pytest.mark.parametrize("last", ["sink_parquet", "replace", "unlink"])
def test_incremental_counts_a_log_once_wherever_it_is_stopped(
    incremental, tmp_path, monkeypatch, last
):
    counts = tmp_path / "counts.parquet"
    for day in range(3):
        log = tmp_path / f"day-{day}.parquet"
        incremental.trials_of(day).write_parquet(log)

        def stopped(*_: object, **_options: object) -> None:
            raise KeyboardInterrupt  # as a kill, no `except Exception` sees it

        with monkeypatch.context() as patch:
            patch.setattr(pl.LazyFrame if last == "sink_parquet" else Path, last, stopped)
            with pytest.raises(KeyboardInterrupt):
                incremental.add_counts(log, counts)
        incremental.add_counts(log, counts)
        incremental.add_counts(log, counts)  # nothing is left of it
    expected = pl.concat(incremental.trials_of(day) for day in range(3)).scorio.counts()
    assert_frame_equal(pl.read_parquet(counts), expected)
    assert [*incremental.logs_in(counts).values()] == [f"day-{day}.parquet" for day in range(3)]
    assert not [*tmp_path.glob("day-*")]


def test_incremental_says_which_log_it_cannot_read(incremental, tmp_path):
    log = tmp_path / "day-0.parquet"
    log.write_bytes(b"")
    with pytest.raises(RuntimeError, match=r"day-0\.parquet was not counted: "):
        incremental.add_counts(log, tmp_path / "counts.parquet")
    assert log.exists()


@pytest.mark.slow
def test_incremental_survives_two_writers_that_are_killed():
    command = [
        sys.executable,
        EXAMPLES.parent / "examples" / "validation" / "kills.py",
        "--kills=2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603
    assert "logs: each was counted once" in done.stdout, done.stderr


@pytest.mark.slow
def test_the_page_on_looks_says_what_peeking_found():
    found = runpy.run_path(str(EXAMPLES / "peeking.py"))["false_winners"]().row(-1, named=True)
    page = EXAMPLES / "guide" / "looks.md"
    said = " ".join(page.read_text(encoding="utf-8").split())
    peeking, anytime = (f"{100 * found[name]:.0f} %" for name in ("peeking", "anytime"))
    assert f"Without `planned_trials`, {peeking} named a false winner; with it, {anytime}." in said


# By examples/readme_pictures.py; a browser takes those of a report.
NAMES = (
    "coverage",
    "curve",
    "frontier",
    "intervals",
    "looks",
    "training",
    "method_populations",
    "method_intervals",
)
DRAWN = {f"{name}.png" for name in NAMES}
SHOT = {"report_dark.png", "report_light.png"}


def pictures_of(folder: Path) -> dict[str, int]:
    """The sizes of the PNG files in a folder."""
    paths = sorted(folder.glob("*.png"))
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in paths)
    return {path.name: path.stat().st_size for path in paths}


@pytest.mark.slow
def test_rollouts_are_a_log_of_five_models(tmp_path):
    run("rollouts.py", tmp_path / "rollouts.parquet")
    log = pl.read_parquet(tmp_path / "rollouts.parquet")
    assert log.columns == ["model", "domain", "question", "trial", "category"]
    assert log.height == 5 * 2 * 30 * 8


def test_readme_pictures_are_small():
    sizes = pictures_of(EXAMPLES / "pictures")
    assert set(sizes) == {*DRAWN, *SHOT}
    assert max(sizes.values()) < 60_000


@pytest.mark.slow
def test_readme_pictures_can_be_made_anew(tmp_path):
    pytest.importorskip("PIL")
    assert run("readme_pictures.py", tmp_path).count(" kB") == len(DRAWN)
    assert {*pictures_of(tmp_path)} == DRAWN


@pytest.mark.slow
def test_the_picture_of_a_report_can_be_made_anew(tmp_path):
    pytest.importorskip("PIL")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("a browser takes the picture")
    assert run("report_picture.py", tmp_path).count(" kB") == len(SHOT)
    assert {*pictures_of(tmp_path)} == SHOT


@pytest.mark.slow
def test_the_picture_of_a_report_is_not_stale(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    script = runpy.run_path(str(EXAMPLES / "report_picture.py"))
    digest = script["page_digest"](script["written_page"](tmp_path))
    for name in SHOT:
        picture = (EXAMPLES / "pictures" / name).read_bytes()
        assert digest.encode() in picture, "run: python examples/report_picture.py"


# The method by hand: NumPy and SciPy alone give the package's numbers.


HAND = runpy.run_path(str(ROOT / "examples" / "method_by_hand.py"))
SUCCESSES, TRIALS = HAND["SUCCESSES"], HAND["TRIALS"]
KINDS = {"avg": "avg", "pass_at_k": "pass", "pass_hat_k": "hat"}
SIZES = [1, 2, 3, 4]


@pytest.fixture(scope="module")
def log():
    rows = [
        (model, question, trial, int((5 * trial + question) % TRIALS < count))
        for model, counts in SUCCESSES.items()
        for question, count in enumerate(counts)
        for trial in range(TRIALS)
    ]
    return pl.DataFrame(rows, ["model", "question", "trial", "category"], orient="row").scorio


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_scores_and_intervals_are_those_of_the_package(log, target):
    report = log.report(ps.avg(), ps.pass_at_k(SIZES), ps.pass_hat_k(SIZES), target=target)
    ends = HAND["report" if target == "benchmark" else "of_population"]
    rows = report.select("model", "metric", "k", "estimate", "lo", "hi").rows()
    assert len(rows) == len(SUCCESSES) * (1 + 2 * len(SIZES))
    for model, metric, k, *numbers in rows:
        by_hand = ends(KINDS[metric.partition("(")[0]], k or 1, SUCCESSES[model])
        assert by_hand == pytest.approx(numbers[-len(by_hand) :], abs=1e-9)


def test_all_pairs_are_those_of_the_package(log):
    for one, other, *numbers in (
        log.compare().select("model_a", "model_b", "diff", "lo", "hi").rows()
    ):
        by_hand = HAND["difference"](SUCCESSES[one], SUCCESSES[other], len(SUCCESSES))
        assert by_hand == pytest.approx(numbers, abs=1e-9)


def test_a_pair_alone_is_that_of_the_package(log):
    alone = log.compare(simultaneous=False).select("model_a", "model_b", "diff", "lo", "hi")
    for one, other, *numbers in alone.rows():
        # Two models are one pair.
        by_hand = HAND["difference"](SUCCESSES[one], SUCCESSES[other], 2)
        assert by_hand == pytest.approx(numbers, abs=1e-9)


def test_the_script_is_short_and_imports_nothing_of_the_package():
    text = (ROOT / "examples" / "method_by_hand.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "import polars" not in text


# The notebook runs from top to bottom, and shows what its readers see where it is hosted.


for needed in ("nbclient", "ipykernel", "PIL", "altair", "vl_convert", "great_tables"):
    pytest.importorskip(needed)

NOTEBOOK = ROOT / "examples" / "guide" / "tour.ipynb"


def outputs(text: str) -> list[dict[str, str]]:
    """What its cells show, each as texts by their kind."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in shown} == {"execute_result"}  # not even a warning
    return [{kind: "".join(data) for kind, data in output["data"].items()} for output in shown]


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_is_stored(tmp_path):
    command = [sys.executable, "-m", "tests.notebook", tmp_path / "tour.ipynb"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    made = outputs((tmp_path / "tour.ipynb").read_text(encoding="utf-8"))
    stored = outputs(NOTEBOOK.read_text(encoding="utf-8"))
    texts = [[output["text/plain"] for output in each] for each in (made, stored)]
    assert texts[0] == texts[1], "run python -m tests.notebook"


def test_it_shows_an_accessor_tables_and_pictures():
    text = NOTEBOOK.read_text(encoding="utf-8")
    shown = outputs(text)
    assert any(
        "<caption>scorio of a DataFrame</caption>" in each["text/html"] for each in shown[:3]
    )
    assert sum("gt_table" in each.get("text/html", "") for each in shown) == 1
    assert sum("image/png" in each for each in shown) == 2
    assert len(text) < 150_000
