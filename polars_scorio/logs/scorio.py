"""The logs that scorio's `categorical` module reads."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.logs.json_files import (
    LineSchema,
    LineVocabulary,
    kept_line_fields,
    read_first_lines,
)
from polars_scorio.logs.kept_fields import text_number
from polars_scorio.logs.paths import Paths, joined_files, path_model, plain_path
from polars_scorio.logs.read import own_files
from polars_scorio.logs.reader_options import LogOptions, Unpack, log_accessor, log_reader
from polars_scorio.logs.runs import Run

_EXPECTED = "lines with seed, data_id, model and processed_results, as scorio reads them"
_NEEDS = "seed", "data_id", "model", "processed_results"
_SCHEMA: LineSchema = {
    "seed": pl.String,
    "data_id": pl.String,
    "model": pl.String,
    "output": pl.Struct({"finish_reason": pl.String, "num_completion_tokens": pl.Float64}),
    "tokens": pl.Struct(
        {
            "completion_avg_logprob": pl.Float64,
            "completion_sum_logprob": pl.Float64,
            "completion_ppl": pl.Float64,
            "prompt_sum_logprob": pl.Float64,
            "prompt_ppl": pl.Float64,
            "completion_logprob_list": pl.List(pl.Float64),
        }
    ),
    "processed_results": pl.Struct({"is_correct": pl.String, "has_box": pl.String}),
}

_VOCABULARY: LineVocabulary = {"output_tokens": ("output.num_completion_tokens", 1)}
_TAIL = 64  # tokens at the end of a completion
_REWARD_MODELS = "acemath_orm", "skywork_orm", "verifier_pA"


@log_reader
def scorio(paths: Paths, **roles: Unpack[LogOptions]) -> Scorio[pl.LazyFrame]:
    """Read the JSON lines of the scorio project: one trial each, with its signals.

    The trial is seed, the question data_id, and the category processed_results.is_correct; without
    it the category is null. The signals have scorio's names, which the rubrics of
    `ps.rubrics.scorio_schemata` use: is_correct, has_box, hit_max_len, completion_length,
    completion_perplexity, prompt_perplexity, completion_avg_logprob, completion_sum_logprob,
    prompt_sum_logprob, logprob_min, logprob_iqr, tail64_avg_logprob; and acemath_orm, skywork_orm,
    verifier_pA, which the lines do not hold: they are null until reward models are joined. Further
    columns: run (the name of the file), source (the file).

    Parameters
    ----------
    model
        Default: as the lines say.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.logs.scorio("rollouts").bayes()  # doctest: +SKIP
    """
    files = own_files(paths, "scorio", "*.jsonl")
    heads = read_first_lines(files, "*.jsonl", _EXPECTED, _NEEDS, roles)
    names = {file: path_model(file, roles.get("model")) for file in heads}
    runs = {f: Run(name=plain_path(f).stem, keys={"model": name}) for f, name in names.items()}
    head = next(iter(heads.values()))
    kept = kept_line_fields(roles.get("keep"), head, _SCHEMA, _VOCABULARY)

    def scan(file: Path, run: Run) -> pl.LazyFrame:
        return kept.scan(file, _EXPECTED, run, _signal_columns(names[file]))

    return log_accessor(*joined_files(runs, scan, roles), roles, run=None)


def _signal_columns(model: str | None) -> dict[str, pl.Expr]:
    """The columns of the table; a model that the user named replaces that of the lines."""
    output, tokens, results = (
        pl.col(part).struct for part in ("output", "tokens", "processed_results")
    )
    correct = text_number(results.field("is_correct"))
    logprobs = tokens.field("completion_logprob_list").list.drop_nulls()
    return {
        "model": pl.col("model") if model is None else pl.lit(model),
        "question": pl.col("data_id"),
        "trial": pl.col("seed"),
        "category": correct,
        "is_correct": correct,
        "has_box": text_number(results.field("has_box")),
        "hit_max_len": (output.field("finish_reason") == "length").cast(pl.Float64),
        "completion_length": output.field("num_completion_tokens"),
        "completion_perplexity": tokens.field("completion_ppl"),
        "prompt_perplexity": tokens.field("prompt_ppl"),
        "completion_avg_logprob": tokens.field("completion_avg_logprob"),
        "completion_sum_logprob": tokens.field("completion_sum_logprob"),
        "prompt_sum_logprob": tokens.field("prompt_sum_logprob"),
        "logprob_min": logprobs.list.min(),
        "logprob_iqr": _list_quantile(logprobs, 0.75) - _list_quantile(logprobs, 0.25),
        "tail64_avg_logprob": logprobs.list.tail(_TAIL).list.mean(),
        **{name: pl.lit(None, pl.Float64) for name in _REWARD_MODELS},
    }


def _list_quantile(numbers: pl.Expr, share: float) -> pl.Expr:
    """A quantile of the numbers in each list, as NumPy interpolates it."""
    return numbers.list.eval(pl.element().quantile(share, "linear")).list.first()
