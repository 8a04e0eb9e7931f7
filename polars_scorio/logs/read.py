"""The tool that wrote some files, by their names and their first bytes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from importlib import import_module
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import OnError, check_choice
from polars_scorio.counting.roles import TRIAL_NAMES
from polars_scorio.logs.json_files import describe_content
from polars_scorio.logs.paths import (
    DAMAGE,
    Paths,
    find_files,
    given_paths,
    open_plain,
    plain_path,
    warn_of_left_out,
)
from polars_scorio.logs.runs import Retries
from polars_scorio.signatures import refuse_unknown
from polars_scorio.study.request import RoleOptions

Sign = Callable[[Any], object]  # whether a record is of a tool
_MOST_NAMES = 200  # of each at most three files are opened
_ROLES = RoleOptions.__optional_keys__
_HEAD_BYTES = 4_096  # of a log of inspect_ai, to recognise it
_PATTERNS = "*.eval", "*.json", "*.jsonl", "*.parquet"


def read(paths: Paths, **options: Any) -> Scorio[Any]:
    """Read the logs of any supported tool, which is recognised by its files.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, folders that hold them at any depth, or globs.
    **options
        Keywords of the reader, such as ``missing=0``.

    Returns
    -------
    Scorio
        What the reader of the tool returns.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If no reader takes a keyword.
    ValueError
        If the files are empty, or no reader or several readers recognise them.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.read("results.json").pass_hat_k([1, 4])  # doctest: +SKIP
    """
    _refuse_unknown_keywords(options)
    check_values(options)
    tools = fitting_tools(paths)
    if len(tools) != 1:
        raise ValueError(_choice_message(paths, tools))
    return named_reader(next(iter(tools)))(paths, **options)


def _refuse_unknown_keywords(options: Mapping[str, object]) -> None:
    """Refuse a keyword that no reader takes, before any file is read."""
    known = {*_ROLES}
    if not options.keys() <= known:
        for tool in TOOLS:
            known |= signature(named_reader(tool)).parameters.keys()
        refuse_unknown("read", options, sorted(known - {"paths", "roles"}))


def check_values(options: Mapping[str, Any]) -> None:
    """Refuse values of shared keywords that no log can make right, before any file is read."""
    check_choice("on_error", options.get("on_error", "raise"), OnError)
    check_choice("retries", options.get("retries", "error"), Retries)
    # Readers have a model and a threshold of their own; of records all columns are paths.
    usual = {"model", "threshold", "by", "question", "trial", "category"}
    roles = {name: options[name] for name in options.keys() & _ROLES - usual}
    Scorio(pl.DataFrame())(**roles)


def named_reader(tool: str) -> Callable[..., Scorio[Any]]:
    """The reader of a tool."""
    reader: Callable[..., Scorio[Any]] = getattr(import_module("polars_scorio.logs"), tool)
    return reader


def tool_hint(paths: Paths, reader: str) -> str:
    """A sentence on the tools that wrote some files."""
    # Empty if no other reader, or `reader` itself, knows them.
    try:
        tools = fitting_tools(paths)
    except (OSError, ValueError):
        return ""
    if not tools or reader in tools:
        return ""
    hints = " or ".join(f"{file.name} of {tool}: ps.logs.{tool}" for tool, file in tools.items())
    return f"It looks like {hints}"


def _choice_message(paths: Paths, tools: Mapping[str, Path]) -> str:
    """The message of the error if not exactly one reader knows the files."""
    files = find_files(paths, *_PATTERNS, left_out=[])
    if not any(file.stat().st_size for file in files):
        return f"{' and '.join(map(str, files))} {'is' if len(files) == 1 else 'are'} empty"
    if not tools:
        call = ", ".join(f'{role}="{path}"' for role, path in likely_paths(files).items())
        return (
            f"{unknown_files(paths)}. Name the paths in a record: ps.logs.records(paths, {call}). "
            "A table of your own is read with Polars: pl.scan_parquet(...).scorio(...)"
        )
    places = ", ".join(map(str, given_paths(paths)))
    readers = ", ".join(f"ps.logs.{tool} ({file})" for tool, file in tools.items())
    return f"several readers know files of {places}: {readers}. Call the one that you mean"


def unknown_files(paths: Paths) -> str:
    """A sentence on files that no reader knows."""
    places = ", ".join(map(str, given_paths(paths)))
    return f"no reader knows the files of {places}; there are readers of {', '.join(_SIGNS)}"


def records_options(files: Iterable[Path]) -> str:
    """The options of the command that read files by paths, as far as these can be guessed."""
    named = likely_paths(files).items()
    return " ".join(["--from records", *(f"--{role} '{path}'" for role, path in named)])


# Names that tools give to the parts of a trial.
_NAMES = {
    "model": ("alias", "model", "model_name", "model_id"),
    "question": (
        *("question", "question_id", "task_id", "problem_id", "doc_id", "example_id", "sample_id"),
        *("eval_id", "idx", "id"),
    ),
    "trial": TRIAL_NAMES,
    "category": (
        *("correct", "is_correct", "passed", "success", "score_binarized", "score", "reward"),
        *("pass_rate", "acc", "accuracy"),
    ),
}


def likely_paths(files: Iterable[Path]) -> dict[str, str]:
    """Paths in the first file that tells them; question and category to fill in without one."""
    records = map(_first_record, chain(*_opened_files(files)))
    return next(filter(None, map(guessed_paths, records)), {"question": "...", "category": "..."})


def guessed_paths(record: object, start: str = "") -> dict[str, str]:
    """Paths into a record that may be the parts of a trial; empty without question or outcome.

    >>> guessed_paths({"name": "a", "trials": [{"task_id": 1, "passed": True}]})
    {'question': 'trials[*].task_id', 'category': 'trials[*].passed'}
    """
    if isinstance(record, list) and not start:
        return guessed_paths(record[0]) if record else {}
    if not isinstance(record, Mapping):
        return {}
    named = {
        role: f"{start}{name}"
        for role, names in _NAMES.items()
        for name in [next((name for name in names if name in record), None)]
        if name is not None
    }
    if {"question", "category"} <= named.keys():
        return named
    lists = {key: part for key, part in record.items() if isinstance(part, list) and part}
    guesses = (guessed_paths(part[0], f"{start}{key}[*].") for key, part in lists.items())
    model = {"model": named["model"]} if "model" in named else {}
    return next(({**model, **guess} for guess in guesses if guess), {})


def fitting_tools(paths: Paths) -> dict[str, Path]:
    """The tools that wrote some of the files, each with one of its files."""
    tools: dict[str, Path] = {}
    for files in _opened_files(find_files(paths, *_PATTERNS, left_out=[])):
        for file in files:
            if known := _record_tools(file, _first_record(file)):
                tools = {**dict.fromkeys(known, file), **tools}
                break
    return dict(sorted(tools.items()))


def own_files(paths: Paths, tool: str, pattern: str) -> list[Path]:
    """The files of a tool; in a folder those of other tools are passed over, unless all are."""
    # A file that cannot be parsed is not another tool's: its reader says what is wrong with it.
    left_out: list[str] = []
    files = find_files(paths, pattern, left_out=left_out)
    records = {file: _first_record(file) for file, named in files.items() if not named}
    strangers = {
        file: record for file, record in records.items()
        if record is not None and not _is_sign(file, record, *_SIGNS[tool])
    }  # fmt: skip
    left_out += [
        f"{file}: {describe_content(record)}" for file, record in strangers.items()
        if is_unusable(file, record, (pattern,))
    ]  # fmt: skip
    warn_of_left_out(left_out)
    return [file for file in files if file not in strangers] or [*files]


def is_unusable(file: Path, content: object, patterns: Iterable[str]) -> bool:
    """Whether a file of no tool has the name of a log: one that is not usual, or no content."""
    named = any(plain_path(file).match(each) for each in patterns if not each.startswith("*."))
    return (named or not content) and not _record_tools(file, content)


def _opened_files(files: Iterable[Path]) -> list[list[Path]]:
    """For each name its shallowest, smallest and largest file."""
    # A folder may hold thousands of one name, and a run and its trials may share one.
    by_name = defaultdict(list)
    for file in files:
        by_name[file.name].append((len(file.parts), file.stat().st_size, file))
    chosen = []
    for known in [*by_name.values()][:_MOST_NAMES]:
        by_size = sorted((size, file) for _, size, file in known)
        chosen.append([*dict.fromkeys((min(known)[2], by_size[0][1], by_size[-1][1]))])
    return chosen


def _record_tools(file: Path, record: object) -> list[str]:
    """The tools that may have written a file."""
    return [tool for tool, sign in _SIGNS.items() if _is_sign(file, record, *sign)]


def _first_record(file: Path) -> Any:
    """The content of a JSON file, its first line, or the columns of a Parquet file."""
    plain = plain_path(file)
    if plain.suffix == ".eval" or (plain.suffix == ".json" and is_inspect_log(file)):
        # The sign of inspect_ai: parsed whole, its log takes 8 x its size.
        return {"eval": {"task": None}}
    try:
        if plain.suffix == ".parquet":
            return dict.fromkeys(pl.read_parquet_schema(file))
        with open_plain(file) as source:
            return _parsed_json(source, lines=plain.suffix == ".jsonl")
    except (*DAMAGE, ValueError, RecursionError, pl.exceptions.PolarsError):
        return None  # the reader says what is wrong, if the name alone shows the tool


def is_inspect_log(file: Path) -> bool:
    """Whether a file begins as the JSON logs of inspect_ai do."""
    try:
        with open_plain(file) as source:
            head = source.read(_HEAD_BYTES)
    except DAMAGE:
        return False
    return re.match(rb'\s*\{\s*"version"', head) is not None and b'"eval"' in head


def _parsed_json(source: Iterable[bytes], *, lines: bool) -> Any:
    """The first line of a file if it is JSON by itself, otherwise the whole file."""
    text = iter(source)
    first = next(text, b"")
    try:
        return json.loads(first)
    except ValueError:
        if lines:
            raise
        return json.loads(first + b"".join(text))


def _is_sign(file: Path, record: object, pattern: str, sign: Sign) -> bool:
    """Whether name and content of a file are those of a tool."""
    if not fnmatch(plain_path(file).name, pattern):
        return False
    try:
        return bool(sign(record))
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError):
        return False


def _has_fields(*names: str) -> Sign:
    """A sign: the record is an object with these fields."""
    return lambda record: isinstance(record, Mapping) and {*names} <= {*record}


def _first_has_fields(*names: str) -> Sign:
    """A sign: the record is a list whose first object has these fields."""
    has = _has_fields(*names)
    return lambda record: isinstance(record, list) and has(record[0])


def _is_swe_bench(record: Any) -> bool:
    """A sign of SWE-bench: lists of instances by outcome, or an instance with its outcome."""
    if "results" in record:  # Terminal-Bench has such lists beside its trials
        return False
    lists = isinstance(record.get("resolved_ids", record.get("resolved")), list)
    part = next(iter(record.values()))
    return lists or (isinstance(part, Mapping) and bool({"patch_exists", "resolved"} & {*part}))


def _is_nemo_skills(record: Any) -> bool:
    """A sign of NeMo-Skills: an outcome, in files of a name."""
    fields = "symbolic_correct", "judgement", "is_correct", "graded_list", "swe-bench-metrics"
    return bool({*fields, "proof_status", "strict_eval", "predicted_answer"} & {*record})


def _is_promptfoo(record: Any) -> bool:
    """A sign of promptfoo: outcomes with a provider, in one or two levels of results."""
    results = record["results"]
    outcomes = results["results"] if isinstance(results, Mapping) else results
    return {"provider", "prompt"} <= {*outcomes[0]}


def _is_rollout(record: Any) -> bool:
    """A sign of verifiers: the reward of an example, or an episode with traces."""
    fields = {*record}
    rollout = {"prompt", "completion", "reward"} <= fields and bool({"id", "example_id"} & fields)
    return rollout or {"task", "env", "traces"} <= fields


# For each reader the name of its files, and a sign in the first record of one.
_SIGNS: dict[str, tuple[str, Sign]] = {
    "bfcl": ("*_score.json", _has_fields("accuracy", "correct_count", "total_count")),
    "deepeval": ("*.json", lambda record: "testCases" in record.get("testRunData", record)),
    "evalplus": ("*eval_results.json", _has_fields("eval")),
    "evalscope": ("*.jsonl", _has_fields("index", "sample_score")),
    "every_eval_ever": (
        "*_samples.jsonl",
        _has_fields("model_id", "evaluation_name", "sample_id", "evaluation"),
    ),
    "garak": ("*.jsonl", lambda record: record["entry_type"] == "start_run setup"),
    # Of a trial or of a job.
    "harbor": ("result.json", lambda record: {"agent_info", "n_total_trials"} & {*record}),
    "helm": ("per_instance_stats.json", _first_has_fields("instance_id", "stats")),
    "human_eval": ("*.jsonl", _has_fields("task_id", "passed", "result")),
    "inspect_ai": ("*", lambda record: "task" in record["eval"]),
    "lighteval": ("details_*.parquet", _has_fields("doc", "metric", "model_response")),
    "livecodebench": ("*.json", _first_has_fields("question_id", "graded_list")),
    "lm_eval": ("*samples_*.jsonl", _has_fields("doc_id", "filtered_resps")),
    "nemo_gym": (
        "*.jsonl",  # the second is of old versions
        lambda line: "_ng_task_index" in line or {"responses_create_params", "reward"} <= {*line},
    ),
    "nemo_skills": ("output*.jsonl", _is_nemo_skills),
    "openai_evals": ("*.jsonl", lambda record: "completion_fns" in record["spec"]),
    "opencompass": ("*.json", _has_fields("details")),
    "promptfoo": ("*.json", _is_promptfoo),
    "pydantic_evals": ("*.json", _has_fields("name", "cases", "failures")),
    "scorio": ("*.jsonl", _has_fields("seed", "data_id", "processed_results")),
    "swe_bench": ("*.json", _is_swe_bench),
    "tau2_bench": ("*.json", _has_fields("info", "tasks")),
    "tau_bench": ("*.json", _first_has_fields("task_id", "trial", "reward")),
    "terminal_bench": ("*results.json", lambda record: "is_resolved" in record["results"][0]),
    "trl": ("completions_*.parquet", _has_fields("step", "prompt", "completion")),
    "verifiers": ("*.jsonl", _is_rollout),
    "verl": ("*.jsonl", _has_fields("input", "score", "step")),
}
TOOLS = tuple(_SIGNS)
