"""All results have one order of columns, so that what Polars prints by default says the number."""

from collections.abc import Callable

import polars as pl
import pytest

import polars_scorio as ps
from tests.golden.logs import made_log

LOG = made_log(3, 40, 4, 0).with_columns(
    step=pl.lit(1), cost=1.0 + pl.col("trial"), truth=pl.col("category")
)
PASS = ps.pass_at_k(2)
POSTERIOR = [PASS, ps.bayes()]
KEYS = ["n", "source", "rank", "model", "tier", "model_a", "model_b", "baseline"]
KEYS += ["question", "check"]
KEYS += ["categories"]  # labels with their trials come first: what they mean decides all else
SIZES = ["metric", "k", "t"]
COUNTS = ["models", "candidates", "questions", "missing", "clusters", "trials_baseline", "trials"]
COUNTS += ["rerun_trials", "errored", "dropped", "unscored"]
ORIGIN = ["inference", "adjusted_for", "information_fraction", "bounds", "headings", "confidence"]
ORIGIN += ["alarm", "note"]
NUMBERS = ["estimate", "diff", "ratio", "share", "rate_baseline", "rate", "mu", "best_mu"]
ENDS = ["best_lo", "best_hi", "rate_lo", "rate_hi", "lo", "hi"]
ANSWER = ["could_be_best", "better", "regressed", "on_frontier", "noise_floor", "status"]
ANSWER += ["verdict"]
# What stands in none of these lists decides something, as z and pvalue do.
PARTS = [KEYS, SIZES, COUNTS, ORIGIN, None, ["lo_missing", "hi_missing", "sigma"], NUMBERS, ENDS]
PARTS += [ANSWER]

CALLS: dict[str, tuple[dict[str, object], Callable]] = {
    "report": ({}, lambda log: log.report(PASS)),
    "report of posteriors": ({}, lambda log: log.report(*POSTERIOR)),
    "report of questions": ({}, lambda log: log.report(PASS, per="question")),
    "report of a prior": ({}, lambda log: log.report(PASS, prior="uniform")),
    "report of labels": ({"truth": "truth"}, lambda log: log.report(ps.avg())),
    "report of errors": ({"missing": "bounds"}, lambda log: log.report(PASS)),
    "report of costs": ({"cost": "cost"}, lambda log: log.report(ps.cost_per_success())),
    "compare": ({}, lambda log: log.compare(PASS)),
    "compare with one": ({}, lambda log: log.compare(PASS, baseline="m0")),
    "compare at a look": ({}, lambda log: log.compare(PASS, planned_trials=8)),
    "compare costs": ({"cost": "cost"}, lambda log: log.compare(ps.cost_per_success())),
    "compare curves": ({}, lambda log: log.compare(ps.pass_at_k([1, 2, 4]))),
    "compare tails": ({}, lambda log: log.compare(ps.tail_pass(4))),
    "rank": ({}, lambda log: log.rank(PASS)),
    "rank by posteriors": ({}, lambda log: log.rank(PASS, prior="uniform")),
    "best": ({}, lambda log: log.best(PASS)),
    "gate": ({}, lambda log: log.gate("m0", margin=0.1)),
    "regressions": ({}, lambda log: log.regressions("m0")),
    "reruns": ({}, lambda log: log.reruns()),
    "questions": ({}, lambda log: log.questions()),
    "frontier": ({"cost": "cost"}, lambda log: log.frontier(PASS)),
    "judge_agreement": ({"truth": "truth"}, lambda log: log.judge_agreement()),
    "trials_needed": ({}, lambda log: log.trials_needed()),
    "questions_needed": ({}, lambda log: log.questions_needed()),
    "next_trials": ({}, lambda log: log.next_trials(10)),
    "trajectory": ({}, lambda log: log.trajectory(PASS)),
    "convergence": ({}, lambda log: log.convergence(PASS)),
    "describe": ({}, lambda log: log.describe()),
    "check": ({}, lambda log: log.check()),
    "population": ({}, lambda log: log.population()),
    "counts": ({}, lambda log: log.counts()),
}


def columns_of(name, by=()):
    """The columns of a result, as they are without reading a row."""
    roles, call = CALLS[name]
    return call(LOG.lazy().scorio(by=by, **roles)).collect_schema().names()


