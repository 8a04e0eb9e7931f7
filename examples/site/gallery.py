"""Made-up logs, drawn with fixed seeds, whose pages the site shows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

Rng = np.random.Generator
Floats = np.ndarray
MODELS = ("comet-70b", "ember-large", "delta-mini", "borea-13b", "atlas-7b")


class Shown(NamedTuple):
    """A log of the gallery: what it is about, the roles of its columns, and options of its page."""

    about: str
    log: pl.DataFrame
    roles: dict[str, str]
    options: dict[str, str]


def rate(ability: Floats | float, difficulty: Floats) -> Floats:
    """The chance of a success."""
    return 1 / (1 + np.exp(difficulty - ability))


def drawn(model: str, rates: Floats, trials: int, rng: Rng) -> pl.DataFrame:
    """The trials of one model."""
    places = np.arange(len(rates))
    columns = {
        "model": model,
        "question": np.repeat([f"task-{place + 1:03d}" for place in places], trials),
        "trial": np.tile(np.arange(trials), len(rates)),
        "category": (rng.random((len(rates), trials)) < rates[:, None]).ravel().astype(np.int8),
    }
    return pl.DataFrame(columns)


def five_models() -> Shown:
    """Two of five models may be the best."""
    rng, domains = np.random.default_rng(21), np.array(["code", "law", "maths", "science"])
    difficulty, frames = rng.normal(0, 1.6, 120), []
    for model, ability in zip(MODELS, (0.62, 0.5, 0.1, -0.3, -0.9), strict=True):
        lift = rng.normal(0, 0.3, 4)[np.arange(120) % 4] + rng.normal(0, 0.6, 120)
        log = drawn(model, rate(ability + lift, difficulty), 8, rng)
        frames.append(log.with_columns(domain=np.repeat(domains[np.arange(120) % 4], 8)))
    return Shown("five models, four domains", pl.concat(frames), {"by": "domain"}, {})


def two_agents(broken: int, seed: int) -> pl.DataFrame:
    """Two versions of an agent; the new one breaks some cases."""
    rng = np.random.default_rng(seed)
    old = rate(1.1, rng.normal(0, 1.9, 96))
    new = np.clip(old + 0.02 * rng.normal(size=96), 0, 1)
    new[:broken], old[:broken] = 0.05, 0.97
    return pl.concat([drawn("agent-v1", old, 5, rng), drawn("agent-v2", new, 5, rng)])


def training_run() -> Shown:
    """Sure questions become surer, hard ones get lost."""
    rng, frames = np.random.default_rng(8), []
    start = rng.normal(-0.75, 1.35, 120)
    for step in range(0, 2001, 400):
        done = 1 - np.exp(-step / 650)
        log = drawn("grpo-7b", rate(start * (1 + 1.5 * done) + 1.5 * done, np.zeros(120)), 16, rng)
        frames.append(log.with_columns(step=pl.lit(step)))
    return Shown("a training run, six steps", pl.concat(frames), {"by": "step"}, {})


def many_models() -> Shown:
    """Twenty-five models."""
    rng = np.random.default_rng(25)
    difficulty, abilities = rng.normal(0, 1.7, 200), np.sort(rng.normal(0, 0.85, 25))[::-1]
    frames = [
        drawn(f"model-{letter}", rate(ability + rng.normal(0, 0.5, 200), difficulty), 4, rng)
        for letter, ability in zip("abcdefghijklmnopqrstuvwxy", abilities, strict=True)
    ]
    return Shown("25 models, 200 tasks", pl.concat(frames), {}, {})


def priced_models() -> Shown:
    """Three models that cost unlike much."""
    rng, difficulty, frames = np.random.default_rng(33), np.linspace(-2.5, 2.5, 160), []
    for model, ability, usd in (("lumen", 1.2, 0.21), ("comet", 1.1, 0.064), ("halo", -0.7, 0.01)):
        log = drawn(model, rate(ability + rng.normal(0, 0.5, 160), difficulty), 4, rng)
        frames.append(log.with_columns(usd=usd * rng.lognormal(-0.18, 0.6, 640)))
    return Shown("what a success costs", pl.concat(frames), {"cost": "usd"}, {})


def judged_models() -> Shown:
    """A judge that is too kind to one of two models; people looked at a sixth of the trials."""
    rng, difficulty, frames = np.random.default_rng(4), np.linspace(-2.5, 2.5, 120), []
    for model, ability, kind in (("iris-405b", 0.9, 0.42), ("comet-70b", 1.0, 0.16)):
        log = drawn(model, rate(ability, difficulty), 4, rng)
        truth = log["category"].to_numpy()
        verdict = np.where(truth == 1, rng.random(truth.size) < 0.95, rng.random(truth.size) < kind)
        looked = pl.Series(rng.random(truth.size) < 1 / 6)
        frames.append(log.with_columns(verdict=verdict, human=pl.when(looked).then("category")))
    roles = {"category": "verdict", "truth": "human"}
    return Shown(
        "a judge that errs, and human labels", pl.concat(frames).drop("category"), roles, {}
    )


def one_model() -> Shown:
    """One model alone."""
    rng = np.random.default_rng(19)
    log = drawn("ember-large", rate(0.6, rng.normal(0, 2, 80)), 8, rng)
    return Shown("one model, flaky tasks", log, {}, {})


GALLERY: dict[str, Callable[[], Shown]] = {
    "five": five_models,
    "gate": lambda: Shown(
        "a release gate, 96 cases",
        two_agents(7, seed=11),
        {},
        {"baseline": "agent-v1", "margin": 0.02},
    ),
    "training": training_run,
    "costs": priced_models,
    "many": many_models,
    "one": one_model,
    "judge": judged_models,
    "alike": lambda: Shown(
        "two versions that hardly differ",
        two_agents(0, seed=5),
        {},
        {"baseline": "agent-v1", "margin": 0.02},
    ),
}
