"""The keywords that methods share: the type, the default and the help of each, said here alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypeAlias, TypedDict

import polars as pl

from polars_scorio.arguments import (
    Adjusted,
    Compared,
    InferenceKind,
    Overall,
    Per,
    check_anytime,
    check_choice,
    check_confidence,
)
from polars_scorio.counting.judge_counts import JudgeSample
from polars_scorio.counting.roles import Category, Column, Unscored
from polars_scorio.kernels.posteriors import Target
from polars_scorio.kernels.prefix_rankings import Scheme
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
            `avg`; questions that the data lack are ignored. With ``inference="calibrated"`` they
            are refused.""",
        ),
    ]
    inference: Annotated[
        InferenceKind | None,
        Option(
            None,
            """The basis of mu, sigma and the interval. Default: as the accessor says, else
            calibrated numbers, and published posteriors.

            Without a word, every metric that it can answer is calibrated. Published are `bayes`,
            reports with `prior` or ``per="question"``, and metrics with an `alpha0` or `beta0`. The
            column `inference` says it for each row.

            Calibrated: mu is the unbiased estimate; two fits of the questions estimate its
            variance, and the larger one counts. The interval is that of Clopper and Pearson with an
            effective number of questions. For k beyond the trials of a question there is no
            estimate: lo and hi are the range over all populations that the counts allow, mu is
            a prediction up to twice the trials of the shortest question and null beyond, and
            `inference` is "range". Posterior means (`bayes`) are pooled if calibrated numbers are
            asked for by name.

            Published: mu is the posterior mean under a uniform prior of each question, the interval
            mu -+ z sigma, clipped to the bounds (Hariri et al. 2026, arXiv:2510.04265). With few
            trials it moves towards 1/2 (the mean of the weights) by more than sigma says.

            Pooled: one population of questions is fitted to each model (and stratum), and
            integrated over what the data leave open; the interval has Beta quantiles. For single
            questions, for planning, and where trials stopped on the outcomes seen; it fails where n
            follows difficulty known from elsewhere, and for k > 1 where the questions are not one
            Beta population. `priors` shows the fit.

            `vote_at_k` has one interval around its estimate, whatever is said here. Real-valued
            rewards have calibrated numbers alone, which need no fit: the noise of each question is
            measured, and `bounds` says what may be unseen.""",
        ),
    ]


class InferenceOptions(PlanOptions, total=False):
    """The keywords of how mu, sigma and the interval of a metric are found."""

    target: Annotated[
        Target,
        Option(
            "benchmark",
            """What mu is about: the mean over these questions, the default unless the accessor says
            otherwise; or the mean over the population that they are a sample of.

            Published numbers are about these questions alone. Questions as a sample:
            E. Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640.""",
        ),
    ]
    confidence: Annotated[
        float,
        Option(0.95, "Of the intervals; the default, unless the accessor says otherwise, is 0.95."),
    ]
    anytime: Annotated[
        int | None,
        Option(
            None,
            """Planned trials of each question (about a population: planned questions), written down
            before the first look: intervals and verdicts then hold at every look. Default: one
            look.

            Two equal models that are compared after each of 16 rounds, at 95 % each time, give a
            false winner in 17 to 28 % of the logs. With `anytime` one may look after each batch,
            stop when there is a winner, or go on beyond the plan: P(an interval ever misses) is at
            most 1 - confidence, if going on means further trials of all questions of both models.
            The critical value is c max(t, 1/t)^(1/4), where t is the information over the planned
            one, the column `information`, and c is 2.519 instead of 1.960 at 95 %: at the plan
            intervals are 1.285 times as wide. It needs calibrated numbers, and refuses logs whose
            trials stopped on their outcomes (see `coverage`). When a comparison stops at a winner,
            its `diff` is too far from zero; the interval is right.""",
        ),
    ]


