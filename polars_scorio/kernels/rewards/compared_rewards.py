"""One side of a comparison by real-valued rewards: a model reaches as far as its own interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.paired_difference import Reach
from polars_scorio.kernels.rewards.reward_price import RewardPrice


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRewards:
    """Price of mean rewards that are compared on these very questions.

    Both sides of a difference add the squares of what their own intervals reach [1]_. Noise as
    priced, which binary outcomes have away from the bounds, held in as few as .39 of the logs here.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner (2008), Construction of confidence limits about effect measures,
       Statistics in Medicine 27, 1693-1702.
    """

    price: RewardPrice

    def at(self, groups: Ints) -> ComparedRewards:
        """Prices of some groups, in the given order."""
        return ComparedRewards(self.price.at(groups))

    def lower_ends(self, tail: Floats) -> Floats:
        """Lower end of the interval of each estimate, on the scale of the rewards, by its tail."""
        price = self.price
        return np.asarray(price.low + price.width * price.ends(tail)[0])

    def reach(self, c: Floats | float) -> Reach:
        """How far each interval reaches at a critical value.

        Examples
        --------
        Two questions without any noise: a share of 1 - .025^(1 / 4) may be unseen.

        >>> from polars_scorio.kernels.rewards.question_rewards import QuestionRewards
        >>> zero = np.zeros(2, dtype=int)
        >>> questions = QuestionRewards(0.0 * zero, 0.0 * zero, zero + 2, zero, 1)
        >>> price = RewardPrice.of(questions, np.zeros(1), np.ones(1))
        >>> ComparedRewards(price).reach(1.96).up.round(3)
        array([0.602])
        """
        price = self.price
        lo, hi = price.ends(scipy.special.ndtr(-np.asarray(c)))
        return Reach(np.zeros_like(lo), price.estimate - lo, hi - price.estimate)
