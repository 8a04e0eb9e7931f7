"""The logs of harbor, which runs Terminal-Bench 2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    model_runs,
    model_table,
    rows_by_file,
    with_kept,
)
from polars_scorio.logs.kept_fields import Vocabulary, kept_getters, time_between
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome
from polars_scorio.logs.runs import RUN_COLUMNS, Run, run_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "result.json of a trial of harbor: an object with task_name and agent_info"
# Settings that tell runs of one model apart.
SETTINGS = ("version", "provider", "config.agent.kwargs")
_COLUMNS = {
    "agent": pl.String,
    "version": pl.String,
    "llm": pl.String,
    "provider": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "reward": pl.Float64,
    "exception": pl.String,
}

_VOCABULARY: Vocabulary = {
    "usd": "agent_result.cost_usd",
    "input_tokens": "agent_result.n_input_tokens",
    "output_tokens": "agent_result.n_output_tokens",
    "seconds": time_between("agent_execution.started_at", "agent_execution.finished_at"),
}


@log_reader
def harbor(
    paths: Paths,
    *,
    model: str | None = None,
    reward: str = "reward",
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Harbor (Terminal-Bench 2): <jobs>/<job>/<trial>/result.json, one a trial.

    The outcome is null where the verifier did not judge. An exception does not tell: after a
    timeout of the agent the verifier may run all the same. The rule of the Terminal-Bench
    leaderboard, timeouts fail and every other exception is left out, is a filter on `exception` and
    ``missing=0``. Columns: model, agent, version (of the agent), llm, provider, question, trial,
    category, reward, exception, run (the job), source (the file).

    Parameters
    ----------
    model
        Default: "agent / model"; where the log knows no model, "agent / job", the job being a
        folder.
    reward : str
        Which of the rewards.
    threshold
        Default: the category is the reward; ``levels=`` says which there are.

    Raises
    ------
    ValueError
        If no trial has that reward.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.harbor("jobs", threshold=1).pass_hat_k([1, 5])  # doctest: +SKIP
    """
    keep = kept_getters(roles.get("keep"), _VOCABULARY)
    parts = rows_by_file(
        paths,
        ("result.json",),
        _EXPECTED,
        lambda file, trial: _trial_row(file, trial, reward),
        on_error=roles.get("on_error", "raise"),
        keep=keep,
    )
    models = model_names({file: file.parent.parent for file in parts}, model)
    if model is None:
        models = {
            file: f"{part.run.keys['agent']} / {part.run.keys['llm'] or models[file]}"
            for file, part in parts.items()
        }
    frame = model_table(parts, models, _COLUMNS, _EXPECTED)
    keys = ["model", "agent", "version", "llm", "provider", "question", "trial"]
    outcome = reward_outcome(threshold).alias("category")
    log = frame.select(*keys, outcome, "reward", "exception", *RUN_COLUMNS)
    return log_accessor(with_kept(log, parts, keep), model_runs(parts, models), roles)


def _trial_row(file: Path, trial: Any, reward: str) -> FileRows | None:  # noqa: ANN401 - JSON
    # The result.json of the whole job lies one folder above; it has no task_name.
    if not isinstance(trial, dict) or "task_name" not in trial:
        return None
    agent = trial["agent_info"]
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    if rewards and reward not in rewards:
        raise KeyError(f"{reward} among the rewards {sorted(rewards)}, see reward=")
    llm = agent.get("model_info") or {}
    player = {
        "agent": agent["name"],
        "version": agent.get("version"),
        "llm": llm.get("name"),
        "provider": llm.get("provider"),
    }
    rows: list[Row] = [
        (
            *player.values(),
            trial["task_name"],
            trial["trial_name"],
            rewards.get(reward),
            (trial.get("exception_info") or {}).get("exception_type"),
        )
    ]
    described = Run(
        name=file.parent.parent.name,
        keys=player,
        identity=trial.get("id"),
        started=trial.get("started_at"),
        settings=run_settings({**trial, **player}, SETTINGS),
    )
    return FileRows(rows, described, [trial])
