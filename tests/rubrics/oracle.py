"""The twelve schemata once more, as plain branches over one row, and logs with their signals."""

import random
from itertools import product
from typing import Any

import polars as pl

Row = dict[str, Any]
# Easy to tell apart: each class of each signal has a value of its own in LEVELS.
AT = {
    "high_conf": 3.0,
    "wrong_high_conf": 4.0,
    "correct_high_conf": 2.0,
    "correct_mid_conf": 5.0,
    "ood": 8.0,
    "economical": 0.3,
    "moderate": 0.6,
    "correct_economical": 0.2,
    "correct_moderate": 0.5,
}
# On the thresholds and on both sides of them.
LEVELS: dict[str, list[Any]] = {
    "has_box": [0, 1],
    "is_correct": [0, 1],
    "repeated_pattern": [0, 1],
    "token_ratio": [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7],
    "prompt_bpt": [7.9, 8.0],
    "completion_bpt": [1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0],
    "A": [0.49, 0.5],
    "B": [0.1, 0.3, 0.6],
    "C": [0.3, 0.49, 0.5],
}


def combinations(signals: tuple[str, ...], *, missing: bool = False) -> list[Row]:
    """Rows with every combination of levels of some signals; the other signals do not vary."""
    levels = {
        name: [*values, None][: None if missing else -1] if name in signals else values[:1]
        for name, values in LEVELS.items()
    }
    return [dict(zip(levels, row, strict=True)) for row in product(*levels.values())]


def category(schema: str, row: Row, at: dict[str, float]) -> str:  # noqa: C901, PLR0911, PLR0912
    """The category of one row without missing signals."""
    if row["repeated_pattern"] == 1 or row["C"] >= 0.5:
        return "invalid"
    correct, bits, tokens = row["is_correct"] == 1, row["completion_bpt"], row["token_ratio"]
    word = "correct" if correct else "wrong"
    box = "boxed" if row["has_box"] == 1 else "unboxed"
    sure = "high_conf" if bits <= at["high_conf"] else "low_conf"
    if schema in ("exact_match", "length_robust"):
        return word
    if schema == "format_aware":
        return f"{word}_{box}"
    if schema == "strict_compliance":
        return "correct_boxed" if correct and box == "boxed" else "wrong"
    if schema == "ood_robustness":
        return ("ood_" if row["prompt_bpt"] >= at["ood"] else "ind_") + word
    if schema == "verifier_only":
        if row["A"] >= 0.5:
            return "A_high"
        return "high_B" if row["B"] >= row["C"] else "high_C"
    if schema == "verifier_prob":
        return f"{word}_A_{'high' if row['A'] >= 0.5 else 'low'}"
    if schema == "format_confidence":
        return "wrong_unboxed" if (word, box) == ("wrong", "unboxed") else f"{word}_{box}_{sure}"
    if schema in ("conf_calibrated", "conf_wrong_penalty"):
        if not correct:
            return "wrong_high_conf" if bits <= at["wrong_high_conf"] else "wrong_low_conf"
        if schema == "conf_wrong_penalty":
            return "correct"
        if bits <= at["correct_high_conf"]:
            return "correct_high_conf"
        return "correct_mid_conf" if bits <= at["correct_mid_conf"] else "correct_low_conf"
    economical, moderate = at["economical"], at["moderate"]
    if correct:
        economical, moderate = at["correct_economical"], at["correct_moderate"]
    if tokens <= economical:
        length = "economical"
    else:
        length = "moderate" if tokens <= moderate else "verbose"
    if schema == "efficiency_adjusted":
        return f"{word}_{length}"
    assert schema == "concision_high_conf"
    if not correct:
        return "wrong"
    return f"correct_{length}" + (
        "_high_conf" if (length, sure) == ("economical", "high_conf") else ""
    )


def signalled(seed: int = 3, questions: int = 6, trials: int = 4) -> pl.DataFrame:
    """A log of two models in two datasets, whose signals differ from dataset to dataset."""
    draw = random.Random(seed)  # noqa: S311 - nothing here is secret
    rows = [
        {
            "dataset": dataset,
            "model": model,
            "question": question,
            "trial": trial,
            "has_box": draw.random() < 0.7,
            "is_correct": draw.random() < (0.7 if model == "a" else 0.4),
            "repeated_pattern": draw.random() < 0.1,
            "token_ratio": scale * draw.random(),
            "prompt_bpt": scale * draw.random(),
            "completion_bpt": scale * draw.random(),
            "A": draw.random(),
            "B": draw.random(),
            "C": 0.6 * draw.random(),
        }
        for dataset, scale in (("easy", 1.0), ("hard", 5.0))
        for model in ("a", "b")
        for question, trial in product(range(questions), range(trials))
    ]
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=seed)
