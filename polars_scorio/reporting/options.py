"""The keywords that methods share: the type, the default and the help of each, said here alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias, TypedDict

import polars as pl

from polars_scorio.arguments import Compared, Interval, Overall, Per, Pooling
from polars_scorio.counting.roles import Category, Column, Unscored
from polars_scorio.kernels.posteriors import Target
from polars_scorio.signatures import Option

Frame: TypeAlias = pl.DataFrame | pl.LazyFrame


class PlanOptions(TypedDict, total=False):
    """The keywords of what plans more trials."""

    prior: Annotated[
        Frame | None,
        Option(
            None,
            """Prior trials of the same questions, with the same roles.

            Without the model column they serve every model. They enter every posterior but that of
            `avg`; questions that the data lack are ignored.""",
        ),
    ]
    pooling: Annotated[
        Pooling,
        Option(
            "none",
            """The prior of a question's outcomes: uniform and independent, the default; or one
            population of questions, fitted to each model (and stratum).

            With few trials the uniform prior, as published (Hariri et al. 2026, arXiv:2510.04265),
            moves mu towards 1/2 (the mean of the weights) by more than sigma says. A fitted
            population is integrated over what the data leave open; its intervals hold what they
            promise, on small benchmarks too, where others fail (Bowyer et al. 2025,
            arXiv:2503.01747), and `avg` gets a calibrated sigma. `priors` shows the fit.

            Where numbers of trials differ: if they depend on outcomes seen so far (retries,
            `next_trials`), `bayes` with partial pooling holds and `avg` does not; if they depend
            on a difficulty that is known from elsewhere, `avg` holds and pooling does not; if
            failures were dropped, nothing does: count them, ``missing=0``.""",
        ),
    ]


class InferenceOptions(PlanOptions, total=False):
    """How mu, sigma and the interval of a metric are found."""

    confidence: Annotated[float, Option(0.95, "Credibility of the intervals.")]
    interval: Annotated[
        Interval,
        Option(
            "normal",
            """Shape of the intervals: mu -+ z sigma, clipped to the bounds, as published, the
            default; or quantiles of a Beta distribution.

            The Beta distribution has the mean mu and the standard deviation sigma on the range of
            the metric, inside which its quantiles stay by themselves.""",
        ),
    ]
    target: Annotated[
        Target,
        Option(
            "benchmark",
            """What mu is about: the mean over these questions, the default; or the mean over the
            population that they are a sample of, which needs ``pooling="partial"``.

            Questions as a sample: E. Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640.""",
        ),
    ]


class ReportOptions(InferenceOptions, total=False):
    """The keywords of `report`, and of every metric's own report."""

    per: Annotated[
        Per,
        Option(
            "model",
            """One block of rows for each model (and stratum), the default, or for each question.

            With partial pooling that is each question's own posterior under the fitted prior: it
            moves when other questions are added, and since all share the prior, the sum of the
            squared sigmas over M^2 is not the squared sigma of the mean.""",
        ),
    ]
    overall: Annotated[
        Overall | None,
        Option(
            None,
            """Add rows over the strata of each model, whose `by` columns are null: their mean, each
            stratum weighing the same; or all their questions in one pool.

            The mean has sigma = root of the summed squared sigmas over their number S. All models
            must have all strata. A filter after such a report does not reach the scan.""",
        ),
    ]
    wide: Annotated[
        bool,
        Option(
            False,  # noqa: FBT003 - the default
            """Metrics as columns: one row per stratum and model (and question).

            With the keys, questions, trials, dropped, and of each metric and k the columns
            `pass_at_k_4` (what people mean by it: mu of `bayes`, the estimate of all others),
            `pass_at_k_4_mu` (not of `bayes`), `pass_at_k_4_sigma`, `pass_at_k_4_lo` and
            `pass_at_k_4_hi`. SQL need not quote them: `g_pass_at_k_tau(tau=0.5)` becomes
            `g_pass_at_k_tau_tau_0_5_4`.""",
        ),
    ]


class DecisionOptions(InferenceOptions, total=False):
    """The keywords of what compares the models of a stratum."""

    questions: Annotated[
        Compared,
        Option(
            "same",
            """The models of a stratum must have the same questions, the default; or only those
            count that all of them have.""",
        ),
    ]


class OutcomeOptions(TypedDict, total=False):
    """The keywords of `ScorioExpr.__call__`."""

    success: Category | Iterable[Category] | None
    missing: Category


class RoleOptions(OutcomeOptions, total=False):
    """The keywords of `Scorio.__call__`."""

    model: Column | None
    question: Column
    trial: Column | None
    category: Column
    by: Column | Iterable[Column] | None
    n: int | None
    count: Column | None
    levels: Iterable[float] | None
    validate: bool
    unscored: Unscored
