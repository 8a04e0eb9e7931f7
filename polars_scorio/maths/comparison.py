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
    Ends,
    anytime_critical,
    beta_score,
    inverted_z,
    look_z,
    one_sided_errors,
    shared_error,
    sidak_critical,
    standardized_differences,
    tukey_critical,
)
from polars_scorio.maths.interval import MeasuredPairs, Student, excludes_zero
from polars_scorio.maths.posteriors import beta_interval
from polars_scorio.maths.ranks import better_and_worse, signal_share, signal_share_paired, tiers
from polars_scorio.maths.run_effects import RunVariance, ScoreRuns, widened


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of models of some strata, (S, P): what the law of their scores knows of differences."""

    diff: Floats  # NaN without estimates
    sigma: Floats
    ends: Ends  # of the intervals, not clipped, by normal critical values of shape (S, P)
    find_z: Callable[[], Floats]
    decides: bool = False  # whether z says without an interval which pairs are decided

    @property
    def z(self) -> Floats:
        """Signed critical values at which the intervals stop to hold zero; see `inverted_z`."""
        return self.find_z()

    def decided(self, c: Floats) -> Mask:
        """Pairs whose interval excludes zero."""
        if self.decides:
            return np.asarray(np.abs(self.z) > c)
        return excludes_zero(*self.ends(c))


class Reaches(NamedTuple):
    """Values of models, sigma, and how far intervals reach down and up at a critical value of 1."""

    value: Floats
    sigma: Floats
    down: Floats
    up: Floats

    def less(self, other: Reaches) -> Reaches:
        """Differences of models with independent errors.

        >>> three, four = (Reaches(*(np.array([x]) for x in (1.0, y, y, y))) for y in (3.0, 4.0))
        >>> print(*three.less(four).pairs().ends(np.array([1.0])))
        [-5.] [5.]
        """
        return Reaches(
            self.value - other.value,
            np.hypot(self.sigma, other.sigma),
            np.hypot(self.down, other.up),
            np.hypot(self.up, other.down),
        )

    def pairs(self, most: float = np.inf) -> Pairs:
        """These differences, of which estimates may be farther apart than the largest there is."""
        gap, sigma, down, up = self

        def ends(c: Floats) -> tuple[Floats, Floats]:
            return gap - c * down, gap + c * up

        def z() -> Floats:
            return standardized_differences(gap, np.where(gap > 0, down, up))

        return Pairs(np.clip(gap, -most, most), sigma, ends, z, decides=True)


def beta_pairs(diff: Floats, sigma: Floats, most: float) -> Pairs:
    """Pairs of posterior means, whose differences are Beta on a range with a largest one."""

    def ends(c: Floats) -> tuple[Floats, Floats]:
        return beta_interval(diff, sigma, 2 * scipy.special.ndtr(c) - 1, (-most, most))

    def z() -> Floats:
        size = np.abs(standardized_differences(diff, sigma))
        return np.asarray(np.sign(diff) * beta_score(np.abs(diff) / most, sigma / most, size))

    return Pairs(diff, sigma, ends, z, decides=True)


def student_pairs(diff: Floats, student: Student) -> Pairs:
    """Pairs of means over a sample of questions, whose intervals have other centres."""

    def ends(c: Floats) -> tuple[Floats, Floats]:
        return student.ends(scipy.special.ndtr(-c))

    return Pairs(diff, student.error, ends, lambda: student.z, decides=True)


def in_other_runs(pairs: Pairs | MeasuredPairs, runs: RunVariance) -> Pairs:
    """Pairs with the variance that runs add to the differences, (S, P)."""
    diff, sigma = pairs.diff, np.hypot(pairs.sigma, np.sqrt(runs.excess))
    size = np.where(diff == 0, 1.0, np.abs(diff))

    def ends(c: Floats) -> tuple[Floats, Floats]:
        return widened(diff, *pairs.ends(c), runs.term(c), c)

    def log_ends(c: Floats) -> tuple[Floats, Floats]:
        # Quantiles of few degrees of freedom grow like exponentials.
        lo, hi = ends(c)
        down, up = (np.log1p(reach / size) for reach in (diff - lo, hi - diff))
        return np.log(2) - down, up - np.log(2)

    return Pairs(diff, sigma, ends, lambda: inverted_z(log_ends, diff))


def at_every_look(pairs: Pairs | MeasuredPairs, information: Floats) -> Pairs:
    """Pairs whose intervals hold at every look.

    `information` is that of the model that has less, over the planned one.
    """

    def ends(c: Floats) -> tuple[Floats, Floats]:
        return pairs.ends(anytime_critical(c, information))

    return Pairs(pairs.diff, pairs.sigma, ends, lambda: look_z(pairs.z, information))


# From columns of pairs, (P,) or (S, P), to their pairs, at one look, in these runs.
Between: TypeAlias = Callable[[Ints, Ints], Pairs | MeasuredPairs]


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
    limit: Floats | float = np.inf  # largest difference that is shown, or of each stratum (S, 1)
    joint: Paired | None = None  # how the values vary together; None: they are independent
    unit: Floats | float = 1.0  # of `joint`, or of each stratum (S, 1)
    information: Floats | None = None  # over the planned one, (S, L); None: this is the only look
    runs: ScoreRuns | None = None  # what runs bring to each model, (S, L); None: nothing

    def reversed(self) -> Comparison:
        """The models if lower values are better."""
        value, sigma, mid, lo, hi = self.numbers

        def between(a: Ints, b: Ints) -> Pairs | MeasuredPairs:
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

    def pairs(self, a: Ints, b: Ints) -> Pairs | MeasuredPairs:
        """Pairs of columns, (P,) or (S, P), whose intervals hold at every look if that is asked."""
        pairs, row = self.between(a, b), np.arange(len(self.numbers.value))[:, None]
        if self.runs is not None:
            pairs = in_other_runs(pairs, self.runs.at((row, a)).less(self.runs.at((row, b))))
        if self.information is not None:
            pairs = at_every_look(pairs, self.pair_information(a, b))
        return pairs

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
    reaches = Reaches(mu, sigma, (mu - lo) / z, (hi - mu) / z)
    compared = Compared.from_numbers(*numbers)
    return Comparison(compared, independent_pairs(reaches), limit, information=information)


def independent_pairs(models: Reaches) -> Between:
    """Pairs of models with independent errors, from arrays of all models, (S, L)."""

    def between(a: Ints, b: Ints) -> Pairs:
        row = np.arange(len(models.value))[:, None]
        one, other = (Reaches(*(each[row, side] for each in models)) for side in (a, b))
        return one.less(other).pairs()

    return between


def sampled(
    joint: Paired,
    unit: Floats | float = 1.0,
    limit: Floats | float = np.inf,
    information: Floats | None = None,
) -> Comparison:
    """Models on a sample of questions, in units (S, 1) of their range, and its information (S,)."""
    units = np.broadcast_to(unit, (len(joint.mean), 1))

    def between(a: Ints, b: Ints) -> Pairs:
        row = np.arange(len(units))[:, None]
        student = joint.differences(a, b).in_units(units)
        diff = units * (joint.mean[row, a] - joint.mean[row, b])
        return student_pairs(np.where(np.isnan(student.error), np.nan, diff), student)

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
