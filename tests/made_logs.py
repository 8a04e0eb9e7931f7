"""Logs that tests make."""

import re
from collections.abc import Callable, Iterable, Sequence
from random import Random

import numpy as np
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st
from polars.io.plugins import register_io_source


def long(outcomes: Iterable[Sequence[object]], model: str = "m") -> pl.DataFrame:
    """A log from a matrix of outcomes, ragged or not: one list for each question."""
    rows = [
        (model, question, trial, category)
        for question, categories in enumerate(outcomes)
        for trial, category in enumerate(categories)
    ]
    columns = ["model", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


def unreadable(schema: pl.Schema) -> pl.LazyFrame:
    """A LazyFrame that knows its schema and fails the test once its rows are read."""

    def read(*_: object) -> None:
        raise AssertionError("the data were read")

    return register_io_source(read, schema=schema)


def law(test: Callable[..., None]) -> Callable[..., None]:
    """Try a costly law on a fifth of the usual examples, the same in every run."""
    examples = -(-settings.default.max_examples // 5)  # at least one
    return settings(max_examples=examples, deadline=None, derandomize=True)(test)


def ragged(top: int = 1) -> st.SearchStrategy[list[list[int]]]:
    """Outcomes 0..top of a few questions, not all with the same number of trials."""
    trials = st.lists(st.integers(0, top), min_size=1, max_size=6)
    return st.lists(trials, min_size=1, max_size=6)


def drawn(seed: int, questions: range, most: int) -> pl.DataFrame:
    """Outcomes 0..2 of three models in two strata, shuffled; a question has 1 to `most` trials."""
    random = Random(seed)  # noqa: S311 - nothing here is secret
    log = pl.concat(
        long([random.choices(range(3), k=random.randint(1, most)) for _ in questions], model)
        .with_columns(pl.col("question") + questions.start, domain=pl.lit(domain))
        for domain in ("web", "air")
        for model in ("c", "a", "b")
    )  # fmt: skip
    return log.sample(fraction=1, shuffle=True, seed=seed)


def uneven(seed: int) -> pl.DataFrame:
    """Outcomes 0..2 of three models in strata of seven, four and three questions."""
    log = drawn(seed, range(7), most=6)
    sea = drawn(seed + 1, range(4), most=4).filter(domain="web").with_columns(domain=pl.lit("sea"))
    few = (pl.col("domain") == "web") & (pl.col("question") > 2)
    return pl.concat([log.filter(~few), sea])


def outcomes(states: dict[tuple[int, int], int], model: str = "m") -> pl.DataFrame:
    """A binary log from ``{(trials, successes): questions}``, whose runs are alike."""
    numbers = [state for state, questions in states.items() for _ in range(questions)]
    turns = [(([1] * c + [0] * (n - c)) * 2)[at * 7 % n :][:n] for at, (n, c) in enumerate(numbers)]
    return long(turns, model)


def scans(plan: pl.LazyFrame) -> list[tuple[str, str]]:
    """Of each Parquet scan of a plan: how many columns it reads, and what it filters by."""
    explained, scan = plan.explain(), r"(?i)parquet scan"
    details = r".*\n\s*project (\S+) columns(?:\n\s*selection: (.*))?"
    found = re.findall(scan + details, explained)
    assert len(found) == len(re.findall(scan, explained)) > 0
    return found


def priced_models(questions: int, trials: int) -> pl.DataFrame:
    """A cheap model, a good one, and one that is dear and bad, on two domains, with costs."""
    rng = np.random.default_rng(34)
    model, question, trial = (each.ravel() for each in np.indices((3, questions, trials)))
    rate, price = np.array([0.5, 0.8, 0.2]), np.array([1.0, 3.0, 9.0])
    return pl.DataFrame(
        {
            "model": np.array(["cheap", "good", "poor"])[model],
            "domain": np.array(["air", "bus"])[question % 2],
            "question": question,
            "trial": trial,
            "category": (rng.random(model.size) < rate[model]).astype(int),
            "usd": price[model] * rng.lognormal(0, 0.4, model.size),
            "passage": question // 4,
        }
    )


def log_of_runs(sd, seed=0, models=3, questions=200, runs=4):
    """Models whose runs are `sd` apart on the scale of logits."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.8, 0.8, (models, questions, 1))
    logits = np.log(rates / (1 - rates)) + rng.normal(0, sd, (models, 1, runs))
    outcomes = (rng.random((models, questions, runs)) < 1 / (1 + np.exp(-logits))).astype(int)
    model, question, trial = np.indices(outcomes.shape)
    columns = {"model": model, "question": question, "trial": trial, "category": outcomes}
    log = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    return log.with_columns(pl.format("m{}", "model").alias("model"))
