"""Whether models, questions or trials make scores differ, and which of them to buy next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import Compared, check_confidence
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import bind_roles, refuse_repeats
from polars_scorio.decisions.question_tables import QuestionTable, average_request, named_questions
from polars_scorio.decisions.strata import per_stratum
from polars_scorio.kernels.variance_shares import SOURCES, VarianceShares, variance_shares
from polars_scorio.metrics.metric_arguments import Weights
from polars_scorio.reporting.judge_requests import refuse_judge
from polars_scorio.reporting.request import Request

_SIZES: dict[str, pl.DataType] = {
    "models": pl.UInt32(),
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
}
_COLUMNS: dict[str, pl.DataType] = {
    **_SIZES,
    "source": pl.String(),
    **dict.fromkeys(("variance", "share", "lo", "hi"), pl.Float64()),
    **dict.fromkeys(("sigma_benchmark", "sigma_population", "removable"), pl.Float64()),
    "advice": pl.String(),
}
_MOSTLY = 0.5  # trials are worth buying first if they can remove so much


def variance_sources(
    frame: pl.LazyFrame,
    roles: Roles,
    w: Weights | None = None,
    *,
    questions: Compared = "same",
    confidence: float = 0.95,
) -> pl.LazyFrame:
    """The plan of the shares of variance; see `Scorio.variance`."""
    confidence = check_confidence(confidence)
    trials = bind_roles(frame, roles)
    refuse_judge(trials, "variance")
    refuse_repeats([*trials.strata, *_COLUMNS])
    request = average_request(trials, w)
    rows = _SourceRows(request, (1 - confidence) / 2)
    return per_stratum(named_questions(request, questions), trials, rows, _COLUMNS)


@dataclass(frozen=True, slots=True, eq=False)
class _SourceRows:
    """The function from the questions of all models of a stratum to a row for each source."""

    request: Request
    tail: float

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for models, questions, their interaction and trials."""
        table = QuestionTable.read(groups, self.request)
        outcomes = table.outcomes
        shares = variance_shares(outcomes.mean, outcomes.noise, outcomes.trial, self.tail)
        questions, models = table.trials.shape
        rows = pl.DataFrame(
            {
                "source": SOURCES,
                "variance": shares.variance,
                "share": shares.share,
                "lo": shares.lo,
                "hi": shares.hi,
            }
        ).with_columns(
            models=models,
            questions=questions,
            trials=int(table.trials.sum()),
            sigma_benchmark=np.sqrt(shares.benchmark),
            sigma_population=np.sqrt(shares.population),
            removable=shares.removable,
            advice=pl.lit(_buying_advice(table, shares)),
        )
        return rows.fill_nan(None)


def _buying_advice(table: QuestionTable, shares: VarianceShares) -> str:
    """One sentence on whether to buy trials or questions."""
    for unit, number in zip(("question", "model"), table.trials.shape, strict=True):
        if number == 1:
            return f"The log has one {unit}: shares of variance need two or more."
    if table.trials.min() == 1:
        return (
            "Some question has a single trial, so that the noise of trials is unknown: run two or "
            "more trials of each question."
        )
    if np.isnan(shares.removable):
        return "No difference between models is uncertain: all trials of each question are alike."
    part = f"{100 * shares.removable:.0f} %"
    if shares.removable >= _MOSTLY:
        return (
            f"Buy trials: more trials of these questions can remove up to {part} of the variance "
            "of a difference on other questions."
        )
    return (
        f"Buy questions: more trials of these questions can remove only {part} of the variance of "
        "a difference on other questions, more questions all of it."
    )
