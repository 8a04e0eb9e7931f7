"""How often is the most frequent answer of k trials right? Votes over answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from polars_scorio.arguments import check_choice
from polars_scorio.maths.ballots import Ties, Votes, vote_estimate, vote_success
from polars_scorio.maths.questions import Subgroups
from polars_scorio.maths.variance_estimates import Estimate
from polars_scorio.metrics.metric import (
    UNIT,
    Bounds,
    DrawSizes,
    Metric,
    Summary,
    checked_label,
    draw_sizes,
    interval_bounds,
    unusual_arguments,
    with_parameter_help,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VoteMetric(Metric):
    """A metric of the answers of k drawn trials."""

    ties: Ties  # what a tie of right and wrong answers is worth

    uses_prior = False
    looks_at = "answers"
    beyond_counts = (
        "an expression counts the categories of one column, and votes need the answers beside "
        'them: use a report of the frame, of each question with per="question"'
    )

    def summary(self, posterior: Votes, k: int | None) -> Summary:
        """The estimate of each group, which has no posterior but its variance."""
        assert k is not None  # the report asks for a k of this metric
        estimate = posterior.mean(vote_success(posterior.ballots, k, self.ties))
        return Summary(estimate, estimate, np.full_like(estimate, np.nan))

    def variances(self, questions: Votes, strata: Subgroups[Votes] | None = None) -> list[Estimate]:
        """The variance of the votes for each k."""
        return [vote_estimate(questions, k, self.ties, strata) for k in self.k if k is not None]


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
        If `ties` is neither; else as for `pass_at_k`. At the call of a report: if the accessor has
        no `answer`. At collection: if one answer of a question is right in one trial and wrong in
        another, or (unless `missing` says something) no trial of a question has an answer.

    Notes
    -----
    The estimate is exact: the mean over all draws of k of the n trials of a question, averaged over
    the questions. Trials with a null answer are drawn like others, and abstain. A question without
    any right answer has the estimate 0. In `maj_at_k` all wrong trials vote together; here only
    trials with the same answer do. Of 16 trials with 6 right ones and wrong ones that all differ, 8
    vote for the right answer with chance .948; a majority of them is right with chance .059.

    No posterior of votes is published. `mu` is the estimate under every `prior`; sigma, lo and
    hi are calibrated. The noise of each question comes from the jackknife [2]_ if k is at most a
    quarter of the trials and the root of their number, else it is an upper bound; the interval is
    that of Clopper and Pearson with an effective number of questions. All numbers are null if k
    exceeds the trials of a question, because answers that were not seen have no known frequency.
    Expressions have no votes: they read one column, and a vote needs the answers too. A report with
    ``per="question"`` has the votes of each question.

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
    limits = interval_bounds(bounds)
    return VoteMetric(
        function="vote_at_k",
        title="Vote@{k}",
        formula="the chance that the most frequent answer of k trials is right",
        given=unusual_arguments(ties=(ties, "split"), bounds=(limits, UNIT)),
        label=checked_label(name),
        k=draw_sizes(k),
        bounds=limits,
        ties=ties,
    )
