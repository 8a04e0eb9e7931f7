"""Schemata that turn logged signals into categories: those of the paper, and those of scorio.

The example weights of the paper's are ours; labels and example weights of scorio's are its own,
with signals held against medians of the whole log, named after them with ``_median``. Every model
has all declared categories: scorio takes those that occur, so that with its prior two models need
not be comparable. Its "Mixed IO Profile" has two scores, so it is two categories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import Signature, signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, cast

import polars as pl

from polars_scorio.counting.roles import Column
from polars_scorio.rubrics.reading import Reading, ReadingOptions, Variables
from polars_scorio.rubrics.rubric import At, Rubric, root_columns
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Condition and example weight of each label; those of successes weigh at least one half.
LabelCases: TypeAlias = "Mapping[str, tuple[pl.Expr, float]]"
ColumnsT = ParamSpec("ColumnsT")
_TABLES: dict[str, Callable[..., LabelCases]] = {}
_OF_PAPER: list[PaperSchema] = []
_OF_SCORIO: list[Callable[..., Rubric]] = []


class PaperSchema(Protocol):
    """A function from the keywords of `Reading` to a rubric."""

    def __call__(self, **reading: Unpack[ReadingOptions]) -> Rubric:
        """The rubric."""


def _of_paper(table: Callable[[Variables], LabelCases]) -> PaperSchema:
    """The function that makes the rubric of a table of the paper; invalid comes first in each."""

    def cases(at: At, **reading: Unpack[ReadingOptions]) -> LabelCases:
        v = Variables(Reading(**reading), at)
        return {"invalid": (v.invalid, 0), **table(v)}

    @wraps(table)
    def schema(**reading: Unpack[ReadingOptions]) -> Rubric:
        return _schema_rubric(table.__name__, reading)

    _TABLES[table.__name__] = cases
    schema.__signature__ = Signature(return_annotation="Rubric")  # type: ignore[attr-defined]  # which inspect reads
    _OF_PAPER.append(made := takes_options(Reading, as_in="Reading")(schema))
    return made


def _of_scorio(
    table: Callable[Concatenate[At, ColumnsT], LabelCases],
) -> Callable[ColumnsT, Rubric]:
    """The function that makes the rubric of a table of scorio, with the columns as keywords."""

    @wraps(table)
    def schema(**columns: Column) -> Rubric:
        return _schema_rubric(table.__name__, columns)

    _TABLES[table.__name__] = table
    _, *columns = signature(table).parameters.values()
    method_signature = signature(table).replace(parameters=columns, return_annotation="Rubric")
    schema.__signature__ = method_signature  # type: ignore[attr-defined]  # which inspect reads
    _OF_SCORIO.append(schema)
    return cast("Callable[ColumnsT, Rubric]", schema)


def _schema_cases(schema: str, options: Mapping[str, Any], at: At) -> dict[str, pl.Expr]:
    """The conditions of a schema, whose table is found by name: decorated, it cannot be pickled."""
    return {label: condition for label, (condition, _) in _TABLES[schema](at, **options).items()}


def _schema_rubric(name: str, options: Mapping[str, Any]) -> Rubric:
    """The rubric of a table, with the thresholds and columns that its conditions read."""
    used: dict[str, pl.Expr] = {}
    table = _TABLES[name](used.setdefault, **options)
    example = {label: float(weight) for label, (_, weight) in table.items()}
    return Rubric(
        name=name,
        labels=tuple(example),
        signals=root_columns(condition for condition, _ in table.values()),
        thresholds=tuple(used),
        success=tuple(label for label, weight in example.items() if weight >= 1 / 2),
        example=MappingProxyType(example),
        cases=partial(_schema_cases, name, options),
        otherwise=None,
    )


@_of_paper
def exact_match(v: Variables) -> LabelCases:
    """Rubric of correctness alone.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.exact_match().labels
    ('invalid', 'wrong', 'correct')
    """
    return {
        "wrong": (v.wrong, 0),
        "correct": (v.correct, 1),
    }


@_of_paper
def format_aware(v: Variables) -> LabelCases:
    """Rubric of correctness and format: whether the answer is boxed.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.format_aware().labels
    ('invalid', 'wrong_unboxed', 'wrong_boxed', 'correct_unboxed', 'correct_boxed')
    """
    return {
        "wrong_unboxed": (v.wrong & v.unboxed, 0),
        "wrong_boxed": (v.wrong & v.boxed, 0.1),
        "correct_unboxed": (v.correct & v.unboxed, 0.8),
        "correct_boxed": (v.correct & v.boxed, 1),
    }


@_of_paper
def conf_calibrated(v: Variables) -> LabelCases:
    """Rubric of calibrated confidence: sure if correct, unsure if wrong.

    Our reading: a wrong attempt is of low confidence unless it is wrong_high_conf, which is
    relative to the wrong attempts; a correct one is compared with the correct attempts.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.conf_calibrated().thresholds
    ('wrong_high_conf', 'correct_mid_conf', 'correct_high_conf')
    """
    return {
        "wrong_low_conf": (v.wrong_low_conf, 0.2),
        "wrong_high_conf": (v.wrong_high_conf, 0),
        "correct_low_conf": (v.correct_low_conf, 0.7),
        "correct_mid_conf": (v.correct_mid_conf, 0.85),
        "correct_high_conf": (v.correct_high_conf, 1),
    }


@_of_paper
def ood_robustness(v: Variables) -> LabelCases:
    """Rubric of correctness on usual and on unusual prompts.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.ood_robustness().labels
    ('invalid', 'ood_wrong', 'ind_wrong', 'ood_correct', 'ind_correct')
    """
    return {
        "ood_wrong": (v.ood & v.wrong, 0.1),
        "ind_wrong": (v.ind & v.wrong, 0),
        "ood_correct": (v.ood & v.correct, 1),
        "ind_correct": (v.ind & v.correct, 0.8),
    }


@_of_paper
def strict_compliance(v: Variables) -> LabelCases:
    """Rubric of correctness in the wanted format: without a box an answer counts as wrong.

    Our reading: correct but unboxed counts as wrong.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.strict_compliance().labels
    ('invalid', 'wrong', 'correct_boxed')
    """
    return {
        "wrong": (v.wrong | v.unboxed, 0),
        "correct_boxed": (v.correct & v.boxed, 1),
    }


@_of_paper
def conf_wrong_penalty(v: Variables) -> LabelCases:
    """Rubric that distinguishes wrong answers by their confidence.

    Our reading: a wrong attempt is of low confidence unless it is wrong_high_conf.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.conf_wrong_penalty().labels
    ('invalid', 'wrong_high_conf', 'wrong_low_conf', 'correct')
    """
    return {
        "wrong_high_conf": (v.wrong_high_conf, -1),
        "wrong_low_conf": (v.wrong_low_conf, -0.25),
        "correct": (v.correct, 1),
    }


@_of_paper
def verifier_only(v: Variables) -> LabelCases:
    """Rubric of a verifier's judgement; no other signal counts.

    Our reading: A_high if ``A >= A_high_at``; else high_B if ``B >= C``; else high_C.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.verifier_only().labels
    ('invalid', 'high_C', 'high_B', 'A_high')
    """
    return {
        "high_C": (v.A_low & ~v.high_B, 0),
        "high_B": (v.A_low & v.high_B, 0.2),
        "A_high": (v.A_high, 1),
    }


@_of_paper
def format_confidence(v: Variables) -> LabelCases:
    """Rubric of format and confidence together, of correct and of wrong answers.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.format_confidence().thresholds
    ('high_conf',)
    """
    return {
        "wrong_unboxed": (v.wrong & v.unboxed, 0.05),
        "wrong_boxed_low_conf": (v.wrong & v.boxed & v.low_conf, 0.1),
        "wrong_boxed_high_conf": (v.wrong & v.boxed & v.high_conf, 0),
        "correct_unboxed_low_conf": (v.correct & v.unboxed & v.low_conf, 0.6),
        "correct_unboxed_high_conf": (v.correct & v.unboxed & v.high_conf, 0.7),
        "correct_boxed_low_conf": (v.correct & v.boxed & v.low_conf, 0.9),
        "correct_boxed_high_conf": (v.correct & v.boxed & v.high_conf, 1),
    }


@_of_paper
def length_robust(v: Variables) -> LabelCases:
    """Rubric of correctness, whatever the length of the answer.

    The categories are those of `exact_match`, as in the table.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.length_robust().labels
    ('invalid', 'wrong', 'correct')
    """
    return {
        "wrong": (v.wrong, 0),
        "correct": (v.correct, 1),
    }


@_of_paper
def verifier_prob(v: Variables) -> LabelCases:
    """Rubric of the agreement of a verifier with the key.

    Our reading: the table names A_high four times, since a bar over it was lost.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.verifier_prob().labels
    ('invalid', 'wrong_A_high', 'wrong_A_low', 'correct_A_low', 'correct_A_high')
    """
    return {
        "wrong_A_high": (v.wrong & v.A_high, 0),
        "wrong_A_low": (v.wrong & v.A_low, 0.1),
        "correct_A_low": (v.correct & v.A_low, 0.8),
        "correct_A_high": (v.correct & v.A_high, 1),
    }


@_of_paper
def efficiency_adjusted(v: Variables) -> LabelCases:
    """Rubric of correctness and number of tokens.

    Our reading: a wrong attempt is compared with all attempts, a correct one with the correct
    ones.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.efficiency_adjusted().thresholds
    ('economical', 'moderate', 'correct_economical', 'correct_moderate')
    """
    return {
        "wrong_economical": (v.wrong & v.economical, 0.1),
        "wrong_moderate": (v.wrong & v.moderate, 0.05),
        "wrong_verbose": (v.wrong & v.verbose, 0),
        "correct_economical": (v.correct_economical, 1),
        "correct_moderate": (v.correct_moderate, 0.85),
        "correct_verbose": (v.correct_verbose, 0.7),
    }


@_of_paper
def concision_high_conf(v: Variables) -> LabelCases:
    """Rubric of correct answers that are concise and confident.

    Our reading: lengths are compared with the correct attempts, bits per token with all of them.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.concision_high_conf().thresholds
    ('correct_moderate', 'correct_economical', 'high_conf')
    """
    return {
        "wrong": (v.wrong, 0),
        "correct_verbose": (v.correct_verbose, 0.6),
        "correct_moderate": (v.correct_moderate, 0.75),
        "correct_economical": (v.correct_economical & v.low_conf, 0.9),
        "correct_economical_high_conf": (v.correct_economical & v.high_conf, 1),
    }


@takes_options(Reading, as_in="Reading")
def schemata(**reading: Unpack[ReadingOptions]) -> tuple[Rubric, ...]:
    """All twelve schemata, in the order of the table, with one `Reading`.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> [rubric.name for rubric in ps.rubrics.schemata()][:3]
    ['exact_match', 'format_aware', 'conf_calibrated']
    """
    return tuple(schema(**reading) for schema in _OF_PAPER)


def _signal_flag(**column: Column) -> pl.Expr:
    """A signal of `Reading` as true or false."""
    ((name, _),) = column.items()
    return Reading(**column).flag(name)  # type: ignore[arg-type]  # one of its signals


def _at_least_median(at: At, column: Column) -> pl.Expr:
    """Whether a signal is at least its median."""
    signal = (pl.col(column) if isinstance(column, str) else column).cast(pl.Float64).fill_nan(None)
    return signal >= at(f"{signal.meta.output_name()}_median", signal.median())


@_of_scorio
def confident_and_correct(
    at: At, *, is_correct: Column = "is_correct", confidence: Column = "completion_avg_logprob"
) -> LabelCases:
    """Rubric of correctness and confidence, by the mean log probability of the tokens.

    >>> import polars_scorio as ps
    >>> ps.rubrics.confident_and_correct().thresholds
    ('completion_avg_logprob_median',)
    """
    correct, high = _signal_flag(is_correct=is_correct), _at_least_median(at, confidence)
    return {
        "uncertain_wrong": (~high & ~correct, 0.2),
        "confidently_wrong": (high & ~correct, 0.1),
        "lucky_or_cautious": (~high & correct, 0.6),
        "confident_correct": (high & correct, 1.0),
    }


@_of_scorio
def token_surprise(
    at: At, *, is_correct: Column = "is_correct", worst: Column = "logprob_min"
) -> LabelCases:
    """Rubric of correctness and surprise, by the lowest log probability of a token.

    >>> import polars_scorio as ps
    >>> ps.rubrics.token_surprise().signals
    ('logprob_min', 'is_correct')
    """
    correct, smooth = _signal_flag(is_correct=is_correct), _at_least_median(at, worst)
    return {
        "critical_token_derailed_answer": (~smooth & ~correct, 0.1),
        "smooth_but_wrong": (smooth & ~correct, 0.3),
        "risky_token_bet_paid_off": (~smooth & correct, 0.6),
        "smooth_correct": (smooth & correct, 0.9),
    }


@_of_scorio
def format_compliance(
    _: At, *, is_correct: Column = "is_correct", has_box: Column = "has_box"
) -> LabelCases:
    """Rubric of correctness and format, of correct and of wrong answers.

    >>> import polars_scorio as ps
    >>> ps.rubrics.format_compliance().success
    ('correct_but_unformatted', 'full_compliance')
    """
    correct, boxed = _signal_flag(is_correct=is_correct), _signal_flag(has_box=has_box)
    return {
        "fully_non_compliant": (~boxed & ~correct, 0.0),
        "obedient_but_wrong": (boxed & ~correct, 0.3),
        "correct_but_unformatted": (~boxed & correct, 0.6),
        "full_compliance": (boxed & correct, 1.0),
    }


@_of_scorio
def difficulty_adjusted(
    at: At, *, is_correct: Column = "is_correct", difficulty: Column = "prompt_perplexity"
) -> LabelCases:
    """Rubric of hard and easy problems, by the perplexity of the prompt.

    >>> import polars_scorio as ps
    >>> ps.rubrics.difficulty_adjusted().weights(easy_problem_failed=0)["hard_problem_failed"]
    0.4
    """
    correct, hard = _signal_flag(is_correct=is_correct), _at_least_median(at, difficulty)
    return {
        "easy_problem_failed": (~hard & ~correct, 0.1),
        "hard_problem_failed": (hard & ~correct, 0.4),
        "easy_problem_solved": (~hard & correct, 0.7),
        "hard_problem_solved": (hard & correct, 1.0),
    }


@_of_scorio
def io_ratio_profile(
    at: At,
    *,
    is_correct: Column = "is_correct",
    prompt: Column = "prompt_sum_logprob",
    completion: Column = "completion_sum_logprob",
) -> LabelCases:
    """Rubric of surprise in prompt and completion, by their summed log probabilities.

    >>> import polars_scorio as ps
    >>> len(ps.rubrics.io_ratio_profile().labels)
    7
    """
    correct = _signal_flag(is_correct=is_correct)
    familiar, brief = _at_least_median(at, prompt), _at_least_median(at, completion)
    return {
        "complex_problem_wasted_effort": (~familiar & ~brief & ~correct, 0.1),
        "mixed_wrong": ((familiar != brief) & ~correct, 0.2),
        "simple_problem_brief_failure": (familiar & brief & ~correct, 0.2),
        "mixed_correct": (~familiar & ~brief & correct, 0.5),
        "appropriate_expansion": (familiar & ~brief & correct, 0.8),
        "proportional_io": (familiar & brief & correct, 0.8),
        "insightful_compression": (~familiar & brief & correct, 1.0),
    }


def scorio_schemata() -> tuple[Rubric, ...]:
    """All five, over the columns that `ps.logs.scorio` reads.

    Their categories are declared, the same for every model. scorio takes them from what each model
    happened to show, and adds one prior trial for each, so that its numbers of two models are not
    comparable.

    >>> import polars_scorio as ps
    >>> [rubric.name for rubric in ps.rubrics.scorio_schemata()][:2]
    ['confident_and_correct', 'token_surprise']
    """
    return tuple(schema() for schema in _OF_SCORIO)
