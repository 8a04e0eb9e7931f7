"""Do looks again and again, gates and regressions keep their promises?

Run: python -m examples.validation.looks_and_gates looks [--replicates 200] [--questions 30 100]

Rates of questions come from eight populations; both models have the same rates, or rates that
differ by a margin. Everything goes through the public API: a replicate is a stratum of one log, in
which each stratum is judged by itself. The cells of a study are kept in `single_claims/STUDY.csv`,
beside those of other numbers of questions, so that each run takes a minute or two.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.measured_cells import keep_cells

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
TRIALS = (1, 4, 16)
MARGIN = 0.05
MANY = 100  # questions above which gates are measured by avg of few trials alone
# By how much one of two models that are looked at is worse than the other one.
LOSSES = (0.0, 0.08)
# By how much the candidate of a gate is worse than the baseline.
VERSIONS = {"at": MARGIN, "equal": 0.0, "broken": 3 * MARGIN}


def counted(n: int | np.ndarray, c: np.ndarray) -> ps.Scorio:
    """The log of counts from trials and successes, shape (strata, models, questions)."""
    stratum, model, question = np.indices(c.shape).reshape(3, -1)
    keys = pl.DataFrame({"stratum": stratum, "model": model, "question": question})
    log = pl.concat(
        keys.with_columns(category=pl.lit(category), count=pl.Series(number.ravel()))
        for category, number in ((0, n - c), (1, c))
    )
    return log.scorio(by="stratum", count="count")


def trials(rng: np.random.Generator, rates: np.ndarray, rounds: int) -> np.ndarray:
    """Successes after each round of one trial of each question."""
    return (rng.random((rounds, *rates.shape)) < rates).cumsum(axis=0)


def at_least_once(p: np.ndarray, k: int) -> np.ndarray:
    """Chance that one of k trials succeeds."""
    return 1 - (1 - p) ** k


def always(p: np.ndarray, k: int) -> np.ndarray:
    """Chance that all k trials succeed."""
    return p**k


METRICS = {
    "avg": (ps.avg(), 1, always),
    "pass_at_4": (ps.pass_at_k(4), 4, at_least_once),
    "pass_hat_4": (ps.pass_hat_k(4), 4, always),
}


def lowered(rates: np.ndarray, metric: str, margin: float) -> np.ndarray:
    """The rates times the share by which the metric is worse by the margin; 0 if none is."""
    _, k, value = METRICS[metric]
    goal = value(rates, k).mean(axis=2, keepdims=True) - margin
    low, high = np.zeros_like(goal), np.ones_like(goal)
    for _ in range(40):
        share = (low + high) / 2
        above = value(rates * share, k).mean(axis=2, keepdims=True) > goal
        low, high = np.where(above, low, share), np.where(above, share, high)
    return np.where(goal > 0, rates * high, 0.0)


def looks(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """Winners over all looks: false ones of equal models, and of models of which one is worse.

    "fixed" is one look at the end of the plan, "used" the share of the plan until the winner.
    """
    for (name, population), size, metric in product(POPULATIONS.items(), sizes, METRICS):
        asked, k, _ = METRICS[metric]
        rng = np.random.default_rng(size)
        rates = population(rng, (replicates, 1, size))
        for worse in LOSSES:
            both = np.concatenate([rates, lowered(rates, metric, worse)], axis=1)
            hits = trials(rng, both, PLAN)
            found = {kind: np.full(replicates, np.inf) for kind in ("peeking", "anytime")}
            for n in (n for n in LOOKS if n >= k):
                log = counted(n, hits[n - 1])
                widths, fixed = [], np.zeros(0)
                for kind, plan in (("anytime", PLAN), ("peeking", None)):
                    rows = log.compare(asked, planned_trials=plan, simultaneous=False)
                    fixed = rows["better"].is_not_null().to_numpy()
                    found[kind] = np.minimum(found[kind], np.where(fixed, n, np.inf))
                    widths.append((rows["hi"] - rows["lo"]).to_numpy())
            shares = {kind: float(np.isfinite(when).mean()) for kind, when in found.items()}
            yield {
                "population": name, "questions": size, "metric": metric, "worse": worse,
                "replicates": replicates, **shares, "fixed": float(fixed.mean()),
                "used": float(np.minimum(found["anytime"], PLAN).mean() / PLAN),
                "width": float((widths[0] / widths[1]).mean()),
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
                    rows = log.compare(ps.avg(), simultaneous=True, planned_trials=plan)
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
                    rows = grouped.compare(ps.avg(), planned_questions=plan, simultaneous=False)
                    found[kind] |= rows["better"].is_not_null().to_numpy()
            shares = {kind: float(wrong.mean()) for kind, wrong in found.items()}
            yield {"population": name, "questions": planned, "replicates": replicates, **shares}


def gates(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """One-sided errors of gates exactly at the margin; verdicts on equal and broken versions."""
    for (name, population), size, metric in product(POPULATIONS.items(), sizes, METRICS):
        asked, k, _ = METRICS[metric]
        rng = np.random.default_rng(size)
        rates = population(rng, (replicates, 1, size))
        lower = {kind: lowered(rates, metric, worse) for kind, worse in VERSIONS.items()}
        for n in (n for n in TRIALS if n >= k and (size <= MANY or max(k, n / 4) == 1)):
            cell: dict[str, object] = {"population": name, "questions": size, "metric": metric}
            cell |= {"n": n, "replicates": replicates}
            for kind, worse in lower.items():
                c = rng.binomial(n, np.concatenate([rates, worse], axis=1))
                rows = counted(n, c).gate(0, metric=asked, margin=MARGIN)
                rows = rows.filter(pl.col("stratum").is_not_null()).sort("stratum")
                kept = rows.filter(pl.Series(worse.any(axis=(1, 2))))  # else there is no such rate
                cell |= {
                    f"{kind} {verdict}": (kept[f"pvalue_{verdict}"].fill_null(1) <= 0.05).mean()
                    for verdict in ("pass", "fail")
                }
            yield cell


_DRAWS = 4  # benchmarks of a population, of which each has its own score


def levels(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """One-sided errors of gates without a baseline whose score is the one to reach; and power."""
    for (name, population), size in product(POPULATIONS.items(), sizes):
        rng = np.random.default_rng(size)
        for n in (n for n in TRIALS if size <= MANY or n <= 4):
            found: dict[str, list[float]] = {}
            for _ in range(_DRAWS):
                rates = population(rng, (1, 1, size))
                c = rng.binomial(n, np.repeat(rates, replicates // _DRAWS, axis=0))
                for kind, far in (("at", 0.0), ("above", -2 * MARGIN), ("below", 2 * MARGIN)):
                    goal = float(rates.mean()) + far
                    if not 0 < goal < 1:
                        continue
                    rows = counted(n, c).gate(at_least=goal).filter(pl.col("stratum").is_not_null())
                    for verdict in ("pass", "fail"):
                        right = (rows[f"pvalue_{verdict}"].fill_null(1) <= 0.05).mean()
                        found.setdefault(f"{kind} {verdict}", []).append(float(right))
            shares = {which: float(np.mean(each)) for which, each in found.items()}
            yield {
                "population": name,
                "questions": size,
                "n": n,
                "replicates": replicates,
                **shares,
            }


def asked_again(replicates: int, sizes: list[int]) -> Iterator[dict]:
    """One-sided errors of a gate at the margin that gets its further trials and is asked again."""
    for name, population in POPULATIONS.items():
        for size in sizes:
            n = 4
            rng = np.random.default_rng(size)
            rates = population(rng, (replicates, 1, size))
            both = np.concatenate([rates, lowered(rates, "avg", MARGIN)], axis=1)
            c = rng.binomial(n, both)
            first = _whole_gates(n, c)
            undecided = first["verdict"] == "undecided"
            further = first["extra_trials"].fill_null(0).cast(pl.Int64).to_numpy()[:, None, None]
            second = _whole_gates(n + further, c + rng.binomial(further, both))
            cell = {"population": name, "questions": size, "n": n, "replicates": replicates}
            cell["extra_trials"] = float(np.median(further[undecided.to_numpy()]))
            for verdict in ("pass", "fail"):
                once = first["verdict"] == verdict
                cell |= {
                    f"{verdict} at once": once.mean(),
                    f"{verdict} asked again": (
                        once | (undecided & (second["verdict"] == verdict))
                    ).mean(),
                }
            yield cell


def _whole_gates(n: int | np.ndarray, c: np.ndarray) -> pl.DataFrame:
    """The gate of each log by itself, from its trials and successes."""
    rows = counted(n, c).gate(0, margin=MARGIN).filter(pl.col("stratum").is_not_null())
    verdict = (
        pl.when(pl.col("pvalue_fail").fill_null(1) <= 0.05)
        .then(pl.lit("fail"))
        .when(pl.col("pvalue_pass").fill_null(1) <= 0.05)
        .then(pl.lit("pass"))
        .otherwise(pl.lit("undecided"))
    )
    return rows.sort("stratum").with_columns(verdict=verdict)


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
    "levels": levels,
    "asked_again": asked_again,
    "regressions": regressions,
}


def main() -> None:
    """Run one study and print its cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=[*STUDIES])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 100])
    asked = parser.parse_args()
    for warning in (ps.CheckWarning, ps.ClusterWarning, ps.LogWarning):
        warnings.simplefilter("ignore", warning)
    keep_cells(asked.study, STUDIES[asked.study](asked.replicates, asked.questions))


if __name__ == "__main__":
    main()
