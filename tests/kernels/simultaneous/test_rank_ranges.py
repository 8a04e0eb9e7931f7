"""Ranges of ranks, against counting by hand."""

import numpy as np

from polars_scorio.kernels.simultaneous.rank_ranges import rank_ranges, verdicts


def test_counts_who_is_surely_better_and_worse():
    random = np.random.default_rng(1)
    mu = random.normal(size=(20, 6))
    told = random.random((20, 6, 6)) < 0.5
    told |= np.swapaxes(told, 1, 2)
    lo, hi = rank_ranges(verdicts(mu, told), np.isfinite(mu))
    for s in range(20):
        for i in range(6):
            better = sum(told[s, i, j] and mu[s, j] > mu[s, i] for j in range(6))
            worse = sum(told[s, i, j] and mu[s, j] < mu[s, i] for j in range(6))
            assert (lo[s, i], hi[s, i]) == (1 + better, 6 - worse)


def test_one_model_has_rank_1():
    mu = np.array([[0.5]])
    lo, hi = rank_ranges(verdicts(mu, np.zeros((1, 1, 1), dtype=bool)), np.isfinite(mu))
    assert (lo.item(), hi.item()) == (1, 1)


def test_absent_models_take_no_rank():
    mu = np.array([[0.5, np.nan, 0.7]])
    lo, hi = rank_ranges(verdicts(mu, np.ones((1, 3, 3), dtype=bool)), np.isfinite(mu))
    assert lo.tolist() == [[2, 0, 1]]
    assert hi.tolist() == [[2, 0, 1]]


def test_equal_estimates_are_never_told_apart():
    mu = np.array([[0.5, 0.5, 0.5]])
    lo, hi = rank_ranges(verdicts(mu, np.ones((1, 3, 3), dtype=bool)), np.isfinite(mu))
    assert lo.tolist() == [[1, 1, 1]]
    assert hi.tolist() == [[3, 3, 3]]
