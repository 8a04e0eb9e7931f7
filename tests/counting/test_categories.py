"""Categories that cannot be known at the call, or cannot be told apart."""

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.counting.log import column_category
from tests.counting.unread_log import GRADED, WORDS, log

LABELS = pl.Series(["bad", "good", "good"])
ENUM = LABELS.cast(pl.Enum(WORDS))
TRUTH = pl.Series([True, False, True])
CONTRADICTIONS = [
    (LABELS, {}, [ps.bayes(w={"bad": 0, "good": 1}), ps.avg()], ValueError, r"\['bad', 'good'\]"),
    # words for numbers, numbers for words
    (LABELS, {}, [ps.bayes(w=[0, 1])], TypeError, "w: 0 cannot be .* are labels"),
    (LABELS, {"success": 1}, [ps.avg()], TypeError, "success: 1 cannot be .* are labels"),
    (LABELS, {"missing": 0}, [ps.avg()], TypeError, "missing: 0 cannot be .* are labels"),
    (None, {}, [ps.bayes(w={"bad": 0})], TypeError, "w: 'bad' cannot be .*Int64. .* are numbers"),
    (None, {"success": "good"}, [ps.avg()], TypeError, "success: 'good' cannot .* are numbers"),
    (None, {"missing": "lost"}, [ps.avg()], TypeError, "missing: 'lost' cannot .* are numbers"),
    # what the dtype already excludes
    (ENUM, {}, [ps.bayes(w={"best": 1})], ValueError, "w: 'best' cannot .*none of .*'fair'"),
    (ENUM, {"success": "best"}, [ps.avg()], ValueError, "success: 'best' cannot be"),
    (ENUM, {"missing": "lost"}, [ps.avg()], ValueError, "missing: 'lost' cannot be"),
    (TRUTH, {}, [ps.bayes(w=[0, 0.5, 1])], ValueError, "w: 2 cannot be .*Boolean.*true and false"),
    (TRUTH, {"success": 2}, [ps.avg()], ValueError, "success: 2 cannot be .*Boolean"),
    (None, {"success": float("nan")}, [ps.avg()], ValueError, "success: nan cannot be"),
    (None, {"success": []}, [ps.avg()], ValueError, "success must name at least one category"),
    # what the weights exclude
    (None, {"success": 2}, [ps.bayes(w=[0, 1])], ValueError, r"success=2 is none .*\[0, 1\]"),
    (None, {"missing": 2}, [ps.bayes(w=[0, 1])], ValueError, r"missing=2 is none .*\[0, 1\]"),
    (None, {"missing": 2}, [ps.bayes()], ValueError, r"missing=2 is none .*\[0, 1\]"),
    (None, {}, [ps.bayes(w=[0, 1]), GRADED[0]], ValueError, r"all w .*\[0, 1\] and \[0, 1, 2\]"),
    # more than two categories, and none of them a success
    (None, {}, [ps.bayes(w=[0, 0.5, 1]), ps.pass_at_k(1)], ValueError, r"\[0, 1, 2\].* success="),
    (None, {}, [ps.bayes(w=[0, 0.5, 1]), ps.avg()], ValueError, r"\[0, 1, 2\] .* pass success="),
]


@pytest.mark.parametrize(("category", "roles", "metrics", "error", "message"), CONTRADICTIONS)
def test_categories_are_known_at_the_call(category, roles, metrics, error, message):
    frame = log() if category is None else log(category=category)
    with pytest.raises(error, match=message):
        frame.scorio(**roles).report(*metrics)


SEEN = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "question": [1, 2, 1, 2],
        "category": ["right", "Timeout", "n/a", "right"],
        "n": [5, 1, 2, 5],
    }
)


@pytest.mark.parametrize("frame", [SEEN, SEEN.lazy()], ids=["eager", "lazy"])
@pytest.mark.parametrize("metric", [ps.avg(), ps.bayes(), ps.pass_at_k(1)], ids=str)
def test_labels_without_a_meaning_are_named_and_counted_errors_first(frame, metric):
    with pytest.raises(ValueError, match="holds labels") as caught:
        frame.scorio(trial=None, count="n").report(metric)
    assert str(caught.value) == (
        "the category column 'category' holds labels (String): 'n/a' (2), 'Timeout' (1), "
        "'right' (10): name the successes with success=, or weigh them all with "
        "w={label: weight, ...}. 'n/a', 'Timeout' may be trials that broke: outside success= "
        "they are failures; set to null, they are what missing= says"
    )


def test_of_many_labels_the_message_names_the_most_frequent():
    labels = [f"grade {j:02}" for j in range(20) for _ in range(21 - j)]
    frame = pl.DataFrame({"model": "m", "question": 1, "category": labels})
    with pytest.raises(ValueError, match=r"'grade 00' \(21\), .*'grade 07' \(14\), \.\.\.: name"):
        frame.scorio(trial=None).avg()


# Categories are what the column holds: compared exactly, never cast; on both surfaces.


INTEGERS = [
    *(pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.Int128()),
    *(pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64()),
]


