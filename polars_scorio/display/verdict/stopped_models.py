"""Models whose numbers of trials followed outcomes or difficulty, by the evidence of all groups."""

from __future__ import annotations

import numpy as np
import polars as pl

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.stopping_tests import (
    DIFFICULTY_LEVEL,
    ORDER_LEVEL,
    PATTERN_LEVEL,
    suspect_models,
)

_LEVELS = {"p_pattern": PATTERN_LEVEL, "p_order": ORDER_LEVEL, "p_difficulty": DIFFICULTY_LEVEL}


def stopped_models(coverage: pl.DataFrame) -> dict[str, list[str]]:
    """Models whose trials stopped on outcomes, and models whose trials follow difficulty.

    The column `stopping` of a coverage tests each group by itself; here the strata of a model have
    one test, as in `suspect_models`.

    Parameters
    ----------
    coverage : DataFrame
        As `Look.coverage` returns it.

    Returns
    -------
    dict of list of str
        "outcomes" and "difficulty": the models, of which each is in one list at most.

    Examples
    --------
    >>> p = {"p_pattern": 1.0, "p_order": 1.0, "p_difficulty": [0.5] * 9 + [0.001]}
    >>> groups = pl.DataFrame({"model": [f"m{number}" for number in range(10)], **p})
    >>> stopped_models(groups)
    {'outcomes': [], 'difficulty': []}
    >>> stopped_models(groups.tail(1))
    {'outcomes': [], 'difficulty': ['m9']}
    """
    if not {*_LEVELS} <= {*coverage.columns}:
        return {"outcomes": [], "difficulty": []}
    models = coverage["model"].unique().sort().to_list()
    places = {name: place for place, name in enumerate(models)}
    model = np.array([places[name] for name in coverage["model"]], dtype=np.int64)
    suspect = {
        name: {*suspect_models(_tested_p_values(coverage, name), model, level).tolist()}
        for name, level in _LEVELS.items()
    }
    outcomes = suspect["p_pattern"] | suspect["p_order"]
    found = {"outcomes": outcomes, "difficulty": suspect["p_difficulty"] - outcomes}
    return {reason: [models[place] for place in sorted(those)] for reason, those in found.items()}


def _tested_p_values(coverage: pl.DataFrame, name: str) -> Floats:
    """P-values of the groups; NaN where nothing is known, or each question has as many trials."""
    # All p-values are 1 then.
    tested = pl.when(pl.any_horizontal(pl.col(*_LEVELS) < 1)).then(name)
    return coverage.select(tested.cast(pl.Float64).fill_null(np.nan)).to_series().to_numpy()
