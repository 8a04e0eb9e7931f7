"""Simulations behind single sentences. Run: python -m examples.validation.single_claims STUDY

A study takes ten seconds to five minutes and goes through the public API, where a replicate is a
stratum of one log, judged by itself; `prob_best` and `planned_pairs` draw normal scores for the
kernels. The cells are written to `single_claims/STUDY.csv`, from which `quoted_numbers.py` takes
the numbers of the sentences.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import betaincinv, expit, logit, ndtr

import polars_scorio as ps
from examples.validation.looks_and_gates import POPULATIONS, counted, lowered, trials
from examples.validation.measured_cells import KEPT
from examples.validation.populations import FIRST_POPULATIONS, SIZE_OF_POPULATION
from polars_scorio.maths.power import trials_with_assurance
from polars_scorio.maths.ranks import leading_chances, signal_share

Floats = np.ndarray
Cell = dict[str, object]
HEAVY = 0.2  # share of the cost that one trial must have for a `CostWarning`
LENIENT = 0.05  # share of the wrong answers that a lenient judge calls right
GOAL, CRITICAL, NOW = 0.8, 1.96, 8  # of planned pairs: chance, z, and trials today


def each_gate(logs: int = 25) -> Iterator[Cell]:
    """Gates of two equal versions in five strata, each of which must pass at margin .05."""
    for name, population in POPULATIONS.items():
        rng = np.random.default_rng(37)
        passed = 0
        for _ in range(logs):
            rates = np.repeat(population(rng, (5, 1, 100)), 2, axis=1)
            rows = counted(4, rng.binomial(4, rates)).gate(0, margin=0.05, every_stratum=True)
            passed += rows.filter(pl.col("stratum").is_null())["verdict"].item() == "pass"
        yield {"population": name, "logs": logs, "passed": passed / logs}


def best_of_many(logs: int = 100) -> Iterator[Cell]:
    """Whether the interval of the best of equal models holds its score, corrected or not."""
    for models, questions, n, name in product(
        (2, 10, 60), (20, 100), (1, 4), ("same", "even", "Beta(.3, .3)")
    ):
        rng = np.random.default_rng([37, models, questions, n])
        rates = np.repeat(POPULATIONS[name](rng, (logs, 1, questions)), models, axis=1)
        log = counted(n, rng.binomial(n, rates))
        score = rates[:, 0].mean(axis=1)
        best = log.best().sort("stratum")
        plain = best.join(log.report(ps.avg()), on=["stratum", "model"]).sort("stratum")
        cell: Cell = {"models": models, "questions": questions, "n": n, "population": name}
        for kind, lo, hi in (
            ("plain", plain["lo"], plain["hi"]),
            ("corrected", best["best_lo"], best["best_hi"]),
        ):
            cell[kind] = ((lo <= score) & (hi >= score)).mean()
            cell[f"{kind} width"] = (hi - lo).mean()
        yield cell | {"logs": logs}


def rates_of_pair(
    rng: np.random.Generator, shape: tuple[int, int], means: Floats, spread: float, like: float
) -> Floats:
    """Beta rates of two models, whose normal scores have a correlation."""
    shared, *single = rng.standard_normal((3, *shape))
    both = np.stack([np.sqrt(like) * shared + np.sqrt(1 - like) * each for each in single], axis=1)
    size, mean = 1 / spread - 1, means[None, :, None]
    return betaincinv(mean * size, (1 - mean) * size, ndtr(both))


def moved_to_difference(rates: Floats, difference: float) -> Floats:
    """Rates of the second model moved in logits, so that the means differ exactly by this."""
    goal = rates[:, 0].mean(axis=1) - difference
    return np.stack([rates[:, 0], moved_to_mean(rates[:, 1], goal)], axis=1)


def moved_to_mean(rates: Floats, mean: Floats) -> Floats:
    """Rates of questions, the last axis, moved in logits so that they have this mean."""
    place, goal = logit(np.clip(rates, 1e-9, 1 - 1e-9)), np.asarray(mean)[..., None]
    low, high = np.full(goal.shape, -20.0), np.full(goal.shape, 20.0)
    for _ in range(50):
        shift = (low + high) / 2
        above = expit(place + shift).mean(axis=-1, keepdims=True) > goal
        low, high = np.where(above, low, shift), np.where(above, shift, high)
    return expit(place + low)


def power(logs: int = 200) -> Iterator[Cell]:
    """How often `compare` names the better model at a `detectable_difference`, goal .8."""
    for target, questions, n, rate, spread, like in product(
        ("benchmark", "population"), (30, 100, 500), (1, 4, 16), (0.5, 0.8), (0.1, 0.5), (0.5, 0.9)
    ):
        design = {"rate": rate, "spread": spread, "correlation": like, "target": target}
        found = power_of_design(logs, questions, n, design)
        if found is not None:
            yield design | {"questions": questions, "n": n, "logs": logs, "power": found}


def power_of_design(logs: int, questions: int, n: int, design: Cell) -> float | None:
    """Share of logs with the better model named; None if rates cannot differ by so much."""
    difference = ps.detectable_difference(questions, n, **design)["difference"].item()
    means = np.array([design["rate"] + difference / 2, design["rate"] - difference / 2])
    if not means.max() < 1:
        return None
    rng = np.random.default_rng([37, questions, n])
    rates = rates_of_pair(rng, (logs, questions), means, design["spread"], design["correlation"])
    if design["target"] == "benchmark":
        rates = moved_to_difference(rates, difference)
    rows = counted(n, rng.binomial(n, rates)).compare(
        ps.avg(), target=design["target"], simultaneous=False
    )
    return (rows["better"] == 0).fill_null(value=False).mean()


def default_power(logs: int = 400) -> Iterator[Cell]:
    """The same for the table of the guide: the models that are expected without a word."""
    design: Cell = {"rate": 0.5, "spread": 0.6, "correlation": 0.6, "target": "benchmark"}
    for questions, n in product((50, 200, 1000), (1, 4, 16)):
        found = power_of_design(logs, questions, n, design)
        yield {"questions": questions, "n": n, "logs": logs, "power": found}


BOARDS = os.environ.get("PUBLIC_BOARDS", "")  # where examples/findings wrote its counts


def board_rates(board: str) -> Floats:
    """Success rates of the models of a public board, without noise, shape (models, questions).

    With several trials they are shrunk to their mean, so that their variance is that between
    questions; of single trials the share of the models that solve a question stands for all.
    """
    counts = pl.read_parquet(Path(BOARDS, f"{board}.parquet")).cast({pl.UInt8: pl.Int64})
    sums = counts.group_by("model", "question").agg(pl.col("trials", "successes").sum())
    repeated = sums.filter(pl.col("trials").min().over("model") > 1)
    rate, n = (
        (repeated if repeated.height else sums)
        .with_columns(rate=pl.col("successes") / pl.col("trials"))
        .pivot("question", index="model", values=name, sort_columns=True)
        .sort("model")
        .drop_nulls()
        .drop("model")
        .to_numpy()
        for name in ("rate", "trials")
    )
    if not repeated.height:
        return np.repeat(rate.mean(axis=0)[None], 2, axis=0)
    mean = rate.mean(axis=1, keepdims=True)
    noise = (rate * (1 - rate) / (n - 1)).mean(axis=1, keepdims=True)
    kept = 1 - noise / rate.var(axis=1, ddof=1, keepdims=True)
    return mean + np.sqrt(np.clip(kept, 0, 1)) * (rate - mean)


def board_power(logs: int = 100) -> Iterator[Cell]:
    """Power at the difference of a plan, by pairs of models and questions of public boards."""
    pools = {name: board_rates(name) for name in ("livecodebench", "terminal_bench", "swe_bench")}
    designs = ((0.4, 0.5), (0.6, 0.6), (0.7, 0.65))
    for (questions, n), (spread, like) in product(
        ((100, 1), (100, 4), (200, 4), (500, 1), (500, 4)), designs
    ):
        design: Cell = {"spread": spread, "correlation": like}
        difference = ps.detectable_difference(questions, n, **design)["difference"].item()
        for name, pool in pools.items():
            rng = np.random.default_rng([50, questions, n])
            pairs = np.stack([rng.permutation(len(pool))[:2] for _ in range(logs)])
            asked = rng.integers(0, pool.shape[1], (logs, 1, questions))
            means = np.array([0.5 + difference / 2, 0.5 - difference / 2])
            rates = moved_to_mean(pool[pairs[:, :, None], asked], np.tile(means, (logs, 1)))
            rows = counted(n, rng.binomial(n, rates)).compare(ps.avg(), simultaneous=False)
            found = (rows["better"] == 0).fill_null(value=False).mean()
            cell: Cell = {"board": name, "questions": questions, "n": n}
            yield cell | design | {"difference": difference, "logs": logs, "power": found}


def lenient_judge(logs: int = 100) -> Iterator[Cell]:
    """Whether uncorrected intervals hold if a judge calls a few of the wrong answers right."""
    for questions, n in product((30, 100, 500), (1, 4, 16)):
        for name, population in POPULATIONS.items():
            rng = np.random.default_rng([46, questions, n])
            rates = population(rng, (logs, 1, questions))
            verdicts = rng.binomial(n, rates + LENIENT * (1 - rates))
            rows = counted(n, verdicts).avg().sort("stratum")
            truth = rates[:, 0].mean(axis=1)
            held = ((rows["lo"] <= truth) & (rows["hi"] >= truth)).mean()
            cell: Cell = {"population": name, "questions": questions, "n": n}
            yield cell | {"logs": logs, "held": held}


def favoured_model(logs: int = 100) -> Iterator[Cell]:
    """False winners of two equal models if the judge spares one; labels are from elsewhere."""
    for questions, n in product((30, 100, 500), (1, 4, 16)):
        for name, population in POPULATIONS.items():
            rng = np.random.default_rng([46, questions, n])
            rates = population(rng, (logs, 1, questions))
            verdicts = [kept * rates + 0.2 * (1 - rates) for kept in (0.85, 0.9)]
            log = counted(n, rng.binomial(n, np.concatenate(verdicts, axis=1)))
            kept, spared = (int(rng.binomial(400, rate)) for rate in (0.85, 0.8))
            grader = ps.judge(sensitivity=(kept, 400), specificity=(spared, 400))
            pairs = log.frame.scorio(by="stratum", count="count", judge=grader).compare(
                simultaneous=False
            )
            false = pairs["better"].is_not_null().mean()
            cell: Cell = {"population": name, "questions": questions, "n": n}
            yield cell | {"logs": logs, "false": false}


def many_pairs(logs: int = 400) -> Iterator[Cell]:
    """Logs with a winner among ten equal models, each pair by itself or all pairs at once."""
    uniform = {"uniform": lambda rng, shape: rng.random(shape)}
    for name, population in {"same": POPULATIONS["same"], **uniform}.items():
        rng = np.random.default_rng(46)
        rates = np.repeat(population(rng, (logs, 1, 60)), 10, axis=1)
        log = counted(4, rng.binomial(4, rates))
        cell: Cell = {"rates": name, "logs": logs}
        for kind, together in (("each pair", False), ("all pairs", True)):
            pairs = log.compare(ps.avg(), simultaneous=together)
            wrong = pairs.filter(pl.col("better").is_not_null())["stratum"].n_unique()
            cell[kind] = wrong / logs
        yield cell


def every_round(logs: int = 200) -> Iterator[Cell]:
    """False winners of two equal models that are compared after each of 16 rounds."""
    rounds = 16
    for questions, (name, population) in product((30, 100), POPULATIONS.items()):
        rng = np.random.default_rng([46, questions])
        rates = np.repeat(population(rng, (logs, 1, questions)), 2, axis=1)
        successes = trials(rng, rates, rounds)
        wrong = {"peeking": np.zeros(logs, bool), "anytime": np.zeros(logs, bool)}
        for n in range(1, rounds + 1):
            log = counted(n, successes[n - 1])
            for kind, plan in (("peeking", None), ("anytime", rounds)):
                pairs = log.compare(planned_trials=plan, simultaneous=False).sort("stratum")
                wrong[kind] |= pairs["better"].is_not_null().to_numpy()
        shares = {kind: found.mean() for kind, found in wrong.items()}
        yield {"population": name, "questions": questions, "logs": logs, **shares}


def repeated_gate(logs: int = 100) -> Iterator[Cell]:
    """False passes and fails of gates exactly at the margin, asked after each of 16 rounds."""
    margin, rounds = 0.05, 16
    for questions, (name, population) in product((30, 100), POPULATIONS.items()):
        rng = np.random.default_rng([46, questions])
        rates = population(rng, (logs, 1, questions))
        both = np.concatenate([rates, lowered(rates, "avg", margin)], axis=1)
        successes = trials(rng, both, rounds)
        wrong = {
            f"{kind} {verdict}": np.zeros(logs, bool)
            for kind in ("peeking", "anytime")
            for verdict in ("pass", "fail")
        }
        for n in range(1, rounds + 1):
            log = counted(n, successes[n - 1])
            for kind, plan in (("peeking", None), ("anytime", rounds)):
                rows = log.gate(0, margin=margin, planned_trials=plan)
                rows = rows.filter(pl.col("stratum").is_not_null()).sort("stratum")
                for verdict in ("pass", "fail"):
                    now = (rows[f"pvalue_{verdict}"].fill_null(1) <= 0.05).to_numpy()
                    wrong[f"{kind} {verdict}"] |= now
        shares = {kind: found.mean() for kind, found in wrong.items()}
        yield {"population": name, "questions": questions, "logs": logs, **shares}


def unlike_runs(logs: int = 200) -> Iterator[Cell]:
    """Intervals and false winners if each run moves all questions by the same, in logits.

    `held`: the interval of a model by 8 runs has its mean over all runs that there could be.
    `points` is the standard deviation of the scores of runs that the shift makes. The winners are
    those of two equal models whose runs differ independently: by 16 runs, and at some of six looks.
    """
    normal, rounds = np.random.default_rng(47).standard_normal(2_000), 16
    for spread, questions in product((0.0, 0.1, 0.2), (30, 100, 500)):
        rng = np.random.default_rng([46, questions])
        places = logit(rng.random((logs, 1, questions)))
        shifted = [expit(places + spread * each).mean(axis=2) for each in normal]
        shifts = spread * rng.standard_normal((rounds, logs, 2, 1))
        hits = (rng.random((rounds, logs, 2, questions)) < expit(places + shifts)).cumsum(axis=0)
        rows = counted(8, hits[7]).avg().filter(model=0).sort("stratum")
        truth = np.mean(shifted, axis=0)[:, 0]
        looked = np.zeros(logs, bool)
        for n in (1, 2, 4, 8, 12, 16):
            pairs = (
                counted(n, hits[n - 1])
                .compare(planned_trials=rounds, simultaneous=False)
                .sort("stratum")
            )
            looked |= pairs["better"].is_not_null().to_numpy()
        once = counted(rounds, hits[-1]).compare(simultaneous=False)["better"].is_not_null()
        yield {
            "spread": spread,
            "points": 100 * np.std(shifted, axis=0).mean(),
            "questions": questions,
            "logs": logs,
            "held": ((rows["lo"] <= truth) & (rows["hi"] >= truth)).mean(),
            "one look": once.mean(),
            "anytime": looked.mean(),
        }


def reruns(logs: int = 400) -> Iterator[Cell]:
    """How often the difference of a log and its rerun stays within the noise floor of the log."""
    for (name, population), questions, n in product(
        FIRST_POPULATIONS.items(), (30, 60, 200), (1, 2, 4, 8)
    ):
        rng = np.random.default_rng([48, questions, n])
        rates = population(rng, (1, questions))
        old, new = (rng.binomial(n, rates, (logs, questions)) for _ in range(2))
        floors = counted(n, old[:, None]).reruns().sort("stratum")["noise_floor"].to_numpy()
        inside = np.abs(old.mean(axis=1) - new.mean(axis=1)) / n <= floors + 1e-12
        cell = {"population": name, "questions": questions, "n": n, "logs": logs}
        yield cell | {"inside": inside.mean()}


def crossing(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A model that is sure of half of the questions and lost on the others; and its base."""
    rates = np.where(rng.random(shape) < 0.5, 0.85, 0.002)
    rates[:, 1] = rng.uniform(0.1, 0.35, rates[:, 1].shape)
    return rates


