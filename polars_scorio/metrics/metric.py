"""The base of all metrics: name, k, range, draw, and what their results need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from polars_scorio.arguments import (
    CONFIDENCE,
    check_categories,
    check_column,
    check_confidence,
    check_count,
    flat_numbers,
    is_int,
    value_text,
    value_tuple,
)
from polars_scorio.counting.roles import Category, Column
from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, weight_range
from polars_scorio.maths.credit_numbers import BlendOfMeans
from polars_scorio.maths.credits import GainsOf, fixed_gains
from polars_scorio.maths.draws import expected_credit
from polars_scorio.maths.interval import Estimate
from polars_scorio.maths.posteriors import (
    QuestionPosteriors,
    SeparatePosteriors,
    draw_moments,
    normal_interval,
)
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.reward_variances import GroupRewards, QuestionRewards
from polars_scorio.signatures import FunctionT, with_shared_help

if TYPE_CHECKING:
    from typing_extensions import Self


# A draw of more trials than any log holds; some metrics sum over its successes.
_MOST_DRAWN = 1_000_000
# Sums of such weights over a hundred million questions still fit into a float.
_LARGEST_WEIGHT = 1e300

Bounds: TypeAlias = "tuple[float, float]"
DrawSizes: TypeAlias = "int | Iterable[int]"
Weights: TypeAlias = "ArrayLike | Mapping[str, float] | Mapping[int, float]"
# Category and weight, ascending by category: hashable, and in the order of the counts.
WeightPairs: TypeAlias = "tuple[tuple[Category, float], ...]"
# Arguments of a function, by name.
Arguments: TypeAlias = "tuple[tuple[str, object], ...]"


def draw_sizes(k: DrawSizes) -> tuple[int, ...]:
    """The draw sizes as an ascending tuple of positive ints, none of them twice."""
    sizes = value_tuple(k)
    if not sizes or not all(is_int(size) and size > 0 for size in sizes):
        raise ValueError(f"k must be a positive int or a sequence of them, got {value_text(k)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"k must name each draw size once, got {value_text(k)}")
    return tuple(sorted(check_count("k", size, most=_MOST_DRAWN) for size in sizes))


def weight_pairs(w: Weights | None) -> WeightPairs | None:
    """The weights of all known categories, ascending by category: finite, at most 1e300."""
    if w is None:
        return None
    values = flat_numbers([*w.values()] if isinstance(w, Mapping) else w)
    if not values.size or not np.isfinite(values).all():
        raise ValueError(
            "w must be a flat sequence of finite numbers, the weights of the categories 0, 1, ..., "
            f"or a dict from category to weight, got {value_text(w)}"
        )
    check_weight_sizes("w", values.tolist())
    known = check_categories("the categories of w", [*w]) if isinstance(w, Mapping) else None
    categories: Iterable[Category] = range(values.size) if known is None else known
    try:
        return tuple(sorted(zip(categories, values.tolist(), strict=True)))
    except TypeError:
        raise TypeError(
            f"the categories of w must be all labels or all numbers, got {value_text(w)}"
        ) from None


def check_weight_sizes(word: str, weights: Iterable[float]) -> None:
    """Raise ValueError if a weight is so large that sums of it may not fit into a float."""
    largest = max(weights, key=abs, default=0.0)
    if abs(largest) > _LARGEST_WEIGHT:
        raise ValueError(
            f"{word} must hold numbers between -1e300 and 1e300, as sums of larger ones may not "
            f"fit into a float, got {largest!r}. Divide all of them by the same number"
        )


def weight_array(w: WeightPairs | None) -> Floats:
    """The weights in the order of the categories: of failure and success where `w` is None."""
    return np.array([0.0, 1.0] if w is None else [weight for _, weight in w])


def interval_bounds(bounds: Bounds | None) -> Bounds | None:
    """The bounds as a pair of floats, the lower first."""
    if bounds is None:
        return None
    ends = flat_numbers(bounds, most=3)
    low, high = ends.tolist() if ends.shape == (2,) else (np.nan, np.nan)
    if not low <= high:
        raise ValueError(
            f"bounds must be None or two numbers, the lower first, got {value_text(bounds)}"
        )
    return low, high


def typed_value(value: object) -> str:
    """A value as one would type it: 0.5, (0, 1), [0, 0.5, 1], {'wrong': 0, 'right': 1}."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # exact as an int
        return str(int(value))
    if not isinstance(value, tuple):
        return repr(value)
    if not value or not isinstance(value[0], tuple):
        return f"({', '.join(typed_value(item) for item in value)})"
    if [category for category, _ in value] == list(range(len(value))):
        return f"[{', '.join(typed_value(weight) for _, weight in value)}]"
    return f"{{{', '.join(f'{category!r}: {typed_value(weight)}' for category, weight in value)}}}"


