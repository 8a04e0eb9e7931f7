"""Inference: one word, chosen once, and what people read under it."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.study.calibrated import CalibratedInference
from polars_scorio.study.posterior import UNIFORM, PosteriorInference
from polars_scorio.study.request import InferenceChoice
from tests.made_logs import drawn, law, long, outcomes, ragged

KINDS = pytest.mark.parametrize("overall", ["macro", "micro"])
W = [0, 0.5, 1]
# What is a credit of k draws has an interval for either target, and a range beyond the trials.
CREDITS = (
    *(ps.avg(), ps.avg([-1, 3], name="points"), ps.pass_at_k([1, 2, 9]), ps.pass_hat_k([1, 2])),
    *(ps.unanimous_at_k(2), ps.g_pass_at_k(2), ps.g_pass_at_k_tau(3, 0.5), ps.mg_pass_at_k(3)),
    *(ps.maj_at_k(3), ps.maj_at_k(name="cons"), ps.auc_at_k(3), ps.max_at_k(2)),
    *(ps.threshold_spectrum_at_k(2, [0.5, 0.25]), ps.max_at_k(2, [0, 1], name="best")),
)
BLENDS = (
    *(ps.geom_ds_at_k(2), ps.geo_spectrum_at_k(2, lam=0.3), ps.geo_spectrum_star_at_k(3)),
    ps.geom_ds_at_k(2, pass_power=0.2, unanimous_power=0.8, name="uneven"),
)
POOLED = ps.bayes(), ps.geom_at_k(2)


@pytest.fixture
def log() -> pl.DataFrame:
    """Outcomes 0..2 of three models in two strata, of one to four trials of a question."""
    return drawn(8, range(9), most=4)


def names(metrics) -> list[str]:
    return [metric.name for metric in metrics]


# --- chosen once

SHOWN = {
    "report": lambda log, **options: log.report(ps.avg(), ps.pass_at_k(2), **options),
    "metric": lambda log, **options: log.pass_at_k(2, **options),
    "compare": lambda log, **options: log.compare(ps.pass_at_k(2), **options),
    "rank": lambda log, **options: log.rank(ps.pass_at_k(2), **options),
    "trajectory": lambda log, **options: log.trajectory(ps.avg(), **options),
    "convergence": lambda log, **options: log.convergence(replicates=0, **options),
    "leaderboard": lambda log, **options: log.leaderboard(ps.pass_at_k(2), **options),
    "intervals": lambda log, **options: log.plot.intervals(ps.pass_at_k(2), **options).to_dict(),
}


@pytest.fixture
def duel() -> pl.DataFrame:
    """Two models on twelve questions with four trials each, where priors matter."""
    hard, easy = {(4, 0): 8, (4, 1): 3, (4, 3): 1}, {(4, 0): 1, (4, 2): 1, (4, 3): 2, (4, 4): 8}
    return pl.concat([outcomes(hard, "hard"), outcomes(easy, "easy")])


def same(one: object, other: object) -> bool:
    if isinstance(one, pl.DataFrame):
        return one.equals(other)
    return json.dumps(one, default=str, sort_keys=True) == json.dumps(
        other, default=str, sort_keys=True
    )


@pytest.mark.every(4)
@pytest.mark.parametrize("word", ["uniform", "population", None])
@pytest.mark.parametrize("shown", SHOWN)
def test_a_word_on_the_accessor_is_the_word_in_every_method(duel, shown, word):
    show = SHOWN[shown]
    said = show(duel.scorio, prior=word)
    assert same(show(duel.scorio(prior=word)), said)
    # A word in a method goes before it.
    other = "population" if word == "uniform" else "uniform"
    assert same(show(duel.scorio(prior=other), prior=word), said)


def test_a_rubric_keeps_what_was_chosen(duel):
    solved = ps.rubrics.rubric(
        "outcome", {"failed": pl.col("category") == 0}, otherwise="solved", success="solved"
    )
    rows = duel.scorio(confidence=0.5).rubric(solved).pass_at_k(2)
    # The same outcomes under other names: rounding at most, far below the default of 1e-5.
    assert_frame_equal(rows, duel.scorio.pass_at_k(2, confidence=0.5))


@pytest.mark.parametrize(
    "options", [{"confidence": 0.5}, {"target": "population"}, {"confidence": 0.9}], ids=str
)
def test_target_and_confidence_are_chosen_likewise(duel, options):
    chosen = duel.scorio(**options)
    expected = duel.scorio.avg(**options)
    assert_frame_equal(chosen.avg(), expected, check_exact=True)
    plain = duel.scorio.avg()
    assert not plain.equals(expected)
    assert_frame_equal(chosen.avg(target="benchmark", confidence=0.95), plain, check_exact=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "beta"}, "prior must be \"uniform\", .*, got 'beta'"),
        ({"target": "all"}, "target must be .*, got 'all'"),
        ({"confidence": 1}, r"confidence must be .*, got 1"),
    ],
)
def test_what_cannot_be_chosen_is_refused_where_it_is_chosen(r1, options, message):
    with pytest.raises(ValueError, match=message):
        r1.scorio(**options)


# --- the prior behind a metric


@pytest.mark.parametrize(
    ("metric", "view", "priors"),
    [
        (ps.avg(), "success", (UNIFORM, "population", None, None, "population")),
        (ps.bayes(), "success", (UNIFORM, "population", UNIFORM, "population", UNIFORM)),
        (ps.geom_ds_at_k(2), "success", (UNIFORM, "population", None, None, "population")),
        (
            ps.geom_ds_at_k(2, pass_power=-1), "success",
            (UNIFORM, "population", None, "population", "population"),
        ),
        (
            ps.geom_at_k(2, pass_power=-1), "success",
            (UNIFORM, "population", UNIFORM, "population", UNIFORM),
        ),
        (ps.vote_at_k(2), "answers", (None,) * 5),
        (ps.max_at_k(2), "rewards", (None,) * 5),
    ],
    ids=str,
)  # fmt: skip
def test_a_metric_gets_the_prior_that_it_allows(metric, view, priors):
    asked = [
        *(InferenceChoice(UNIFORM), InferenceChoice("population")),
        *(InferenceChoice(None), InferenceChoice(None, target="population")),
        InferenceChoice(None, per_question=True),
    ]
    assert tuple(choice.prior_of(metric, view) for choice in asked) == priors


def test_both_inferences_have_the_same_methods():
    methods = [
        {name for name in dir(made) if not name.startswith("_")}
        - {"target", "confidence", "planned", "curves"}
        for made in (PosteriorInference, CalibratedInference)
    ]
    shared = {"numbers", "macro_numbers", "mean_interval", "ranking_numbers"}
    assert methods == [shared | {"posterior", "pooled", "prior"}, shared]


# --- what people read


@pytest.mark.slow
@law
@given(st.lists(ragged(), min_size=1, max_size=3))
def test_no_number_of_a_leaderboard_lies_outside_its_bracket(models):
    log = pl.concat(long(outcomes, f"m{place}") for place, outcomes in enumerate(models))
    metrics = (*CREDITS[:1], ps.pass_at_k([1, 2]), ps.pass_hat_k(2), *BLENDS[:1], *POOLED)
    accessor = log.scorio
    if (
        len({tuple(log.filter(model=m)["question"].unique().sort()) for m in log["model"].unique()})
        > 1
    ):
        board = accessor.leaderboard(*metrics, unmatched="drop")
    else:
        board = accessor.leaderboard(*metrics)
    for name in [name.removesuffix("_lo") for name in board.columns if name.endswith("_lo")]:
        shown = board.filter(pl.col(name).is_not_null())
        assert (shown[f"{name}_lo"] <= shown[name]).all(), name
        assert (shown[name] <= shown[f"{name}_hi"]).all(), name


@pytest.mark.slow
@KINDS
def test_nor_over_strata(log, overall):
    metrics = ps.avg(W), ps.bayes(W), ps.pass_at_k([1, 2]), ps.geom_at_k(1), ps.max_at_k(1, W)
    board = log.scorio(by="domain", success=2).leaderboard(*metrics, overall=overall)
    ends = [name for name in board.columns if name.endswith("_lo") and name != "rank_lo"]
    names = [name.removesuffix("_lo") for name in ends]
    assert len(names) == 18
    for name in names:
        shown = board.filter(pl.col(name).is_not_null())
        assert (shown[f"{name}_lo"] <= shown[name]).all(), name
        assert (shown[name] <= shown[f"{name}_hi"]).all(), name


def test_calibrated_geom_at_k_has_an_estimate_of_its_own():
    log = outcomes({(8, 0): 92, (8, 1): 8}).scorio(model=None)
    wide = log.report(ps.geom_at_k(2), wide=True).row(0, named=True)
    # No question succeeds twice, which leaves the published estimate at 0.
    assert wide["geom_at_k_2_lo"] < wide["geom_at_k_2"] < wide["geom_at_k_2_hi"]
    assert log.report(ps.geom_at_k(2), prior="uniform", wide=True)["geom_at_k_2"].item() == 0
