"""Calls of every public method, by name, and the cells of what they return."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import polars as pl

import polars_scorio as ps
from tests.documents import DATA
from tests.golden.logs import Kind

Call = Callable[[Any], pl.DataFrame]
GOLDEN = DATA / "golden.parquet"
SCHEMA = {
    "log": pl.String,
    "call": pl.String,
    "column": pl.String,
    "row": pl.UInt32,
    "text": pl.String,
    "number": pl.Float64,
}
K = [1, 2, 4, 9]
EVERY_LOOK = {"benchmark": {"planned_trials": 16}, "population": {"planned_questions": 16}}
# All metrics of successes, so that each formula stands in the file.
SUCCESSES = (
    ps.avg(),
    ps.pass_at_k(K),
    ps.pass_hat_k(K),
    ps.g_pass_at_k_tau([2, 4], tau=0.5),
    ps.maj_at_k([1, 3]),
    ps.mg_pass_at_k([2, 4]),
    ps.auc_at_k([1, 3]),
    ps.threshold_spectrum_at_k(2, (0.25, 0.5)),
    ps.tail_pass(4, [1, 2]),
    ps.geom_at_k([2, 4]),
    ps.geom_ds_at_k([2, 4]),
    ps.geo_spectrum_at_k([2, 4], lam=0.25),
    ps.geo_spectrum_star_at_k([2, 4]),
)
POSTERIORS = (ps.bayes(), *SUCCESSES[1:])
# One of each way to estimate the variance of a difference.
COMPARED = (ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(2), ps.geom_ds_at_k(2), ps.pass_at_k(9))


def decisions(metric: ps.Metric, target: str) -> Iterator[tuple[str, Call]]:
    """What is decided by a metric."""
    yield "compare", lambda log: log.compare(metric)
    yield "compare all", lambda log: log.compare(metric, simultaneous=True)
    yield "compare baseline", lambda log: log.compare(metric, baseline="m0", simultaneous=True)
    yield "compare population", lambda log: log.compare(metric, target="population")
    yield "compare every look", lambda log: log.compare(metric, **EVERY_LOOK[target])
    yield "compare common", lambda log: log.compare(metric, unmatched="drop")
    yield "compare macro", lambda log: log.compare(metric, overall="macro")
    yield "compare prior population", lambda log: log.compare(metric, prior="population")
    yield "compare prior uniform", lambda log: log.compare(metric, prior="uniform")
    yield "rank", lambda log: log.rank(metric)
    yield "rank macro", lambda log: log.rank(metric, overall="macro")
    yield "rank population", lambda log: log.rank(metric, target="population")
    yield "rank prior uniform", lambda log: log.rank(metric, prior="uniform")
    yield "best", lambda log: log.best(metric)
    yield "best macro", lambda log: log.best(metric, overall="macro")
    yield "best population", lambda log: log.best(metric, target="population")
    yield "gate", lambda log: log.gate("m0", metric, margin=0.05)
    yield "gate micro", lambda log: log.gate("m0", metric, margin=0.05, overall="micro")
    yield "gate strata", lambda log: log.gate("m0", metric, margin=0.05, every_stratum=True)
    yield "trials_needed", lambda log: log.trials_needed(metric)
    yield "trials_needed all", lambda log: log.trials_needed(metric, simultaneous=True)
    yield "half_width", lambda log: log.trials_needed(metric, half_width=0.05)
    yield "questions_needed", lambda log: log.questions_needed(metric)
    yield "questions margin", lambda log: log.questions_needed(metric, margin=0.1)
    yield "next_trials", lambda log: log.next_trials(12, metric)
    yield "next_trials narrow", lambda log: log.next_trials(12, metric, half_width=0.05)
    yield "trajectory", lambda log: log.trajectory(metric)
    yield "convergence", lambda log: log.convergence(metric, replicates=20)
    yield "frontier", lambda log: log.frontier(metric)
    yield "leaderboard", lambda log: log.leaderboard(metric)


def report_of(log: Any, metrics: tuple[ps.Metric, ...], options: dict[str, Any]) -> pl.DataFrame:
    """All metrics at once, for a fifth of the time; each by itself if one of them is refused."""
    try:
        return log.report(*metrics, **options)
    except ValueError:
        calls = [lambda log, metric=metric: log.report(metric, **options) for metric in metrics]
        return pl.concat((result_of(call, log) for call in calls), how="diagonal")


def calls_of(kind: Kind) -> Iterator[tuple[str, Call]]:
    """Every call for a kind of log, by its name."""
    metrics = (*kind.metrics, *(SUCCESSES if kind.successes else ()))
    compared = (*kind.metrics[:3], *(COMPARED if kind.successes else ()))
    target = kind.roles.get("target", "benchmark")
    for metric in metrics:
        yield f"report {metric}", lambda log, metric=metric: log.report(metric, **kind.options)
    for option, value in (
        ("macro", {"overall": "macro"}),
        ("micro", {"overall": "micro"}),
        ("population", {"target": "population"}),
        ("confidence", {"confidence": 0.8}),
        ("wide", {"wide": True}),
    ):
        options = kind.options | value
        yield f"reports {option}", partial(report_of, metrics=metrics, options=options)
    for metric in compared[:3]:
        yield (
            f"report question {metric}",
            lambda log, metric=metric: log.report(metric, **kind.options, per="question"),
        )
    if kind.successes:
        for prior in ("uniform", "population"):
            yield f"report {prior}", lambda log, prior=prior: log.report(*POSTERIORS, prior=prior)
            yield (
                f"report {prior} question",
                lambda log, prior=prior: log.report(*POSTERIORS[:3], prior=prior, per="question"),
            )
        yield "report beta", lambda log: log.report(*POSTERIORS, prior=(0.5, 2))
    for metric in compared:
        for name, call in decisions(metric, target):
            yield f"{name} {metric}", call
    yield "counts", lambda log: log.counts().sort(pl.all())
    yield "describe", lambda log: log.describe()
    yield "check", lambda log: log.check()
    yield "describe question", lambda log: log.describe(per="question")
    yield "regressions", lambda log: log.regressions("m0")
    yield "reruns", lambda log: log.reruns()
    yield "reruns once", lambda log: log.reruns(n=1, per="model")
    yield "reruns question", lambda log: log.reruns(per="question")
    yield "questions", lambda log: log.questions()
    yield "population", lambda log: log.population()
    yield "judge_agreement", lambda log: log.judge_agreement()


def result_of(call: Call, log: Any) -> pl.DataFrame:
    """The frame that a call returns; a refusal is a frame of one cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(log)
        except (ValueError, TypeError, pl.exceptions.PolarsError) as error:
            return pl.DataFrame({"refused": [f"{type(error).__name__}: {error}"]})


def cells_of(frame: pl.DataFrame) -> Iterator[tuple[str, int, str | None, float | None]]:
    """The cells of a frame: column, row, and a number or a text."""
    for column in frame.iter_columns():
        numeric = column.dtype.is_float()
        for row, value in enumerate(column.to_list()):
            # By Python, not Polars, whose words for lists change with its version.
            yield column.name, row, None if numeric else repr(value), value if numeric else None


def cells_of_log(name: str, kind: Kind) -> pl.DataFrame:
    """The cells of all calls for a log."""
    log = ps.scorio(kind.frame, **kind.roles)
    cells = [
        (name, call_name, *cell)
        for call_name, call in calls_of(kind)
        for cell in cells_of(result_of(call, log))
    ]
    return pl.DataFrame(cells, SCHEMA, orient="row")
