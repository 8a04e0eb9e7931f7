"""The warnings that verdicts of a judge cannot be corrected, or not in one way everywhere."""

from __future__ import annotations

import warnings

import numpy as np

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.judges.judge_rates import JudgeRates

# Labels without which the trials of a verdict are unknown, unless all of them are labelled.
_LEAST, _BETTER = 5, 30
_CURES = (
    "More labels help as long as the judge is better than a coin; else take a better judge, a "
    "smaller k, or labels on these trials (truth=) for ps.avg(), which need no assumption."
)


class JudgeWarning(UserWarning):
    """The errors of a judge cannot be corrected, or differ between the trials of a log.

    The message says in how many models, why, and what to do.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.JudgeWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.JudgeWarning)
    """


def warn_of_hopeless(name: str, lacking: Mask, rates: JudgeRates, z: float) -> None:
    """Warn of models without a number, and say why.

    Parameters
    ----------
    name : str
        The metric.
    lacking : ndarray of bool, shape (G,)
        Models without a number.
    rates : JudgeRates
        The judge of each model.
    z : float
        Critical value.
    """
    if not lacking.any():
        return
    first = int(lacking.argmax())
    coin = not rates.is_informative(z)[first]
    reason = (
        "the labels do not show that the judge is better than a coin"
        if coin
        else "the verdicts contradict the labels, or the noise of the corrected draws exceeds the "
        "range of the metric"
    )
    warnings.warn(
        f"{name}: {lacking.sum():,} of {lacking.size:,} groups have no number, because {reason} "
        f"({rate_words(rates, first)} in the first of them). {_CURES}",
        JudgeWarning,
        stacklevel=2,
    )


def hardly_labelled(trials: Floats, labels: Floats) -> Mask:
    """Whether so few trials of a verdict are labelled that nothing is known of the others.

    Examples
    --------
    >>> hardly_labelled(np.array([180.0, 180, 3]), np.array([4.0, 5, 3])).tolist()
    [True, False, False]
    """
    return np.asarray((labels < trials) & (labels < _LEAST))


def warn_of_unlabelled(name: str, trials: Floats, labels: Floats) -> None:
    """Warn of models without a number, because a verdict is hardly labelled.

    Parameters
    ----------
    name : str
        The metric.
    trials, labels : ndarray of float, shape (2, G)
        Trials with the verdicts "right" and "wrong", and how many of them are labelled.
    """
    lacking = hardly_labelled(trials, labels)
    groups = lacking.any(axis=0)
    if not groups.any():
        return
    first = int(groups.argmax())
    verdict = int(lacking[:, first].argmax())
    warnings.warn(
        f"{name}: {groups.sum():,} of {groups.size:,} groups "
        f"{'has' if groups.sum() == 1 else 'have'} no corrected number. In the first of them, of "
        f"the verdicts {('right', 'wrong')[verdict]!r} {int(labels[verdict, first]):,} of "
        f"{int(trials[verdict, first]):,} are labelled: label at least {_LEAST}, better {_BETTER} "
        "(ps.sample_to_label says which)",
        JudgeWarning,
        stacklevel=2,
    )


def warn_of_contradictions(differs: Mask) -> None:
    """Warn of models whose labels contradict the assumption that only the truth matters.

    Parameters
    ----------
    differs : ndarray of bool, shape (G,)
        Models whose accuracy by both corrections differs by more than three standard errors.
    """
    if differs.any():
        warnings.warn(
            f"the judge is not equally reliable everywhere: in {differs.sum():,} of "
            f"{differs.size:,} groups the accuracy by labels on these trials and the accuracy by "
            "sensitivity and specificity differ by more than three standard errors. ps.avg() with "
            "truth= remains right; metrics of draws (k above 1) and judge= do not. Look at "
            "judge_agreement(), and at the questions on which the judge errs",
            JudgeWarning,
            stacklevel=2,
        )


def rate_words(rates: JudgeRates, place: int = 0) -> str:
    """Both rates of a judge, with the numbers of labels.

    Examples
    --------
    >>> import numpy as np
    >>> print(rate_words(JudgeRates(*(np.array([x]) for x in (88.0, 100.0, 0.0, 0.0)))))
    sensitivity 0.88 of 100, specificity unknown
    """
    words = []
    for name, whole in (("sensitivity", rates.right), ("specificity", rates.wrong)):
        share, labels = getattr(rates, name)[place], int(whole[place])
        words.append(f"{name} {share:.2f} of {labels:,}" if labels else f"{name} unknown")
    return ", ".join(words)
