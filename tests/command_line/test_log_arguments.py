"""Columns, outcomes and tools, as arguments."""

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from tests.display.html.logs import models, page_text
from tests.made_verdicts import verdicts


@pytest.mark.slow
def test_roles_are_columns_or_expressions():
    table = models(2).with_columns(reward=pl.col("category") * 0.75 + 0.1).drop("category", "trial")
    table.rename({"model": "llm", "question": "task id"}).write_ndjson("log.jsonl")
    outcome = ["--category", "reward", "--threshold", "0.5"]
    roles = ["--model", "llm", "--question", "task id", *outcome]
    assert main(["report", "log.jsonl", *roles]) == 0
    assert "avg@4" in page_text("report.html")
    assert main(["report", "log.jsonl", "--model", "none", *roles[2:], "-o", "one.html"]) == 0
    assert "This model gets" in page_text("one.html")


@pytest.mark.parametrize("command", ["frontier", "reruns"])
def test_help_says_where_no_mean_of_strata_is_taken_and_what_pools_them(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    help_text = capsys.readouterr().out
    assert "--overall" not in help_text
    assert "no mean of strata is taken" in help_text
    log = models(2, strata=2).with_columns(usd=1 + pl.col("trial") * 0.1)
    log.write_parquet("log.parquet")
    cost = ["--cost", "usd"] * (command == "frontier")
    pooled = ["--question", "bench", "--question", "question"]
    assert main([command, "log.parquet", *cost, *pooled]) == 0
    questions = log.select("bench", "question").n_unique()
    assert f"about these {questions} questions" in capsys.readouterr().out


@pytest.mark.slow
def test_labels_and_numbers_find_their_success():
    words = models(2).with_columns(category=pl.col("category").cast(pl.String))
    words.write_parquet("words.parquet")
    models(2).with_columns(pl.col("category") + 1).write_parquet("numbers.parquet")
    assert main(["report", "words.parquet", "--success", "1"]) == 0
    assert main(["report", "numbers.parquet", "--success", "2"]) == 0
    assert main(["report", "numbers.parquet"]) == 1


@pytest.mark.slow
def test_a_tool_reads_its_own_logs(folder, capsys):
    runs = [{"task_id": t, "trial": i, "reward": float(t <= i)} for t in range(3) for i in range(4)]
    (folder / "ada.json").write_text(json.dumps(runs))
    assert main(["report", "ada.json", "--from", "tau_bench", "--metric", "pass_hat_k(4)"]) == 0
    expected = ps.logs.tau_bench("ada.json").pass_hat_k(4)["estimate"].item()
    assert f"ada scores {100 * expected:.0f}" in capsys.readouterr().out
    assert main(["report", "ada.json", "--from", "tau_bench", "--model", "eve"]) == 0
    assert "eve gets" in capsys.readouterr().out
    assert main(["report", "ada.json", "--from", "tau_bench", "--question", "task_id"]) == 2
    assert "tau_bench knows its columns: omit --question" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_said_of_outcomes_reaches_the_reader_of_a_tool(folder, capsys):
    runs = [{"task_id": t, "trial": i, "reward": t / 2} for t in range(3) for i in range(2)]
    (folder / "ada.json").write_text(json.dumps(runs))
    arguments = ["report", "ada.json", "--from", "tau_bench", "--metric", "avg", "--n"]
    assert main([*arguments, "2"]) == 0
    assert main([*arguments, "3"]) == 1
    assert "a number of trials other than --n 3" in capsys.readouterr().out


@pytest.mark.slow
def test_rewards_have_levels(capsys):
    models(2).with_columns(pl.col("category") / 2).write_parquet("rewards.parquet")
    levels = ["--levels", "0", "--levels", "0.5", "--levels", "1"]
    assert main(["report", "rewards.parquet", *levels, "--metric", "avg"]) == 0
    best, second = models(2).scorio.avg()["estimate"].sort(descending=True) / 2
    assert f"+{100 * (best - second):.1f} points" in capsys.readouterr().out


@pytest.mark.parametrize("place", [0, 70, 95])
def test_a_line_that_cannot_be_read_is_named(folder, capsys, place):
    models(2).write_ndjson("log.jsonl")
    lines = (folder / "log.jsonl").read_text().splitlines()
    lines[place] = lines[place].replace('"category":', '"category":NaN,"other":')
    (folder / "log.jsonl").write_text("\n".join(lines))
    assert main(["describe", "log.jsonl"]) in {1, 2}
    error = capsys.readouterr().err
    assert error.startswith("polars-scorio: ")
    assert f"log.jsonl: expected JSON lines, found something else in line {place + 1} (" in error


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_line_with_two_outcomes_is_refused(folder, capsys, ending):
    lines = models(2).write_ndjson().replace('"category":', '"category":7,"category":').split()
    text = "\n".join(lines) if ending == "jsonl" else f"[{','.join(lines)}]"
    (folder / f"log.{ending}").write_text(text)
    assert main(["rank", f"log.{ending}"]) in {1, 2}
    place = " in line 1" * (ending == "jsonl")
    said = rf"log.{ending}: expected .*, found two values of the key 'category'{place}$"
    assert re.search(said, capsys.readouterr().err.strip())


def test_parentheses_that_are_no_pattern_are_no_model(folder, capsys):
    (folder / "ada.json").write_text('[{"task_id": 1, "trial": 0, "reward": 1}]')
    assert main(["report", "ada.json", "--from", "tau_bench", "--model", "(((("]) == 2
    assert "it is no pattern" in capsys.readouterr().err


SAMPLES = [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}, "judge": {"value": "I"}}}]


