"""Models whose numbers of trials followed outcomes or difficulty, by the evidence of all groups."""

from __future__ import annotations

import polars as pl

from polars_scorio.kernels.stopping_tests import (
    DIFFICULTY_LEVEL,
    ORDER_LEVEL,
    PATTERN_LEVEL,
    joint_p_value,
)

_LEVELS = {"p_pattern": PATTERN_LEVEL, "p_order": ORDER_LEVEL, "p_difficulty": DIFFICULTY_LEVEL}


def stopped_models(coverage: pl.DataFrame) -> dict[str, list[str]]:
    """Models whose trials stopped on outcomes, and models whose trials follow difficulty.

    The column `stopping` of a coverage tests each group by itself. A page looks at all groups: of
    200 whose trials were lost at random some are accused by chance. So the strata of a model have
    one test here, at the level of a group divided by the number of models.

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
    found: dict[str, list[str]] = {"outcomes": [], "difficulty": []}
    if not {*_LEVELS} <= {*coverage.columns}:
        return found
    models = coverage.sort("model").partition_by("model", maintain_order=True)
    for rows in models:
        low = {
            name for name, level in _LEVELS.items() if _is_below(rows, name, level / len(models))
        }
        if low:
            reason = "difficulty" if low == {"p_difficulty"} else "outcomes"
            found[reason].append(rows["model"][0])
    return found


def _is_below(rows: pl.DataFrame, name: str, level: float) -> bool:
    """Whether the groups of a model together have a p-value below a level."""
    # All p-values are 1 (or unknown) where each question has as many trials: no evidence at all.
    tested = rows.filter(pl.any_horizontal(pl.col(*_LEVELS) < 1))
    return joint_p_value(tested[name].drop_nulls().to_numpy()) < level
