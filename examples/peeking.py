"""False winners of looking again and again at two equal models. Run: python examples/peeking.py"""

import numpy as np
import polars as pl

import polars_scorio as ps

EVALUATIONS, QUESTIONS, ROUNDS = 200, 30, 16


def false_winners() -> pl.DataFrame:
    """Share of simulated evaluations that have named a false winner after each look."""
    rng = np.random.default_rng(4)
    rates = rng.random((EVALUATIONS, 1, QUESTIONS))
    solved = rng.random((ROUNDS, EVALUATIONS, 2, QUESTIONS)) < rates
    evaluation, model, question = np.indices(solved.shape[1:]).reshape(3, -1)
    keys = {"evaluation": evaluation, "model": model, "question": question}
    looks, shares = [], []
    for rounds in (1, 2, 4, 8, 12, 16):
        successes = solved[:rounds].sum(axis=0).ravel()
        totals = pl.DataFrame({**keys, "n": rounds, "c": successes})
        log = ps.from_successes(totals).scorio(by="evaluation", count="count")
        peeking, planned = (log.compare(planned_trials=plan)["better"] for plan in (None, ROUNDS))
        winners = {"peeking": peeking.is_not_null(), "anytime": planned.is_not_null()}
        looks.append(pl.DataFrame({"evaluation": range(EVALUATIONS), **winners}))
        ever = pl.concat(looks).group_by("evaluation").agg(pl.col("peeking", "anytime").any())
        shares.append(
            ever.select(rounds=rounds, peeking=pl.mean("peeking"), anytime=pl.mean("anytime"))
        )
    return pl.concat(shares)


if __name__ == "__main__":
    print(false_winners())
