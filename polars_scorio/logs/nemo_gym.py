"""The logs of NeMo Gym."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    known_number,
    numbered_objects,
    read_json,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import Paths, plain_path, side_file
from polars_scorio.logs.read import own_files
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_columns,
    log_reader,
    read_row_files,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "rollouts of NeMo Gym: lines with _ng_task_index, _ng_rollout_index and a reward"
_METRICS = "<rollouts>_aggregate_metrics.json of NeMo Gym: a list of agents"
_FAILURES, _INPUTS = "_failures", "_materialized_inputs"  # endings of files beside the rollouts
_SIDES = _FAILURES, _INPUTS, "_reward_profiling"
_TASK, _ROLLOUT, _FAILURE = "_ng_task_index", "_ng_rollout_index", "_ng_failure_class"
# Settings in which runs of one model may differ, in the first line.
SETTINGS = tuple(
    f"responses_create_params.{name}" for name in ("temperature", "top_p", "max_output_tokens")
)
_COLUMNS = log_columns(
    "agent", "question", "trial", "reward", "failure", question=pl.Int64, trial=pl.Int64
)
_REWARD = [*_COLUMNS].index("reward")
_VOCABULARY: Vocabulary = {
    "input_tokens": "response.usage.input_tokens",
    "output_tokens": "response.usage.output_tokens",
}
_AGENT = "agent"  # that of lines without a name
Key: TypeAlias = "tuple[int, int]"  # task and rollout


@log_reader
def nemo_gym(
    paths: Paths,
    *,
    reward: str = "reward",
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read NeMo Gym: the <rollouts>.jsonl of ``gym eval run``, or evaluator_rollouts.jsonl.

    A rollout that failed has no line there: the files <rollouts>_failures.jsonl and
    <rollouts>_materialized_inputs.jsonl beside it tell it, and its outcome is null, for whatever
    reason: `failure` distinguishes the model's (timeout_exceeded) from others (transient,
    judge_failed, ...). In `describe`, `planned` is lines of `<rollouts>_materialized_inputs.jsonl`
    and `reported` is `mean/reward` of each agent. Columns: model, agent (which is `by`), question
    (the task), trial (the rollout), category, reward, failure (its class), run (folder and file),
    source (the file).

    Parameters
    ----------
    model
        Default: as the responses say; where they do not, the file.
    reward : str
        The field of the reward.
    threshold
        Default: the category is the reward; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no line has that reward, or the responses are of several models.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.nemo_gym("results", threshold=1, missing=0).pass_at_k([1, 4])  # doctest: +SKIP
    """
    matches = own_files(paths, "nemo_gym", "*.jsonl")
    rollouts = [file for file in matches if not plain_path(file).stem.endswith(_SIDES)]
    files = rollouts or matches
    log = read_row_files(
        files, _EXPECTED, lambda f: _rollout_rows(f, reward, roles.get("model")), roles, _VOCABULARY
    )
    log = log.named(lambda file: file.with_suffix(""))
    return log.accessor(_COLUMNS, reward_outcome(threshold, "reward"), by="agent")


def _rollout_rows(file: Path, reward: str, model: str | None) -> FileRows:
    """The rollouts of a file, then those that failed."""
    name = plain_path(file).stem
    if name.endswith(_SIDES):
        problem = f"only the file beside the rollouts, {name.rpartition('_')[2]}"
        raise unexpected_content(file, _EXPECTED, problem)
    lines: dict[Key, dict[str, Any]] = {}
    for number, line in numbered_objects(file, _EXPECTED):
        if _TASK not in line:
            problem = f"lines without {_TASK!r}, which old versions of NeMo Gym did not write"
            raise unexpected_content(file, _EXPECTED, problem)
        with errors_name_file(file, _EXPECTED, f" in line {number}"):
            key = _line_key(line)
            # An old file may have attempts that failed, too.
            if key in lines and line.get(_FAILURE) is None and lines[key].get(_FAILURE) is None:
                raise ValueError(f"task {key[0]} has rollout {key[1]} twice")
            if key not in lines or line.get(_FAILURE) is None:
                lines[key] = _without_texts(line)
            _line_reward(line, reward)
    failed = {key: line for key, line in _side_lines(file, _FAILURES) if key not in lines}
    planned = dict(_side_lines(file, _INPUTS))
    absent = {key: line for key, line in planned.items() if key not in lines} | failed
    if not any(reward in line for line in lines.values()):
        problem = f"lines without the reward {reward!r}, see reward="
        raise unexpected_content(file, _EXPECTED, problem)
    metrics = _mean_rewards(file)
    agents = _task_agents({**planned, **failed, **lines}, [*metrics])
    named = None if model else _only_response_model(file, lines)
    rows: list[Row] = [
        (agents[key[0]], *key, _line_reward(line, reward), line.get(_FAILURE))
        for key, line in {**lines, **absent}.items()
    ]
    first = next(iter(lines.values()))
    run = Run(
        name=f"{file.parent.name}/{name}",
        keys={"model": named},
        settings=run_settings(first, SETTINGS),
        totals=tuple(_agent_totals(rows, planned, agents, metrics if reward == "reward" else {})),
    )
    return FileRows(rows, run, [*lines.values(), *({} for _ in absent)])