# Rates of two models on each question, shape (logs, 2, questions), by the name of the pair.
CURVED: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "uniform": lambda rng, shape: np.repeat(rng.random((shape[0], 1, shape[2])), 2, axis=1),
    "hard": lambda rng, shape: np.repeat(rng.beta(0.3, 2, (shape[0], 1, shape[2])), 2, axis=1),
    "easy": lambda rng, shape: np.repeat(rng.beta(4, 0.4, (shape[0], 1, shape[2])), 2, axis=1),
    "rare": lambda rng, shape: np.repeat(
        np.where(rng.random((shape[0], 1, shape[2])) < 0.9, 0.003, 0.5), 2, axis=1
    ),
    "half": lambda _, shape: np.full(shape, 0.5),
    "independent": lambda rng, shape: rng.beta(0.6, 1, shape),
    "crossing": crossing,
    "crossing twice": lambda rng, shape: np.stack(
        [rng.beta(0.2, 0.3, (shape[0], shape[2])), np.full((shape[0], shape[2]), 0.3)], axis=1
    ),
}


def curves(logs: int = 400) -> Iterator[Cell]:
    """Whole curves of Pass@k, k = 1 to n: pairs and single models, coverage and false verdicts."""
    for n, questions, name in product((8, 16, 64), (30, 60, 200), CURVED):
        drawn = logs if n < 64 else logs // 4
        for target in ("benchmark", "population"):
            yield curve_cell(name, questions, n, target, drawn, seed=52)