def test_the_tool_is_found_by_itself(folder, capsys):
    log = {"eval": {"model": "ada", "task": "t"}, "samples": SAMPLES}
    (folder / "2026-01-01T00-00-00_t.json").write_text(json.dumps(log))
    assert main(["describe", "."]) == 2
    assert "--option scorer=judge" in capsys.readouterr().err
    assert main(["rank", ".", "--option", "scorer=match"]) == 0
    assert main(["describe", ".", "--option", "scorer=match"]) == 0
    assert "ada" in capsys.readouterr().out
    assert main(["describe", ".", "--option", "scorers=match"]) == 2
    assert (
        "the reader of inspect_ai has no --option 'scorers': did you mean 'scorer'"
        in capsys.readouterr().err
    )


def test_a_folder_that_no_reader_knows_is_answered_as_in_python(folder, capsys):
    (folder / "runs").mkdir()
    record = {"runs": [{"task_id": 1, "passed": True}]}
    (folder / "runs/a.json").write_text(json.dumps(record))
    for arguments in (["runs"], ["report", "runs"]):
        assert main(arguments) == 2
        message = capsys.readouterr().err
        assert "no reader knows the files of runs; there are readers of bfcl, " in message
        assert "with --from" in message
        assert "--from records --question 'runs[*].task_id' --category 'runs[*].passed'" in message


def test_options_in_messages_can_be_typed_into_a_shell(folder, capsys):
    line = {"doc_id": 0, "filter": "none", "resps": [["x"]], "filtered_resps": ["x"]}
    line["metrics"] = ["acc", "f1"]
    name = folder / "samples_arc_2026-01-01T00-00-00.0.jsonl"
    name.write_text(json.dumps({**line, "acc": 1.0, "f1": 0.5}))
    assert main(["describe", "."]) == 2
    message = capsys.readouterr().err
    option = shlex.split(message.partition("as in ")[2])
    assert option == ["--option", "metric={'arc': 'acc'}"]
    assert main(["describe", ".", *option]) == 0


@pytest.mark.parametrize("meaning", ["drp", "Drop", "errr"])
def test_a_typo_of_what_is_missing_is_answered(capsys, meaning):
    models(2).write_parquet("log.parquet")
    assert main(["rank", "log.parquet", "--missing", meaning]) == 2
    nearest = "error" if meaning == "errr" else "drop"
    said = f"--missing must be error, drop, bounds or a category, got {meaning!r}: did you mean "
    assert f"{said}{nearest!r}" in capsys.readouterr().err


def test_the_missing_outcomes_of_labels_may_have_a_label(capsys):
    models(2).with_columns(pl.lit("right").alias("category")).write_parquet("log.parquet")
    arguments = ["describe", "log.parquet", "--success", "right", "--missing"]
    assert main([*arguments, "dropped"]) == 0
    assert main([*arguments, "drp"]) == 2
    assert "did you mean 'drop'?" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "tsv", "parquet", "eval"])
def test_an_empty_file_is_called_empty(folder, capsys, ending):
    (folder / f"log.{ending}").touch()
    assert main(["rank", f"log.{ending}"]) == 2
    assert f"log.{ending} is empty: expected " in capsys.readouterr().err


def test_columns_that_are_not_there_are_named_in_one_sentence(folder, capsys):
    (folder / "log.csv").write_text("a,b\n1,2\n")
    assert main(["rank", "log.csv"]) == 1
    assert capsys.readouterr().err == (
        "polars-scorio: there are no columns 'model' for the model, 'question' for the question, "
        "'category' for the category; the columns are ['a', 'b']. Name them with --model (or "
        "--model none), --question and --category.\n"
    )


