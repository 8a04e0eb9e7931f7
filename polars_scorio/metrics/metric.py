"""The base of all metrics: what describes them, and what results need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from polars_scorio.counting.roles import Column
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.batches import weight_range
from polars_scorio.kernels.calibrated.blend_interval import BlendOfMeans
from polars_scorio.kernels.calibrated.credit_sums import GainsOf
from polars_scorio.kernels.calibrated.question_weights import Strata
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.metrics.metric_arguments import (
    Arguments,
    Bounds,
    WeightPairs,
    typed_value,
    weight_array,
)
from polars_scorio.metrics.metrics_of_counts import Answer, of_counts
from polars_scorio.metrics.summary import Summary

if TYPE_CHECKING:
    from typing_extensions import Self

Subject: TypeAlias = 'Literal["outcomes", "answers", "costs"]'
Headline: TypeAlias = 'Literal["estimate", "mu"]'


class Description(NamedTuple):
    """Names and formula of a metric, for people; see `Metric`."""

    function: str
    title: str
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(ABC):
    """A metric: a value that knows its arguments, describes itself, and sums up states.

    The base of the metrics of this package and of your own. A metric of your own needs `summary`
    and a `function`; `title` and `formula` are what pages, tables and pictures say of it.

    Attributes
    ----------
    function : str
        Name in results, and the function that makes the metric.
    title : str
        Name as people write it, where ``{k}`` stands for the draw size and ``{n}`` for the trials
        of a question, as in ``"Pass@{k}"``; default: `function`.
    formula : str
        One line for the method notes of a page; empty: the page has none.
    given : tuple of pairs
        Name and value of each argument but `k` that differs from the default.
    label : str or None
        Name that a user gave to the metric, in place of `function` and `given`.
    k : tuple of int or None
        Draw sizes, ascending, one row of the result each; ``(None,)`` for a metric without any.
    t : tuple of int or None
        Thresholds of a curve, ascending, one row of the result each; the `k` of a curve is one.
    w : tuple of pairs or None
        Category and weight of all known categories; None for a metric of success and failure.
    bounds : tuple of float or None
        Range into which intervals are clipped.
    """

    function: str
    title: str = ""
    formula: str = ""
    given: Arguments = ()
    label: str | None = None
    k: tuple[int | None, ...] = (None,)
    t: tuple[int, ...] | None = None
    w: WeightPairs | None = None
    bounds: Bounds | None = None

    def __repr__(self) -> str:
        sizes = [size for size in self.row_sizes if size is not None]
        k = [str(sizes[0] if len(sizes) == 1 else sizes)] if sizes else []
        drawn = [] if self.t is None else [str(self.k[0])]
        label = [] if self.label is None else [f"name={self.label!r}"]
        return f"{self.function}({', '.join([*drawn, *k, *self._typed_arguments, *label])})"

    @property
    def name(self) -> str:
        """Name in results: the function, and the arguments that differ from their defaults."""
        if self.label is not None:
            return self.label
        drawn = [] if self.t is None else [f"k={self.k[0]}"]
        return _call_text(self.function, [*drawn, *self._typed_arguments])

    @property
    def row_sizes(self) -> tuple[int | None, ...]:
        """Draw sizes, or the thresholds of a curve: the result has a row for each."""
        return self.k if self.t is None else self.t

    def at_first_row(self) -> Self:
        """The metric with the first of its `row_sizes` alone."""
        return replace(self, k=self.k[:1], t=self.t and self.t[:1])

    def heading(self, k: int | None = None, trials: int | None = None) -> str:
        """Name as people write it, above a column or a picture.

        Parameters
        ----------
        k : int, optional
            Draw size, or threshold of a curve; default: the letter k.
        trials : int, optional
            Trials of each question, if all have the same number; default: the letter N.

        Returns
        -------
        str
            The `title` with its numbers, and in parentheses the arguments that differ from their
            defaults; the `label` if there is one.

        Examples
        --------
        >>> import polars_scorio as ps
        >>> ps.pass_at_k([1, 4]).heading(4), ps.bayes().heading(trials=8)
        ('Pass@4', 'Bayes@8')
        >>> ps.g_pass_at_k_tau(4, tau=0.5).heading()
        'G-Pass@k (tau=0.5)'
        """
        letter = "k" if self.t is None else "t"
        if self.label is not None or not self.title:
            return self.name if k is None else f"{self.name}, {letter} = {k:,}"
        size = k if self.t is None else self.k[0]
        title = self.title.format(k="k" if size is None else size, n=trials or "N")
        threshold = [] if k is None or self.t is None else [f"t={k}"]
        return _call_text(f"{title} ", [*threshold, *self._typed_arguments]).rstrip()

    @property
    def _typed_arguments(self) -> list[str]:
        return [f"{name}={typed_value(value)}" for name, value in self.given]

    @property
    def weights(self) -> Floats:
        """Weights in the order of the categories; without a `w` those of failure and success."""
        return weight_array(self.w)

    @property
    def support(self) -> Bounds:
        """Smallest and largest value of the metric: the smallest and the largest weight."""
        w = self.weights
        return float(w.min()), float(w.max())

    @property
    def interval_limits(self) -> Bounds | None:
        """Range into which published intervals are clipped; None: they are not clipped."""
        return self.bounds

    @property
    def unit(self) -> float:
        """Range of the weights; in this unit their squares fit into a float."""
        return weight_range(self.weights) or 1.0

    @property
    def headline(self) -> Headline:
        """The number that people mean by the name of the metric."""
        return "estimate"

    @property
    def beta_prior(self) -> tuple[float, float]:
        """Parameters of the Beta prior of a success rate: uniform, unless the metric has others."""
        return 1.0, 1.0

    @property
    def uses_prior(self) -> bool:
        """Whether prior trials change the numbers."""
        return True

    @property
    def looks_at(self) -> Subject:
        """Outcomes alone, or what trials answered, or what they cost."""
        return "outcomes"

    @property
    def unbounded(self) -> bool:
        """Whether a number can be infinite, which the report refuses."""
        return False

    @property
    def all_trials(self) -> bool:
        """Whether a draw is all trials of a question, however many they are."""
        return False

    @property
    def per_question(self) -> bool:
        """Whether a single question has a value, of which the metric is the mean."""
        return True

    @property
    def calibrated(self) -> bool:
        """Whether calibrated intervals are known: the metric has a `draw`, or `prices`."""
        return False

    def weighing(self, w: WeightPairs) -> Self:
        """The metric with these weights, if it weighs categories and has no weights yet."""
        return self

    @abstractmethod
    def summary(self, posterior: Any, k: int | None) -> Summary:  # noqa: ANN401 - by the metric
        """Estimate and posterior of each group.

        `posterior` is one of `kernels.posteriors` over the categories of `w`, or over failure and
        success.
        """

    def with_unbiased_estimate(self) -> Metric:
        """The metric whose estimate has no bias to speak of, which calibrated numbers need."""
        return self

    def draw(self, k: int | None) -> GainsOf | None:
        """Gains of a draw of k, for a question with n trials; None if successes do not decide.

        The credit of a draw without any success is 0, and no credit exceeds 1.
        """
        return None

    def blend_of_means(self, k: int | None) -> BlendOfMeans | None:
        """The two means over the questions that the metric blends; None if it blends none."""
        return None

    def prices(
        self,
        questions: Any,  # noqa: ANN401 - by the metric
        strata: Strata[Any] | None = None,
    ) -> list[Price]:
        """Price of the noise of the estimate for each k, if the metric is `calibrated`.

        Parameters
        ----------
        questions
            The states by the categories of `w`, or the fits of failure and success.
        strata : Strata, optional
            Strata of the questions that weigh the same; default: all questions do. A blend of means
            has one for each stratum.

        Returns
        -------
        list of Price
            Empty for a metric that has a `draw`, which prices itself, and for one without
            calibrated intervals.
        """
        return []

    def expr(self, *, n: Column, successes: Column) -> pl.Expr:
        """The estimate from two columns that hold trials and successes.

        For counts that are already made, each row those of one question; for trials, see
        `ScorioExpr`.

        Parameters
        ----------
        n, successes : str or Expr
            Columns of integers: how many trials there were, and how many of them succeeded.

        Returns
        -------
        Expr
            Float64, named as the metric and its k: ``pass_at_k_4``. Null where there is no
            unbiased estimate (k exceeds n), where n is 0, and where a count is null.

        Raises
        ------
        ValueError
            If the metric has more than one k, or a `w`. At collection: if successes are negative
            or exceed n.
        TypeError
            If `n` or `successes` is neither a name nor an expression; at collection: if a column
            does not hold integers.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> counts = pl.DataFrame({"n": [5, 5, 1], "c": [3, 4, 1]})
        >>> counts.select(ps.pass_at_k(2).expr(n="n", successes="c").round(4)).to_series().to_list()
        [0.9, 1.0, None]
        """
        return of_counts(Answer(self, posterior=False), n, successes)

    def posterior_expr(
        self,
        *,
        n: Column,
        successes: Column,
        confidence: float = 0.95,
    ) -> pl.Expr:
        """Estimate, posterior and interval from two columns that hold trials and successes.

        Parameters
        ----------
        n, successes
            As for `expr`.
        confidence : float
            Credibility of the interval.

        Returns
        -------
        Expr
            A struct of estimate, mu, sigma, lo and hi (Float64), named as the metric and its k:
            what a report says of a question with these counts. Null where n is 0 or a count is
            null.

        Raises
        ------
        ValueError, TypeError
            As `expr`; and if `confidence` lies outside (0, 1).

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> counts = pl.DataFrame({"n": [5], "c": [3]})
        >>> posterior = ps.bayes().posterior_expr(n="n", successes="c")
        >>> numbers = counts.select(posterior).unnest("bayes")
        >>> numbers.select(pl.col("estimate", "mu").round(4)).row(0)
        (0.6, 0.5714)
        """
        return of_counts(Answer(self, confidence), n, successes)


def _call_text(function: str, arguments: Sequence[str]) -> str:
    """A name, with arguments in parentheses if there are any."""
    return f"{function}({', '.join(arguments)})" if arguments else function
