"""The logs of harbor, which runs Terminal-Bench 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    side_object,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary, path_getter, summed_over, time_between
from polars_scorio.logs.paths import Paths, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_columns,
    log_reader,
    read_rows,
    reward_outcome,
    warn_of_unjudged,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "result.json of a trial of harbor: an object with task_name and agent_info"
# Settings in which runs of one model may differ.
SETTINGS = ("version", "provider", "config.agent.kwargs")
# Exceptions that leave the reward valid: the agent ran out of a budget or refused, as harbor says,
# or the verifier took too long, which the leaderboard counts as a failure.
_OF_THE_AGENT = [
    *("AgentTimeoutError", "ContextWindowExceededError", "ContextLengthExceededError"),
    *("OutputTokenExceededError", "OutputLengthExceededError", "AgentSafetyRefusalError"),
    *("ContentPolicyViolationError", "VerifierTimeoutError"),
]
_JOB = "result.json of a job of harbor: an object with n_total_trials and stats"
_COLUMNS = log_columns("question", "trial", "reward", "exception")
_REWARD = [*_COLUMNS].index("reward")
_BETWEEN = ", "  # several exceptions of a trial


def _trial_parts(trial: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A trial and its steps: of several steps each has its costs and exceptions, the trial none."""
    return [trial, *(trial.get("step_results") or ())]


_VOCABULARY: Vocabulary = {
    word: summed_over(_trial_parts, get)
    for word, get in {
        "usd": path_getter("agent_result.cost_usd"),
        "input_tokens": path_getter("agent_result.n_input_tokens"),
        "output_tokens": path_getter("agent_result.n_output_tokens"),
        "seconds": time_between("agent_execution.started_at", "agent_execution.finished_at"),
    }.items()
}


@log_reader
def harbor(
    paths: Paths,
    *,
    reward: str = "reward",
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read Harbor (Terminal-Bench 2): <jobs>/<job>/<trial>/result.json, one a trial.

    The outcome is null if the verifier did not judge, and after an exception that is not the
    model's fault (a rate limit, the network, a container that did not start), for which harbor
    writes the reward 0. After a timeout of agent or verifier, a full context or output, and a
    refusal the reward counts. A warning lists the trials without an outcome. The Terminal-Bench
    leaderboard counts timeouts as failures and leaves out every other exception: filter
    `exception`, and pass ``missing=0``. In `describe`, `planned` is `n_total_trials` in the
    `result.json` of the job and `reported` is its mean reward, if the job has one agent. Columns:
    model, agent, version (of the agent), llm, provider, question, trial, category, reward,
    exception (also those of steps), run (the job), source (the file).

    Parameters
    ----------
    model
        Default: "agent / model"; where the log knows no model, "agent / job", the job being a
        folder.
    reward : str
        The name of the reward.
    threshold
        Default: the category is the reward; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no trial has that reward.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.harbor("jobs", threshold=1).pass_hat_k([1, 5])  # doctest: +SKIP
    """
    rows = partial(_trial_row, reward=reward)
    log = read_rows(paths, ("result.json",), _EXPECTED, rows, roles, _VOCABULARY)
    log = log.named(
        lambda file: file.parent.parent,
        lambda _, part, job: f"{part.run.keys['agent']} / {part.run.keys['llm'] or job}",
    )
    log = log.with_totals(
        lambda file, _: file.parent.parent,
        lambda files: _job_totals(files[0].parent.parent, [log.parts[f] for f in files], reward),
    )
    strange = pl.col("exception").str.split(_BETWEEN).list.set_difference(_OF_THE_AGENT).list.len()
    table = log.table(_COLUMNS, pl.when(strange.fill_null(0) == 0).then(reward_outcome(threshold)))
    accessor = log_accessor(table, log.runs(), roles)
    warn_of_unjudged(table, "exception")
    return accessor


def _raised_exceptions(trial: Mapping[str, Any]) -> list[str]:
    """The exceptions of a trial and of its steps."""
    raised = (part.get("exception_info") for part in _trial_parts(trial))
    return [exception["exception_type"] for exception in raised if exception]


def _job_totals(job: Path, trials: Sequence[FileRows], reward: str) -> tuple[Totals, ...]:
    """The trials that a job planned, and its mean reward; none if it has no result.json."""
    side = side_file(job / "result.json", "result.json")
    result = side_object(side, _JOB)
    if not result:
        return ()
    rewards = [cast("float | None", part.rows[0][_REWARD]) for part in trials]
    models = {tuple(part.run.keys.values()) for part in trials}
    with errors_name_file(side, _JOB):
        totals = Totals(
            planned=result.get("n_total_trials"),
            reported=_job_mean(result, reward),
            read=len(trials),
            # Harbor counts a trial without a reward as 0.
            score=mean_or_none(value or 0.0 for value in rewards),
            # Of several models the plan does not say how many trials each has.
            rows_are_trials=len(models) == 1,
            file=side,
        )
    return (totals,)


def _job_mean(result: Mapping[str, Any], reward: str) -> float | None:
    """The mean of a reward over a job of one agent, if its trials have no other rewards."""
    evaluations = [*((result.get("stats") or {}).get("evals") or {}).values()]
    means = [metric.get("mean") for each in evaluations for metric in each.get("metrics") or ()]
    # Harbor averages all rewards of a trial.
    rewards = {name for each in evaluations for name in each.get("reward_stats") or ()}
    return means[0] if len(evaluations) == len(means) == 1 and rewards <= {reward} else None


def _trial_row(file: Path, trial: Any, reward: str) -> FileRows | None:
    """The row of a trial; None for files of another kind, such as the result.json of a job."""
    if not isinstance(trial, dict) or "task_name" not in trial:
        return None
    agent = trial["agent_info"]
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    if rewards and reward not in rewards:
        problem = f"no reward {reward!r} among {sorted(rewards)}: name one with reward="
        raise unexpected_content(file, _EXPECTED, problem)
    llm = agent.get("model_info") or {}
    player = {
        "agent": agent["name"],
        "version": agent.get("version"),
        "llm": llm.get("name"),
        "provider": llm.get("provider"),
    }
    rows: list[Row] = [
        (
            trial["task_name"],
            trial["trial_name"],
            rewards.get(reward),
            _BETWEEN.join(dict.fromkeys(_raised_exceptions(trial))) or None,
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
