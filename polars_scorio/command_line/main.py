"""The command `polars-scorio`: its arguments, its exit status and its error messages."""

from __future__ import annotations

import os
import re
import shlex
import sys
from argparse import Action, ArgumentError, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from os.path import lexists
from pathlib import Path
from typing import Any, NoReturn

from polars.exceptions import PolarsError

from polars_scorio.command_line.messages import (
    PROGRAM,
    STANDARD_INPUT,
    command_words,
    print_message,
    warnings_printed,
)

_STATUSES = """\
exit statuses:
  0    the verdict is pass, or undecided with --undecided pass
  1    no gate: the log, or the value of an option, is refused (--junit: an error)
  2    the command cannot run: an unknown argument, a malformed value, no such file
  3    the verdict is fail, or undecided with --undecided fail
  4    the verdict is undecided
  130  the command was interrupted
  141  the program that reads its output, such as head, has ended
"""
_OF_CHECKS = """\
exit statuses:
  0    no alarm
  1    an alarm: trials are not what the numbers assume; or the log is refused
  2    the command cannot run: an unknown argument, a malformed value, no such file
"""
_EXITS = {"gate": (_STATUSES,), "check": (_OF_CHECKS,)}
_SUMMARY = "summary"
# Each command: its help, and examples.
_COMMANDS: dict[str, tuple[str, list[str]]] = {
    "demo": (
        "write a log to try, print its answer, and write its page",
        ["polars-scorio demo tried"]),
    _SUMMARY: (
        "print which model is best, and how sure that is; the default command",
        ["polars-scorio rollouts.parquet --by domain"]),
    "report": (
        "write a report as one HTML file",
        ["polars-scorio report rollouts.parquet --by domain -o report.html",
         'polars-scorio report "*.parquet" --by domain --metric "pass_at_k([1, 4])" -o -']),
    "leaderboard": (
        "print the leaderboard as a table for a README, a paper or a page",
        ["polars-scorio leaderboard rollouts.parquet --by domain --format latex"]),
    "describe": (
        "print what is in a log, and what is missing",
        ["polars-scorio describe rollouts.parquet --by domain --per question"]),
    "check": (
        "test the trials: copies, runs that differ, stopping on outcomes, errors, labels",
        ["polars-scorio check rollouts.parquet --by domain"]),
    "compare": (
        "print which models are better than others, with paired differences",
        ["polars-scorio compare rollouts.parquet --by domain --baseline comet-70b"]),
    "rank": (
        "print the ranking, with the range of ranks that the data allow each model",
        ["polars-scorio rank rollouts.parquet --by domain --format markdown",
         'cat rollouts.parquet | polars-scorio rank - --by domain --metric "pass_at_k(4)"']),
    "counts": (
        "print the number of trials of each question and outcome",
        ["polars-scorio counts rollouts.parquet --by domain --format csv > counts.csv"]),
    "gate": (
        "test whether a model is worse than a baseline by at most a margin (non-inferiority)",
        ["polars-scorio gate rollouts.parquet --by domain --baseline comet-70b --margin 0.02",
         "polars-scorio gate new.parquet --against old.parquet --by domain --margin 0.05"]),
    "regressions": (
        "print which questions became worse from a baseline to another version",
        ["polars-scorio regressions rollouts.parquet --by domain --baseline comet-70b"]),
    "plan": (
        "print how many more trials would decide which model is better",
        ["polars-scorio plan rollouts.parquet --by domain",
         "polars-scorio plan rollouts.parquet --by domain --half-width 0.02"]),
    "questions": (
        "print questions that are never, always or sometimes solved",
        ["polars-scorio questions rollouts.parquet --by domain"]),
    "reruns": (
        "print how far a rerun moves a score by chance, and which questions are flaky",
        ["polars-scorio reruns rollouts.parquet --by domain",
         "polars-scorio reruns rollouts.parquet --by domain --per question"]),
    "card": (
        "write a picture of the leading models, for a chat or a slide",
        ["polars-scorio card rollouts.parquet --by domain -o card.png"]),
    "frontier": (
        "print which models are worth their cost: the Pareto frontier",
        [("polars-scorio frontier rollouts.parquet --by domain --cost "
          "\"CASE WHEN model = 'comet-70b' THEN 3 ELSE 1 END\"")]),
}  # fmt: skip
_REFUSED, _USAGE = 1, 2  # exit statuses
_INTERRUPTED, _BROKEN_PIPE = 130, 141  # those of a process that SIGINT or SIGPIPE ends
# A warning is an error if Python runs with -W error.
_ERRORS = (ValueError, TypeError, OSError, ImportError, PolarsError, Warning)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, with the arguments of the process unless others are given.

    Returns 0; 1 if the log is refused (`report` writes a page that says why); 2 if the command
    cannot run; of `gate` 3 if a candidate fails, 4 if it is undecided; 130 if it was interrupted;
    141 if nobody reads its output any more.
    """
    # A stream that the shell has closed is None; what is written to it is for nobody.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for all of the process
    try:
        try:
            return _exit_status(named_command(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, left the pipe; at exit Python flushes once more, into nothing.
        _drop_output()
        return _BROKEN_PIPE
    except OSError as error:  # a full disk
        _drop_output()
        with suppress(OSError):
            print(f"{PROGRAM}: the output cannot be written: {error}", file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _drop_output() -> None:
    """Let what is still to be written, also by Python at exit, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
            continue
        os.dup2(nowhere, stream.fileno())


