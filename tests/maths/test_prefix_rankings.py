"""Convergence of rankings, against loops over replicates, trials and pairs of models."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor, isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import polars_scorio as ps
from polars_scorio.maths import prefix_rankings as module
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.posteriors import Pooled, SeparatePosteriors
from polars_scorio.maths.prefix_rankings import (
    Convergence,
    competition_ranks,
    ranking_convergence,
    tau_b,
)
from polars_scorio.maths.questions import States
from polars_scorio.metrics import Metric
from tests.made_logs import law
from tests.maths.outcomes import Log, Vector, log_of, logs, longest, outcomes, state, tallied

Models = list[list[tuple[Vector, Vector]]]  # the states of the questions of each model
MODELS = st.integers(1, 4).flatmap(
    lambda questions: st.integers(1, 4).map(lambda models: [questions] * models)
)


def score_by(metric: Metric) -> Callable[[States], Floats]:
    return lambda states: metric.summary(SeparatePosteriors(states), metric.k[0]).mu


def success(states: States) -> Floats:
    """Share of class 1: simpler than any metric."""
    return states.mean(states.counts[:, 1] / states.counts.sum(axis=1))


def drawn(log: Log, seed: int, replicates: int, scheme: str) -> list[Log]:
    """Replicates of a log: one uniform number for each replicate, trial and question or model."""
    n, size = max(map(longest, log)), len(log[0])
    columns = len(log) * (size if scheme == "question" else 1)
    uniform = np.random.default_rng(seed).random((replicates, n, columns)).tolist()

    def question(rows: list[list[float]], g: int, i: int) -> tuple[list[int], Vector]:
        trials, prior = log[g][i]
        column = g * size + i if scheme == "question" else g
        return [trials[floor(row[column] * len(trials))] for row in rows[: len(trials)]], prior

    return [
        [[question(rows, g, i) for i in range(size)] for g in range(len(log))] for rows in uniform
    ]


def ranking(scores: Sequence[float | Fraction], tolerance: float = 1e-12) -> list[int]:
    """Competition ranks, down the sorted list."""
    ranks, order = [0] * len(scores), sorted(range(len(scores)), key=lambda i: -scores[i])
    for place, i in enumerate(order):
        before = order[place - 1]
        tied = place > 0 and scores[before] - scores[i] <= tolerance
        ranks[i] = ranks[before] if tied else place + 1
    return ranks


def tau(ranks: list[int], gold: list[int]) -> float:
    pairs = list(combinations(range(len(gold)), 2))
    a, b = ([np.sign(r[i] - r[j]) for i, j in pairs] for r in (ranks, gold))
    untied = np.abs(a).sum() * np.abs(b).sum() if pairs else 0
    return np.dot(a, b) / sqrt(untied) if untied else nan


def oracle(
    log: Log, replicates: list[Log], scores: Callable[[Models], Sequence[float | Fraction]]
) -> Convergence:
    length = max(map(longest, log))

    def rankings(log: Log) -> list[list[int]]:
        return [
            ranking(scores([[state(question, n) for question in model] for model in log]))
            for n in range(1, length + 1)
        ]

    gold = rankings(log)[-1]
    share, taus = np.zeros(length + 1), []
    for replicate in replicates or [log]:
        ranks = rankings(replicate)
        settled = (n for n in range(length) if all(rank == gold for rank in ranks[n:]))
        share[next(settled, length)] += 1
        taus.append([tau(rank, gold) for rank in ranks])
    known = [[each for each in column if not isnan(each)] for column in zip(*taus, strict=True)]
    share /= share.sum()
    mean = np.array([sum(column) / len(column) if column else nan for column in known])
    return Convergence(share[:-1], share[-1], mean)


def assert_same(found: Convergence, expected: Convergence) -> None:
    np.testing.assert_array_equal(found.share, expected.share)
    assert found.never == expected.never
    np.testing.assert_allclose(found.tau, expected.tau, rtol=0, atol=1e-14)  # a mean, rounded


def of(log: Log, score: Callable[[States], Floats], seed: int = 0, **options: object):
    options = {"replicates": 0, "scheme": "question", **options}
    return ranking_convergence(outcomes(log), score, rng=np.random.default_rng(seed), **options)


# --- rankings


@law
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=9),
    st.sampled_from([0.0, 1.0, 2.0]),
)
def test_ties_run_down_the_sorted_list(rows, tolerance):
    found = competition_ranks(np.array(rows, dtype=np.float64), tolerance)
    assert found.T.tolist() == [ranking(row, tolerance) for row in rows]


def test_many_models_have_large_ranks():
    assert competition_ranks(np.arange(300.0)[None], 0)[:, 0].tolist() == list(range(300, 0, -1))


def test_a_score_that_is_not_a_number_leaves_no_ranking():
    ranks = competition_ranks(np.array([[0.1, nan, 0.3], [0.1, 0.2, 0.3]]), 0)
    assert ranks.T.tolist() == [[0, 0, 0], [3, 2, 1]]
    np.testing.assert_array_equal(tau_b(ranks, ranks[:, 1]), [nan, 1])


@law
@given(st.integers(2, 7).flatmap(lambda n: st.lists(
    st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=2, max_size=9
)))  # fmt: skip
def test_tau_is_that_of_scipy(rows):
    ranks = competition_ranks(np.array(rows, dtype=np.float64), 0)
    gold = ranks[:, 0]
    expected = [stats.kendalltau(row, gold).statistic for row in ranks.T]
    # Whole numbers, a root and a quotient: a few roundings.
    np.testing.assert_allclose(tau_b(ranks, gold), expected, rtol=1e-15, atol=0)


def test_tau_of_many_models_counts_all_pairs():
    gold = np.arange(1, 301)
    ranks = np.column_stack([gold, gold[::-1]]).astype(np.uint16)
    np.testing.assert_array_equal(tau_b(ranks, gold), [1, -1])


# --- known cases


@pytest.mark.parametrize(
    ("models", "share", "never", "tau"),
    [
        pytest.param([[[1, 1, 1]], [[0, 0, 0]]], [1, 0, 0], 0, [1, 1, 1], id="at once"),
        pytest.param([[[0, 1, 1]], [[1, 0, 0]]], [0, 0, 1], 0, [-1, nan, 1], id="last"),
        # Ahead, tied, behind, tied, ahead.
        pytest.param(
            [[[1, 0, 0, 1, 1]], [[0, 1, 1, 0, 0]]], [0, 0, 0, 0, 1], 0, [1, nan, -1, nan, 1],
            id="lost again",
        ),
        pytest.param([[[1, 0]], [[0, 1]]], [0, 1], 0, [nan, nan], id="all tied"),
        # Ranks 1, 1, 3 and 1, 2, 2: one pair of three agrees, either ties one: 1 / sqrt(2 * 2).
        pytest.param([[[1, 1]], [[1, 0]], [[0, 1]]], [0, 1], 0, [0.5, 1], id="some tied"),
        # The first question of each stays at 1 of 1.
        pytest.param([[[1], [0, 1, 1]], [[1], [0, 0, 0]]], [0, 1, 0], 0, [nan, 1, 1], id="ragged"),
        pytest.param([[[0, 1]]], [1, 0], 0, [nan, nan], id="one model"),
    ],
)  # fmt: skip
def test_the_log_as_it_is(models, share, never, tau):
    found = of(log_of(*models), success)
    assert (found.share.tolist(), found.never) == (share, never)
    np.testing.assert_array_equal(found.tau, tau)


class Given:
    """A generator whose numbers are known."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = np.array(numbers)

    def random(self, shape: tuple[int, ...]) -> Floats:
        return self.numbers.reshape(shape)


