"""The logs of harbor, which runs Terminal-Bench 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import Row, model_table, rows_by_file
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "result.json of a trial of harbor: an object with task_name and agent_info"
_COLUMNS = {
    "agent": pl.String,
    "llm": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "reward": pl.Float64,
    "exception": pl.String,
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
    ``missing=0``. Columns: model, agent, llm, question, trial, category, reward, exception.

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
    runs = rows_by_file(
        paths, ("result.json",), _EXPECTED, lambda _, trial: _trial_row(trial, reward)
    )
    players = {file: (part[0][0], part[0][1]) for file, part in runs.items()}
    models = model_names({file: file.parent.parent for file in runs}, model)
    if model is None:
        models = {
            file: f"{agent} / {llm or models[file]}" for file, (agent, llm) in players.items()
        }
    frame = model_table(runs, models, _COLUMNS, _EXPECTED)
    return log_accessor(
        frame.select(
            "model", "agent", "llm", "question", "trial",
            reward_outcome(threshold).alias("category"), "reward", "exception",
        ),
        roles,
    )  # fmt: skip


def _trial_row(trial: Any, reward: str) -> list[Row] | None:  # noqa: ANN401 - JSON
    # The result.json of the whole job lies one folder above; it has no task_name.
    if not isinstance(trial, dict) or "task_name" not in trial:
        return None
    agent = trial["agent_info"]
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    if rewards and reward not in rewards:
        raise KeyError(f"{reward} among the rewards {sorted(rewards)}, see reward=")
    return [
        (
            agent["name"],
            (agent.get("model_info") or {}).get("name"),
            trial["task_name"],
            trial["trial_name"],
            rewards.get(reward),
            (trial.get("exception_info") or {}).get("exception_type"),
        )
    ]
