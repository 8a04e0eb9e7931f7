"""The logs of TRL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import unexpected_content
from polars_scorio.logs.parquet import parquet_columns
from polars_scorio.logs.paths import Paths, find_files, path_model, refuse_unnamed
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "completions_<step>.parquet of TRL's GRPOTrainer, with step and prompt"
_OTHERS = "step", "prompt", "completion", "advantage", "image", "images"


@log_reader
def trl(
    paths: Paths,
    *,
    model: str | None = None,
    reward: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """TRL (GRPO): <output_dir>/completions/completions_<step>.parquet (log_completions=True).

    The outcome is null where the reward function returned None. The model is not in the file, and
    completions carry no id. Columns: model (if it is named), step (which is `by`), question (the
    prompt), category, reward.

    Parameters
    ----------
    model
        Default: none; files of several folders need it.
    reward : str, optional
        The reward function, a column of the file. Default: the only one there is.
    threshold
        Default: the category is the reward; ``levels=`` says which there are.

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
    refuse_unnamed(files, model)
    frames = [
        _scan_completions(file, _chosen_reward(file, reward), path_model(file, model))
        for file in files
    ]
    log = pl.concat(frames).with_columns(category=reward_outcome(threshold))
    return log_accessor(log, roles, model="model" if model else None, by="step", trial=None)


def _chosen_reward(file: Path, reward: str | None) -> str:
    """The column of the reward, which the file must have."""
    found = parquet_columns(file, _EXPECTED).names()
    if not {"step", "prompt"} <= {*found}:
        raise unexpected_content(file, _EXPECTED, f"the columns {found}")
    rewards = [name for name in found if name not in _OTHERS]
    if reward not in rewards and (reward is not None or len(rewards) != 1):
        asked = "" if reward is None else f" and not {reward!r}"
        raise ValueError(f"{file} has the rewards {rewards}{asked}: name one with reward=")
    return reward or rewards[0]


def _scan_completions(file: Path, reward: str, model: str | None) -> pl.LazyFrame:
    rows = pl.scan_parquet(file).select("step", question="prompt", reward=reward)
    return rows if model is None else rows.select(pl.lit(model).alias("model"), pl.all())
