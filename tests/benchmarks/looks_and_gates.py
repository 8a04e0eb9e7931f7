"""Do looks again and again, gates and regressions keep their promises?

Run: python tests/benchmarks/looks_and_gates.py looks [--replicates 200] [--questions 30 100]

Rates of questions come from eight populations; both models have the same rates, or rates that
differ by a margin. Everything goes through the public API: a replicate is a stratum of one log, in
which each stratum is judged by itself. Prints one line for each cell as JSON.
"""

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np
import polars as pl

import polars_scorio as ps

POPULATIONS = {
    "Beta(.3, .3)": lambda rng, shape: rng.beta(0.3, 0.3, shape),
    "hard": lambda rng, shape: rng.beta(0.2, 2, shape),
    "even": lambda rng, shape: rng.beta(5, 5, shape),
    "easy": lambda rng, shape: rng.beta(4, 0.4, shape),
    "half always right": lambda rng, shape: np.where(
        rng.random(shape) < 0.5, 1.0, rng.random(shape)
    ),
    "aime": lambda rng, shape: np.choose(
        np.searchsorted([0.4, 0.6], rng.random(shape)), [0.0, 1.0, rng.random(shape)]
    ),
    "two": lambda rng, shape: rng.choice([0.05, 0.6], shape),
    "same": lambda _, shape: np.full(shape, 0.5),
}
LOOKS = (1, 2, 3, 4, 6, 8, 12, 16)
PLAN = 16


def counted(n: int, c: np.ndarray) -> ps.Scorio:
    """The log of counts from trials and successes, shape (strata, models, questions)."""
    stratum, model, question = np.indices(c.shape).reshape(3, -1)
    keys = pl.DataFrame({"stratum": stratum, "model": model, "question": question})
    log = pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(number.ravel()))
        for category, number in ((0, n - c), (1, c))
    )
    return log.scorio(by="stratum", count="count", inference="calibrated")


def trials(rng: np.random.Generator, rates: np.ndarray, rounds: int) -> np.ndarray:
    """Successes after each round of one trial of each question."""
    return (rng.random((rounds, *rates.shape)) < rates).cumsum(axis=0)


