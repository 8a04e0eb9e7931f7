"""Verdicts and rank ranges that hold at once, and models of which little is known."""

from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from polars_scorio.maths.families import tukey_critical
from tests.decisions.counted import counted

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")

ROLES = {"by": "domain", "success": 2, "prior": "uniform"}
INFERENCES = ["uniform", "population", None]
ASKED = [
    *({"prior": each} for each in INFERENCES),
    {"target": "population"},
]


def outside(rows: pl.DataFrame) -> pl.Series:
    return (rows["lo"] > 0) | (rows["hi"] < 0)


# --- pairs


def test_the_critical_value_is_that_of_tukey_without_any_verdict():
    random = np.random.default_rng(0)
    near = counted(random.binomial(4, 0.5, (1, 5, 20)), 4).compare(ps.bayes(), simultaneous=True)
    assert near["better"].null_count() == near.height
    c = stats.studentized_range(5, np.inf).ppf(0.95) / sqrt(2)
    # Both critical values invert an integral that is computed numerically; 1e-6 is room for it.
    np.testing.assert_allclose(near["hi"] - near["diff"], c * near["sigma"], rtol=1e-6)
    # As above, to the other side.
    np.testing.assert_allclose(near["diff"] - near["lo"], c * near["sigma"], rtol=1e-6)


@pytest.mark.parametrize("options", ASKED, ids=str)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_anybody_repeats_a_row_at_one_confidence(spread, options, confidence):
    """Beside a baseline five pairs share it; all pairs of six models have Tukey's value."""
    c = tukey_critical(np.array([6]), confidence)[0]
    for baseline, sure in ((2, confidence ** (1 / 5)), (None, 2 * stats.norm.cdf(c) - 1)):
        asked = {"baseline": baseline, **options}
        rows = spread.compare(ps.avg(), confidence=confidence, **asked)
        alone = spread.compare(ps.avg(), confidence=float(sure), simultaneous=False, **asked)
        assert_frame_equal(rows.drop("adjusted_for"), alone.drop("adjusted_for"), rel_tol=1e-9)


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_new_names_change_no_number(spread, options):
    """The models in another order: to 1e-12, and the same pairs are decided."""
    names = {0: 3, 1: 5, 2: 0, 3: 4, 4: 1, 5: 2}
    other = spread.frame.with_columns(pl.col("model").replace(names))
    renamed = other.scorio(by="stratum", count="count")
    ranks = renamed.rank(ps.avg(), **options).sort("stratum", "model")
    old = {new: name for name, new in names.items()}
    before = spread.rank(ps.avg(), **options).with_columns(pl.col("model").replace(names))
    # A root is found to 1e-9, and ties are broken by name.
    numbers = [name for name in before.columns if name not in {"z_next", "prob_best"}]
    before = before.sort("stratum", "model")
    assert_frame_equal(ranks.select(numbers), before.select(numbers), rel_tol=1e-12, abs_tol=1e-12)
    assert_frame_equal(ranks.select("prob_best"), before.select("prob_best"), abs_tol=1e-8)
    both = [
        each.with_columns(
            pair=pl.concat_list(
                pl.col("model_a", "model_b").replace_strict(back, return_dtype=pl.Int64)
            ).list.sort(),
            size=pl.col("diff").abs(),
            far=pl.max_horizontal(pl.col("lo").abs(), pl.col("hi").abs()),
            near=pl.min_horizontal(pl.col("lo").abs(), pl.col("hi").abs()),
            better=pl.col("better").replace_strict(back, return_dtype=pl.Int64),
            away=pl.col("z").abs(),
            sure=(pl.col("prob_better") - 0.5).abs(),
        )
        .sort("stratum", "pair")
        .select("stratum", "pair", "sigma", "size", "far", "near", "better", "away", "sure")
        for each, back in (
            (spread.compare(ps.avg(), **options), {n: n for n in names}),
            (renamed.compare(ps.avg(), **options), old),
        )
    ]
    assert_frame_equal(*both, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_better_is_the_model_on_whose_side_zero_is_not(spread, options):
    metric = ps.avg()
    for simultaneous in (False, True):
        rows = spread.compare(metric, simultaneous=simultaneous, **options)
        assert rows["better"].is_not_null().equals(outside(rows))
        won = rows.filter(pl.col("better").is_not_null())
        assert won["better"].equals(
            won.select(
                pl.when(pl.col("diff") > 0).then("model_a").otherwise("model_b").alias("better")
            ).to_series()
        )
        assert (np.sign(rows["z"]) == np.sign(rows["diff"])).all()
        assert ((rows["prob_better"] > 0.5) == (rows["diff"] > 0)).all()
    single = spread.compare(metric, **options, simultaneous=False)
    # At once less is sure, and intervals are no narrower.
    assert outside(rows).sum() < outside(single).sum()
    assert ((rows["hi"] - rows["lo"]) >= (single["hi"] - single["lo"]) - 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "spread_of_sigma"),
    [({}, 1), ({"target": "population"}, 1)],
    ids=str,
)
def test_equal_models_are_rarely_told_apart(options, spread_of_sigma):
    random = np.random.default_rng(7)
    # 400 logs of ten equal models; one has four of them by itself in most logs.
    logs = 400
    rates = np.clip(random.normal(0.5, 0.2 * spread_of_sigma, (logs, 1, 50)), 0.02, 0.98)
    log = counted(random.binomial(4, np.broadcast_to(rates, (logs, 10, 50))), 4)
    wrong = []
    for simultaneous in (False, True):
        pairs = log.compare(ps.avg(), simultaneous=simultaneous, **options)
        some = pairs.group_by("stratum").agg(pl.col("better").is_not_null().any())
        wrong.append(some["better"].mean())
    # Three standard deviations of a share of .05.
    assert wrong[1] <= 0.05 + 3 * sqrt(0.05 * 0.95 / logs)
    assert wrong[0] > 0.3


