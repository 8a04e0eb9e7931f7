"""The logs of HELM."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    Row,
    errors_name_file,
    model_table,
    read_json,
    rows_by_file,
)
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader, reward_outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "per_instance_stats.json of HELM: a list of objects with instance_id and stats"
_SIDE = "run_spec.json of HELM: an object with adapter_spec"
_COLUMNS = {
    "benchmark": pl.String,
    "perturbation": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "score": pl.Float64,
}


@log_reader
def helm(
    paths: Paths,
    *,
    model: str | None = None,
    metric: str = "exact_match",
    split: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """HELM: <suite>/<run>/per_instance_stats.json.

    The category is the mean of one stat. It is null for an instance that lacks it. Columns: model,
    benchmark (the run's folder without the model) and perturbation ("" for none), which are `by`;
    question, trial (train_trial_index), category, score.

    The perturbed copies of an instance are no independent questions. To take all perturbations as
    one sample, name the instance as their cluster, of the table: ``log.frame.scorio(by="benchmark",
    question=pl.concat_str("question", "perturbation", separator=" / ").alias("copy"),
    cluster="question")``.

    Parameters
    ----------
    model
        Default: that of the run_spec.json beside the stats; without it, ``model=`` in the folder's
        name, or the folder.
    metric : str
        The name of the stat.
    split : str, optional
        Which split, "test" or "valid". Default: the only one in which the stat is.
    threshold
        Default: the category is the score; ``levels=`` says which there are.

    Raises
    ------
    ValueError
        If it has no such stat, or it in several splits.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.helm("benchmark_output/runs/latest").avg()  # doctest: +SKIP
    """
    runs = rows_by_file(
        paths,
        ("per_instance_stats.json",),
        _EXPECTED,
        lambda file, of: _instance_rows(file, of, metric, split),
    )
    models = model_names({file: file.parent for file in runs}, model)
    if model is None:
        models = {file: _run_model(file) or name for file, name in models.items()}
    frame = model_table(runs, models, _COLUMNS, _EXPECTED)
    keys = ["model", "benchmark", "perturbation", "question", "trial"]
    log = frame.select(*keys, reward_outcome(threshold, "score").alias("category"), "score")
    return log_accessor(log, roles, by=("benchmark", "perturbation"))


def _run_model(file: Path) -> str | None:
    side = file.with_name("run_spec.json")
    if side.exists():
        with errors_name_file(side, _SIDE):
            return str(read_json(side, _SIDE)["adapter_spec"]["model"])
    found = re.search(r"\bmodel=([^,]+)", file.parent.name)
    return found and found[1]


def _instance_rows(file: Path, content: Any, metric: str, split: str | None) -> list[Row] | None:  # noqa: ANN401 - JSON
    if not isinstance(content, list) or (content and "stats" not in content[0]):
        return None
    _refuse_unclear(file, content, metric, split)
    benchmark = re.sub(r"[,:]?\bmodel(_deployment)?=[^,]+", "", file.parent.name)
    return [
        (
            benchmark,
            (instance.get("perturbation") or {}).get("name", ""),
            str(instance["instance_id"]),
            instance["train_trial_index"],
            _stat_mean(instance["stats"], metric, split),
        )
        for instance in content
    ]


def _refuse_unclear(file: Path, content: list[Any], metric: str, split: str | None) -> None:
    stats = {
        (stat["name"]["name"], stat["name"].get("split")) for i in content for stat in i["stats"]
    }
    splits = sorted({str(of) for name, of in stats if name == metric and split in (None, of)})
    if not splits:
        found = sorted({name for name, _ in stats})
        where = "" if split is None else f" in split={split!r}"
        raise ValueError(f"{file} has no stat {metric!r}{where}: name one with metric=, of {found}")
    if len(splits) > 1:
        raise ValueError(f"{file} has {metric!r} in the splits {splits}: name one with split=")


def _stat_mean(stats: list[dict[str, Any]], metric: str, split: str | None) -> float | None:
    found = [
        stat.get("mean")
        for stat in stats
        if stat["name"]["name"] == metric and split in (None, stat["name"].get("split"))
    ]
    return found[0] if found else None
