"""What questions() finds, how rarely it accuses a good question, and what it costs.

Run: python examples/validation/questions.py TABLE (--help names them)
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
from scipy.special import expit

import polars_scorio as ps

WORLDS, QUESTIONS = 60, 300
REVERSED, SILENT = 0.03, 0.3  # shares of questions with a wrong key, and of those that tell nothing
MODELS, TRIALS = (4, 8, 15, 25, 60), (1, 4, 16)
Floats = np.ndarray


def slopes(rng: np.random.Generator, shape: tuple[int, ...], faults: float) -> Floats:
    """How strongly the success of questions rises with the ability of models."""
    kind = rng.random(shape)
    telling = rng.lognormal(0, 0.5, shape)
    return np.select([kind < faults, kind < faults + SILENT], [-telling, 0.0], telling)


def rates(rng: np.random.Generator, models: int, slope: Floats) -> Floats:
    """Success rates of models at questions, shape (worlds, models, questions)."""
    worlds, questions = slope.shape
    ability = rng.normal(0, 1, (worlds, models, 1))
    difficulty = rng.normal(0, 1.5, (worlds, 1, questions))
    return expit(slope[:, None] * ability - difficulty)


def counted(successes: Floats, trials: int) -> ps.Scorio:
    """A log of counts from successes of shape (worlds, models, questions)."""
    world, model, question = np.indices(successes.shape).reshape(3, -1)
    totals = {"world": world, "model": model, "question": question, "c": successes.ravel()}
    frame = ps.from_successes(pl.DataFrame(totals).with_columns(n=trials))
    return frame.scorio(by="world", count="count")


def reversed_questions() -> Iterator[str]:
    """False discoveries and power, for each number of models and trials."""
    yield "| models | trials | good questions with r < 0 | FDR | found | any flag in a clean log |"
    yield "|---|---|---|---|---|---|"
    for models, trials in product(MODELS, TRIALS):
        rng = np.random.default_rng([models, trials])
        slope = slopes(rng, (WORLDS, QUESTIONS), REVERSED)
        log = counted(rng.binomial(trials, rates(rng, models, slope)), trials)
        rows = log.questions().sort("world", "question")
        flagged, faulty = rows["reversed"].to_numpy(), slope.ravel() < 0
        shares = rows.with_columns(false=pl.Series(flagged & ~faulty)).group_by("world").agg(
            pl.col("false").sum() / pl.col("reversed").sum().clip(1)
        )  # fmt: skip
        below = (rows["rest_correlation"].fill_null(0) < 0).to_numpy()[slope.ravel() > 0].mean()
        clean = slopes(rng, (WORLDS, QUESTIONS), 0.0)
        log = counted(rng.binomial(trials, rates(rng, models, clean)), trials)
        any_flag = log.questions().group_by("world").agg(pl.col("reversed").any())["reversed"]
        numbers = below, shares["false"].mean(), flagged[faulty].mean(), any_flag.mean()
        yield f"| {models} | {trials} | " + " | ".join(f"{each:.2f}" for each in numbers) + " |"


VERSION_SD = 0.3  # of the abilities of the versions of a model, whose own has a deviation of 1
# Models, families, trials, and the deviation of what a family knows of a question.
FAMILIES = (
    *((16, 16, 4, 1.0), (24, 3, 4, 1.0), (24, 4, 4, 1.0), (24, 6, 4, 1.0), (24, 8, 4, 1.0)),
    *((24, 4, 1, 1.0), (40, 4, 4, 1.0), (40, 10, 4, 1.0), (40, 20, 4, 1.0)),
    *((24, 6, 4, 1.5), (12, 3, 4, 1.5)),
)


def versions(
    rng: np.random.Generator, sizes: tuple[int, int], known: float, slope: Floats
) -> Floats:
    """Success rates of versions of a few models, shape (worlds, models, questions)."""
    (worlds, questions), (models, families) = slope.shape, sizes
    family = np.arange(models) * families // models
    ability = rng.normal(0, 1, (worlds, families, 1))[:, family]
    ability += VERSION_SD * rng.normal(0, 1, ability.shape)
    effect = known * rng.normal(0, 1, (worlds, families, questions))[:, family]
    difficulty = rng.normal(0, 1.5, (worlds, 1, questions))
    return expit(slope[:, None] * ability + effect - difficulty)


def families() -> Iterator[str]:
    """What the test of reversed questions says of versions, over models and over families."""
    yield "| models | families | trials | effect | clean logs with a name | found | FDR |"
    yield "|---|---|---|---|---|---|---|"
    for place, (models, number, trials, known) in enumerate(FAMILIES):
        rng = np.random.default_rng([models, number, trials, place])
        cells: list[list[str]] = [[], [], []]
        telling = rng.lognormal(0, 0.5, (WORLDS, 200))
        faulty = np.where(np.arange(200) < 10, -telling, telling)  # ten wrong keys
        for slope in (telling, faulty):
            rate = versions(rng, (models, number), known, slope)
            log = counted(rng.binomial(trials, rate), trials)
            base = pl.col("model") * number // models
            for role in ({}, {"family": base.alias("family")}):
                rows = log.frame.scorio(by="world", count="count", **role).questions()
                wrong = pl.col("question") >= (10 if slope is faulty else 0)
                named = rows.select(
                    "world",
                    (~wrong).alias("faulty"),
                    said=pl.col("reversed").fill_null(value=False),
                )
                if slope is telling:
                    cells[0].append(
                        named.group_by("world").agg(pl.col("said").any())["said"].mean()
                    )
                    continue
                shares = named.group_by("world").agg(
                    (pl.col("said") & ~pl.col("faulty")).sum() / pl.col("said").sum().clip(1)
                )
                cells[1].append(named.filter("faulty")["said"].mean())
                cells[2].append(shares["said"].mean())
        texts = [" / ".join(f"{value:.2f}" for value in each) for each in cells]
        yield f"| {models} | {number} | {trials} | {known:g} | " + " | ".join(texts) + " |"


def clean_versions(worlds: int = 2_000) -> Iterator[str]:
    """Clean logs in which the test over families names a question, where it names most."""
    yield "| models | families | trials | family effect | logs | with one named, over families |"
    yield "|---|---|---|---|---|---|"
    models, number, trials, known = FAMILIES[5]
    rng = np.random.default_rng([models, number, trials, worlds])
    named = 0
    for _ in range(worlds // 100):
        rate = versions(rng, (models, number), known, rng.lognormal(0, 0.5, (100, 200)))
        log = counted(rng.binomial(trials, rate), trials).frame
        base = (pl.col("model") * number // models).alias("family")
        rows = log.scorio(by="world", count="count", family=base).questions()
        named += rows.filter(pl.col("reversed").fill_null(value=False))["world"].n_unique()
    yield f"| {models} | {number} | {trials} | {known:g} | {worlds:,} | {named / worlds:.3f} |"


def cost() -> Iterator[str]:
    """CPU seconds of 100,000 questions, 25 models and 4 trials, beside their counts."""
    questions, models, trials = 100_000, 25, 4
    rng = np.random.default_rng(0)
    rate = rng.random((questions, 1)) * np.linspace(0.6, 1, models)
    keys = {
        "model": np.tile(np.repeat(np.arange(models), trials), questions),
        "question": np.repeat(np.arange(questions), models * trials),
        "trial": np.tile(np.arange(trials), questions * models),
    }
    outcomes = rng.random((questions, models, trials)) < rate[:, :, None]
    log = pl.DataFrame(keys | {"category": outcomes.ravel()}).with_columns(
        pl.format("model {}", "model"), pl.format("question-{}", "question")
    )
    asks = {name: getattr(log.scorio, name) for name in ("counts", "avg", "questions")}
    yield "| method | CPU s | wall s |"
    yield "|---|---|---|"
    for name, ask in asks.items():
        cpu, wall = time.process_time(), time.perf_counter()
        ask()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        yield f"| {name} | {cpu:.1f} | {wall:.1f} |"


def main() -> None:
    """Print the table that the command line asks for."""
    tables = {
        "reversed": reversed_questions,
        "families": families,
        "clean_versions": clean_versions,
        "cost": cost,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=tables)
    for line in tables[parser.parse_args().table]():
        print(line, flush=True)


if __name__ == "__main__":
    main()