def worst_curves(logs: int = 2000) -> Iterator[Cell]:
    """The eight settings of whole curves whose bands of differences held least, with other logs."""
    order = study_cells("curves").sort("band held", maintain_order=True)
    for row in order.head(8).select("pair", "questions", "n", "target").rows():
        yield curve_cell(*row, logs, seed=53)


def curve_cell(name: str, questions: int, n: int, target: str, logs: int, seed: int) -> Cell:
    """The shares of one setting, and what the setting is."""
    rng = np.random.default_rng([seed, n, questions])
    rates = CURVED[name](rng, (logs, 2, questions))
    everyone = CURVED[name](rng, (1, 2, 1_000_000))
    log = counted(n, rng.binomial(n, rates))
    of = rates if target == "benchmark" else everyone
    score = np.stack([(1 - (1 - of) ** k).mean(axis=2) for k in range(1, n + 1)], axis=2)
    if target == "population" and name not in {"crossing", "crossing twice"}:
        score = np.repeat(score.mean(axis=1, keepdims=True), 2, axis=1)
    score = np.broadcast_to(score, (logs, 2, n))
    cell: Cell = {"pair": name, "questions": questions, "n": n, "target": target, "logs": logs}
    return cell | curve_shares(log, ps.pass_at_k(range(1, n + 1)), target, score)


