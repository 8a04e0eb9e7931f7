"""The variance that runs add to a score: their trials share a machine, a seed, a day.

A run that is two points better is so on every question, and more questions do not average it away.
For each run the sum over questions of "this trial minus the mean of its question" says how far it
is from the others; where the variance of these sums exceeds what independent trials explain, the
excess is added to the variance of the score [1]_, [2]_.

References
----------
.. [1] L. Kish (1962), Studies of interviewer variance for attitudinal variables. JASA 57, 92-115.
.. [2] A. B. Owen (2007), The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import Floats, Ints, known_ratio
from polars_scorio.maths.families import student_critical

Numbers: TypeAlias = "Floats | float"

_NO_SHARED_RUNS = 1e-9  # of the squared trace: no two questions share two runs
_LEAST_CRITICAL = 1e-6  # the quotient of quantiles has a limit


class RunVariance(NamedTuple):
    """The variance of a score, and which part of it independent trials explain; or of several.

    `shared` is the variance of the score for each unit of variance between runs; `ratio` is the
    variance over that of the trials alone, from questions with several trials.
    """

    variance: Numbers  # V
    of_trials: Numbers  # D
    freedom: Numbers  # degrees of freedom of `variance`; 0 where `of_trials` is all that is known
    shared: Numbers
    ratio: Numbers

    @property
    def by_score(self) -> RunVariance:
        """The variance of each score by itself."""
        return self

    @property
    def excess(self) -> Floats:
        """The part of runs in the variance, as far as it is seen."""
        return np.maximum(0.0, np.asarray(self.variance) - self.of_trials)

    @property
    def run_share(self) -> float:
        """The share of runs in the variance."""
        return float(self.excess / self.variance) if self.variance else 0.0

    def term(self, critical: Numbers) -> Floats:
        """The addition to the variance, so that it holds at this critical value."""
        c, freedom = np.maximum(critical, _LEAST_CRITICAL), np.asarray(self.freedom)
        stretched = (student_critical(c, freedom) / c) ** 2 * self.variance
        return np.where(freedom > 0, np.maximum(0.0, stretched - self.of_trials), 0.0)

    def at(self, places: tuple[Ints, ...] | Ints | int) -> RunVariance:
        """Some of several."""
        return RunVariance(*(np.asarray(each)[places] for each in self))

    def less(self, other: ScoreRuns) -> RunVariance:
        """The variance of differences, whose runs are independent; degrees of freedom by Welch."""
        second = other.by_score
        variance = np.asarray(self.variance) + second.variance
        of_trials = np.asarray(self.of_trials) + second.of_trials
        one, two = (known_ratio(np.square(x.variance), x.freedom) for x in (self, second))
        return RunVariance(
            variance,
            of_trials,
            known_ratio(variance**2, one + two),
            np.asarray(self.shared) + second.shared,
            known_ratio(variance, of_trials, 1.0),
        )

    def after(self, further: Numbers, trials: Numbers, share: Numbers = 1.0) -> RunVariance:
        """The variance that is expected after further trials of each question, in other runs.

        `trials` are those of today; there are `share` times as many questions.

        >>> four = RunVariance(3e-4, 1e-4, 3.0, 1.0, 3.0)
        >>> print(four.after(4, 4, 2.0).excess, four.after(4, 4, 2.0).of_trials)
        0.0001 2.5e-05
        """
        left, most = trials / (np.asarray(trials) + further), np.maximum(trials, 2.0)
        of_trials = np.asarray(self.of_trials) * left / share
        return self._replace(
            variance=self.excess * left + of_trials,
            of_trials=of_trials,
            freedom=np.asarray(self.freedom) * (most + further - 1) / (most - 1),
            shared=np.asarray(self.shared) * left,
        )

    def in_units(self, unit: Numbers) -> RunVariance:
        """The variance in squares of a unit, of flat arrays."""
        square = np.square(unit)
        variance, of_trials, freedom, shared, ratio = map(np.ravel, self)
        return RunVariance(variance / square, of_trials / square, freedom, shared / square, ratio)

    def run_sd(self, confidence: float) -> tuple[float, float, float]:
        """Standard deviation of the scores of runs, with the ends of its interval."""
        tail = (1 - confidence) / 2
        quantiles = scipy.special.chdtri(self.freedom, np.array([tail, 1 - tail]))
        ends = self.freedom * self.variance / quantiles
        ends_of = np.array([self.variance, *ends])
        sd = np.sqrt(np.maximum(0.0, ends_of - self.of_trials) / self.shared)
        return float(sd[0]), float(sd[1]), float(sd[2])


class SharedRuns(NamedTuple):
    """Scores of models whose equal runs share a machine or a seed, so that differences pair them.

    `sums` (..., R) has how far each run lies from the others, NaN for runs that a model lacks.
    Models with the same `design`, which is not negative, have the same complete runs; others are
    compared as if their runs were independent.
    """

    by_score: RunVariance
    sums: Floats
    design: Ints

    def at(self, places: tuple[Ints, ...] | Ints) -> SharedRuns:
        """Some of several."""
        return SharedRuns(self.by_score.at(places), self.sums[places], self.design[places])

    def less(self, other: ScoreRuns) -> RunVariance:
        """The variance of differences, whose runs are paired where they are the same.

        >>> one = RunVariance(2e-4, 1e-4, 3.0, 1.0, 2.0)
        >>> runs = SharedRuns(one, np.array([0.01, -0.01, 0.02, -0.02]), np.array(0))
        >>> runs.less(runs).variance.item(), runs.less(runs).freedom.item()
        (0.0, 3.0)
        """
        assert isinstance(other, SharedRuns)
        apart = self.by_score.less(other)
        paired = (self.design == other.design) & (self.design >= 0)
        gaps = self.sums - other.sums
        runs = np.maximum((~np.isnan(gaps)).sum(-1), 2)
        variance = runs / (runs - 1) * np.nansum(gaps**2, axis=-1)
        return apart._replace(
            variance=np.where(paired, variance, apart.variance),
            freedom=np.where(paired, runs - 1.0, apart.freedom),
        )


ScoreRuns: TypeAlias = "RunVariance | SharedRuns"


def run_variance(
    values: Floats, present: NDArray[np.bool_], slopes: Floats | None = None
) -> RunVariance:
    """The variance of a score over runs, from outcomes of questions in runs, (M, R)."""
    # `slopes` (M,): what replacing one trial changes in the score; default: that of a mean.
    some = present.any(1)
    values, here = values[some], present[some].astype(np.float64)
    n = here.sum(1)
    h = 1 / (n * n.size) if slopes is None else slopes[some]
    mean = (values * here).sum(1) / n
    e = (h[:, None] * (values - mean[:, None])) * here
    several = n > 1
    own_squares = (e**2).sum(1)
    of_trials = float((n[several] / (n[several] - 1) * own_squares[several]).sum())
    products = float((e.sum(0) ** 2).sum() - own_squares.sum())
    weighed = here[several] * h[several, None]
    laplace = np.diag(weighed.sum(0)) - (weighed / n[several, None]).T @ here[several]
    trace, squares = float(np.trace(laplace)), float((laplace**2).sum())
    kappa = squares - float((h[several] ** 2 * (n[several] - 1)).sum())
    shared = _shared_variance(here, h, n)
    if of_trials == 0 or kappa <= _NO_SHARED_RUNS * trace**2:
        return RunVariance(of_trials, of_trials, 0.0, shared, 1.0)
    between = products / kappa
    repeated = _shared_variance(here[several], h[several], n[several])
    return RunVariance(
        variance=max(0.0, of_trials + between * shared),
        of_trials=of_trials,
        freedom=trace**2 / squares,
        shared=shared,
        ratio=max(0.0, 1 + between * repeated / of_trials),
    )


def _shared_variance(here: Floats, h: Floats, n: Floats) -> float:
    """Variance of a score for each unit of variance that two questions of one run share."""
    return float(((h @ here) ** 2).sum() - (h**2 * n).sum())


def slopes_of_table(table: Floats) -> Floats:
    """Change of an estimate (n + 1,) by replacing one trial, for each number of successes."""
    n = table.size - 1
    c = np.arange(n + 1)
    steps = np.diff(table)
    slopes = ((n - c) * np.insert(steps, 0, 0.0) + c * np.append(steps, 0.0)) / max(n, 1)
    return np.asarray(slopes)


def pooled_ratio(models: Iterable[RunVariance]) -> tuple[float, float]:
    """Ratio and degrees of freedom of a whole log, over its models and strata."""
    each = [(float(model.freedom), float(model.ratio)) for model in models]
    freedom = sum(free for free, _ in each)
    return (sum(free * ratio for free, ratio in each) / freedom, freedom) if freedom else (1.0, 0.0)


def runs_p_value(models: Sequence[RunVariance]) -> float:
    """Of the hypothesis that in no model of the log runs differ; 1 where nothing tells."""
    ratio, freedom = pooled_ratio(models)
    return float(scipy.special.chdtrc(freedom, freedom * ratio)) if freedom else 1.0


def widened(
    middle: Floats, lo: Floats, hi: Floats, term: Floats, critical: Numbers
) -> tuple[Floats, Floats]:
    """The ends of an interval with the term of its runs."""
    added = np.asarray(critical) ** 2 * term
    down, up = np.sqrt((middle - lo) ** 2 + added), np.sqrt((hi - middle) ** 2 + added)
    return middle - down, middle + up
