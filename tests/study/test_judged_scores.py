"""Differences of the truth behind verdicts of one judge."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_verdicts import verdicts

GRADER = ps.judge(sensitivity=(88, 100), specificity=(80, 100))
# Models of different strength, some pairs of which differ.
POWERS = {"a": 0.5, "b": 2.0, "c": 4.0, "d": 0.7}
LOG = pl.concat(
    verdicts([name], 40, seed=seed, power=power)
    for seed, (name, power) in enumerate(POWERS.items())
)
ROLES = pytest.mark.parametrize("role", [{"truth": "human"}, {"judge": GRADER}], ids=str)
METRICS = pytest.mark.parametrize("metric", [ps.avg(), ps.pass_at_k(2)], ids=str)


@pytest.mark.parametrize("options", [{}, {"simultaneous": True}, {"baseline": "a"}])
def test_who_is_better_needs_no_correction_under_one_judge(options):
    plain, corrected = LOG.scorio.compare(**options), LOG.scorio(judge=GRADER).compare(**options)
    assert_frame_equal(plain.select("better"), corrected.select("better"))
    assert plain["better"].null_count() < plain.height


def test_by_how_much_does():
    plain, corrected = LOG.scorio.compare(), LOG.scorio(judge=GRADER).compare()
    index = 89 / 102 + 81 / 102 - 1
    expected = (plain["diff"] / index).to_list()
    assert corrected["diff"].to_list() == pytest.approx(expected)


def test_slopes_of_one_judge_subtract():
    own = LOG.scorio(judge=GRADER).pass_at_k(2)
    pairs = LOG.scorio(judge=GRADER).compare(ps.pass_at_k(2))
    sigma = dict(own.select("model", "sigma").rows())
    apart = [np.hypot(sigma[a], sigma[b]) for a, b in pairs.select("model_a", "model_b").rows()]
    assert (pairs["sigma"] < pl.Series(apart)).all()


def test_samples_of_their_own_do_not_cancel():
    counts = {"verdict": [1, 0, 1, 0], "truth": [1, 1, 0, 0], "count": [88, 12, 20, 80]}
    sample = pl.concat(
        pl.DataFrame({"model": [name] * 4, **counts}).with_columns(pl.col("count") + place)
        for place, name in enumerate("abcd")
    )
    together, apart = (LOG.scorio(judge=judge).compare(ps.avg()) for judge in (GRADER, sample))
    assert (apart["hi"] - apart["lo"] > together["hi"] - together["lo"]).all()


@ROLES
@METRICS
def test_differences_are_antisymmetric(role, metric):
    log = LOG.filter(pl.col("model").is_in(["a", "c"]))
    first = log.scorio(**role).compare(metric, baseline="a").row(0, named=True)
    other = log.scorio(**role).compare(metric, baseline="c").row(0, named=True)
    assert first["diff"] == pytest.approx(-other["diff"])
    assert (first["lo"], first["hi"]) == pytest.approx((-other["hi"], -other["lo"]))
    assert first["better"] == other["better"]


@ROLES
@METRICS
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_intervals_hold_the_difference(role, metric, target):
    pairs = LOG.scorio(**role, target=target).compare(metric)
    assert pairs.select(pl.col("diff").is_between("lo", "hi")).to_series().all()
    assert (
        pairs.select(pl.col("lo", "hi").is_between(-1, 1))
        .select(pl.all_horizontal(pl.all()).all())
        .item()
    )


@ROLES
@METRICS
def test_ranks_gates_and_boards_follow(role, metric):
    log = LOG.scorio(**role)
    report = log.report(metric).sort("estimate", descending=True)
    assert log.rank(metric)["model"].to_list() == report["model"].to_list()
    assert log.leaderboard(metric)["model"].to_list() == report["model"].to_list()
    assert log.best(metric)["model"].to_list() == report["model"].to_list()[:1]
    gate = (
        log.gate("a", metric=metric, margin=0.1, simultaneous=False)
        .filter(model="c")
        .row(0, named=True)
    )
    pair = (
        log.compare(metric, baseline="a", confidence=0.9, simultaneous=False)
        .filter(model_a="c")
        .row(0, named=True)
    )
    assert [gate[name] for name in ("diff", "lo", "hi")] == pytest.approx(
        [pair[name] for name in ("diff", "lo", "hi")],
        abs=5e-3,  # intervals by labels are from_ranges from the confidence of the report
    )
    assert gate["verdict"] == "undecided" or gate["extra_trials"] == 0
    assert gate["extra_trials"] in {None, 0}
