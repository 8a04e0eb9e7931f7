"""The logs of NeMo-Skills."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

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
from polars_scorio.logs.kept_fields import Vocabulary, field_value, json_text
from polars_scorio.logs.paths import Paths, find_files, plain_path, side_file
from polars_scorio.logs.reader_options import (
    LogOptions,
    LogRows,
    Unpack,
    log_columns,
    log_reader,
    read_row_files,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none

_EXPECTED = "eval-results/<benchmark>/output-rs<seed>.jsonl of NeMo-Skills"
_METRICS = "metrics.json of NeMo-Skills: an object with a benchmark each"
_SEED = re.compile(r"output-rs(\d+)\.jsonl$")
_WHOLE = re.compile(r"output(-rs\d+)?\.jsonl$")
_SEEDS = re.compile(r"pass@1\[(?:avg-of-)?(\d+)\]")
_VERDICT = re.compile(r"\*{0,2}judgement\*{0,2}\s*:[\s*]*(\w*)", re.IGNORECASE)
_LONG_FIELDS = {"generation", "serialized_output", "messages"}  # fields of lines that are not kept
_COLUMNS = log_columns("subset", "question", "trial", "score", question=pl.Int64, trial=pl.Int64)
_PERCENT = 100
_SCORE = [*_COLUMNS].index("score")


def _judged_yes(judgement: str) -> bool:
    """The verdict of a judge; one in another form counts as wrong, as in NeMo-Skills."""
    match = _VERDICT.search(judgement)
    return match is not None and match[1].lower() == "yes"


def _generation_seconds(line: Mapping[str, Any]) -> float | None:
    """The time that a generation took."""
    start, end = line.get("generation_start_time"), line.get("generation_end_time")
    return None if start is None or end is None else end - start


_VOCABULARY: Vocabulary = {"output_tokens": "num_generated_tokens", "seconds": _generation_seconds}
# For each field of an outcome, of which the first counts: how a text or list is read, and the names
# of its mean in metrics.json.
_OUTCOMES: dict[str, tuple[Callable[[Any], object] | None, tuple[str, ...]]] = {
    "symbolic_correct": (None, ("symbolic_correct",)),
    "judgement": (_judged_yes, ("judge_correct",)),
    "is_correct-plus": (None, ("passing_plus_tests",)),
    "is_correct": (None, ("passing_base_tests", "symbolic_correct", "accuracy")),
    "graded_list": (lambda graded: graded[0], ("accuracy",)),
    "swe-bench-metrics.resolved": (None, ("issues_resolved",)),
    "proof_status": (lambda status: status == "completed", ("lean4_correct",)),
    "strict_eval.follow_all_instructions": (None, ("prompt_strict_accuracy",)),
    "passed": (None, ("accuracy",)),
    "status": (lambda status: status == "pass", ("accuracy",)),
}


@log_reader
def nemo_skills(
    paths: Paths,
    *,
    metric: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read NeMo-Skills: <output_dir>/eval-results/<benchmark>/output-rs<seed>.jsonl.

    A question is a line, so that all files of a benchmark must have the same ones; a trial is a
    seed, which all questions share. A trial without an answer has failed. In `describe`, `planned`
    is `num_entries` x seeds in `metrics.json` and `reported` is its `pass@1[avg-of-n]`. Columns:
    model, benchmark and subset (which are `by`), question (the line, from 0), trial (the seed),
    category, score, run (the file), source (the file). If a judge and a rule saw each trial,
    ``metric="judgement", keep="symbolic_correct"`` has both, for the role `truth`.

    Parameters
    ----------
    model
        Default: the output_dir.
    metric : str, optional
        The field of the outcome: symbolic_correct, judgement, is_correct-plus, is_correct,
        graded_list, swe-bench-metrics.resolved, proof_status, strict_eval.follow_all_instructions,
        passed or status. Default: the first of these that a file has.
    threshold
        Default: the category is the score; ``levels=`` lists all that there may be.

    Raises
    ------
    ValueError
        If a file lacks that field, or the files of a benchmark have different lines.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.nemo_skills("out/eval-results").pass_at_k([1, 4])  # doctest: +SKIP
    """
    if metric is not None and metric not in _OUTCOMES:
        raise ValueError(f"metric must be one of {[*_OUTCOMES]}, got {metric!r}")
    matches = find_files(paths, "output-rs*.jsonl", "output.jsonl")
    whole = [
        file for file, named in matches.items() if named or _WHOLE.match(plain_path(file).name)
    ]
    texts: dict[Path, list[str]] = {}
    log = read_row_files(
        whole or matches, _EXPECTED, lambda f: _outcome_lines(f, metric, texts), roles, _VOCABULARY
    )
    _refuse_unlike_files(log, texts)
    log = log.named(_output_folder)
    log = log.with_totals(
        lambda file, _: file.parent,
        lambda files: _seed_totals([log.parts[file] for file in files], files[0]),
    )
    outcome = reward_outcome(threshold, "score")
    return log.accessor(_COLUMNS, outcome, by=("benchmark", "subset"), run=None)


def _output_folder(file: Path) -> Path:
    """The folder of all benchmarks of a model."""
    above = file.parent.parent
    return above.parent if above.name == "eval-results" else above


