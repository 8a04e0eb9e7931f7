"""What only the rows of a log can tell: refused when they are read, and said where."""

import datetime as dt
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.counting.bad_rows import (
    CATEGORIES,
    ENGINES,
    FIRST,
    GRADED,
    METRICS,
    MISSING,
    NO_ID,
    NOTHING,
    OUTSIDE,
    ROWS,
    THREE,
    TWICE,
    Case,
    lose,
    made,
    put,
    repeat,
    shuffled,
)

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # made logs are sure


@pytest.fixture
def log() -> pl.DataFrame:
    """Three models, ten questions, four trials each, all well."""
    return made(["a", "b", "c"], questions=10, trials=4)


def cases(*tables: dict[str, Case]) -> pytest.MarkDecorator:
    """Run a test for every case of some tables."""
    params = [pytest.param(case, id=name) for table in tables for name, case in table.items()]
    return pytest.mark.parametrize("case", params)


def metric(log: pl.DataFrame) -> ps.Metric:
    """A metric that fits the categories of a log."""
    return ps.bayes(w={"bad": 0, "good": 1} if log["category"].dtype == pl.String else [0, 1])


def complaint(plan: pl.LazyFrame, engine: str = "streaming") -> str:
    """What is said when a plan is collected, and not before."""
    with pytest.raises(ValueError, match=r"\. ") as error:
        plan.collect(engine=engine)
    return str(error.value)


# --- every kind of bad question


@pytest.mark.every(2)
@cases(ROWS, CATEGORIES, NOTHING)
@pytest.mark.parametrize("per", ["model", "question"])
def test_says_what_is_wrong_where_how_often_and_what_to_do(log, case, per):
    bad = case.bad(log)
    said = complaint(bad.lazy().scorio(**case.roles).report(metric(bad), per=per))
    assert said.startswith(case.said)
    assert re.search(case.way_out, said.removeprefix(case.said))
    for engine in ENGINES:
        again = shuffled(bad, seed=2).lazy().scorio(**case.roles).report(metric(bad), per=per)
        assert complaint(again, engine) == said


@cases(ROWS, CATEGORIES, NOTHING)
def test_a_dataframe_is_checked_at_the_call(log, case):
    bad = case.bad(log)
    with pytest.raises(ValueError, match=re.escape(case.said)):
        bad.scorio(**case.roles).report(metric(bad))


@cases(ROWS)
@pytest.mark.parametrize("engine", ENGINES)
def test_counts_are_checked_as_reports_are(log, case, engine):
    plan = case.bad(log).lazy().scorio(**case.roles).counts()
    assert complaint(plan, engine).startswith(case.said)


@cases({name: case for name, case in ROWS.items() if "n" not in case.roles}, CATEGORIES)
def test_errors_of_prior_trials_say_so(log, case):
    bad = case.bad(log)
    log = log if bad["category"].dtype != pl.String else log.with_columns(category=pl.lit("good"))
    plan = log.lazy().scorio(**case.roles).report(metric(bad), prior=bad)
    assert complaint(plan).startswith(f"prior: {case.said}")


@cases(NOTHING)
def test_of_prior_trials_there_may_be_none(log, case):
    asked = log.scorio(**case.roles, validate=False)  # one model is sure
    rows = asked.report(*METRICS, prior=case.bad(log))
    absent = asked.report(*METRICS, prior=log.filter(~THREE))
    assert_frame_equal(rows, absent, check_exact=True)


@cases(ROWS, CATEGORIES, NOTHING)
def test_without_validation_only_repeated_trials_pass(log, case):
    bad = case.bad(log)
    plan = bad.lazy().scorio(**case.roles, validate=False).report(metric(bad))
    # Then the ids have no part in the report, and are not even read.
    if case.what in (TWICE, NO_ID):
        unidentified = bad.scorio(trial=None, validate=False).report(metric(bad))
        assert_frame_equal(plan.collect(), unidentified, check_exact=True)
    else:
        assert complaint(plan).startswith(case.said)


@pytest.mark.parametrize("value", [0.5, float("inf")])
def test_a_category_is_a_whole_number_even_where_only_success_is_known(log, value):
    plan = put("category", value)(log, THREE).lazy().scorio(success=1).pass_at_k(2)
    said = complaint(plan)
    assert re.match(rf"3 questions .*'category'.* at model='b', question=3: {value}\.", said)
    assert GRADED in said


