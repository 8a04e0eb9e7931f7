"""Several models: vectors of the study, and laws of one critical value for a table."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtr
from scipy.stats import studentized_range

from polars_scorio.decisions.gate import GatePlan, gate_verdicts
from polars_scorio.maths.comparison import Compared, Comparison, Family, from_ranges, sampled
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.families import (
    anytime_critical,
    first_end,
    holm_adjusted,
    last_end,
    planned_look_critical,
    range_within,
    rising_band,
    shared_error,
    sidak_critical,
    statement_number,
    student_critical,
    student_z,
    tukey_critical,
)
from polars_scorio.maths.interval import MeasuredPairs, Weighted, credit_estimates
from polars_scorio.maths.ranks import leading_chances, rank_ranges, selected_tail
from tests.documents import study_numbers
from tests.maths.cases import states_of

VECTORS = study_numbers("families")
Z = 1.959963984540054
# Where Tukey's integral is inverted the study has another quadrature.
CLOSE = {"rel": 1e-9, "abs": 1e-9}


def cases(rule):
    return [case for case in VECTORS if case["rule"] == rule]


def normal_models(mu, sigma):
    """Models of one stratum with independent normal errors."""
    mu, sigma = np.array([mu]), np.array([sigma])
    return from_ranges((mu, sigma, mu - Z * sigma, mu + Z * sigma), Z)


def every_pair(models):
    return np.triu_indices(models.numbers.value.shape[1], 1)


def answers(models, confidence=0.95, scope="all pairs"):
    """Ranks, tiers and the set of the best of one stratum."""
    family = Family(confidence, scope)
    places, here = family.standings(models), np.isfinite(models.numbers.value)
    lo, hi = rank_ranges(places.better, places.worse, here)
    return lo[0], hi[0], places.tier[0], family.could_be_best(models)[0]


def best_chances(models):
    """The chance of each model of one stratum to be the best."""
    value, _, mid, lo, hi = models.numbers
    if models.joint is not None:
        mid, (lo, hi) = value, models.joint.models().ends(0.025)
    return leading_chances(value, [mid, lo, hi], models.z)[0]


@pytest.mark.parametrize("case", cases(2), ids=lambda case: str(case["models"]))
def test_critical_values_are_those_of_the_study(case):
    models, confidence = np.array([case["models"]]), case["confidence"]
    pairs = models * (models - 1) // 2
    assert tukey_critical(models, confidence)[0] == pytest.approx(case["tukey"], **CLOSE)
    assert sidak_critical(pairs, confidence)[0] == pytest.approx(case["sidak_pairs"], **CLOSE)
    # All pairs need no more than so many statements of any kind.
    assert case["tukey"] <= case["sidak_pairs"] + 1e-9
    baseline = Family(confidence, "all with the baseline").critical(models)
    assert baseline.item() == pytest.approx(case["sidak_baseline"], **CLOSE)
    one_sided = -ndtri(shared_error(models - 1, confidence))
    assert one_sided[0] == pytest.approx(case["best_one_sided"], **CLOSE)


@pytest.mark.parametrize("case", cases("3 to 5"), ids=lambda case: f"{len(case['mu'])} models")
def test_verdicts_intervals_and_ranks_are_those_of_the_study(case):
    mu, sigma = case["mu"], case["sigma"]
    models = normal_models(mu, sigma)
    pairs = every_pair(models)
    differs, c = Family(0.95, "all pairs").verdicts(models, *pairs)
    gaps = models.differences(*pairs, c)
    assert c[0].tolist() == pytest.approx([case["c"]] * c.size, **CLOSE)
    assert models.z(*pairs)[0].tolist() == pytest.approx(case["z"], **CLOSE)
    assert differs[0].tolist() == case["decided"]
    assert gaps.lo[0].tolist() == pytest.approx(case["lo"], **CLOSE)
    assert gaps.hi[0].tolist() == pytest.approx(case["hi"], **CLOSE)
    lo, hi, tier, best = answers(models)
    assert lo.tolist() == case["rank_lo"]
    assert hi.tolist() == case["rank_hi"]
    assert tier.tolist() == case["tier"]
    assert best.tolist() == case["could_be_best"]
    of_leader = models.z(np.full(len(mu), np.argmax(mu)), np.arange(len(mu)))
    if of_leader.max() <= 4.5:  # the study counts models that are hopeless, the package does not
        assert best_chances(models).tolist() == pytest.approx(case["prob_best"], abs=1e-9)


@pytest.mark.parametrize("case", cases("3, baseline"), ids=lambda case: str(len(case["z"])))
def test_with_a_baseline_as_many_statements_as_other_models_hold(case):
    c = Family(0.95, "all with the baseline").critical(np.array([len(case["z"]) + 1])).item()
    assert c == pytest.approx(case["c"], **CLOSE)
    assert (np.abs(case["z"]) > c).tolist() == case["decided"]


@pytest.mark.parametrize("case", cases(5), ids=lambda case: str(case["candidates"]))
def test_the_best_of_some_candidates_has_the_confidence_of_the_study(case):
    found = 1 - 2 * selected_tail(np.array(case["candidates"]), 0.95)
    assert found == pytest.approx(case["confidence"], abs=1e-12)


@pytest.mark.parametrize("case", cases(6), ids=lambda case: str(case["p_pass"]))
def test_a_candidate_has_the_verdict_of_the_study(case):
    plan = GatePlan(0.95, 0.8, 100).shared_by(case["candidates"])
    ps = (np.array([[case[name]]]) for name in ("p_pass", "p_fail"))
    assert gate_verdicts(*ps, plan.confidence, every_stratum=False).item() == case["verdict"]


@pytest.mark.parametrize("case", cases(7), ids=lambda case: f"{len(case['k'])} points")
def test_curves_hold_at_all_their_points(case):
    known = np.ones((1, 1, len(case["k"])), np.bool_)
    sure = 0.95 ** (1 / statement_number(case["k"], known, draws=True))
    assert Family(sure).critical(np.array([2])).item() == pytest.approx(
        case["c_of_one_pair"], **CLOSE
    )
    every = Family(sure, "all pairs").critical(np.array([5])).item()
    assert every == pytest.approx(case["c_of_five_models"], **CLOSE)
    baseline = Family(sure, "all with the baseline").critical(np.array([5])).item()
    assert baseline == pytest.approx(case["c_of_baseline_and_four"], **CLOSE)


@pytest.mark.parametrize("case", cases(8), ids=lambda case: str(case["information"]))
def test_a_look_has_the_value_of_the_study(case):
    # The curve of values at the planned size is a fit, written with nine digits.
    found = anytime_critical(case["c"], case["information"])
    assert found == pytest.approx(case["at_look"], abs=1e-9)


def test_so_many_independent_statements_hold_at_once():
    c = sidak_critical(np.array([0, 1, 7]), 0.9)
    # The definition; rounding.
    np.testing.assert_allclose((1 - 2 * ndtr(-c)) ** [1, 1, 7], 0.9, rtol=1e-12)


# --- laws


class Table(NamedTuple):
    """Models of one stratum under a law of their differences, from arrays with a column each."""

    of: Callable[..., Comparison]
    arrays: tuple[np.ndarray, ...]
    turned: Callable[[np.ndarray], np.ndarray] = np.negative  # scores that are lower if better

    def models(self, kept=slice(None)):
        """All models, or some of them."""
        return self.of(*(array[..., kept] for array in self.arrays))

    def reversed(self):
        """The models by scores that are the lower the better they were."""
        score, *rest = self.arrays
        return self.of(self.turned(score), *rest)


def sampled_models(values):
    """Models of one stratum by their values of each question, (questions, models)."""
    return sampled(paired_means(values, np.array([0]), 1.0), limit=1.0)


def counted_models(successes):
    """Models of one stratum by their successes in three trials of each question."""
    states = states_of(
        *([(3, c, n) for c, n in Counter(column.tolist()).items()] for column in successes.T)
    )
    side = credit_estimates(Weighted(states), [fixed_gains(np.ones(1))]).at(0)
    compared = Compared.from_numbers(
        side.mu[None], side.sigma[None], *(e[None] for e in side.ends(0.025))
    )
    return Comparison(compared, partial(MeasuredPairs.from_side, side, 1), limit=1.0)


@st.composite
def unequal_noise(draw):
    """Scores and unequal normal noise of 2 to 12 models, as if of a log."""
    models = draw(st.integers(2, 12))
    mu = draw(st.lists(st.floats(-2, 2), min_size=models, max_size=models))
    sigma = draw(st.lists(st.floats(0.05, 1.5), min_size=models, max_size=models))
    return Table(normal_models, (np.array(mu), np.array(sigma)))


@st.composite
def rates(draw):
    """Rates of 2 to 12 models on 2 to 30 questions."""
    questions, models = draw(st.integers(2, 30)), draw(st.integers(2, 12))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random.beta(2, 2, (questions, 1)) ** random.uniform(0.2, 4, models), random


# Differences are normal, Student's (on a sample of questions), or of outcomes of these questions.
LAWS = {
    "normal": unequal_noise(),
    "student": rates().map(lambda drawn: Table(sampled_models, drawn[:1])),
    "discrete": rates().map(
        lambda drawn: Table(counted_models, (drawn[1].binomial(3, drawn[0]),), lambda c: 3 - c)
    ),
}
ALL_LAWS = pytest.mark.parametrize("tables", LAWS.values(), ids=LAWS)
CONFIDENCES = st.floats(0.5, 0.999)


@ALL_LAWS
@given(st.data(), CONFIDENCES)
def test_a_model_is_better_if_and_only_if_zero_lies_outside(tables, data, confidence):
    models = data.draw(tables).models()
    pairs = every_pair(models)
    for scope in ("each pair", "all pairs", "all with the baseline"):
        differs, c = Family(confidence, scope).verdicts(models, *pairs)
        gaps = models.differences(*pairs, c)
        assert np.unique(c).size == 1
        assert (differs == ((gaps.lo > 0) | (gaps.hi < 0))).all()
        z = np.abs(models.z(*pairs))
        clear = np.abs(z - c) > 1e-9
        assert ((z > c) == differs)[clear].all()


@ALL_LAWS
@given(st.data(), CONFIDENCES)
def test_fewer_models_or_a_baseline_undo_no_verdict(tables, data, confidence):
    table = data.draw(tables)
    models = table.models()
    most = models.numbers.value.size - 1
    kept = np.array(sorted(data.draw(st.sets(st.integers(0, most), min_size=2))))
    fewer = table.models(kept)
    a, b = every_pair(fewer)
    every = Family(confidence, "all pairs")
    before, _ = every.verdicts(models, kept[a], kept[b])
    after, _ = every.verdicts(fewer, a, b)
    baseline, _ = Family(confidence, "all with the baseline").verdicts(models, kept[a], kept[b])
    assert not (before & ~after).any()
    assert not (before & ~baseline).any()


@ALL_LAWS
@given(st.data(), CONFIDENCES, st.floats(0, 1))
def test_more_confidence_names_no_more_models(tables, data, confidence, share):
    more = confidence + share * (0.9999 - confidence)
    models = data.draw(tables).models()
    less_sure, surer = (Family(each, "all pairs") for each in (confidence, more))
    pairs = every_pair(models)
    assert not (surer.verdicts(models, *pairs)[0] & ~less_sure.verdicts(models, *pairs)[0]).any()
    assert not (less_sure.could_be_best(models) & ~surer.could_be_best(models)).any()


@ALL_LAWS
@given(st.data(), CONFIDENCES)
def test_ranks_tiers_and_the_best_agree(tables, data, confidence):
    models = data.draw(tables).models()
    value = models.numbers.value[0]
    order = np.argsort(np.argsort(-value, kind="stable"), kind="stable") + 1
    for scope in ("all pairs", "all with the baseline"):
        lo, hi, tier, best = answers(models, confidence, scope)
        assert ((tier == 1) == (lo == 1)).all()
        assert (tier <= lo).all()
        assert (lo <= order).all()
        assert (order <= hi).all()
        assert (tier[best] == 1).all()
        assert best[value.argmax()]
        # Of models that are the best with the same chance to rounding, one at least.
        chances = best_chances(models)
        assert best[chances >= chances.max() - 1e-12].any()


@ALL_LAWS
@given(st.data(), CONFIDENCES)
def test_lower_is_better_turns_all_round(tables, data, confidence):
    table = data.draw(tables)
    family = Family(confidence, "all pairs")
    lower, turned = table.models().reversed(), table.reversed()
    for one, other in zip(family.standings(lower), family.standings(turned), strict=True):
        assert (one == other).all()
    assert (family.could_be_best(lower) == family.could_be_best(turned)).all()


def test_models_without_a_number_do_not_count():
    mu, sigma = np.array([0.3, np.nan, 0.1, np.nan, 0.2]), np.full(5, 0.05)
    models = normal_models(mu, np.where(np.isnan(mu), np.nan, sigma))
    differs, c = Family(0.95, "all pairs").verdicts(models, *every_pair(models))
    assert c[0, 0] == tukey_critical(np.array([3]), 0.95)[0]
    assert differs.sum() == 1
    alone = normal_models(np.array([0.3]), np.array([0.1]))
    lo, hi, tier, best = answers(alone)
    assert (lo[0], hi[0], tier[0], best[0]) == (1, 1, 1, True)
    assert Family(0.95, "all pairs").verdicts(alone, *every_pair(alone))[0].shape == (1, 0)
    empty = from_ranges(tuple(np.empty((4, 0, 3))), Z)
    assert Family(0.95, "all pairs").verdicts(empty, *every_pair(empty))[0].shape == (0, 3)


def test_two_models_have_one_value_everywhere():
    number = np.array([2])
    for scope in ("each pair", "all pairs", "all with the baseline"):
        assert Family(0.95, scope).critical(number).item() == pytest.approx(Z, abs=1e-12)


p_values = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=7)


def test_adjusted_values_are_those_of_the_study():
    for row in study_numbers("decisions")["gate"]["holm"]:
        np.testing.assert_allclose(holm_adjusted(np.array(row["p"])), row["adjusted"], atol=1e-12)


@given(p_values, st.floats(0.01, 0.5))
def test_rejections_are_those_of_the_procedure_step_by_step(p, error):
    left, rejected = [*range(len(p))], set()
    while left:
        least = min(left, key=lambda row: p[row])
        if p[least] > error / len(left):
            break
        rejected.add(least)
        left.remove(least)
    found = holm_adjusted(np.array(p))
    for row, adjusted in enumerate(found):
        if abs(adjusted - error) > 1e-12:
            assert (adjusted <= error) == (row in rejected)


@given(p_values)
def test_an_unknown_value_counts_as_one(p):
    known, unknown = np.array([*p, 1.0]), np.array([*p, np.nan])
    np.testing.assert_array_equal(holm_adjusted(unknown), holm_adjusted(known))


def test_families_are_rows():
    p = np.array([[0.01, 0.04], [0.2, 0.001]])
    np.testing.assert_allclose(holm_adjusted(p), [[0.02, 0.04], [0.2, 0.002]])


# The studentized range, against SciPy and in simulation.


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_equals_the_studentized_range_of_scipy(confidence):
    models = np.array([2, 3, 7, 20, 100])
    oracle = studentized_range.ppf(confidence, models, np.inf) / np.sqrt(2)
    # SciPy's own quantile holds about 1e-6.
    np.testing.assert_allclose(tukey_critical(models, confidence), oracle, rtol=3e-6)


def test_no_pair_needs_no_more_than_one():
    z = ndtri(0.975)
    # The same quantile of the normal: rounding.
    np.testing.assert_allclose(tukey_critical(np.array([0, 1, 2]), 0.95), z, rtol=1e-12)


def test_a_thousand_models_hold_the_confidence_in_simulation():
    draws = np.random.default_rng(1).normal(size=(4000, 1000))
    held = np.ptp(draws, axis=1) <= np.sqrt(2) * tukey_critical(np.array([1000]), 0.95)
    assert held.mean() == pytest.approx(0.95, abs=0.011)  # three standard errors


def test_unequal_sigmas_hold_at_least_the_confidence():
    random = np.random.default_rng(2)
    sigma = np.array([0.1, 1.0, 1.0, 3.0, 9.0])
    draws = sigma * random.normal(size=(20_000, 5))
    a, b = np.triu_indices(5, 1)
    reach = np.abs(draws[:, a] - draws[:, b]) / np.hypot(sigma[a], sigma[b])
    assert (reach.max(axis=1) <= tukey_critical(np.array([5]), 0.95)).mean() >= 0.95


def test_a_hundred_thousand_models_need_no_finer_steps():
    models, c = np.array([100_000]), np.array([6.0])
    fine = np.arange(-9, 9, 1 / 512)
    chance = (ndtr(fine + np.sqrt(2) * c) - ndtr(fine)) ** (models - 1)
    oracle = models * np.sum(chance * np.exp(-(fine**2) / 2)) / 512 / np.sqrt(2 * np.pi)
    # Both are trapezoidal sums of a smooth function, which converge fast.
    np.testing.assert_allclose(range_within(models, c), oracle, rtol=1e-9)


# Curves over k: how many statements they make, and how they are read from both ends.


OF_CURVES = study_numbers("curves")
OF_FAMILIES = [case for case in study_numbers("families") if case["rule"] == 7]


@pytest.mark.parametrize("case", OF_FAMILIES, ids=lambda case: f"{len(case['k'])} points")
def test_each_doubling_of_k_is_one_more_statement(case):
    number = statement_number(case["k"], np.ones(len(case["k"]), bool), draws=True)
    assert number == pytest.approx(case["points"], abs=1e-9)


def test_draws_without_a_number_and_thresholds():
    sizes = [1, 2, 4, 8]
    known = np.array([[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]], bool)
    assert statement_number(sizes, known, draws=True).tolist() == [2, 1, 1, 3]
    thresholds = [5, 6, 7, 8]
    assert statement_number(thresholds, known, draws=False).tolist() == [2, 1, 1, 3]
    assert statement_number(thresholds, np.ones(4, bool), draws=False) == 4


@pytest.mark.parametrize("case", OF_CURVES["read_curve"])
def test_verdicts_are_read_from_both_ends(case):
    lo, hi = np.array(case["lo"]), np.array(case["hi"])
    curve = np.array(case["k"]), 1.0 * (lo > 0) - (hi < 0), np.ones(lo.size, bool)
    for name, stretch in (("first", first_end(*curve)), ("last", last_end(*curve))):
        found = [int(stretch.sign), int(stretch.reach)]
        assert found == (case[name] or [0, 0])


def test_a_curve_ends_where_its_points_end():
    k, sign = np.array([1, 2, 4, 8]), np.array([1, 1, -1, np.nan])
    assert [int(each) for each in first_end(k, sign, ~np.isnan(sign))] == [1, 2]
    assert [int(each) for each in last_end(k, sign, ~np.isnan(sign))] == [-1, 4]
    nothing = np.full(4, np.nan)
    assert [int(each) for each in first_end(k, nothing, ~np.isnan(nothing))] == [0, 0]


def test_a_curve_that_never_falls_has_a_band_that_never_falls():
    lo, hi = np.array([[0.1], [0.3], [0.2], [np.nan]]), np.array([[0.4], [0.7], [0.6], [np.nan]])
    low, high = rising_band(lo, hi)
    assert low.ravel()[:3].tolist() == [0.1, 0.3, 0.3]
    assert high.ravel()[:3].tolist() == [0.4, 0.6, 0.6]
    assert np.isnan([low[3], high[3]]).all()


OF_LOOKS = study_numbers("decisions")["anytime"]


def test_constants_are_those_of_the_study():
    for row in OF_LOOKS["constant"]:
        assert planned_look_critical(row["z"]) == pytest.approx(row["c"], abs=1e-12)


def test_multipliers_are_those_of_the_study():
    for row in OF_LOOKS["multiplier"]:
        z = ndtri((1 + row["confidence"]) / 2)
        assert anytime_critical(z, row["t"]) == pytest.approx(row["m"], abs=1e-12)


def test_a_brownian_motion_crosses_the_boundary_as_rarely_as_promised():
    # 4,000 paths over 8 octaves around the plan, 32 looks in each; the promise is .05 for all time,
    # and one standard error of this simulation is .0034.
    random, share = np.random.default_rng(0), 2 ** np.linspace(-4, 4, 257)
    steps = np.sqrt(np.diff(share, prepend=0.0))
    paths = np.cumsum(random.standard_normal((4_000, share.size)) * steps, axis=1)
    boundary = anytime_critical(ndtri(0.975), share) * np.sqrt(share)
    crossed = (np.abs(paths) > boundary).any(axis=1).mean()
    assert 0.02 < crossed < 0.055


@given(st.floats(0.0, 6.0), st.floats(1e-3, 1e3))
def test_a_boundary_is_the_same_as_far_before_the_plan_as_beyond_it(z, share):
    ahead, beyond = anytime_critical(z, share), anytime_critical(z, 1 / share)
    assert ahead == pytest.approx(beyond, rel=1e-12)
    assert ahead >= planned_look_critical(z) > z


@given(st.floats(0.0, 6.0), st.floats(1e-3, 1.0), st.floats(0.01, 1.0))
def test_boundaries_grow_with_the_confidence_and_away_from_the_plan(z, share, more):
    assert anytime_critical(z + more, share) > anytime_critical(z, share)
    assert anytime_critical(z, share * (1 - more / 2)) > anytime_critical(z, share)


@given(st.floats(0.1, 8.0), st.integers(1, 500))
def test_students_value_has_the_tail_of_the_normal_one(c, freedom):
    found = student_critical(np.array([c]), np.array([float(freedom)]))
    assert stdtr(freedom, -found) == pytest.approx(ndtr(-c), rel=1e-6)
    assert student_z(found, np.array([float(freedom)])) == pytest.approx(c, rel=1e-6)


def test_without_degrees_of_freedom_there_is_no_value():
    assert np.isnan(student_critical(2.0, np.array([np.nan, 0.0]))).all()
