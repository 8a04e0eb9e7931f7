"""The logs of evalscope."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeAlias, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    describe_content,
    errors_name_file,
    known_number,
    numbered_objects,
    read_json,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import field_value
from polars_scorio.logs.paths import Paths, find_files, plain_path, readable_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_columns,
    log_reader,
    read_row_files,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings

_EXPECTED = "reviews/<model>/<benchmark>_<subset>.jsonl of evalscope, with index and sample_score"
_REPORT = "reports/<model>/<benchmark>.json of evalscope, with metrics"
# Settings in which runs of one model may differ, in configs/task_config.yaml.
SETTINGS = ("generation_config", "dataset_args", "limit", "repeats")
_USABLE = {"success", "fallback", "degraded"}
_ABSENT = "errored"  # the status of a generation without a line
_LONG_FIELDS = {"messages", "agent_trace", "input"}  # fields of lines, which keep= does not find
_ALIASES = {"acc": "accuracy"}  # the name in new reports
_MOST = 1_000  # planned generations for each line
_COLUMNS = log_columns("subset", "question", "trial", "score", "status", trial=pl.Int64)
_QUESTION, _SCORE = ([*_COLUMNS].index(name) for name in ("question", "score"))
Metrics: TypeAlias = "str | Mapping[str, str] | None"


@log_reader
def evalscope(
    paths: Paths,
    *,
    metric: str | Mapping[str, str] | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read evalscope: <work_dir>/reviews/<model>/<benchmark>_<subset>.jsonl.

    With ``ignore_errors`` a generation that failed has no line, and evalscope averages the others.
    Here it is a trial with a null outcome, known by the plan in the report beside the reviews and
    by gaps between generations; so is one without a usable score, whose `status` is not success,
    fallback or degraded. `reported` of `describe` is what evalscope prints: with ``aggregation:
    bayes_at_n`` Bayes@N, the `mu` of ``bayes()``. In `describe`, `planned` is
    `execution_summary.requested` of the report. Columns: model, benchmark (which is `by`), subset,
    question (subset/group), trial, category, score, status, run (the work_dir), source (the file).

    Parameters
    ----------
    model
        Default: the folder, which evalscope names after it.
    metric : str or dict of str, optional
        Which score, for all benchmarks or by benchmark. Default: the main one of evalscope.
    threshold
        Default: the category is the score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If no sample has that score, or one is there twice.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.evalscope("outputs/20260101_120000", missing=0).pass_at_k([1, 4])  # doctest: +SKIP
    """
    matches = find_files(paths, "*.jsonl")
    reviews = [f for f, named in matches.items() if named or f.parent.parent.name == "reviews"]
    log = read_row_files(
        reviews or matches, _EXPECTED, lambda file: _review_rows(file, metric), roles
    )
    log = log.named(lambda file: file.parent, lambda file, *_: file.parent.name)
    log = log.with_totals(
        lambda file, part: (file.parent, part.run.keys["benchmark"]),
        lambda files: _benchmark_totals(
            _Work.from_file(files[0]), [log.parts[file] for file in files]
        ),
    )
    return log.accessor(_COLUMNS, reward_outcome(threshold, "score"), by="benchmark")


@dataclass(frozen=True, slots=True)
class _Work:
    """Report and configuration of a file of reviews, in folders beside it."""

    benchmark: str
    subset: str
    file: Path  # the report, or that of the reviews
    report: Mapping[str, Any]  # without metrics if there is none
    config: Mapping[str, str]  # the text of each setting; empty without a file of them

    @classmethod
    def from_file(cls, file: Path) -> _Work:
        """Read the report, whose name begins that of the file; the benchmark if there is none."""
        # Both parts of a name may have underscores: of several reports it is the longest name.
        work, name = file.parents[2], plain_path(file).stem
        sides = (work / "reports" / file.parent.name).glob("*.json*")
        reports = {plain_path(side).stem: side for side in sorted(sides)}
        begin = [each for each in reports if f"{name}_".startswith(f"{each}_")]
        benchmark = max(begin, key=len, default=name)
        side = reports.get(benchmark, file)
        report = read_json(side, _REPORT) if begin else {"metrics": []}
        if not isinstance(report, dict) or "metrics" not in report:
            raise unexpected_content(side, _REPORT, describe_content(report))
        files = [*work.glob("configs/task_config*.yaml")]
        texts = sorted(readable_file(each).read_text("utf-8", "replace") for each in files)
        configs = [*map(_yaml_parts, texts)]
        matching = (each for each in configs if each.get("model_id") == file.parent.name)
        config = next(matching, configs[0] if configs else {})
        return cls(benchmark, name[len(benchmark) + 1 :], side, report, config)

    def planned(self) -> int | None:
        """The generations that were planned for the subset."""
        subsets = field_value(self.report, "execution_summary.subsets") or {}
        return cast("int | None", field_value(subsets.get(self.subset), "requested"))

    def repeats(self) -> int | None:
        """The generations that were planned for each question."""
        text = self.config.get("repeats", "")
        return int(text) if text.isdecimal() else None

    def settings(self) -> dict[str, object]:
        """The settings of the run, those of data for this benchmark alone."""
        known: dict[str, object] = {**self.config}
        for name in ("generation_config", "dataset_args"):
            known[name] = _yaml_parts(dedent(self.config.get(name, "").strip("\n")))
        known["dataset_args"] = cast("dict[str, str]", known["dataset_args"]).get(self.benchmark)
        return run_settings(known, SETTINGS) if self.config else {}

    def reported(self, metric: str) -> tuple[float | None, str]:
        """The score that evalscope prints for a metric, and how it aggregates the samples."""
        names = {metric, _ALIASES.get(metric, metric)}
        for each in self.report["metrics"]:
            identity = each.get("identity") or {}
            how = identity.get("aggregation", "mean")
            name = identity.get("name") or each["name"].removeprefix("mean_")
            if name in names and how in {"mean", "bayes_at_n"}:
                return each["score"], how
        return None, "mean"