def test_replicates_are_compared_with_the_log():
    log = outcomes(log_of([[1, 1, 0]], [[0, 1, 0]]))
    # Each row is one trial of both models. First replicate: 0, 1, 1 against 1, 0, 0: behind, tied,
    # ahead. Second: 0, 0, 0 against 1, 1, 0: always behind, and so it ends.
    draws = [0.9, 0.4, 0, 0, 0.5, 0.1, 0.9, 0.4, 0.7, 0.4, 0.8, 0.9]
    found = ranking_convergence(log, success, replicates=2, scheme="trial", rng=Given(*draws))
    assert (found.share.tolist(), found.never) == ([0, 0, 0.5], 0.5)
    np.testing.assert_array_equal(found.tau, [-1, -1, 0])


def test_shares_are_the_probabilities_of_the_bootstrap():
    # The first model leads from its first success on, in either trial with probability 1/2.
    found = of(log_of([[1, 0]], [[0, 0]]), success, replicates=20_000)
    # Four standard deviations of a share are at most 4 sqrt(0.25 / 20,000) = 0.014.
    assert found.share == pytest.approx([0.5, 0.25], abs=0.014)
    assert found.never == pytest.approx(0.25, abs=0.014)
    assert found.tau.tolist() == [1, 1]  # what is tied has none


def test_trials_are_drawn_for_all_questions_of_a_model_or_for_each():
    mirrored = [[0, 1], [1, 0]]
    both = log_of(mirrored, mirrored)
    together = of(both, success, replicates=50, scheme="trial")
    assert (together.share.tolist(), together.never) == ([1, 0], 0)
    assert of(both, success, replicates=50, scheme="question").never > 0


# --- oracle


@law
@given(logs(MODELS), st.integers(0, 2), st.integers(0, 99))
def test_equals_exact_arithmetic_question_by_question(log, replicates, seed):
    metric = ps.bayes(range(len(log[0][0][1])))

    def exact(models: Models) -> list[Fraction]:
        def mean(counts: Vector, prior: Vector) -> Fraction:
            nu = [1 + c + d for c, d in zip(counts, prior, strict=True)]
            return Fraction(sum(w * each for w, each in enumerate(nu)), sum(nu))

        return [sum(mean(*state) for state in model) / len(model) for model in models]

    found = of(log, score_by(metric), seed, replicates=replicates)
    assert_same(found, oracle(log, drawn(log, seed, replicates, "question"), exact))


