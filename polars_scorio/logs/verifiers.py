"""The logs of verifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.compressed_files import side_file
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    kept_part,
    model_runs,
    model_table,
    numbered_objects,
    read_json,
    unexpected_content,
    with_kept,
)
from polars_scorio.logs.json_lines import first_line, scan_lines
from polars_scorio.logs.kept_fields import Vocabulary, added_columns, kept_getters
from polars_scorio.logs.line_fields import LineFields, LineVocabulary, kept_line_fields
from polars_scorio.logs.log_warning import warn_of_log
from polars_scorio.logs.paths import Paths, find_files, model_names, path_model
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome
from polars_scorio.logs.run_totals import RowTally, Totals
from polars_scorio.logs.runs import Run, run_literals, run_settings
from polars_scorio.logs.unreadable_files import joined_files, read_each

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "results.jsonl of verifiers, with example_id (or id) and reward"
_TRACES = "traces.jsonl of verifiers, with task, env, ok and traces"
_SIDE = "metadata.json of verifiers, with model and env_id (or env)"
# Settings that tell runs of one model apart, in the metadata.
SETTINGS = ("env_args", "sampling_args", "num_examples", "max_tokens", "temperature")
_SCHEMA = {"reward": pl.Float64, "error": pl.String}
_LOGGED = ":reward"  # of all rollouts, failed ones too: the mean of verifiers
_COLUMNS = {
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "reward": pl.Float64,
    "error": pl.String,
}

# Words of traces.jsonl, then those of results.jsonl.
_EPISODES: Vocabulary = {"input_tokens": "num_input_tokens", "output_tokens": "num_output_tokens"}
_VOCABULARY: LineVocabulary = {
    "input_tokens": ("token_usage.input_tokens", 1),
    "output_tokens": ("token_usage.output_tokens", 1),
    "seconds": ("timing.total_ms", 0.001),
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
    environment, which is `by`), question, trial (the episode; results.jsonl has none), reward (of
    traces.jsonl the weighted sum), error, category, run (the folder), source (the file).

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
    on_error = roles.get("on_error", "raise")
    traces = [file for file in files if "traces" in file.name]
    if traces and len(traces) < len(files):
        other = next(file for file in files if file not in traces)
        raise ValueError(f"{traces[0]} and {other} are of two versions: read them apart")
    if traces:
        keep = kept_getters(roles.get("keep"), _EPISODES)
        parts = read_each(
            traces, lambda file: kept_part(_episode_rows(file, model, agent), keep), on_error
        )
        models = _episode_models(parts, model)
        runs = model_runs(parts, models)
        log = with_kept(model_table(parts, models, _COLUMNS, _TRACES), parts, keep).lazy()
    else:
        described = read_each(files, lambda file: _metadata_run(file, model), on_error)
        head = first_line(next(iter(described)), _EXPECTED, ("reward",))

        def scan(file: Path, run: Run) -> pl.LazyFrame:
            question = described[file][0]
            needed = {question: pl.String, **_SCHEMA}
            kept = kept_line_fields(roles.get("keep"), head, needed, _VOCABULARY)
            return _scan_results(file, question, run, kept)

        found = {file: run for file, (_, run) in described.items()}
        log, runs = joined_files(found, scan, on_error)
    outcome = reward_outcome(threshold)
    if threshold is None and not roles.keys() & {"levels", "success"}:
        outcome = _watched_rewards(outcome)
    frame = log.with_columns(category=outcome)
    return log_accessor(frame, runs, roles, by="benchmark", trial="trial" if traces else None)


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


def _metadata_run(file: Path, model: str | None) -> tuple[str, Run]:
    """The field of the questions in results.jsonl, and its run, from the metadata beside it."""
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
        known = read_json(side, _SIDE)
        named = path_model(file, model) or known["model"]
        environment = known["env" if "env" in known else "env_id"]
        return question, Run(
            name=file.parent.name,
            keys={"model": named, "benchmark": environment},
            settings=run_settings(known, SETTINGS),
            totals=(_planned_totals(known),),
        )


def _planned_totals(known: Mapping[str, Any]) -> Totals:
    """Totals in the metadata of a run; a number of examples below 1 means all of them."""
    planned = known.get("num_examples", 0) * known.get("rollouts_per_example", 0)
    # Without metrics the mean was not computed, and stands there as 0.
    reported = known.get("avg_reward") if known.get("avg_metrics") else None
    return Totals(planned=planned if planned > 0 else None, reported=reported)


def _scan_results(file: Path, question: str, run: Run, kept: LineFields) -> pl.LazyFrame:
    columns = {
        "model": pl.lit(run.keys["model"]),
        "benchmark": pl.lit(run.keys["benchmark"]),
        "question": pl.col(question),
        # A rollout that failed has the reward 0, which is none.
        "reward": pl.when(pl.col("error").is_null()).then("reward"),
        _LOGGED: pl.col("reward"),
        "error": pl.col("error"),
        **run_literals(file, run),
    }
    tally = RowTally(file, run.totals, _LOGGED)
    lines = scan_lines(file, _EXPECTED, kept.schema, added_columns(columns, kept.columns), tally)
    return lines.drop(_LOGGED)


def _episode_rows(file: Path, model: str | None, agent: str) -> FileRows:
    """The episodes of traces.jsonl, and their run with the model if the traces say it."""
    played: set[str | None] = set()
    rows: list[Row] = []
    episodes = []
    for number, episode in numbered_objects(file, _TRACES):
        with errors_name_file(file, _TRACES, f" in line {number}"):
            traces = _agent_traces(file, episode, agent)
            played.update(trace["agent"].get("config", {}).get("model") for trace in traces)
            rows.append(_episode_row(episode, traces))
            episodes.append(_episode_facts(episode, traces))
    named = None if model is not None else _only_model(file, played - {None})
    environment = rows[0][0] if len({row[0] for row in rows}) == 1 else None
    keys = {"benchmark": environment, "model": named or _folder_model(file)}
    return FileRows(rows, Run(name=file.parent.name, keys=keys), episodes)


def _episode_facts(episode: dict[str, Any], traces: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of an episode without its traces, of which the first one has `info`."""
    info = traces[0].get("info") if traces else None
    return {"info": info} | {name: value for name, value in episode.items() if name != "traces"}


def _episode_models(parts: Mapping[Path, FileRows], model: str | None) -> dict[Path, str]:
    """The model of each file: as the user, the traces or the folder say it."""
    models = model_names({file: file.parent for file in parts}, model)
    if model is not None:
        return models
    return {file: str(parts[file].run.keys["model"] or name) for file, name in models.items()}


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
