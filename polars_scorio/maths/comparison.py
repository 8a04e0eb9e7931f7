"""The only difference there is, whatever the law of scores, and over what confidence holds.

Critical values `c` are normal ones of one look; a law turns their tails into what it needs. A
`Family` says which of them make statements hold at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_slices
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.families import (
    anytime_critical,
    beta_score,
    inverted_z,
    look_z,
    one_sided_errors,
    shared_error,
    sidak_critical,
    standardized_differences,
    student_z,
    tukey_critical,
)
from polars_scorio.maths.interval import MeasuredPairs, Pairs, Student, excluding_zero
from polars_scorio.maths.posteriors import beta_interval
from polars_scorio.maths.ranks import better_and_worse, signal_share, signal_share_paired, tiers
from polars_scorio.maths.run_effects import RunVariance, ScoreRuns, widened

# Value, sigma, and how far the interval reaches down and up at a critical value of 1.
Side: TypeAlias = "tuple[Floats, Floats, Floats, Floats]"


@dataclass(frozen=True, slots=True, eq=False)
class AsymmetricPairs:
    """Pairs that reach so many times `down` and `up` as the critical value says."""

    gap: Floats
    sigma: Floats
    down: Floats
    up: Floats
    most: float = np.inf  # the largest difference that there is: estimates may be farther apart
    decided = excluding_zero

    @classmethod
    def from_sides(cls, one: Side, other: Side) -> AsymmetricPairs:
        """Pairs of models with independent errors.

        >>> three, four = (tuple(np.array([x]) for x in (1.0, y, y, y)) for y in (3.0, 4.0))
        >>> print(*AsymmetricPairs.from_sides(three, four).ends(np.array([1.0])))
        [-5.] [5.]
        """
        (value, sigma, down, up), (less, noise, below, above) = one, other
        reaches = np.hypot(down, above), np.hypot(up, below)
        return cls(value - less, np.hypot(sigma, noise), *reaches)

    @property
    def diff(self) -> Floats:
        """The differences."""
        return np.clip(self.gap, -self.most, self.most)

    @property
    def z(self) -> Floats:
        """Differences in units of how far they reach."""
        return standardized_differences(self.gap, np.where(self.gap > 0, self.down, self.up))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        return self.gap - c * self.down, self.gap + c * self.up


@dataclass(frozen=True, slots=True, eq=False)
class BetaPairs:
    """Pairs of posterior means, whose differences are Beta on the range of the metric."""

    diff: Floats
    sigma: Floats
    range: float  # the largest difference

    @property
    def z(self) -> Floats:
        """By the chance that the difference has the sign of its mean."""
        z = np.abs(standardized_differences(self.diff, self.sigma))
        size = beta_score(np.abs(self.diff) / self.range, self.sigma / self.range, z)
        return np.asarray(np.sign(self.diff) * size)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        confidence, most = 2 * scipy.special.ndtr(c) - 1, self.range
        return beta_interval(self.diff, self.sigma, confidence, (-most, most))

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero, without a quantile."""
        return np.asarray(np.abs(self.z) > c)


@dataclass(frozen=True, slots=True, eq=False)
class StudentPairs:
    """Pairs of means over a sample of questions, with their degrees of freedom, (S, P)."""

    of_unit: Floats  # differences, in units
    student: Student  # their intervals, in units, as squares of large numbers are too large
    unit: Floats  # (S, 1)
    decided = excluding_zero

    @property
    def diff(self) -> Floats:
        """The differences."""
        return self.unit * self.of_unit

    @property
    def sigma(self) -> Floats:
        """Standard errors of the centres of the intervals."""
        return self.unit * self.student.error

    @property
    def z(self) -> Floats:
        """Normal values with the tails of Student's."""
        centre, error, freedom = self.student
        return student_z(standardized_differences(centre, error), freedom)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        lo, hi = self.student.ends(scipy.special.ndtr(-c))
        return self.unit * lo, self.unit * hi