def place(name):
    """Which part of a result a column belongs to."""
    return next((i for i, names in enumerate(PARTS) if names and name in names), PARTS.index(None))


@pytest.mark.parametrize("name", CALLS)
def test_results_have_one_order_of_columns(name):
    columns = columns_of(name)
    places = [place(column) for column in columns]
    assert places == sorted(places)
    assert columns[0] in KEYS
    assert columns_of(name, by="step") == ["step", *columns]


@pytest.mark.parametrize("name", CALLS)
def test_eager_and_lazy_results_have_the_same_columns(name):
    if name in {"trajectory", "convergence", "next_trials"}:
        pytest.skip("takes long, and has the same last step")
    roles, call = CALLS[name]
    assert call(LOG.scorio(**roles)).columns == columns_of(name)


@pytest.mark.parametrize(
    ("name", "number", "answer"),
    [
        ("report", ["estimate", "lo", "hi"], []),
        ("report of costs", ["estimate", "lo", "hi"], []),
        ("compare", ["diff", "lo", "hi"], ["better"]),
        ("compare costs", ["ratio", "lo", "hi"], ["better"]),
        ("rank", ["estimate", "lo", "hi"], ["could_be_best"]),
        ("gate", ["diff", "lo", "hi"], ["verdict"]),
        ("frontier", ["estimate", "lo", "hi"], ["on_frontier"]),
        ("questions", ["rate", "rate_lo", "rate_hi"], ["status"]),
    ],
)
def test_the_columns_that_polars_prints_say_who_what_and_the_number(name, number, answer):
    columns = columns_of(name)
    assert columns[-4:] == ([*number, *answer] if answer else ["sigma", *number])
    assert {"model", "model_a", "question"} & {*columns[:4]}


@pytest.mark.parametrize(("names", "has"), [("report", False), ("report of posteriors", True)])
def test_mu_stands_only_where_a_row_is_a_posterior(names, has):
    assert ("mu" in columns_of(names)) is has
    wide = LOG.scorio.report(*(POSTERIOR if has else [PASS]), wide=True).columns
    assert ("pass_at_k_2_mu" in wide) is has


def test_a_ranking_says_mu_of_posterior_means_alone():
    calibrated, posterior = columns_of("rank"), columns_of("rank by posteriors")
    assert "estimate" in calibrated
    assert "mu" not in calibrated
    assert [{"mu": "estimate"}.get(name, name) for name in posterior] == calibrated


def test_keys_come_first_whatever_they_are_called():
    log = LOG.rename({"step": "verdict", "model": "sigma_of"})
    columns = log.scorio(by="verdict", model="sigma_of").report(PASS).columns
    assert columns[:3] == ["verdict", "sigma_of", "metric"]


def test_metrics_as_columns_stand_behind_the_counts():
    columns = LOG.scorio.report(PASS, ps.avg(), wide=True).columns
    assert columns[:4] == ["model", "questions", "trials", "dropped"]
    assert columns[-4:] == ["avg_sigma", "avg", "avg_lo", "avg_hi"]


def test_a_leaderboard_ends_with_its_number_and_who_could_be_best():
    columns = LOG.scorio.leaderboard(PASS, ps.avg()).columns
    assert columns[:4] == ["rank", "model", "tier", "pass_at_k_2"]
    assert columns[-4:] == [
        "pass_at_k_2_sigma",
        "pass_at_k_2_lo",
        "pass_at_k_2_hi",
        "could_be_best",
    ]


@pytest.mark.parametrize("role", ["by", "model", "question"])
@pytest.mark.parametrize("name", CALLS)
def test_a_key_is_never_named_like_another_column(name, role):
    """If the result has the key, each such name is refused at the call; no column replaces another.

    The message is the package's own: "the result would have two columns named ...".
    """
    roles, call = CALLS[name]
    column = {"by": "step"}.get(role, role)

    def result(key):
        return call(
            LOG.lazy().rename({column: key}).scorio(**{**roles, role: key})
        ).collect_schema()

    columns = result("key").names()
    for other in columns:
        if other in {"key", *LOG.columns}:
            continue
        try:
            names = result(other).names()
        except ValueError as error:
            assert f"two columns named {other!r}" in str(error)  # noqa: PT017 - or none at all
        else:
            assert {*names} == {*columns}
            assert "key" not in columns
