"""The fitted prior through the accessor: small oracles, exact cases, shape."""

from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.questions import States
from polars_scorio.study.posterior import PosteriorInference, PosteriorLaw, posterior_comparison
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import Noise, Scores, StrataMeans
from tests.made_logs import drawn, long, outcomes, unreadable
from tests.maths import interval_oracle as oracle

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
def test_equals_weighted_means_over_the_populations(states, confidence):
    rates = oracle.RATES
    logs = [
        sum(size * np.log(among @ stats.binom.pmf(c, n, rates)) for (n, c), size in states.items())
        for among in oracle.POPULATIONS
    ]
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    means = np.array([among @ rates for among in oracle.POPULATIONS])
    squares = np.array([among @ rates**2 for among in oracle.POPULATIONS])
    values = (squares - means**2) / (means * (1 - means))
    mu = weight @ values
    sigma = sqrt(weight @ (values - mu) ** 2)
    _, lo, hi = beta_row(mu, sigma, (1 - confidence) / 2)
    row = fitted(outcomes(states), confidence=confidence)
    # The oracle sums over 241 rates, the package has Beta moments.
    assert row["icc"] == pytest.approx(mu, rel=2e-3)
    # The ends lie between two of the six correlations of the populations.
    between = [0, 0.0165, 0.065, 0.175, 0.375, 0.65, 1]
    assert row["icc_lo"] == pytest.approx(max(each for each in between if each <= lo))
    assert row["icc_hi"] == pytest.approx(min(each for each in between if each >= hi))


@pytest.mark.parametrize("w", [[0, 1], [-1, 3], [2, 1]])
def test_the_mean_is_that_of_the_questions_as_a_sample(w):
    states = {(5, 3): 2, (4, 4): 3, (8, 1): 4}
    each = np.repeat([c / n for n, c in states], [*states.values()])
    row, both = fitted(outcomes(states), w), np.append(each, [0.0, 1.0])
    half = (
        stats.t.ppf(0.975, each.size + 1)
        * stats.sem(both, ddof=0)
        * sqrt(both.size / (both.size - 1))
    )
    ends = np.sort(w[0] + (w[1] - w[0]) * (both.mean() + half * np.array([-1, 1])))
    assert row["mean"] == pytest.approx(w[0] + (w[1] - w[0]) * each.mean())
    assert [row["mean_lo"], row["mean_hi"]] == pytest.approx(ends)


def test_many_questions_do_not_prove_more_than_the_populations_know():
    # Rates of .1, .5 and .9: the mean is that of the log, whatever the nearest population has.
    row = fitted(outcomes({(8, 1): 300, (8, 4): 500, (8, 7): 400}))
    assert row["mean_lo"] < row["mean"] == pytest.approx((300 + 4 * 500 + 7 * 400) / 9600)
    assert row["icc_hi"] - row["icc_lo"] > 0.04


def test_one_question_tells_nothing_of_the_others():
    row = fitted(outcomes({(8, 4): 1}))
    assert (row["mean"], row["mean_lo"], row["mean_hi"]) == (0.5, None, None)


def test_concentration_is_rho_in_other_words(log):
    rows = log.scorio(by="domain", success=2).population()
    for s, rho in (("s", "icc"), ("s_lo", "icc_hi"), ("s_hi", "icc_lo")):
        # The same formula: two operations.
        np.testing.assert_allclose(rows[s], (1 - rows[rho]) / rows[rho], rtol=1e-14)
    assert rows.select((pl.col("s_lo") < pl.col("s")) & (pl.col("s") < pl.col("s_hi")))[
        "s_lo"
    ].all()