PARAMETERS = {
    "k": """k : int or sequence of int
    Number of trials in a draw; the result has a row for each. If k exceeds the trials of a
    question, `estimate` is null.""",
    "pass_power": """pass_power, unanimous_power : float
    Powers of Pass@k and of Pass^k. Negative ones are allowed, both zero are not.""",
    "w": """w : sequence or dict of float, optional
    Weight of each category, also of those that the log lacks: a sequence for the codes 0, 1,
    ..., a dict for labels. Default: success 1, failure 0.""",
    "bounds": """bounds : tuple of float or None
    Range into which the interval is clipped; None leaves it as it is.""",
    "name": """name : str, optional
    Name of the metric in results. Default: the function, with arguments that differ.""",
}
PARAMETERS["unanimous_power"] = PARAMETERS["pass_power"]


def with_parameter_help(function: FunctionT) -> FunctionT:
    """Describe the parameters of a metric's function that its own docstring does not."""
    returns = "Metric\n    A value for `report`, `compare` and other methods."
    raises = "ValueError\n    As for `pass_at_k`."
    return with_shared_help(function, PARAMETERS, Returns=returns, Raises=raises)


NUMBERS = ("estimate", "mu", "sigma", "lo", "hi")
# A negative power of zero, in a row of numbers: only metrics with `unbounded` can have one.
INFINITE = (
    pl.any_horizontal(pl.col("estimate", "mu", "sigma").is_infinite()) | pl.col("sigma").is_null()
)


class Summary(NamedTuple):
    """Estimate and posterior of each group: arrays of shape (G,)."""

    estimate: Floats  # NaN where there is none
    mu: Floats
    sigma: Floats
    centre: Floats | None = None  # mean and sigma of the interval, (2, G), if not mu and sigma


def quiet_infinities(metric: Metric) -> AbstractContextManager[object]:
    """Silence NumPy while a metric is computed that can be infinite: the report refuses that."""
    # Others enter no `errstate`: even an empty one takes away what other threads ignore (NumPy 1),
    # or turns on the warning of underflow (NumPy 2).
    return np.errstate(all="ignore") if metric.unbounded else nullcontext()


def number_column(values: Floats) -> pl.Series:
    """The numbers as a column: null for NaN, which says that there is no such number."""
    return pl.Series(values, nan_to_null=True)  # `fill_nan` of a Series is a query of its own


POSTERIOR = pl.Struct(dict.fromkeys(NUMBERS, pl.Float64))


