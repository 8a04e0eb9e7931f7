"""How well a judge agrees with the labels of people: per model, and over all models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import CHANCE, check_confidence, check_number
from polars_scorio.counting.categories import Classes, counted_classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import Log, Trials, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, group_plan
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.judges import JudgeRates
from polars_scorio.maths.labels import (
    LabelledQuestions,
    agreement_shares,
    cohens_kappa,
    gwets_ac1,
    labels_for_width,
    rate_interval,
)
from polars_scorio.subjects.of_verdicts import (
    Verdicts,
    check_truth,
    label_totals,
    labelled_questions,
    own_counts,
)

COLUMNS: dict[str, pl.DataType] = {
    "labels": pl.UInt64(),
    "labelled_questions": pl.UInt32(),
    **{
        f"{name}{end}": pl.Float64()
        for name in ("sensitivity", "specificity")
        for end in ("", "_lo", "_hi")
    },
    **dict.fromkeys(("agreement", "kappa", "ac1"), pl.Float64()),
    "extra_labels": pl.UInt64(),
}


def judge_agreement(
    log: Log, roles: Roles, *, width: float = 0.1, confidence: float = 0.95
) -> pl.LazyFrame:
    """The plan of the agreement of a judge; see `Scorio.judge_agreement`."""
    width, confidence = check_number("width", width, CHANCE), check_confidence(confidence)
    trials = bind_roles(log, roles)
    if trials.truth is None:
        raise ValueError(
            "judge_agreement compares verdicts with the labels of people on these trials: name "
            'their column with truth=, as in df.scorio(truth="human").judge_agreement()'
        )
    check_truth(trials.truth, trials.category, trials.roles.successes)
    refuse_repeats([*trials.keys, *COLUMNS])
    counted = counted_classes(trials, [], binary=True, needs=(Verdicts(labelled=True),))
    agreement = _Agreement(trials, counted, width, confidence)
    schema = {**trials.strata, **trials.models, **COLUMNS}
    return group_plan(trials, counted).then(agreement, schema, filters=False).plan()


@dataclass(frozen=True, slots=True, eq=False)
class _Agreement:
    """The function from the questions of all groups to the agreement of each, and of all models."""

    trials: Trials
    classes: Classes
    width: float
    confidence: float

    def __call__(self, whole: pl.DataFrame) -> pl.DataFrame:
        """A row for each group; then, of several models, a row without a model for each stratum."""
        strata, models = [*self.trials.strata], [*self.trials.models]
        groups = self._group_rows(whole)
        if not models or whole[models[0]].n_unique() < 2:  # several models
            return groups
        questions = whole.lazy().explode(QUESTIONS, **AS_ROWS).with_columns(_all=pl.lit(0))
        pooled = questions.group_by(*strata, "_all", maintain_order=True).agg(QUESTIONS)
        together = self._group_rows(pooled.drop("_all").collect())
        return pl.concat([groups, together], how="diagonal").select(groups.columns)

    def _group_rows(self, whole: pl.DataFrame) -> pl.DataFrame:
        """A row for each group, with its keys."""
        flat = whole[QUESTIONS].explode(**AS_ROWS).struct.unnest()
        group = np.repeat(np.arange(len(whole)), whole[QUESTIONS].list.len().to_numpy())
        log = labelled_questions(flat, group, self.classes, len(whole))
        keys = [name for name in self.trials.keys if name in whole.columns]
        numbers = pl.DataFrame(self._numbers(log), nan_to_null=True).cast(COLUMNS)  # type: ignore[arg-type]  # a dict is a mapping
        return whole.select(keys).hstack(numbers) if keys else numbers

    def _numbers(self, log: LabelledQuestions) -> dict[str, Floats]:
        """The columns of the result."""
        totals = label_totals(log)
        labels = totals[:, 0] + totals[:, 2]
        rates = JudgeRates(*own_counts(log, totals))
        judged = log.sums(log.verdicts) / log.sums(log.trials)
        shares = agreement_shares(rates, _right_share(rates, judged))
        spent = log.labels[:, [0, 2]].sum(axis=1)
        ends = {
            "sensitivity": rate_interval(rates.kept_right, rates.right, self.confidence),
            "specificity": rate_interval(rates.kept_wrong, rates.wrong, self.confidence),
        }
        columns = {"labels": labels, "labelled_questions": log.sums((spent > 0).astype(np.float64))}
        for name, (lo, hi) in ends.items():
            columns |= {name: getattr(rates, name), f"{name}_lo": lo, f"{name}_hi": hi}
        needed = labels_for_width(shares, log.verdict_variance(), self.width, self.confidence)
        return columns | {
            "agreement": shares[0, 0] + shares[1, 1],
            "kappa": cohens_kappa(shares),
            "ac1": gwets_ac1(shares),
            "extra_labels": np.where(needed <= log.sums(log.trials), needed, np.nan),
        }


def _right_share(rates: JudgeRates, judged: Floats) -> Floats:
    """Share of right answers behind the rate of verdicts "right"; that of the labels for a coin."""
    index = rates.sensitivity + rates.specificity - 1
    labelled = rates.right / np.where(rates.labels > 0, rates.labels, np.nan)
    known = np.abs(index) > 0
    share = (judged + rates.specificity - 1) / np.where(known, index, 1.0)
    return np.clip(np.where(known, share, labelled), 0.0, 1.0)