@pytest.mark.slow
def test_intervals_hold_at_once():
    random = np.random.default_rng(8)
    rates = random.beta(2, 2, (300, 8, 50))
    pairs = counted(random.binomial(10, rates), 10).compare(ps.avg(), simultaneous=True)
    truth = rates.mean(axis=2)
    a, b = (truth[pairs["stratum"], pairs[name]] for name in ("model_a", "model_b"))
    held = pairs.with_columns(diff=a - b).with_columns(held=pl.col("diff").is_between("lo", "hi"))
    share = held.group_by("stratum").agg(pl.col("held").all())["held"].mean()
    assert share >= 0.95 - 3 * sqrt(0.05 * 0.95 / 300)


# --- ranks


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_ranges_follow_from_the_verdicts_of_the_comparison(spread, options):
    rows = spread.rank(ps.avg(), **options)
    pairs = spread.compare(ps.avg(), simultaneous=True, **options)
    for row in rows.iter_rows(named=True):
        own = pairs.filter(
            (pl.col("model_a") == row["model"]) | (pl.col("model_b") == row["model"]),
            stratum=row["stratum"],
        )
        won = (own["better"] == row["model"]).sum()
        lost = own["better"].is_not_null().sum() - won
        assert (row["rank_lo"], row["rank_hi"]) == (1 + lost, 6 - won)
        assert row["rank_lo"] <= row["rank"] <= row["rank_hi"]
    assert (rows["rank_hi"] - rows["rank_lo"]).mean() < 4
    shares = rows.group_by("stratum").agg(pl.col("prob_best").sum())["prob_best"]
    # Shares of draws, or of quadrature, add up to 1 but for rounding: 1e-9 is ample.
    assert shares.to_list() == pytest.approx([1] * 3, abs=1e-9)


def test_a_range_by_itself_needs_less_than_all_ranges_at_once():
    # Beta(51, 51) four times and Beta(69, 33): z = 2.61; four pairs need 2.49, and all ten 2.73.
    log = counted(np.array([[[68], [50], [50], [50], [50]]]), 100)
    # z is given to two decimals above.
    assert log.rank(ps.bayes())["z_next"][0] == pytest.approx(2.61, abs=0.01)
    for simultaneous, ranges in ((True, [(1, 5)] * 5), (False, [(1, 1), *[(2, 5)] * 4])):
        rows = log.rank(ps.bayes(), simultaneous=simultaneous)
        assert rows.select("rank_lo", "rank_hi").rows() == ranges


def test_p_best_is_the_share_of_draws_that_a_model_wins(spread):
    rows = spread.rank(prior="population").filter(stratum=1)
    pairs = spread.compare(prior="population").filter(stratum=1)
    place = {model: row for row, model in enumerate(rows["model"])}
    z = np.zeros((6, 6))
    for one, other, each in pairs.select("model_a", "model_b", "z").iter_rows():
        z[place[one], place[other]], z[place[other], place[one]] = each, -each
    near = np.flatnonzero(z[0] <= 4.5)  # the first one is the leader
    models, z = near.size, z[np.ix_(near, near)]
    left = 1 - (models - 2) / ((z**2).sum() / models)
    assert 0 < left < 1
    # Model i wins if each other one, on the scale of the pair, stays below it.
    own, others = np.random.default_rng(3).normal(size=(2, 200_000, 1, models))
    gaps = np.sqrt(2 * left) * z[None] + own.transpose(0, 2, 1) > others
    wins = (gaps | np.eye(models, dtype=bool)).all(axis=2).mean(axis=0)
    np.testing.assert_allclose(rows["prob_best"].to_numpy()[near], wins / wins.sum(), atol=0.005)


@pytest.mark.slow
def test_all_strata_at_once_are_each_by_itself(spread):
    log = spread.frame
    some = log.filter(~((pl.col("stratum") == 1) & (pl.col("model") > 3)))
    for options in ASKED:
        for ask in (
            lambda accessor, options=options: accessor.rank(ps.avg(), **options),
            lambda accessor, options=options: accessor.compare(
                ps.avg(), simultaneous=True, **options
            ),
            lambda accessor, options=options: accessor.compare(
                ps.avg(), simultaneous=True, baseline=3, **options
            ),
        ):
            rows = ask(some.scorio(by="stratum", count="count"))
            parts = [
                ask(some.filter(stratum=stratum).scorio(by="stratum", count="count"))
                for stratum in range(3)
            ]
            # With all strata in one array, sums and searches may end in other last digits.
            assert_frame_equal(rows, pl.concat(parts), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(spread):
    for options in ASKED:
        assert_frame_equal(spread.rank(**options), spread.rank(**options), check_exact=True)


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ({}, "all pairs"),
        ({"baseline": 2}, "all with the baseline"),
        ({"simultaneous": False}, "each pair alone"),
        ({"simultaneous": False, "baseline": 2}, "each pair alone"),
    ],
)
def test_a_result_says_for_which_pairs_it_holds(spread, options, holds):
    assert spread.compare(ps.avg(), **options)["adjusted_for"].unique().to_list() == [holds]
