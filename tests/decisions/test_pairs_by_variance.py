"""Comparisons of calibrated estimates on the same questions: the laws of their intervals."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import polars_scorio as ps
from tests.decisions.counted import counted
from tests.differences import difference_numbers

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure
NUMBERS = ["diff", "sigma", "z", "prob_better", "lo", "hi"]


def single_trials(both, first, second, neither):
    """One trial a question of two models, from the table of McNemar's test."""
    a = [1] * both + [1] * first + [0] * second + [0] * neither
    b = [1] * both + [0] * first + [1] * second + [0] * neither
    return counted(np.array([[a, b]]), 1)


@st.composite
def logs(draw):
    """Successes of three models at the same questions, with as many trials each."""
    questions, n = draw(st.integers(2, 10)), draw(st.sampled_from([1, 2, 4]))
    rows = st.lists(st.integers(0, n), min_size=questions, max_size=questions)
    return np.array([[draw(rows) for _ in range(3)]]), n


def only(rows, **models):
    """The single row of a pair."""
    return rows.filter(**models).row(0, named=True)


# --- one trial of each question


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_a_table_of_discordant_questions_is_decided(confidence):
    # Like EvalPlus: 100 both, 23 only the first, 6 only the second, 35 neither. McNemar: p = .003.
    log = single_trials(100, 23, 6, 35)
    row = log.compare(ps.avg(), confidence=confidence).row(0, named=True)
    expected = difference_numbers([1] * 23 + [-1] * 6 + [0] * 135, 1, confidence)
    # Sums in another order.
    assert [row[name] for name in NUMBERS] == pytest.approx(expected, rel=1e-9)
    assert row["better"] == row["model_a"]


@pytest.mark.parametrize("neither", [0, 12])
def test_without_a_discordant_question_the_two_at_the_ends_remain(neither):
    row = single_trials(30 - neither, 0, 0, neither).compare(ps.avg()).row(0, named=True)
    # Of 32 questions one has a difference of 1, one of -1; 31 degrees of freedom.
    half = 2.0395134463964077 * (2 / (32 * 31)) ** 0.5
    assert (row["diff"], row["z"], row["better"]) == (0, 0, None)
    assert (row["lo"], row["hi"]) == pytest.approx((-half, half), rel=1e-9)


def test_a_single_question_has_the_variance_of_its_trials():
    rows = counted(np.array([[[3], [1]]]), 4).compare(ps.avg())
    assert rows.select("diff", "sigma", "lo", "hi").null_count().row(0) == (0, 0, 0, 0)


@pytest.mark.slow
def test_one_trial_of_each_question_has_the_power_of_mcnemars_test():
    random = np.random.default_rng(3)
    ability = 1.5 * random.normal(size=(300, 1, 100)) + np.array([[[0.6], [0.0]]])
    right = random.binomial(1, 1 / (1 + np.exp(-ability)))
    rows = counted(right, 1).compare(ps.avg())
    first, second = ((right[:, a] > right[:, 1 - a]).sum(axis=1) for a in (0, 1))
    fewer, discordant = np.minimum(first, second), first + second
    mid_p = 2 * stats.binom.cdf(fewer, discordant, 0.5) - stats.binom.pmf(fewer, discordant, 0.5)
    # The same logs: .375 of 600 by either in a longer run.
    assert rows["better"].is_not_null().mean() == pytest.approx((mid_p < 0.05).mean(), abs=0.03)


# --- laws


@pytest.mark.slow
@given(logs())
def test_a_pair_depends_on_nothing_but_its_two_models(log):
    c, n = log
    three = counted(c, n).compare(ps.avg(), simultaneous=False)
    two = counted(c[:, :2], n).compare(ps.avg(), simultaneous=False)
    assert only(three, model_a=0, model_b=1) == pytest.approx(only(two), nan_ok=True)


@pytest.mark.slow
@given(logs())
def test_swapping_two_models_mirrors_their_interval(log):
    c, n = log
    straight = only(counted(c, n).compare(ps.avg()), model_a=0, model_b=1)
    swapped = counted(c[:, [1, 0, 2]], n).compare(ps.avg())
    turned = only(swapped, model_a=0, model_b=1)
    # The same sums in another order: rounding.
    assert (turned["lo"], turned["hi"]) == pytest.approx(
        (-straight["hi"], -straight["lo"]), abs=1e-12
    )
    assert turned["sigma"] == pytest.approx(straight["sigma"], rel=1e-12)


@pytest.mark.slow
@given(logs())
def test_simultaneous_intervals_contain_single_ones(log):
    c, n = log
    single = counted(c, n).compare(ps.avg())
    every = counted(c, n).compare(ps.avg(), simultaneous=True)
    assert (every["lo"] <= single["lo"] + 1e-12).all()
    assert (every["hi"] >= single["hi"] - 1e-12).all()
    assert every["sigma"].equals(single["sigma"])


@pytest.mark.slow
@given(logs())
def test_more_confidence_gives_longer_intervals(log):
    c, n = log
    levels = [counted(c, n).compare(ps.avg(), confidence=level) for level in (0.5, 0.95, 0.999)]
    for narrow, wide in pairwise(levels):
        assert (wide["lo"] <= narrow["lo"] + 1e-12).all()
        assert (wide["hi"] >= narrow["hi"] - 1e-12).all()


@pytest.mark.slow
@given(logs())
def test_identical_models_differ_by_nothing(log):
    c, n = log
    row = only(counted(c[:, [0, 0]], n).compare(ps.avg()))
    assert (row["diff"], row["z"], row["better"]) == (0, 0, None)
    assert row["lo"] == -row["hi"]


@pytest.mark.slow
@given(logs())
def test_ranks_follow_the_verdicts(log):
    c, n = log
    pairs = counted(c, n).compare(ps.avg(), simultaneous=True)
    ranks = counted(c, n).rank(ps.avg())
    for row in ranks.iter_rows(named=True):
        mine = (pl.col("model_a") == row["model"]) | (pl.col("model_b") == row["model"])
        lost = pairs.filter(mine & (pl.col("better") != row["model"])).height
        won = pairs.filter(better=row["model"]).height
        assert (row["rank_lo"], row["rank_hi"]) == (1 + lost, 3 - won)


@pytest.mark.parametrize(
    "metric", [ps.avg(), ps.pass_at_k(2), ps.pass_hat_k(2), ps.maj_at_k(2), ps.max_at_k(2)]
)
def test_neither_row_order_nor_names_of_questions_matter(metric):
    random = np.random.default_rng(6)
    log = counted(random.binomial(3, random.random((1, 3, 8))), 3)
    rows = log.compare(metric)
    names = pl.col("question").replace_strict(dict(enumerate("hbdacgfe")))
    frame = log.frame.with_columns(names).sample(fraction=1, shuffle=True, seed=1)
    other = frame.scorio(by="stratum", count="count").compare(metric)
    numbers = ["diff", "sigma", "z", "prob_better", "lo", "hi"]
    # The questions are added in another order.
    np.testing.assert_allclose(
        rows.select(numbers).to_numpy(), other.select(numbers).to_numpy(), atol=1e-12
    )