@dataclass(frozen=True, slots=True, eq=False)
class MetricOfCounts:
    """The function from counts to what a metric says of them, each row a question of its own."""

    metric: Metric  # with a single k
    confidence: float = CONFIDENCE
    posterior: bool = True  # all `NUMBERS` as a struct, else the estimate alone

    def __post_init__(self) -> None:
        """Refuse what no counts can make right."""
        if self.metric.beyond_counts:
            raise ValueError(f"{self.metric.name}: {self.metric.beyond_counts}")
        if len(self.metric.row_sizes) != 1:
            raise ValueError(
                f"{self.metric.name}: an expression is one column, so k must be a single one, got "
                f"{list(self.metric.row_sizes)}. Write an expression for each."
            )
        check_confidence(self.confidence)

    @property
    def dtype(self) -> pl.DataType:
        """Type of the value of each row."""
        return POSTERIOR if self.posterior else pl.Float64()

    def __call__(self, counts: Ints) -> pl.Series:
        """Value for each row of counts (R, K), not infinite; null for a row without trials."""
        first, index = distinct_rows(counts.T)
        rows = counts[first]
        some = rows.sum(axis=1) > 0
        answer = self._published_numbers(rows[some])
        answer = answer if self.posterior else answer.select("estimate")
        self._refuse_infinite(answer)
        # Row after row of those with a trial; -1 is none of them.
        place = pl.Series(np.where(some, np.cumsum(some) - 1, -1)[index])
        taken = answer.to_struct() if self.posterior else answer.to_series()
        return taken.gather(place.replace(-1, None))

    def _published_numbers(self, counts: Ints) -> pl.DataFrame:
        """The `NUMBERS` of each row of counts, as a report with ``prior="uniform"``."""
        (k,) = self.metric.row_sizes
        with quiet_infinities(self.metric):
            summary = self.metric.summary(SeparatePosteriors(States.from_rows(counts)), k)
            ends = normal_interval(
                summary.mu, summary.sigma, float(self.confidence), self.metric.interval_limits
            )
        numbers = (summary.estimate, summary.mu, summary.sigma, *ends)
        return pl.DataFrame(dict(zip(NUMBERS, map(number_column, numbers), strict=True)))

    def _refuse_infinite(self, answer: pl.DataFrame) -> None:
        """Refuse a blend with a negative power of zero."""
        infinite = INFINITE if self.posterior else pl.col("estimate").is_infinite()
        if self.metric.unbounded and answer.select(infinite.any()).item():
            raise ValueError(
                f"{self.metric.name}: a negative power of zero: a metric to which it is applied is "
                "0 somewhere, or nearly so. Use powers that are not negative."
            )


def of_counts(answer: MetricOfCounts, n: Column, successes: Column) -> pl.Expr:
    """The expression of an answer over two columns."""
    metric = answer.metric
    if metric.w is not None:
        raise ValueError(
            f"{metric.name}: two columns hold successes and failures, to which w gives no weight: "
            "omit w, or count the categories with pl.col(...).scorio"
        )
    for keyword, column in {"n": n, "successes": successes}.items():
        check_column(keyword, column)
    columns = [pl.col(column) if isinstance(column, str) else column for column in (n, successes)]
    names = [str(column) for column in (n, successes)]

    def answered(pairs: pl.Series) -> pl.Series:
        return answer(_failures_and_successes(pairs.struct.unnest(), names))

    (k,) = metric.row_sizes
    label = metric.name if k is None else f"{metric.name}_{k}"
    pairs = pl.struct(columns[0].alias("n"), columns[1].alias("successes"))
    return pairs.map_batches(answered, return_dtype=answer.dtype, is_elementwise=True).alias(label)


