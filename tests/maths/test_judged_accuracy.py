import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri

from polars_scorio.maths.judges import judged_accuracy, judged_difference
from polars_scorio.maths.labels import LabelledQuestions
from tests.documents import study_numbers
from tests.maths.cases import JUDGES, rates_of

Z = ndtri(0.975)
SHARES = st.integers(0, 100).map(lambda i: i / 100)
GAPS = st.integers(-1_000, 1_000).map(lambda i: i / 1_000)
REACHES = st.integers(1, 1_000).map(lambda i: i / 1_000)
GOOD = st.integers(70, 100)


def one(number):
    return np.array([float(number)])


def test_accuracies_are_those_of_the_study():
    for row in JUDGES["accuracy"]:
        rates = rates_of(row["sensitivity"], row["specificity"])
        found = judged_accuracy(one(row["r"]), one(row["N"]), rates, Z)
        assert [x.item() for x in found] == pytest.approx(
            [row["estimate"], row["lo"], row["hi"]], abs=1e-9
        )


def test_differences_are_those_of_the_study():
    for row in JUDGES["difference"]:
        rates = rates_of(row["sensitivity"], row["specificity"])
        reach = one(Z * np.sqrt(row["variance_a"] + row["variance_b"]))
        found = judged_difference(one(row["r_a"] - row["r_b"]), (reach, reach), rates, Z)
        assert [x.item() for x in found] == pytest.approx(
            [row["diff"], row["lo"], row["hi"]], abs=1e-9
        )


