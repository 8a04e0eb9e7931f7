"""The logs of HELM."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    read_json,
    side_object,
)
from polars_scorio.logs.kept_fields import Vocabulary
from polars_scorio.logs.paths import Paths, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_columns,
    log_reader,
    read_rows,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "per_instance_stats.json of HELM: a list of objects with instance_id and stats"
_SIDE = "run_spec.json of HELM: an object with adapter_spec"
# Settings in which runs of one model may differ, of the adapter_spec.
SETTINGS = (
    "method",
    "instructions",
    "max_train_instances",
    "num_outputs",
    "temperature",
    "max_tokens",
    "model_deployment",
)
_STATS = "stats.json of HELM: a list of objects with name and mean"
_METRIC = "exact_match"
_SPLITS = "test", "valid"  # in this order of preference
_MODEL = re.compile(r"[-:,]?\bmodel(_deployment)?=[^,]+")  # within the name of a run
_COLUMNS = log_columns("perturbation", "question", "trial", "score", trial=pl.Int64)
_PERTURBATION, _SCORE = ([*_COLUMNS].index(name) for name in ("perturbation", "score"))

_VOCABULARY: Vocabulary = {
    "input_tokens": "num_prompt_tokens",
    "output_tokens": "num_output_tokens",
    "seconds": "inference_runtime",
}


@log_reader
def helm(
    paths: Paths,
    *,
    metric: str | Mapping[str, str] = _METRIC,
    split: str | Mapping[str, str] | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read HELM: <suite>/<run>/per_instance_stats.json.

    The category is the mean of one stat, over the instances of one split. It is null for an
    instance of that split that lacks the stat. In `describe`, `planned` is `num_instances` of the
    split in `stats.json` and `reported` is its mean there. Columns: model, benchmark (the run's
    name without the model) and perturbation ("" for none), which are `by`; question, trial
    (train_trial_index), category, score, run (the folder), source (the file).

    The perturbed copies of an instance are no independent questions. To take all perturbations as
    one sample, name the instance as their cluster, of the table: ``log.frame.scorio(by="benchmark",
    question=pl.concat_str("question", "perturbation", separator=" / ").alias("copy"),
    cluster="question")``.

    Parameters
    ----------
    model
        Default: that of the run_spec.json beside the stats; without it, ``model=`` in the folder's
        name, or the folder.
    metric : str or dict of str
        The name of the stat, for all runs or by scenario, as in ``metric={"narrative_qa":
        "f1_score"}``; scenarios that a dict lacks have the default.
    split : str or dict of str, optional
        "test" or "valid", for all runs or by scenario. Default: "test"; "valid" for a run in which
        no instance of "test" has the stat.
    threshold
        Default: the category is the score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If a run has no such stat, or a dict names a scenario that no run has.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.helm("benchmark_output/runs/latest").avg()  # doctest: +SKIP
    """
    log = read_rows(
        paths,
        ("per_instance_stats.json",),
        _EXPECTED,
        lambda file, content: _instance_rows(file, content, metric, split),
        roles,
        _VOCABULARY,
    )
    benchmarks = {str(part.run.keys["benchmark"]) for part in log.parts.values()}
    for keyword, chosen in (("metric", metric), ("split", split)):
        _refuse_unknown_scenario(keyword, chosen, benchmarks)
    log = log.named(lambda file: file.parent, _run_model)
    outcome = reward_outcome(threshold, "score")
    return log.accessor(_COLUMNS, outcome, by=("benchmark", "perturbation"), run=None)


def _run_spec(file: Path) -> dict[str, Any]:
    """The specification beside the stats of a run; empty if there is none."""
    return side_object(side_file(file, "run_spec.json"), _SIDE)


def _run_model(file: Path, *_: object) -> str | None:
    """The model of a run, as its specification or its folder says."""
    with errors_name_file(file.with_name("run_spec.json"), _SIDE):
        if spec := _run_spec(file):
            return str(spec["adapter_spec"]["model"])
    match = re.search(r"\bmodel=([^,]+)", file.parent.name)
    return match and match[1]


def _run_benchmark(file: Path) -> str:
    """The name of a run without its model: the scenario with its arguments."""
    return _MODEL.sub("", str(_run_spec(file).get("name", file.parent.name)))


def _scenario_name(benchmark: str) -> str:
    """The scenario of a benchmark, without its arguments."""
    return re.split(r"[:,]|-(?=\w+=)", benchmark)[0]


