import polars as pl

import polars_scorio as ps


def test_the_accessor_says_the_confidence():
    rows = [(m, q, t, (q + t) % 3 > 0, q + t + p) for m, p in (("a", 1.0), ("b", 2.0))
            for q in range(6) for t in range(2)]  # fmt: skip
    names = ["model", "question", "trial", "category", "usd"]
    log = ps.scorio(pl.DataFrame(rows, names, orient="row"), cost="usd", confidence=0.5)
    narrow, wide = log.frontier(), log.frontier(confidence=0.95)
    assert (narrow["lo"] > wide["lo"]).all()
    assert (narrow["cost_hi"] < wide["cost_hi"]).all()