def _yaml_parts(text: str) -> dict[str, str]:
    """The text of each value of an object in YAML; its parts stand further right."""
    _, *parts = re.split(r"^([\w.-]+):", text, flags=re.MULTILINE)
    return {
        name: each.strip(" ").rstrip() for name, each in zip(parts[::2], parts[1::2], strict=True)
    }


def _review_rows(file: Path, metric: Metrics) -> FileRows:
    """The samples of a file, then the generations that failed."""
    work = _Work.from_file(file)
    lines: dict[object, tuple[int, dict[str, Any]]] = {}
    for number, line in numbered_objects(file, _EXPECTED):
        with errors_name_file(file, _EXPECTED, f" in line {number}"):
            first, _ = lines.setdefault(line["index"], (number, _short_line(line)))
        if first != number:
            problem = f"the sample {line['index']!r} twice, in lines {first} and {number}"
            raise unexpected_content(file, _EXPECTED, f"{problem}: a run was resumed")
    samples = [line["sample_score"] for _, line in lines.values()]
    name = _score_name(file, samples, work.benchmark, metric)
    places = [*_sample_places(samples, work.repeats())]
    scores = [_score_and_status(sample["score"], name) for sample in samples]
    absent = [*_absent_places(file, places, work)]
    rows: list[Row] = [
        (work.subset, f"{work.subset}/{question}", trial, *score)
        for (question, trial), score in zip(
            [*places, *absent], [*scores, *[(None, _ABSENT)] * len(absent)], strict=True
        )
    ]
    run = Run(
        name=file.parents[2].name,
        keys={"benchmark": work.benchmark},
        settings=work.settings(),
        totals=(Totals(keys={"metric": name}),),
    )
    return FileRows(rows, run, [*(line for _, line in lines.values()), *[{}] * len(absent)])


def _short_line(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line without its long fields; one without a score of one model is an error."""
    score = line["sample_score"]["score"]
    if not isinstance(score["value"], dict):
        raise TypeError(f"the value is {score['value']!r}")
    if "battle_result" in (score.get("metadata") or {}):
        raise ValueError("a battle of two models, which is not an outcome of one model")
    return {name: value for name, value in line.items() if name not in _LONG_FIELDS}


def _score_name(
    file: Path, samples: Sequence[Mapping[str, Any]], benchmark: str, metric: Metrics
) -> str:
    """The score that counts: that of the user, or the main one of the first sample that has any."""
    named = metric.get(benchmark) if isinstance(metric, Mapping) else metric
    scores = [sample["score"] for sample in samples if sample["score"]["value"]]
    known = [*dict.fromkeys(name for score in scores for name in score["value"])]
    if named is None and known:
        main = scores[0].get("main_score_name")
        return str(main if main in known else known[0])
    if named is None or named not in known:
        asked = "without a score" if named is None else f"without the score {named!r}"
        raise unexpected_content(file, _EXPECTED, f"samples {asked}: they have {known}")
    return named


def _score_and_status(score: Mapping[str, Any], name: str) -> tuple[float | None, str]:
    """The score of a sample, null if evalscope leaves it out; and its status."""
    status = score.get("status") or "success"
    value = known_number(score["value"].get(name), f"score {name!r}")
    return value if status in _USABLE else None, status


def _sample_places(
    samples: Sequence[Mapping[str, Any]], repeats: int | None
) -> Iterator[tuple[object, int]]:
    """Group and generation of each sample; files of 2025 number samples through all groups."""
    groups = Counter(sample["group_id"] for sample in samples)
    each = repeats or max(groups.values())
    for sample in samples:
        generation = sample.get("generation_index")
        yield sample["group_id"], sample["sample_id"] % each if generation is None else generation


def _absent_places(
    file: Path, places: Sequence[tuple[Any, int]], work: _Work
) -> Iterator[tuple[object, int]]:
    """Group and generation of the planned samples that have no line."""
    # Groups of a subset are numbered from 0: the plan tells also those that failed as a whole.
    repeats = work.repeats() or 1 + max(generation for _, generation in places)
    groups: Collection[object] = dict.fromkeys(group for group, _ in places)
    planned = range((work.planned() or 0) // repeats)
    if len(planned) * repeats == work.planned() and all(group in planned for group in groups):
        groups = planned
    if len(groups) * repeats > _MOST * len(places):
        problem = f"{len(places):,} of {len(groups) * repeats:,} planned generations"
        raise unexpected_content(file, _EXPECTED, problem)
    known = {*places}
    yield from (place for place in product(groups, range(repeats)) if place not in known)


def _benchmark_totals(work: _Work, parts: Sequence[FileRows]) -> tuple[Totals, ...]:
    """The plan and the score of a report, and the score that it should be."""
    scores: dict[object, list[float]] = defaultdict(list)
    for row in chain.from_iterable(part.rows for part in parts):
        if row[_SCORE] is not None:
            scores[row[_QUESTION]].append(cast("float", row[_SCORE]))
    with errors_name_file(work.file, _REPORT):
        reported, how = work.reported(str(parts[0].run.totals[0].keys["metric"]))
        totals = Totals(
            planned=field_value(work.report, "execution_summary.requested"),
            reported=reported,
            read=sum(len(part.rows) for part in parts),
            score=mean_or_none(value for each in scores.values() for value in each),
        )
    if how == "bayes_at_n":
        means = ((sum(each) + 1) / (len(each) + 2) for each in scores.values())
        totals = replace(totals, score=mean_or_none(means))
    return (totals,)
