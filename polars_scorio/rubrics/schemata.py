"""Schemata that turn logged signals into categories: those of the paper, and those of scorio.

The example weights of the paper's are ours; labels and example weights of scorio's are its own,
with signals held against medians of the whole log, named after them with ``_median``. Every model
has all declared categories: scorio takes those that occur, so that with its prior two models need
not be comparable. Its "Mixed IO Profile" has two scores, so it is two categories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.rubrics.reading import Reading, ReadingOptions, Variables
from polars_scorio.rubrics.rubric import At, Cases, Rubric, root_columns
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


from collections.abc import Mapping
from functools import partial

from polars_scorio.counting.roles import Column

Table = Callable[[Variables], dict[str, tuple[pl.Expr, float]]]


@takes_options(Reading)
def exact_match(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is the answer correct? Correctness alone.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.exact_match().labels
    ('invalid', 'wrong', 'correct')
    """
    return _schema_rubric(
        "exact_match",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong": (v.wrong, 0),
            "correct": (v.correct, 1),
        },
    )


@takes_options(Reading)
def format_aware(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is a correct answer boxed, and is a wrong one?

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.format_aware().labels
    ('invalid', 'wrong_unboxed', 'wrong_boxed', 'correct_unboxed', 'correct_boxed')
    """
    return _schema_rubric(
        "format_aware",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_unboxed": (v.wrong & v.unboxed, 0),
            "wrong_boxed": (v.wrong & v.boxed, 0.1),
            "correct_unboxed": (v.correct & v.unboxed, 0.8),
            "correct_boxed": (v.correct & v.boxed, 1),
        },
    )


@takes_options(Reading)
def conf_calibrated(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is the model sure when it is correct, and unsure when it is wrong?

    Our reading: a wrong attempt is of low confidence unless it is wrong_high_conf, which is
    relative to the wrong attempts; a correct one is compared with the correct attempts.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.conf_calibrated().thresholds
    ('wrong_high_conf', 'correct_mid_conf', 'correct_high_conf')
    """
    return _schema_rubric(
        "conf_calibrated",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_low_conf": (v.wrong_low_conf, 0.2),
            "wrong_high_conf": (v.wrong_high_conf, 0),
            "correct_low_conf": (v.correct_low_conf, 0.7),
            "correct_mid_conf": (v.correct_mid_conf, 0.85),
            "correct_high_conf": (v.correct_high_conf, 1),
        },
    )


@takes_options(Reading)
def ood_robustness(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is the answer correct on usual prompts and on unusual ones?

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.ood_robustness().labels
    ('invalid', 'ood_wrong', 'ind_wrong', 'ood_correct', 'ind_correct')
    """
    return _schema_rubric(
        "ood_robustness",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "ood_wrong": (v.ood & v.wrong, 0.1),
            "ind_wrong": (v.ind & v.wrong, 0),
            "ood_correct": (v.ood & v.correct, 1),
            "ind_correct": (v.ind & v.correct, 0.8),
        },
    )


@takes_options(Reading)
def strict_compliance(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is the answer correct and in its box? Without a box it counts as wrong.

    Our reading: correct but unboxed counts as wrong.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.strict_compliance().labels
    ('invalid', 'wrong', 'correct_boxed')
    """
    return _schema_rubric(
        "strict_compliance",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong": (v.wrong | v.unboxed, 0),
            "correct_boxed": (v.correct & v.boxed, 1),
        },
    )


