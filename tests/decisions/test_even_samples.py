import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from tests.made_logs import long


@pytest.fixture(scope="module")
def questions():
    """Two hundred questions, most of them hard."""
    rates = np.random.default_rng(1).beta(0.6, 1.2, 200)
    return pl.DataFrame({"question": [f"q{place}" for place in range(200)], "rate": rates})


def test_a_sample_has_each_difficulty_as_often_as_the_benchmark(questions):
    kept = ps.even_sample(questions, 50)
    assert kept["question"].n_unique() == kept.height == 50
    assert kept["rate"].is_sorted()
    quarters = np.quantile(questions["rate"], [0.25, 0.5, 0.75])
    assert np.diff([0, *np.searchsorted(kept["rate"], quarters), 50]).tolist() == pytest.approx(
        [12.5] * 4, abs=1
    )


def test_its_mean_rate_is_nearer_than_that_of_a_random_sample(questions):
    true = questions["rate"].mean()
    even = [ps.even_sample(questions, 20, seed=seed)["rate"].mean() for seed in range(50)]
    drawn = [questions.sample(20, seed=seed)["rate"].mean() for seed in range(50)]
    assert np.mean(even) == pytest.approx(true, abs=0.01)
    assert np.std(even) < 0.25 * np.std(drawn)


def test_the_seed_decides_and_the_order_of_rows_does_not(questions):
    kept = ps.even_sample(questions, 30, seed=3)
    assert kept.equals(ps.even_sample(questions.reverse(), 30, seed=3))
    assert not kept.equals(ps.even_sample(questions, 30, seed=4))


def test_each_of_many_equal_questions_has_its_chance():
    equal = pl.DataFrame({"question": range(10), "rate": 0.5})
    drawn = pl.concat(ps.even_sample(equal, 5, seed=seed) for seed in range(400))
    # Nominal 200 each, with a standard deviation of 10.
    assert drawn["question"].value_counts()["count"].to_list() == pytest.approx([200] * 10, abs=45)


def test_each_stratum_has_a_sample_of_its_own(questions):
    two = pl.concat([questions.with_columns(domain=pl.lit(name)) for name in "ab"])
    kept = ps.even_sample(two, 30, by="domain")
    assert kept["domain"].to_list() == ["a"] * 30 + ["b"] * 30
    alone = ps.even_sample(two.filter(domain="b"), 30, by=["domain"])
    assert kept.filter(domain="b").equals(alone)


def test_a_lazy_frame_stays_lazy(questions):
    plan = ps.even_sample(questions.lazy(), 30, seed=1)
    assert plan.collect().equals(ps.even_sample(questions, 30, seed=1))
    assert plan.filter(pl.col("rate") > 2).collect().is_empty()


def test_it_takes_the_frame_of_questions():
    log = pl.concat(long([[0, 1], [1, 1], [0, 0], [1, 0]], model) for model in "ab")
    kept = ps.even_sample(log.lazy().scorio.questions(), 2).collect()
    assert kept.height == 2
    assert log.join(kept, on="question", how="semi").height == 8


@given(st.integers(0, 12), st.integers(1, 12), st.integers(0, 3))
def test_it_keeps_n_questions_and_refuses_to_keep_more_than_there_are(rows, n, seed):
    rates = pl.Series([0.5, None, 0.1] * 4).head(rows)
    frame = pl.DataFrame({"question": range(rows), "rate": rates})
    if n > rows:
        with pytest.raises(
            ValueError, match=rf"^n={n} questions cannot be kept, as there (is|are) {rows} "
        ):
            ps.even_sample(frame, n, seed=seed)
        return
    kept = ps.even_sample(frame, n, seed=seed)
    assert kept["question"].n_unique() == kept.height == n
    assert kept.schema == frame.schema


def test_a_stratum_with_too_few_questions_is_named(questions):
    two = pl.concat([questions.with_columns(domain=pl.lit(name)) for name in "ab"])
    with pytest.raises(
        ValueError, match=r"^domain='b': n=200 questions .* there are 199 questions$"
    ):
        ps.even_sample(two.head(399), 200, by="domain")


@pytest.mark.parametrize("rate", [float("nan"), float("inf")])
def test_rates_that_are_no_numbers_are_refused(questions, rate):
    wrong = pl.concat([questions, pl.DataFrame({"question": "last", "rate": rate})])
    with pytest.raises(ValueError, match=r"^NaN or infinite rates in 'rate': 1 of 201\. Leave"):
        ps.even_sample(wrong, 5)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be a positive int, got 0"),
        ({"seed": -1}, ValueError, "seed must be an int that is not negative, got -1"),
        ({"rate": "score"}, pl.exceptions.ColumnNotFoundError, "no column 'score' among"),
        ({"by": "domain"}, pl.exceptions.ColumnNotFoundError, "no column 'domain' among"),
        ({"rate": "question"}, TypeError, "column 'question' must hold numbers, and is String"),
        ({"rate": pl.col("rate")}, TypeError, "rate and by must be names of columns"),
    ],
)
def test_wrong_arguments_are_refused(questions, options, error, message):
    with pytest.raises(error, match=message):
        ps.even_sample(questions, **{"n": 5, **options})


def test_other_things_than_frames_are_refused():
    with pytest.raises(TypeError, match="questions must be a Polars frame of questions, got"):
        ps.even_sample([1, 2], 1)
