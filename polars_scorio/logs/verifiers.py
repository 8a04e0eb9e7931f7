"""The logs of verifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.coverage import warn_of_log
from polars_scorio.logs.json_files import (
    FileRows,
    LineFields,
    LineVocabulary,
    Row,
    errors_name_file,
    first_line,
    kept_line_fields,
    numbered_objects,
    read_json,
    side_object,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import (
    Paths,
    compression_of,
    find_files,
    joined_files,
    open_plain,
    path_model,
    read_each,
    side_file,
)
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_columns,
    log_reader,
    read_row_files,
    reward_outcome,
)
from polars_scorio.logs.runs import RowTally, Run, Totals, run_settings

TRACES = "traces.jsonl of verifiers, with task, env, ok and traces"
_CONFIG = "configs/eval.json of verifiers: an object with env and sampling"
# Settings in which runs of one model may differ: those of configs/eval.json, and of the agent,
# which each of its traces has.
TRACE_SETTINGS = ("env", "sampling", "num_tasks")
_AGENT_SETTINGS = (
    "agent.harness",
    "agent.sampling",
    "agent.max_turns",
    "agent.max_input_tokens",
    "agent.max_output_tokens",
    "agent.max_total_tokens",
)
EPISODE_COLUMNS = log_columns("benchmark", "question", "trial", "reward", "error")
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
    side = side_file(file.parent / "configs" / "eval.json", "eval.json")
    known = side_object(side, _CONFIG)
    with errors_name_file(side, _CONFIG):
        # Without a number of tasks a run takes all that there are.
        tasks, each = known.get("num_tasks"), known.get("num_rollouts")
        planned = tasks * each if tasks and each else None
        run = Run(
            name=file.parent.name,
            keys={"benchmark": environment, "model": named or (folder and folder[1])},
            settings=_traces_settings(known, configs),
            totals=(Totals(planned=planned, read=len(rows)),),
        )
    return FileRows(rows, run, episodes)


def _traces_settings(
    known: Mapping[str, Any], configs: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    """The settings of a run, in its configuration and in the first trace of its agent."""
    settings = run_settings(known, TRACE_SETTINGS) if known else {}
    agent = run_settings({"agent": configs[0]}, _AGENT_SETTINGS) if configs else {}
    return settings | agent


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


_EXPECTED = "results.jsonl of verifiers, with example_id (or id) and reward"
_SIDE = "metadata.json of verifiers, with model and env_id (or env)"
# Settings in which runs of one model may differ, in the metadata.
SETTINGS = ("env_args", "sampling_args", "num_examples", "max_tokens", "temperature")
_SCHEMA = {"reward": pl.Float64, "error": pl.String}
_LOGGED = ":reward"  # column: the rewards of failed rollouts too, of which avg_reward is the mean
_VOCABULARY: LineVocabulary = {
    "input_tokens": ("token_usage.input_tokens", 1),
    "output_tokens": ("token_usage.output_tokens", 1),
    "seconds": ("timing.total_ms", 0.001),
}


@log_reader
def verifiers(
    paths: Paths,
    *,
    threshold: float | None = None,
    agent: str = "agent",
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """Read verifiers: outputs/evals/<env>--<model>/<id>/results.jsonl, or traces.jsonl since 0.2.

    The outcome is null if a rollout has an error (of provider, sandbox, tool or harness: verifiers
    writes the reward 0), if an episode is not ok, or if a reward was not computed. A rollout that
    was cut off at a limit has its reward. In `describe`, `planned` is `num_examples` x
    `rollouts_per_example`, or `num_tasks` x `num_rollouts` and `reported` is `avg_reward`. Columns:
    model, benchmark (the environment, which is `by`), question, trial (the episode; results.jsonl
    has none), reward (of traces.jsonl the weighted sum), error, category, run (the folder), source
    (the file).

    Parameters
    ----------
    model
        Default: that of the metadata.json beside the results. Of traces.jsonl, the model of the
        agent; if the traces do not name it, the part of the folder's name after `--`.
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
    model = roles.get("model")
    files = [*find_files(paths, "results.jsonl", "traces.jsonl")]
    traces = [file for file in files if "traces" in file.name]
    if traces and len(traces) < len(files):
        other = next(file for file in files if file not in traces)
        raise ValueError(
            f"{traces[0]} and {other} are of two versions of verifiers: read each by itself"
        )
    if traces:
        episodes = read_row_files(
            traces, TRACES, lambda file: episode_rows(file, model, agent), roles, EPISODE_WORDS
        ).named(lambda file: file.parent)
        log, runs = episodes.table(EPISODE_COLUMNS).lazy(), episodes.runs()
    else:
        described = read_each(files, lambda file: _metadata_run(file, model), roles)
        head = first_line(next(iter(described)), _EXPECTED, ("reward",))

        def scan(file: Path, run: Run) -> pl.LazyFrame:
            question = described[file][0]
            needed = {question: pl.String, **_SCHEMA}
            kept = kept_line_fields(roles.get("keep"), head, needed, _VOCABULARY)
            return _scan_results(file, question, run, kept)

        metadata = {file: run for file, (_, run) in described.items()}
        log, runs = joined_files(metadata, scan, roles)
    outcome = reward_outcome(threshold)
    if threshold is None and not roles.keys() & {"levels", "success"}:
        outcome = _watched_rewards(outcome)
    frame = log.with_columns(category=outcome)
    return log_accessor(frame, runs, roles, by="benchmark", trial="trial" if traces else None)


