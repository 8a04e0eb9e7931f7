"""The difference of a metric on the same questions, in the steps of `maths.variance_estimates`."""

from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.variance_estimates import (
    CHOICE,
    ComparedNoise,
    PairedNoise,
    interval_ends,
    takes_pairs,
)


class Difference(NamedTuple):
    """First less second, with its interval, each of shape (P,)."""

    diff: Floats
    sigma: Floats
    lo: Floats
    hi: Floats


def metric_difference(
    first: ComparedNoise, second: ComparedNoise, paired: PairedNoise, c: Floats | float
) -> Difference:
    """Difference of a metric on these very questions, at critical value `c`.

    Away from the bounds both sides add their estimated noise, at a bound what is left of their own
    interval: two models that always succeed may still differ. `paired` is NaN without estimates of
    single questions.
    """
    chosen = takes_pairs(first, second, first.reach(CHOICE), second.reach(CHOICE), paired)
    lo, hi = interval_ends(first, second, (first.reach(c), second.reach(c)), paired, chosen, c)
    width = max(first.noisy.width, second.noisy.width)
    by_trials = np.hypot(first.noisy.sigma, second.noisy.sigma)
    sigma = np.where(chosen, width * np.sqrt(paired.variance), by_trials)
    return Difference(first.noisy.mu - second.noisy.mu, sigma, lo, hi)
