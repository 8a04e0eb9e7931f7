"""How often does a draw hold enough successes, from any to all, or the most frequent answer?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from polars_scorio.arguments import (
    SHARE,
    check_choice,
    check_count,
    check_number,
    flat_numbers,
    value_text,
    value_tuple,
)
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.ballots import Ties, Votes, vote_estimate, vote_success
from polars_scorio.maths.draws import (
    area_under_curve,
    at_least,
    at_least_share,
    excess_over_half,
    majority_gains,
    spectrum_gains,
)
from polars_scorio.maths.interval import Estimate
from polars_scorio.maths.questions import Subgroups
from polars_scorio.metrics.metric import (
    ALL_TRIALS,
    UNIT,
    Bounds,
    Description,
    DrawMetric,
    DrawSizes,
    Metric,
    Summary,
    draw_fields,
    draw_metric,
    draw_sizes,
    with_parameter_help,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@with_parameter_help
def g_pass_at_k_tau(
    k: DrawSizes, tau: float, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """G-Pass@k_tau: share of draws of k trials of which at least tau succeed [1]_.

    Parameters
    ----------
    tau : float
        Share of the draw that must succeed, from 0 (one success: Pass@k) to 1 (all: Pass^k).

    Raises
    ------
    ValueError
        If `tau` lies outside [0, 1]; else as for `pass_at_k`.

    Notes
    -----
    A draw scores 1 if it has at least j successes, where j >= 1 is the smallest number with
    j / k >= tau. The estimate is the mean score of all draws of k of the n trials, a hypergeometric
    tail; mu and sigma are those of the binomial tail under the Beta posterior of `pass_at_k`.

    References
    ----------
    .. [1] J. Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.g_pass_at_k_tau(2, 0.5))
    >>> report["estimate"].round(6).to_list()
    [0.9]
    """
    share = {"tau": check_number("tau", tau, SHARE)}
    described = Description(
        "g_pass_at_k_tau",
        "G-Pass@{k}",
        "P(J >= tau k): at least the share tau of k trials succeeds",
    )
    return draw_metric(described, at_least_share, k, bounds, name, **share)


@with_parameter_help
def tail_pass(
    k: int, t: DrawSizes | None = None, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """TailPass: share of draws of k trials with at least 1, 2, ..., k successes [1]_.

    It is the whole curve between Pass@k (at least one) and Pass^k (all). The result has a row for
    each t, in the column t beside k.

    Parameters
    ----------
    k : int
        Draw size.
    t : int or sequence of int, optional
        Numbers of successes, at most k; default: all from 1 to k.

    Raises
    ------
    ValueError
        If a `t` is not from 1 to k, or given twice; else as for `pass_at_k`.

    Notes
    -----
    Each row is that of `g_pass_at_k_tau` with tau = t / k. A weighted sum of the rows is
    `threshold_spectrum_at_k`, with weights of `ps.spectrum_weights`. Other functions of the curve
    (power means, the harmonic mean of both ends, shortfalls from a target) have no unbiased
    estimate and no closed posterior; compute them from the rows with Polars expressions.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, the threshold
       spectrum; the name as in scorio 0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.tail_pass(3))
    >>> report.select("metric", "k", "t", pl.col("estimate").round(4)).rows()
    [('tail_pass(k=3)', 3, 1, 1.0), ('tail_pass(k=3)', 3, 2, 0.7), ('tail_pass(k=3)', 3, 3, 0.1)]
    """
    size, *further = draw_sizes(k)
    if further:  # which a report would not tell apart
        raise ValueError(
            f"k must be one draw size, got {value_text(k)}: a curve for each, as in "
            f"ps.tail_pass({size}), ps.tail_pass({further[0]})"
        )
    asked = tuple(range(1, size + 1)) if t is None else _checked_thresholds(t, size)
    described = Description(
        "tail_pass", "TailPass@{k}", "P(J >= t): at least t of k trials succeed"
    )
    shared = draw_fields(described, size, bounds, name)
    return DrawMetric(**shared, t=asked, gains=at_least, arguments=(size,))


def _checked_thresholds(t: DrawSizes, k: int) -> tuple[int, ...]:
    asked = sorted(check_count("t", each, most=k) for each in value_tuple(t))
    if not asked or len(set(asked)) < len(asked):
        raise ValueError(
            f"t must name at least one number of successes, each once, got {value_text(t)}"
        )
    return tuple(asked)


@with_parameter_help
def mg_pass_at_k(
    k: DrawSizes, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """mG-Pass@k: excess of successes over one half of k trials [1]_.

    Notes
    -----
    It is the mean of G-Pass@k_tau over tau from 1/2 to 1: a draw of k with j successes scores
    2/k max(j - ceil(k/2), 0). Estimate and posterior are made as for `g_pass_at_k_tau`.

    References
    ----------
    .. [1] J. Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.mg_pass_at_k([2, 3]))
    >>> report["estimate"].round(6).to_list()
    [0.3, 0.066667]
    """
    described = Description(
        "mg_pass_at_k",
        "mG-Pass@{k}",
        "E[2/k max(J - ceil(k/2), 0)]: how far the successes exceed half",
    )
    return draw_metric(described, excess_over_half, k, bounds, name)


@with_parameter_help
def maj_at_k(
    k: DrawSizes | None = None, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """Maj@k: share of draws of k trials whose majority succeeds [1]_.

    The vote is between right and wrong; `vote_at_k` votes over the answers themselves.

    Parameters
    ----------
    k : int or sequence of int, optional
        Draw sizes, as for `pass_at_k`. None: all n trials of each question are drawn, as cons@k of
        AISBench does; the column k is then null.

    Notes
    -----
    A draw scores 1 if it has at least floor(k/2) + 1 successes: ties fail. Estimate and posterior
    are made as for `g_pass_at_k_tau`. Without `k`, the estimate is the share of questions with more
    than half of their trials right.

    References
    ----------
    .. [1] X. Wang et al. (2022), Self-Consistency Improves Chain of Thought Reasoning in Language
       Models, arXiv:2203.11171, for voting over samples; here the vote is on success.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.maj_at_k([1, 2, 3]))
    >>> report["estimate"].round(6).to_list()
    [0.6, 0.3, 0.7]
    """
    sizes = ALL_TRIALS if k is None else k
    described = Description(
        "maj_at_k", "Maj@{k}", "P(J >= floor(k/2) + 1): most of k trials succeed"
    )
    return draw_metric(described, majority_gains, sizes, bounds, name)


@with_parameter_help
def auc_at_k(k: DrawSizes, *, bounds: Bounds | None = UNIT, name: str | None = None) -> DrawMetric:
    """AUC@k: area under the curve of Pass@k, larger if a success comes sooner [1]_.

    Notes
    -----
    It is the area under Pass@1, ..., Pass@k by the trapezoid rule, divided by its width k - 1; for
    k = 1 it is Pass@1. Because it is a weighted mean of Pass@i, its posterior is exact too.

    References
    ----------
    .. [1] Z. Hu et al. (2026), arXiv:2601.08763.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.auc_at_k([1, 2, 3]))
    >>> report["estimate"].round(6).to_list()
    [0.6, 0.75, 0.85]
    """
    described = Description("auc_at_k", "AUC@{k}", "the area under Pass@1, ..., Pass@k")
    return draw_metric(described, area_under_curve, k, bounds, name)


@with_parameter_help
def threshold_spectrum_at_k(
    k: int, weights: ArrayLike, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """Threshold spectrum: weighted sum of the shares with 1, 2, ..., k successes [1]_.

    Parameters
    ----------
    k : int
        Draw size.
    weights : sequence of float, shape (k,)
        Weight of "at least r of k trials succeed", r = 1..k; not negative, with a sum of at most 1.

    Raises
    ------
    ValueError
        If `weights` are negative, not k of them, or sum up to more than 1; else as for `pass_at_k`.

    Notes
    -----
    S_w@k = sum over r = 1..k of w_r T_r, where T_r is the chance that at least r of k trials
    succeed: a draw of k with j successes scores w_1 + ... + w_j. It is Pass@k if r = 1 has all the
    weight, Pass^k if r = k has it, and mG-Pass@k if w_r = 2/k for r > ceil(k/2). Estimate and
    posterior are made as for `g_pass_at_k_tau`. `estimate` is null if k exceeds the trials of a
    question.

    References
    ----------
    .. [1] *Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning*, the threshold
       spectrum; as in scorio 0.2.3.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 1, 0, 1]})
    >>> metric = ps.threshold_spectrum_at_k(2, [0.5, 0.5])
    >>> report = trials.scorio(model=None, trial=None).report(metric)
    >>> report["estimate"].round(6).to_list()
    [0.6]
    """
    spectrum = {"weights": check_spectrum(k, weights)}
    described = Description(
        "threshold_spectrum_at_k",
        "Threshold-Spectrum@{k}",
        "E[w_1 + ... + w_J]: a weight for each success of a draw",
    )
    return draw_metric(described, spectrum_gains, k, bounds, name, **spectrum)


def check_spectrum(k: DrawSizes, weights: ArrayLike) -> tuple[float, ...]:
    """The weights of a spectrum: `k` of them, not negative, with a sum of at most 1."""
    sizes, values = draw_sizes(k), flat_numbers(weights)
    if (values.size,) != sizes:
        raise ValueError(
            f"weights must be one for each of the k={k!r} thresholds, got {value_text(weights)}"
        )
    # Written so that NaN is refused too.
    if not (values.min() >= 0 and values.sum() <= 1 + 1e-12):
        raise ValueError(
            f"weights must be numbers >= 0 and sum up to at most 1, got {value_text(weights)}"
        )
    return tuple(values.tolist())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VoteMetric(Metric):
    """A metric of the answers of k drawn trials."""

    ties: Ties  # what a tie of right and wrong answers is worth
    short: float = np.nan  # the value of questions with fewer than k trials

    uses_prior = False
    looks_at = "answers"
    beyond_counts = (
        "an expression counts the categories of one column, and votes need the answers beside "
        'them: use a report of the frame, of each question with per="question"'
    )

    def summary(self, posterior: Votes, k: int | None) -> Summary:
        """The estimate of each group, which has no posterior but its variance."""
        estimate = posterior.mean(self.kind_estimates(posterior, k))
        return Summary(estimate, estimate, np.full_like(estimate, np.nan))

    def kind_estimates(self, questions: Votes, k: int | None) -> Floats:
        """The chance that the vote of k trials is right, for each kind of question."""
        assert k is not None  # the report asks for a k of this metric
        chance = vote_success(questions.ballots, k, self.ties)
        return np.where(questions.ballots.trials < k, self.short, chance)

    def at_end(self, *, upper: bool) -> Self:
        """The metric if the votes of questions with fewer than k trials are right, or wrong."""
        return replace(self, short=float(upper))

    def variances(self, questions: Votes, strata: Subgroups[Votes] | None = None) -> list[Estimate]:
        """The variance of the votes for each k."""
        asked = self.ties, strata, self.short
        return [vote_estimate(questions, k, *asked) for k in self.k if k is not None]


@with_parameter_help
def vote_at_k(
    k: DrawSizes,
    ties: Literal["split", "fail"] = "split",
    *,
    bounds: Bounds | None = UNIT,
    name: str | None = None,
) -> VoteMetric:
    """Vote@k, self-consistency: share of draws whose most frequent answer is right [1]_.

    It needs the answers of the trials: name their column, as in ``df.scorio(answer="extracted")``.

    Parameters
    ----------
    ties : "split" or "fail"
        Credit of a tie for the most votes. "split", the default: the share of the tied answers that
        is right, as if one were drawn by lot. "fail": 0, unless all of them are right.

    Raises
    ------
    ValueError
        If the accessor has no `answer`; else as for `pass_at_k`. When the rows are read: if one
        answer of a question is right in one trial and wrong in another, or (unless `missing` is
        set) no trial of a question has an answer.

    Notes
    -----
    The estimate is the exact mean over all draws of k of the n trials of a question. Trials with a
    null answer are drawn like others, and have no vote. No posterior of votes is published: the
    numbers are calibrated under every `prior`, with the noise of each question from the jackknife
    [2]_ or an upper bound. If k exceeds the trials of a question, the range has a wrong vote of it
    at one end, and a right one at the other.

    References
    ----------
    .. [1] X. Wang et al. (2022), Self-Consistency Improves Chain of Thought Reasoning in Language
       Models, arXiv:2203.11171.
    .. [2] B. Efron, C. Stein (1981), The Jackknife Estimate of Variance, Ann. Statist. 9, 586-596.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> columns = {"question": 1, "category": [1, 1, 0, 0, 0], "answer": ["7", "7", "1", "2", "3"]}
    >>> log = pl.DataFrame(columns).scorio(model=None, trial=None, answer="answer")
    >>> votes, verdicts = ps.vote_at_k([1, 3, 5]), ps.maj_at_k([1, 3, 5])
    >>> log.report(votes, verdicts)["estimate"].round(4).to_list()
    [0.4, 0.5, 1.0, 0.4, 0.3, 0.0]
    """
    check_choice("ties", ties, Ties)
    described = Description(
        "vote_at_k", "Vote@{k}", "the chance that the most frequent answer of k trials is right"
    )
    return VoteMetric(**draw_fields(described, k, bounds, name, ties=(ties, "split")), ties=ties)
