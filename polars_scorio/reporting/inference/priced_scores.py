"""Models by estimates with a price, whose differences are priced by trials or by pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.paired_difference import (
    CHOICE,
    ComparedPrice,
    ComparedSide,
    PairedPrice,
    Reach,
    interval_ends,
    takes_pairs,
)
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.reporting.inference.estimate_scores import EstimateScores
from polars_scorio.reporting.inference.question_values import QuestionValues


@dataclass(frozen=True, slots=True, eq=False)
class PricedScores(EstimateScores):
    """Estimates with a price: a pair has the price of its trials, or of its paired differences.

    Attributes
    ----------
    price : ComparedSide
        Price of the models in the order of ``mu.ravel()``.
    questions : sequence of QuestionValues
        The questions of each stratum.
    """

    price: ComparedSide
    questions: Sequence[QuestionValues]

    @classmethod
    def floored(
        cls,
        numbers: Sequence[Floats],
        limit: float,
        price: Price,
        questions: Sequence[QuestionValues],
        single: Mask,
        information: Floats | None = None,
    ) -> PricedScores:
        """Scores of models, with the price of those raised that have single trials only.

        Parameters
        ----------
        numbers : sequence of ndarray of float, shape (S, L)
            Mu, sigma, lo and hi of each model.
        limit : float
            Largest difference that is shown.
        price : Price
            Price of the models in the order of ``mu.ravel()``.
        questions : sequence of QuestionValues
            The questions of each stratum.
        single : ndarray of bool, shape (S, L)
            Whether no question of a model has more than one trial.
        information : ndarray of float, shape (S, L), or None
            As for `EstimateScores`.
        """
        mu, sigma, lo, hi = numbers
        variance, most = np.zeros(mu.shape), np.full(mu.shape, np.inf)
        for stratum in np.flatnonzero(single.any(axis=1)).tolist():
            asked = questions[stratum]
            if asked.known:
                variance[stratum] = np.where(single[stratum], asked.mean_variance(), 0.0)
                most[stratum] = np.where(single[stratum], asked.number, np.inf)
        compared = ComparedPrice.floored(price, variance.ravel(), most.ravel())
        return cls(mu, sigma, limit, lo, hi, compared, questions, information=information)

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> PricedPairs:
        """Pairs of columns of some strata."""
        size = np.broadcast_shapes((strata.size, 1), a.shape)
        a, b = np.broadcast_to(a, size), np.broadcast_to(b, size)
        variance, freedom = np.empty(size), np.empty((strata.size, 1))
        for row, stratum in enumerate(strata.tolist()):
            asked = self.questions[stratum]
            variance[row] = asked.pair_variances(a[row], b[row])
            freedom[row] = asked.number - 1
        first = strata[:, None] * self.mu.shape[1]
        return PricedPairs.of(self.price, first + a, first + b, PairedPrice(variance, freedom))


@dataclass(frozen=True, slots=True, eq=False)
class PricedPairs:
    """Pairs of models of some strata.

    Attributes
    ----------
    price : ComparedSide
        Price of all models.
    a, b : ndarray of int, shape (S, P)
        Places of both models of each pair.
    paired : PairedPrice
        Price of their paired differences.
    by_pairs : ndarray of bool, shape (S, P)
        Whether a pair uses that price.
    """

    price: ComparedSide
    a: Ints
    b: Ints
    paired: PairedPrice
    by_pairs: Mask

    @classmethod
    def of(cls, price: ComparedSide, a: Ints, b: Ints, paired: PairedPrice) -> PricedPairs:
        """Pairs of models, after the choice of the price of each."""
        reaches = pair_reaches(price, a, b, np.full((len(a), 1), CHOICE))
        return cls(price, a, b, paired, takes_pairs(price.at(a), price.at(b), *reaches, paired))

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        price, other = self.price.at(self.a).price, self.price.at(self.b).price
        by_trials = np.hypot(price.sigma, other.sigma)
        by_pairs = price.width * np.sqrt(self.paired.variance)
        return np.where(self.by_pairs, by_pairs, by_trials)

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better: normal, or Student's."""
        student = scipy.special.stdtr(self.paired.freedom, z)
        return np.where(self.by_pairs, student, scipy.special.ndtr(z))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        sides = self.price.at(self.a), self.price.at(self.b)
        reaches = pair_reaches(self.price, self.a, self.b, c)
        return interval_ends(*sides, reaches, self.paired, self.by_pairs, c)

    def of_strata(self, strata: Ints) -> PricedPairs:
        """The pairs of some of the strata."""
        paired = PairedPrice(self.paired.variance[strata], self.paired.freedom[strata])
        return PricedPairs(
            self.price, self.a[strata], self.b[strata], paired, self.by_pairs[strata]
        )


def pair_reaches(price: ComparedSide, a: Ints, b: Ints, c: Floats) -> tuple[Reach, Reach]:
    """Reaches of both sides of each pair, computed once for each model and critical value.

    `c` has the shape of the pairs, or one value for each stratum, shape (S, 1).
    """
    levels, level = np.unique(c, return_inverse=True)
    level = level.reshape(c.shape)
    wanted = np.stack([a, b]) * levels.size + level
    first, place = distinct_rows([wanted.ravel()])
    code = wanted.ravel()[first]
    reached = price.at(code // levels.size).reach(levels[code % levels.size])
    one, other = place.reshape(wanted.shape)
    return Reach(*(each[one] for each in reached)), Reach(*(each[other] for each in reached))
