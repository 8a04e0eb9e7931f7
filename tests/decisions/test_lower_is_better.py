"""Failures of which fewer are better decide as successes of which more are better."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.command_line.main import main

RATES = {"ada": 0.62, "bob": 0.6, "cy": 0.35, "dee": 0.2}
WAYS = {
    "these questions": {},
    "a population": {"target": "population"},
    "a uniform prior": {"prior": "uniform"},
    "a fitted prior": {"prior": "population"},
}


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(3)
    ease = rng.normal(0, 0.8, 40)
    rows = [
        (model, part, question, trial, int(rng.random() < chance), usd * rng.uniform(0.9, 1.1))
        for usd, (model, rate) in enumerate(RATES.items(), 1)
        for part in ("code", "law")
        for question in range(40)
        for chance in [1 / (1 + np.exp(-(ease[question] + np.log(rate / (1 - rate)))))]
        for trial in range(4)
    ]
    columns = ["model", "part", "question", "trial", "category", "usd"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def both(log):
    roles = {"by": "part", "cost": "usd"}
    return log.scorio(**roles), log.scorio(**roles, success=0, lower_is_better=True)


def mirrored(frame, ends=("lo", "hi"), level=("estimate", "mu")):
    """The numbers of failures as those of successes: levels are 1 less them, ends change places."""
    names = {name: pl.col(name) for name in frame.columns}
    turned = {name: 1 - pl.col(name) for name in level if name in names}
    lo, hi = ends
    turned |= {lo: 1 - pl.col(hi), hi: 1 - pl.col(lo)}
    return frame.with_columns(**turned)


def pairs_mirrored(frame):
    return frame.with_columns(diff=-pl.col("diff"), lo=-pl.col("hi"), hi=-pl.col("lo"))


@pytest.mark.parametrize("ends", [{}, {"simultaneous": False}, {"ties": "overlap"}])
@pytest.mark.parametrize("way", WAYS)
def test_ranks_chances_and_tiers_are_those_of_the_successes(both, way, ends):
    more, fewer = (one.rank(overall="macro", **ends, **WAYS[way]) for one in both)
    # Fixed draws of a population are not symmetric.
    assert_frame_equal(mirrored(fewer), more, abs_tol=1e-9)
    assert fewer.filter(rank=1)["model"].unique().to_list() == ["ada"]


@pytest.mark.parametrize("baseline", [None, "dee"])
@pytest.mark.parametrize("way", WAYS)
def test_pairs_keep_their_sign_and_name_the_model_with_fewer(both, way, baseline):
    options = {"baseline": baseline, **WAYS[way]}
    more, fewer = (one.compare(**options) for one in both)
    assert_frame_equal(pairs_mirrored(fewer), more, abs_tol=1e-9)
    first = fewer.filter(model_a="ada").sort("diff").row(0, named=True)
    assert (first["diff"] < 0, first["better"]) == (True, "ada")


@pytest.mark.parametrize("way", WAYS)
def test_the_best_is_corrected_at_its_lower_end(both, way):
    more, fewer = (one.best(**WAYS[way]) for one in both)
    found = mirrored(fewer, ("best_lo", "best_hi"), ("estimate", "best_mu"))
    assert_frame_equal(found, more, abs_tol=1e-9)


@pytest.mark.parametrize("way", ["these questions", "a population"])
def test_a_gate_fails_who_has_more(both, way):
    more, fewer = (one.gate("bob", margin=0.03, **WAYS[way]) for one in both)
    assert_frame_equal(pairs_mirrored(fewer), more, abs_tol=1e-6)
    worst = fewer.filter(pl.col("part").is_null(), model="dee").row(0, named=True)
    assert (worst["verdict"], worst["diff"] > 0) == ("fail", True)


def test_plans_regressions_and_replays_are_those_of_the_successes(both):
    more, fewer = both
    for plan in ("trials_needed", "questions_needed", "convergence", "trajectory"):
        asked = {"replicates": 20} if plan == "convergence" else {}
        found, expected = (getattr(one, plan)(**asked) for one in (fewer, more))
        if plan == "trajectory":
            found = mirrored(found)
        assert_frame_equal(found, expected, abs_tol=1e-9)
    turned = [(1 - pl.col(name)).alias(name) for name in ("rate", "rate_baseline")]
    for improvements in (False, True):
        found, expected = (
            one.regressions("ada", improvements=improvements) for one in (fewer, more)
        )
        assert_frame_equal(found.with_columns(turned), expected, abs_tol=1e-9)


def test_the_frontier_and_its_band_have_the_fewest(both):
    more, fewer = (one.frontier() for one in both)
    chance = pl.col("prob_on_frontier").round(2)
    assert_frame_equal(
        mirrored(fewer).with_columns(chance), more.with_columns(chance), abs_tol=0.02
    )


def test_a_leaderboard_is_in_the_order_of_the_ranks(both):
    boards = [one.leaderboard(ps.avg()) for one in both]
    order = ["rank", "rank_lo", "rank_hi", "model", "could_be_best"]
    assert_frame_equal(boards[1].select(order), boards[0].select(order))


def test_costs_are_better_if_lower_whatever_the_role(log):
    part = log.filter(part="law")
    usual, said = (part.scorio(cost="usd", lower_is_better=each) for each in (False, True))
    assert_frame_equal(usual.rank(ps.mean_cost()), said.rank(ps.mean_cost()))
    assert_frame_equal(usual.compare(ps.mean_cost()), said.compare(ps.mean_cost()))


def test_only_true_and_false_say_the_direction(log):
    with pytest.raises(TypeError, match="lower_is_better must be True or False, got 'yes'"):
        log.scorio(lower_is_better="yes")


@pytest.mark.parametrize(
    "command",
    [
        ["summary"],
        ["report", "-o", "-"],
        ["rank"],
        ["compare"],
        ["gate", "--baseline", "bob", "--margin", "0.03"],
        ["frontier", "--cost", "usd"],
        ["plan"],
        ["regressions", "--baseline", "ada"],
    ],
    ids=lambda command: command[0],
)
def test_sentences_of_the_command_name_the_same_models(log, tmp_path, capsys, command):
    path = str(tmp_path / "log.parquet")
    log.filter(part="law").write_parquet(path)
    name, *options = command
    said = []
    for direction in ([], ["--success", "0", "--lower-is-better"]):
        main([name, path, *options, *direction])
        printed = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
        said.append(printed[0].replace("rare to frequent", "mostly right to mostly wrong"))
    assert said[0] == said[1]
    assert "ada" in said[0] or name in {"compare", "gate", "regressions"}


def test_tables_mark_the_same_models(log):
    sure = log.filter(pl.col("model") != "bob")  # the others are worse than ada beyond doubt
    asked = sure.scorio(by="part"), sure.scorio(by="part", success=0, lower_is_better=True)
    boards = [one.leaderboard(ps.avg(), overall="macro") for one in asked]
    for written, bold in ((ps.to_markdown, "**"), (ps.to_latex, r"\textbf{")):
        for board in boards:
            marked = [line for line in written(board).splitlines() if bold in line]
            assert [name for name in RATES for line in marked if f" {name} " in line] == ["ada"]


def test_an_attack_that_succeeds_is_no_right_answer(log, tmp_path, capsys):
    path = str(tmp_path / "log.parquet")
    for models in (["ada"], ["ada", "dee"]):
        log.filter(pl.col("model").is_in(models), part="law").write_parquet(path)
        assert main([path]) == 0
        assert " right " in capsys.readouterr().out
        assert main([path, "--lower-is-better"]) == 0
        printed = capsys.readouterr().out
        assert " right " not in printed
        assert "ada scores " in printed or "dee: " in printed