def named_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with a command in front: a log alone is summarised."""
    first = arguments[0] if arguments else ""
    # A single word that is no file is a command with a typo, which the parser answers.
    is_log = first == STANDARD_INPUT or lexists(first) or not first.isidentifier()
    if not first or first in _COMMANDS or (first != STANDARD_INPUT and first[0] == "-"):
        return [*arguments]
    return [_SUMMARY, *arguments] if is_log else [*arguments]


def _exit_status(given: Sequence[str]) -> int:
    """Run the command, print what is wrong, and return its exit status."""
    brief = not {"-h", "--help"}.isdisjoint(given)
    parser = command_parser(given[0] if given else "", brief=brief)
    if not given:
        parser.error("name a log, or a command and a log")
    asked, call = parser.parse_args(given), f"{PROGRAM} {shlex.join(given)}"
    if asked.command == "demo":
        return _demo_status(Path(asked.folder, "rollouts.parquet"))
    # Imported here: help needs none of it.
    from polars_scorio.command_line.commands import RUNS
    from polars_scorio.command_line.log_arguments import next_words
    from polars_scorio.command_line.log_input import read_log, saved_input, typed_overall
    from polars_scorio.counting.coverage import offer_ids

    asked.typed, status = partial(next_words, call), _USAGE
    try:
        with ExitStack() as stack:
            stack.enter_context(warnings_printed(vars(asked)))
            asked.log = stack.enter_context(saved_input(asked.log))
            log = read_log(asked)
            # A refused log still has a page: other errors of `report` are errors of usage.
            status = _USAGE if asked.command == "report" else _REFUSED
            asked.overall = typed_overall(log, getattr(asked, "overall", None))
            if asked.command != "describe":  # which offers them itself
                offer_ids(log.frame.lazy(), log._roles)
            outcome = RUNS[asked.command](log, asked, call)
    except BrokenPipeError:
        raise
    except _ERRORS as error:
        print_message(f"{PROGRAM}: {error}", vars(asked))
        if getattr(asked, "junit", None):  # of a gate, also if its log cannot be read
            from polars_scorio.command_line.gate_command import write_refusal

            with suppress(OSError):  # a folder that is missing, as the message says
                write_refusal(asked.junit, command_words(str(error), vars(asked)))
        return _USAGE if isinstance(error, FileNotFoundError) else status
    if isinstance(outcome, int):  # the verdict of a gate
        return outcome
    return 0 if outcome is None else _REFUSED


def _demo_status(log: Path) -> int:
    """Write the log, and run the two commands that answer it."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("xb") as file:
            file.write(Path(__file__).with_name("demo.parquet").read_bytes())
    except OSError as error:
        print_message(f"{PROGRAM}: {error}. Name a new folder: {PROGRAM} demo FOLDER", {})
        return _USAGE
    page = str(log.with_name("report.html"))
    for words in ([str(log)], ["report", str(log), "-o", page]):
        words += ["--by", "domain"]
        print(f"$ {PROGRAM} {shlex.join(words)}")
        if status := _exit_status(named_command(words)):
            return status
    return 0


