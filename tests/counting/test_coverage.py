"""A look at a log: what it shows of every kind of bad log, and that it never raises."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import law, long, unreadable


@pytest.fixture
def log():
    """Ada has all questions; bob lacks one, has a trial twice and another without outcome."""
    ada = long([[0, 1], [1, 1], [0, 2]], "ada")
    bob = long([[1, None], [1]], "bob").vstack(long([[1]], "bob"))
    return pl.concat([ada, bob])


def test_shows_what_each_model_has_and_lacks(log):
    ada, bob = log.scorio.describe().rows(named=True)
    numbers = {"missing": 0, "trials": 6, "n_min": 2, "n_max": 2, "nulls": 0, "duplicates": 0}
    seen = [
        {"category": 1, "trials": 3},
        {"category": 0, "trials": 2},
        {"category": 2, "trials": 1},
    ]
    assert ada == {"model": "ada", "categories": seen, "questions": 3, **numbers}
    numbers |= {"missing": 1, "trials": 3, "n_min": 1, "n_max": 3, "nulls": 1, "duplicates": 1}
    seen = [{"category": 1, "trials": 3}]
    assert bob == {"model": "bob", "categories": seen, "questions": 2, **numbers}


def test_lists_the_gaps_and_what_is_there_twice(log):
    gaps = log.scorio.describe(per="question")
    assert gaps.columns == ["model", "question", "trials", "expected", "nulls", "duplicates"]
    assert gaps.rows() == [("bob", 0, 3, 3, 1, 1), ("bob", 1, 1, 3, 0, 0), ("bob", 2, 0, 3, 0, 0)]


def test_expects_the_number_of_trials_that_was_promised(log):
    gaps = log.filter(model="ada").scorio(n=3).describe(per="question")
    assert gaps.select("question", "trials", "expected").rows() == [(0, 2, 3), (1, 2, 3), (2, 2, 3)]
    assert log.filter(model="ada").scorio(n=2).describe(per="question").is_empty()


def test_a_question_is_missing_only_where_its_stratum_has_it(log):
    web = log.with_columns(domain=pl.lit("x"))
    strata = pl.concat([web, web.filter(model="bob").with_columns(domain=pl.lit("y"))])
    rows = strata.scorio(by="domain").describe().select("domain", "model", "missing").rows()
    assert rows == [("x", "ada", 0), ("x", "bob", 1), ("y", "bob", 0)]
    gaps = strata.scorio(by="domain").describe(per="question")
    assert gaps.filter(trials=0).select("domain", "model", "question").rows() == [("x", "bob", 2)]


@pytest.mark.parametrize(
    ("roles", "duplicates"),
    [({}, 1), ({"trial": None}, None), ({"validate": False}, None)],
)
def test_duplicates_are_null_where_ids_are_not_checked(log, roles, duplicates):
    assert log.scorio(**roles).describe()["duplicates"].to_list()[1] == duplicates
    gaps = log.scorio(**roles).describe(per="question")
    assert gaps.filter(question=0)["duplicates"].to_list() == [duplicates]


def test_missing_outcomes_are_shown_whatever_they_are_to_mean(log):
    for missing in ("error", "drop", 0):
        assert log.scorio(missing=missing).describe()["nulls"].to_list() == [0, 1]
    scores = log.with_columns(pl.col("category").cast(pl.Float64).fill_null(float("nan")))
    assert scores.scorio.describe()["nulls"].to_list() == [0, 1]


def test_multiplicities_are_trials():
    counts = pl.DataFrame(
        {"model": "m", "question": [1, 1, 2], "category": [0, None, 1], "n": [3, 2, 6]}
    )
    (row,) = counts.scorio(count="n").describe().rows(named=True)
    assert (row["trials"], row["n_min"], row["n_max"], row["nulls"]) == (9, 5, 6, 2)
    assert [*map(tuple, map(dict.values, row["categories"]))] == [(1, 6), (0, 3)]
    (gap,) = counts.scorio(count="n").describe(per="question").rows(named=True)
    assert (gap["question"], gap["trials"], gap["nulls"]) == (1, 5, 2)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(lambda log: log.with_columns(pl.col("category") * 7 - 3), id="categories"),
        pytest.param(lambda log: log.with_columns(category=pl.col("category") / 3), id="fractions"),
        pytest.param(lambda log: log.with_columns(category=pl.lit("?")), id="labels"),
        pytest.param(lambda log: log.with_columns(model=pl.lit(None, pl.String)), id="models"),
        pytest.param(
            lambda log: log.with_columns(pl.when(pl.col("question") > 0).then("question")),
            id="questions",
        ),
        pytest.param(lambda log: log.with_columns(trial=pl.lit(None, pl.Int64)), id="ids"),
        pytest.param(lambda log: log.with_columns(category=pl.lit(None, pl.Int64)), id="nothing"),
        pytest.param(lambda log: log.clear(), id="empty"),
    ],
)
@pytest.mark.parametrize("per", ["model", "question"])
def test_never_raises_for_what_the_rows_hold(log, bad, per):
    eager, accessor = bad(log), bad(log).lazy().scorio
    looked = accessor.describe(per=per)
    assert looked.collect_schema() == looked.collect().schema
    assert_frame_equal(looked.collect(engine="in-memory"), eager.scorio.describe(per=per))


def test_bad_multiplicities_do_not_raise():
    counts = pl.DataFrame({"model": "m", "question": [1, 1], "category": [0, 1], "n": [-3, None]})
    assert counts.scorio(count="n").describe()["trials"].to_list() == [-3]


def test_reads_nothing_but_the_schema(log):
    assert isinstance(unreadable(log.schema).scorio.describe(), pl.LazyFrame)
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="'task'"):
        unreadable(log.schema).scorio(question="task").describe()
    with pytest.raises(ValueError, match='per must be "model" or "question", got \'trial\''):
        log.scorio.describe(per="trial")


def test_a_filter_on_models_shows_the_gaps_all_the_same(log):
    lazy = log.lazy().scorio.describe(per="question").filter(model="bob")
    assert_frame_equal(lazy.collect(), log.scorio.describe(per="question"))
    assert log.lazy().scorio.describe().filter(model="bob").collect()["missing"].to_list() == [1]


def test_the_errors_of_a_report_name_it(log):
    with pytest.raises(ValueError, match=r"See describe\(\) for what the log has\.$"):
        log.scorio.bayes([0, 0, 1])
    complete = log.filter(pl.col("category").is_not_null()).unique()
    with pytest.raises(
        ValueError, match=r'model=\'bob\': 1 missing \(2\).*describe\(per="question"\)'
    ):
        complete.scorio.compare(ps.bayes([0, 0, 1]))
    assert complete.scorio.describe()["missing"].to_list() == [0, 1]


@pytest.mark.filterwarnings("ignore:one model .*nothing to compare:UserWarning")
@law
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), max_size=25))
def test_a_log_without_gaps_is_one_that_a_comparison_takes(rows):
    columns = ["model", "question", "trial"]
    log = pl.DataFrame(rows, schema=columns, orient="row").with_columns(category=1)
    looked = log.scorio.describe()
    fine = looked["duplicates"].sum() == looked["missing"].sum() == 0
    try:
        log.scorio.compare()
    except ValueError:
        assert not fine
    else:
        assert fine


# Coverage with what the tool of a log planned and reported.


LOG = pl.DataFrame({"model": ["bob", "ada"], "question": 1, "trial": 0, "category": [1, 0]})
TOTALS = pl.DataFrame(
    {
        "model": ["ada", "bob", "bob"],
        "planned": [None, 30, 10],
        "reported": [0.5, 1.0, 0.0],
        "recomputed": [0.25, 1.0, 0.4],
        "skipped": pl.Series([None] * 3, dtype=pl.String),
    }
)


@pytest.mark.parametrize("frame", [LOG, LOG.lazy()])
def test_runs_of_a_model_are_added_up(frame):
    log = ps.Scorio(frame, tool_totals=TOTALS)
    found = log.describe().lazy().collect()
    assert found.select("model", "planned", "reported", "recomputed").rows() == [
        ("ada", None, 0.5, 0.25),
        ("bob", 40, 0.75, 0.85),
    ]
    after = found.columns.index("duplicates")
    assert found.columns[after + 1 : after + 4] == ["planned", "reported", "recomputed"]


def test_a_run_that_does_not_say_it_leaves_the_sum_open():
    totals = pl.concat([TOTALS, TOTALS.head(1)])
    found = ps.Scorio(LOG, tool_totals=totals).describe()
    assert found.select("planned", "reported").row(0) == (None, None)


def test_the_totals_stay_with_new_roles_and_need_their_keys():
    log = ps.Scorio(LOG, tool_totals=TOTALS)
    assert log(trial=None).describe()["planned"].to_list() == [None, 40]
    by = log(by=pl.lit("x").alias("task"))
    assert "planned" not in by.describe().columns
    assert "planned" not in LOG.scorio.describe().columns


def test_a_log_of_one_model_has_all_totals():
    totals = TOTALS.drop("model").tail(2)
    log = ps.Scorio(LOG.drop("model"), tool_totals=totals)
    assert log(model=None, trial=None).describe().select("planned", "reported").row(0) == (40, 0.75)
