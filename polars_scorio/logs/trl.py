"""The logs of TRL."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.files import parquet_columns, scan_table
from polars_scorio.logs.json_files import unexpected_content
from polars_scorio.logs.paths import (
    Paths,
    find_files,
    joined_files,
    path_model,
    read_each,
    refuse_unnamed,
)
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_reader,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, run_literals

_EXPECTED = "completions_<step>.parquet of TRL's GRPOTrainer, with step and prompt"
_NO_REWARDS = "step", "prompt", "completion", "advantage", "image", "images"


@log_reader
def trl(
    paths: Paths,
    *,
    reward: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """Read TRL (GRPO): <output_dir>/completions/completions_<step>.parquet (log_completions=True).

    The outcome is null if the reward function returned None. The model is not in the file, and
    completions have no id. Columns: model (if it is named), step (which is `by`), question (the
    prompt), reward, category, run (the output folder), source (the file).

    Parameters
    ----------
    model
        Default: none; files of several folders need it.
    reward : str, optional
        The reward function, a column of the file. Default: the only one there is.
    threshold
        Default: the category is the reward; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If it has no such reward, or several.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.trl("completions", reward="accuracy_reward", threshold=1).avg()  # doctest: +SKIP
    """
    files = [*find_files(paths, "completions_*.parquet")]
    model = roles.get("model")
    refuse_unnamed(files, model)
    rewards = read_each(files, lambda file: _chosen_reward(file, reward), roles)
    names = {file: path_model(file, model) for file in rewards}
    # TRL makes a folder `completions` in the output folder of a run.
    above = {file: file.parents[file.parent.name == "completions"].name for file in names}
    runs = {file: Run(name=above[file], keys={"model": name}) for file, name in names.items()}

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        fields = {"step": "step", "question": "prompt", "reward": rewards[file]}
        columns = {name: pl.col(field) for name, field in fields.items()}
        return scan_table(file, run_literals(file, run) | columns, roles.get("keep"))

    log, runs = joined_files(runs, scan, roles)
    table = log.with_columns(category=reward_outcome(threshold))
    role = "model" if model else None
    return log_accessor(table, runs, roles, model=role, by="step", trial=None)


def _chosen_reward(file: Path, reward: str | None) -> str:
    """The column of the reward: the one that the user named, or the only one of the file."""
    names = parquet_columns(file, _EXPECTED).names()
    if not {"step", "prompt"} <= {*names}:
        raise unexpected_content(file, _EXPECTED, f"the columns {names}")
    rewards = [name for name in names if name not in _NO_REWARDS]
    if reward not in rewards and (reward is not None or len(rewards) != 1):
        asked = "" if reward is None else f" and not {reward!r}"
        raise ValueError(f"{file} has the rewards {rewards}{asked}: name one with reward=")
    return reward or rewards[0]
