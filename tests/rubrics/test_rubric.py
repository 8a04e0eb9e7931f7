"""Rubrics as values, of your own too, and what the accessor makes of them."""

import copy
import pickle
import re

import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import unreadable
from tests.rubrics.oracle import AT, signalled

SCHEMATA = ps.rubrics.schemata()
each = pytest.mark.parametrize("rubric", SCHEMATA, ids=[rubric.name for rubric in SCHEMATA])
CONDITIONS = {"failed": ~pl.col("passed"), "slow": pl.col("seconds") > 60}


@pytest.fixture
def pace():
    weights = {"failed": 0, "slow": 0.5, "quick": 1}
    return ps.rubrics.rubric("pace", CONDITIONS, otherwise="quick", weights=weights)


@pytest.fixture
def log():
    return signalled()


# --- rubrics of your own


def test_conditions_are_checked_in_order():
    rows = pl.DataFrame({"x": [1, 2, 3, 4]})
    small, even = pl.col("x") < 3, pl.col("x") % 2 == 0
    one = ps.rubrics.rubric("r", {"small": small, "even": even}, otherwise="large")
    other = ps.rubrics.rubric("r", {"even": even, "small": small}, otherwise="large")
    assert rows.select(one.expr())["r"].to_list() == ["small", "small", "large", "even"]
    assert rows.select(other.expr())["r"].to_list() == ["small", "even", "large", "even"]
    assert (one.labels, one.signals) == (("small", "even", "large"), ("x",))
    assert one.expr().meta.output_name() == "r"


def test_a_null_condition_before_a_true_one_is_null_and_never_otherwise(pace):
    passed = [None, None, True, True, False, False]
    rows = pl.DataFrame({"passed": passed, "seconds": [90, None, None, 9, None, 90]})
    found = rows.select(pace.expr())["pace"]
    assert found.to_list() == [None, None, None, "quick", "failed", "failed"]
    assert found.dtype == pl.Enum(["failed", "slow", "quick"])


def test_otherwise_may_be_one_of_the_labels():
    conditions = {"bad": pl.col("x") < 0, "good": pl.col("x") > 9}
    rubric = ps.rubrics.rubric("r", conditions, otherwise="bad")
    assert rubric.labels == ("bad", "good")
    rows = pl.DataFrame({"x": [-1, 5, 10]}).select(rubric.expr())
    assert rows["r"].to_list() == ["bad", "bad", "good"]


def test_conditions_are_evaluated_within_the_strata():
    fast = pl.col("seconds") <= pl.col("seconds").median()
    rubric = ps.rubrics.rubric("pace", {"fast": fast}, otherwise="slow")
    rows = pl.DataFrame({"set": ["x", "y", "x", "y"], "seconds": [1, 30, 2, 40]})
    assert rows.select(rubric.expr())["pace"].to_list() == ["fast", "slow", "fast", "slow"]
    within = rows.select(rubric.expr(over="set"))["pace"].to_list()
    assert within == ["fast", "fast", "slow", "slow"]
    with pytest.raises(ValueError, match=r"thresholds lack 'fast', which the rubric 'pace' takes"):
        rubric.expr(thresholds=AT)


def test_weights_are_named_or_those_of_the_example(pace):
    assert pace.weights() == {"failed": 0, "slow": 0.5, "quick": 1}
    assert pace.weights(failed=-1) == {"failed": -1, "slow": 0.5, "quick": 1}
    assert list(pace.weights(quick=2, failed=-1)) == list(pace.labels)
    bare = ps.rubrics.rubric("bare", CONDITIONS, otherwise="quick")
    assert bare.weights(failed=0, slow=1, quick=2) == {"failed": 0, "slow": 1, "quick": 2}
    with pytest.raises(
        ValueError, match=r"'bare' has no .* each .*; \['slow', 'quick'\] have none"
    ):
        bare.weights(failed=0)


@each
def test_weights_refuse_unknown_labels(rubric):
    with pytest.raises(ValueError, match=rf"'{rubric.name}': \['corect'\] are none of its labels"):
        rubric.weights(corect=1.0)


