"""The logs of promptfoo."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import FileRows, Row
from polars_scorio.logs.kept_fields import Vocabulary, from_milliseconds, json_text
from polars_scorio.logs.paths import Paths, path_model, plain_path
from polars_scorio.logs.reader_options import (
    LogOptions,
    Unpack,
    log_accessor,
    log_columns,
    log_reader,
    read_rows,
    reward_outcome,
)
from polars_scorio.logs.runs import Run, Totals, mean_or_none, run_settings, shown_path

_EXPECTED = "the JSON output of promptfoo eval: an object with 'results'"
SETTINGS = ("config",)  # of each provider: they distinguish its evaluations
_ERROR = 2  # promptfoo's failureReason of what was not judged; 1 is a failed assertion
_PASSED = ":passed"  # column: what promptfoo says
_COLUMNS = log_columns(
    "model", "prompt", "question", "trial", _PASSED, "score", "error", **{_PASSED: pl.Boolean}
)
_SUCCESS = [*_COLUMNS].index(_PASSED)

_VOCABULARY: Vocabulary = {
    "usd": "cost",
    "input_tokens": "response.tokenUsage.prompt",
    "output_tokens": "response.tokenUsage.completion",
    "seconds": from_milliseconds("latencyMs"),
}


@log_reader
def promptfoo(
    paths: Paths,
    *,
    threshold: float | None = None,
    **roles: Unpack[LogOptions],
) -> Scorio[pl.DataFrame]:
    """Read promptfoo: what ``promptfoo eval --output results.json`` writes.

    A question is a test: its description and variables, with a number where two tests share them.
    ``--repeat`` gives it several trials. The outcome is null if the provider or an assertion failed
    for technical reasons (failureReason 2), and false if an assertion did not hold (1). In
    `describe`, `planned` is tests that passed, failed or broke down, of each prompt and `reported`
    is the share that passed. Columns: model (the label of the provider, or its id, with "#2" for a
    second configuration), prompt (which is `by`), question, trial, category, score, error, run (the
    id of the evaluation), source (the file).

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
    log = read_rows(paths, ("*.json",), _EXPECTED, _outcome_rows, roles, _VOCABULARY)
    graded = threshold is not None or roles.get("levels") is not None
    outcome = reward_outcome(threshold, "score") if graded else pl.col(_PASSED)
    table = log.table(_COLUMNS, pl.when(pl.col(_PASSED).is_not_null()).then(outcome)).drop(_PASSED)
    if (model := roles.get("model")) is not None:
        names = {shown_path(file): path_model(file, model) for file in log.parts}
        table = table.with_columns(model=pl.col("source").replace_strict(names))
    return log_accessor(table, log.runs(), roles, by="prompt")


def _outcome_rows(file: Path, content: Any) -> FileRows | None:
    """The outcomes of an evaluation; None for files of another kind."""
    if not isinstance(content, dict) or "results" not in content:
        return None
    results = content["results"]
    outcomes = results if isinstance(results, list) else results["results"]
    if outcomes and "provider" not in outcomes[0]:
        return None
    run = content.get("evalId") or plain_path(file).stem
    models = _entrant_names((_prompt_index(each), each) for each in outcomes)
    questions = _question_names([outcome.get("testCase", outcome) for outcome in outcomes])
    rows: list[Row] = [
        (
            models[_prompt_index(outcome), _provider_name(outcome["provider"])],
            _prompt_label(outcome["prompt"]),
            question,
            # Each repetition of a test has a different index.
            f"{run}/{outcome.get('testIdx', place)}",
            None if _is_unjudged(outcome) else outcome["success"],
            outcome.get("score"),
            outcome.get("error"),
        )
        for place, (outcome, question) in enumerate(zip(outcomes, questions, strict=True))
    ]
    described = Run(
        name=str(run),
        identity=content.get("evalId"),
        settings=dict(_provider_settings(content.get("config") or {})),
        totals=tuple(_prompt_totals(results, rows)) if isinstance(results, Mapping) else (),
    )
    return FileRows(rows, described, outcomes)


