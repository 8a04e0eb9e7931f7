"""Votes over answers against every draw there is, against counted draws, and at the edges."""

import time
from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polars_scorio.maths.ballots import Ballots, vote_success, vote_variance

ABSTAINS = -1


def ballots(*questions: tuple[list[int], list[bool], int]) -> Ballots:
    """Questions as votes, verdicts and abstentions."""
    width = max(len(votes) for votes, _, _ in questions)
    votes, right = np.zeros((2, len(questions), width), dtype=np.int64)
    for row, (own, verdicts, _) in enumerate(questions):
        votes[row, : len(own)], right[row, : len(own)] = own, verdicts
    return Ballots(votes, right.astype(bool), np.array([a for _, _, a in questions]))


def worth(draw: tuple[int, ...], right: list[bool], ties: str) -> float:
    """What one draw of answers is worth."""
    votes = Counter(answer for answer in draw if answer != ABSTAINS)
    if not votes:
        return 0.0
    most = max(votes.values())
    winners = [right[answer] for answer, number in votes.items() if number == most]
    return sum(winners) / len(winners) if ties == "split" else float(all(winners))


def trials(votes: list[int], abstained: int) -> list[int]:
    return [a for a, number in enumerate(votes) for _ in range(number)] + [ABSTAINS] * abstained


def every_draw(votes: list[int], right: list[bool], abstained: int, k: int, ties: str) -> float:
    draws = [worth(draw, right, ties) for draw in combinations(trials(votes, abstained), k)]
    return sum(draws) / len(draws)


@st.composite
def questions(draw):
    votes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    right = draw(st.lists(st.booleans(), min_size=len(votes), max_size=len(votes)))
    abstained = draw(st.integers(0, 2))
    return votes, right, abstained


@settings(deadline=None)
@given(st.lists(questions(), min_size=1, max_size=3), st.integers(1, 6),
       st.sampled_from(["split", "fail"]))  # fmt: skip
def test_equals_the_mean_over_every_draw(several, k, ties):
    found = vote_success(ballots(*several), k, ties)
    for (votes, right, abstained), chance in zip(several, found, strict=True):
        if sum(votes) + abstained < k:
            assert np.isnan(chance)
        else:
            # Sums of a few products of probabilities.
            oracle = every_draw(votes, right, abstained, k, ties)
            assert chance == pytest.approx(oracle, abs=1e-12)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(questions().filter(lambda q: sum(q[0]) + q[2] > 1), st.integers(1, 4),
       st.sampled_from(["split", "fail"]))  # fmt: skip
def test_variance_is_the_jackknife_over_the_trials(question, k, ties):
    votes, right, abstained = question
    own, n = trials(votes, abstained), sum(votes) + abstained
    found = vote_variance(ballots(question), k, ties)
    if k >= n:
        assert np.isnan(found).all()
        return
    left_out = []
    for i in range(n):
        draws = list(combinations(own[:i] + own[i + 1 :], k))
        left_out.append(sum(worth(draw, right, ties) for draw in draws) / len(draws))
    oracle = (n - 1) / n * sum((u - np.mean(left_out)) ** 2 for u in left_out)
    # A sum of squares of at most 18 trials, of numbers below 1.
    assert found == pytest.approx([oracle], abs=1e-12)


def test_wrong_answers_that_differ_lose_to_right_ones_that_agree():
    # 6 right of 16, the wrong ones all different, 8 drawn: .948, where verdicts would say .059.
    question = [6] + [1] * 10, [True] + [False] * 10, 0
    # Printed to three digits: half a unit of the last.
    assert vote_success(ballots(question), 8) == pytest.approx([0.948], abs=5e-4)
    majority = sum(comb(6, j) * comb(10, 8 - j) for j in range(5, 7)) / comb(16, 8)
    # Printed to three digits, too.
    assert majority == pytest.approx(0.059, abs=5e-4)


@pytest.mark.slow
def test_agrees_with_counted_draws():
    votes, right, abstained, k = [30, 25, 20, 10, 5, 1, 1], [False, True, *[False] * 5], 8, 12
    rng = np.random.default_rng(0)
    pool, share = np.array(trials(votes, abstained)), 0.0
    draws = 20_000
    for _ in range(draws):
        share += worth(tuple(rng.choice(pool, k, replace=False).tolist()), right, "split") / draws
    # Four standard errors of 20,000 draws.
    assert vote_success(ballots((votes, right, abstained)), k) == pytest.approx([share], abs=0.014)


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize(("right", "chance"), [(True, 1.0), (False, 0.0)])
def test_one_answer_wins_every_vote_and_varies_by_nothing(k, right, chance):
    question = [8], [right], 0
    # Chances that sum to 1: rounding.
    assert vote_success(ballots(question), k) == pytest.approx([chance], abs=1e-12)
    variance = vote_variance(ballots(question), k)
    # Differences of equal chances: the squares of their rounding.
    assert np.isnan(variance).all() if k == 8 else variance == pytest.approx([0.0], abs=1e-15)


def test_who_abstains_has_no_vote():
    none, some = ballots(([], [], 4)), ballots(([1], [True], 3))
    assert vote_success(none, 2).tolist() == [0.0]
    # Sums of a few chances below 1.
    assert vote_success(some, 2) == pytest.approx([0.5], abs=1e-12)


def test_one_vote_is_one_trial():
    question = [3, 4, 2], [True, False, True], 1
    for ties in ("split", "fail"):
        # Sums of a few chances below 1.
        assert vote_success(ballots(question), 1, ties) == pytest.approx([0.5], abs=1e-12)


def test_all_trials_have_one_vote():
    question = [3, 3, 2], [True, False, False], 0
    # Both: one draw, whose chance of 1 is a product of a few rounded ones.
    assert vote_success(ballots(question), 8) == pytest.approx([0.5], abs=1e-12)
    assert vote_success(ballots(question), 8, "fail") == pytest.approx([0.0], abs=1e-12)


@pytest.mark.slow
def test_many_trials_do_not_overflow():
    # Two answers of equal size are as likely to win.
    question = [5000, 5000], [True, False], 0
    # Chances are products of many rounded ones, of 10,000 trials: 3e-11 here.
    assert vote_success(ballots(question), 501) == pytest.approx([0.5], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("k", [4, 16])
def test_ten_thousand_questions_take_seconds(k):
    rng = np.random.default_rng(1)
    rates = rng.dirichlet(np.full(20, 0.3), 10_000)
    votes = np.array([rng.multinomial(64, rate) for rate in rates])
    many = Ballots(votes, np.arange(20)[None] == np.zeros((10_000, 1)), np.zeros(10_000, int))
    start = time.process_time()
    vote_success(many, k)
    assert time.process_time() - start < 5  # 0.2 CPU seconds on a free machine