def looks(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """False winners of equal models over all looks; width and power against one look."""
    for name, population in POPULATIONS.items():
        for size in sizes:
            rng = np.random.default_rng(size)
            rates = np.repeat(population(rng, (replicates, 1, size)), 2, axis=1)
            hits = trials(rng, rates, PLAN)
            found: dict[str, np.ndarray] = {}
            for n in LOOKS:
                log = counted(n, hits[n - 1])
                for kind, plan in (("peeking", None), ("anytime", PLAN)):
                    rows = log.compare(ps.avg(), anytime=plan)
                    seen = rows["better"].is_not_null().to_numpy()
                    found[kind] = found.get(kind, False) | seen
                    found[f"width {kind}"] = (rows["hi"] - rows["lo"]).to_numpy()
            ratio = (found["width anytime"] / found["width peeking"]).mean()
            yield {
                "population": name, "questions": size, "replicates": replicates,
                "peeking": float(found["peeking"].mean()),
                "anytime": float(found["anytime"].mean()), "width": float(ratio),
            }  # fmt: skip


def families(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """A false winner in some pair of five equal models, all pairs at once, over all looks."""
    for name, population in POPULATIONS.items():
        for size in sizes:
            rng = np.random.default_rng(size)
            rates = np.repeat(population(rng, (replicates, 1, size)), 5, axis=1)
            hits = trials(rng, rates, PLAN)
            found = {kind: np.zeros(replicates, bool) for kind in ("peeking", "anytime")}
            for n in LOOKS:
                log = counted(n, hits[n - 1])
                for kind, plan in (("peeking", None), ("anytime", PLAN)):
                    rows = log.compare(ps.avg(), simultaneous=True, anytime=plan)
                    wrong = rows.filter(pl.col("better").is_not_null())["stratum"].unique()
                    found[kind][wrong.to_numpy()] = True
            shares = {kind: float(wrong.mean()) for kind, wrong in found.items()}
            yield {"population": name, "questions": size, "replicates": replicates, **shares}


def samples(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """False winners while questions arrive in clusters of five, up to twice the plan."""
    size, trials_each = 5, 4
    for name, population in POPULATIONS.items():
        for planned in sizes:
            rng = np.random.default_rng(planned)
            clusters = 2 * planned // size
            # A cluster is better for one of the models, by chance: no model is on average.
            shape = replicates, 2, clusters
            rates = np.repeat(population(rng, shape), size, axis=2)
            c = rng.binomial(trials_each, rates)
            found = {kind: np.zeros(replicates, bool) for kind in ("peeking", "anytime")}
            for asked in np.linspace(planned // 3, 2 * planned, 6).astype(int) // size * size:
                log = counted(trials_each, c[:, :, :asked])
                frame = log.frame.with_columns(passage=pl.col("question") // size)
                grouped = frame.scorio(
                    by="stratum", count="count", cluster="passage", target="population"
                )
                for kind, plan in (("peeking", None), ("anytime", planned)):
                    rows = grouped.compare(ps.avg(), anytime=plan)
                    found[kind] |= rows["better"].is_not_null().to_numpy()
            shares = {kind: float(wrong.mean()) for kind, wrong in found.items()}
            yield {"population": name, "questions": planned, "replicates": replicates, **shares}


def gates(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """One-sided errors of gates exactly at the margin, and passes of equal models."""
    margin = 0.05
    for name, population in POPULATIONS.items():
        for size in sizes:
            rng = np.random.default_rng(size)
            rates = population(rng, (replicates, 1, size))
            scale = 1 - margin / rates.mean(axis=2, keepdims=True)
            worse = np.concatenate([rates, rates * np.maximum(scale, 0)], axis=1)
            equal = np.repeat(rates, 2, axis=1)
            for n in (1, 4, 16):
                at = counted(n, rng.binomial(n, worse)).gate(0, margin=margin)
                same = counted(n, rng.binomial(n, equal)).gate(0, margin=margin)
                at, same = (rows.filter(pl.col("stratum").is_not_null()) for rows in (at, same))
                kept = (scale.ravel() > 0).tolist()  # the others have no rate that is lower
                of = at.filter(pl.Series(kept))
                yield {
                    "population": name, "questions": size, "n": n, "replicates": of.height,
                    "false pass": (of["p_pass"].fill_null(1) <= 0.05).mean(),
                    "false fail": (of["p_fail"].fill_null(1) <= 0.05).mean(),
                    "equal pass": (same["p_pass"].fill_null(1) <= 0.05).mean(),
                    "equal fail": (same["p_fail"].fill_null(1) <= 0.05).mean(),
                }  # fmt: skip


def regressions(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """False discovery rate and found regressions, if nothing broke or a tenth did."""
    names = [*POPULATIONS.values()]
    for size in sizes:
        for n in (4, 8, 16):
            rng = np.random.default_rng(n)
            rates = np.stack([names[i % 8](rng, (size,)) for i in range(replicates)])
            broken = (rng.random(rates.shape) < 0.1) & (rates > 0.3)
            for kind, hit in (("nothing", 0 * broken > 0), ("a tenth", broken)):
                after = np.where(hit, rates / 10, rates)
                both = np.stack([rates, after], axis=1)
                c, false, share = rng.binomial(n, both), [], []
                for replicate in range(replicates):
                    log = counted(n, c[replicate : replicate + 1])
                    rows = log.regressions(0).sort("question")
                    named = rows["regressed"].to_numpy()
                    wrong = (named & ~hit[replicate]).sum()
                    false.append(wrong / max(named.sum(), 1))
                    if hit[replicate].any():
                        share.append(named[hit[replicate]].mean())
                yield {
                    "questions": size, "n": n, "broken": kind, "replicates": replicates,
                    "fdr": float(np.mean(false)),
                    "found": float(np.mean(share)) if share else None,
                }  # fmt: skip


STUDIES = {
    "looks": looks,
    "families": families,
    "samples": samples,
    "gates": gates,
    "regressions": regressions,
}


def main() -> None:
    """Run one study and print its cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=[*STUDIES])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    asked = parser.parse_args()
    start = time.perf_counter()
    for cell in STUDIES[asked.study](asked.replicates, asked.questions):
        print(json.dumps({**cell, "seconds": round(time.perf_counter() - start)}), flush=True)


if __name__ == "__main__":
    main()