def _prompt_index(outcome: Mapping[str, Any]) -> int:
    """The place of a prompt at a provider among all of them; old versions do not say it."""
    return int(outcome.get("promptIdx") or 0)


def _entrant_names(
    placed: Iterable[tuple[int, Mapping[str, Any]]],
) -> dict[tuple[int, str], str]:
    """The model of each place and provider; the second configuration of a provider is "#2"."""
    # A provider has each prompt once: the next entrant begins where a prompt comes again.
    prompts = defaultdict[str, list[set[str]]](lambda: [set()])
    names = {}
    entered = {(i, _provider_name(e["provider"]), _prompt_label(e["prompt"])) for i, e in placed}
    for place, name, label in sorted(entered):
        if label in prompts[name][-1]:
            prompts[name].append(set())
        prompts[name][-1].add(label)
        names[place, name] = _numbered_name(name, len(prompts[name]))
    return names


def _numbered_name(name: str, number: int) -> str:
    """A name with its number, but for the first of its kind."""
    return name if number == 1 else f"{name} #{number}"


def _provider_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The settings of each provider of an evaluation, such as its temperature."""
    providers = config.get("providers")
    times = Counter[str]()
    for provider in providers if isinstance(providers, list) else ():
        if isinstance(provider, Mapping) and provider.get("config") is not None:
            name = _provider_name(provider)
            times[name] += 1
            settings = run_settings(provider, SETTINGS)["config"]
            yield f"config of {_numbered_name(name, times[name])}", settings


def _prompt_totals(results: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[Totals]:
    """Totals of each prompt at each provider; promptfoo counts an error as a failure."""
    prompts = [*enumerate(results.get("prompts") or ())]
    entered = ((i, {**each, "prompt": each}) for i, each in prompts if each.get("provider"))
    models = _entrant_names(entered)
    for place, prompt in prompts:
        counts = prompt.get("metrics") or {}
        numbers = [counts.get(f"test{end}Count") for end in ("Pass", "Fail", "Error")]
        if numbers[0] is None or prompt.get("provider") is None:
            continue
        model = models[place, _provider_name(prompt["provider"])]
        keys = {"model": model, "prompt": _prompt_label(prompt)}
        outcomes = [row[_SUCCESS] for row in rows if row[:2] == tuple(keys.values())]
        planned = sum(number or 0 for number in numbers)
        yield Totals(
            keys=keys,
            planned=planned,
            reported=numbers[0] / planned if planned else None,
            read=len(outcomes),
            score=mean_or_none(float(bool(outcome)) for outcome in outcomes),
        )


def _provider_name(provider: str | Mapping[str, str]) -> str:
    return provider if isinstance(provider, str) else provider.get("label") or provider["id"]


def _prompt_label(prompt: str | Mapping[str, str]) -> str:
    return prompt if isinstance(prompt, str) else prompt.get("label") or prompt["raw"]


def _is_unjudged(outcome: dict[str, Any]) -> bool:
    """Whether an outcome is an error, not a verdict."""
    reason = outcome.get("failureReason")
    # Older versions give no reason, but leave out the grade if there was an error.
    return reason == _ERROR or (
        reason is None and bool(outcome.get("error")) and not outcome.get("gradingResult")
    )


def _question_names(tests: list[dict[str, Any]]) -> list[str]:
    """A name for each test: repetitions share it, different tests do not."""
    identities = [(_test_name(test), json_text(test.get("assert"))) for test in tests]
    place: dict[tuple[str, str], int] = {}
    times: Counter[str] = Counter()
    for name, assertions in dict.fromkeys(identities):
        times[name] += 1
        place[name, assertions] = times[name]
    return [_numbered_name(identity[0], place[identity]) for identity in identities]


def _test_name(test: dict[str, Any]) -> str:
    """The description of a test, followed by its variables."""
    return " ".join(filter(None, [test.get("description"), json_text(test.get("vars") or {})]))
