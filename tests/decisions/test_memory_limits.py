"""Many models: what is refused before it starts, and what needs no table of pairs."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.decisions.models import refuse_many_pairs
from polars_scorio.subjects.sampled_scores import refuse_large_covariance

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.PriorWarning")


def log_of(models):
    """Counts of two questions with ten trials each for so many models."""
    rng = np.random.default_rng(models)
    model, question, category = np.indices((models, 2, 2)).reshape(3, -1)
    successes = rng.binomial(10, rng.random((models, 2)))
    count = np.stack([10 - successes, successes], axis=2).ravel()
    frame = {"model": model, "question": question, "category": category, "count": count}
    return pl.DataFrame(frame).scorio(count="count", prior="uniform")


def peak_memory(function):
    """Most bytes of Python and NumPy at a time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("models", "simultaneous"), [(5000, True), (1500, False)])
def test_a_ranking_needs_no_table_of_pairs(models, simultaneous):
    log = log_of(models)
    # One number for each pair would need 8 models**2 bytes: 200 MB, or 18 MB.
    peak = peak_memory(lambda: log.rank(ps.avg(), simultaneous=simultaneous))
    assert peak < 6 * models**2


@pytest.mark.slow
def test_a_comparison_with_a_baseline_needs_no_table_of_pairs():
    log = log_of(3_000)
    for simultaneous in (False, True):
        peak = peak_memory(
            lambda simultaneous=simultaneous: log.compare(
                ps.avg(), baseline=7, simultaneous=simultaneous
            )
        )
        assert peak < 36e6  # one number for each pair: 72 MB


@pytest.mark.slow
def test_too_many_pairs_are_counted_and_refused_before_they_are_made():
    log = log_of(10_000)

    def refused():
        message = (
            "10,000 models make 49,995,000 pairs, a result of about 5.0 GB; compare makes at most "
            "2.0 GB. Name one model with baseline="
        )
        with pytest.raises(ValueError, match=message):
            log.compare(ps.avg())

    assert peak_memory(refused) < 100e6


def test_draw_sizes_and_strata_count_too():
    refuse_many_pairs(9000, 20_000_000, 20_000_000)
    with pytest.raises(ValueError, match=r"40,000,000 pairs, a result of about 8\.0 GB"):
        refuse_many_pairs(9000, 40_000_000, 80_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rank", "compare"])
def test_a_population_of_questions_is_refused_by_its_covariances(method):
    log = log_of(6000)
    with pytest.raises(ValueError, match=r"6,000 models, about 4\.6 GB; the limit is 2\.0 GB"):
        getattr(log, method)(ps.avg(), target="population", prior=None)
    refuse_large_covariance(3900)