@law
@given(logs(MODELS, equal=True), st.integers(0, 99))
def test_equals_exact_arithmetic_trial_by_trial(log, seed):
    def exact(models: Models) -> list[Fraction]:
        return [
            sum(Fraction(counts[1], sum(counts)) for counts, _ in model) / len(model)
            for model in models
        ]

    found = of(log, success, seed, replicates=3, scheme="trial")
    assert_same(found, oracle(log, drawn(log, seed, 3, "trial"), exact))


def random_log(classes: int, *, models: int = 4, questions: int = 3, trials: int = 6) -> Log:
    """Ragged, with prior trials of some questions."""
    rng = np.random.default_rng(classes)

    def question() -> tuple[list[int], Vector]:
        prior = rng.multinomial(rng.integers(3), [1 / classes] * classes)
        size = rng.integers(trials - 3, trials, endpoint=True)
        return rng.integers(classes, size=size).tolist(), tuple(prior.tolist())

    return [[question() for _ in range(questions)] for _ in range(models)]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "metric",
    [
        ps.bayes(),
        ps.avg(),
        ps.pass_at_k(2),
        ps.pass_hat_k(9),
        ps.maj_at_k(3),
        ps.maj_at_k(),
        ps.mg_pass_at_k(4),
        ps.auc_at_k(3),
        ps.geom_at_k(2),
        ps.geom_ds_at_k(2),
        ps.geo_spectrum_star_at_k(4),
        ps.max_at_k(2),
        ps.bayes([0, 0.3, 1]),
        ps.avg([0, 0.3, 1]),
        ps.max_at_k(2, [0, 0.3, 1]),
    ],
    ids=lambda metric: metric.name,
)
def test_any_metric_scores_the_states_of_every_prefix(metric):
    log = random_log(3 if getattr(metric, "w", None) else 2)
    score = score_by(metric)

    def one_by_one(models: Models) -> list[float]:
        return [score(tallied([model]))[0] for model in models]

    expected = oracle(log, drawn(log, 1, 5, "question"), one_by_one)
    assert_same(of(log, score, 1, replicates=5), expected)


def test_codes_of_many_classes_need_more_than_one_integer():
    classes = 25  # 15 digits of base 17 fill 62 bits
    log, score = random_log(classes, trials=16), score_by(ps.bayes(range(classes)))
    expected = oracle(
        log, drawn(log, 1, 2, "question"), lambda models: score(tallied(models)).tolist()
    )
    assert_same(of(log, score, 1, replicates=2), expected)


def test_states_of_prefixes_can_be_pooled():
    def pooled(states: States) -> Floats:
        every = np.arange(states.groups)
        posterior = Pooled.fit(states, states, every, "benchmark")
        return ps.bayes().summary(posterior, None).mu

    log = random_log(2)
    expected = oracle(log, [], lambda models: pooled(tallied(models)).tolist())
    assert_same(of(log, pooled), expected)


# --- options


def test_chunks_do_not_change_the_result(monkeypatch):
    log, score = random_log(2), score_by(ps.geom_ds_at_k(2))
    whole, done = of(log, score, replicates=20), []
    monkeypatch.setattr(module, "_CHUNK", 7 * 6 * 12)  # 7 replicates of 6 trials of 12 questions
    found = of(log, score, replicates=20, progress=done.append)
    assert done == [7, 7, 6]
    for name in ("share", "never", "tau"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_the_seed_decides():
    log = random_log(2)
    a, b, c = (of(log, success, seed, replicates=50).share.tolist() for seed in (1, 1, 2))
    assert a == b != c


def test_scores_within_the_tolerance_are_tied():
    log = log_of([[1, 1, 1, 0]], [[1, 1, 0, 0]])
    assert of(log, success).share.tolist() == [0, 0, 1, 0]
    # 1/4 apart at the end, 1/3 after three trials.
    assert of(log, success, tolerance=0.3).share.tolist() == [0, 0, 0, 1]


def test_a_ranking_needs_all_scores():
    def from_two_trials_on(states: States) -> Floats:
        n = states.counts.sum(axis=1)
        return states.mean(np.where(n < 2, nan, states.counts[:, 1] / n))

    found = of(log_of([[1, 1, 1]], [[0, 0, 0]]), from_two_trials_on)
    assert found.share.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(found.tau, [nan, 1, 1])


# --- errors


def test_models_with_different_questions_are_refused():
    with pytest.raises(ValueError, match="must have the same questions, got 1 to 2 of them"):
        of(log_of([[1], [0]], [[1]]), success)


def test_the_same_trials_need_as_many_of_each_question():
    log = log_of([[1, 0], [0]], [[1], [0, 1]])
    with pytest.raises(ValueError, match='got 1 to 2: use scheme="question"'):
        of(log, success, replicates=1, scheme="trial")
    assert of(log, success, scheme="trial").never == 0


def test_the_final_ranking_must_exist():
    with pytest.raises(ValueError, match="with all trials, got NaN"):
        of(log_of([[1]], [[0]]), lambda states: np.full(states.groups, nan))
