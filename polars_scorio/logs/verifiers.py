"""The logs of verifiers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.compressed_files import side_file
from polars_scorio.logs.json_files import (
    Row,
    errors_name_file,
    model_table,
    numbered_objects,
    read_json,
    unexpected_content,
)
from polars_scorio.logs.json_lines import first_line, scan_lines
from polars_scorio.logs.log_warning import warn_of_log
from polars_scorio.logs.paths import Paths, find_files, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "results.jsonl of verifiers, with example_id (or id) and reward"
_TRACES = "traces.jsonl of verifiers, with task, env, ok and traces"
_SIDE = "metadata.json of verifiers, with model and env_id (or env)"
_SCHEMA = {"reward": pl.Float64, "error": pl.String}
_COLUMNS = {
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "reward": pl.Float64,
    "error": pl.String,
}


@log_reader
def verifiers(
    paths: Paths,
    *,
    model: str | None = None,
    threshold: float | None = None,
    agent: str = "agent",
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """verifiers: outputs/evals/<env>--<model>/<id>/results.jsonl, or traces.jsonl since 0.2.

    The outcome is null where a rollout failed (its reward is written all the same, as 0), where an
    episode is not ok, and where a reward was not computed. Columns: model, benchmark (the
    environment, which is `by`), question, trial (the episode; results.jsonl has none), category,
    reward (of traces.jsonl the weighted sum), error.

    Parameters
    ----------
    model
        Default: that of the metadata.json beside the results; of traces.jsonl, what the agent
        played with, and where the traces do not say it, the folder after `--`.
    threshold
        Default: the category is the reward; a warning says if some are neither 0 nor 1.
    agent : str
        The agent whose rewards count, if several took part in an episode.

    Raises
    ------
    ValueError
        If both kinds are mixed.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.verifiers("outputs/evals", threshold=1).pass_at_k([1, 4])  # doctest: +SKIP
    """
    files = [*find_files(paths, "results.jsonl", "traces.jsonl")]
    traces = [file for file in files if "traces" in file.name]
    if traces and len(traces) < len(files):
        other = next(file for file in files if file not in traces)
        raise ValueError(f"{traces[0]} and {other} are of two versions: read them apart")
    if traces:
        log, trial = _episode_frame(traces, model, agent), "trial"
    else:
        log, trial = _scan_runs(files, model), None
    outcome = reward_outcome(threshold)
    if threshold is None and not roles.keys() & {"levels", "success"}:
        outcome = _watched_rewards(outcome)
    return log_accessor(log.with_columns(category=outcome), roles, by="benchmark", trial=trial)


def _watched_rewards(reward: pl.Expr) -> pl.Expr:
    """The rewards; their collection warns once if some are neither 0 nor 1."""
    warned: list[bool] = []

    def watch(rewards: pl.Series) -> pl.Series:
        if not warned and not rewards.drop_nulls().is_in([0.0, 1.0]).all():
            warned.append(True)
            warn_of_log(
                "some rewards of verifiers are neither 0 nor 1: the category is the reward itself. "
                "With threshold= a reward from there on is a success; levels= lists all rewards"
            )
        return rewards

    return reward.map_batches(watch, return_dtype=pl.Float64, is_elementwise=True)


def _scan_runs(files: list[Path], model: str | None) -> pl.LazyFrame:
    chosen = model_names({file: file.parent for file in files}, model) if model else {}
    runs = []
    for file in files:
        head = first_line(file, _EXPECTED, ("reward",))
        question = "id" if "id" in head else "example_id"  # before 0.1.8 it was called id
        if question not in head:
            raise unexpected_content(file, _EXPECTED, f"lines without 'example_id': {sorted(head)}")
        side = side_file(file, "metadata.json")
        if not side.exists():
            raise FileNotFoundError(
                f"{side} is missing, which names the model and the environment of {file.name}: "
                "copy it from where the run wrote it"
            )
        with errors_name_file(side, _SIDE):
            run = read_json(side, _SIDE)
            keys = chosen.get(file, run["model"]), run["env" if "env" in run else "env_id"]
        runs.append(_scan_results(file, question, *keys))
    return pl.concat(runs)


def _scan_results(file: Path, question: str, model: str, environment: str) -> pl.LazyFrame:
    columns = {
        "model": pl.lit(model),
        "benchmark": pl.lit(environment),
        "question": pl.col(question),
        # A rollout that failed has the reward 0, which is none.
        "reward": pl.when(pl.col("error").is_null()).then("reward"),
        "error": pl.col("error"),
    }
    return scan_lines(file, _EXPECTED, {question: pl.String, **_SCHEMA}, columns)


def _episode_frame(files: list[Path], model: str | None, agent: str) -> pl.LazyFrame:
    models = model_names({file: file.parent for file in files}, model)
    runs: dict[Path, list[Row]] = {}
    for file in files:
        played: set[str | None] = set()
        runs[file] = []
        for number, episode in numbered_objects(file, _TRACES):
            with errors_name_file(file, _TRACES, f" in line {number}"):
                traces = _agent_traces(file, episode, agent)
                played.update(trace["agent"].get("config", {}).get("model") for trace in traces)
                runs[file].append(_episode_row(episode, traces))
        if model is None:
            models[file] = _only_model(file, played - {None}) or _folder_model(file) or models[file]
    return model_table(runs, models, _COLUMNS, _TRACES).lazy()


def _only_model(file: Path, played: set[str | None]) -> str | None:
    """The model that the agent played with; None if the traces do not say it."""
    if len(played) > 1:
        raise ValueError(
            f"in {file} the agent played with several models, {sorted(map(str, played))}: name "
            "another agent=, or the model with model="
        )
    return next(iter(played), None)


def _folder_model(file: Path) -> str | None:
    found = re.search(r"--([^/]+)/", file.as_posix())
    return found and found[1]


def _agent_traces(file: Path, episode: dict[str, Any], agent: str) -> list[dict[str, Any]]:
    """The traces of one agent in an episode."""
    if "traces" not in episode:
        raise unexpected_content(file, _TRACES, f"lines without 'traces': {[*episode]}")
    return [trace for trace in episode["traces"] if trace["agent"]["name"] == agent]


def _episode_row(episode: dict[str, Any], traces: list[dict[str, Any]]) -> Row:
    task = episode["task"]
    errors = [error for trace in traces for error in trace.get("errors", ())] + episode["errors"]
    return (
        episode["env"]["id"],
        str(task["data"].get("idx", task.get("key"))),
        episode["id"],
        _episode_reward(traces) if episode["ok"] else None,
        errors[-1]["type"] if errors else None,
    )


def _episode_reward(traces: list[dict[str, Any]]) -> float | None:
    rewards = [reward for trace in traces for reward in trace["rewards"].values()]
    # A reward that was not computed is null, or missing in the file.
    known = [r for r in rewards if r is not None and r["score"] is not None]
    if not rewards or len(known) < len(rewards):
        return None
    return float(sum(reward["score"] * reward["weight"] for reward in known))