def test_a_rubric_prints_and_cannot_be_changed(pace):
    assert repr(pace).startswith("Rubric(name='pace', labels=('failed', 'slow', 'quick'), signals=")
    with pytest.raises(AttributeError, match="name"):
        pace.name = "x"
    with pytest.raises(TypeError, match="item assignment"):
        pace.example["slow"] = 9


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"conditions": {}}, TypeError, r"conditions must be a dict of label to .*, got \{\}"),
        ({"conditions": [1]}, TypeError, r"conditions must be a dict .*, got \[1\]"),
        ({"conditions": {"a": True}}, TypeError, "the condition of 'a' must be an .*, got True"),
        ({"conditions": {1: pl.lit(1)}}, TypeError, "name and labels .* are words, got 1"),
        ({"name": None}, TypeError, "name and labels .* are words, got None"),
        ({"otherwise": None}, TypeError, "name and labels .* are words, got None"),
        ({"success": "done"}, ValueError, r"success .*'r': \['done'\] are none .*\['failed', 's"),
        ({"weights": {"done": 1}}, ValueError, r"weights .*'r': \['done'\] are none of its labels"),
        ({"weights": {"slow": 1}}, ValueError, r"weights .*'r' lack \['failed', 'quick'\]"),
    ],
)
def test_wrong_rubrics_are_refused(arguments, error, message):
    usual = {"name": "r", "conditions": CONDITIONS, "otherwise": "quick"} | arguments
    with pytest.raises(error, match=message):
        ps.rubrics.rubric(usual.pop("name"), usual.pop("conditions"), **usual)


# --- thresholds


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"thresholds": {"high_conf": 1}}, ValueError,
         r"lack 'ood', which the rubric 'ood_robustness' takes .*; they have \['high_conf'\]"),
        ({"thresholds": {"ood": float("inf")}}, ValueError, "'ood' must be a finite .*, got inf"),
        ({"thresholds": {"ood": "high"}}, ValueError, "'ood' must be a finite .*, got 'high'"),
        ({"thresholds": {"ood": True}}, ValueError, "'ood' must be a finite .*, got True"),
        ({"thresholds": {"ood": 1}, "over": "dataset"}, ValueError, "of a dict hold for all rows"),
        ({"thresholds": pl.LazyFrame({"ood": 1})}, TypeError, "collect a LazyFrame first"),
        ({"thresholds": 0.5}, TypeError, r"must be a dict of numbers or a DataFrame.*, got 0\.5"),
        ({"thresholds": pl.DataFrame({"ood": [1.0, 2.0]})}, ValueError,
         r"one row for each stratum of over=\[\], got 2 rows for 1"),
        ({"thresholds": pl.DataFrame({"s": ["x", "x"], "ood": 1.0}), "over": "s"}, ValueError,
         r"one row for each stratum of over=\['s'\], got 2 rows for 1"),
        ({"thresholds": pl.DataFrame({"ood": 1.0}), "over": "s"}, ColumnNotFoundError,
         r"no column 's' for over in thresholds; the columns are \['ood'\]"),
        ({"over": 3}, TypeError, "over must be a column name .*, got 3"),
        ({"over": [None]}, TypeError, r"over must be a column name .*, got \[None\]"),
    ],
)  # fmt: skip
def test_wrong_thresholds_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ps.rubrics.ood_robustness().expr(**options)


def test_thresholds_that_a_rubric_does_not_need_do_no_harm(log):
    rubric = ps.rubrics.exact_match()
    plain = log.select(rubric.expr())
    kept = ps.rubrics.thresholds(log, over="dataset")
    assert_frame_equal(log.select(rubric.expr(thresholds=AT)), plain)
    assert_frame_equal(log.select(rubric.expr(over="dataset")), plain)
    assert_frame_equal(log.select(rubric.expr(over="dataset", thresholds=kept)), plain)


def test_thresholds_of_several_keys_find_their_stratum_null_keys_too(log):
    log = log.with_columns(temperature=pl.when(pl.col("trial") > 1).then(pl.lit(0.7)))
    rubric, over = ps.rubrics.conf_calibrated(), ["dataset", pl.col("temperature") * 2]
    kept = ps.rubrics.thresholds(log, over=over)
    assert kept.height == 4
    found = log.select(rubric.expr(over=over, thresholds=kept))
    assert_frame_equal(found, log.select(rubric.expr(over=over)))
    assert found[rubric.name].null_count() == 0


