"""The command as a process: exit statuses and messages."""

import contextlib
import io
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_scorio.command_line import commands
from polars_scorio.command_line.main import _COMMANDS, main
from tests.documents import ROOT, code_blocks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.parquet"], "there is no file or folder nothing.parquet"),
        (["log.parquet", "--question", "task"], "there is no column 'task' for the question"),
        (["log.parquet", "--confidence", "2"], "confidence must be"),
        (["log.parquet", "--n", "0"], "n must be a positive int"),
        (["log.parquet", "--category", "reward >="], "neither a column nor"),
        (["log.parquet", "-o", "no/folder/report.html"], "there is no folder"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_cannot_be_run_says_so(capsys, arguments, message):
    assert main(["report", *arguments]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.startswith("polars-scorio: ")
    assert "Traceback" not in printed


@pytest.mark.slow
def test_it_is_a_module_too(log):
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "polars_scorio",
        "describe",
        log,
        "--by",
        "bench",
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)  # noqa: S603
    assert done.stderr == ""
    assert "bench 1" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["describe", "log.parquet", "--by", "bench"], ["--help"]])
@pytest.mark.usefixtures("log")
def test_a_reader_who_has_seen_enough_is_no_error(arguments):
    command = [sys.executable, "-m", "polars_scorio", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode in {0, 141}  # argparse passes over a broken pipe


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("redirection", "arguments", "status", "error"),
    [
        (">&-", ["log.parquet", "--by", "bench"], 0, ""),
        ("2>&-", ["nothing.parquet"], 2, ""),
        ("<&-", ["-"], 2, "polars-scorio: standard input is closed\n"),
    ],
)
@pytest.mark.usefixtures("log")
def test_a_closed_stream_is_no_traceback(redirection, arguments, status, error):
    command = [sys.executable, "-m", "polars_scorio", "describe", *arguments]
    closed = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (status, "", error)


def test_a_link_to_itself_is_no_log_and_no_traceback(folder, capsys):
    (folder / "loop").symlink_to("loop")
    for arguments in (["loop"], ["rank", "loop"]):
        assert main(arguments) == 2
        said = "polars-scorio: loop is a symbolic link that leads nowhere, or back to itself\n"
        assert capsys.readouterr() == ("", said)


def test_a_name_that_is_too_long_is_no_traceback(capsys):
    assert main([f"{'x' * 5_000}.csv"]) == 2
    with pytest.raises(SystemExit):
        main(["x" * 5_000])
    assert capsys.readouterr().err.count("polars-scorio: ") == 2


