"""The fitted prior through the accessor: small oracles, exact cases, shape."""

from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio  # noqa: F401 - registers the accessor
from tests.made_logs import drawn, long, outcomes, unreadable
from tests.tensor import Tensor

NUMBERS = ["mean", "mean_lo", "mean_hi", "icc", "icc_lo", "icc_hi", "s", "s_lo", "s_hi"]
COLUMNS = {"questions": pl.UInt32, "trials": pl.UInt64, **dict.fromkeys(NUMBERS, pl.Float64)}
KEYS = ["domain", "model"]
HARD = {(4, 0): 24, (4, 1): 3, (4, 2): 2, (4, 4): 1}
LABELS = {0: "bad", 1: "fair", 2: "good"}


@pytest.fixture
def log():
    return drawn(6, range(7), most=5)


def fitted(log: pl.DataFrame, *arguments: object, **options: object) -> dict[str, float]:
    return log.scorio.population(*arguments, **options).row(0, named=True)


def beta_row(mu: float, sigma: float, tail: float = 0.025) -> list[float]:
    """A mean in [0, 1] and the interval of the Beta distribution with these moments."""
    total = mu * (1 - mu) / sigma**2 - 1
    around = stats.beta(mu * total, (1 - mu) * total)
    return [mu, around.ppf(tail), around.isf(tail)]


# --- numbers