@pytest.mark.parametrize(
    "dtype",
    [pl.String, pl.Categorical, pl.Enum(["hard", "easy", "new"]), pl.Date, pl.Int8, pl.Boolean],
)
def test_strata_of_any_dtype_find_their_thresholds(log, dtype):
    rubric = ps.rubrics.ood_robustness()
    codes = pl.when(dataset="easy").then(1).otherwise(0)
    keys = pl.col("dataset") if dtype in (pl.String, pl.Categorical, pl.Enum) else codes
    log = log.with_columns(dataset=keys.cast(dtype))
    kept = ps.rubrics.thresholds(log, over="dataset")
    found = log.select(rubric.expr(over="dataset", thresholds=kept))
    assert_frame_equal(found, log.select(rubric.expr(over="dataset")))


def test_a_stratum_without_thresholds_is_refused_with_its_place(log):
    rubric, accessor = ps.rubrics.ood_robustness(), log.scorio(by="dataset")
    kept = ps.rubrics.thresholds(log.filter(dataset="easy"), over="dataset")
    asked = accessor.rubric(rubric, over="dataset", thresholds=kept)
    place = "12 questions have a missing category .*'ood_robustness'.*dataset='hard', model='a'"
    with pytest.raises(ValueError, match=place):
        asked.bayes(w=rubric.weights())
    empty = accessor.rubric(rubric, over="dataset", thresholds=kept.clear())
    with pytest.raises(ValueError, match="dataset='easy', model='a'"):
        empty.bayes(w=rubric.weights())


# --- the accessor


@each
def test_labels_give_the_numbers_of_integer_codes(log, rubric):
    w = rubric.weights()
    asked = log.scorio(by="dataset").rubric(rubric, over="dataset")
    codes = log.with_columns(category=rubric.expr(over="dataset").to_physical())
    report = asked.bayes(w=w, name="score")
    expected = codes.scorio(by="dataset").bayes(w=list(w.values()), name="score")
    # The classes of labels are added up in alphabetical order: some 1e-16 of difference.
    assert_frame_equal(report, expected, rel_tol=1e-12)
    assert report["sigma"].is_between(0, 1, closed="none").all()


@each
def test_lazy_reports_equal_eager_ones(log, rubric):
    asked = {"over": "dataset"}, rubric.weights()
    eager = log.scorio(by="dataset").rubric(rubric, **asked[0]).bayes(asked[1])
    lazy = log.lazy().scorio(by="dataset").rubric(rubric, **asked[0]).bayes(asked[1])
    assert_frame_equal(lazy.collect(engine="in-memory"), eager, check_exact=True)
    assert_frame_equal(lazy.collect(engine="streaming"), eager, check_exact=True)


@pytest.mark.every(5)
@each
def test_a_filter_after_the_report_leaves_the_percentiles_alone(log, rubric):
    for over in ((), "dataset"):
        plan = log.lazy().scorio(by="dataset").rubric(rubric, over=over).bayes(rubric.weights())
        for condition in (pl.col("model") == "b", pl.col("dataset") == "hard"):
            assert_frame_equal(plan.filter(condition).collect(), plan.collect().filter(condition))


@pytest.mark.parametrize("given", [False, True])
def test_a_filter_on_the_model_reaches_the_scan_where_thresholds_are_given(log, given, tmp_path):
    log.write_parquet(tmp_path / "log.parquet")
    kept = ps.rubrics.thresholds(log, over="dataset") if given else None
    accessor = pl.scan_parquet(tmp_path / "log.parquet").scorio(by="dataset")
    rubric = ps.rubrics.conf_calibrated()
    plan = accessor.rubric(rubric, over="dataset", thresholds=kept).bayes(rubric.weights())
    for column, pushed in (("model", given), ("dataset", True)):
        explained = plan.filter(pl.col(column) == "x").explain()
        assert ("SELECTION: " in explained) == pushed
        assert "PROJECT 8/13 COLUMNS" in explained


def test_a_filter_before_the_report_changes_them(log):
    rubric = ps.rubrics.conf_calibrated()
    after = log.scorio(by="dataset").rubric(rubric, over=()).bayes(rubric.weights())
    before = (
        log.filter(model="b").scorio(by="dataset").rubric(rubric, over=()).bayes(rubric.weights())
    )
    assert not before["mu"].equals(after.filter(model="b")["mu"])


def test_nothing_is_read_before_collect(log):
    accessor = unreadable(log.schema).scorio(by="dataset")
    rubric = ps.rubrics.efficiency_adjusted()
    plan = accessor.rubric(rubric, over="dataset").bayes(rubric.weights())
    assert isinstance(plan, pl.LazyFrame)
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


