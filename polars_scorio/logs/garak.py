"""The logs of garak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, isfinite
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    errors_name_file,
    numbered_objects,
    unexpected_content,
)
from polars_scorio.logs.paths import Paths, find_files, plain_path
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_reader, read_row_files
from polars_scorio.logs.runs import Run, Totals, mean_of_means, mean_or_none, run_settings

_EXPECTED = "<name>.report.jsonl of garak, with attempts"
# Settings in which runs of one model may differ, in the first line; `run.` and `plugins.` before.
SETTINGS = ("eval_threshold", "system_prompt", "generators")
_SENT, _JUDGED = 1, 2  # the status of an attempt, which has a line of each
_THRESHOLD = 0.5  # of garak
_TARGET = "target", "model"  # what it is called; in old versions
_LONG_FIELDS = {
    "outputs",
    "conversations",
    "reverse_translation_outputs",
}  # fields that are not kept
_HIT, _RESISTED = "hit", "resisted"
_COLUMNS = {
    "probe": pl.String,
    "detector": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "category": pl.Enum([_RESISTED, _HIT]),
    "score": pl.Float64,
}


@log_reader
def garak(
    paths: Paths,
    *,
    scorer: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read garak: <name>.report.jsonl.

    The category is "hit" where an attack succeeded, which counts as a success, and lower scores are
    better (`lower_is_better`); `pass_at_k` is garak's hit@k. Otherwise it is "resisted", or null
    where there was no output or score. A question is a prompt, a trial one of its generations. In
    `describe`, `reported` is garak's hit@1, or without it the share of hits; `reported_at_k` has
    its hit@k beside ours. `planned` is `total_processed` of each probe and detector. Columns:
    model, probe and detector (which are `by`), question (the number of the prompt in its probe, or
    its uuid where these repeat), trial, category, score, run (the run_id), source (the file).

    Parameters
    ----------
    model
        Default: type and name of the target.
    scorer : str, optional
        The detector that counts. Default: all of them, as strata.
    threshold
        Default: that of the run, 0.5 if it says none. A score from here on is a hit.

    Raises
    ------
    ValueError
        If no attempt has that detector.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.garak("garak_runs", missing="drop").pass_at_k([1, 5])  # doctest: +SKIP
    """
    files = find_files(paths, "*.report.jsonl")
    log = read_row_files(files, _EXPECTED, lambda f: _generation_rows(f, scorer, threshold), roles)
    log = log.named(lambda file: file)
    return log.accessor(_COLUMNS, by=("probe", "detector"), success=_HIT, lower_is_better=True)


def _generation_rows(file: Path, scorer: str | None, threshold: float | None) -> FileRows:
    """The generations of a run, once for each detector."""
    if plain_path(file).name.endswith(".hitlog.jsonl"):
        raise unexpected_content(file, _EXPECTED, "only the hits, without what was resisted")
    report = _Report.read(file)
    detectors = dict.fromkeys(name for of_probe in report.detectors.values() for name in of_probe)
    if scorer is not None and scorer not in detectors:
        problem = f"no scores of the detector {scorer!r}, only of {[*detectors]}"
        raise unexpected_content(file, _EXPECTED, problem)
    setup = {name.rpartition(".")[2]: value for name, value in report.setup.items()}
    least = threshold if threshold is not None else setup.get("eval_threshold", _THRESHOLD)
    both = [*report.rows(scorer, least)]
    rows = [row for row, _ in both]
    target = [setup.get(f"{kind}_{part}") for part in ("type", "name") for kind in _TARGET]
    run = Run(
        name=str(setup.get("run_id", plain_path(file).stem)),
        keys={"model": " ".join(str(part) for part in target if part)},
        identity=setup.get("run_id"),
        started=setup.get("starttime_iso"),
        settings=run_settings(setup, [name for name in SETTINGS if name in setup]),
        totals=tuple(report.totals(rows, by_report=threshold is None)),
    )
    return FileRows(rows, run, [attempt for _, attempt in both])


