"""The logs of inspect_ai: their headers and samples, without messages and events."""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    FileRows,
    Row,
    describe_content,
    empty_file,
    parse_json,
    read_json,
    single_keys,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import Getter, Vocabulary, kept_getters, summed_field
from polars_scorio.logs.paths import DAMAGE, Paths, find_files, plain_path, zstd_stream
from polars_scorio.logs.read import is_inspect_log
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_columns,
    log_reader,
    read_row_files,
)
from polars_scorio.logs.runs import Run, Totals, mean_of_means, run_settings

Sample: TypeAlias = "dict[str, Any]"
INSPECT_LOG = "a log of inspect_ai, with the parts 'eval' and 'samples'"
# Fields of samples that no table needs; they make up nearly all of a file.
_LEFT_OUT = frozenset({"messages", "events", "store", "attachments", "timelines"})


def find_inspect_logs(paths: Paths) -> list[Path]:
    """The logs among the paths, by their names or beginnings."""
    # If no file is a log, all files are returned, so that reading them says what is wrong.
    files = find_files(paths, "*.eval", "*.json")
    logs = [
        file for file, named in files.items() if named or _is_log_name(file) or is_inspect_log(file)
    ]
    return logs or [*files]


def _is_log_name(file: Path) -> bool:
    """Whether the name of a file is one that inspect_ai gives to logs."""
    name = plain_path(file).name
    return name.endswith(".eval") or re.match(r"\d{4}-.*\.json$", name) is not None


def read_inspect_log(file: Path, limit: int) -> dict[str, Any]:
    """Header and samples of a log: an archive of at most `limit` unpacked bytes, or a JSON file."""
    if zipfile.is_zipfile(file):
        return _archive_log(file, limit)
    if file.suffix == ".eval":
        Archive(file, INSPECT_LOG, 0)  # raises an error that says what is wrong with the file
    log = read_json(file, INSPECT_LOG, slim_sample)
    if not isinstance(log, dict) or "eval" not in log:
        raise unexpected_content(file, INSPECT_LOG, describe_content(log))
    return log