def test_the_other_roles_stay(log):
    rubric = ps.rubrics.format_aware()
    other = log.rename({"model": "llm", "question": "task"}).drop("trial")
    accessor = other.scorio(model="llm", question="task", trial=None, by="dataset", n=4)
    report = accessor.rubric(rubric).bayes(rubric.weights())
    expected = log.scorio(by="dataset").rubric(rubric).bayes(rubric.weights())
    assert_frame_equal(report.rename({"llm": "model"}), expected)
    with pytest.raises(ValueError, match="a number of trials other than n=5"):
        accessor(model="llm", question="task", trial=None, n=5).rubric(rubric).bayes(
            rubric.weights()
        )


@pytest.mark.every(5)
@each
def test_success_is_that_of_the_rubric_unless_it_was_said(log, rubric):
    report = log.scorio(by="dataset").rubric(rubric, over=()).pass_at_k(2)
    success = pl.col(rubric.name).cast(pl.String).is_in(rubric.success)
    labelled = log.with_columns(rubric.expr())
    assert_frame_equal(report, labelled.scorio(by="dataset", category=success).pass_at_k(2))
    valid = log.scorio(by="dataset", success=rubric.labels[1:]).rubric(rubric, over=()).pass_at_k(2)
    expected = labelled.scorio(by="dataset", category=pl.col(rubric.name) != "invalid")
    assert_frame_equal(valid, expected.pass_at_k(2))


def test_a_rubric_that_knows_no_success_asks_for_it(log):
    rubric = ps.rubrics.rubric("long", {"long": pl.col("token_ratio") > 1}, otherwise="short")
    with pytest.raises(ValueError, match=r"'long' holds labels .*success="):
        log.scorio(by="dataset").rubric(rubric).pass_at_k(2)


def test_counts_show_the_categories(log):
    rubric = ps.rubrics.verifier_only()
    counts = log.scorio(by="dataset").rubric(rubric).counts()
    assert counts.schema["verifier_only"] == pl.Enum(rubric.labels)
    expected = log.group_by("dataset", "model", "question", rubric.expr()).len("count")
    assert_frame_equal(counts, expected.cast({"count": pl.UInt64}), check_row_order=False)


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_missing_signal_that_decides_is_an_error_with_its_place(log, nothing):
    rubric = ps.rubrics.concision_high_conf()
    first = (pl.col("model") == "b") & (pl.col("question") == 2) & (pl.col("trial") == 1)
    usual = {"is_correct": True, "repeated_pattern": False, "C": 0.0, "token_ratio": 0.0}
    broken = log.with_columns(
        *(
            pl.when(first).then(pl.lit(value)).otherwise(name).alias(name)
            for name, value in usual.items()
        ),
        completion_bpt=pl.when(first).then(nothing).otherwise("completion_bpt"),
    )
    accessor = broken.scorio(by="dataset")
    message = r"2 questions have a missing category .*'concision_high_conf'\), the first at dataset"
    with pytest.raises(ValueError, match=message + "='easy', model='b', question=2: 1 trial"):
        accessor.rubric(rubric, over=()).bayes(rubric.weights())
    dropped = (
        broken.scorio(by="dataset", missing="drop").rubric(rubric, over=()).bayes(rubric.weights())
    )
    assert dropped["dropped"].to_list() == [0, 1, 0, 1]
    stand_in = broken.scorio(by="dataset", missing="invalid").rubric(rubric, over=())
    as_invalid = broken.with_columns(repeated_pattern=pl.col("repeated_pattern") | first)
    assert_frame_equal(
        stand_in.bayes(rubric.weights()),
        as_invalid.scorio(by="dataset").rubric(rubric, over=()).bayes(rubric.weights()),
    )


def test_a_missing_signal_that_does_not_decide_is_no_error(log):
    rubric = ps.rubrics.concision_high_conf()
    wrong = log.with_columns(
        completion_bpt=pl.when(is_correct=True).then("completion_bpt"),
        token_ratio=pl.when(is_correct=True).then("token_ratio"),
    )
    # Percentiles are taken of what is there, so they are fixed here.
    reports = [
        frame.scorio(by="dataset").rubric(rubric, thresholds=AT).bayes(rubric.weights())
        for frame in (log, wrong)
    ]
    assert_frame_equal(*reports)