def _outcome_lines(file: Path, metric: str | None, texts: dict[Path, list[str]]) -> FileRows:
    """The lines of a file; `texts` gets of each what tells its question."""
    name = plain_path(file).name
    if name.startswith("output-rs") and not _WHOLE.match(name):
        raise unexpected_content(file, _EXPECTED, "a part of a run, or of one that has not ended")
    seed = _SEED.search(name)
    trial = int(seed[1]) if seed else 0
    texts[file] = []
    rows: list[Row] = []
    records = []
    for number, line in numbered_objects(file, _EXPECTED):
        with errors_name_file(file, _EXPECTED, f" in line {number}"):
            metric = metric or next((f for f in _OUTCOMES if field_value(line, f) is not None), "")
            if not rows and field_value(line, metric) is None:
                asked = repr(metric) if metric else f"of {[*_OUTCOMES]}"
                raise unexpected_content(
                    file, _EXPECTED, f"no outcome {asked} among {sorted(line)}"
                )
            subset = str(line.get("subset_for_metrics") or "")
            rows.append((subset, len(rows), trial, _line_outcome(line, metric)))
            texts[file].append(json_text([line.get(key) for key in ("problem", "expected_answer")]))
            records.append({key: value for key, value in line.items() if key not in _LONG_FIELDS})
    run = Run(
        name=name.removesuffix(".jsonl"),
        keys={"benchmark": file.parent.name},
        totals=(Totals(keys={"metric": metric}),),
    )
    return FileRows(rows, run, records)


def _line_outcome(line: Mapping[str, Any], field: str) -> float | None:
    """The outcome of a line as a number; None if it has none."""
    value, read = field_value(line, field), _OUTCOMES[field][0]
    return known_number(value if read is None or value is None else read(value), field)


def _refuse_unlike_files(log: LogRows, texts: Mapping[Path, Sequence[str]]) -> None:
    """Refuse files of one benchmark whose lines are not the same questions."""
    first: dict[Path, Path] = {}
    for file in log.parts:
        other = first.setdefault(file.parent, file)
        if file != other and "output.jsonl" in {plain_path(file).name, plain_path(other).name}:
            raise ValueError(
                f"{other} and {file} are of two runs, of which output.jsonl is the greedy one: "
                "read it by itself, or only output-rs*.jsonl"
            )
        if len(texts[file]) != len(texts[other]):
            raise ValueError(
                f"{other} has {len(texts[other]):,} lines and {file} {len(texts[file]):,}: a "
                "question is its line, so that a run that was cut short cannot be read"
            )
        for number, (one, two) in enumerate(zip(texts[other], texts[file], strict=True), 1):
            if one != two:
                raise ValueError(
                    f"{other} and {file} have different questions in line {number}, {one[:80]} and "
                    f"{two[:80]}: a question is its line. Sort the lines alike"
                )


def _seed_totals(parts: Sequence[FileRows], file: Path) -> tuple[Totals, ...]:
    """Plan and mean of all seeds of a benchmark, by subset if metrics.json has them."""
    metric, benchmark = str(parts[0].run.totals[0].keys["metric"]), file.parent.name
    rows = [row for part in parts for row in part.rows]
    sides = [side_file(folder / "metrics.json", "metrics.json") for folder in [*file.parents][:2]]
    side = next((side for side in sides if side.exists()), file)
    with errors_name_file(side, _METRICS):
        totals = {} if side == file else read_json(side, _METRICS)
        subsets: dict[Any, Any] = {row[0]: totals.get(f"{benchmark}-{row[0]}") for row in rows}
        if not all(subsets.values()):
            names = benchmark, f"{benchmark}-all", f"{benchmark}-_all_"
            whole: dict[str, Any] = next((totals[name] for name in names if name in totals), {})
            subsets = {"" if {*subsets} == {""} else None: whole}
        rows_of = {subset: [row for row in rows if subset in {None, row[0]}] for subset in subsets}
        means = {subset: _told_mean(known, file, metric) for subset, known in subsets.items()}
        return tuple(
            Totals(
                keys={"subset": subset},
                planned=None if entries is None else seeds * entries,
                reported=percent / _PERCENT
                if percent is not None and seeds == len(parts)
                else None,
                read=len(rows_of[subset]),
                score=mean_or_none(
                    cast("float | None", row[_SCORE]) or 0.0 for row in rows_of[subset]
                ),
                file=side,
            )
            for subset, (seeds, entries, percent) in means.items()
        )


def _told_mean(
    known: Mapping[str, Any], file: Path, metric: str
) -> tuple[int, int | None, float | None]:
    """Seeds, questions and mean in percent, as metrics.json has them of a file of its kind."""
    seeds = max([0, *(int(match[1]) for name in known if (match := _SEEDS.match(name)))])
    names = {f"pass@1[avg-of-{seeds}]": seeds, f"pass@1[{seeds}]": seeds, "pass@1": 1}
    if plain_path(file).name == "output.jsonl":
        names = {"greedy": 1} if seeds else {"greedy": 1, "pass@1": 1}
    name = next((name for name in names if name in known), "")
    means = known.get(name, {})
    percent = next((means[each] for each in _OUTCOMES[metric][1] if each in means), None)
    return names.get(name, 1), means.get("num_entries"), percent