@takes_options(Reading)
def conf_wrong_penalty(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is a wrong answer at least given with doubt?

    Our reading: a wrong attempt is of low confidence unless it is wrong_high_conf.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.conf_wrong_penalty().labels
    ('invalid', 'wrong_high_conf', 'wrong_low_conf', 'correct')
    """
    return _schema_rubric(
        "conf_wrong_penalty",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_high_conf": (v.wrong_high_conf, -1),
            "wrong_low_conf": (v.wrong_low_conf, -0.25),
            "correct": (v.correct, 1),
        },
    )


@takes_options(Reading)
def verifier_only(**reading: Unpack[ReadingOptions]) -> Rubric:
    """How does the verifier judge the answer? No other signal counts.

    Our reading: A_high if ``A >= A_high_at``; else high_B if ``B >= C``; else high_C.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.verifier_only().labels
    ('invalid', 'high_C', 'high_B', 'A_high')
    """
    return _schema_rubric(
        "verifier_only",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "high_C": (v.A_low & ~v.high_B, 0),
            "high_B": (v.A_low & v.high_B, 0.2),
            "A_high": (v.A_high, 1),
        },
    )


@takes_options(Reading)
def format_confidence(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Format and confidence together, of correct and of wrong answers.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.format_confidence().thresholds
    ('high_conf',)
    """
    return _schema_rubric(
        "format_confidence",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_unboxed": (v.wrong & v.unboxed, 0.05),
            "wrong_boxed_low_conf": (v.wrong & v.boxed & v.low_conf, 0.1),
            "wrong_boxed_high_conf": (v.wrong & v.boxed & v.high_conf, 0),
            "correct_unboxed_low_conf": (v.correct & v.unboxed & v.low_conf, 0.6),
            "correct_unboxed_high_conf": (v.correct & v.unboxed & v.high_conf, 0.7),
            "correct_boxed_low_conf": (v.correct & v.boxed & v.low_conf, 0.9),
            "correct_boxed_high_conf": (v.correct & v.boxed & v.high_conf, 1),
        },
    )


@takes_options(Reading)
def length_robust(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is the answer correct, however long it is?

    The categories are those of `exact_match`, as in the table.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.length_robust().labels
    ('invalid', 'wrong', 'correct')
    """
    return _schema_rubric(
        "length_robust",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong": (v.wrong, 0),
            "correct": (v.correct, 1),
        },
    )


@takes_options(Reading)
def verifier_prob(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Does the verifier agree with the key?

    Our reading: the table names A_high four times, since a bar over it was lost.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.verifier_prob().labels
    ('invalid', 'wrong_A_high', 'wrong_A_low', 'correct_A_low', 'correct_A_high')
    """
    return _schema_rubric(
        "verifier_prob",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_A_high": (v.wrong & v.A_high, 0),
            "wrong_A_low": (v.wrong & v.A_low, 0.1),
            "correct_A_low": (v.correct & v.A_low, 0.8),
            "correct_A_high": (v.correct & v.A_high, 1),
        },
    )


@takes_options(Reading)
def efficiency_adjusted(**reading: Unpack[ReadingOptions]) -> Rubric:
    """How many tokens does an answer take, correct or wrong?

    Our reading: a wrong attempt is compared with all attempts, a correct one with the correct
    ones.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.efficiency_adjusted().thresholds
    ('economical', 'moderate', 'correct_economical', 'correct_moderate')
    """
    return _schema_rubric(
        "efficiency_adjusted",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong_economical": (v.wrong & v.economical, 0.1),
            "wrong_moderate": (v.wrong & v.moderate, 0.05),
            "wrong_verbose": (v.wrong & v.verbose, 0),
            "correct_economical": (v.correct_economical, 1),
            "correct_moderate": (v.correct_moderate, 0.85),
            "correct_verbose": (v.correct_verbose, 0.7),
        },
    )


@takes_options(Reading)
def concision_high_conf(**reading: Unpack[ReadingOptions]) -> Rubric:
    """Is a correct answer concise, and sure of itself?

    Our reading: lengths are compared with the correct attempts, bits per token with all of them.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> ps.rubrics.concision_high_conf().thresholds
    ('correct_moderate', 'correct_economical', 'high_conf')
    """
    return _schema_rubric(
        "concision_high_conf",
        reading,
        lambda v: {
            "invalid": (v.invalid, 0),
            "wrong": (v.wrong, 0),
            "correct_verbose": (v.correct_verbose, 0.6),
            "correct_moderate": (v.correct_moderate, 0.75),
            "correct_economical": (v.correct_economical & v.low_conf, 0.9),
            "correct_economical_high_conf": (v.correct_economical & v.high_conf, 1),
        },
    )


@takes_options(Reading)
def schemata(**reading: Unpack[ReadingOptions]) -> tuple[Rubric, ...]:
    """All twelve schemata, in the order of the table, with one `Reading`.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> [rubric.name for rubric in ps.rubrics.schemata()][:3]
    ['exact_match', 'format_aware', 'conf_calibrated']
    """
    return tuple(schema(**reading) for schema in _TWELVE)