def _scenario_choice(
    chosen: str | Mapping[str, str] | None, benchmark: str, default: str | None
) -> str | None:
    """The user's choice for a benchmark, from one for all or from a dict."""
    if not isinstance(chosen, Mapping):
        return default if chosen is None else chosen
    return chosen.get(benchmark, chosen.get(_scenario_name(benchmark), default))


def _refuse_unknown_scenario(
    keyword: str, chosen: str | Mapping[str, str] | None, benchmarks: Iterable[str]
) -> None:
    """Refuse a dict with a key that is neither a scenario nor a benchmark of the runs."""
    scenarios = sorted({_scenario_name(benchmark) for benchmark in benchmarks})
    unknown = {*chosen} - {*scenarios, *benchmarks} if isinstance(chosen, Mapping) else ()
    if unknown:
        raise ValueError(
            f"{keyword}= names {sorted(unknown)}, which no run has: their scenarios are {scenarios}"
        )


def _instance_rows(
    file: Path, content: Any, metric: str | Mapping[str, str], split: str | Mapping[str, str] | None
) -> FileRows | None:
    """The instances of a run; None for files of another kind."""
    if not isinstance(content, list) or (content and "stats" not in content[0]):
        return None
    benchmark = _run_benchmark(file)
    stat = str(_scenario_choice(metric, benchmark, _METRIC))
    part = _chosen_split(file, content, stat, _scenario_choice(split, benchmark, None))
    instances = [i for i in content if part in {stat["name"].get("split") for stat in i["stats"]}]
    rows: list[Row] = [
        (
            (instance.get("perturbation") or {}).get("name", ""),
            str(instance["instance_id"]),
            instance["train_trial_index"],
            _stat_mean(instance["stats"], stat, part),
        )
        for instance in instances
    ]
    stats = (_stat_means(instance, part) for instance in instances)
    spec = _run_spec(file).get("adapter_spec", {})
    run = Run(
        name=file.parent.name,
        keys={"benchmark": benchmark},
        settings=run_settings(spec, SETTINGS) if spec else {},
        totals=(_split_totals(file, stat, part, rows),),
    )
    return FileRows(rows, run, stats)


def _split_totals(file: Path, metric: str, split: str | None, rows: list[Row]) -> Totals:
    """Totals of a split: those in stats.json, and those of the instances without perturbation."""
    side = side_file(file, "stats.json")
    with errors_name_file(side, _STATS):
        stats = read_json(side, _STATS) if side.exists() else []
        plain = [stat for stat in stats if "perturbation" not in stat["name"]]
    instances, reported = (_stat_mean(plain, name, split) for name in ("num_instances", metric))
    scores = cast("list[float | None]", [row[_SCORE] for row in rows if not row[_PERTURBATION]])
    return Totals(
        keys={"perturbation": ""},
        planned=None if instances is None else round(instances),
        reported=reported,
        read=len(scores),
        score=mean_or_none(scores),
    )


def _chosen_split(file: Path, content: list[Any], metric: str, split: str | None) -> str | None:
    """The split to read, in which some instance must have the stat."""
    stats = {
        (stat["name"]["name"], stat["name"].get("split")) for i in content for stat in i["stats"]
    }
    splits = {of for name, of in stats if name == metric and split in (None, of)}
    if not splits:
        kinds = sorted({name for name, of in stats if split in (None, of)})
        where = "" if split is None else f" in split={split!r}"
        known = f", of the splits {sorted({str(of) for _, of in stats})}" if split else ""
        scenario = _scenario_name(_run_benchmark(file))
        raise ValueError(
            f"{file} has no stat {metric!r}{where}{known}: pass one of {kinds} as metric=; if "
            f"scenarios differ, pass a dict, as in metric={{{scenario!r}: ...}}"
        )
    if len(splits) > 1 and not splits & {*_SPLITS}:
        names = sorted(map(str, splits))
        raise ValueError(f"{file} has {metric!r} in the splits {names}: name one with split=")
    return next((name for name in _SPLITS if name in splits), next(iter(splits)))


def _stat_means(instance: dict[str, Any], split: str | None) -> dict[str, float | None]:
    """The means of all stats of an instance, by name."""
    stats = instance["stats"]
    names = {stat["name"]["name"] for stat in stats}
    return {name: _stat_mean(stats, name, split) for name in names}


def _stat_mean(stats: list[dict[str, Any]], metric: str, split: str | None) -> float | None:
    """The mean of a stat in a split; None if an instance lacks it."""
    means = [
        stat.get("mean")
        for stat in stats
        if (stat["name"]["name"], stat["name"].get("split")) == (metric, split)
    ]
    return means[0] if means else None