def test_an_interrupt_ends_without_a_traceback(log, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "describe_answer", interrupt)
    assert main(["describe", log, "--by", "bench"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", _COMMANDS)
def test_only_the_help_of_gates_and_checks_lists_exit_statuses(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    _, *listed = capsys.readouterr().out.split("exit statuses:\n")
    statuses = [int(line.split()[0]) for text in listed for line in text.splitlines()]
    known = {"gate": [0, 1, 2, 3, 4, 130, 141], "check": [0, 1, 2]}
    assert statuses == known.get(command, [])


USAGE_ERRORS = {
    "": "name a log, or a command and a log",
    "rank": "give LOG",
    "rank log.parquet --sucess 1": "there is no option --sucess: did you mean '--success'?",
    "rank log.parquet --zzz=1": "there is no option --zzz",
    "rank a.csv --n 1 b.csv": "'b.csv' stands behind an option: name all logs before the options",
    "rank log.parquet --metric": "--metric: expected one argument",
    "rank log.parquet --metric pass_at_K": "--metric: pass_at_K: there is no metric pass_at_K: did "
    "you mean 'pass_at_k'?",
    "rank log.parquet --n x": "--n: invalid int value: 'x'",
    "rank log.parquet --threshold 5%": "--threshold: '5%' is not a number: write percentages as "
    "shares, 3 % as 0.03",
    "rank log.parquet --format tabel": "--format must be table, csv, json or markdown, got "
    "'tabel': did you mean 'table'?",
    "nothing_like_it": "'nothing_like_it' is neither a command nor a file: the commands are "
    "demo, summary, report, leaderboard, describe, check, compare, rank, counts, gate, "
    "regressions, plan, questions, reruns, card, frontier",
}


@pytest.mark.parametrize("typed", USAGE_ERRORS)
def test_an_error_of_usage_says_first_what_is_wrong(capsys, typed):
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    command = typed.split()[:1] * (typed[:7] != "nothing")
    help_ = " ".join(["polars-scorio", *command])
    assert capsys.readouterr().err == f"polars-scorio: {USAGE_ERRORS[typed]}\nSee {help_} --help.\n"


def test_the_tool_that_was_meant_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["rank", "log.json", "--from", "tau3"])
    assert "verl or records, got 'tau3': did you mean 'tau2_bench'?\n" in capsys.readouterr().err


@pytest.mark.parametrize("command", _COMMANDS)
def test_options_are_helped_with_in_verbs(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help-all"])
    listed = " ".join(capsys.readouterr().out.split())
    for riddle in ("as in Python", "stands above", "rest on", "the same of", "its like", " alone"):
        assert riddle not in listed
    assert not re.search(r"\((0\.\d+|same|benchmark|table|question)\)", listed)


@pytest.mark.parametrize("command", sorted(_COMMANDS.keys() - {"demo"}))
def test_help_shows_about_ten_options_and_help_all_the_rest(command, capsys):
    shown = []
    for help_ in ("--help", "--help-all"):
        with pytest.raises(SystemExit):
            main([command, help_])
        shown.append(
            {
                *re.findall(
                    r"^  (?:-\w(?: \w+)?, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE
                )
            }
        )
    few, all_ = shown
    assert few < all_
    assert 6 <= len(few - {"--help", "--help-all"}) <= 12
    # Errors tell people to use these.
    assert {"--trial", "--overall"} & all_ <= few
    assert {"--n", "--from", "--threshold"} <= all_ - few


@pytest.mark.slow
@pytest.mark.parametrize("command", [[], *([name] for name in _COMMANDS)], ids=" ".join)
def test_help_imports_nothing_that_it_does_not_need(command):
    code = f"""import contextlib, sys
from polars_scorio.command_line.main import main
with contextlib.suppress(SystemExit):
    main({[*command, "--help"]})
heavy = ["scipy.special", "polars_scorio.accessors", "polars_scorio.logs", "polars_scorio.study"]
print([name for name in heavy + ["numpy"] * {not command} if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines()[-1] == "[]"


def help_examples():
    """The commands among the examples of all help texts, and of the page on reports."""
    page = code_blocks(ROOT / "examples" / "guide" / "reports.md")
    lines = [line for kind, text in page if kind == "sh" for line in text.splitlines()]
    for command in ([], *([name] for name in _COMMANDS)):
        help_ = io.StringIO()
        with contextlib.redirect_stdout(help_), contextlib.suppress(SystemExit):
            main([*command, "--help"])
        shown = help_.getvalue().partition("\nexample")[2].partition("\n\n")[0]
        lines += [line.strip() for line in shown.splitlines()[1:]]
    return [*dict.fromkeys(lines)]


def test_all_commands_have_an_example():
    assert len(help_examples()) > len(_COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("line", help_examples())
def test_examples_run_on_the_log_of_the_guide(line, capsys, monkeypatch):
    log = runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()
    if "new.parquet" in line:
        log.filter(model="ember-large").write_parquet("new.parquet")
        log.filter(model="comet-70b").write_parquet("old.parquet")
    else:
        log.write_parquet("rollouts.parquet")
    piped, _, typed = line.rpartition("polars-scorio ")
    if piped:
        data = Path(piped.removeprefix("cat ").removesuffix(" | ")).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    found = main(shlex.split(typed.partition(" > ")[0], comments=True))
    printed = capsys.readouterr()
    assert found in ({0, 3, 4} if typed.startswith("gate") else {0})
    assert printed.err == ""
    assert printed.out != ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_commands_options_and_files(shell, capsys):
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for word in ("regressions", "frontier", "lower-is-better", "unmatched"):
        assert word in printed
    assert {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}[shell] in printed


def test_completion_without_its_package_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", "bash"])
    assert ended.value.code == 2
    assert "pip install 'polars-scorio[completion]'" in capsys.readouterr().err


# A person without a log sees everything in one command.


def test_a_demo_writes_a_log_prints_its_answer_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "new/tried"]) == 0
    log = pl.read_parquet("new/tried/rollouts.parquet")
    made = runpy.run_path(str(ROOT / "examples" / "rollouts.py"))["rollouts"]()
    assert_frame_equal(log, made)
    printed = capsys.readouterr().out
    assert "$ polars-scorio new/tried/rollouts.parquet --by domain\n" in printed
    assert "comet-70b is ahead; ember-large may be as good." in printed
    assert printed.endswith("new/tried/report.html\n")
    page = (tmp_path / "new" / "tried" / "report.html").read_text(encoding="utf-8")
    assert "comet-70b is ahead" in page


def test_a_demo_overwrites_no_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rollouts.parquet").write_text("mine", encoding="utf-8")
    assert main(["demo"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "File exists: 'rollouts.parquet'. Name a new folder: polars-scorio demo FOLDER" in said
    assert (tmp_path / "rollouts.parquet").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "report.html").exists()