def column_log(values: list, dtype: pl.DataType) -> pl.DataFrame:
    return pl.DataFrame({"question": 1, "category": pl.Series(values, dtype=dtype)})


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_hold_their_range_and_nothing_else(dtype):
    low, high = pl.select(dtype.min(), dtype.max().alias("max")).row(0)
    assert [column_category(end, dtype) for end in (low, high)] == [low, high]
    assert [column_category(value, dtype) for value in (low - 1, high + 1, 0.5, 1e300)] == [
        None
    ] * 4
    assert column_category(1.0, dtype) == 1


@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_holds_whole_numbers_exactly_or_not_at_all(value):
    own = column_category(value, pl.Float64())
    exact = Fraction(float(value)) == Fraction(value)
    assert own == (value if exact else None)


def test_a_fraction_is_the_nearest_one_of_a_narrow_float():
    assert column_category(0.1, pl.Float32()) == pl.Series([0.1], dtype=pl.Float32).item()
    assert column_category(2**24 + 1, pl.Float32()) is None
    assert column_category(1e300, pl.Float32()) is None
    assert column_category(10**400, pl.Float64()) is None


BAD = [
    (1.9, pl.Int64()),
    (300, pl.Int8()),
    (-1, pl.UInt8()),
    (1e300, pl.Int64()),
    (2**53 + 1, pl.Float64()),
    (1e300, pl.Float32()),
]


@pytest.mark.parametrize(("missing", "dtype"), BAD, ids=str)
def test_a_stand_in_that_the_column_cannot_hold_is_refused(missing, dtype):
    trials = column_log([1, None], dtype)
    roles = {"model": None, "trial": None, "success": 1, "missing": missing}
    with pytest.raises(ValueError, match=r"^missing=.* is no value of the category column"):
        trials.lazy().scorio(**roles).avg()
    expr = pl.col("category").scorio(success=1, missing=missing).pass_at_k(1)
    with pytest.raises(ValueError, match=r"missing=.* is no value of the category column"):
        trials.select(expr)


def test_a_stand_in_that_prior_trials_cannot_hold_is_refused():
    data, prior = column_log([1], pl.Int64()), column_log([1, None], pl.Int8())
    roles = {"model": None, "trial": None, "success": 1, "missing": 300}
    with pytest.raises(ValueError, match=r"^prior: missing=300"):
        data.scorio(**roles).report(ps.bayes(), prior=prior)


NEAR = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1]


@pytest.mark.parametrize("success", [*NEAR, float(2**53)])
def test_integers_are_compared_exactly(success):
    # 2 of 12 trials: one more or less is 1/12 away, the rounding of the quotient 1e-16.
    trials = column_log(NEAR * 2, pl.Int64())
    roles = {"model": None, "trial": None, "success": success}
    assert trials.scorio(**roles).avg()["estimate"].item() == pytest.approx(1 / 6, rel=1e-12)
    expr = pl.col("category").scorio(success=success).pass_at_k(1)
    assert trials.select(expr).item() == pytest.approx(1 / 6, rel=1e-12)


def test_a_float_is_no_integer_beside_it():
    trials = column_log([2.0**53], pl.Float64())
    expr = pl.col("category").scorio(success=2**53 + 1).pass_at_k(1)
    assert trials.select(expr).item() == 0
    with pytest.warns(ps.SuccessWarning):
        report = trials.scorio(model=None, trial=None, success=2**53 + 1).avg()
    assert report["estimate"].item() == 0


VALUES: dict[pl.DataType, list] = {
    pl.String(): ["a", "c", "b", "", "1"],  # "a" and "A" are refused together
    pl.Categorical(): ["a", "c", "b"],
    pl.Enum(["b", "a"]): ["a", "b"],
    pl.Boolean(): [True, False],
    pl.Float64(): [-3.0, 0.0, 1.0, 2.0**53],
    pl.Float32(): [0.1, 0.5, 1.5],
    **{dtype: [0, 1, 2, 127] for dtype in INTEGERS},
    pl.Int64(): NEAR,
}


@pytest.mark.slow
@settings(max_examples=60)  # each is two plans
@given(st.data())
@pytest.mark.filterwarnings("ignore::polars_scorio.SuccessWarning")
def test_both_surfaces_say_the_same(data):
    dtype = data.draw(st.sampled_from(list(VALUES)))
    values = st.sampled_from(VALUES[dtype])
    success = data.draw(values)
    rows = data.draw(st.lists(st.none() | values, min_size=1, max_size=8))
    missing = data.draw(st.sampled_from(["drop", success]))
    if missing == "drop" and not any(value is not None for value in rows):
        rows = [success]
    trials = column_log(rows, dtype)
    k = data.draw(st.integers(1, 3))
    report = trials.scorio(
        model=None, trial=None, success=success, missing=missing
    ).pass_at_k(k)["estimate"].item()  # fmt: skip
    expr = pl.col("category").scorio(success=success, missing=missing).pass_at_k(k)
    estimate = trials.select(expr).item()
    oracle = [value == success for value in rows if value is not None]
    oracle += [True] * (len(rows) - len(oracle)) if missing != "drop" else []
    n, c = len(oracle), sum(oracle)
    if k > n:
        assert report is None
        assert estimate is None
    else:
        wanted = 1 - math.comb(n - c, k) / math.comb(n, k)
        # n <= 8: a few roundings of 1e-16.
        assert report == pytest.approx(wanted, abs=1e-12)
        assert estimate == pytest.approx(wanted, abs=1e-12)
