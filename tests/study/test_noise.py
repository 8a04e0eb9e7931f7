"""Noise of a score: what pairing by question may replace, and what runs share, which it may not."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.comparison import Compared, Comparison, Reaches, student_pairs
from polars_scorio.maths.interval import Student
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.run_effects import RunVariance, SharedRuns
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import Noise, cluster_samples

SIZES = st.floats(1e-4, 0.1)
A, B = np.array([0]), np.array([1])


def runs_of(excess, of_trials=4e-4, freedom=5.0):
    """What runs bring to two models of one stratum: so much variance, beyond that of the trials."""
    shape = (1, 2)
    numbers = (of_trials + excess, of_trials, freedom, 1.0, 1.0)
    return RunVariance(*(np.full(shape, each) for each in numbers))


def comparison(gap, sigma, *, paired, runs=None):
    """Two models that are so far apart, by the noise of both or by that of paired questions."""

    def between(a, _):
        diff = np.full((1, a.size), gap)
        if paired:
            student = Student(diff, np.full_like(diff, sigma), np.full_like(diff, 30.0))
            return student_pairs(diff, student)
        return Reaches(diff, *np.full((3, *diff.shape), sigma)).pairs()

    numbers = np.array([[gap, 0.0]]), *np.full((4, 1, 2), sigma)
    return Comparison(Compared(*numbers), between, runs=runs)


@given(SIZES, SIZES)
def test_both_parts_add_up_in_squares(own, excess):
    runs = runs_of(excess)
    whole = Noise(np.full((1, 2), own), runs).sigma
    np.testing.assert_allclose(whole**2, own**2 + excess)
    # The numbers of single models may be about these runs; a comparison never is.


@given(SIZES, SIZES, SIZES, st.floats(0.1, 4.0), st.booleans())
def test_shared_noise_never_decides_a_pair(gap, sigma, excess, c, paired):
    without = comparison(gap, sigma, paired=paired)
    shared = comparison(gap, sigma, paired=paired, runs=runs_of(excess))
    level = np.array([[c]])
    before, after = without.differences(A, B, level), shared.differences(A, B, level)
    assert (after.lo <= before.lo).all()
    assert (after.hi >= before.hi).all()
    assert not (shared.decided(A, B, level) & ~without.decided(A, B, level)).any()
    assert (np.abs(shared.z(A, B)) <= np.abs(without.z(A, B)) + 1e-9).all()


@given(SIZES, SIZES, SIZES)
def test_pairing_by_question_replaces_own_noise_and_no_shared_one(own, less, excess):
    runs, level = runs_of(excess), np.array([[1.96]])
    trials, pairs = (
        comparison(0.1, sigma, paired=paired, runs=runs).differences(A, B, level).sigma
        for sigma, paired in ((own, False), (less, True))
    )
    # Of independent runs both models bring theirs, whatever replaced the noise of the trials.
    np.testing.assert_allclose(trials**2 - own**2, 2 * excess, atol=1e-12)
    np.testing.assert_allclose(pairs**2 - less**2, 2 * excess, atol=1e-12)


def test_only_runs_that_both_models_share_cancel():
    sums = np.array([[[0.02, -0.02, 0.01, -0.01], [0.02, -0.02, 0.01, -0.01]]])
    same = SharedRuns(runs_of(1e-3), sums, np.zeros((1, 2), np.int64))
    apart = SharedRuns(runs_of(1e-3), sums, np.array([[0, 1]]))
    found = [
        comparison(0.1, 0.01, paired=True, runs=runs).differences(A, B, np.array([[1.96]])).sigma
        for runs in (same, apart)
    ]
    assert found[0] == 0.01 < found[1]


def test_a_log_with_runs_decides_no_pair_that_its_trials_do_not():
    rng = np.random.default_rng(5)
    rates = rng.beta(0.5, 0.5, (60, 1)) + rng.normal(0, 0.05, 4)
    frames = []
    for model, lift in (("a", 0.0), ("b", 0.06), ("c", 0.12)):
        question, run = (each.ravel() for each in np.indices(rates.shape))
        outcomes = (rng.random(rates.shape) < rates + lift).ravel().astype(int)
        columns = {"model": model, "question": question, "trial": run, "category": outcomes}
        frames.append(pl.DataFrame(columns))
    log, decided = pl.concat(frames), []
    for options in ({"run": "trial"}, {}):
        rows = log.scorio(**options).compare()
        decided.append((rows["lo"] > 0) | (rows["hi"] < 0))
    assert not (decided[0] & ~decided[1]).any()


# Questions in clusters: how much noisier a pooled mean is.


BINARY = Classes((0, 1), (1,))
COUNTS = np.array([[4, 0], [4, 0], [0, 4], [0, 4], [2, 2], [2, 2]])


def cells(cluster: list[int] | None) -> QuestionCells:
    one = np.ones(len(COUNTS), dtype=np.int64)
    states = States.tally(COUNTS, 0 * COUNTS, 0 * one, one, 1)
    plain = QuestionCells.from_states(states, BINARY)
    if cluster is None:
        return plain
    own = Subgroups.tally(COUNTS, 0 * COUNTS, 0 * one, np.array(cluster), one, 1)
    return replace(plain, clusters=own)


def test_questions_that_are_no_sample_or_have_no_clusters_have_no_effect():
    assert (
        cluster_samples(cells([0, 0, 1, 1, 2, 2]), "benchmark")(ps.avg(), None, "success") is None
    )
    assert cluster_samples(cells(None), "population")(ps.avg(), None, "success") is None


def test_pairs_of_equal_questions_count_as_half_as_many():
    sample = cluster_samples(cells([0, 0, 1, 1, 2, 2]), "population")(ps.avg(), None, "success")
    assert sample.size.item() == pytest.approx(3)
    # Variance of three clusters over that of six questions: (S/3/2) / (S/6/5) = 5/2 of the same S.
    assert sample.stretch.item() ** 2 == pytest.approx(5 / 2)


def test_unlike_questions_in_a_cluster_make_nothing_less_noisy():
    sample = cluster_samples(cells([0, 1, 0, 1, 2, 2]), "population")(ps.avg(), None, "success")
    assert sample.stretch.item() == 1