def test_prior_trials_are_judged_by_the_same_thresholds(log):
    rubric, w = ps.rubrics.conf_calibrated(), ps.rubrics.conf_calibrated().weights()
    prior = signalled(seed=4).with_columns(pl.col("completion_bpt") + 1)
    kept = ps.rubrics.thresholds(log, over="dataset")
    asked = log.scorio(by="dataset").rubric(rubric, over="dataset", thresholds=kept)
    labelled = [
        frame.with_columns(category=rubric.expr(over="dataset", thresholds=kept))
        for frame in (log, prior)
    ]
    expected = labelled[0].scorio(by="dataset").bayes(w, prior=labelled[1])
    assert_frame_equal(asked.bayes(w, prior=prior), expected)


def test_the_dataset_of_percentiles_is_named_where_there_are_strata(log):
    rubric = ps.rubrics.ood_robustness()
    accessor = log.lazy().scorio(by="dataset")
    with pytest.raises(ValueError, match=r"^the rubric 'ood_robustness' takes .* pass over=\(\) "):
        accessor.rubric(rubric)
    split = accessor.rubric(rubric, over="dataset").bayes(rubric.weights()).collect()
    whole = accessor.rubric(rubric, over=()).bayes(rubric.weights()).collect()
    assert not split.equals(whole)
    without = log.scorio(model="dataset", question=pl.concat_str("model", "question"))
    assert without.rubric(rubric).bayes(rubric.weights())["questions"].len() == 2
    accessor.rubric(ps.rubrics.exact_match())  # takes none


def test_rows_that_are_counted_have_no_percentiles(log):
    rubric = ps.rubrics.ood_robustness()
    rows = log.drop("trial").with_columns(rows=1)
    accessor = rows.scorio(by="dataset", count="rows")
    with pytest.raises(ValueError, match=r"'ood_robustness' takes percentiles .* pass thresholds="):
        accessor.rubric(rubric)
    numbers = ps.rubrics.thresholds(log).row(0, named=True)
    expected = log.scorio(by="dataset").rubric(rubric, over=()).bayes(rubric.weights())
    asked = accessor.rubric(rubric, thresholds=numbers)
    assert_frame_equal(asked.bayes(rubric.weights()), expected)
    free = accessor.rubric(ps.rubrics.exact_match()).avg(ps.rubrics.exact_match().weights())
    assert free.height == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no column 'completion_bpt' for the rubric 'format_confidence'; the columns are ['da"),
        ({"thresholds": AT}, "no column 'completion_bpt' for the rubric 'format_confidence'"),
        ({"over": "benchmark"}, "no column 'benchmark' for the rubric 'format_confidence'"),
    ],
)
def test_absent_signals_are_refused_at_the_call(log, options, message):
    frame = log.lazy() if "over" in options else log.lazy().drop("completion_bpt")
    with pytest.raises(ColumnNotFoundError, match=re.escape(message)):
        frame.scorio.rubric(ps.rubrics.format_confidence(), **options)


# Rubrics are values: they can be copied, and sent to other processes.


SIGNALS = pl.DataFrame(
    {
        **{name: [1, 0, 1, 0] for name in ("has_box", "is_correct")},
        "token_ratio": [0.1, 0.4, 0.2, 0.9],
        "repeated_pattern": [0, 0, 0, 1],
        **{name: [1.0, 2.0, 3.0, 4.0] for name in ("prompt_bpt", "completion_bpt")},
        **{name: [0.2, 0.7, 0.1, 0.4] for name in ("A", "B", "C")},
    }
)
OWN = ps.rubrics.rubric(
    "pace", {"slow": pl.col("token_ratio") > 0.3}, otherwise="fast", success="fast"
)


def pickled(rubric: object) -> object:
    return pickle.loads(pickle.dumps(rubric))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize(
    "rubric", [*ps.rubrics.schemata(A_high_at=0.6, ood_q=0.5), OWN], ids=lambda rubric: rubric.name
)
def test_rubrics_can_be_copied_and_pickled(rubric, copied):
    other = copied(rubric)
    assert_frame_equal(SIGNALS.select(other.expr()), SIGNALS.select(rubric.expr()))
    assert repr(other) == repr(rubric)
    with pytest.raises(TypeError, match="does not support item assignment"):
        other.example["slow"] = 9