def slim_sample(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, without the large fields if it is a sample: only one sample is whole at a time."""
    content = single_keys(members)
    if {"id", "epoch"} <= content.keys():
        return {name: value for name, value in content.items() if name not in _LEFT_OUT}
    return content


def _archive_log(file: Path, limit: int) -> dict[str, Any]:
    """Header and samples of an archive; if the run was cut short, those of its journal."""
    archive = Archive(file, INSPECT_LOG, limit)
    header = archive.members("header.json") or archive.members("_journal/start.json")
    if not header:
        raise unexpected_content(file, INSPECT_LOG, "an archive without header.json")
    members = archive.members("summaries.json") or archive.members("_journal/summaries/")
    head, *parts = archive.read(*header, *members)
    log: dict[str, Any] = parse_json(file, head, INSPECT_LOG)
    samples = [sample for part in parts for sample in parse_json(file, part, INSPECT_LOG)]
    if log.get("invalidated"):
        # Summaries do not say which samples are invalid; the samples themselves do.
        whole = _samples_by_key(file, archive)
        samples = [
            {**sample, "invalidation": whole.get(_sample_key(sample), {}).get("invalidation")}
            for sample in samples
        ]
    return {**log, "samples": samples}


def whole_samples(file: Path, limit: int, summaries: Iterable[Sample]) -> list[Sample]:
    """The whole samples of an archive, in the order of their summaries."""
    whole = _samples_by_key(file, Archive(file, INSPECT_LOG, limit))
    return [whole.get(_sample_key(summary), summary) for summary in summaries]


def _samples_by_key(file: Path, archive: Archive) -> dict[tuple[object, object], Sample]:
    """The samples of an archive by id and epoch, without what no table needs."""
    samples: dict[tuple[object, object], Sample] = {}
    for member in archive.members("samples/"):
        (text,) = archive.read(member)
        sample = parse_json(file, text, INSPECT_LOG, slim_sample)
        samples[_sample_key(sample)] = sample
    return samples


def _sample_key(sample: Sample) -> tuple[object, object]:
    """Id and epoch of a sample."""
    return sample["id"], sample["epoch"]


GIGABYTE = 10**9
_ZSTD = 93  # the number of zstd among the compressions of zip archives
# Lengths of the name and of further fields, at the end of the header before a member.
_LOCAL_HEADER = struct.Struct("<26x2H")


class Archive:
    """A zip archive of which members are read whole, up to a limit of unpacked bytes.

    `expected` is what the file should be, for errors.
    """

    def __init__(self, file: Path, expected: str, limit: int) -> None:
        self._file, self._expected, self._limit = file, expected, limit
        try:
            with zipfile.ZipFile(file) as archive:
                self._sizes = {member.filename: member.file_size for member in archive.infolist()}
        except zipfile.BadZipFile as error:
            if not file.stat().st_size:
                raise empty_file(file, expected) from None
            raise unexpected_content(file, expected, f"no whole zip archive ({error})") from None

    def members(self, start: str) -> list[str]:
        """The names of members that begin with `start`, ascending."""
        return sorted(name for name in self._sizes if name.startswith(start))

    def read(self, *members: str) -> list[bytes]:
        """The bytes of some members, unpacked; damage and more than the limit are errors."""
        size = sum(self._sizes[member] for member in members)
        if size > self._limit:
            raise ValueError(
                f"{self._file} would unpack to {size:,} bytes, more than unpack_limit="
                f"{self._limit:,}: raise the limit if you trust the file"
            )
        try:
            with zipfile.ZipFile(self._file) as archive:
                return [self._member_bytes(archive, member) for member in members]
        except (zipfile.BadZipFile, NotImplementedError, struct.error, *DAMAGE) as error:
            raise unexpected_content(
                self._file, self._expected, f"an archive that cannot be unpacked ({error})"
            ) from error

    def _member_bytes(self, archive: zipfile.ZipFile, name: str) -> bytes:
        """The bytes of a member; pyarrow unpacks zstd: `zipfile` cannot before Python 3.14."""
        member = archive.getinfo(name)
        if member.compress_type != _ZSTD:
            return archive.read(name)
        with self._file.open("rb") as source:
            source.seek(member.header_offset)
            name_length, extra_length = _LOCAL_HEADER.unpack(source.read(_LOCAL_HEADER.size))
            source.seek(name_length + extra_length, SEEK_CUR)
            content: bytes = zstd_stream(BytesIO(source.read(member.compress_size))).read(
                member.file_size + 1
            )
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise zipfile.BadZipFile(f"size or check sum of {name!r} is wrong")
        return content


# The numbers that inspect's value_to_float gives for the letters.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# Settings in which runs of one model may differ, in the header.
SETTINGS = (
    "task_version",
    "task_args",
    "solver",
    "solver_args",
    "model_args",
    "model_generate_config",
    "config.message_limit",
    "config.token_limit",
    "config.time_limit",
    "plan.config",
)
# The category becomes Float64 if the scores are numbers.
_COLUMNS = log_columns("question", "trial", "category", "error", "invalidation", trial=pl.Int64)
_QUESTION, _SCORE, _ERROR = map([*_COLUMNS].index, ("question", "category", "error"))

_VOCABULARY: Vocabulary = {
    "usd": summed_field("model_usage", "total_cost"),
    "input_tokens": summed_field("model_usage", "input_tokens"),
    "output_tokens": summed_field("model_usage", "output_tokens"),
    "seconds": "total_time",
}


@log_reader
def inspect_ai(
    paths: Paths,
    *,
    scorer: str | Mapping[str, str] | None = None,
    truth_scorer: str | None = None,
    threshold: float | None = None,
    unpack_limit: int = GIGABYTE,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read inspect_ai: its .eval and .json logs.

    The category is the value of a scorer: mostly "C" (correct, the success), "P" (partial), "I"
    (incorrect) or "N" (no answer), or a number; other words need `success`. It is null if a sample
    was not scored, as after an error; samples that ran into a limit are scored. With
    ``score_on_error`` inspect_ai scores samples with an error too: their scores are kept, and
    `describe` counts them in `scored_errors`. A task that was retried has two logs with the same
    samples: `retries` says which count. In `describe`, `planned` is samples x epochs and `reported`
    is `accuracy` of the scorer. Columns: model, benchmark (the task, which is `by`), question,
    trial (the epoch), category, error, invalidation (why a sample was declared invalid), run (its
    id), source (the file).

    Parameters
    ----------
    model
        Default: as the log says.
    scorer : str or dict of str, optional
        Whose score to read, where there are several, for all tasks or by task; ``scorer.key`` where
        a score is a dict.
    truth_scorer : str, optional
        The scorer with what people said, where a model or a rule is the `scorer`: its values are
        the column truth, null where nobody looked, and the role `truth`, so that numbers are
        corrected for the errors of the scorer.
    threshold
        "C" counts as 1, "P" as 0.5, "I" and "N" as 0.
    unpack_limit : int
        Archives whose samples would unpack to more bytes are refused.
    **roles
        With ``levels=`` the letters are numbers, as above.

    Raises
    ------
    ValueError
        If it has a header alone, or several scores of which none is named, or if letters and
        numbers are mixed, or `scorer` names a task that no log is about.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.inspect_ai("logs", missing="drop").pass_at_k([1, 4])  # doctest: +SKIP
    """
    numbers = threshold is not None or roles.get("levels") is not None
    keep = kept_getters(roles.get("keep"), _VOCABULARY)

    def read(file: Path) -> FileRows:
        part = _sample_rows(file, scorer, unpack_limit, truth_scorer, numbers=numbers)
        return _with_whole_samples(file, part, keep, unpack_limit)

    log = read_row_files(find_inspect_logs(paths), INSPECT_LOG, read, roles, _VOCABULARY)
    log = log.named(lambda file: file)
    parts = log.parts
    tasks = {str(run.keys["benchmark"]) for run in log.runs().values()}
    unknown = {*scorer} - tasks if isinstance(scorer, Mapping) else ()
    if unknown:
        raise ValueError(
            f"scorer= names the tasks {sorted(unknown)}, which no log has: their tasks are "
            f"{sorted(tasks)}"
        )
    scores = [row[_SCORE] for part in parts.values() for row in part.rows]
    dtype = _score_dtype(parts, numbers=numbers)
    columns: dict[str, Any] = {**_COLUMNS, "category": dtype}
    people = [] if truth_scorer is None else ["truth"]
    if truth_scorer is not None:
        columns["truth"] = _truth_dtype(parts, truth_scorer, dtype)
    frame = log.table(columns)
    if threshold is not None:
        frame = frame.with_columns(pl.col("category", *people) >= threshold)
    graded = dtype == pl.String and {*scores} <= {*_LETTERS, None}
    if graded:  # the letters that there may be, so that a log of "C" alone is no slip of the pen
        frame = frame.with_columns(pl.col("category").cast(pl.Enum(sorted(_LETTERS))))
    success, truth = "C" if graded else None, next(iter(people), None)
    return log_accessor(
        frame, log.runs(), roles, by="benchmark", success=success, truth=truth, run=None
    )


def _sample_rows(
    file: Path,
    scorer: str | Mapping[str, str] | None,
    limit: int,
    truth_scorer: str | None,
    *,
    numbers: bool,
) -> FileRows:
    """The rows of a log, one for each sample and epoch, and its run."""
    log = read_inspect_log(file, limit)
    run, samples = log["eval"], log.get("samples") or []
    scorer = scorer.get(run["task"]) if isinstance(scorer, Mapping) else scorer
    scores = [dict(_score_values(sample.get("scores") or {})) for sample in samples]
    names = {name for score in scores for name in score} - {truth_scorer}
    name = _chosen_scorer(file, sorted(names), scorer)
    people = [] if truth_scorer is None else [truth_scorer]
    described = _header_run(file, log, name)
    rows: list[Row] = [
        (
            str(sample["id"]),
            sample["epoch"],
            _score_number(score.get(name), letters=numbers),
            _error_message(sample.get("error")),
            _invalidation_reason(sample.get("invalidation")),
            *(_score_number(score.get(each), letters=numbers) for each in people),
        )
        for sample, score in zip(samples, scores, strict=True)
    ]
    (totals,) = described.totals
    if not rows and totals.status is None:
        problem = "only a header, whose status is 'success': no sample was logged"
        raise unexpected_content(file, INSPECT_LOG, problem)
    kept = sum(row[_ERROR] is not None and row[_SCORE] is not None for row in rows)
    score = _mean_score(rows)
    counted = replace(totals, read=len(rows), score=score, scored_errors=kept)
    return FileRows(rows, replace(described, totals=(counted,)), samples)


def _with_whole_samples(
    file: Path, part: FileRows, keep: Mapping[str, Getter], limit: int
) -> FileRows:
    """The rows of a log; their records are whole samples if summaries lack a kept field."""
    summaries = [*part.records]
    lacking = [get for get in keep.values() if all(get(each) is None for each in summaries)]
    if not lacking or not summaries or not zipfile.is_zipfile(file):
        return part
    return replace(part, records=whole_samples(file, limit, summaries))


def _header_run(file: Path, log: Mapping[str, Any], scorer: str) -> Run:
    """The run of a log, from its header."""
    run = log["eval"]
    # Older logs have no id of their own: a run has several tasks, and a task several runs.
    identity = run.get("eval_id")
    if identity is None and "run_id" in run:
        identity = f"{run['run_id']} {run.get('task_id')}"
    return Run(
        name=run.get("eval_id") or run.get("run_id") or file.stem,
        keys={"model": run["model"], "benchmark": run["task"]},
        identity=identity,
        attempt=run.get("task_id"),
        started=_utc_time(run.get("created")),
        settings=run_settings({**run, "plan": log.get("plan")}, SETTINGS),
        totals=(_header_totals(log, scorer),),
    )


def _header_totals(log: Mapping[str, Any], scorer: str) -> Totals:
    """Totals in the header of a run."""
    # A run that ended well planned the samples of its results, which a limit may have cut; any
    # other the whole dataset.
    config, results = log["eval"].get("config") or {}, log.get("results") or {}
    dataset = (log["eval"].get("dataset") or {}).get("samples")
    planned = None if dataset is None else dataset * (config.get("epochs") or 1)
    status = log.get("status")
    ended = status in (None, "success")
    return Totals(
        planned=results.get("total_samples", planned) if ended else planned,
        reported=_reported_accuracy(results, scorer),
        status=None if ended else status,
    )


def _reported_accuracy(results: Mapping[str, Any], scorer: str) -> float | None:
    """The accuracy of a scorer, if it is the mean over the epochs of each sample."""
    scores = [
        score for score in results.get("scores") or ()
        if score["name"] == scorer and score.get("reducer") in (None, "mean")
    ]  # fmt: skip
    accuracy = scores[0]["metrics"].get("accuracy") if len(scores) == 1 else None
    return accuracy and accuracy["value"]


def _mean_score(rows: list[Row]) -> float | None:
    """The mean over questions of the scores as numbers; None if a score is a word without one."""
    values = [_score_number(row[_SCORE], letters=True) for row in rows]
    if not all(value is None or isinstance(value, float) for value in values):
        return None
    numbers = cast("list[float | None]", values)
    return mean_of_means(zip((row[_QUESTION] for row in rows), numbers, strict=True))


def _utc_time(text: str | None) -> str | None:
    """A time with any offset as text in UTC, so that the order of texts is that of times."""
    if text is None:
        return None
    # Python 3.10 does not read the letter Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc).isoformat()


def _score_values(scores: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The names and values of scores; a scorer with several values has a name for each."""
    for name, score in scores.items():
        value = score["value"]
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", part) for key, part in value.items())
        else:
            yield name, value


def _chosen_scorer(file: Path, names: list[str], scorer: str | None) -> str:
    """The name of the score to read; empty if the log has no scores."""
    if names and scorer not in (None, *names):
        raise ValueError(f"{file} has no score {scorer!r}: name one with scorer=, of {names}")
    if scorer is None and len(names) > 1:
        raise ValueError(f"{file} has several scores, {names}: name one with scorer={names[0]!r}")
    return scorer or next(iter(names), "")


def _error_message(error: object) -> str | None:
    """The message of an error; .json logs have an object with message and traceback."""
    message = error.get("message") if isinstance(error, dict) else error
    return str(message) if message else None


def _invalidation_reason(invalidation: Mapping[str, Any] | None) -> str | None:
    """The reason why a sample was declared invalid, or its author if no reason was given."""
    if invalidation is None:
        return None
    return str(invalidation.get("reason") or f"by {invalidation['author']}")


def _truth_dtype(
    parts: Mapping[Path, FileRows], truth_scorer: str, dtype: pl.DataType
) -> pl.DataType:
    """The dtype of what people said, which must be of the kind of the scores."""
    said = {type(row[-1]) for part in parts.values() for row in part.rows} - {type(None)}
    kind = str if dtype == pl.String() else float
    if not said:
        raise ValueError(
            f"truth_scorer={truth_scorer!r} names a score that no sample has: name the scorer with "
            "what people said, or omit truth_scorer="
        )
    if said != {kind}:
        named = sorted(each.__name__ for each in said)
        raise ValueError(
            f"the values of truth_scorer={truth_scorer!r} are {named}, those of the scorer "
            f"{kind.__name__}: make all of them numbers with threshold= (C = 1, P = 0.5, I = N = 0)"
        )
    return dtype


def _score_dtype(parts: Mapping[Path, FileRows], *, numbers: bool) -> pl.DataType:
    """The dtype of the scores, which must be all letters or all floats."""
    # The first score of each Python type, with its file.
    firsts: dict[type, tuple[Path, object]] = {}
    for file, part in parts.items():
        for row in part.rows:
            firsts.setdefault(type(row[_SCORE]), (file, row[_SCORE]))
    kinds = {*firsts} - {type(None)}
    for kind in kinds - {str, float}:
        file, example = firsts[kind]
        raise ValueError(
            f"{file}: a score is neither a word nor a number: {example!r}. Name another scorer="
        )
    if str in kinds:
        file, word = firsts[str]
        if numbers:
            raise ValueError(
                f"{file}: the score {word!r} is not a number; threshold= and levels= need numbers"
            )
        if float in kinds:
            other, number = firsts[float]
            raise ValueError(
                f"some scores are words ({word!r} in {file}) and others numbers ({number!r} in "
                f"{other}): read the logs apart, or make all of them numbers with threshold= or "
                "levels= (C = 1, P = 0.5, I = N = 0)"
            )
    # Without any score the column has labels: nulls alone would have no dtype.
    return pl.Float64() if numbers or float in kinds else pl.String()


def _score_number(value: object, *, letters: bool) -> object:
    """A score: numbers as floats, null if not finite; letters as numbers if that is asked for."""
    if letters and isinstance(value, str):
        return _LETTERS.get(value, value)
    if isinstance(value, bool | int | float):
        # One dtype for all of them: a scorer may give 1 and 0.5, or true and NaN.
        return float(value) if math.isfinite(value) else None
    return value
