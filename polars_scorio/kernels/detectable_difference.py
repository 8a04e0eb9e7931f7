"""The smallest true difference that a comparison of two models finds, before any trial is run.

References
----------
.. [1] E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640: the variance of a difference
   from the spread of the questions, the correlation of the models, and the trials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

_HALVINGS = 100
_PAIRED_WINS = 0.85  # as in comparisons: the share of the paired half-width that the trials' beats
_LEAST_SHRINKAGE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """An evaluation of two models on the same questions.

    Attributes
    ----------
    questions : int
        Number of questions, at least two.
    trials : tuple of float
        Trials per question of each model.
    rate : float
        Mean success rate of both models, inside (0, 1).
    spread : float
        Variance of the success rates between questions, as a share of ``rate (1 - rate)``.
    correlation : float
        Correlation of both models' rates over the questions.
    critical : float
        Normal critical value of the comparison.
    """

    questions: float
    trials: tuple[float, float]
    rate: float
    spread: float
    correlation: float
    critical: float


def detectable_difference(design: Design, power: float, *, population: bool) -> float:
    """Smallest difference of the rates that a comparison names with the wanted power.

    Parameters
    ----------
    design : Design
        What is to be run.
    power : float
        Chance that the interval of the difference excludes zero.
    population : bool
        Whether the difference is about all questions that could have been asked.

    Returns
    -------
    float
        Infinity if no difference that the mean rate allows is found with that power.

    Examples
    --------
    >>> one_run = Design(
    ...     questions=100, trials=(1, 1), rate=0.5, spread=0.5, correlation=0.5, critical=1.96
    ... )
    >>> round(detectable_difference(one_run, 0.8, population=False), 3)
    0.163
    """
    shift = scipy.special.ndtri(power)
    low, high = 0.0, 2 * min(design.rate, 1 - design.rate)

    def lacking(difference: float) -> float:
        noise, total = _difference_variances(design, difference)
        paired = _paired_half_width(design, total)
        if population:
            return float(paired + shift * np.sqrt(total) - difference)
        trials = _trials_half_width(design, difference)
        half_width = trials if trials < _PAIRED_WINS * paired else paired
        return float(half_width + shift * np.sqrt(noise) - difference)

    if lacking(high) > 0:
        return float("inf")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if lacking(middle) > 0 else (low, middle)
    return high


def _rate_variances(design: Design, difference: float) -> tuple[float, float]:
    """Variance of one trial of each model, if their rates lie that far apart."""
    rates = design.rate + difference / 2, design.rate - difference / 2
    a, b = (max(rate * (1 - rate), 0.0) for rate in rates)
    return a, b


def _difference_variances(design: Design, difference: float) -> tuple[float, float]:
    """Variance of the estimated difference: on these very questions, and on other ones."""
    a, b = _rate_variances(design, difference)
    first, second = design.trials
    noise = (1 - design.spread) * (a / first + b / second) / design.questions
    between = design.spread * (a + b - 2 * design.correlation * np.sqrt(a * b))
    return noise, noise + between / design.questions


def _paired_half_width(design: Design, total: float) -> float:
    """Expected half-width of the interval by the paired differences of the questions."""
    m, (first, second) = design.questions, design.trials
    harmonic = 2 / (1 / first + 1 / second)
    seen = m**2 * total
    events = seen + max(m / 2 - seen, 0.0) * (1 - 1 / harmonic)
    variance = total + (seen + 2) / ((events + 1) * m * (m + 1))
    tail = float(scipy.special.ndtr(-design.critical))
    student = -scipy.special.stdtrit(m - 1, tail)
    return float(student * np.sqrt(variance))


def _trials_half_width(design: Design, difference: float) -> float:
    """Expected half-width of the interval by the noise of the trials."""
    rates = _rate_variances(design, difference)
    variance = 0.0
    for rate, trials in zip(rates, design.trials, strict=True):
        share = 1.0 if trials == 1 else (1 - design.spread) / trials
        variance += share * rate / design.questions
    if sum(rates) == 0:
        return 0.0
    shrinkage = 1 - design.critical**2 * variance / (2 * sum(rates))
    if shrinkage <= _LEAST_SHRINKAGE:
        return float("inf")
    return float(design.critical * np.sqrt(variance / shrinkage))