class CommandParser(ArgumentParser):
    """A parser whose errors say first what is wrong, and which word is nearest to a wrong one."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, and how to get help; exit."""
        message = message.removeprefix("argument ")
        message = re.sub("^the following arguments are required: (.*)", r"give \1", message)
        print_message(f"{PROGRAM}: {message}\nSee {self.prog} --help.", {})
        sys.exit(_USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has it
        """Parse the arguments, and refuse an unknown one in the words of its command."""
        namespace_read, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from polars_scorio.arguments import nearest_hint

            name = unknown[0].partition("=")[0]
            if name[:1] != "-":
                self.error(f"{name!r} stands behind an option: name all logs before the options")
            options = [option[2:] for option in self._option_string_actions if option[:2] == "--"]
            hint = nearest_hint(name.lstrip("-"), options).replace("mean '", "mean '--")
            self.error(f"there is no option {name}{hint}")
        return namespace_read, unknown

    def _check_value(self, action: Action, value: object) -> None:
        """Refuse a value that is none of the choices, and name the nearest one."""
        from polars_scorio.arguments import nearest_hint, value_text

        choices = [*map(str, action.choices or [])]
        if not choices or value in choices:
            return
        hint = nearest_hint(str(value), choices)
        if action.option_strings:
            one_of = f"{', '.join(choices[:-1])} or {choices[-1]}"
            message = f"{action.option_strings[0]} must be {one_of}, got {value_text(value)}{hint}"
        else:
            known = "" if hint else f": the commands are {', '.join(choices)}"
            message = f"{value_text(value)} is neither a command nor a file{hint or known}"
        raise ArgumentError(None, message)


class _Version(Action):
    """Print the version, which is looked up when somebody asks for it."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from polars_scorio.display.phrases import installed_version

        print(installed_version())
        parser.exit()


class _Completion(Action):
    """Print the completion of a shell, by a package that is imported when somebody asks for it."""

    def __call__(self, parser: ArgumentParser, _: object, shell: object, *__: object) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("completion needs shtab: pip install 'polars-scorio[completion]'")
        print(shtab.complete(command_parser(), str(shell)))
        parser.exit()


@cache
def command_parser(named: str | None = None, *, brief: bool = False) -> ArgumentParser:
    """The parser of the command's arguments, or of those of the command that is named alone."""
    parser = CommandParser(
        prog=PROGRAM,
        description="Confidence intervals and comparisons for evaluations of language models.",
        epilog=_example_lines([examples[0] for _, examples in _COMMANDS.values()]),
        formatter_class=RawDescriptionHelpFormatter,
    )
    about = "show program's version number and exit"
    parser.add_argument("--version", action=_Version, nargs=0, help=about)
    shells = "print a completion script for this shell, and exit"
    parser.add_argument(
        "--print-completion", action=_Completion, choices=("bash", "zsh", "tcsh"), help=shells
    )
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", dest="command"
    )
    for name, (text, examples) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog="\n".join([_example_lines(examples), *_EXITS.get(name, ())]),
            formatter_class=RawDescriptionHelpFormatter,
        )
        if named in {None, name}:
            from polars_scorio.command_line.log_arguments import add_arguments

            add_arguments(command, name, brief=brief)
    return parser


def _example_lines(lines: Sequence[str]) -> str:
    """Examples at the end of a help text."""
    return "\n  ".join([f"example{'s' * (len(lines) > 1)}:", *lines]) + "\n"
