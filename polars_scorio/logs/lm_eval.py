"""The logs of lm-evaluation-harness, and of lmms-eval, which began as a copy of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import Column
from polars_scorio.logs.json_files import (
    LineFields,
    LineSchema,
    errors_name_file,
    first_line,
    kept_line_fields,
    side_object,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import kept_getters, text_number
from polars_scorio.logs.paths import (
    Paths,
    find_files,
    joined_files,
    model_names,
    plain_path,
    read_each,
    side_file,
)
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_accessor, log_reader
from polars_scorio.logs.runs import RowTally, Run, Totals, run_settings, trials_of_means

_EXPECTED = "samples_<task>_<date>.jsonl of lm_eval --log_samples, with doc_id and filter"
_SIDE = "results_<date>.json of lm_eval: an object"
_NAMES = (
    re.compile(r"samples_(?P<task>.+)_(?P<run>\d{4}-\d\d-\d\dT[^_]+)\.jsonl$"),
    re.compile(r"(?P<run>\d{8}_\d{6})_samples_(?P<task>.+)\.jsonl$"),  # lmms-eval
)
# Settings in which runs of one model may differ, in the results; beside them the hash of a prompt.
SETTINGS = (
    "n-shot",
    "num_fewshot",
    "generation_kwargs",
    "model_args",
    "gen_kwargs",
    "chat_template_sha",
    "system_instruction_sha",
    "fewshot_as_multiturn",
)
_LMMS_DATE = len("20260101_120000")
_NO_METRICS = {"doc", "arguments", "token_counts"}  # objects in lines
_DOCUMENT = "doc."  # prefix of columns that are fields of the documents
_SEVERAL = r'^\s*\[\s*\[\s*"'  # repeated answers: a list of texts in a list


@log_reader
def lm_eval(
    paths: Paths,
    *,
    metric: str | Mapping[str, str] | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.LazyFrame]:
    """Read lm-evaluation-harness: samples_<task>_<date>.jsonl, of ``lm_eval --log_samples``.

    The <date>_samples_<task>.jsonl of lmms-eval are read too. Files have one line per document and
    filter. A filter is a way to read the answer (gsm8k has two), and a stratum here. If all
    `repeats` of a task are scored, the log keeps only their mean (pass@1 = c / n): it becomes n
    trials, c of them successes. Answers that a filter left out are no trials. The outcome is null
    if the metric is null. In `describe`, `planned` is `n-samples` in `results_<date>.json` and
    `reported` is the metric there, if it is a mean. Columns: model, benchmark (the task) and filter
    (which are `by`), question, trial (the run's date), metric, category, run (that date too),
    source (the file).

    Questions about one passage belong together: ``cluster="doc.passage"`` takes the field `passage`
    of each document (as the task has it; ``doc.story.id`` is within one) as a column of that name.

    Parameters
    ----------
    model
        Default: `model_name` of the results_<date>.json beside the samples; without it, the folder.
    metric : str or dict of str, optional
        Which metric, for all tasks or by task. Default: the only one of each task.

    Raises
    ------
    ValueError
        If a task has no such metric, or several.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.lm_eval("out").avg()  # doctest: +SKIP
    """
    heads = read_each(
        find_files(paths, "samples_*.jsonl", "*_samples_*.jsonl"), _first_sample, roles
    )
    model = roles.get("model")
    models = model_names({file: file.parent for file in heads}, model)
    chosen = _chosen_metrics(heads, metric)
    runs = read_each(
        heads,
        lambda file: _task_run(
            file, heads[file], chosen[file], models[file], named=model is not None
        ),
        roles,
    )
    names = [*_document_fields(roles.get("cluster")), *kept_getters(roles.get("keep"))]
    first = next(iter(heads.values()))

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        kept = kept_line_fields(names, first, _sample_schema(heads[file], chosen[file]))
        return _scan_samples(file, run, chosen[file], kept, texts=_are_texts(heads[file]))

    joined = joined_files(runs, scan, roles)
    return log_accessor(*joined, roles, by=("benchmark", "filter"))


def _first_sample(file: Path) -> dict[str, Any]:
    """The first line of a file, with fields of the right kind."""
    head = first_line(file, _EXPECTED, ("doc_id",))
    if not {"resps", "filtered_resps"} & {*head}:
        raise unexpected_content(file, _EXPECTED, f"lines without 'resps': {sorted(head)}")
    with errors_name_file(file, _EXPECTED, " in line 1"):
        _are_texts(head)
        if not all(isinstance(name, str) for name in head.get("metrics") or ()):
            raise TypeError(f"metrics are {head['metrics']!r}")
    return head


def _task_and_date(file: Path) -> tuple[str, str]:
    """Task and date of a file."""
    matches = [match for name in _NAMES if (match := name.search(plain_path(file).name))]
    if not matches:
        raise unexpected_content(file, _EXPECTED, f"the name {file.name!r}")
    return matches[0]["task"], matches[0]["run"]


def _results_file(file: Path) -> Path:
    """The results beside the samples of a run; they need not exist."""
    date = _task_and_date(file)[1]
    usual, lmms = side_file(file, f"results_{date}.json"), side_file(file, f"{date}_results.json")
    return lmms if lmms.exists() else usual


def _task_run(file: Path, head: Mapping[str, Any], metric: str, model: str, *, named: bool) -> Run:
    """The run of a file, from its first line (`head`) and the results beside it."""
    # `model` is that of the user if `named`, else that of the folder.
    task, date = _task_and_date(file)
    results = side_object(_results_file(file), _SIDE)
    with errors_name_file(_results_file(file), _SIDE):
        known = model if named else results.get("model_name") or model
        settings = _task_settings(results, task) if results else {}
        totals = _task_totals(results, task, metric) if results else ()
    if head.get("prompt_hash") is not None:
        settings[f"prompt_hash of document {head['doc_id']}"] = head["prompt_hash"]
    keys = {"model": str(known), "benchmark": task}
    return Run(name=date, keys=keys, identity=date, started=date, settings=settings, totals=totals)


def _task_settings(results: Mapping[str, Any], task: str) -> dict[str, object]:
    """The settings of a task, from the three places of the results that have some."""
    of_task = {"n-shot": results.get("n-shot", {}).get(task)}
    config = {**results.get("configs", {}).get(task, {}), **results.get("config", {})}
    return run_settings({**results, **config, **of_task}, SETTINGS)


def _task_totals(results: Mapping[str, Any], task: str, metric: str) -> tuple[Totals, ...]:
    """Totals of a task by filter: its documents and its score."""
    config = results.get("configs", {}).get(task, {})
    # lmms-eval, whose dates are shorter, lists no metrics: most are means.
    lmms = [{"metric": metric}] if len(str(results.get("date"))) == _LMMS_DATE else []
    means = {
        each["metric"]
        for each in config.get("metric_list") or lmms
        if each.get("aggregation", "mean") == "mean"
    }
    return tuple(
        Totals(
            keys={"filter": name.partition(",")[2]},
            planned=results.get("n-samples", {}).get(task, {}).get("effective"),
            reported=score if metric in means else None,
            # A filter scores some or all of the repeats; the results do not say how many.
            rows_are_trials=config.get("repeats", 1) == 1,
        )
        for name, score in results.get("results", {}).get(task, {}).items()
        if name.partition(",")[0] == metric and "," in name
    )


def _chosen_metrics(
    heads: Mapping[Path, Mapping[str, Any]], metric: str | Mapping[str, str] | None
) -> dict[Path, str]:
    """The metric of each file."""
    chosen, tasks = {}, {}
    for file, head in heads.items():
        task = _task_and_date(file)[0]
        listed = head.get("metrics") or _metric_names(head)
        named = metric.get(task) if isinstance(metric, Mapping) else metric
        chosen[file] = named or next(iter(listed), "")
        if (named is None and len(listed) != 1) or chosen[file] not in listed:
            tasks[task] = listed
    if tasks:
        example = {task: listed[0] for task, listed in tasks.items() if listed}
        many = "have several metrics" if all(tasks.values()) else "have no number as a metric"
        asked = many if metric is None else f"lack the metric {metric!r}"
        raise ValueError(f"tasks {asked}: {tasks}. Name one for each, as in metric={example}")
    return chosen


def _metric_names(head: Mapping[str, Any]) -> list[str]:
    """The fields of a line that are numbers, or parts of objects, as in some tasks of lmms-eval."""
    numbers = sorted(name for name, value in head.items() if _is_number(value) and name != "doc_id")
    parts = (
        f"{name}.{part}"
        for name, value in head.items()
        if isinstance(value, dict) and name not in _NO_METRICS
        for part in value
        if _is_number(value[part])
    )
    return numbers or sorted(parts)


def _is_number(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _are_texts(head: Mapping[str, Any]) -> bool:
    """Whether the responses are texts; in a multiple choice they are pairs of numbers."""
    answers = head.get("resps", [])  # lmms-eval leaves out those that no filter changed
    first = answers[0][0] if answers and answers[0] else ""
    return isinstance(first, str)


def _document_fields(cluster: Column | None) -> list[str]:
    """The fields of documents of which a cluster is made; a path within one has points."""
    if cluster is None:
        return []
    names = [cluster] if isinstance(cluster, str) else cluster.meta.root_names()
    return [name for name in names if name.startswith(_DOCUMENT)]


def _sample_schema(head: Mapping[str, Any], metric: str) -> LineSchema:
    """The fields of samples that the reader needs; they have a filter since November 2024."""
    filters = {"filter": pl.String} if "filter" in head else {}
    metric = metric if metric in head else metric.partition(".")[0]
    return {"doc_id": pl.Int64, "filtered_resps": pl.String, metric: pl.String, **filters}


def _scan_samples(
    file: Path, run: Run, metric: str, kept: LineFields, *, texts: bool
) -> pl.LazyFrame:
    root, _, part = metric.partition(".")
    whole = metric in kept.schema
    value = pl.col(metric) if whole else pl.col(root).str.json_path_match(f"$.{part}")
    answers = pl.col("filtered_resps")
    several = answers.str.contains(_SEVERAL) & pl.lit(texts)
    scored = pl.when(several).then(answers).str.json_decode(pl.List(pl.List(pl.String)))
    trials = scored.list.first().list.len().cast(pl.Int64).fill_null(1)
    columns = {
        "filter": pl.col("filter") if "filter" in kept.schema else pl.lit("none"),
        "question": pl.col("doc_id"),
        "trial": pl.lit(run.name),
        "asked": trials,
        "answered": trials,
        "mean": text_number(value),
        "metric": pl.lit(metric),
    }
    tally = RowTally(file, run.totals, "mean", by="filter")
    return trials_of_means(kept.scan(file, _EXPECTED, run, columns, tally), metric)
