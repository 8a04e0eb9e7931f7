"""Do intervals and winners hold where runs differ, and which faults does `check` find?

``python -m examples.validation.run_effects intervals`` (or another of `STUDIES`) simulates
``--logs 200`` logs a cell, and prints a row for each as CSV; `single_claims` keeps them. Runs move
the logits of all questions by a normal number; the score in other runs like these is the truth.
The logs of a cell are strata of one frame, each judged by itself, except in studies of checks.
"""

import argparse
import itertools
import sys
import warnings
from functools import cache, partial

import numpy as np
import polars as pl
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq
from scipy.special import expit, logit

import polars_scorio as ps
from examples.validation.single_claims import board_rates

known_rates = cache(board_rates)  # (models, questions) of a public board
WAYS = {"these": {}, "named": {"run": "trial"}}
NODES, MASSES = hermegauss(21)
MASSES = MASSES / MASSES.sum()


def guessed(rng, shape):
    """Rates with a floor of a quarter, as of four choices."""
    return 0.25 + 0.75 * rng.beta(0.5, 0.5, shape)


def drawn_rates(population, rng, questions):
    """Success rates of questions like those of a board, or with a floor."""
    if population == "guess":
        rates = guessed(rng, questions)
    else:
        board = known_rates(population)
        rates = rng.choice(board[rng.integers(len(board))], questions)
    return np.clip(rates, 1e-3, 1 - 1e-3)


def spread_of_logits(rates, points):
    """The standard deviation of logits that moves the score by so many points."""
    return points / 100 / (rates * (1 - rates)).mean()


def outcomes(rng, rates, spread, runs):
    """Outcomes (questions, runs) whose runs move all questions."""
    moved = logit(rates)[:, None] + spread * rng.standard_normal(runs)
    return rng.random((rates.size, runs)) < expit(moved)


def log_of(models, present=None):
    """A row for each trial; `models` has outcomes (questions, runs) by name."""
    frames = []
    for name, own in models.items():
        question, trial = np.indices(own.shape)
        columns = {"question": question, "trial": trial, "category": own.astype(np.int8)}
        frame = pl.DataFrame({key: values.ravel() for key, values in columns.items()})
        kept = None if present is None or name not in present else present[name].ravel()
        frames.append(frame.select(pl.lit(name).alias("model"), pl.all()))
        if kept is not None:
            frames[-1] = frames[-1].filter(pl.Series(kept))
    return pl.concat(frames)


def stacked(logs, presents=None):
    """The rows of logs, each a dict of the outcomes of models, numbered in the column log."""
    parts = zip(logs, presents or [None] * len(logs), strict=True)
    return pl.concat(log_of(*part).with_columns(log=place) for place, part in enumerate(parts))


def logs_with_winner(pairs):
    """Number of logs in which some model is called better."""
    return pairs.filter(pl.col("better").is_not_null())["log"].n_unique()


def truths(rates, spread, runs):
    """Scores of trials that come from runs of their own."""
    p = expit(logit(rates)[:, None] + spread * NODES) @ MASSES
    return [p.mean(), (1 - (1 - p) ** 2).mean(), (p**runs).mean()]


