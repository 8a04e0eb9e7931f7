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
            """Earlier trials of the same questions, with the same roles.

            Without a model column they count for every model. All posteriors but that of `avg` use
            them; questions that the log does not have are ignored. With
            ``inference="calibrated"`` they are an error.""",
        ),
    ]
    inference: Annotated[
        InferenceKind | None,
        Option(
            None,
            """How mu, sigma, lo and hi are found; `report` explains the three. Default: the
            inference of the accessor, else calibrated (posteriors such as `bayes`: published).

            **Default.** Leave it out unless you need another one. Published by default are `bayes`,
            metrics with `alpha0` or `beta0`, and reports with `prior` or ``per="question"``; all
            other numbers are calibrated. The column `inference` says for each row which one it has.

            **Calibrated.** mu is the unbiased estimate. Two models are fitted to the questions to
            find its variance, and the larger variance counts; the interval is Clopper and Pearson's
            for the number of questions that has this variance. If k exceeds the trials of some
            question there is no estimate: lo and hi are the range over all populations of questions
            that fit the counts, mu is a prediction (null if k is more than twice the trials), and
            the column `inference` says "range". ``bayes`` is pooled if you ask for "calibrated".

            **Published.** mu is the posterior mean with a uniform prior for each question (of `avg`
            the estimate), and the interval is mu -+ z sigma, clipped to the bounds (Hariri et al.
            2026, arXiv:2510.04265). With few trials the prior moves mu towards 1/2 (the mean of the
            weights) by more than sigma says.

            **Pooled.** One Beta population of questions is fitted to each model and stratum, and
            the interval has quantiles of a Beta distribution. Use it for single questions, for
            planning, and if trials stopped on their outcomes. It fails if the number of trials
            follows a difficulty that was known before, and for k > 1 if the questions are not one
            Beta population. `priors` shows the fit.

            **Without effect.** `vote_at_k` has one interval for every inference. Real-valued
            rewards are always calibrated, without any fit: the noise of each question is measured,
            and `bounds` says which rewards may not have been seen.""",
        ),
    ]


class InferenceOptions(PlanOptions, total=False):
    """The keywords of how mu, sigma and the interval of a metric are found."""

    target: Annotated[
        Target,
        Option(
            "benchmark",
            """What the numbers are about: "benchmark", the mean over these very questions, or
            "population", the mean over all questions that could have been asked, of which these are
            a sample. Default: the target of the accessor, else "benchmark".

            Intervals about the population are usually wider, since other questions would have been
            harder or easier (E. Miller 2024, Adding Error Bars to Evals, arXiv:2411.00640).
            Published numbers are about these questions alone.""",
        ),
    ]
    confidence: Annotated[
        float,
        Option(0.95, "Of the intervals. Default: the confidence of the accessor, else 0.95."),
    ]
    anytime: Annotated[
        int | None,
        Option(
            None,
            """The planned trials of each question (about a population: the planned questions),
            written down before the first look. Intervals and verdicts then hold at every look,
            while the evaluation runs. Default: the log is looked at once.

            Two equal models that are compared after each of 16 rounds, at 95 % each time, give a
            false winner in 12 to 26 % of the logs. With `anytime` you may look after each batch,
            stop when there is a winner, or go on beyond the plan: the chance that an interval ever
            misses is then about 1 - confidence at most (simulated with 100 and 500 questions: a
            false winner in at most .025 of the logs on average, .06 of the worst population), if
            each further batch has trials of all questions of both models. It needs calibrated
            numbers, and trials that stopped on their outcomes are an error (see `coverage`).

            At the plan intervals are 1.285 times as wide. The critical value is
            c max(t, 1/t)^(1/4), where t is the information so far over the planned one (the column
            `information`), and c is 2.519 instead of 1.960 at 95 %. If you stop at a winner, `diff`
            is too far from zero on average; the interval is right.""",
        ),
    ]


class ReportOptions(InferenceOptions, total=False):
    """The keywords of `report`, and of every metric's own report."""

    per: Annotated[
        Per,
        Option(
            "model",
            """Whether there are rows for each model and stratum, the default, or for each question.

            Single questions have published or pooled numbers; calibrated numbers are about means.
            Pooled numbers of a question use all questions of the model: they change if you add
            other questions, and they are not independent of each other.""",
        ),
    ]
    overall: Annotated[
        Overall | None,
        Option(
            None,
            """Add a row over all strata of each model, with null in the `by` columns: "macro" is
            the mean of the strata, each with the same weight; "micro" has all their questions in
            one pool. All models must have all strata.

            The sigma of a published or pooled "macro" row is the root of the summed squared sigmas
            of the strata, over their number S. The calibrated row takes one fit of the questions
            of all strata if the metric has one, so that strata of one size have the same interval
            as "micro"; otherwise the distances from mu to lo and hi are combined like the sigmas.
            A filter after such a report does not reach the scan.""",
        ),
    ]
    wide: Annotated[
        bool,
        Option(
            False,  # noqa: FBT003 - the default
            """Whether metrics are columns: one row per stratum and model (and question).

            After the keys, questions, trials and dropped, `pass_at_k` with k = 4 has the columns
            `pass_at_k_4` (the estimate; of `bayes`, mu), `pass_at_k_4_mu` (not for `bayes`),
            `pass_at_k_4_sigma`, `pass_at_k_4_lo` and `pass_at_k_4_hi`. If k exceeds the trials, the
            first is null. The names need no quotes in SQL: `g_pass_at_k_tau(tau=0.5)` becomes
            `g_pass_at_k_tau_tau_0_5_4`.""",
        ),
    ]


class DecisionOptions(InferenceOptions, total=False):
    """The keywords of what compares the models of a stratum."""

    questions: Annotated[
        Adjusted,
        Option(
            "same",
            """What to do if the models of a stratum have different questions: "same", the default,
            is an error that names them; "common" counts the questions that all models have;
            "adjusted" (`compare` and `rank` alone) corrects for how hard the questions of each
            model were.

            Adjusted, for logs in which each model was asked a part of the questions: effects of
            models and of questions are fitted by least squares to the estimates of the questions,
            so that easy questions are no advantage. It is for `avg` and `bayes` (by their
            estimates) with ``target="population"``; the covariance is a sandwich over the
            questions.""",
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
