"""Numbers of metrics of success and failure from arrays: NumPy in, NumPy out, no frame between.

The accessor of a log does more: it reads and checks trials, and knows much else. This module is for
those who have counts already, or build on the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.arguments import POSITIVE, check_confidence, check_number
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.credit_numbers import Measurement
from polars_scorio.maths.interval import Weighted
from polars_scorio.maths.posteriors import SeparatePosteriors, Target
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.metrics.metric import Metric


@dataclass(frozen=True, slots=True, eq=False)
class QuestionCounts:
    """Trials and successes of questions, and the weight of each question in the mean.

    Each method gives an array with a number for each draw size of the metric, which is one of
    success and failure that has a value for a single question, such as ``ps.pass_at_k([1, 4])``.

    Parameters
    ----------
    n, c : ndarray of int, shape (M,)
        Trials and successes of each question, ``0 <= c <= n`` and ``n >= 1``.
    weights : ndarray of float, shape (M,), optional
        Weight of each question. Default: all weigh the same.

    Raises
    ------
    ValueError
        If the arrays differ in shape or are no such counts, or a weight is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import polars_scorio as ps
    >>> from polars_scorio.arrays import QuestionCounts
    >>> questions = QuestionCounts(np.full(6, 4), np.array([0, 1, 2, 3, 4, 4]))
    >>> questions.estimate(ps.pass_at_k([1, 2])).round(3)
    array([0.583, 0.722])
    >>> lo, hi = questions.interval(ps.pass_at_k([1, 2]))
    >>> lo.round(2), hi.round(2)
    (array([0.4 , 0.48]), array([0.75, 0.9 ]))
    """

    n: Ints
    c: Ints
    weights: Floats | None = None

    def __post_init__(self) -> None:
        """Check the arrays."""
        arrays = [self.n, self.c] if self.weights is None else [self.n, self.c, self.weights]
        shapes = [np.shape(each) for each in arrays]
        if len({*shapes}) > 1 or len(shapes[0]) != 1 or shapes[0] == (0,):
            raise ValueError(f"n, c and weights must have one number a question, got {shapes}")
        if any(np.asarray(each).dtype.kind not in "iu" for each in arrays[:2]):
            raise ValueError("n and c must be ints")
        wrong = np.flatnonzero((self.n < 1) | (self.c < 0) | (self.c > self.n))
        if wrong.size:
            where = f"{wrong.size:,} of {self.n.size:,} questions"
            first = f"n={self.n[wrong[0]]} and c={self.c[wrong[0]]}"
            raise ValueError(f"1 <= n and 0 <= c <= n are wrong for {where}; the first has {first}")
        if not (np.isfinite(self._share) & (self._share > 0)).all():
            raise ValueError("weights must be positive and finite")

    def estimate(self, metric: Metric) -> Floats:
        """Unbiased estimate; NaN if k exceeds the trials of a question.

        Parameters
        ----------
        metric : Metric
            The metric.

        Returns
        -------
        ndarray of float, shape (K,)
            The estimates.
        """
        return self._means(metric, 1.0)[0]

    def posterior(self, metric: Metric, *, alpha: float = 1.0) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation.

        Parameters
        ----------
        metric : Metric
            The metric.
        alpha : float
            The success rate of each question is Beta(alpha, alpha) before; 1 is uniform.

        Returns
        -------
        mu, sigma : ndarray of float, shape (K,)
            Means and standard deviations.
        """
        _, mu, sigma = self._means(metric, check_number("alpha", alpha, POSITIVE))
        return mu, sigma

    def interval(
        self, metric: Metric, *, confidence: float | None = None, target: Target = "benchmark"
    ) -> tuple[Floats, Floats]:
        """Calibrated confidence interval, as in a report without a prior.

        Parameters
        ----------
        metric : Metric
            The metric; `ps.bayes` has a posterior alone.
        confidence : float, optional
            Confidence of each interval. Default: 0.95.
        target : "benchmark" or "population"
            Whether they are about these questions, or about all that could have been asked.

        Returns
        -------
        lo, hi : ndarray of float, shape (K,)
            Ends of the intervals; a range if k exceeds the trials of a question.
        """
        if not metric.calibrated:
            raise ValueError(f"{metric.name}: it has a posterior, and no calibrated interval")
        counts, place = self._counts(metric), np.arange(self.n.size)
        rows = counts, 0 * counts, 0 * place
        parts = Subgroups.tally(*rows, place, 1 + 0 * place, 1, self.weights)
        states = States.tally(*rows, 1 + 0 * place, 1)
        questions = Weighted(states, None if self.weights is None else parts)
        draws = [gains for k in metric.row_sizes if (gains := metric.draw(k)) is not None]
        numbers = Measurement(questions, check_confidence(confidence), target).credits(draws)
        scaled = [each.scaled(*metric.support) for each in numbers]
        lo, hi = (np.concatenate([getattr(each, end) for each in scaled]) for end in ("lo", "hi"))
        return lo, hi

    @property
    def _share(self) -> Floats:
        """Share of each question in the mean."""
        weights = np.ones(self.n.size) if self.weights is None else self.weights
        return np.asarray(weights / weights.sum())

    def _means(self, metric: Metric, alpha: float) -> tuple[Floats, Floats, Floats]:
        """Estimate, posterior mean and standard deviation, (K,) each."""
        counts, every = self._counts(metric), np.arange(self.n.size)
        alone = States.tally(counts, 0 * counts, every, 1 + 0 * every, every.size)
        posterior, share = SeparatePosteriors(alone, alpha), self._share
        rows = np.array([metric.summary(posterior, k)[:3] for k in metric.row_sizes])
        value, mu, sigma = rows.transpose(1, 0, 2)
        return value @ share, mu @ share, np.sqrt(sigma**2 @ share**2)

    def _counts(self, metric: Metric) -> Ints:
        """Failures and successes of each question, (M, 2)."""
        if metric.beyond_counts or metric.w is not None or not metric.per_question:
            raise ValueError(f"{metric.name}: no metric of the successes of single questions")
        return np.column_stack([self.n - self.c, self.c]).astype(np.int64)