def _line_key(line: Mapping[str, Any]) -> Key:
    """Task and rollout of a line."""
    key = line[_TASK], line[_ROLLOUT]
    if not all(isinstance(index, int) for index in key):
        raise TypeError(f"task and rollout are {key}")
    return key


def _without_texts(line: dict[str, Any]) -> dict[str, Any]:
    """A line without the text of prompt and response."""
    parts = {"responses_create_params": "input", "response": "output"}
    return line | {
        name: {field: value for field, value in (line.get(name) or {}).items() if field != long}
        for name, long in parts.items()
    }


def _line_reward(line: Mapping[str, Any], reward: str) -> float | None:
    """The reward of a rollout; None if it failed."""
    value = known_number(line.get(reward), "reward")
    return value if line.get(_FAILURE) is None else None


def _side_lines(file: Path, ending: str) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Keys and lines of a file beside the rollouts, without rewards; none if it is missing."""
    side = side_file(file, f"{plain_path(file).stem}{ending}.jsonl")
    expected = f"<rollouts>{ending}.jsonl of NeMo Gym, with {_TASK} and {_ROLLOUT}"
    if side.exists() and side.stat().st_size:
        for number, line in numbered_objects(side, expected):
            if _TASK not in line:  # NeMo Gym leaves such lines out
                continue
            with errors_name_file(side, expected, f" in line {number}"):
                known = {name: line.get(name) for name in ("agent_ref", _FAILURE)}
                yield _line_key(line), {**known, _FAILURE: known[_FAILURE] or "no rollout"}


def _task_agents(lines: Mapping[Key, Mapping[str, Any]], known: list[str]) -> dict[int, str]:
    """The agent of each task; where its lines name none, the only one that is known."""
    named = {
        key[0]: agent["name"] for key, line in lines.items() if (agent := line.get("agent_ref"))
    }
    only = {*named.values()} or {*known}
    other = next(iter(only)) if len(only) == 1 else _AGENT
    return {task: named.get(task, other) for task, _ in lines}


def _only_response_model(file: Path, lines: Mapping[Key, Mapping[str, Any]]) -> str | None:
    """The model that the responses name, which must be one."""
    models = {line["response"].get("model") for line in lines.values()} - {None}
    if len(models) > 1:
        problem = f"responses of several models, {sorted(map(str, models))}: name one with model="
        raise unexpected_content(file, _EXPECTED, problem)
    return next(iter(models), None)


def _mean_rewards(file: Path) -> dict[str, float | None]:
    """The mean reward of each agent, as the metrics beside the rollouts say; empty without them."""
    side = side_file(file, f"{plain_path(file).stem}_aggregate_metrics.json")
    if not side.exists():
        return {}
    with errors_name_file(side, _METRICS):
        return {
            each["agent_ref"]["name"]: each["agent_metrics"].get("mean/reward")
            for each in read_json(side, _METRICS)
        }


def _agent_totals(
    rows: list[Row],
    planned: Mapping[Key, object],
    agents: Mapping[int, str],
    metrics: Mapping[str, float | None],
) -> Iterator[Totals]:
    """Plan and mean reward of each agent."""
    for agent in dict.fromkeys(agents.values()):
        rewards = [cast("float | None", row[_REWARD]) for row in rows if row[0] == agent]
        yield Totals(
            keys={"agent": agent},
            planned=sum(agents[task] == agent for task, _ in planned) or None,
            reported=metrics.get(agent),
            read=len(rewards),
            score=mean_or_none(rewards),
        )
