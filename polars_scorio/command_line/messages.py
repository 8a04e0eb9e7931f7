"""Messages of the command, and how its tables and progress are printed.

What comes from a log is escaped where it enters; the codes of colours are added after that. What
help does not need is imported where it is used.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from typing_extensions import Self


PROGRAM = "polars-scorio"
STANDARD_INPUT = "-"  # as the name of a log
TableFormat: TypeAlias = Literal["table", "csv", "json", "markdown"]
BoardFormat: TypeAlias = Literal["table", "markdown", "latex", "html", "csv", "json"]
# In messages these keywords say where something is, or belong to Python alone.
_PLACES = {"log", "model", "question", "trial", "category", "metric"}
# Options of commands that a message names, whatever command it is the message of.
_OF_COMPARISONS = {"target", "unmatched"}
# Ways out that the command has no option for.
_PYTHON_ALONE = (
    r",? or (?:weigh them all with w=(?:\{[^}]*\})?"
    r"|validate=False to skip this check|skip the check with validate=False"
    r"|make them one before, as in pl\.col\([^)]*\)[.\w()]*\(\))"
    r"|, as in (?:(?:category|cost)=pl\.col\([^)]*\) \* 1e\d+|bounds=\([^)]*\))"
)


def print_text(text: str) -> None:
    """Print a text for people, in which no name of a log can command the terminal."""
    from polars_scorio.display.phrases import visible_text

    print_data(visible_text(text))


def print_data(text: str) -> None:
    """Print a text; characters that the encoding of a Windows pipe lacks become question marks."""
    print(text.encode(_output_encoding(), "replace").decode(_output_encoding()))


def print_table(rows: pl.DataFrame | pl.LazyFrame, written: TableFormat = "table") -> None:
    """Print all rows and columns of a table."""
    frame = rows.lazy().collect()
    if written == "csv":
        print_data(_flat_lists(frame).write_csv().removesuffix("\n"))
    elif written == "json":
        print_data(frame.write_json())
    elif written == "markdown":
        from polars_scorio.display.table import markdown_rows

        print_text(markdown_rows(frame))
    else:
        print_text(_box_table(frame))


def _flat_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with lists as texts, such as ``0;1``: a cell of CSV has no list."""
    of_structs = [n for n, dtype in frame.schema.items() if dtype == pl.List(pl.Struct)]
    frame = frame.with_columns(pl.col(of_structs).list.eval(pl.element().struct.json_encode()))
    lists = pl.selectors.by_dtype(pl.List)
    return frame.with_columns(lists.cast(pl.List(pl.String)).list.join(";"))


def _box_table(frame: pl.DataFrame) -> str:
    """The table in a frame of lines, with three decimals."""
    lines = "┌".encode(_output_encoding(), "ignore")
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=100,
        float_precision=3,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        ascii_tables=not lines or None,
    ):
        return str(frame)


def _output_encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def print_message(text: str, options: Mapping[str, Any]) -> None:
    """Print an error or a warning to standard error, in the words of the command."""
    from polars_scorio.display.phrases import visible_text

    said = visible_text(command_words(text, options)).split("\n")
    if sys.stderr.isatty():
        from polars_scorio.display.media.terminal import Screen

        screen = Screen.from_output()
        said = [line for part in said for line in screen.prose(part, indent=0)]
    print("\n".join(said), file=sys.stderr)


@contextmanager
def warnings_printed(options: Mapping[str, Any]) -> Iterator[None]:
    """Print warnings as messages of the command, without the path and line that raised them."""

    def print_warning(message: Warning | str, *_: object) -> None:
        print_message(f"{PROGRAM}: warning: {message}", options)

    with warnings.catch_warnings():
        warnings.showwarning = print_warning  # type: ignore[assignment]  # it needs no place
        yield


def command_words(text: str, options: Mapping[str, Any]) -> str:
    """A message about keywords of Python as one about options of the command.

    `options` may have a function `typed`, which writes a command about the same log.

    >>> command_words('Take ps.avg(). describe(per="question") lists them.', {})
    'Take avg. polars-scorio describe --per question lists them.'
    """
    typed = options.get("typed", _bare_command)
    text = re.sub(_PYTHON_ALONE, "", text)
    text = re.sub(r"(?<![\w.])ps\.(\w+)\(\)", r"\1", text)
    text = re.sub(
        r'(?<![\w.])(describe|check)\((?:per="(\w+)")?\)',
        lambda said: shlex.join(
            [PROGRAM, *typed(said[1], **({"per": said[2]} if said[2] else {}))]
        ),
        text,
    )
    text = re.sub(r"(?<![\w.])(report|compare|gate|rank|questions|reruns)\(\)", r"\1", text)
    # With a value these say where something is: model='ada', question=7.
    text = re.sub(r"(?<![\w.])(model|trial)=None\b", r"--\1 none", text)
    text = re.sub(r'(?<![\w.])model=r("[^"]*")', r"--model \1", text)
    text = re.sub(r"(?<![\w.])(model|question|trial|category)=(?=[\s,;:.)]|$)", r"--\1", text)
    text = re.sub(r"(?<![\w.])by=\[('[^\]]*')\]", _repeated_option, text)
    names = "|".join(sorted({*options, *_OF_COMPARISONS} - _PLACES))
    # Other lists and expressions stay as they are: the command spells them in other ways.
    value, end = r"""("[^"]*"|'[^']*'|-?\w+(?:\.\d+)?)?""", r"(?![^\s,;:.)]|\.\w)"
    option = rf"(?<![\w.])({names})={value}{end}"
    return re.sub(option, _option_words, text)


def _bare_command(name: str, per: str | None = None) -> list[str]:
    return [name, "--per", per] if per else [name]


def _repeated_option(strata: re.Match[str]) -> str:
    """A list of columns, such as by=['task', 'split'], as one types it to the command."""
    return " ".join(f"--by {name}" for name in re.findall(r"'([^']*)'", strata[1]))


def _option_words(keyword: re.Match[str]) -> str:
    """A keyword with its value, such as missing="drop", as one types it to the command."""
    name, value = keyword.groups(default="")
    return f"--{name.replace('_', '-')} {value.strip(chr(34) + chr(39))}".rstrip()


def print_lines(lines: Sequence[str]) -> None:
    """Print an answer, which begins with a blank line."""
    print_data("\n".join(["", *lines]))


_PATIENCE = 2.0  # seconds


class Progress:
    """Print the current step to a stream, once the work takes longer than two seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._step, self._late, self._lock = stream, "", False, Lock()
        self._timer = Timer(_PATIENCE, self._start_printing)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def tell(self, step: str) -> None:
        """Say that a step begins."""
        with self._lock:
            self._step = step
            if self._late:
                self._print_step()

    def _start_printing(self) -> None:
        with self._lock:
            self._late = True
            self._print_step()

    def _print_step(self) -> None:
        print(f"{self._step} ...", file=self._stream, flush=True)