def curve_shares(log: ps.Scorio, metric: ps.Metric, target: str, score: Floats) -> Cell:
    """Shares of logs whose band holds, and with a false verdict or stretch; `score` (S, 2, K)."""
    truth = score[:, 0] - score[:, 1]
    found = {}
    for kind, together in (("alone", False), ("band", True)):
        rows = log.compare(metric, baseline=1, simultaneous=together, target=target)
        rows = rows.sort("stratum", "k")
        lo, hi = (rows[end].to_numpy().reshape(truth.shape) for end in ("lo", "hi"))
        near = 1e-9
        inside = (lo - near <= truth) & (truth <= hi + near)
        wrong = ((lo > 0) & (truth < near)) | ((hi < 0) & (truth > -near))
        found |= {f"{kind} held": inside.all(axis=1).mean()}
        found |= {f"{kind} false": wrong.any(axis=1).mean()}
    at_ends = rows.select("stratum", "gain_to", "loss_from").unique(maintain_order=True)
    k = np.arange(1, truth.shape[1] + 1)
    gain, loss = (
        at_ends[name].fill_null(0).to_numpy()[:, None] for name in ("gain_to", "loss_from")
    )
    wrong = ((k <= gain) & (truth < near)) | ((loss > 0) & (k >= loss) & (truth > -near))
    bands = log.report(metric, simultaneous=True, target=target).sort("stratum", "model", "k")
    lo, hi = (bands[end].to_numpy().reshape(score.shape) for end in ("lo", "hi"))
    inside = (lo - near <= score) & (score <= hi + near)
    return found | {
        "false stretch": wrong.any(axis=1).mean(),
        "model held": inside.all(axis=2).mean(),
    }


def many_curves(logs: int = 60) -> Iterator[Cell]:
    """Whole curves of five models, all pairs and k at once: coverage and false verdicts."""
    of_pairs = ("uniform", "hard", "easy", "rare", "half", "independent")
    for n, questions, name in product((8, 16), (30, 60, 200), of_pairs):
        yield many_curves_cell(name, questions, n, logs, seed=54)