@dataclass(frozen=True, slots=True)
class _Report:
    """The lines of a report by their kind."""

    setup: dict[str, Any] = field(default_factory=dict)
    attempts: dict[str, dict[str, Any]] = field(default_factory=dict)  # by uuid, as judged
    evals: list[dict[str, Any]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    detectors: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def read(cls, file: Path) -> _Report:
        """Read a report, in which each attempt is twice: when it was sent, and when judged."""
        report = cls()
        for number, line in numbered_objects(file, _EXPECTED):
            with errors_name_file(file, _EXPECTED, f" in line {number}"):
                report.add(line)
        if not report.attempts:
            raise unexpected_content(file, _EXPECTED, "no attempt")
        return report

    def add(self, line: dict[str, Any]) -> None:
        """Add a line."""
        kind = line["entry_type"]
        if kind == "start_run setup":
            self.setup.update(line)
        elif kind == "eval":
            self.evals.append(line)
        elif kind == "completion":
            self.ended.append(kind)
        elif kind == "attempt" and line["status"] in {_SENT, _JUDGED}:
            known = self.attempts.get(line["uuid"])
            if known is not None and known["status"] == line["status"] == _JUDGED:
                raise ValueError(f"the attempt {line['uuid']!r} is judged twice")
            if known is None or line["status"] == _JUDGED:
                count = len(line["outputs"])
                short = {name: value for name, value in line.items() if name not in _LONG_FIELDS}
                self.attempts[line["uuid"]] = {**short, "generations": count}
                self.detectors[line["probe_classname"]].update(
                    dict.fromkeys(line.get("detector_results") or {})
                )

    def rows(self, scorer: str | None, threshold: float) -> Iterator[tuple[Row, Mapping[str, Any]]]:
        """The row of each generation and detector, with the attempt."""
        places = [(each["probe_classname"], each.get("seq")) for each in self.attempts.values()]
        numbered = len({*places}) == len(places) and all(seq is not None for _, seq in places)
        for uuid, attempt in self.attempts.items():
            probe = attempt["probe_classname"]
            question = str(attempt["seq"]) if numbered else uuid
            results = attempt.get("detector_results") or {}
            for detector in self.detectors[probe]:
                if scorer not in {None, detector}:
                    continue
                scores = results.get(detector) or [None] * attempt["generations"]
                for trial, score in enumerate(scores):
                    known = score is not None and isfinite(score)
                    outcome = (_HIT if score >= threshold else _RESISTED) if known else None
                    yield (probe, detector, question, trial, outcome, score), attempt

    def totals(self, rows: Sequence[Row], *, by_report: bool) -> Iterator[Totals]:
        """Generations and share of hits, `by_report` by the threshold of the report."""
        status = None if self.ended or not self.setup else "not completed"
        outcomes = defaultdict(list)
        for probe, detector, question, *_, outcome, _ in rows:
            hit = None if outcome is None else float(outcome == _HIT)
            outcomes[probe, detector].append((question, hit))
        known = {(each["probe"], each["detector"]): each for each in self.evals}
        for key, scored in outcomes.items():
            counts = known.get(key, {})
            hits, evaluated = counts.get("fails"), counts.get("total_evaluated")
            of_prompts = (counts.get("hit_at_k") or {}).get("1")  # prompts weigh the same there
            share = hits / evaluated if evaluated else None
            yield Totals(
                keys=dict(zip(("probe", "detector"), key, strict=True)),
                planned=counts.get("total_processed"),
                reported=None if not by_report else of_prompts["score"] if of_prompts else share,
                read=len(scored),
                score=mean_of_means(scored) if of_prompts else mean_or_none(h for _, h in scored),
                at_k=[*_hits_at_k(scored, counts.get("hit_at_k") or {})] if by_report else (),
                status=status,
            )
            status = None  # one warning


def _hits_at_k(
    outcomes: Sequence[tuple[object, float | None]], evals: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[int, float, float]]:
    """Each k beyond 1 with garak's hit@k, and ours of the prompts that have so many outcomes."""
    hits = defaultdict[object, list[float]](list)
    for question, hit in outcomes:
        hits[question] += [] if hit is None else [hit]
    for k in sorted(int(text) for text in evals if text.isdecimal() and text != "1"):
        states = [(len(of), round(sum(of))) for of in hits.values() if len(of) >= k]
        missed = [comb(n - c, k) / comb(n, k) for n, c in states]
        if missed:
            yield k, evals[str(k)]["score"], 1 - sum(missed) / len(missed)
