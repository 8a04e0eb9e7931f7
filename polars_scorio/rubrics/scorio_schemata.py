"""The five schemata of the Python package scorio (its module `categorical`, version 0.2.3).

Each compares correctness with whether some signals are high. High is at least the median over the
whole log; the names of the medians are those of the signals with ``_median`` appended. The labels
and example weights are scorio's, its words in lower case.

Two things differ. The categories are declared, all of them for every model: scorio takes the scores
that a model happened to show, so that with its prior of one trial for each category the numbers of
two models need not be comparable. And scorio's "Mixed IO Profile" is two categories here, for it
has two scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import polars as pl

from polars_scorio.counting.roles import Column
from polars_scorio.rubrics.reading import Reading
from polars_scorio.rubrics.rubric import At, Rubric, root_columns

# Label, condition, example weight, and whether it is a success.
Cases = Mapping[str, tuple[pl.Expr, float, bool]]
Table = Callable[[At], Cases]


def confident_and_correct(
    *, is_correct: Column = "is_correct", confidence: Column = "completion_avg_logprob"
) -> Rubric:
    """Is the model sure when it is correct? By the mean log probability of its tokens.

    >>> import polars_scorio as ps
    >>> ps.rubrics.confident_and_correct().thresholds
    ('completion_avg_logprob_median',)
    """
    return _median_rubric(
        "confident_and_correct", partial(_confident_and_correct, is_correct, confidence)
    )


def token_surprise(*, is_correct: Column = "is_correct", worst: Column = "logprob_min") -> Rubric:
    """Does the most surprising token go with wrong answers? By its log probability.

    >>> import polars_scorio as ps
    >>> ps.rubrics.token_surprise().signals
    ('logprob_min', 'is_correct')
    """
    return _median_rubric("token_surprise", partial(_token_surprise, is_correct, worst))


def format_compliance(*, is_correct: Column = "is_correct", has_box: Column = "has_box") -> Rubric:
    """Is a correct answer in the format that was asked for, and is a wrong one?

    >>> import polars_scorio as ps
    >>> ps.rubrics.format_compliance().success
    ('correct_but_unformatted', 'full_compliance')
    """
    return _median_rubric("format_compliance", partial(_format_compliance, is_correct, has_box))


def difficulty_adjusted(
    *, is_correct: Column = "is_correct", difficulty: Column = "prompt_perplexity"
) -> Rubric:
    """Are hard problems solved, and easy ones? By the perplexity of the prompt.

    >>> import polars_scorio as ps
    >>> ps.rubrics.difficulty_adjusted().weights(easy_problem_failed=0)["hard_problem_failed"]
    0.4
    """
    return _median_rubric(
        "difficulty_adjusted", partial(_difficulty_adjusted, is_correct, difficulty)
    )


def io_ratio_profile(
    *,
    is_correct: Column = "is_correct",
    prompt: Column = "prompt_sum_logprob",
    completion: Column = "completion_sum_logprob",
) -> Rubric:
    """Do prompt and completion surprise alike? By the summed log probabilities of both.

    >>> import polars_scorio as ps
    >>> len(ps.rubrics.io_ratio_profile().labels)
    7
    """
    return _median_rubric(
        "io_ratio_profile", partial(_io_ratio_profile, is_correct, prompt, completion)
    )


def scorio_schemata() -> tuple[Rubric, ...]:
    """All five, over the columns that `ps.logs.scorio` reads.

    Their categories are declared, the same for every model. scorio takes them from what each model
    happened to show, and adds one prior trial for each, so that its numbers of two models are not
    comparable.

    >>> import polars_scorio as ps
    >>> [rubric.name for rubric in ps.rubrics.scorio_schemata()][:2]
    ['confident_and_correct', 'token_surprise']
    """
    return (
        confident_and_correct(),
        token_surprise(),
        format_compliance(),
        difficulty_adjusted(),
        io_ratio_profile(),
    )


def _confident_and_correct(is_correct: Column, confidence: Column, at: At) -> Cases:
    correct, high = _signal_flag(is_correct=is_correct), _at_least_median(at, confidence)
    return {
        "uncertain_wrong": (~high & ~correct, 0.2, False),
        "confidently_wrong": (high & ~correct, 0.1, False),
        "lucky_or_cautious": (~high & correct, 0.6, True),
        "confident_correct": (high & correct, 1.0, True),
    }


def _token_surprise(is_correct: Column, worst: Column, at: At) -> Cases:
    correct, smooth = _signal_flag(is_correct=is_correct), _at_least_median(at, worst)
    return {
        "critical_token_derailed_answer": (~smooth & ~correct, 0.1, False),
        "smooth_but_wrong": (smooth & ~correct, 0.3, False),
        "risky_token_bet_paid_off": (~smooth & correct, 0.6, True),
        "smooth_correct": (smooth & correct, 0.9, True),
    }


def _format_compliance(is_correct: Column, has_box: Column, _: At) -> Cases:
    correct, boxed = _signal_flag(is_correct=is_correct), _signal_flag(has_box=has_box)
    return {
        "fully_non_compliant": (~boxed & ~correct, 0.0, False),
        "obedient_but_wrong": (boxed & ~correct, 0.3, False),
        "correct_but_unformatted": (~boxed & correct, 0.6, True),
        "full_compliance": (boxed & correct, 1.0, True),
    }


def _difficulty_adjusted(is_correct: Column, difficulty: Column, at: At) -> Cases:
    correct, hard = _signal_flag(is_correct=is_correct), _at_least_median(at, difficulty)
    return {
        "easy_problem_failed": (~hard & ~correct, 0.1, False),
        "hard_problem_failed": (hard & ~correct, 0.4, False),
        "easy_problem_solved": (~hard & correct, 0.7, True),
        "hard_problem_solved": (hard & correct, 1.0, True),
    }


def _io_ratio_profile(is_correct: Column, prompt: Column, completion: Column, at: At) -> Cases:
    correct = _signal_flag(is_correct=is_correct)
    familiar, brief = _at_least_median(at, prompt), _at_least_median(at, completion)
    return {
        "complex_problem_wasted_effort": (~familiar & ~brief & ~correct, 0.1, False),
        "mixed_wrong": ((familiar != brief) & ~correct, 0.2, False),
        "simple_problem_brief_failure": (familiar & brief & ~correct, 0.2, False),
        "mixed_correct": (~familiar & ~brief & correct, 0.5, True),
        "appropriate_expansion": (familiar & ~brief & correct, 0.8, True),
        "proportional_io": (familiar & brief & correct, 0.8, True),
        "insightful_compression": (~familiar & brief & correct, 1.0, True),
    }


def _signal_flag(**column: Column) -> pl.Expr:
    """A signal of `Reading` as true or false."""
    ((name, _),) = column.items()
    return Reading(**column).flag(name)  # type: ignore[arg-type]  # one of its signals


def _at_least_median(at: At, column: Column) -> pl.Expr:
    """Whether a signal is at least its median."""
    signal = (pl.col(column) if isinstance(column, str) else column).cast(pl.Float64).fill_nan(None)
    return signal >= at(f"{signal.meta.output_name()}_median", signal.median())


def _median_rubric(name: str, table: Table) -> Rubric:
    used: dict[str, pl.Expr] = {}

    def noted(threshold: str, median: pl.Expr) -> pl.Expr:
        return used.setdefault(threshold, median)

    declared = table(noted)
    return Rubric(
        name=name,
        labels=tuple(declared),
        signals=root_columns(condition for condition, _, _ in declared.values()),
        thresholds=tuple(used),
        success=tuple(label for label, (_, _, good) in declared.items() if good),
        example=MappingProxyType({label: weight for label, (_, weight, _) in declared.items()}),
        cases=partial(_label_conditions, table),
        otherwise=None,
    )


def _label_conditions(table: Table, at: At) -> dict[str, pl.Expr]:
    return {label: condition for label, (condition, _, _) in table(at).items()}
