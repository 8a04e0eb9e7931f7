"""The logs of promptfoo."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import Row, json_rows
from polars_scorio.logs.paths import Paths, told
from polars_scorio.logs.reader_options import LogOptions, read, reader, scored

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EXPECTED = "the JSON output of promptfoo eval: an object with 'results'"
_ERROR = 2  # promptfoo's failureReason of what was not judged; 1 is a failed assertion
_COLUMNS = {
    "model": pl.String,
    "prompt": pl.String,
    "question": pl.String,
    "trial": pl.String,
    "success": pl.Boolean,
    "score": pl.Float64,
    "error": pl.String,
}


@reader
def promptfoo(
    paths: Paths,
    *,
    model: str | None = None,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """promptfoo: what ``promptfoo eval --output results.json`` writes.

    A question is a test: its description and variables, with a number where two tests share them.
    ``--repeat`` gives it several trials. The outcome is null where the provider or an assertion
    failed for technical reasons. Columns: model (the label of the provider, or its id), prompt
    (which is `by`), question, trial, category, score, error.

    Parameters
    ----------
    model
        Default: as the log says.
    threshold
        Default: what promptfoo says; with ``levels=`` the category is the score.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.promptfoo("results.json").pass_hat_k([1, 3])  # doctest: +SKIP
    """
    runs = json_rows(paths, ("*.json",), _EXPECTED, _rows)
    rows = [(told(file, model) or row[0], *row[1:]) for file, part in runs.items() for row in part]
    frame = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    graded = threshold is not None or roles.get("levels") is not None
    outcome = scored(threshold, "score") if graded else pl.col("success")
    judged = pl.when(pl.col("success").is_not_null()).then(outcome)
    keys = ["model", "prompt", "question", "trial"]
    return read(frame.select(*keys, judged.alias("category"), "score", "error"), roles, by="prompt")


def _rows(file: Path, content: Any) -> list[Row] | None:  # noqa: ANN401 - JSON
    if not isinstance(content, dict) or "results" not in content:
        return None
    results = content["results"]
    outcomes = results if isinstance(results, list) else results["results"]
    run = content.get("evalId") or file.stem
    questions = _questions([outcome.get("testCase", outcome) for outcome in outcomes])
    return [
        (
            _provider(outcome["provider"]),
            _label(outcome["prompt"]),
            question,
            # Each repetition of a test has an index of its own.
            f"{run}/{outcome.get('testIdx', place)}",
            None if _unjudged(outcome) else outcome["success"],
            outcome.get("score"),
            outcome.get("error"),
        )
        for place, (outcome, question) in enumerate(zip(outcomes, questions, strict=True))
    ]


def _provider(provider: str | dict[str, str]) -> str:
    return provider if isinstance(provider, str) else provider.get("label") or provider["id"]


def _label(prompt: str | dict[str, str]) -> str:
    return prompt if isinstance(prompt, str) else prompt.get("label") or prompt["raw"]


def _unjudged(outcome: dict[str, Any]) -> bool:
    reason = outcome.get("failureReason")
    # Before there were reasons, an error came without a grade.
    return reason == _ERROR or (
        reason is None and bool(outcome.get("error")) and not outcome.get("gradingResult")
    )


def _questions(tests: list[dict[str, Any]]) -> list[str]:
    """A name for each test, the same for its repetitions and for no other."""
    identities = [(_name(test), _text(test.get("assert"))) for test in tests]
    place: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    for name, assertions in dict.fromkeys(identities):
        seen[name] += 1
        place[name, assertions] = seen[name]
    return [
        identity[0] if place[identity] == 1 else f"{identity[0]} #{place[identity]}"
        for identity in identities
    ]


def _name(test: dict[str, Any]) -> str:
    return " ".join(filter(None, [test.get("description"), _text(test.get("vars") or {})]))


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