def worst_many_curves(logs: int = 2000) -> Iterator[Cell]:
    """The eight settings of five curves whose intervals held least, with other logs."""
    order = study_cells("many_curves").sort("band held", maintain_order=True)
    for row in order.head(8).select("models", "questions", "n").rows():
        yield many_curves_cell(*row, logs, seed=55)


def many_curves_cell(name: str, questions: int, n: int, logs: int, seed: int) -> Cell:
    """The shares of one setting of five models, and what the setting is."""
    rng = np.random.default_rng([seed, n, questions])
    rates = CURVED[name](rng, (logs, 5, questions))
    if name not in {"half", "independent"}:
        rates = np.repeat(rates[:, :1], 5, axis=1)
    log = counted(n, rng.binomial(n, rates))
    metric = ps.pass_at_k(range(1, n + 1))
    score = np.stack([(1 - (1 - rates) ** k).mean(axis=2) for k in range(1, n + 1)], axis=2)
    cell: Cell = {"models": name, "questions": questions, "n": n, "logs": logs}
    for kind, together in (("alone", False), ("band", True)):
        rows = log.compare(metric, simultaneous=together)
        rows = rows.sort("stratum", "model_a", "model_b", "k")
        a, b = np.triu_indices(5, 1)
        truth = score[:, a] - score[:, b]
        lo, hi = (rows[end].to_numpy().reshape(truth.shape) for end in ("lo", "hi"))
        inside = (lo - 1e-9 <= truth) & (truth <= hi + 1e-9)
        wrong = ((lo > 0) & (truth < 1e-9)) | ((hi < 0) & (truth > -1e-9))
        cell[f"{kind} held"] = inside.all(axis=(1, 2)).mean()
        cell[f"{kind} false"] = wrong.any(axis=(1, 2)).mean()
    return cell


def flips(logs: int = 400) -> Iterator[Cell]:
    """Whether the interval of the share of questions that flip holds it, and its mean width."""
    for (name, population), questions, n in product(
        FIRST_POPULATIONS.items(), (30, 60, 200), (1, 2, 4, 8, 16)
    ):
        rng = np.random.default_rng([55, questions, n])
        rates = population(rng, (logs, questions))
        rows = counted(n, rng.binomial(n, rates)[:, None]).reruns().sort("stratum")
        truth = (2 * rates * (1 - rates)).mean(axis=1)
        lo, hi = (rows[f"flips_{end}"].to_numpy() for end in ("lo", "hi"))
        held = (lo - 1e-9 <= truth) & (truth <= hi + 1e-9)
        cell: Cell = {"population": name, "questions": questions, "n": n, "logs": logs}
        yield cell | {"held": held.mean(), "width": (hi - lo).mean()}


def tiers(logs: int = 100) -> Iterator[Cell]:
    """False claims of tiers, contradictions with ranks and the best, and the best in tier 1."""
    for models, questions, n, spread in product(
        (3, 8, 20), (60, 300), ("1", "4", "2 and 8"), ("equal", "spread")
    ):
        rng = np.random.default_rng([56, models, questions])
        ease = rng.normal(0, 1.5, (logs, 1, questions))
        ability = rng.normal(0, 0 if spread == "equal" else 0.75, (logs, models, 1))
        rates = expit(ability - ease)
        each = np.resize([2, 8] if n == "2 and 8" else [int(n)], models)
        stratum, model, question = np.indices(rates.shape).reshape(3, -1)
        won = rng.binomial(each[:, None], rates).ravel()
        columns = {"stratum": stratum, "model": model, "question": question, "n": each[model]}
        frame = ps.from_successes(pl.DataFrame(columns | {"c": won}))
        rows = frame.scorio(by="stratum", count="count").rank().sort("stratum", "model")
        shape, truth = (logs, models), rates.mean(axis=2)
        tier, first = (rows[name].to_numpy().reshape(shape) for name in ("tier", "rank_lo"))
        possible = rows["could_be_best"].to_numpy().reshape(shape)
        above = tier[:, None, :] == tier[:, :, None] - 1  # of each model, those of the tier above
        better = truth[:, None, :] > truth[:, :, None] + 1e-12
        false = (tier > 1) & ~(above & better).any(axis=2)
        against = ((tier == 1) != (first == 1)) | (tier > first) | (possible & (tier > 1))
        leads = truth >= truth.max(axis=1, keepdims=True) - 1e-12
        cell: Cell = {"models": models, "questions": questions, "n": n, "spread": spread}
        cell |= {"logs": logs, "false": false.any(axis=1).mean(), "against": against.sum()}
        cell["best first"] = (leads & (tier == 1)).any(axis=1).mean()
        yield cell | {"tiers": tier.max(axis=1).mean()}


def seeds(logs: int = 400) -> Iterator[Cell]:
    """False winners of two equal recipes with three seeds each, pooled and by their seeds."""
    for spread in (0.0, 0.1, 0.2, 0.35):
        rng = np.random.default_rng(53)
        shape = (logs, 2, 3, 100, 4)  # recipes, seeds, questions, trials
        shift = rng.normal(0, spread, shape[:3])[..., None, None]
        difficulty = rng.normal(0, 1.5, (logs, 1, 1, 100, 1))
        won = rng.random(shape) < expit(shift - difficulty)
        stratum, model, seed, question, trial = np.indices(shape).reshape(5, -1)
        columns = {"stratum": stratum, "model": model, "seed": seed, "question": question}
        log = pl.DataFrame(columns | {"trial": 4 * seed + trial, "category": won.ravel()})
        pooled = log.scorio(by="stratum", run_effects="none").compare(simultaneous=False)
        named = log.scorio(by="stratum", run="seed").compare(simultaneous=False)
        shares = {
            kind: 1 - rows["better"].null_count() / logs
            for kind, rows in (("pooled", pooled), ("by seeds", named))
        }
        yield {"spread": spread, "logs": logs} | shares