def _watched_rewards(reward: pl.Expr) -> pl.Expr:
    """The rewards, with a warning at collection if some are neither 0 nor 1."""
    warned: list[bool] = []

    def watch(rewards: pl.Series) -> pl.Series:
        odd = not rewards.drop_nulls().is_in([0.0, 1.0]).all()
        if odd and not warned:  # asked last: other threads may have warned in between
            warned.append(True)
            warn_of_log(
                "some rewards of verifiers are neither 0 nor 1: the category is the reward itself. "
                "With threshold= a reward from there on is a success; levels= lists all rewards"
            )
        return rewards

    return reward.map_batches(watch, return_dtype=pl.Float64, is_elementwise=True)


def _metadata_run(file: Path, model: str | None) -> tuple[str, Run]:
    """The name of the field with the question, and the run of a file from its metadata."""
    head = first_line(file, _EXPECTED, ("reward",))
    question = "id" if "id" in head else "example_id"  # before 0.1.8 it was called id
    if question not in head:
        raise unexpected_content(file, _EXPECTED, f"lines without 'example_id': {sorted(head)}")
    if "timing" in head and _is_doubled(file):
        raise unexpected_content(file, _EXPECTED, "all lines twice: its trials would count twice")
    side = side_file(file, "metadata.json")
    if not side.exists():
        raise FileNotFoundError(
            f"{side} is missing, which names the model and the environment of {file.name}: "
            "copy it from where the run wrote it"
        )
    with errors_name_file(side, _SIDE):
        known = read_json(side, _SIDE)
        named = path_model(file, model) or known["model"]
        environment = known["env" if "env" in known else "env_id"]
        return question, Run(
            name=file.parent.name,
            keys={"model": named, "benchmark": environment},
            settings=run_settings(known, SETTINGS),
            totals=(_planned_totals(known),),
        )


def _is_doubled(file: Path) -> bool:
    """Whether the second half of a file begins with its first line, whose time no other shares."""
    with open_plain(file) as lines:
        first = lines.readline().rstrip()
        if compression_of(file) is not None:  # its half is not half of the text
            return any(line.rstrip() == first for line in lines)
        lines.seek(max(len(first), (file.stat().st_size + 1) // 2))
        return lines.read(len(first)) == first


def _planned_totals(known: Mapping[str, Any]) -> Totals:
    """Totals in the metadata of a run; a number of examples below 1 means all of them."""
    planned = known.get("num_examples", 0) * known.get("rollouts_per_example", 0)
    # Without metrics the mean was not computed: verifiers then writes 0.
    reported = known.get("avg_reward") if known.get("avg_metrics") else None
    return Totals(planned=planned if planned > 0 else None, reported=reported)


def _scan_results(file: Path, question: str, run: Run, kept: LineFields) -> pl.LazyFrame:
    columns = {
        "question": pl.col(question),
        # verifiers writes the reward 0 for a rollout that failed.
        "reward": pl.when(pl.col("error").is_null()).then("reward"),
        _LOGGED: pl.col("reward"),
        "error": pl.col("error"),
    }
    return kept.scan(file, _EXPECTED, run, columns, RowTally(file, run.totals, _LOGGED)).drop(
        _LOGGED
    )
