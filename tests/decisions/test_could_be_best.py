"""The models that may be the best: laws of the set, edges, and how often it has the best model."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.maths.comparison import Family, from_ranges
from polars_scorio.maths.families import tukey_critical
from polars_scorio.study.posterior import posterior_comparison
from tests.decisions.counted import counted

KINDS = [
    {"prior": "uniform"},
    {"prior": "population"},
    {},
    {"target": "population"},
]


@pytest.fixture(scope="module")
def spread():
    """Forty logs of eight models whose rates rise from .35 to .7 on varied questions."""
    random = np.random.default_rng(3)
    rates = random.beta(2, 2, (40, 1, 30)) * 0.5 + np.linspace(0, 0.35, 8)[:, None]
    return counted(random.binomial(4, np.clip(rates, 0, 1)), 4)


def numbers(models):
    mu = st.lists(st.floats(0.05, 0.95), min_size=models, max_size=models)
    sigma = st.lists(st.floats(0.01, 0.2), min_size=models, max_size=models)
    return st.tuples(mu, sigma)


@pytest.mark.slow
@given(st.integers(1, 7).flatmap(numbers), st.floats(0.1, 0.99))
def test_the_leader_is_one_of_them_and_few_comparisons_leave_out_more(models, confidence):
    mu, sigma = (np.array([each]) for each in models)
    lo, hi = np.maximum(mu - 2 * sigma, 0), np.minimum(mu + 2 * sigma, 1)
    for scores in (
        posterior_comparison(ps.avg(), mu, sigma, beta=False),
        posterior_comparison(ps.avg(), mu, sigma, beta=True),
        from_ranges((mu, sigma, lo, hi), 2.0, 1.0),
    ):
        possible = Family(confidence).could_be_best(scores)
        assert possible[0, mu.argmax()]
        # One step for all pairs leaves at most as many models out.
        all_pairs = tukey_critical(np.array([mu.shape[1]]), confidence)[:, None]
        higher = scores.differs(all_pairs) & (mu[:, None, :] > mu[:, :, None])
        assert not higher[possible].any()


@pytest.mark.slow
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_the_set_has_the_leader_and_grows_with_confidence(spread, options):
    sizes = []
    for confidence in (0.8, 0.95, 0.99):
        rows = spread.rank(ps.avg(), confidence=confidence, **options)
        leaders = rows.filter(pl.col("rank") == 1)
        assert leaders["could_be_best"].all()
        sizes.append(rows["could_be_best"].sum())
        ranges = rows.filter(pl.col("rank_lo") == 1).height
        assert sizes[-1] <= ranges
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.slow
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_two_models_ask_for_a_one_sided_interval(options):
    random = np.random.default_rng(8)
    pairs = counted(random.binomial(4, [[[0.5] * 40, [0.63] * 40]] * 60), 4)
    rows = pairs.rank(ps.avg(), **options)
    left_out = rows.filter(~pl.col("could_be_best"))["stratum"]
    # 95 % on one side are 90 % on both.
    verdicts = pairs.compare(ps.avg(), confidence=0.9, **options)
    decided = verdicts.filter(pl.col("better").is_not_null())["stratum"]
    assert 5 < decided.len() < 60
    assert sorted(left_out) == sorted(decided)


@pytest.mark.parametrize("models", [2, 5])
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_the_set_is_read_from_the_pairs(options, models):
    random = np.random.default_rng(models)
    rates = np.clip(
        random.beta(2, 2, (8, 1, 15)) + np.linspace(0, 0.06 * models, models)[:, None], 0, 1
    )
    log = counted(random.binomial(3, rates), 3)
    rows, pairs = log.rank(ps.avg(), **options), log.compare(ps.avg(), **options)
    lost = (
        pl.concat(
            pairs.select("stratum", pl.col(name).alias("model"), chance.alias("lost"))
            for name, chance in (
                ("model_a", 1 - pl.col("prob_better")),
                ("model_b", pl.col("prob_better")),
            )
        )
        .group_by("stratum", "model")
        .agg(pl.col("lost").max())
    )
    rows = rows.join(lost, on=["stratum", "model"])
    bound = 0.95 ** (1 / (models - 1))
    expected = (pl.col("tier") == 1) & (pl.col("lost") <= bound)
    assert rows["could_be_best"].equals(rows.select(expected).to_series().alias("could_be_best"))
    assert 0 < rows["could_be_best"].not_().sum() < rows.height - 8
    if models == 2:
        assert rows["could_be_best"].equals((rows["prob_best"] >= 0.05).alias("could_be_best"))


def test_equal_and_single_models_may_be_the_best():
    equal = counted(np.full((1, 5, 10), 3), 4).rank(ps.avg())
    assert equal["could_be_best"].all()
    alone = counted(np.full((1, 1, 10), 3), 4).rank(ps.avg())
    assert alone["could_be_best"].to_list() == [True]


def test_a_model_without_a_rank_has_no_answer():
    # Calibrated predictions for k beyond the trials are not ranked.
    rows = counted(np.full((1, 2, 10), 3), 4).rank(ps.pass_at_k(5))
    assert rows["could_be_best"].to_list() == [None, None]


@pytest.mark.slow
def test_the_set_has_the_best_model():
    random = np.random.default_rng(9)
    rates = np.clip(random.beta(2, 2, (400, 1, 30)) + np.array([[0.06]] + [[0.0]] * 4), 0, 1)
    log = counted(random.binomial(2, rates), 2)
    rows = log.rank(ps.avg()).filter(model=0)
    # The study: at least .985 with unique best models.
    assert rows["could_be_best"].mean() > 0.97