@pytest.mark.parametrize(
    "states",
    [
        pytest.param({(5, 3): 1, (5, 4): 1}, id="R1"),
        pytest.param({(1, 0): 2, (3, 2): 1, (6, 6): 2}, id="ragged"),
        pytest.param({(2, 0): 3, (4, 4): 3}, id="all or nothing"),
    ],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_equals_tensor_quadrature(states, confidence):
    n, c = zip(*[state for state, size in states.items() for _ in range(size)], strict=True)
    oracle, expected = Tensor(n, c), []
    for values in (oracle.q, oracle.rho):
        mu = oracle.expected(values)
        sigma = sqrt(oracle.expected((values - mu) ** 2))
        expected += beta_row(mu, sigma, (1 - confidence) / 2)
    row = fitted(outcomes(states), confidence=confidence)
    # What the grid cuts off weighs up to 2e-6, and an end of the interval moves more than a mean.
    assert [row[name] for name in NUMBERS[:6]] == pytest.approx(expected, rel=1e-4)


def test_single_trials_leave_exact_beta_distributions():
    row = fitted(outcomes({(1, 0): 3, (1, 1): 7}), confidence=0.9)
    # q ~ Beta(8, 4); the data say nothing about rho ~ Beta(1, 2). Of the grid 1e-8 are cut off.
    q, rho = stats.beta(8, 4), stats.beta(1, 2)
    expected = [each for around in (q, rho) for each in (around.mean(), *around.interval(0.9))]
    # What is cut off moves an end more than a mean: 1e-6 for the ends, 1e-7 for s.
    assert [row[name] for name in NUMBERS[:6]] == pytest.approx(expected, rel=1e-6)
    assert row["s"] == pytest.approx(2, rel=1e-7)


@pytest.mark.parametrize(
    ("states", "exact"),
    [
        # Central 95 % of q and rho by a 1,500 x 1,500 midpoint rule.
        pytest.param(
            {(4, 0): 14, (4, 2): 3, (4, 4): 13}, (0.3232, 0.6457, 0.6759, 0.9412), id="bimodal"
        ),
        pytest.param(HARD, (0.0430, 0.2047, 0.1466, 0.7157), id="hard"),
    ],
)
def test_intervals_are_close_to_the_quantiles_of_the_posterior(states, exact):
    row = fitted(outcomes(states))
    # Two matched moments; the intervals are 0.16 to 0.57 wide.
    ends = [row[name] for name in ("mean_lo", "mean_hi", "icc_lo", "icc_hi")]
    assert ends == pytest.approx(exact, abs=6e-3)


def test_concentration_is_rho_in_other_words(log):
    rows = log.scorio(by="domain", success=2).population()
    for s, rho in (("s", "icc"), ("s_lo", "icc_hi"), ("s_hi", "icc_lo")):
        # The same formula: two operations.
        np.testing.assert_allclose(rows[s], (1 - rows[rho]) / rows[rho], rtol=1e-14)
    assert rows.select((pl.col("s_lo") < pl.col("s")) & (pl.col("s") < pl.col("s_hi")))[
        "s_lo"
    ].all()


def test_equal_questions_pull_rho_to_zero_and_opposite_ones_to_one():
    equal = [fitted(outcomes({(n, n // 2): 50}))["icc"] for n in (2, 8, 32, 128)]
    assert equal == sorted(equal, reverse=True)
    assert equal[-1] < 2e-3
    opposite = fitted(outcomes({(20, 0): 400, (20, 20): 600}))
    assert opposite["icc"] > 0.995
    # The prior weighs no more than a few of the 1,000 questions: well below 0.01.
    assert opposite["mean"] == pytest.approx(0.6, abs=0.01)


# --- categories


def test_with_weights_the_population_is_one_of_all_categories():
    # Single trials tell nothing of rho, so the mean is Dirichlet(1/2 + trials of each category).
    row = fitted(long([[0]] * 6 + [[1]] * 3 + [[2]]), [0, 0.5, 1])
    pi, w = np.array([6.5, 3.5, 1.5]) / 11.5, np.array([0, 0.5, 1])
    sigma = sqrt((pi @ w**2 - (pi @ w) ** 2) / 12.5)
    expected = [*beta_row(pi @ w, sigma), *beta_row(1 / 3, sqrt(1 / 18))]
    # 1e-8 of rho are cut off.
    assert [row[name] for name in NUMBERS[:6]] == pytest.approx(expected, rel=1e-6)


def test_weights_carry_their_unit():
    log = long([[0, 1, 2], [2, 2, 2], [0, 0, 1]])
    one, other = fitted(log, [0, 0.5, 1]), fitted(log, [10, 15, 20])
    for name in ("mean", "mean_lo", "mean_hi"):
        # The offset is added before or after the sums: rounding.
        assert other[name] == pytest.approx(10 + 10 * one[name], rel=1e-12)
    assert [other[name] for name in NUMBERS[3:]] == [one[name] for name in NUMBERS[3:]]
    constant = fitted(log, [3, 3, 3])
    # Weighted sums of probabilities that add up to 1 but for rounding.
    assert [constant[name] for name in NUMBERS[:3]] == pytest.approx([3] * 3, rel=1e-12)


def test_weights_of_failure_and_success_change_nothing():
    log = outcomes(HARD)
    assert_frame_equal(log.scorio.population([0, 1]), log.scorio.population(), check_exact=True)


def test_labels_are_as_good_as_codes(log):
    words = log.with_columns(pl.col("category").replace_strict(LABELS))
    w, roles = [0, 0.5, 1], {"by": "domain"}
    weighted = words.scorio(**roles).population({LABELS[code]: w[code] for code in range(3)})
    assert_frame_equal(weighted, log.scorio(**roles).population(w), check_exact=True)
    binary = words.scorio(**roles, success=["good", "fair"]).population()
    expected = log.scorio(**roles, success=[1, 2]).population()
    assert_frame_equal(binary, expected, check_exact=True)
    with pytest.raises(ValueError, match=r"'category' holds labels \(String\).* success="):
        words.scorio(**roles).population()


# --- the frame


@pytest.mark.parametrize("model", ["model", None])
def test_one_row_for_each_group_and_always_the_same_columns(log, model):
    accessor = log.scorio(by="domain", model=model, success=2, trial=None)
    rows, plan = accessor.population(), log.lazy().scorio(
        by="domain", model=model, success=2, trial=None
    ).population()  # fmt: skip
    keys = ["domain"] + [model] * (model is not None)
    expected = dict.fromkeys(keys, pl.String) | COLUMNS
    for schema in (rows.schema, plan.collect_schema(), plan.collect().schema):
        assert list(schema.items()) == list(expected.items())
    facts = log.group_by(keys).agg(pl.col("question").n_unique(), trials=pl.len()).sort(keys)
    assert rows.select(*keys, "questions", "trials").rows() == facts.rows()
    assert_frame_equal(plan.collect(), rows, check_exact=True)


def test_nothing_is_read_before_collect(log):
    plan = unreadable(log.schema).scorio(success=2).population([0, 0.5, 1])
    assert isinstance(plan, pl.LazyFrame)
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


def test_no_trials_have_no_priors(log):
    rows = log.clear().scorio(by="domain", success=2).population()
    assert rows.height == 0
    assert rows.columns == [*KEYS, *COLUMNS]


def test_groups_do_not_touch_each_other(log):
    rows = log.scorio(by="domain", success=2).population()
    alone = [
        log.filter(domain=domain, model=model).scorio(by="domain", success=2).population()
        for domain, model in log.select(KEYS).unique().sort(KEYS).rows()
    ]
    assert len(alone) == 6
    assert_frame_equal(rows, pl.concat(alone), check_exact=True)


def test_prior_trials_count_as_data(log):
    prior = drawn(7, range(2, 5), most=4)
    rows = log.scorio(by="domain", success=2).population(prior=prior)
    merged = pl.concat([log, prior.with_columns(pl.col("trial") + 100)])
    expected = merged.scorio(by="domain", success=2).population()
    # Prior trials tell questions apart that have the same counts, so sums take another order.
    assert_frame_equal(rows.select(NUMBERS), expected.select(NUMBERS), rel_tol=1e-12)
    plain = log.scorio(by="domain", success=2).population()
    # Keys and whole numbers only: no tolerance is needed.
    assert_frame_equal(rows.select("questions", "trials"), plain.select("questions", "trials"))
    assert not rows["mean"].equals(plain["mean"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"confidence": 1.5}, ValueError, r"confidence must be .* got 1\.5"),
        ({"confidence": "high"}, ValueError, "confidence must be a number .*, got 'high'"),
        ({"prior": [1]}, TypeError, r"prior must be a Polars frame of prior trials, got \[1\]"),
        ({"w": [0, np.inf]}, ValueError, r"w must be a flat sequence .*, got \[0, inf\]"),
    ],
)
def test_wrong_arguments_are_refused_at_the_call(log, arguments, error, message):
    with pytest.raises(error, match=message):
        log.lazy().scorio(success=2).population(**arguments)


def test_a_key_that_is_named_like_a_number_is_refused(log):
    with pytest.raises(ValueError, match="two columns named 'icc'"):
        log.lazy().rename({"domain": "icc"}).scorio(by="icc", success=2).population()
