"""DataFrames of pandas: NumPy columns, objects, nullable and Arrow columns, categories."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.engines.cases import (
    COUNTED,
    REFUSED,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
)

pytestmark = pytest.mark.pandas
pytest.importorskip("narwhals")
pd = pytest.importorskip("pandas")


def in_numpy_columns(log: pl.DataFrame) -> object:
    """NumPy has no days and no nulls but NaN: such columns hold Python objects."""
    return log.to_pandas(date_as_object=True)


def in_arrow_columns(log: pl.DataFrame) -> object:
    return log.to_pandas(use_pyarrow_extension_array=True)


@pytest.mark.every(5)
@pytest.mark.parametrize("native", [in_numpy_columns, in_arrow_columns])
@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(native, case):
    assert_counted_as_polars_does(native, case)


@pytest.mark.every(5)
@pytest.mark.parametrize("native", [in_numpy_columns, in_arrow_columns])
@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(native, case):
    assert_refused_as_polars_does(native, case)


def of(category: object) -> object:
    return pd.DataFrame({"model": "m", "question": 1, "category": category})


@pytest.mark.parametrize(
    ("category", "dtype", "rows"),
    [
        pytest.param([0.0, None, 1.0], pl.Float64, [(None, 1), (0.0, 1), (1.0, 1)], id="floats"),
        pytest.param(
            pd.array([0, None, 1], dtype="Int8"), pl.Int8, [(None, 1), (0, 1), (1, 1)], id="Int8"
        ),
        pytest.param(
            pd.array([True, None, True], dtype="boolean"),
            pl.Boolean,
            [(None, 1), (True, 2)],
            id="boolean",
        ),
        pytest.param(
            pd.Series([True, None, False], dtype=object),
            pl.Boolean,
            [(None, 1), (False, 1), (True, 1)],
            id="objects, truth",
        ),
        pytest.param(
            pd.Series([1, None, float("nan")], dtype=object),
            pl.Int64,
            [(None, 2), (1, 1)],
            id="objects, numbers",
        ),
        pytest.param(
            pd.Series(["no", "yes", None], dtype=object),
            pl.String,
            [(None, 1), ("no", 1), ("yes", 1)],
            id="objects, words",
        ),
        pytest.param(
            pd.Categorical(["no", None, "yes"]),
            pl.Categorical,
            [(None, 1), ("no", 1), ("yes", 1)],
            id="categories",
        ),
        pytest.param(
            pd.Categorical(["no", None, "yes"], categories=["yes", "no"], ordered=True),
            pl.Enum(["yes", "no"]),
            [(None, 1), ("yes", 1), ("no", 1)],
            id="ordered categories",
        ),
        pytest.param(
            pd.Categorical([1, None, 0]), pl.Int64, [(None, 1), (0, 1), (1, 1)], id="coded numbers"
        ),
        pytest.param(
            pd.Categorical([True, None, True]), pl.Boolean, [(None, 1), (True, 2)], id="coded truth"
        ),
    ],
)
def test_columns_become_what_polars_makes_of_them(category, dtype, rows):
    counts = ps.count_trials(of(category), trial=None, missing="drop")
    assert counts.schema["category"] == dtype
    assert counts.rows() == [("m", 1, *row) for row in rows]


def test_times_of_seconds_become_milliseconds():
    times = pd.to_datetime(["2026-01-01", "2026-01-02"]).astype("datetime64[s]")
    log = of([0, 1]).assign(question=times, trial=times - times[0])
    assert log["trial"].dtype == "timedelta64[s]"
    counts = ps.count_trials(log)
    assert counts["question"].dt.day().to_list() == [1, 2]
    assert counts.schema["question"] == pl.Datetime("ms")


def test_objects_of_several_kinds_are_no_categories():
    message = r"^category column 'category' is Object; a category is Boolean, an integer"
    with pytest.raises(TypeError, match=message):
        ps.count_trials(of(pd.Series([1, "yes", True], dtype=object)), trial=None)


def test_an_index_is_no_column():
    log = of([0, 1, 1]).set_index("question")
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no column 'question'"):
        ps.count_trials(log, trial=None)
