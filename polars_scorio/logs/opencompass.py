"""The logs of OpenCompass and AISBench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import Row, model_table, rows_by_file, unexpected_content
from polars_scorio.logs.paths import Paths, model_names
from polars_scorio.logs.reader_options import LogOptions, log_accessor, log_reader

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "results/<model>/<dataset>.json of OpenCompass or AISBench: an object with 'details'"
_COLUMNS = {
    "benchmark": pl.String,
    "question": pl.String,
    "trial": pl.Int64,
    "category": pl.Boolean,
}
_VERDICTS = "correct", "is_correct", "cascade_correct"


@log_reader
def opencompass(
    paths: Paths, *, model: str | None = None, **roles: Unpack[LogOptions]
) -> Scorio[pl.DataFrame]:
    """OpenCompass and AISBench: results/<model>/<dataset>.json with details.

    AISBench writes them with --dump-eval-details alone. The trial is the place in the lists. The
    outcome is null where the answer of a run was not judged. Columns: model, benchmark (which is
    `by`), question, trial, category.

    Parameters
    ----------
    model
        Default: the folder.

    Raises
    ------
    ValueError
        If it has no details.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.opencompass("outputs/default/20260101/results").maj_at_k()  # doctest: +SKIP
    """
    runs = rows_by_file(paths, ("*.json",), _EXPECTED, _run_rows)
    models = model_names({file: file.parent for file in runs}, model)
    return log_accessor(model_table(runs, models, _COLUMNS, _EXPECTED), roles, by="benchmark")


def _run_rows(file: Path, results: Any) -> list[Row] | None:  # noqa: ANN401 - JSON
    if not isinstance(results, dict) or "details" not in results:
        if isinstance(results, dict) and any(isinstance(v, int | float) for v in results.values()):
            raise unexpected_content(
                file, _EXPECTED, "scores alone: evaluate with --dump-eval-details"
            )
        return None
    details = results["details"]
    plain = isinstance(details, dict)
    named = details.items() if plain else enumerate(details)
    return [
        (file.stem, str(question.get("example_abbr", name)), trial, verdict)
        for name, question in named
        if isinstance(question, dict)  # beside the questions, a dict has their "type"
        for trial, verdict in enumerate(_question_verdicts(question, plain=plain))
    ]


def _question_verdicts(question: dict[str, Any], *, plain: bool) -> list[bool | None]:
    given = [question[key] for key in _VERDICTS if key in question]
    if plain:
        return [given[0] if given else None]
    verdicts: list[bool | None] = given[0] if given else []
    # The list leaves out runs whose answer was not judged: the other lists show how many ran.
    runs = max((len(value) for value in question.values() if isinstance(value, list)), default=0)
    return [*verdicts, *[None] * (runs - len(verdicts))]
