"""The traces.jsonl of verifiers since 0.2: episodes, in which several agents may take part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    numbered_objects,
    side_object,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import side_file
from polars_scorio.logs.runs import Run, Totals, run_settings

TRACES = "traces.jsonl of verifiers, with task, env, ok and traces"
_CONFIG = "configs/eval.json of verifiers: an object with env and sampling"
# Settings in which runs of one model may differ: those of configs/eval.json, and of the agent,
# which each of its traces has.
SETTINGS = ("env", "sampling", "num_tasks")
_AGENT_SETTINGS = (
    "agent.harness",
    "agent.sampling",
    "agent.max_turns",
    "agent.max_input_tokens",
    "agent.max_output_tokens",
    "agent.max_total_tokens",
)
EPISODE_COLUMNS = {
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "reward": pl.Float64,
    "error": pl.String,
}
EPISODE_WORDS: Vocabulary = {
    "input_tokens": "num_input_tokens",
    "output_tokens": "num_output_tokens",
}


def episode_rows(file: Path, model: str | None, agent: str) -> FileRows:
    """The episodes of traces.jsonl, and their run with the model if the traces say it."""
    configs: list[Mapping[str, Any]] = []
    rows: list[Row] = []
    episodes = []
    for number, episode in numbered_objects(file, TRACES):
        with errors_name_file(file, TRACES, f" in line {number}"):
            traces = _agent_traces(file, episode, agent)
            configs += [trace["agent"].get("config", {}) for trace in traces]
            rows.append(_episode_row(episode, traces))
            facts = {name: value for name, value in episode.items() if name != "traces"}
            episodes.append({"info": traces[0].get("info") if traces else None} | facts)
    played = {config.get("model") for config in configs} - {None}
    named = None if model is not None else _only_model(file, played)
    environment = rows[0][0] if len({row[0] for row in rows}) == 1 else None
    folder = re.search(r"--([^/]+)/", file.as_posix())  # <env>--<model>
    run = Run(
        name=file.parent.name,
        keys={"benchmark": environment, "model": named or (folder and folder[1])},
        settings=_traces_settings(file, configs),
        totals=(replace(_planned_episodes(file), read=len(rows)),),
    )
    return FileRows(rows, run, episodes)


def _traces_settings(file: Path, configs: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """The settings of a run, in its configuration and in the first trace of its agent."""
    known = _traces_configuration(file)
    settings = run_settings(known, SETTINGS) if known else {}
    agent = run_settings({"agent": configs[0]}, _AGENT_SETTINGS) if configs else {}
    return settings | agent


def _planned_episodes(file: Path) -> Totals:
    """The episodes that a run planned, unless it took all tasks that there are."""
    known = _traces_configuration(file)
    with errors_name_file(file.parent / "configs" / "eval.json", _CONFIG):
        tasks, each = known.get("num_tasks"), known.get("num_rollouts")
        return Totals(planned=tasks * each if tasks and each else None)


def _traces_configuration(file: Path) -> dict[str, Any]:
    """The configuration of a run, in the folder of its traces; empty if there is none."""
    return side_object(side_file(file.parent / "configs" / "eval.json", "eval.json"), _CONFIG)


def episode_model(_: Path, part: FileRows, folder: str) -> str:
    """The model of a file: as the traces or the folder say it."""
    return str(part.run.keys["model"] or folder)


def _only_model(file: Path, played: set[str | None]) -> str | None:
    """The model that the agent played with; None if the traces do not say it."""
    if len(played) > 1:
        raise ValueError(
            f"in {file} the agent played with several models, {sorted(map(str, played))}: name "
            "another agent=, or the model with model="
        )
    return next(iter(played), None)


def _agent_traces(file: Path, episode: dict[str, Any], agent: str) -> list[dict[str, Any]]:
    """The traces of one agent in an episode."""
    if "traces" not in episode:
        raise unexpected_content(file, TRACES, f"lines without 'traces': {[*episode]}")
    return [trace for trace in episode["traces"] if trace["agent"]["name"] == agent]


def _episode_row(episode: dict[str, Any], traces: list[dict[str, Any]]) -> Row:
    """The row of an episode."""
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
    """The weighted sum of all rewards; None if one of them was not computed."""
    rewards = [reward for trace in traces for reward in trace["rewards"].values()]
    # A reward that was not computed is null, or missing in the file.
    known = [r for r in rewards if r is not None and r["score"] is not None]
    if not rewards or len(known) < len(rewards):
        return None
    return float(sum(reward["score"] * reward["weight"] for reward in known))