@given(SHARES, st.integers(5, 500), GOOD, GOOD)
def test_accuracies_outside_the_interval_are_rejected_and_inside_accepted(r, n, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    estimate, lo, hi = (x.item() for x in judged_accuracy(one(r), one(n), rates, Z))
    if np.isnan(estimate):
        return
    assert 0 <= lo <= estimate <= hi <= 1
    f, index = 1 - rates.adjusted[1].item(), rates.adjusted_index.item()
    v1, v0 = rates.variance.ravel().tolist()

    def excess(theta):
        expected = f + theta * index
        noise = expected * (1 - expected) / n + theta**2 * v1 + (1 - theta) ** 2 * v0
        return (r - expected) ** 2 - Z**2 * noise

    # Where the estimate is an end, it widens the interval and may itself be rejected.
    assert lo in (0.0, estimate) or excess(lo) == pytest.approx(0, abs=1e-9)
    assert hi in (1.0, estimate) or excess(hi) == pytest.approx(0, abs=1e-9)
    assert excess(max(lo - 0.01, -1)) > -1e-12 or lo == 0
    assert excess(min(hi + 0.01, 2)) > -1e-12 or hi == 1


def test_a_perfect_judge_with_endless_labels_changes_nothing():
    many = 1e12
    rates = rates_of((many, many), (many, many))
    estimate, lo, hi = judged_accuracy(one(0.3), one(50), rates, Z)
    centre = (0.3 + Z**2 / 100) / (1 + Z**2 / 50)  # Wilson's interval
    half = Z * np.sqrt(0.3 * 0.7 / 50 + Z**2 / 10_000) / (1 + Z**2 / 50)
    assert estimate == pytest.approx(0.3, abs=1e-9)
    assert (lo.item(), hi.item()) == pytest.approx((centre - half, centre + half), abs=1e-6)
    gap = judged_difference(one(0.1), (one(0.04), one(0.05)), rates, Z)
    assert [x.item() for x in gap] == pytest.approx([0.1, 0.06, 0.15], abs=1e-6)


def test_a_judge_like_a_coin_tells_nothing():
    rates = rates_of((5, 10), (5, 10))
    assert np.isnan(judged_accuracy(one(0.5), one(100), rates, Z)).all()
    assert np.isnan(judged_difference(one(0.5), (one(0.1), one(0.1)), rates, Z)).all()


def test_verdicts_that_contradict_the_calibration_sample_give_no_number():
    # All answers are judged right although 98 of 100 wrong ones were judged wrong, and 60 of 100
    # right ones right: no accuracy explains it.
    rates = rates_of((60, 100), (98, 100))
    assert np.isnan(judged_accuracy(one(1.0), one(1e6), rates, Z)).all()


@given(GAPS, REACHES, REACHES, GOOD, GOOD)
def test_zero_is_inside_exactly_if_it_is_for_the_verdicts(diff, down, up, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    _, lo, hi = judged_difference(one(diff), (one(down), one(up)), rates, Z)
    assert (lo.item() > 0) == (diff - down > 0)
    assert (hi.item() < 0) == (diff + up < 0)


@given(GAPS, REACHES, REACHES, GOOD, GOOD)
def test_differences_are_antisymmetric(diff, down, up, kept, spared):
    rates = rates_of((kept, 100), (spared, 100))
    found = judged_difference(one(diff), (one(down), one(up)), rates, Z)
    other = judged_difference(one(-diff), (one(up), one(down)), rates, Z)
    assert found.estimate == -other.estimate
    assert found.lo == pytest.approx(-other.hi)
    assert found.hi == pytest.approx(-other.lo)


CELL = st.integers(0, 3)


def questions_of(trials, verdicts, labels, group=None):
    labels = np.asarray(labels, dtype=float)
    group = np.zeros(len(labels), dtype=int) if group is None else np.asarray(group)
    numbers = (np.asarray(each, dtype=float) for each in (trials, verdicts))
    return LabelledQuestions(group, int(group.max()) + 1, *numbers, labels)


@pytest.mark.parametrize("case", study_numbers("repairs")["judged"])
def test_labelled_accuracies_are_those_of_the_study(case):
    log = questions_of(case["trials"], case["verdicts"], case["labels"])
    rate = log.accuracy(case["confidence"], case["target"])
    found = np.array([rate.estimate.item(), rate.lo.item(), rate.hi.item()])
    if case["estimate_lo_hi"] is None:  # fewer than five labels of a verdict
        assert np.isnan(found).all()
    else:
        np.testing.assert_allclose(found, case["estimate_lo_hi"], atol=1e-9)


def second_variance(trials, verdicts, labels):
    """Variance of the estimate about these questions, question by question."""
    m, totals = len(trials), labels.sum(axis=0)
    r = np.mean(verdicts / trials)
    weighted = (labels / trials[:, None]).sum(axis=0)
    shares = [weighted[row + 1] / weighted[row] if weighted[row] else 0.0 for row in (0, 2)]
    smooth = [(totals[row + 1] + 0.5) / (totals[row] + 1) for row in (0, 2)]
    e = r * smooth[0] + (1 - r) * smooth[1]
    judged = verdicts.sum(), (trials - verdicts).sum()
    of_labels, gains = 0.0, np.zeros(m)
    for side, part in enumerate((r, 1 - r)):
        row, given = 2 * side, max(totals[2 * side], 1)
        unlabelled = max(1 - given / max(judged[side], 1), 0)
        of_labels += part**2 * smooth[side] * (1 - smooth[side]) / given * unlabelled
        for j in range(m):
            away = labels[j, row + 1] - shares[side] * labels[j, row]
            gains[j] += part / weighted[row] * away / trials[j] if labels[j, row] else 0
    q = (labels[:, [0, 2]].sum(axis=1) > 0).sum()
    between = (1 - q / m) * q / (q - 1) * (gains**2).sum()
    rate = verdicts / trials
    noise = np.where(trials > 1, rate * (1 - rate) / np.maximum(trials - 1, 1), r * (1 - r))
    least = e * (1 - e) / trials.sum()
    of_verdicts = max((shares[0] - shares[1]) ** 2 * noise.sum() / m**2, least)
    offsets = shares[1] + (shares[0] - shares[1]) * rate - r * shares[0] - (1 - r) * shares[1]
    sampled = m / (m - 1) * (offsets**2).sum() / m**2
    both = m / (m - 1) * ((offsets / m + gains) ** 2).sum()
    floor = e * (1 - e) / (trials.sum() if sampled > 0 else m)
    of_all = max(both, of_labels + sampled, floor)
    return min(max(of_labels, between) + of_verdicts, of_all)


@given(st.integers(0, 10_000), st.integers(12, 40), st.integers(1, 5), st.floats(0.2, 1))
def test_the_variance_against_a_second_calculation(seed, questions, n, share):
    random = np.random.default_rng(seed)
    trials = np.full(questions, float(n))
    verdicts = random.binomial(n, random.random(questions)).astype(float)
    counts = np.stack([verdicts, trials - verdicts], axis=1)
    given_labels = random.binomial(counts.astype(int), share)
    right = random.binomial(given_labels, [0.8, 0.2])
    labels = np.stack([given_labels, right], axis=2).reshape(questions, 4).astype(float)
    log = questions_of(trials, verdicts, labels)
    sigma = log.accuracy(0.95, "benchmark").sigma.item()
    assume(not np.isnan(sigma))
    assert sigma == pytest.approx(np.sqrt(second_variance(trials, verdicts, labels)), rel=1e-9)
    # These very questions are never less certain than all that could have been asked.
    assert sigma <= log.accuracy(0.95, "population").sigma.item()


@st.composite
def labelled_logs(draw):
    """Questions with four trials each, all of which are labelled."""
    rows = draw(st.lists(st.tuples(st.integers(0, 4), CELL, CELL), min_size=2, max_size=8))
    labels = [(v, min(a, v), 4 - v, min(b, 4 - v)) for v, a, b in rows]
    return np.array(labels, dtype=float)


@given(labelled_logs(), st.sampled_from(["benchmark", "population"]))
def test_all_trials_labelled_give_the_mean_of_the_labels(labels, target):
    rate = questions_of(np.full(len(labels), 4), labels[:, 0], labels).accuracy(0.95, target)
    truth = labels[:, [1, 3]].sum() / (4 * len(labels))
    assert rate.estimate == pytest.approx(truth)
    assert 0 <= rate.lo <= rate.estimate + 1e-12
    assert rate.estimate <= rate.hi + 1e-12 <= 1 + 1e-11


@given(labelled_logs())
def test_groups_are_independent(labels):
    trials = np.full(len(labels), 4)
    alone = questions_of(trials, labels[:, 0], labels).accuracy(0.9, "benchmark")
    twice = np.vstack([labels, labels])
    group = np.repeat([0, 1], len(labels))
    both = questions_of(np.tile(trials, 2), twice[:, 0], twice, group).accuracy(0.9, "benchmark")
    np.testing.assert_allclose(both.lo, np.repeat(alone.lo, 2), rtol=1e-9, atol=1e-12)


def test_longer_questions_count_as_much_as_shorter_ones():
    # Both questions are labelled in full: one of 8 trials is right throughout, one of 2 never.
    labels = [(8, 8, 0, 0), (0, 0, 2, 0)]
    rate = questions_of([8, 2], [8, 0], labels).accuracy(0.95, "benchmark")
    assert rate.estimate == pytest.approx(0.5)


def test_a_single_labelled_question_gives_no_number():
    labels = [(4, 3, 0, 0), (0, 0, 0, 0)]
    rate = questions_of([4, 4], [4, 2], labels).accuracy(0.95, "benchmark")
    assert np.isnan([rate.estimate, rate.lo, rate.hi, rate.sigma]).all()


def test_more_confidence_is_wider():
    labels = [(3, 3, 0, 0), (1, 0, 1, 1), (0, 0, 2, 0), (2, 2, 0, 0), (0, 0, 4, 1)]
    log = questions_of([4] * 5, [4, 2, 1, 3, 0], labels)
    narrow, wide = log.accuracy(0.8, "benchmark"), log.accuracy(0.95, "benchmark")
    assert wide.lo < narrow.lo
    assert narrow.hi < wide.hi