@dataclass(frozen=True, slots=True, eq=False)
class WiderPairs:
    """Pairs with a term of variance that runs add, or with intervals that hold at every look."""

    pairs: Pairs  # at one look, in these runs
    runs: RunVariance | None  # of the differences, (S, P); None: nothing
    information: Floats | None  # of the model that has less, over the planned one; None: one look
    decided = excluding_zero

    @property
    def diff(self) -> Floats:
        """The differences."""
        return self.pairs.diff

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        sigma = self.pairs.sigma
        return sigma if self.runs is None else np.hypot(sigma, np.sqrt(self.runs.excess))

    @property
    def z(self) -> Floats:
        """Values of one look at which the intervals stop to hold zero."""
        z = self.pairs.z if self.runs is None else inverted_z(self._log_ends, self.diff)
        return z if self.information is None else look_z(z, self.information)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, by critical values of one look."""
        return self._look_ends(
            c if self.information is None else anytime_critical(c, self.information)
        )

    def _look_ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals of one look."""
        ends = self.pairs.ends(c)
        return ends if self.runs is None else widened(self.diff, *ends, self.runs.term(c), c)

    def _log_ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of one look in logs: quantiles of few degrees of freedom grow like exponentials."""
        lo, hi = self._look_ends(c)
        size = np.where(self.diff == 0, 1.0, np.abs(self.diff))
        down, up = (np.log1p(reach / size) for reach in (self.diff - lo, hi - self.diff))
        return np.log(2) - down, up - np.log(2)


# From columns of pairs, (P,) or (S, P), to their pairs, at one look, in these runs.
Between: TypeAlias = Callable[[Ints, Ints], Pairs]


class Differences(NamedTuple):
    """Numbers of some pairs of each stratum, shape (S, P); NaN if there is no such number."""

    diff: Floats
    sigma: Floats
    lo: Floats
    hi: Floats

    def reversed(self) -> Differences:
        """Differences of the second models less the first."""
        return Differences(-self.diff, self.sigma, -self.hi, -self.lo)


class Compared(NamedTuple):
    """Numbers of models by which they are compared, (S, L): the larger, the better."""

    value: Floats  # by which they are ranked; NaN: a model is not
    sigma: Floats
    mid: Floats  # of a posterior or a range; NaN where there is none
    lo: Floats
    hi: Floats

    @classmethod
    def from_numbers(cls, mu: Floats, sigma: Floats, lo: Floats, hi: Floats) -> Compared:
        """Models with an interval; those without sigma have a range, and are not ranked."""
        return cls(np.where(np.isfinite(sigma), mu, np.nan), sigma, mu, lo, hi)


def z_of_each(models: Sequence[Comparison], a: Ints, b: Ints) -> list[Floats]:
    """`Comparison.z` by several metrics: the roots of all pairs are found together."""
    # A root takes fourteen intervals, each as dear for one pair as for a hundred.
    pairs = [each.pairs(a, b) for each in models]
    estimates = [each for each in pairs if isinstance(each, MeasuredPairs)]
    joined = MeasuredPairs.joined(estimates) if len(estimates) == len(pairs) > 1 else None
    roots = [each.z for each in pairs] if joined is None else np.split(joined.z, len(pairs))
    known = [np.where(np.isnan(p.sigma), np.nan, z) for p, z in zip(pairs, roots, strict=True)]
    return [
        np.where(np.greater(each.limit, 0) | np.isnan(z), z, 0.0)
        for each, z in zip(models, known, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The models of some strata, the same number L in each, and their differences."""

    numbers: Compared
    between: Between
    limit: Floats | float = (
        np.inf
    )  # the largest difference that is shown, or of each stratum (S, 1)
    joint: Paired | None = None  # how the values vary together; None: they are independent
    unit: Floats | float = 1.0  # of `joint`, or of each stratum (S, 1)
    information: Floats | None = None  # over the planned one, (S, L); None: this is the only look
    runs: ScoreRuns | None = None  # what runs bring to each model, (S, L); None: nothing

    def reversed(self) -> Comparison:
        """The models if lower values are better."""
        value, sigma, mid, lo, hi = self.numbers

        def between(a: Ints, b: Ints) -> Pairs:
            return self.between(b, a)

        return replace(self, numbers=Compared(-value, sigma, -mid, -hi, -lo), between=between)

    @property
    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise, of runs too, (S,)."""
        value, sigma, *_ = self.numbers
        excess = np.zeros_like(value) if self.runs is None else self.runs.by_score.excess
        if self.joint is None:
            return signal_share(value, np.hypot(sigma, np.sqrt(excess)))
        return signal_share_paired(self.joint, excess / np.square(self.unit))

    def pairs(self, a: Ints, b: Ints) -> Pairs:
        """Pairs of columns, (P,) or (S, P), whose intervals hold at every look if that is asked."""
        between, row = self.between(a, b), np.arange(len(self.numbers.value))[:, None]
        if self.runs is None and self.information is None:
            return between
        runs = self.runs and self.runs.at((row, a)).less(self.runs.at((row, b)))
        known = None if self.information is None else self.pair_information(a, b)
        return WiderPairs(between, runs, known)

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs over the planned one, (S, P); NaN for one look."""
        row = np.arange(len(self.numbers.value))[:, None]
        if self.information is None:
            return np.full((row.size, a.shape[-1]), np.nan)
        return np.minimum(self.information[row, a], self.information[row, b])

    def differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Numbers of pairs; if a model has a range, the worst ends of both."""
        pairs, (_, _, mid, lo, hi) = self.pairs(a, b), self.numbers
        beyond = np.isnan(pairs.sigma)
        ranges = mid[:, a] - mid[:, b], lo[:, a] - hi[:, b], hi[:, a] - lo[:, b]
        diff, lo, hi = (
            np.where(beyond, range_, number)
            for range_, number in zip(ranges, (pairs.diff, *pairs.ends(c)), strict=True)
        )
        return Differences(diff, pairs.sigma, self._clipped(lo), self._clipped(hi))

    def one_sided_errors(self, a: Ints, b: Ints, margin: Floats) -> tuple[Floats, Floats]:
        """Smallest errors with which pairs are above a lower margin, and below it; or NaN."""
        pairs = self.pairs(np.concatenate([a, a]), np.concatenate([b, b]))  # above, then below
        upper = np.arange(2 * a.size) < a.size
        error = one_sided_errors(pairs.ends, pairs.sigma, margin, upper, self.limit)
        return error[:, : a.size], error[:, a.size :]

    def z(self, a: Ints, b: Ints) -> Floats:
        """Signed critical values at which intervals stop to hold zero: ``Phi(z)`` is the chance."""
        (z,) = z_of_each([self], a, b)
        return z

    def decided(self, a: Ints, b: Ints, c: Floats) -> Mask:
        """Pairs of columns whose better model is known: their interval at c excludes zero."""
        pairs = self.pairs(a, b)
        # Pairs that have a range have no sigma.
        return np.asarray(pairs.decided(c) & np.isfinite(pairs.sigma) & np.greater(self.limit, 0))

    def differs(self, c: Floats) -> Mask:
        """Whether two columns differ, (S, L, L), by critical values (S, 1)."""
        strata, models = self.numbers.value.shape
        table = np.zeros((strata, models, models), np.bool_)
        for rows in row_slices(models, 4 * strata * models):  # four numbers a model
            first = np.arange(models)[rows]
            a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
            a, b = a[a < b], b[a < b]
            pairs = self.decided(a, b, np.repeat(c, a.size, axis=1))
            table[:, a, b] = table[:, b, a] = pairs
        return table

    def _clipped(self, differences: Floats) -> Floats:
        """Differences within the largest that is shown."""
        return np.asarray(np.clip(differences, -self.limit, self.limit))


def from_ranges(
    numbers: tuple[Floats, Floats, Floats, Floats],
    z: Floats | float,
    limit: float = np.inf,
    information: Floats | None = None,
) -> Comparison:
    """Models with independent errors: mu, sigma, and intervals at `z`, which are stretched."""
    mu, sigma, lo, hi = numbers
    sides = mu, sigma, (mu - lo) / z, (hi - mu) / z
    compared = Compared.from_numbers(*numbers)
    return Comparison(compared, reaching(sides), limit, information=information)


def reaching(sides: Side) -> Between:
    """Pairs of models with independent errors, from arrays of all models, (S, L)."""
    value, sigma, down, up = sides

    def between(a: Ints, b: Ints) -> AsymmetricPairs:
        row = np.arange(len(value))[:, None]

        def at(side: Ints) -> Side:
            return value[row, side], sigma[row, side], down[row, side], up[row, side]

        return AsymmetricPairs.from_sides(at(a), at(b))

    return between


def sampled(
    joint: Paired,
    unit: Floats | float = 1.0,
    limit: Floats | float = np.inf,
    information: Floats | None = None,
) -> Comparison:
    """Models on a sample of questions, in units (S, 1) of their range, and its information (S,)."""
    units = np.broadcast_to(unit, (len(joint.mean), 1))

    def between(a: Ints, b: Ints) -> StudentPairs:
        row = np.arange(len(units))[:, None]
        student = joint.differences(a, b)
        diff = joint.mean[row, a] - joint.mean[row, b]
        return StudentPairs(np.where(np.isnan(student.error), np.nan, diff), student, units)

    none = np.full_like(joint.mean, np.nan)
    compared = Compared(joint.mean * units, none, none, none, none)
    share = None if information is None else np.repeat(information[:, None], none.shape[1], axis=1)
    return Comparison(compared, between, limit, joint, units, share)


class Standings(NamedTuple):
    """Numbers of better and of worse models, and the tier of each model, shape (S, L)."""

    better: Ints
    worse: Ints
    tier: Ints


Scope: TypeAlias = Literal["each pair", "all pairs", "all with the baseline"]


class Family(NamedTuple):
    """Over which statements about the models of a stratum a confidence holds at once.

    All of them have one critical value, a normal one of one look: a `Comparison` knows its looks,
    and its laws what tail a value has.
    """

    confidence: Floats | float  # of curves one for each pair, (S, P)
    scope: Scope = "each pair"

    def critical(self, models: Ints) -> Floats:
        """Critical values, (S, 1) or (S, P), for strata with so many models (S,)."""
        number = models[:, None]
        if self.scope == "all pairs":  # never more than `sidak_critical` of their number
            return tukey_critical(number, self.confidence)
        statements = number - 1 if self.scope == "all with the baseline" else np.ones_like(number)
        return sidak_critical(statements, self.confidence)

    def verdicts(self, models: Comparison, a: Ints, b: Ints) -> tuple[Mask, Floats]:
        """Pairs of columns that differ, and the critical values of their intervals, (S, P)."""
        number = np.isfinite(models.numbers.value).sum(axis=1)
        c = np.broadcast_to(self.critical(number), (number.size, a.shape[-1]))
        return models.decided(a, b, c), c

    def standings(self, models: Comparison) -> Standings:
        """Better and worse models, and tiers, by verdicts about all pairs."""
        value = models.numbers.value
        differs = models.differs(self.critical(np.isfinite(value).sum(axis=1)))
        higher = differs & (value[:, None, :] > value[:, :, None])
        return Standings(*better_and_worse(value, differs), tiers(value, higher))

    def could_be_best(self, models: Comparison) -> Mask:
        """Models (S, L) that no other is better than: with the confidence, the best is there."""
        # One-sided statements about a model and each other one: J. C. Hsu (1984), Annals of
        # Statistics 12(3), 1136-1144. By a negative value the highest model would be worse than
        # others.
        here = np.isfinite(models.numbers.value)
        error = shared_error(here.sum(axis=1, keepdims=True) - 1, self.confidence)
        c = np.maximum(-scipy.special.ndtri(error), 0.0)
        better, _ = better_and_worse(models.numbers.value, models.differs(c))
        return np.asarray(here & (better == 0))