def test_options_are_for_readers(capsys):
    models(2).write_parquet("log.parquet")
    assert main(["describe", "log.parquet", "--option", "scorer=match"]) == 2
    assert "name the tool with --from" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["describe", "log.parquet", "--option", "scorer"])
    assert "'scorer' is not of the form KEY=VALUE" in capsys.readouterr().err


@pytest.mark.filterwarnings("default::polars_scorio.LogWarning")
def test_files_that_cannot_be_read_are_left_out_by_an_option(folder, capsys):
    trial = {"task_id": 1, "trial": 0, "reward": 1}
    (folder / "a.json").write_text(json.dumps([trial]))
    (folder / "b.json").write_text("[1")
    command = ["describe", ".", "--from", "tau_bench"]
    assert main(command) == 2
    assert "files that cannot be read, pass --on-error warn" in capsys.readouterr().err
    assert main([*command, "--on-error", "warn"]) == 0
    assert "1 file is skipped, as --on-error warn says:" in capsys.readouterr().err
    pl.DataFrame({"model": "m", "question": [1], "category": [1]}).write_parquet("c.parquet")
    assert main(["describe", "c.parquet", "--on-error", "warn"]) == 2
    assert "--on-error is for logs of tools: name the tool" in capsys.readouterr().err


def test_logs_of_several_tools_need_a_name(folder, capsys):
    (folder / "ada.json").write_text('[{"task_id": 1, "trial": 0, "reward": 1}]')
    (folder / "ada.run.json").write_text('{"resolved_ids": ["a"]}')
    assert main(["describe", "."]) == 2
    assert "of several tools, swe_bench (" in capsys.readouterr().err
    assert main(["describe", ".", "--from", "tau_bench"]) == 0


def test_questions_without_outcome_may_be_dropped(folder, capsys):
    runs = [{"task_id": t, "trial": 0, "reward": [1, None][t]} for t in range(2)]
    (folder / "ada.json").write_text(json.dumps(runs))
    models(2).write_parquet("log.parquet")
    for log in ("ada.json", "log.parquet"):
        assert main(["describe", log, "--missing", "drop"]) == 0
        assert "unscored" not in capsys.readouterr().out
        assert main(["describe", log, "--missing", "drop", "--unscored", "drop"]) == 0
        assert "unscored" in capsys.readouterr().out


@pytest.mark.slow
def test_rewards_have_a_range(capsys):
    models(2).with_columns(pl.col("category") * 0.5 + 0.25).write_parquet("rewards.parquet")
    arguments = ["report", "rewards.parquet", "--metric", "avg", "--bounds"]
    assert main([*arguments, "0", "1"]) == 0
    assert "m00 is ahead; m01 may be as good." in capsys.readouterr().out
    assert main([*arguments, "0", "0.5"]) == 1
    assert "Give wider --bounds." in capsys.readouterr().out


@pytest.mark.slow
def test_a_page_leaves_unscored_questions_out(capsys):
    table = models(2).with_columns(
        category=pl.when((pl.col("question") > 0) | (pl.col("model") != "m00")).then("category")
    )
    assert table["category"].null_count() > 0
    table.write_parquet("log.parquet")
    plain = ["report", "log.parquet", "--missing", "drop", "-o", "-"]
    assert main(plain) == 1
    capsys.readouterr()
    assert main([*plain, "--unscored", "drop"]) == 0
    assert "cannot be reported" not in capsys.readouterr().out


@pytest.mark.slow
def test_labels_of_people_are_a_column(capsys):
    verdicts().write_parquet("log.parquet")
    assert main(["report", "log.parquet", "--truth", "human", "--metric", "avg", "-o", "-"]) == 0
    printed = capsys.readouterr().out
    assert "People labelled 138 verdicts, 37 to 53 of each model." in printed


def test_a_judge_has_two_rates(capsys):
    verdicts().write_parquet("log.parquet")
    rates = ["--sensitivity", "88/100", "--specificity", "78/100"]
    assert main(["compare", "log.parquet", *rates]) == 0
    judge = ps.judge(sensitivity=(88, 100), specificity=(78, 100))
    diff = verdicts().scorio(judge=judge).compare()["diff"].to_list()
    assert f"{100 * abs(diff[0]):.1f} [" in capsys.readouterr().out
    assert main(["compare", "log.parquet", *rates[:2]]) == 2
    assert "give --specificity too" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", "log.parquet", "--sensitivity", "0.88", *rates[2:]])
    assert "'0.88' is not of the form 88/100" in capsys.readouterr().err


