"""How often is the most frequent answer of k trials right? Votes over answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from polars_scorio.arguments import check_choice
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.ballots import Ties, Votes, vote_estimate, vote_success
from polars_scorio.maths.interval import Estimate
from polars_scorio.maths.questions import Subgroups
from polars_scorio.metrics.metric import (
    UNIT,
    Bounds,
    Description,
    DrawSizes,
    Metric,
    Summary,
    draw_fields,
    with_parameter_help,
)

if TYPE_CHECKING:
    from typing_extensions import Self


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