def errored(logs: int = 100) -> Iterator[Cell]:
    """Whether scores and verdicts hold if trials errored: as a bracket, dropped, or as failed."""
    for name, questions, n, share, strikes in product(
        ("same", "even", "Beta(.3, .3)"), (30, 100), (4, 8), (0.01, 0.05, 0.2),
        ("blindly", "failures", "solved"),
    ):  # fmt: skip
        rng = np.random.default_rng([54, questions, n])
        rates = POPULATIONS[name](rng, (logs, 1, questions)).repeat(2, axis=1)
        won = rng.random((*rates.shape, n)) < rates[..., None]
        # Errors strike the second model alone; of one outcome they are as many on average.
        rate = {"blindly": share, "failures": share * ~won, "solved": share * won}[strikes]
        struck = {"blindly": 1.0, "failures": (~won).mean(), "solved": won.mean()}[strikes]
        lost = rng.random(won.shape) < np.minimum(rate / max(struck, share), 1)
        lost[:, 0] = False
        stratum, model, question, _ = np.indices(won.shape).reshape(4, -1)
        keys = {"stratum": stratum, "model": model, "question": question}
        outcome = pl.Series(won.ravel()).set(pl.Series(lost.ravel()), None)
        frame = pl.DataFrame(keys | {"category": outcome})
        cell: Cell = {"population": name, "questions": questions, "n": n, "share": share}
        cell |= {"strikes": strikes, "logs": logs}
        for kind, missing in (("bracket", "bounds"), ("dropped", "drop"), ("failed", False)):
            log = frame.scorio(by="stratum", trial=None, missing=missing, unscored="drop"
                               if missing == "drop" else "error")  # fmt: skip
            rows = log.report(ps.avg()).filter(model=1).sort("stratum")
            truth = rates[:, 1].mean(axis=1)
            lo, hi = (rows[end].to_numpy() for end in ("lo", "hi"))
            cell[f"{kind} held"] = ((lo - 1e-9 <= truth) & (truth <= hi + 1e-9)).mean()
            pairs = log.compare(
                unmatched="drop" if missing == "drop" else "error", simultaneous=False
            )
            cell[f"{kind} false"] = 1 - pairs["better"].null_count() / logs
        yield cell


def plain_errors(logs: int = 2_000) -> Iterator[Cell]:
    """How often the mean score plus and minus 1.96 standard errors holds the true score.

    The standard error is that of the means of questions, for a benchmark whose questions are a
    sample. `shut`: logs in which it is zero, so that the interval is a point.
    """
    for (name, population), questions, n in product(
        FIRST_POPULATIONS.items(), (20, 60, 200), (1, 4, 16)
    ):
        rng = np.random.default_rng([49, questions, n])
        truth = population(rng, (SIZE_OF_POPULATION,)).mean()
        means = rng.binomial(n, population(rng, (logs, questions))) / n
        away = 1.96 * means.std(axis=1, ddof=1) / np.sqrt(questions)
        held = np.abs(means.mean(axis=1) - truth) <= away
        cell = {"population": name, "questions": questions, "n": n, "logs": logs}
        yield cell | {"held": held.mean(), "shut": (away == 0).mean()}


def normal_scores(models: int, spread: float, logs: int) -> tuple[np.random.Generator, Floats]:
    """Generator, and true scores of models in units of the error of their estimates."""
    rng = np.random.default_rng([46, models])
    return rng, spread * rng.standard_normal((logs, models))


def prob_best(logs: int = 6000) -> Iterator[Cell]:
    """The chance of the leader to be the best, said and true; the last row: one model ahead."""
    for models in (2, 3, 4, 5, 10, 50):
        for spread in (0, 1 / 3, 0.5, 0.7, 1, 1.5, 2, 3, 4):
            used = logs if models < 50 else logs // 6
            rng, truth = normal_scores(models, spread, used)
            cell: Cell = {"models": models, "spread": spread, "logs": used}
            yield cell | leader_chances(rng, truth)
    rng, truth = normal_scores(10, 0, logs)
    truth[:, 0] = 2
    yield {"models": 10, "spread": None, "logs": logs} | leader_chances(rng, truth)


def leader_chances(rng: np.random.Generator, truth: Floats) -> Cell:
    """What `prob_best` says of the leaders on average, and how often they are the best."""
    mean, row = truth + rng.standard_normal(truth.shape), np.arange(len(truth))[:, None]
    said = leading_chances(mean, [mean], lambda a, b: (mean[row, a] - mean[row, b]) / np.sqrt(2))
    best = truth == truth.max(axis=1, keepdims=True)
    leader = mean.argmax(axis=1)[:, None]
    names = {"said": said, "best": best / best.sum(axis=1, keepdims=True)}
    return {name: np.take_along_axis(of, leader, 1).mean() for name, of in names.items()}


