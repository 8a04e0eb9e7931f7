"""The logs of tau2-bench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import NOISE
from polars_scorio.logs.json_files import FileRows, Row, read_json
from polars_scorio.logs.kept_fields import Vocabulary, path_getter, summed_over
from polars_scorio.logs.paths import Paths, plain_path
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    finite_or_null,
    log_columns,
    log_reader,
    read_rows,
)
from polars_scorio.logs.runs import Run, Totals, run_settings

_EXPECTED = "a run of tau2-bench: an object with 'info', 'tasks' and 'simulations'"
# Settings in which runs of one model may differ.
SETTINGS = (
    "agent_info.llm_args",
    "agent_info.voice_settings",
    "user_info.implementation",
    "user_info.llm",
    "user_info.llm_args",
    "user_info.global_simulation_guidelines",
    "max_steps",
    "max_errors",
    "text_streaming_config",
    "speech_complexity",
    "audio_native_config",
    "retrieval_config",
    "retrieval_config_kwargs",
)
_COLUMNS = log_columns(
    "agent", "llm", "benchmark", "question", "trial", "reward", "termination", trial=pl.Int64
)


def _agent_messages(simulation: Any) -> list[Any]:
    """The messages of the agent."""
    return [m for m in simulation.get("messages") or () if m["role"] == "assistant"]


_VOCABULARY: Vocabulary = {
    "usd": "agent_cost",
    "input_tokens": summed_over(_agent_messages, path_getter("usage.prompt_tokens")),
    "output_tokens": summed_over(_agent_messages, path_getter("usage.completion_tokens")),
    "seconds": "duration",
}


@log_reader
def tau2_bench(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.DataFrame]:
    """Read tau2-bench: the JSON file of a run, or its results.json with a folder of simulations.

    A reward within 1e-6 of 1 is a success. The outcome is null if an infrastructure_error ended the
    simulation: tau2 leaves it out, so that ``missing="drop"`` gives its numbers. Every other end
    has a reward: that of the model (max_steps, timeout, agent_error, ...), and also user_error, the
    fault of the simulated user, which tau2 counts as a failure. In `describe`, `planned` is tasks x
    `num_trials`. Columns: model, agent, llm, benchmark (the domain, which is `by`), question,
    trial, category, reward, termination, run (its time), source (the file).

    Parameters
    ----------
    model
        Default: "agent / llm", for several agents may play with one.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.tau2_bench("results.json").pass_hat_k([1, 4])  # doctest: +SKIP
    """
    log = read_rows(paths, ("*.json",), _EXPECTED, _simulation_rows, roles, _VOCABULARY)
    log = log.named(
        lambda file: file.with_suffix(""),
        lambda _, part, name: f"{part.rows[0][0]} / {part.rows[0][1] or name}",
    )
    success = (finite_or_null(pl.col("reward")) - 1).abs() <= NOISE
    ran = pl.col("termination") != "infrastructure_error"
    return log.accessor(_COLUMNS, pl.when(ran).then(success), by="benchmark", run=None)


def _simulation_rows(file: Path, run: Any) -> FileRows | None:
    """The simulations of a run; None for files of another kind."""
    if not isinstance(run, dict) or "info" not in run or "tasks" not in run:
        return None
    agent = run["info"]["agent_info"]
    keys = (
        agent.get("implementation", "agent"),
        agent["llm"],
        run["info"]["environment_info"]["domain_name"],
    )
    simulations = _run_simulations(file, run)
    rows: list[Row] = [
        (
            *keys,
            str(simulation["task_id"]),
            simulation["trial"],
            (simulation.get("reward_info") or {}).get("reward"),
            simulation["termination_reason"],
        )
        for simulation in simulations
    ]
    trials = run["info"].get("num_trials")
    # Tasks times trials; unknown if the log leaves out its tasks.
    planned = len(run["tasks"]) * int(trials) if run["tasks"] and trials is not None else None
    described = Run(
        name=str(run.get("timestamp", plain_path(file).stem)),
        keys={"benchmark": keys[-1]},
        started=run.get("timestamp"),
        settings=run_settings(run["info"], SETTINGS),
        totals=(Totals(planned=planned, read=len(rows)),),
    )
    return FileRows(rows, described, simulations)


def _run_simulations(file: Path, run: dict[str, Any]) -> list[dict[str, Any]]:
    """The simulations of a run, from its file or from the folder `simulations` beside it."""
    if "simulations" in run:
        return list(run["simulations"])
    # Not the index in results.json, which has rewards too: a run that was stopped has none.
    parts = sorted((file.parent / "simulations").glob("*.json*"))
    return [read_json(part, "a simulation of tau2-bench") for part in parts]