def intervals(logs, chosen, seed):
    """Coverage of the scores of five models by way."""
    cells = itertools.product(
        (4, 3, 8), (0, 3, 1, 2), (100, 300),
        ("livecodebench", "terminal_bench", "swe_bench", "guess"),
    )  # fmt: skip
    print("population,questions,runs,points,way,models,metric,logs,held,width")
    for number, (runs, points, questions, population) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([7, number, seed])
        metrics = ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(runs)
        parts, true = [], []
        for _ in range(logs):
            models = {}
            for name in "abcde":
                rates = drawn_rates(population, rng, questions)
                spread = spread_of_logits(rates, points)
                models[name] = outcomes(rng, rates, spread, runs)
                true.append(truths(rates, spread, runs))
            parts.append(models)
        log, truth = stacked(parts), np.reshape(true, (logs, 5, 3))
        for way, roles in WAYS.items():
            rows = log.scorio(by="log", **roles).report(*metrics)
            ends = rows.select("lo", "hi").to_numpy().reshape(logs, 5, 3, 2)
            held = (ends[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[..., 1])
            shares = held.mean(axis=(0, 1)), (ends[..., 1] - ends[..., 0]).mean(axis=(0, 1))
            for metric, own, wide in zip(("avg", "pass@2", "pass^R"), *shares, strict=True):
                cell = population, questions, runs, points, way, 5, metric, logs
                print(*cell, f"{own:.4f}", f"{wide:.4f}", sep=",", flush=True)


def decisions(logs, chosen, seed):
    """Some winner among equal models, and their widths, by way."""
    cells = itertools.product(
        ("benchmark", "population"), (5, 2, 10), ((300, 4), (300, 3), (100, 8)), (0, 3, 1, 2)
    )
    print("models,questions,runs,points,target,way,logs,false_winner,width")
    for number, (target, models, (questions, runs), points) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([11, number, seed])
        parts = []
        for _ in range(logs):
            rates = drawn_rates("livecodebench", rng, questions)
            spread = spread_of_logits(rates, points)
            own = (outcomes(rng, rates, spread, runs) for _ in range(models))
            parts.append({f"m{i}": each for i, each in enumerate(own)})
        log = stacked(parts)
        for way, roles in WAYS.items():
            pairs = log.scorio(by="log", target=target, **roles).compare(simultaneous=True)
            width = (pairs["hi"] - pairs["lo"]).mean()
            won = logs_with_winner(pairs) / logs
            cell = models, questions, runs, points, target, way, logs
            print(*cell, f"{won:.4f}", f"{width:.4f}", sep=",", flush=True)


ALIKE = {"alike": {"run": "trial", "run_effects": "alike"}}


def worse_rates(rates, points, gap):
    """Rates of a model whose score in other runs is lower by a gap."""
    spread = spread_of_logits(rates, points)
    whole = truths(rates, spread, 1)[0]

    def excess(shift):
        return whole - gap - truths(expit(logit(rates) - shift), spread, 1)[0]

    return expit(logit(rates) - brentq(excess, 0, 20))


def gates(logs, chosen, seed):
    """Candidates that are worse by just the margin, and pass, by way (nominal .05)."""
    cells = itertools.product(
        ("livecodebench", "terminal_bench"), ((300, 4), (100, 8)), (0, 1, 2, 3)
    )
    print("population,questions,runs,points,way,logs,false_pass")
    for number, (population, (questions, runs), points) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([17, number, seed])
        parts = []
        for _ in range(logs):
            rates = 0.1 + 0.89 * drawn_rates(population, rng, questions)
            spread, worse = spread_of_logits(rates, points), worse_rates(rates, points, 0.05)
            models = {"old": rates, "new": worse}
            parts.append({name: outcomes(rng, own, spread, runs) for name, own in models.items()})
        log = stacked(parts)
        for way, roles in WAYS.items():
            rows = log.scorio(by="log", **roles).gate("old", margin=0.05).drop_nulls("log")
            passed = (rows["pvalue_pass"].fill_null(1) <= 0.05).mean()
            cell = population, questions, runs, points, way, logs
            print(*cell, f"{passed:.4f}", sep=",", flush=True)


def looks(logs, chosen, seed):
    """Some winner of two equal models at some look after 2, 3, 4, 6, 8, 12 and 16 runs."""
    cells = itertools.product((("livecodebench", 300), ("terminal_bench", 80)), (0, 1, 2, 3))
    print("population,questions,points,way,logs,false_winner")
    for number, ((population, questions), points) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([19, number, seed])
        parts = []
        for _ in range(logs):
            rates = drawn_rates(population, rng, questions)
            spread = spread_of_logits(rates, points)
            parts.append({name: outcomes(rng, rates, spread, 16) for name in "ab"})
        log = stacked(parts)
        for way, roles in WAYS.items():
            found = [
                log.filter(pl.col("trial") < look)
                .scorio(by="log", **roles)
                .compare(planned_trials=16)
                for look in (2, 3, 4, 6, 8, 12, 16)
            ]
            cell = population, questions, points, way, logs
            print(*cell, f"{logs_with_winner(pl.concat(found)) / logs:.4f}", sep=",", flush=True)


def power(logs, chosen, seed):
    """Pairs that are told apart if one of five models is six points ahead, and false winners."""
    cells = itertools.product(((300, 4), (300, 3), (100, 8)), (0, 1, 2))
    print("questions,runs,points,way,logs,found,false_winner")
    for number, ((questions, runs), points) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([23, number, seed])
        parts = []
        for _ in range(logs):
            rates = 0.1 + 0.89 * drawn_rates("livecodebench", rng, questions)
            spread, worse = spread_of_logits(rates, points), worse_rates(rates, points, 0.06)
            models = {name: rates if name == "a" else worse for name in "abcde"}
            parts.append({name: outcomes(rng, own, spread, runs) for name, own in models.items()})
        log = stacked(parts)
        for way, roles in (WAYS | ALIKE).items():
            pairs = log.scorio(by="log", **roles).compare(simultaneous=True)
            found = pairs.filter(model_a="a")["better"].eq_missing("a").mean()
            false = logs_with_winner(pairs.filter(pl.col("model_a") != "a")) / logs
            cell = questions, runs, points, way, logs
            print(*cell, f"{found:.4f}", f"{false:.4f}", sep=",", flush=True)


def as_they_are(rng, rates, runs):
    """Outcomes without a fault, and all of them are there."""
    fair = outcomes(rng, rates, 0.0, runs)
    return fair, np.ones_like(fair)


def copied(rng, rates, runs, first, second):
    """Some runs, `second`, are copies of others."""
    fair, here = as_they_are(rng, rates, runs)
    fair[:, second] = fair[:, first]
    return fair, here


def with_failures(rng, rates, runs):
    """A run loses 30 % of its successes."""
    fair, here = as_they_are(rng, rates, runs)
    fair[:, 1] &= rng.random(rates.size) > 0.3
    return fair, here


def with_shifts(rng, rates, runs, *, drift):
    """Runs are 3 points apart, or fall by 10 points from the first to the last."""
    fair, here = as_they_are(rng, rates, runs)
    if not drift:
        return outcomes(rng, rates, spread_of_logits(rates, 3), runs), here
    slope = spread_of_logits(rates, 10) * np.linspace(0.5, -0.5, runs)
    return rng.random(fair.shape) < expit(logit(rates)[:, None] + slope), here


def sorted_by_outcome(rng, rates, runs):
    """Successes come first."""
    fair, here = as_they_are(rng, rates, runs)
    return -np.sort(-fair.astype(int), axis=1) > 0, here


def with_lost(rng, rates, runs, lost):
    """Trials that are not there: `lost` says it of outcomes, rates and random numbers."""
    fair, here = as_they_are(rng, rates, runs)
    return fair, here & ~lost(fair, rates, rng)


def later(shape, first):
    """Trials from the `first` on."""
    return np.broadcast_to(np.arange(shape[1]) >= first, shape)


def until_success(fair, *_):
    """Trials after a success of the question."""
    return np.cumsum(fair, axis=1) - fair > 0


# The check that should raise the alarm, and the outcomes; None: there is no fault.
FAULTS = {
    "none": (None, as_they_are),
    "5 % lost": (
        None, partial(with_lost, lost=lambda fair, _, rng: rng.random(fair.shape) <= 0.05)
    ),
    "easy half 2 trials": (None, partial(with_lost, lost=lambda fair, rates, _: (
        later(fair.shape, 2) & (rates >= np.median(rates))[:, None]
    ))),
    "all copies": ("mixed", partial(copied, first=[0], second=slice(None))),
    "each twice": ("copies", partial(copied, first=slice(0, None, 2), second=slice(1, None, 2))),
    "one run copied": ("copies", partial(copied, first=0, second=-1)),
    "30 % of a run fails": ("runs", with_failures),
    "runs 3 points apart": ("runs", partial(with_shifts, drift=False)),
    "drift of 10 points": ("runs", partial(with_shifts, drift=True)),
    "sorted by outcome": ("runs", sorted_by_outcome),
    "two trials more if they disagree": ("stopping", partial(with_lost, lost=lambda fair, *_: (
        later(fair.shape, 2) & (fair[:, 0] == fair[:, 1])[:, None]
    ))),
    "until a success": ("stopping", partial(with_lost, lost=until_success)),
}  # fmt: skip


_KINDS = {"order": "stopping"}  # checks that find one fault


def faults(logs, chosen, seed):
    """Alarms for one of three models that has a fault, and for the other two."""
    boards = ("livecodebench", "swe_bench", "terminal_bench", "guess")
    cells = itertools.product(FAULTS, ((100, 8), (300, 4)), boards)
    print("fault,questions,runs,population,logs,found,other_check,other_model")
    for number, (fault, (questions, runs), population) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([13, number, seed])
        seen, check = np.zeros(3), FAULTS[fault][0]
        for _ in range(logs):
            models, present = {}, {}
            for name in "abc":
                rates = drawn_rates(population, rng, questions)
                kind = fault if name == "a" or check is None else "none"
                models[name], present[name] = FAULTS[kind][1](rng, rates, runs)
            rows = log_of(models, present).scorio.check()
            said = rows.filter(pl.col("verdict").is_in(["alarm", "note"]))
            own = {_KINDS.get(each, each) for each in said.filter(model="a")["check"]}
            seen += [
                check in own,
                bool(own - {check}),
                said.filter(pl.col("model") != "a").height > 0,
            ]
        cell = fault, questions, runs, population, logs
        print(*cell, *(f"{each:.4f}" for each in seen / logs), sep=",", flush=True)


def honest(logs, chosen, seed):
    """Logs without a fault in which a check gives an alarm, or notes that no outcome changed."""
    fair = [fault for fault, (check, _) in FAULTS.items() if check is None]
    boards = ("livecodebench", "swe_bench", "terminal_bench", "guess")
    cells = itertools.product(fair, ((100, 8), (300, 4)), boards)
    print("design,questions,runs,population,logs,alarm,stopping,note")
    for number, (design, (questions, runs), population) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([29, number, seed])
        seen = np.zeros(3)
        for _ in range(logs):
            models, present = {}, {}
            for name in "abc":
                rates = drawn_rates(population, rng, questions)
                models[name], present[name] = FAULTS[design][1](rng, rates, runs)
            rows = log_of(models, present).scorio.check()
            alarms = {_KINDS.get(each, each) for each in rows.filter(verdict="alarm")["check"]}
            seen += [bool(alarms), "stopping" in alarms, "note" in rows["verdict"]]
        cell = design, questions, runs, population, logs
        print(*cell, *(f"{each:.4f}" for each in seen / logs), sep=",", flush=True)


def kept_faults(logs, chosen, seed):
    """Coverage, and winners of three equal models, with a fault in all; and of first trials."""
    faulty = [
        fault for fault, (check, _) in FAULTS.items() if check in {"mixed", "copies", "stopping"}
    ]
    boards = ("livecodebench", "swe_bench", "terminal_bench")
    cells = itertools.product(faulty, ((100, 8), (300, 4)), boards)
    print("fault,questions,runs,population,way,logs,avg,pass@2,false_winner,width")
    for number, (fault, (questions, runs), population) in enumerate(cells):
        if chosen and number not in chosen:
            continue
        rng = np.random.default_rng([31, number, seed])
        parts, presents, true = [], [], []
        for _ in range(logs):
            rates, models, present = drawn_rates(population, rng, questions), {}, {}
            for name in "abc":
                models[name], present[name] = FAULTS[fault][1](rng, rates, runs)
            parts.append(models)
            presents.append(present)
            true.append(truths(rates, 0.0, 1)[:2])
        log, truth = stacked(parts, presents), np.reshape(true, (logs, 1, 2))
        for way in ("all", *["first"] * (fault == "until a success")):
            asked = log.scorio(by="log", first=1 if way == "first" else None)
            rows = asked.report(ps.avg(), ps.pass_at_k(2))
            lo, hi = (rows[end].to_numpy().reshape(logs, 3, 2) for end in ("lo", "hi"))
            held = ((lo <= truth + 1e-12) & (truth - 1e-12 <= hi)).mean(axis=(0, 1))
            won = logs_with_winner(asked.compare(simultaneous=True)) / logs
            cell = fault, questions, runs, population, way, logs
            shares = (f"{share:.4f}" for share in (*held, won, (hi - lo)[..., 0].mean()))
            print(*cell, *shares, sep=",", flush=True)


STUDIES = [intervals, decisions, gates, looks, power, honest, faults, kept_faults]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=[study.__name__ for study in STUDIES])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--cells", type=int, nargs="*", help="places of single cells")
    parser.add_argument("--seed", type=int, default=0, help="other logs")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ps.RunWarning)
    warnings.simplefilter("ignore", ps.CheckWarning)
    getattr(sys.modules[__name__], given.study)(given.logs, set(given.cells or ()), given.seed)
