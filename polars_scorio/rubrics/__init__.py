"""Rubrics: from the signals that are logged for each trial to a category.

`rubric` makes your own; the others are the twelve schemata of M. Hariri et al. (2026), Don't
Pass@k, arXiv:2510.04265, appendix on categorical evaluation, tables 4 and 5. `Reading` says how we
read those tables. `scorio_schemata` are the five of the Python package scorio.

Several schemata compare a signal with a percentile of it. Such thresholds belong to the data that
they were taken from: to compare two runs whose thresholds differ is an error of method, since the
same trial may then be confident in one and not in the other. Either evaluate both runs in one
frame, or take the thresholds once, keep them, and pass them for every run:

>>> import polars as pl
>>> import polars_scorio as ps
>>> first = pl.DataFrame({"prompt_bpt": [0.1, 0.2, 0.3]})
>>> kept = ps.rubrics.thresholds(first)
>>> kept.columns
['ood']
"""

from typing import TYPE_CHECKING

from polars_scorio.arguments import public_face
from polars_scorio.rubrics.reading import Reading, thresholds
from polars_scorio.rubrics.rubric import Rubric, rubric
from polars_scorio.rubrics.schemata import (
    concision_high_conf,
    conf_calibrated,
    conf_wrong_penalty,
    confident_and_correct,
    difficulty_adjusted,
    efficiency_adjusted,
    exact_match,
    format_aware,
    format_compliance,
    format_confidence,
    io_ratio_profile,
    length_robust,
    ood_robustness,
    schemata,
    scorio_schemata,
    strict_compliance,
    token_surprise,
    verifier_only,
    verifier_prob,
)

__all__ = [
    "Reading",
    "Rubric",
    "concision_high_conf",
    "conf_calibrated",
    "conf_wrong_penalty",
    "confident_and_correct",
    "difficulty_adjusted",
    "efficiency_adjusted",
    "exact_match",
    "format_aware",
    "format_compliance",
    "format_confidence",
    "io_ratio_profile",
    "length_robust",
    "ood_robustness",
    "rubric",
    "schemata",
    "scorio_schemata",
    "strict_compliance",
    "thresholds",
    "token_surprise",
    "verifier_only",
    "verifier_prob",
]


if not TYPE_CHECKING:  # checkers would take it for a promise of every name
    __getattr__, __dir__ = public_face(__name__, __all__)