class ReportOptions(InferenceOptions, total=False):
    """The keywords of `report`, and of every metric's own report."""

    per: Annotated[
        Per,
        Option(
            "model",
            """One block of rows for each model (and stratum), the default, or for each question.

            With ``inference="pooled"`` that is each question's own posterior under the fitted
            population: it moves when other questions are added, and since all share the population,
            the sum of the squared sigmas over M^2 is not the squared sigma of the mean. Calibrated
            numbers are about means.""",
        ),
    ]
    overall: Annotated[
        Overall | None,
        Option(
            None,
            """Add rows over the strata of each model, whose `by` columns are null: their mean, each
            stratum weighing the same; or all their questions in one pool.

            Published and pooled means have sigma = root of the summed squared sigmas over their
            number S. Calibrated means of metrics that credit successes are priced with one fit of
            the questions of all strata: strata of one size have the interval of "micro". Other
            calibrated means reach as far as the root of the summed squares of the reaches, over S.
            All models must have all strata. A filter after such a report does not reach the
            scan.""",
        ),
    ]
    wide: Annotated[
        bool,
        Option(
            False,  # noqa: FBT003 - the default
            """Metrics as columns: one row per stratum and model (and question).

            With the keys, questions, trials, dropped, and of each metric and k the columns
            `pass_at_k_4` (what people mean by it: mu of `bayes`, the estimate of all others, or mu
            of a calibrated report, which is the same but for posterior means),
            `pass_at_k_4_mu` (not of `bayes`), `pass_at_k_4_sigma`, `pass_at_k_4_lo` and
            `pass_at_k_4_hi`. SQL need not quote them: `g_pass_at_k_tau(tau=0.5)` becomes
            `g_pass_at_k_tau_tau_0_5_4`.""",
        ),
    ]


class DecisionOptions(InferenceOptions, total=False):
    """The keywords of what compares the models of a stratum."""

    questions: Annotated[
        Adjusted,
        Option(
            "same",
            """The models of a stratum must have the same questions, the default; or only those
            count that all of them have; or (`compare` and `rank`) "adjusted".

            Adjusted, for questions of which each model was asked only a part: effects of models and
            of questions are fitted to the estimates of the questions by least squares, so that who
            was asked the easy ones gains nothing by it. For `avg` and `bayes` (as their estimates)
            with ``target="population"``; the covariance is a sandwich over the questions.""",
        ),
    ]


class ConvergenceOptions(PlanOptions, total=False):
    """The keywords of what replicates a log."""

    replicates: Annotated[
        int,
        Option(
            1000,
            """Bootstrap replicates, drawn from the trials with replacement; 0: only the log itself,
            in the order of its trial ids.""",
        ),
    ]
    scheme: Annotated[
        Scheme,
        Option(
            "trial",
            """What a replicate draws: trial numbers of each model, the same for all its questions
            (which needs equally many trials of each), or those of each question on its own.""",
        ),
    ]
    seed: Annotated[int, Option(0, "Of the random numbers; the same in every stratum.")]
    progress: Annotated[bool, Option(False, "Show a bar, which needs the extra `progress`.")]  # noqa: FBT003 - the default
    questions: Annotated[Compared, Option("same", "As in `compare`.")]


class OutcomeOptions(TypedDict, total=False):
    """Meaning of outcomes, in the keywords of accessors and readers of logs."""

    success: Category | Iterable[Category] | None
    missing: Category


class ExpressionOptions(OutcomeOptions, total=False):
    """The keywords of `ScorioExpr.__call__`."""

    threshold: float | None


def check_choices(options: Mapping[str, object]) -> None:
    """Refuse options that are none of their words, before anything compares them with one.

    Raises
    ------
    TypeError
        If one is no word: Polars' expressions, Series and frames have no truth value.
    ValueError
        If one is another word.
    """
    words = {"inference": InferenceKind, "target": Target, "per": Per, "overall": Overall}
    for name, choices in words.items():
        if options.get(name) is not None:
            check_choice(name, options[name], choices)


class Chosen(TypedDict, total=False):
    """The keywords of how numbers are found, for all that an accessor does."""

    inference: InferenceKind | None
    target: Target
    confidence: float
    anytime: int | None


def chosen_options(
    inference: InferenceKind | None,
    target: Target,
    confidence: float,
    anytime: int | None = None,
) -> Chosen:
    """Options of numbers that differ from the defaults, after a check."""
    if inference is not None:
        check_choice("inference", inference, InferenceKind)
    check_choice("target", target, Target)
    kept: Chosen = {} if inference is None else {"inference": inference}
    if target != "benchmark":
        kept["target"] = target
    if check_confidence(confidence) != 0.95:  # the default of all methods
        kept["confidence"] = float(confidence)
    if anytime is not None:
        kept["anytime"] = check_anytime(anytime)
    return kept


class RoleOptions(OutcomeOptions, Chosen, total=False):
    """The keywords of `Scorio.__call__`."""

    model: Column | None
    question: Column
    trial: Column | None
    category: Column
    by: Column | Iterable[Column] | None
    threshold: float | None
    n: int | None
    count: Column | None
    levels: Iterable[float] | None
    cluster: Column | None
    answer: Column | None
    truth: Column | None
    judge: JudgeSample | pl.DataFrame | None
    cost: Column | None
    bounds: tuple[float, float] | None
    validate: bool
    unscored: Unscored
