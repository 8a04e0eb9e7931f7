"""Every command that is printed runs, and names the winner of what it stands below."""

import io
import json
import re
import shlex
from contextlib import suppress
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest

from polars_scorio.command_line.main import main
from tests.display.html.logs import models, page_of, retried

# At both ends of the range the winner is sure; between them it is open.
LOG = models(3, questions=40, trials=4)
LABELS = {0: "resisted", 1: "hit"}
HUMAN = pl.when(pl.col("question") % 2 == 0).then("category")
STRATA = models(3, strata=2, questions=30)
RUN = LOG.select(pl.col("model").str.slice(1).cast(pl.Int64).alias("step"), pl.exclude("model"))
GATE = ["--baseline", "m00", "--margin", "0.1"]
PAGES = {
    "several models": (LOG, []),
    "one model": (LOG.filter(model="m00"), []),
    "metric": (LOG, ["--metric", "pass_hat_k([2, 4])", "--metric", "avg"]),
    "columns": (LOG.rename({"model": "agent", "question": "task", "category": "ok"}),
                ["--model", "agent", "--question", "task", "--category", "ok"]),
    "lower is better": (LOG, ["--lower-is-better"]),
    "labels": (LOG.with_columns(pl.col("category").replace_strict(LABELS, return_dtype=pl.String)),
               ["--success", "resisted"]),
    "missing outcomes": (LOG.with_columns(pl.when(pl.col("question") % 9 > 0).then("category")),
                         ["--missing", "1"]),
    "judge": (LOG.with_columns(human=HUMAN), ["--truth", "human"]),
    "costs": (LOG.with_columns(usd=0.1 + pl.col("trial")), ["--cost", "usd"]),
    "population": (LOG, ["--target", "population", "--confidence", "0.8"]),
    "prior": (LOG, ["--prior", "uniform"]),
    "strata": (STRATA, ["--by", "bench"]),
    "missing questions": (LOG.filter((pl.col("model") != "m01") | (pl.col("question") > 3)), []),
    "run": (RUN, ["--model", "none", "--by", "step"]),
    "gate": (LOG, GATE),
    "gate of lower scores": (LOG, [*GATE, "--lower-is-better"]),
    "gate of strata": (STRATA, ["--by", "bench", *GATE]),
    "gate by a metric": (LOG, [*GATE, "--metric", "pass_at_k(2)", "--confidence", "0.8"]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def answer(capsys, words):
    """The rows that a command prints, and its status."""
    command = [*words, "--format", "csv"] if words[0] not in {"report", "summary"} else words
    status = main(command)
    printed = capsys.readouterr().out
    assert status in {0, 3, 4}, (words, status)
    return pl.read_csv(io.StringIO(printed)) if "--format" in command else None


def leaders(rows):
    """The models that no other is better than, by the rows of a ranking or a comparison."""
    if "tier" in rows.columns:
        column = next(name for name in ("model", "agent", "step") if name in rows.columns)
        return {str(name) for name in rows.filter(tier=1)[column]}
    named = {str(name) for side in ("model_a", "model_b") for name in rows[side]}
    lost = {
        str(b if str(better) == str(a) else a)
        for a, b, better in rows.select("model_a", "model_b", "better").rows()
        if better is not None
    }
    return named - lost


def page_numbers(page):
    found = re.search(r"href='data:application/json;charset=utf-8,([^']*)'", page)[1]
    numbers = json.loads(unquote(found))
    frame = lambda part: pl.DataFrame(part["rows"], part["columns"], orient="row")  # noqa: E731
    return numbers, frame


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", PAGES)
def test_the_command_of_a_page_asks_what_the_page_says(kind, capsys):
    log, options = PAGES[kind]
    log.write_parquet("log.parquet")
    options = [*options, "--run-effects", "none"]
    assert main(["report", "log.parquet", *options]) == 0
    capsys.readouterr()
    page = Path("report.html").read_text(encoding="utf-8")
    typed = shlex.split(unescape(re.search("<pre>(.*?)</pre>", page)[1]))
    rows = answer(capsys, typed[1:])
    numbers, frame = page_numbers(page)
    if "gate" in kind:
        gates = frame(numbers["baseline"]["gates"]).filter(pl.col("stratum").is_null())
        if "bench" in rows.columns:
            rows = rows.filter(pl.col("bench").is_null())
        for column in ("diff", "lo", "hi"):
            assert rows.sort("model")[column].to_list() == pytest.approx(
                gates.sort("model")[column].to_list(), rel=1e-5
            )
        assert rows.sort("model")["verdict"].equals(gates.sort("model")["verdict"])
    elif kind == "run":
        may = re.search(r"best on one try \((\d+) of", page)[1]
        assert len(leaders(rows)) == int(may)
    elif kind == "one model":
        report = frame(numbers["overall"]["report"])
        assert rows["estimate"].item() == pytest.approx(report["estimate"][0], rel=1e-5)
    else:
        if "bench" in rows.columns:
            rows = rows.filter(pl.col("bench").is_null())
        assert leaders(rows) == leaders(frame(numbers["overall"]["ranks"]))


SCREENS = [
    (kind, command) for kind in PAGES if "gate" not in kind for command in ("rank", "compare")
]
SCREENS += [
    ("several models", each) for each in ("summary", "check", "questions", "describe", "plan")
]
SCREENS += [
    ("judge", "compare"),
    ("one model", "reruns"),
    ("metric", "summary"),
    ("prior", "summary"),
]


def test_below_scores_that_are_biased_stands_the_check(capsys):
    retried("ada", "bob").write_parquet("log.parquet")
    for words in (["report"], ["report", "--baseline", "ada", "--margin", "0.1"]):
        assert main([words[0], "log.parquet", *words[1:]]) == 0
        typed = shlex.split(
            unescape(re.search("<pre>(.*?)</pre>", Path("report.html").read_text())[1])
        )
        assert typed == ["polars-scorio", "check", "log.parquet"]
        capsys.readouterr()
        assert main(typed[1:]) == 1
    assert "df.scorio.check()" in page_of(retried("ada", "bob")).html()


@pytest.mark.parametrize(("kind", "command"), SCREENS)
@pytest.mark.slow
def test_the_command_of_an_answer_runs_and_keeps_the_winner(kind, command, capsys):
    log, options = PAGES[kind]
    log.write_parquet("log.parquet")
    lacking = kind == "missing questions" and command in {"rank", "compare", "questions", "plan"}
    options = [*options, "--run-effects", "none", *["--unmatched", "drop"] * lacking]
    status = 2
    with suppress(SystemExit):
        status = main([command, "log.parquet", *options])
    if status != 0:
        pytest.skip("the command does not take these options")
    printed = " ".join(capsys.readouterr().out.replace("\\\n", "").split())
    match = re.search("next polars-scorio (.*?)$", printed)
    if match is None:
        return
    typed = shlex.split(match[1])
    rows = answer(capsys, typed)
    first = answer(capsys, [command, "log.parquet", *options])
    decide = {"rank", "compare"}
    if command in decide and typed[0] in decide:
        for part in ("bench 0", "bench 1") if "bench" in rows.columns else (None,):
            same = pl.col("bench") == part if part else pl.lit(True)
            assert leaders(rows.filter(same)) == leaders(first.filter(same))


def test_a_gate_of_two_logs_prints_commands_about_both(capsys):
    for name, model in (("new", "m01"), ("old", "m00")):
        Path(name).mkdir()
        LOG.filter(model=model).write_parquet(f"{name}/log.parquet")
    asked = ["gate", "new/log.parquet", "--against", "old/log.parquet", "--margin", "0.1"]
    asked += ["--run-effects", "none", "--fail-on", "regressed"]
    status = main(asked)
    printed = capsys.readouterr().out.replace("\\\n", "")
    typed = shlex.split(
        " ".join(re.search("next (.*?)\n  (?:exit|$)", printed, re.DOTALL)[1].split())
    )
    assert typed[-2:] == ["--html", "gate.html"]
    assert main(typed[1:]) == status
    assert "next" not in capsys.readouterr().out
    page = Path("gate.html").read_text(encoding="utf-8")
    said = shlex.split(unescape(re.search("<pre>(.*?)</pre>", page)[1]))
    assert "--against" in said
    assert main(said[1:]) == status
    title = re.sub("<[^>]+>", "", re.search("<h1.*?</h1>", page)[0])
    assert title.replace("\N{NO-BREAK SPACE}", " ") in " ".join(capsys.readouterr().out.split())


def test_a_message_prints_commands_about_the_same_log(capsys):
    LOG.filter((pl.col("model") != "m01") | (pl.col("question") > 3)).write_parquet("a log.parquet")
    assert main(["rank", "a log.parquet", "--run-effects", "none"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    typed = "describe 'a log.parquet' --run-effects none --per question"
    assert f"polars-scorio {typed} lists them" in said
    assert main(shlex.split(typed)) == 0
    assert "question" in capsys.readouterr().out


@pytest.mark.parametrize(
    "numbers",
    [
        ["--confidence", "0.9"],
        ["--metric", "pass_at_k(2)"],
        ["--overall", "micro", "--by", "bench"],
        ["--target", "population"],
    ],
    ids=lambda words: words[0],
)
def test_commands_about_the_rows_leave_out_options_of_numbers(numbers, capsys):
    log = LOG.with_columns(bench=pl.col("question") % 2)
    log.filter((pl.col("model") != "m01") | (pl.col("question") > 3)).write_parquet("a log.parquet")
    assert main(["rank", "a log.parquet", *numbers, "--run-effects", "none"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    roles = ["--by", "bench"] * ("bench" in numbers)
    typed = shlex.join(["describe", "a log.parquet", *roles])
    assert f"polars-scorio {typed} --run-effects none --per question lists them" in said
    log.write_parquet("log.parquet")
    main(["report", "log.parquet", *numbers, "--run-effects", "none", "-o", "page.html"])
    assert "polars-scorio lists" not in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (["compare", "--each-pair"], None),
        (["compare", "--target", "population"], "report"),
        (["compare", "--metric", "pass_at_k(2)"], "report"),
        (["rank", "--prior", "uniform"], "compare"),
        (["regressions", "--baseline", "m00"], "compare"),
        (["reruns", "--per", "question"], "questions"),
    ],
)
def test_a_command_that_cannot_ask_the_same_is_not_printed(asked, wanted, capsys):
    LOG.write_parquet("log.parquet")
    main([asked[0], "log.parquet", *asked[1:], "--run-effects", "none"])
    found = re.search("next  polars-scorio (\\w+)", capsys.readouterr().out)
    assert (found and found[1]) == wanted