def _failures_and_successes(pairs: pl.DataFrame, names: list[str]) -> Ints:
    """Counts by category of each row, (0, 0) where one of them is null."""
    for name, column in zip(names, pairs, strict=True):
        if not column.dtype.is_integer() and column.dtype != pl.Null:
            raise TypeError(
                f"{column.name}={name!r} is {column.dtype}; counts are integers. Cast it to "
                "pl.Int64."
            )
    # A callback sees a part of the rows, and not always the same: how many are bad is not known.
    wrong = (pl.col("successes") < 0) | (pl.col("successes") > pl.col("n"))
    if pairs.select(wrong.any()).item():
        raise ValueError(
            f"successes={names[1]!r} must lie between 0 and n={names[0]!r} in every row, and does "
            "not. Look for rows where it is negative, or larger."
        )
    n, c = pl.col("n").cast(pl.Int64), pl.col("successes").cast(pl.Int64)
    known = n.is_not_null() & c.is_not_null()
    counts = pairs.select(pl.when(known).then(n - c), pl.when(known).then(c).alias("c"))
    return counts.fill_null(0).to_numpy().astype(np.int64)


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

    # The number that people mean by the name of the metric.
    headline: ClassVar[Headline] = "estimate"
    uses_prior: ClassVar[bool] = True  # whether prior trials change the numbers
    # Outcomes alone, or what a subject reads: "answers", "costs".
    looks_at: ClassVar[str] = "outcomes"
    beyond_counts: ClassVar[str] = ""  # why counts of outcomes do not say it; empty: they do
    # Whether it is the average of the weights of the trials.
    averages_weights: ClassVar[bool] = False
    # Whether mean rewards are all that it needs of real-valued rewards.
    averages_rewards: ClassVar[bool] = False

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

    @property
    def rows(self) -> list[tuple[str, int | None]]:
        """Name and draw size of each row of the result."""
        return [(self.name, k) for k in self.row_sizes]

    def at_row(self, place: int) -> Self:
        """The metric with one of its `row_sizes` alone."""
        one = slice(place, place + 1)
        return replace(self, k=self.k[one]) if self.t is None else replace(self, t=self.t[one])

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
        """Whether calibrated intervals are known: the metric has a `draw`, or `variances`."""
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

    def at_end(self, *, upper: bool) -> Self | None:
        """The metric with questions of fewer than k trials at an end of what they may have.

        Such metrics have an estimate of all questions; from one end to the other reaches the range
        that is known beyond the trials. None: a metric has none, or its `draw` has it.
        """
        return None

    def blend_of_means(self, k: int | None) -> BlendOfMeans | None:
        """The two means over the questions that the metric blends; None if it blends none."""
        return None

    def kind_estimates(self, questions: Any, k: int | None) -> Floats:  # noqa: ANN401 - by the metric
        """The unbiased estimate of each kind of question; arguments as for `variances`."""
        return self.summary(SeparatePosteriors(questions.alone), k).estimate

    def variances(
        self,
        questions: Any,  # noqa: ANN401 - by the metric
        strata: Subgroups[Any] | None = None,
    ) -> list[Estimate]:
        """Variance of the noise of the estimate for each k, if the metric is `calibrated`.

        Parameters
        ----------
        questions
            The states by the categories of `w`, or the `Weighted` ones of failure and success.
        strata : Subgroups, optional
            Strata of the questions that weigh the same; default: all questions do. A blend of means
            has one for each stratum.

        Returns
        -------
        list of Variance
            Empty for a metric that has a `draw`, which variances itself, and for one without
            calibrated intervals.
        """
        return []

    def expr(self, *, n: Column, successes: Column) -> pl.Expr:
        """Estimate as an expression of two columns: trials and successes of a question.

        Parameters
        ----------
        n, successes : str or Expr
            Columns of integers: the number of trials, and of successes.

        Returns
        -------
        Expr
            Float64, named as the metric and its k: ``pass_at_k_4``. Null if k exceeds n, n is 0, or
            a count is null.

        Raises
        ------
        ValueError
            If the metric has more than one k, or a `w`. When the rows are read: if successes are
            negative or exceed n.
        TypeError
            If `n` or `successes` is neither a name nor an expression, or has no integers.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> counts = pl.DataFrame({"n": [5, 5, 1], "c": [3, 4, 1]})
        >>> counts.select(ps.pass_at_k(2).expr(n="n", successes="c").round(4)).to_series().to_list()
        [0.9, 1.0, None]
        """
        return of_counts(MetricOfCounts(self, posterior=False), n, successes)

    def posterior_expr(
        self, *, n: Column, successes: Column, confidence: float = CONFIDENCE
    ) -> pl.Expr:
        """Estimate, posterior mean and interval as an expression of trials and successes.

        Parameters
        ----------
        n, successes
            As for `expr`.
        confidence : float
            Probability of the credible interval.

        Returns
        -------
        Expr
            A struct of estimate, mu, sigma, lo and hi (Float64), named as the metric and its k.
            Null if n is 0 or a count is null.

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
        return of_counts(MetricOfCounts(self, confidence), n, successes)


def _call_text(function: str, arguments: Sequence[str]) -> str:
    """A name, with arguments in parentheses if there are any."""
    return f"{function}({', '.join(arguments)})" if arguments else function


UNIT = (0.0, 1.0)
ALL_TRIALS = (None,)  # the draw is all n trials of a question
Gains = Callable[..., Floats]


def described_fields(
    described: Description, name: str | None, **arguments: tuple[object, object]
) -> dict[str, Any]:
    """The fields of all metrics: the name of a user, and arguments as pairs (value, default).

    The name in results shows those that differ.
    """
    if name is not None and (not isinstance(name, str) or not name):
        raise ValueError(f"name must be a non-empty string or None, got {value_text(name)}")
    given = tuple((key, value) for key, (value, usual) in arguments.items() if value != usual)
    return {**described._asdict(), "given": given, "label": name}


def weighted_fields(
    described: Description, w: Weights | None, bounds: Bounds | None, name: str | None
) -> dict[str, Any]:
    """The fields of a weighted metric, after the check of its arguments."""
    pairs, limits = weight_pairs(w), interval_bounds(bounds)
    shared = described_fields(described, name, w=(pairs, None), bounds=(limits, None))
    return {**shared, "w": pairs, "bounds": limits}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawMetric(Metric):
    """A metric that scores a draw of k trials by the number of its successes."""

    gains: Gains  # gains(k, *arguments): what each further success adds
    arguments: tuple[object, ...] = ()

    calibrated = True

    @property
    def all_trials(self) -> bool:
        """Whether a draw is all trials of a question: without draw sizes it is."""
        return self.k == ALL_TRIALS

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        n, c = posterior.states.n, posterior.states.counts[:, 1]
        expected = np.empty(n.size)
        for rows, gains in self._draws(k, n):
            expected[rows] = expected_credit(n[rows], c[rows], gains)
        mu, sigma = posterior.integrate(draw_moments(partial(self._draws, k)))
        return Summary(posterior.states.mean(expected), mu, sigma)

    def draw(self, k: int | None) -> GainsOf:
        """The gains of its draw from a question with n trials."""
        if k is not None:
            return fixed_gains(self.gains(k, *self.arguments))
        return lambda n: self.gains(n, *self.arguments)

    def _draws(self, k: int | None, n: Ints) -> Iterator[tuple[slice | Mask, Floats]]:
        """The states whose draws have one size, and the gains of such a draw."""
        if k is not None:
            yield slice(None), self.gains(k, *self.arguments)
            return
        for size in np.unique(n[n > 0]).tolist():
            yield n == size, self.gains(size, *self.arguments)


def draw_metric(
    described: Description,
    gains: Gains,
    k: DrawSizes | tuple[None],
    bounds: Bounds | None,
    name: str | None,
    **arguments: object,
) -> DrawMetric:
    """A draw metric from the arguments of its function, some of which its name shows."""
    defaults = {key: (value, None) for key, value in arguments.items()}
    shared = draw_fields(described, k, bounds, name, **defaults)
    return DrawMetric(**shared, gains=gains, arguments=tuple(arguments.values()))


def draw_fields(
    described: Description,
    k: DrawSizes | tuple[None],
    bounds: Bounds | None,
    name: str | None,
    **defaults: tuple[object, object],
) -> dict[str, Any]:
    """The fields of all metrics of draws, from arguments, some with `defaults`."""
    sizes = ALL_TRIALS if k is ALL_TRIALS else draw_sizes(k)  # type: ignore[arg-type]  # the only tuple that is no size
    limits = interval_bounds(bounds)
    shared = described_fields(described, name, **defaults, bounds=(limits, UNIT))
    return {**shared, "k": sizes, "bounds": limits}


class RewardMetric(Metric):
    """A metric to which, without a `w`, a column of floats holds the rewards themselves."""

    # Not by `dataclass(slots=True)`: before Python 3.11 it repeats the slots of `Metric`, and no
    # class can then have this one as a second base.
    __slots__ = ()

    @property
    def reward_range(self) -> Bounds | None:
        """The range of real-valued rewards that a user gave to the metric: its bounds."""
        return self.bounds

    @abstractmethod
    def reward_estimates(self, rewards: GroupRewards, k: int | None) -> QuestionRewards:
        """The estimate of each question from real-valued rewards, and its noise."""


def reward_metrics(metrics: Iterable[object]) -> list[RewardMetric]:
    """The metrics that take real-valued rewards."""
    return [each for each in metrics if isinstance(each, RewardMetric)]


def given_reward_range(metric: Metric, usual: Bounds | None) -> Bounds | None:
    """The range that a user gave for real-valued rewards: to the metric, else to all metrics."""
    declared = metric.reward_range if isinstance(metric, RewardMetric) else None
    return declared or usual
