"""How reliable a judge is, by the counts of a calibration sample from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from polars_scorio.arguments import is_int, is_several, value_text, value_tuple

_FRAME_COLUMNS = ("verdict", "truth", "count")
# Labelled verdicts "right", those of them that are right, labelled verdicts "wrong", and those of
# them that are right: columns of questions.
LABELS = (":judged_right", ":confirmed", ":judged_wrong", ":overruled")


@dataclass(frozen=True, slots=True)
class Judge:
    """Counts of a calibration sample of one judge; `judge` makes and checks them."""

    sensitivity: tuple[int, int]  # right answers judged right, and all right answers
    specificity: tuple[int, int]  # wrong answers judged wrong, and all wrong answers

    def __post_init__(self) -> None:
        """Check the counts."""
        for name in ("sensitivity", "specificity"):
            object.__setattr__(self, name, _checked_rate(name, getattr(self, name)))

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Both counts of both rates."""
        return (*self.sensitivity, *self.specificity)


@dataclass(frozen=True, slots=True)
class ModelJudges:
    """A calibration sample for each model, such as of judges that know the models."""

    samples: tuple[tuple[object, Judge], ...]  # each model with its sample

    def of_model(self, model: object) -> Judge:
        """The sample of a model."""
        known = dict(self.samples)
        if model not in known:
            raise ValueError(
                f"judge: there is no calibration sample of the model {model!r}, only of "
                f"{[*known]}. Add its rows, or omit the column model if one sample serves all "
                "models"
            )
        return known[model]


JudgeSample: TypeAlias = Judge | ModelJudges


def judge(*, sensitivity: tuple[int, int], specificity: tuple[int, int]) -> Judge:
    """Error rates of a judge, counted on a sample of answers from elsewhere.

    Pass it as ``judge=`` of an accessor: estimates are then corrected for the errors of the judge,
    and intervals include how few labels there were.

    Parameters
    ----------
    sensitivity : tuple of int
        Of the answers that people called right: the number that the judge called right, and their
        number.
    specificity : tuple of int
        Of the answers that people called wrong: the number that the judge called wrong, and their
        number.

    Returns
    -------
    Judge
        A value that prints, compares and hashes.

    Raises
    ------
    ValueError
        If one is not two whole numbers, the first at most the second; or of no answers at all.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> grader = ps.judge(sensitivity=(88, 100), specificity=(78, 100))
    >>> log = pl.DataFrame({"question": range(100), "category": [1] * 62 + [0] * 38})
    >>> judged = log.scorio(model=None, trial=None, judge=grader)
    >>> judged.avg().select(pl.col("estimate", "lo", "hi", "estimate_uncorrected").round(2)).row(0)
    (0.61, 0.44, 0.77, 0.62)
    """
    return Judge(sensitivity, specificity)


def judge_sample(value: object) -> JudgeSample:
    """The calibration sample that a user gave, as counts."""
    if isinstance(value, Judge | ModelJudges):
        return value
    if not isinstance(value, pl.DataFrame):
        raise TypeError(
            "judge must be ps.judge(sensitivity=(88, 100), specificity=(78, 100)) or a DataFrame "
            f"with the columns verdict, truth and count (and model), got {value_text(value)}"
        )
    return _counted_sample(value)


def labelled_sample(sample: JudgeSample) -> JudgeSample:
    """The sample of models that are known by their names as text."""
    if isinstance(sample, Judge):
        return sample
    return ModelJudges(tuple((str(model), rates) for model, rates in sample.samples))


def _checked_rate(name: str, value: object) -> tuple[int, int]:
    """Two counts, the part and the whole."""
    counts = value_tuple(value) if is_several(value) else ()
    if len(counts) != 2 or not all(is_int(count) for count in counts):  # part and whole
        raise ValueError(
            f"{name} must be two counts, such as (88, 100) for 88 of 100 answers, got "
            f"{value_text(value)}: a rate alone does not say how many answers it is made of"
        )
    part, whole = (int(count) for count in counts)  # type: ignore[call-overload]  # ints, as checked
    if not 0 <= part <= whole:
        raise ValueError(
            f"{name} must be a part and a whole that is at least as large, got {value_text(value)}"
        )
    if whole == 0:
        kind = "right" if name == "sensitivity" else "wrong"
        raise ValueError(
            f"{name} is {part} of {whole}: the calibration sample has no {kind} answer, so nothing "
            f"is known of what the judge says about those. Label some {kind} answers"
        )
    return part, whole


def _counted_sample(frame: pl.DataFrame) -> JudgeSample:
    """The samples in a frame of counts."""
    lacking = [name for name in _FRAME_COLUMNS if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"judge: the frame of counts lacks {lacking}; its columns are {frame.columns}, and it "
            "needs verdict, truth and count (and model, for a sample of each model)"
        )
    verdict, truth = (_truth_values(frame, name) for name in ("verdict", "truth"))
    count = frame["count"]
    if not count.dtype.is_integer() or count.null_count() or (count < 0).any():
        raise ValueError(f"judge: count must be whole numbers, none negative, got {count.dtype}")
    counts = frame.with_columns(verdict, truth)
    if "model" not in frame.columns:
        return _sample_of_counts(counts)
    models = frame["model"].unique(maintain_order=True).to_list()
    samples = [(model, _sample_of_counts(counts.filter(model=model))) for model in models]
    return ModelJudges(tuple(samples))


def _truth_values(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column of a frame of counts as truth values."""
    column = frame[name]
    known = column.dtype == pl.Boolean or column.dtype.is_integer()
    if not known or column.null_count() or not column.cast(pl.Int64).is_in([0, 1]).all():
        raise ValueError(
            f"judge: {name} must be true or false (or 1 or 0) in each row, got {column.dtype} with "
            f"{column.null_count()} nulls. Pass which labels are right, as in "
            f'pl.col("{name}") == "correct"'
        )
    return column.cast(pl.Boolean)


def _sample_of_counts(counts: pl.DataFrame) -> Judge:
    """The calibration sample in rows of counts."""

    def total(*conditions: pl.Expr) -> int:
        return int(counts.filter(*conditions)["count"].sum())

    verdict, truth = pl.col("verdict"), pl.col("truth")
    right, wrong = total(truth), total(~truth)
    return Judge((total(verdict, truth), right), (total(~verdict, ~truth), wrong))


def model_counts(sample: JudgeSample, models: Sequence[object]) -> list[tuple[int, int, int, int]]:
    """The counts of the sample of each model; a model of all models has none of its own."""
    if isinstance(sample, Judge):
        return [sample.counts] * len(models)
    return [sample.of_model(model).counts for model in models]