def board_best(logs: int = 2_000) -> Iterator[Cell]:
    """The chance of the leader, and of the better of two, on questions drawn from public boards.

    SWE-bench has one run of a model: its outcomes are drawn once. Versions are one model of
    LiveCodeBench, moved by logits of spread .1; saturated ones fail at most .06 times as often.
    """
    coding = board_rates("livecodebench")
    draw = np.random.default_rng(51)
    versions = expit(logit(coding[:1].clip(0.01, 0.99)) + draw.normal(0, 0.1, (6, 1)))
    saturated = 1 - (1 - coding[:1]) * draw.uniform(0, 0.06, (10, 1))
    pools = {
        "LiveCodeBench": coding,
        "versions of one model": versions,
        "saturated": saturated,
        "SWE-bench": board_outcomes("swe_bench"),
    }
    for (name, pool), (questions, rounds) in product(pools.items(), ((40, 1), (150, 2), (100, 4))):
        n = 1 if name == "SWE-bench" else rounds
        rng = np.random.default_rng([51, questions, rounds, *name.encode()])
        asked = rng.integers(0, pool.shape[1], (logs, questions))
        rates = pool[:, asked].swapaxes(0, 1)
        truth = rates.mean(axis=2)
        log = counted(n, rng.binomial(n, rates))
        rows = log.rank(ps.avg()).sort("stratum", "model")
        said = rows["prob_best"].to_numpy().reshape(truth.shape)
        best = truth >= truth.max(axis=1, keepdims=True) - 1e-12
        best = best / best.sum(axis=1, keepdims=True)
        leads = said >= said.max(axis=1, keepdims=True) - 1e-9  # several if outcomes are equal
        pairs = log.compare(ps.avg(), simultaneous=False).select(
            "stratum", "model_a", "model_b", "prob_better"
        )
        row, a, b = (pairs[key].to_numpy() for key in ("stratum", "model_a", "model_b"))
        chance, gap = pairs["prob_better"].to_numpy(), truth[row, a] - truth[row, b]
        right = np.where(gap == 0, 0.5, (gap > 0) == (chance > 0.5))
        cell: Cell = {"board": name, "models": len(pool), "questions": questions, "n": n}
        cell |= {"logs": logs, "said": said.max(axis=1).mean()}
        cell["best"] = ((best * leads).sum(axis=1) / leads.sum(axis=1)).mean()
        cell["brier"] = ((said - best) ** 2).sum(axis=1).mean()
        yield cell | {"pair said": np.maximum(chance, 1 - chance).mean(), "pair": right.mean()}


def board_outcomes(board: str) -> Floats:
    """Outcomes of the models of a public board that was run once, shape (models, questions)."""
    counts = pl.read_parquet(Path(BOARDS, f"{board}.parquet"))
    wide = counts.pivot("question", index="model", values="successes", sort_columns=True)
    return wide.drop_nulls().drop("model").to_numpy().astype(float)


def planned_pairs(logs: int = 20_000) -> Iterator[Cell]:
    """Undecided neighbours in a ranking: are they told apart by the trials that were planned?

    "as seen" are plans that take no part of today's difference for luck.
    """
    for models, spread in product((2, 5, 10), (0.3, 0.7, 1.0, 2.0, 3.0)):
        rng, truth = normal_scores(models, spread, logs)
        mean = truth + rng.standard_normal(truth.shape)
        order = np.argsort(-mean, axis=1)
        now, true = (-np.diff(np.take_along_axis(of, order, 1)).ravel() for of in (mean, truth))
        share = np.repeat(signal_share(mean, np.ones_like(mean)), models - 1)
        undecided = now < CRITICAL * np.sqrt(2)
        now, true, share = now[undecided], true[undecided], share[undecided]
        cell: Cell = {"models": models, "spread": spread, "logs": logs}
        for kind, kept in (("told apart", share), ("as seen", 1.0)):
            most = 1_000_000
            extra = trials_with_assurance(now, sigma_after, CRITICAL, kept, GOAL, most)
            planned = (extra > 0) & (extra <= most)
            m = extra[planned]
            further = true[planned] + np.sqrt(2 * NOW / m) * rng.standard_normal(m.size)
            difference = (NOW * now[planned] + m * further) / (NOW + m)
            cell[kind] = (np.abs(difference) > CRITICAL * sigma_after(m)).mean()
        yield cell


def sigma_after(extra: Floats) -> Floats:
    """Sigma of the difference of two models after further trials; today that of a model is 1."""
    return np.sqrt(2 * NOW / (NOW + extra))


def heavy_costs(logs: int = 1000) -> Iterator[Cell]:
    """Coverage of intervals of costs where one trial has more than a fifth of the cost."""
    for sd, questions, n, target in product(
        (1.5, 2.0, 2.5), (10, 30, 60), (1, 4), ("benchmark", "population")
    ):
        rng = np.random.default_rng([37, questions, n])
        level = rng.normal(0, 0.5, (logs, questions, 1))
        cost = np.exp(level + rng.normal(0, sd, (logs, questions, n)))
        expected = np.exp(level[..., 0] + sd**2 / 2)
        everyone = np.exp(0.5**2 / 2 + sd**2 / 2)
        truth = expected.mean(axis=1) if target == "benchmark" else np.full(logs, everyone)
        stratum, question, _ = np.indices(cost.shape).reshape(3, -1)
        columns = {"stratum": stratum, "question": question, "category": 1, "usd": cost.ravel()}
        log = pl.DataFrame(columns).scorio(by="stratum", model=None, trial=None, cost="usd")
        rows = log.report(ps.mean_cost(), target=target).sort("stratum")
        inside = ((rows["lo"] <= truth) & (rows["hi"] >= truth)).to_numpy()
        heavy = cost.max(axis=(1, 2)) > HEAVY * cost.sum(axis=(1, 2))
        cell: Cell = {"sd": sd, "questions": questions, "n": n, "target": target}
        yield cell | {"heavy": int(heavy.sum()), "held": inside[heavy].mean(), "all": inside.mean()}