@pytest.mark.parametrize("given", [ps.bayes(), ps.bayes(w=[0, 0.5, 1])])
def test_of_a_graded_reward_the_levels_are_asked_for(log, given):
    graded = put("category", 0.5)(log, THREE)
    said = complaint(graded.lazy().scorio().report(given))
    assert re.search(r"question=3: 0\.5\. If it is a reward, pass th.* Recode it, pass w= ", said)
    assert GRADED in said
    assert "levels" not in complaint(put("category", 3)(log, THREE).lazy().scorio().report(given))
    assert graded.scorio(levels=[0, 0.5, 1]).avg().height == graded.scorio().describe().height
    stray = graded.lazy().scorio(levels=[0, 0.25, 1]).avg()
    way_out = "Recode it, or list every possible reward in levels=. See"
    assert f"question=3: 0.5. {way_out}" in complaint(stray)


@pytest.mark.parametrize(
    ("column", "number", "place"),
    [
        ("domain", 3, "domain=None, model='b', question=3"),
        ("model", 3, "domain='x', model=None, question=1"),
        ("question", 2, "domain='x', model='b', question=None"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_null_keys_are_refused(log, column, number, place, engine):
    accessor = shuffled(put(column, None)(log, THREE)).lazy().scorio(by="domain")
    expected = (
        f"{number} questions have a null in the keys ['domain', 'model', 'question'], "
        f"the first at {place}. Fill the nulls, or filter such rows out. "
        "See describe() for what the log has."
    )
    assert complaint(accessor.report(*METRICS), engine) == expected
    assert complaint(accessor.report(*METRICS, per="question"), engine) == expected
    assert complaint(accessor.counts(), engine) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_nulls_are_first_in_the_order_of_keys(log, engine):
    spoilers = put("question", None), put("model", None)
    for spoil, model in zip(spoilers, ["b", "c"], strict=True):
        log = spoil(log, THREE & (pl.col("model") == model))
    said = complaint(shuffled(log).lazy().scorio.bayes(), engine)
    assert "2 questions have a null in the keys" in said
    assert "the first at model=None, question=1. " in said


def test_repeated_trials_are_those_of_one_stratum(log):
    both = pl.concat([log, log.with_columns(domain=pl.lit("y"))])
    assert both.scorio(by="domain").bayes().height == 6
    said = complaint(both.lazy().scorio.bayes())
    assert said.startswith(
        f"30 questions have {TWICE}, the first at model='a', question=0: 8 trials, 4"
    )


# --- the number and the place


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("per", ["model", "question"])
@pytest.mark.parametrize(
    ("spoil", "roles", "what"),
    [
        pytest.param(put("category", None), {}, MISSING, id="null"),
        pytest.param(put("category", 2), {}, OUTSIDE, id="outside"),
        pytest.param(repeat, {}, TWICE, id="repeated"),
        pytest.param(lose, {"n": 3}, "a number of trials other than n=3", id="lost"),
    ],
)
def test_many_bad_questions_are_counted_exactly(spoil, roles, what, engine, per):
    some = (pl.col("model") != "a") & (pl.col("question") >= 200) & (pl.col("question") % 8 == 5)
    bad = shuffled(spoil(made(["a", "b", "c"], questions=5_000, trials=3), some))
    said = complaint(bad.lazy().scorio(**roles).report(*METRICS, per=per), engine)
    assert said.startswith(f"1,200 questions have {what}, the first at model='b', question=205: ")


@pytest.mark.parametrize("engine", ENGINES)
def test_of_several_unknown_categories_the_smallest_is_shown(log, engine):
    bad = put("category", 2)(put("category", 7, pl.col("trial") > 1)(log, THREE), THREE)
    for seed in (1, 2):
        said = complaint(shuffled(bad, seed).lazy().scorio.bayes(), engine)
        assert said.startswith(
            f"3 questions have {OUTSIDE}, the first at model='b', question=3: 2. "
        )


def test_one_bad_question_is_one(log):
    one = (pl.col("model") == "c") & (pl.col("question") == 9)
    said = complaint(put("category", None)(log, one).lazy().scorio.bayes())
    assert said.startswith(f"1 question has {MISSING}, the first at model='c', question=9: ")


@pytest.mark.parametrize("engine", ENGINES)
def test_of_several_kinds_of_problems_one_is_reported(log, engine):
    last = (pl.col("model") == "c") & (pl.col("question") == 9)
    bad = repeat(
        put("category", None)(put("category", 2, pl.col("trial") == 1)(log, THREE), THREE), last
    )
    for seed in (1, 2, 3):
        said = complaint(shuffled(bad, seed).lazy().scorio.report(*METRICS), engine)
        assert said.startswith(f"1 question has {TWICE}, the first at model='c', question=9: ")


def test_the_place_has_the_names_and_values_of_the_log(log):
    bad = put("category", None)(log, THREE).select(
        llm="model",
        day=pl.date(2025, 1, 1) + pl.duration(days="question"),
        reward="category",
    )
    roles = {"question": "day", "category": "reward", "trial": None}
    days = [repr(dt.date(2025, 1, 1 + question)) for question in (3, 1)]
    said = complaint(bad.lazy().scorio(**roles, model="llm").bayes())
    assert f"(null or NaN in 'reward'), the first at llm='b', day={days[0]}: " in said
    said = complaint(bad.lazy().scorio(**roles, model=None).bayes())
    assert f"the first at day={days[1]}: " in said


def test_only_the_rows_that_are_read_are_checked(log):
    report = put("category", None)(log, THREE).lazy().scorio(by="domain").report(*METRICS)
    good = log.scorio(by="domain").report(*METRICS).filter(model="a")
    assert_frame_equal(report.filter(model="a").collect(), good, rel_tol=1e-13)
    assert report.filter(domain="y").collect().is_empty()
    assert complaint(report.filter(model="b")).startswith(f"2 questions have {MISSING}")


# --- what a missing outcome means


@pytest.mark.parametrize("lost", [None, float("nan")])
def test_dropped_trials_are_counted_and_nothing_else(log, lost):
    holes = put("category", lost)(log, THREE)
    rows = holes.scorio(missing="drop", validate=False).report(*METRICS)
    left = lose(log, THREE).scorio(validate=False).report(*METRICS)
    assert rows.filter(metric="bayes").select("trials", "dropped").rows() == [
        (40, 0),
        (38, 2),
        (39, 1),
    ]
    assert_frame_equal(rows.drop("dropped"), left.drop("dropped"), check_exact=True)
    each = (
        holes.scorio(missing="drop", validate=False)
        .bayes(per="question")
        .filter(pl.col("dropped") > 0)
    )
    assert each.select("model", "question", "trials", "dropped").rows() == [
        ("b", 3, 3, 1),
        ("b", 7, 3, 1),
        ("c", 1, 3, 1),
    ]


@pytest.mark.parametrize("lost", [None, float("nan")])
@pytest.mark.parametrize("stands_for", [0, 1])
def test_a_missing_outcome_can_stand_for_a_category(log, lost, stands_for):
    rows = put("category", lost)(log, THREE).scorio(missing=stands_for).report(*METRICS)
    assert_frame_equal(rows, put("category", stands_for)(log, THREE).scorio.report(*METRICS))


def test_dropped_trials_are_part_of_the_promise(log):
    holes = put("category", None)(log, THREE).lazy()
    assert holes.scorio(missing="drop", n=4).bayes().collect()["dropped"].to_list() == [0, 2, 1]
    said = complaint(holes.scorio(missing="drop", n=3).bayes())
    assert said.startswith("30 questions have a number of trials other than n=3, the first at")


# --- prior trials


def test_the_promise_is_about_the_data_not_about_prior_trials(log):
    assert log.scorio(n=4).bayes(prior=log.filter(FIRST)).height == 3


def test_prior_trials_share_a_question_with_the_data(log):
    prior = log.with_columns(pl.col("question") + 10)
    for engine in ENGINES:
        said = complaint(log.lazy().scorio(by="domain").bayes(prior=prior), engine)
        assert said.startswith("prior: its trials share no question with the data. ")
        assert "['domain', 'model', 'question']" in said
    assert log.scorio.bayes(prior=pl.concat([prior, log.filter(question=9)])).height == 3


def test_a_filter_leaves_the_rest_of_a_report_with_prior_trials_as_it_is(log):
    report = log.lazy().scorio(validate=False).bayes(prior=log.filter(model="a"))
    expected = report.collect().filter(model="b")
    assert_frame_equal(report.filter(model="b").collect(), expected, check_exact=True)


# --- nothing at all


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "roles", [{}, {"by": "domain"}, {"model": None, "trial": None}, {"missing": "drop"}, {"n": 4}]
)
@pytest.mark.parametrize("per", ["model", "question"])
def test_an_empty_log_gives_an_empty_report(log, roles, per):
    log = log.filter(model="a")
    whole = log.scorio(**roles).report(*METRICS, per=per)
    for prior in (None, log, log.clear()):
        rows = log.clear().scorio(**roles).report(*METRICS, per=per, prior=prior)
        assert_frame_equal(rows, whole.clear())
        plan = log.clear().lazy().scorio(**roles).report(*METRICS, per=per, prior=prior)
        for engine in ENGINES:
            assert_frame_equal(plan.collect(engine=engine), whole.clear())


@pytest.mark.parametrize("roles", [{}, {"by": "domain", "model": None}, {"count": "rows"}])
def test_an_empty_log_has_empty_counts(log, roles):
    log = log.filter(model="a")
    nothing = log.scorio(**roles).counts().clear()
    assert_frame_equal(log.clear().scorio(**roles).counts(), nothing)
    assert_frame_equal(log.clear().lazy().scorio(**roles).counts().collect(), nothing)
