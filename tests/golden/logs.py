"""Small logs of each kind that the package knows, with their roles; the same on each machine."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import polars_scorio as ps


@dataclass(frozen=True)
class Kind:
    """A log, the roles of its columns, and the metrics that it has beside those of successes."""

    frame: pl.DataFrame
    roles: dict[str, Any] = field(default_factory=dict)
    metrics: tuple[ps.Metric, ...] = ()
    successes: bool = True  # whether metrics of successes can be asked
    options: dict[str, Any] = field(default_factory=dict)  # of reports alone


def made_log(
    models: int, questions: int, trials: int, seed: int, fewest: int | None = None
) -> pl.DataFrame:
    """Trials of models of rising strength on questions of a wide range; ragged from `fewest` on."""
    rng = np.random.default_rng(seed)
    low = trials if fewest is None else fewest
    n = low + (rng.random((models, questions)) * (trials + 1 - low)).astype(np.int64)
    # Many hard questions, some easy ones; stronger models move all of them up.
    ease = rng.random(questions) ** 2
    rate = ease ** (1.5 / (1 + np.arange(models)[:, None]))
    model, question = (axis.ravel() for axis in np.indices(n.shape))
    row = np.repeat(np.arange(n.size), n.ravel())
    return pl.DataFrame(
        {
            "model": [f"m{index}" for index in model[row]],
            "question": question[row],
            "category": (rng.random(row.size) < rate.ravel()[row]).astype(np.int64),
            "luck": rng.random(row.size),
        }
    ).with_columns(trial=pl.int_range(pl.len()).over("model", "question"))


def saturated_log() -> pl.DataFrame:
    """Models that always succeed, always fail, or fail once."""
    log = made_log(4, 15, 4, 4)
    once = (pl.col("question") == 3) & (pl.col("trial") == 2)
    rate = {"m0": pl.lit(0), "m1": pl.lit(1), "m2": 1 - once.cast(pl.Int64)}
    category = pl.col("category")
    for model, outcome in rate.items():
        category = pl.when(pl.col("model") == model).then(outcome).otherwise(category)
    return log.with_columns(category=category)


def rewards(log: pl.DataFrame) -> pl.DataFrame:
    """Real-valued rewards in (0, 1), higher where a trial succeeded."""
    return log.with_columns(category=(pl.col("category") * 0.4 + pl.col("luck") * 0.6).round(3))


def kinds_of_logs() -> dict[str, Kind]:
    """Every kind of log, by its name."""
    strata = made_log(3, 24, 3, 5).with_columns(
        domain=pl.col("question").replace_strict({q: "abc"[q % 6 // 3 + q % 2] for q in range(24)})
    )
    labelled = made_log(3, 40, 3, 12)
    wrong = (pl.col("luck") < 0.1).cast(pl.Int64)
    labelled = labelled.with_columns(
        human=pl.when(pl.col("luck") * 7 % 1 < 0.5).then((pl.col("category") - wrong).abs())
    )
    votes = made_log(3, 12, 6, 11, fewest=4).with_columns(
        answer=pl.when(pl.col("category") == 1)
        .then(pl.lit("right"))
        .otherwise(pl.format("wrong {}", (pl.col("luck") * 3).cast(pl.Int64)))
    )
    ragged = made_log(4, 24, 8, 2, fewest=2)
    return {
        "equal trials": Kind(made_log(4, 30, 4, 1)),
        "ragged trials": Kind(ragged),
        "single trials": Kind(made_log(4, 50, 1, 3)),
        "saturated": Kind(saturated_log()),
        "strata": Kind(strata, {"by": "domain"}),
        "clusters": Kind(
            made_log(3, 30, 3, 6).with_columns(passage=pl.col("question") // 3),
            {"cluster": "passage", "target": "population"},
        ),
        "few trials": Kind(made_log(3, 20, 4, 7, fewest=1)),
        "categories": Kind(
            made_log(3, 20, 4, 8).with_columns(
                category=pl.col("category") + (pl.col("luck") < 0.4)
            ),
            {"success": 2},
            (ps.bayes(w=[0, 0.5, 1]), ps.avg(w=[0, 0.5, 1]), ps.max_at_k([1, 2], w=[0, 0.5, 1])),
        ),
        "bounded rewards": Kind(
            rewards(made_log(3, 20, 4, 9, fewest=2)),
            {"bounds": (0, 1)},
            (ps.avg(), ps.max_at_k([1, 2]), ps.min_at_k([1, 2])),
            successes=False,
        ),
        "observed rewards": Kind(
            rewards(made_log(3, 20, 4, 10)),
            {},
            (ps.avg(), ps.max_at_k([1, 2]), ps.min_at_k([1, 2])),
            successes=False,
        ),
        "costs": Kind(
            made_log(3, 24, 4, 13).with_columns(
                usd=(pl.col("luck") + 0.5) * pl.col("category") + 0.1
            ),
            {"cost": "usd"},
            (ps.mean_cost(), ps.cost_per_success(), ps.cost_to_solve([1, 2])),
        ),
        "votes": Kind(votes, {"answer": "answer"}, (ps.vote_at_k([1, 3, 5]),)),
        "known judge": Kind(
            made_log(3, 30, 4, 14),
            {"judge": ps.judge(sensitivity=(88, 100), specificity=(78, 100))},
        ),
        "labelled trials": Kind(labelled, {"truth": "human"}),
        "prior trials": Kind(ragged, options={"prior": made_log(4, 24, 3, 15)}),
    }