def test_equal_questions_have_the_least_rho_and_opposite_ones_the_largest():
    # From .003 to .8, and less what 10 or 40 % of questions of any difficulty leave between.
    equal = [fitted(outcomes({(n, n // 2): 50}))["icc"] for n in (2, 8, 32)]
    assert equal == sorted(equal, reverse=True)
    assert fitted(outcomes({(128, 64): 50}))["icc"] == pytest.approx(0.004, abs=0.001)
    opposite = fitted(outcomes({(20, 0): 400, (20, 20): 600}))
    assert opposite["icc"] == pytest.approx(0.8, abs=0.01)


# --- categories


def test_more_than_two_categories_are_refused():
    log = long([[0, 1, 2], [2, 2, 2], [0, 0, 1]])
    with pytest.raises(
        ValueError, match=r'known for success and failure, not for 3 .*: pass prior="uniform"'
    ):
        fitted(log, [0, 0.5, 1])


def test_weights_carry_their_unit():
    log = long([[0, 1, 1], [1, 1, 1], [0, 0, 1]])
    one, other = fitted(log, [0, 1]), fitted(log, [10, 20])
    for name in ("mean", "mean_lo", "mean_hi"):
        # The offset is added before or after the sums: rounding.
        assert other[name] == pytest.approx(10 + 10 * one[name], rel=1e-12)
    assert [other[name] for name in NUMBERS[3:]] == [one[name] for name in NUMBERS[3:]]
    constant = fitted(log, [3, 3])
    # Weighted sums of probabilities that add up to 1 but for rounding.
    assert [constant[name] for name in NUMBERS[:3]] == pytest.approx([3] * 3, rel=1e-12)


def test_weights_of_failure_and_success_change_nothing():
    log = outcomes(HARD)
    assert_frame_equal(log.scorio.population([0, 1]), log.scorio.population(), check_exact=True)


def test_labels_are_as_good_as_codes(log):
    words = log.with_columns(pl.col("category").replace_strict(LABELS))
    roles = {"by": "domain"}
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
    plan = unreadable(log.schema).scorio(success=2).population()
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


# A prior of each question: numbers of one question by hand, and means over strata.


BINARY = Classes((0, 1), (1,))


@pytest.fixture
def cells() -> QuestionCells:
    """Two groups of one question: 1 of 4 trials succeeded, and 4 of 4."""
    counts, group = np.array([[3, 1], [0, 4]]), np.array([0, 1])
    return QuestionCells.from_states(
        States.tally(counts, 0 * counts, group, 1 + 0 * group, 2), BINARY
    )


def test_numbers_are_those_of_a_beta_posterior_with_a_normal_interval(cells):
    rows = PosteriorInference(0.8).numbers([(ps.bayes(), "success")], cells)
    numbers = rows["bayes", None]
    posterior = stats.beta([2, 5], [4, 1])
    np.testing.assert_allclose(numbers.estimate, [0.25, 1], rtol=1e-14)
    np.testing.assert_allclose(numbers.mu, posterior.mean(), rtol=1e-12)
    np.testing.assert_allclose(numbers.sigma, posterior.std(), rtol=1e-12)
    reach = stats.norm.ppf(0.9) * posterior.std()
    np.testing.assert_allclose(numbers.lo, posterior.mean() - reach, rtol=1e-12)
    assert not numbers.law.beta


def test_each_draw_size_has_its_numbers_and_the_rank_needs_mu_alone(cells):
    inference, metric = PosteriorInference(0.95), ps.pass_at_k([1, 2])
    rows = inference.numbers([(metric, "success"), (ps.avg(), "success")], cells)
    assert [*rows] == [("pass_at_k", 1), ("pass_at_k", 2), ("avg", None)]
    mu = inference.ranking_numbers(metric, "success", 2, cells)
    np.testing.assert_array_equal(mu, rows["pass_at_k", 2].mu)


def test_the_interval_of_a_mean_over_strata_is_normal():
    mu, sigma, none = np.array([0.2, 0.6]), np.array([0.03, 0.04]), np.full(2, np.nan)
    numbers = Scores("posterior", mu, mu, Noise(sigma), none, none, PosteriorLaw(beta=False))
    strata = StrataMeans(np.array([[0, 1]]), np.ones(2))
    (lo,), (hi,), _ = PosteriorInference(0.95).mean_interval(ps.avg(), numbers, strata)
    # sqrt(0.03^2 + 0.04^2) / 2 = 0.025.
    assert (lo, hi) == pytest.approx((0.4 - 1.959964 * 0.025, 0.4 + 1.959964 * 0.025), abs=1e-7)


def test_differences_of_models_are_normal():
    mu, sigma = np.array([[0.7, 0.5]]), np.array([[0.03, 0.04]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    pair = scores.differences(np.array([0]), np.array([1]), np.array([[2.0]]))
    assert pair.diff.item() == pytest.approx(0.2)
    assert pair.lo.item() == pytest.approx(0.2 - 2 * sqrt(0.03**2 + 0.04**2))