# Costs of trials of a question whose mean is 1: their names in the guide.
TAILS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    **{
        f"lognormal, sd {sd:g}": (
            lambda rng, shape, sd=sd: np.exp(rng.normal(-(sd**2) / 2, sd, shape))
        )
        for sd in (0.5, 1.0, 1.5, 2.0)
    },
    "gamma, shape .5": lambda rng, shape: rng.gamma(0.5, 2, shape),
    "Pareto, power 2.5": lambda rng, shape: 0.6 * (rng.pareto(2.5, shape) + 1),
    "normal, 30 % cached": lambda rng, shape: (
        np.where(rng.random(shape) < 0.3, 0.1, rng.normal(1, 0.2, shape).clip(0.2)) / 0.73
    ),
    "5 % fifty times as dear": lambda rng, shape: (
        np.where(rng.random(shape) < 0.05, 50.0, 1.0) * np.exp(rng.normal(-0.02, 0.2, shape)) / 3.45
    ),
    "Pareto, power 1.5": lambda rng, shape: (rng.pareto(1.5, shape) + 1) / 3,
}


def cost_tails(logs: int = 200) -> Iterator[Cell]:
    """Coverage and width of intervals of costs, by the tail of the costs of trials."""
    for name, questions, n in product(TAILS, (30, 100, 500), (1, 4)):
        yield from costs_of_tail(name, questions, n, logs)


def worst_tails(logs: int = 2_000) -> Iterator[Cell]:
    """The setting of `cost_tails` with the lowest coverage of each tail, with other logs."""
    cells = study_cells("cost_tails").sort("held", maintain_order=True)
    for worst in cells.unique("costs", keep="first", maintain_order=True).iter_rows(named=True):
        again = costs_of_tail(worst["costs"], worst["questions"], worst["n"], logs)
        yield from (
            cell for cell in again if all(cell[key] == worst[key] for key in ("target", "metric"))
        )


def costs_of_tail(name: str, questions: int, n: int, logs: int) -> Iterator[Cell]:
    """Coverage of two metrics of costs and two targets, where trials cost as `name` says."""
    rng = np.random.default_rng([50, questions, n, *name.encode(), *[logs] * (logs > 200)])
    level, rate = np.exp(rng.normal(0, 0.5, (logs, questions))), rng.beta(4, 2, (logs, questions))
    cost = level[..., None] * TAILS[name](rng, (logs, questions, n))
    won = rng.random(cost.shape) < rate[..., None]
    stratum, question, _ = np.indices(cost.shape).reshape(3, -1)
    columns = {"stratum": stratum, "question": question, "category": won.ravel()}
    frame = pl.DataFrame(columns | {"usd": cost.ravel()})
    log = frame.scorio(by="stratum", model=None, trial=None, cost="usd")
    for target, metric in product(
        ("benchmark", "population"), (ps.mean_cost(), ps.cost_per_success())
    ):
        rows = log.report(metric, target=target).sort("stratum")
        spent, solved = level.mean(axis=1), rate.mean(axis=1)
        if target == "population":  # the mean cost of a trial of all questions
            spent, solved = np.full(logs, np.exp(0.5**2 / 2)), np.full(logs, 2 / 3)
        truth = spent / solved if metric.name == "cost_per_success" else spent
        lo, hi = (rows[end].fill_null(np.inf).to_numpy() for end in ("lo", "hi"))
        cell: Cell = {"costs": name, "questions": questions, "n": n, "target": target}
        cell |= {
            "metric": metric.name,
            "logs": logs,
            "held": ((lo <= truth) & (truth <= hi)).mean(),
        }
        yield cell | {"above": (truth > hi).mean(), "factor": np.median(hi / lo)}


STUDIES: dict[str, Callable[[], Iterator[Cell]]] = {
    study.__name__: study
    for study in (
        each_gate,
        best_of_many,
        power,
        default_power,
        board_power,
        heavy_costs,
        cost_tails,
        worst_tails,
        board_best,
        lenient_judge,
        favoured_model,
        many_pairs,
        every_round,
        repeated_gate,
        unlike_runs,
        reruns,
        curves,
        worst_curves,
        many_curves,
        worst_many_curves,
        flips,
        tiers,
        seeds,
        errored,
        plain_errors,
        prob_best,
        planned_pairs,
    )
}


def study_cells(study: str) -> pl.DataFrame:
    """The cells of a study as they were measured."""
    return pl.read_csv(KEPT / f"{study}.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    asked = parser.parse_args().study
    warnings.simplefilter("ignore", ps.CostWarning)
    warnings.simplefilter("ignore", ps.JudgeWarning)  # a log without a number has no winner
    pl.DataFrame(list(STUDIES[asked]())).write_csv(KEPT / f"{asked}.csv", float_precision=4)