@pytest.mark.slow
def test_one_thread_is_enough(folder):
    samples = "".join(
        json.dumps(
            {
                "doc_id": q,
                "filter": "none",
                "resps": [["x"]],
                "filtered_resps": ["x"],
                "metrics": ["acc"],
                "acc": float(q % 2),
            }
        )
        + "\n"
        for q in range(12)
    )
    (folder / "samples_arc_2026-01-01T00-00-00.0.jsonl").write_text(samples)
    command = [sys.executable, "-m", "polars_scorio", "describe", "."]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 - our own code
        command, env=environment, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_several_columns_may_identify_a_question(tmp_path, capsys):
    rows = [
        (model, suite, case, trial, (case * 7 + trial * 3 + len(suite)) % 2)
        for model in ("ada", "bob")
        for suite in ("x", "yy")
        for case in range(5)
        for trial in range(3)
    ]
    log = pl.DataFrame(rows, ["model", "suite", "case", "trial", "category"], orient="row")
    log.write_csv(tmp_path / "log.csv")
    asked = ["counts", str(tmp_path / "log.csv"), "--question", "suite", "--question", "case"]
    assert main([*asked, "--format", "csv"]) == 0
    found = pl.read_csv(capsys.readouterr().out.encode())
    counts = log.scorio(question=["suite", "case"]).counts()
    assert found.rows() == counts.rows()
    assert found["question"].n_unique() == 10
    assert found.columns == counts.columns
    assert main([*asked[:2], "--question", "case", "--format", "csv"]) == 1  # of both suites
    assert "--by suite makes them unique" in capsys.readouterr().err
    (tmp_path / "log.jsonl").write_text(
        "".join(f'{{"suite": "{suite}", "of": {{"id": 1}}, "ok": 1}}\n' for suite in "xy")
    )
    records = ["describe", str(tmp_path / "log.jsonl"), "--from", "records", "--category", "ok"]
    for paths, questions in ((["suite", "of.id"], 2), (["suite"], 2)):
        given = [word for path in paths for word in ("--question", path)]
        assert main([*records, "--model", "'m'", *given, "--format", "csv"]) == 0
        assert pl.read_csv(capsys.readouterr().out.encode())["questions"].to_list() == [questions]


# Metrics and inference, as arguments.


@pytest.mark.slow
def test_metrics_and_options_are_those_of_python(log):
    arguments = ["--metric", "avg", "--metric", "pass_at_k([1, 2])", "--confidence", "0.8",
                 "--title", "Two", "-o", "two.html"]  # fmt: skip
    assert main(["report", log, "--by", "bench", *arguments]) == 0
    text = page_text("two.html")
    for part in ("Two", "avg@4", "Pass@2", "calibrated 80 % intervals"):
        assert part in text
    assert "Bayes@" not in text


def test_a_metric_that_is_none_is_an_error_of_usage(log, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["report", log, "--metric", "pass_at_n(4)"])
    assert exit_.value.code == 2
    assert "there is no metric pass_at_n" in capsys.readouterr().err


# Logs on standard input, in all formats of files.


WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda log, file: log.write_csv(file, separator="\t"),
    "json": pl.DataFrame.write_json,
    "jsonl": pl.DataFrame.write_ndjson,
}


def give_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("kind", WRITERS)
def test_standard_input_is_a_log(capsys, monkeypatch, kind):
    models(2).write_parquet("log.parquet")
    assert main(["rank", "log.parquet", "--format", "csv"]) == 0
    expected = capsys.readouterr().out
    data = io.BytesIO()
    WRITERS[kind](models(2), data)
    give_input(monkeypatch, data.getvalue())
    assert main(["rank", "-", "--format", "csv"]) == 0
    assert capsys.readouterr().out == expected


def zstd_bytes(data):
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(data)
    return packed.getvalue().to_pybytes()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("compress", [gzip.compress, zstd_bytes])
def test_compressed_input_is_unpacked(capsys, monkeypatch, kind, compress):
    WRITERS[kind](models(2), f"log.{kind}")
    assert main(["rank", f"log.{kind}", "--format", "json"]) == 0
    expected = capsys.readouterr().out
    give_input(monkeypatch, compress(Path(f"log.{kind}").read_bytes()))
    assert main(["rank", "-", "--format", "json"]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("data", "logs", "message"),
    [
        pytest.param(b" \n", ["-"], "standard input is empty", id="empty"),
        pytest.param(gzip.compress(b"a,b")[:-9], ["-"], "damaged or truncated", id="damaged"),
        pytest.param(b"a,b\n", ["-", "-"], "name - once", id="twice"),
    ],
)
def test_input_that_is_no_log_says_so(capsys, monkeypatch, data, logs, message):
    give_input(monkeypatch, data)
    assert main(["describe", *logs]) == 2
    assert message in capsys.readouterr().err
