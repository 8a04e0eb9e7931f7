"""The logs of verl."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    numbered_objects,
    rows_table,
    unexpected_content,
    with_kept,
)
from polars_scorio.logs.kept_fields import Getter, kept_getters, kept_values
from polars_scorio.logs.paths import Paths, path_model, read_each, refuse_unnamed
from polars_scorio.logs.read import own_files
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_columns,
    log_reader,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, run_literals

_EXPECTED = "<step>.jsonl of verl, with input, score and step"
_COLUMNS = log_columns("step", "question", "trial", "reward", "score", step=pl.Int64)
_CHUNK = 10_000


@log_reader
def verl(
    paths: Paths,
    *,
    reward: str = "acc",
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read verl: the <step>.jsonl of trainer.validation_data_dir or rollout_data_dir.

    A question is the sample in the uid that the v1 trainer writes. Without a uid it is the text of
    the input, and trials have no id. The outcome is null if the reward is missing or NaN. The model
    is not in the file. Columns: model (if it is named), step (which is `by`), question, trial,
    category, reward, score, run (the folder), source (the file).

    Parameters
    ----------
    model
        Default: none; files of several folders need it.
    reward : str
        What the reward function returns: a key of the lines.
    threshold
        Default: the category is the reward; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If it has no such reward.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.verl("validation").avg()  # doctest: +SKIP
    """
    files = own_files(paths, "verl", "*.jsonl")
    model = roles.get("model")
    refuse_unnamed(files, model)
    keep = kept_getters(roles.get("keep"))
    parts = read_each(
        files,
        lambda file: _step_rollouts(file, reward, path_model(file, model), keep),
        roles,
    )
    described = {file: part for file, (_, part) in parts.items()}
    runs = {file: part.run for file, part in described.items()}
    tables = [
        table.select(**run_literals(file, part.run), **{name: pl.col(name) for name in _COLUMNS})
        for file, (table, part) in parts.items()
    ]
    frame = pl.concat(tables).with_columns(category=reward_outcome(threshold))
    trial = "trial" if frame["trial"].count() else None
    role = "model" if model else None
    return log_accessor(
        with_kept(frame, described, keep), runs, roles, model=role, by="step", trial=trial
    )


def _step_rollouts(
    file: Path, reward: str, model: str | None, keep: Mapping[str, Getter]
) -> tuple[pl.DataFrame, FileRows]:
    """The rollouts of a file, read in chunks to save memory; its run; what is kept of its lines."""
    # Python parses the lines, because verl writes NaN, which Polars does not read.
    lines = numbered_objects(file, _EXPECTED)
    chunks: list[pl.DataFrame] = []
    kept: list[Row] = []
    while part := [*islice(lines, _CHUNK)]:
        if not chunks and not any(reward in line for _, line in part):
            problem = f"lines without the reward {reward!r}: {[*part[0][1]]}, see reward="
            raise unexpected_content(file, _EXPECTED, problem)
        rows = [_line_row(file, number, line, reward) for number, line in part]
        chunks.append(rows_table({file: rows}, _COLUMNS, _EXPECTED))
        kept += kept_values((line for _, line in part), keep)
    run = Run(name=file.parent.name, keys={"model": model})
    return pl.concat(chunks), FileRows([], run, kept=kept)


def _line_row(file: Path, number: int, line: dict[str, Any], reward: str) -> Row:
    """One rollout, as a row with the columns of the table."""
    with errors_name_file(file, _EXPECTED, f" in line {number}"):
        numbers = _reward_number(line.get(reward)), _reward_number(line["score"])
        return line["step"], *_line_ids(line), *numbers


def _line_ids(line: dict[str, str]) -> tuple[str, str | None]:
    """Question and trial of a line; without a uid the text of the input, and no trial."""
    if "uid" not in line:
        return line["input"], None
    sample, rollout, output = line["uid"].rsplit("_", 2)
    return sample, f"{rollout}_{output}"


def _reward_number(value: Any) -> float | None:
    """A reward as a number; reward functions may return truth values or texts."""
    return None if value is None else float(value)