_TWELVE = (
    exact_match,
    format_aware,
    conf_calibrated,
    ood_robustness,
    strict_compliance,
    conf_wrong_penalty,
    verifier_only,
    format_confidence,
    length_robust,
    verifier_prob,
    efficiency_adjusted,
    concision_high_conf,
)


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """The conditions of a schema; its table is a lambda, which is pickled by the schema's name."""

    schema: str
    options: ReadingOptions
    reading: Reading
    table: Table

    def __call__(self, at: At) -> dict[str, pl.Expr]:
        table = self.table(Variables(self.reading, at))
        return {label: condition for label, (condition, _) in table.items()}

    def __reduce__(self) -> tuple[object, ...]:
        return _schema_conditions, (self.schema, self.options)


def _schema_conditions(schema: str, options: ReadingOptions) -> Cases:
    """The conditions of a schema by its name."""
    made: Rubric = globals()[schema](**options)
    return made.cases


def _schema_rubric(name: str, options: ReadingOptions, table: Table) -> Rubric:
    """The rubric of a table of label, condition and example weight."""
    reading = Reading(**options)
    used: dict[str, pl.Expr] = {}

    def noted(threshold: str, percentile: pl.Expr) -> pl.Expr:
        return used.setdefault(threshold, percentile)

    cases = _Cases(name, options, reading, table)
    columns = root_columns(cases(noted).values())
    example = {
        label: float(weight) for label, (_, weight) in table(Variables(reading, noted)).items()
    }
    # verifier_only knows no correct answer: there the verifier's word is success.
    success = [label for label in example if "correct" in label] or ["A_high"]
    return Rubric(
        name=name,
        labels=tuple(example),
        signals=columns,
        thresholds=tuple(used),
        success=tuple(success),
        example=MappingProxyType(example),
        cases=cases,
        otherwise=None,
    )


# Label, condition, example weight, and whether it is a success.
LabelCases = Mapping[str, tuple[pl.Expr, float, bool]]
MedianTable = Callable[[At], LabelCases]


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


def _confident_and_correct(is_correct: Column, confidence: Column, at: At) -> LabelCases:
    correct, high = _signal_flag(is_correct=is_correct), _at_least_median(at, confidence)
    return {
        "uncertain_wrong": (~high & ~correct, 0.2, False),
        "confidently_wrong": (high & ~correct, 0.1, False),
        "lucky_or_cautious": (~high & correct, 0.6, True),
        "confident_correct": (high & correct, 1.0, True),
    }


def _token_surprise(is_correct: Column, worst: Column, at: At) -> LabelCases:
    correct, smooth = _signal_flag(is_correct=is_correct), _at_least_median(at, worst)
    return {
        "critical_token_derailed_answer": (~smooth & ~correct, 0.1, False),
        "smooth_but_wrong": (smooth & ~correct, 0.3, False),
        "risky_token_bet_paid_off": (~smooth & correct, 0.6, True),
        "smooth_correct": (smooth & correct, 0.9, True),
    }


def _format_compliance(is_correct: Column, has_box: Column, _: At) -> LabelCases:
    correct, boxed = _signal_flag(is_correct=is_correct), _signal_flag(has_box=has_box)
    return {
        "fully_non_compliant": (~boxed & ~correct, 0.0, False),
        "obedient_but_wrong": (boxed & ~correct, 0.3, False),
        "correct_but_unformatted": (~boxed & correct, 0.6, True),
        "full_compliance": (boxed & correct, 1.0, True),
    }


def _difficulty_adjusted(is_correct: Column, difficulty: Column, at: At) -> LabelCases:
    correct, hard = _signal_flag(is_correct=is_correct), _at_least_median(at, difficulty)
    return {
        "easy_problem_failed": (~hard & ~correct, 0.1, False),
        "hard_problem_failed": (hard & ~correct, 0.4, False),
        "easy_problem_solved": (~hard & correct, 0.7, True),
        "hard_problem_solved": (hard & correct, 1.0, True),
    }


def _io_ratio_profile(is_correct: Column, prompt: Column, completion: Column, at: At) -> LabelCases:
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


def _median_rubric(name: str, table: MedianTable) -> Rubric:
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


def _label_conditions(table: MedianTable, at: At) -> dict[str, pl.Expr]:
    return {label: condition for label, (condition, _, _) in table(at).items()}
