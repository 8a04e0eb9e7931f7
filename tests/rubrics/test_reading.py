"""Columns, levels and thresholds of the reading."""

import re

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ColumnNotFoundError
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import unreadable
from tests.rubrics.oracle import AT, signalled

SCHEMATA = ps.rubrics.schemata()
ROUNDING = 1e-12  # NumPy and Polars interpolate a quantile in other steps: a few 1e-16


def quantiles(rows: pl.DataFrame) -> dict[str, float]:
    """The thresholds of one dataset, from NumPy."""
    bits, tokens, prompts = (
        rows[name].to_numpy() for name in ("completion_bpt", "token_ratio", "prompt_bpt")
    )
    correct = rows["is_correct"].to_numpy()
    return {
        "high_conf": np.quantile(bits, 0.40),
        "wrong_high_conf": np.quantile(bits[~correct], 0.60),
        "correct_high_conf": np.quantile(bits[correct], 0.33),
        "correct_mid_conf": np.quantile(bits[correct], 0.66),
        "ood": np.quantile(prompts, 0.90),
        "economical": np.quantile(tokens, 0.33),
        "moderate": np.quantile(tokens, 0.66),
        "correct_economical": np.quantile(tokens[correct], 0.33),
        "correct_moderate": np.quantile(tokens[correct], 0.66),
    }


def test_thresholds_are_the_quantiles_of_each_dataset_over_all_models():
    log = signalled()
    rows = ps.rubrics.thresholds(log, over="dataset")
    assert rows.columns == ["dataset", *AT]
    assert rows["dataset"].to_list() == ["easy", "hard"]
    for row in rows.iter_rows(named=True):
        expected = quantiles(log.filter(dataset=row.pop("dataset")))
        assert row == pytest.approx(expected, rel=ROUNDING)
    (whole,) = ps.rubrics.thresholds(log).iter_rows(named=True)
    assert whole == pytest.approx(quantiles(log), rel=ROUNDING)


def test_thresholds_over_several_columns_and_expressions():
    log = signalled()
    rows = ps.rubrics.thresholds(log, over=["dataset", pl.col("model").str.to_uppercase()])
    assert rows.select("dataset", "model").rows() == [
        ("easy", "A"), ("easy", "B"), ("hard", "A"), ("hard", "B")
    ]  # fmt: skip
    part = log.filter(dataset="hard", model="a")
    row = rows.filter(dataset="hard", model="A").drop("dataset", "model").row(0, named=True)
    assert row == pytest.approx(quantiles(part), rel=ROUNDING)


def test_lazy_thresholds_are_the_eager_ones_and_read_nothing_before():
    log = signalled()
    plan = ps.rubrics.thresholds(log.lazy(), over="dataset")
    assert isinstance(plan, pl.LazyFrame)
    assert_frame_equal(plan.collect(), ps.rubrics.thresholds(log, over="dataset"))
    plan = ps.rubrics.thresholds(unreadable(log.schema), over="dataset")
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


@pytest.mark.slow
def test_thresholds_survive_a_file(tmp_path):
    log = signalled()
    rows = ps.rubrics.thresholds(log, over="dataset")
    rows.write_parquet(tmp_path / "kept.parquet")
    kept = pl.read_parquet(tmp_path / "kept.parquet")
    for rubric in SCHEMATA:
        again = log.select(rubric.expr(over="dataset", thresholds=kept))
        assert_frame_equal(again, log.select(rubric.expr(over="dataset")))


def test_only_thresholds_of_signals_that_are_there():
    log = signalled().select("token_ratio", "is_correct", "prompt_bpt")
    names = ["ood", "economical", "moderate", "correct_economical", "correct_moderate"]
    assert ps.rubrics.thresholds(log).columns == names
    assert ps.rubrics.thresholds(log.drop("is_correct")).columns == names[:3]


def test_a_dataset_without_wrong_attempts_has_no_threshold_among_them():
    log = signalled().with_columns(is_correct=pl.col("is_correct") | (pl.col("dataset") == "easy"))
    rows = ps.rubrics.thresholds(log, over="dataset")
    assert rows["wrong_high_conf"].is_null().to_list() == [True, False]
    rubric = ps.rubrics.conf_wrong_penalty()
    own = log.with_columns(rubric.expr(over="dataset")).filter(dataset="easy")
    assert set(own[rubric.name]) == {"invalid", "correct"}
    # What the kept thresholds do not know is missing, not guessed.
    new = signalled().with_columns(rubric.expr(over="dataset", thresholds=rows))
    unknown = new.filter(pl.col(rubric.name).is_null())
    valid = new.filter(~pl.col("repeated_pattern"), pl.col("C") < 0.5)
    assert unknown.height == valid.filter(~pl.col("is_correct"), dataset="easy").height > 0


@pytest.mark.slow
def test_every_column_can_have_another_name():
    log = signalled()
    names = ["has_box", "is_correct", "token_ratio", "repeated_pattern", "prompt_bpt",
             "completion_bpt", "A", "B", "C"]  # fmt: skip
    other = {name: f"the {name}" for name in names}
    renamed = log.rename(other)
    for default, rubric in zip(SCHEMATA, ps.rubrics.schemata(**other), strict=True):
        assert_frame_equal(renamed.select(rubric.expr()), log.select(default.expr()))
        assert rubric.signals == tuple(other[name] for name in default.signals)
    assert_frame_equal(ps.rubrics.thresholds(renamed, **other), ps.rubrics.thresholds(log))


def test_a_signal_can_be_an_expression():
    log = signalled()
    rubric = ps.rubrics.exact_match(is_correct=pl.col("A") >= 0.3, C=pl.lit(0.0))
    expected = log.select(
        pl.when("repeated_pattern").then(pl.lit("invalid"))
        .when(pl.col("A") >= 0.3).then(pl.lit("correct")).otherwise(pl.lit("wrong"))
    ).to_series()  # fmt: skip
    assert log.select(rubric.expr()).to_series().to_list() == expected.to_list()
    assert rubric.signals == ("repeated_pattern", "A")


@pytest.mark.parametrize(
    ("make", "level", "row", "below", "above"),
    [
        pytest.param("exact_match", {"invalid_at": 0.8}, {"C": 0.8}, "correct", "invalid", id="C"),
        pytest.param("verifier_prob", {"A_high_at": 0.8}, {"A": 0.8}, "correct_A_low",
                     "correct_A_high", id="A"),
    ],
)  # fmt: skip
def test_absolute_levels_are_arguments(make, level, row, below, above):
    rubric = getattr(ps.rubrics, make)(**level)
    usual = {"is_correct": 1, "repeated_pattern": 0, "A": 0.1, "C": 0.0}
    rows = pl.DataFrame([usual | {name: at - 0.01 for name, at in row.items()}, usual | row])
    assert rows.select(rubric.expr()).to_series().to_list() == [below, above]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "threshold", "signal", "q"),
    [
        ({"high_conf_q": 0.2}, "high_conf", "completion_bpt", 0.2),
        ({"wrong_high_conf_q": 0.3}, "wrong_high_conf", "wrong", 0.3),
        ({"correct_conf_q": (0.1, 0.7)}, "correct_high_conf", "correct", 0.1),
        ({"correct_conf_q": (0.1, 0.7)}, "correct_mid_conf", "correct", 0.7),
        ({"ood_q": 0.5}, "ood", "prompt_bpt", 0.5),
        ({"tokens_q": [0.2, 0.9]}, "economical", "token_ratio", 0.2),
        ({"tokens_q": [0.2, 0.9]}, "moderate", "token_ratio", 0.9),
    ],
)
def test_percentile_levels_are_arguments(level, threshold, signal, q):
    log = signalled()
    columns = {
        "correct": log.filter("is_correct")["completion_bpt"],
        "wrong": log.filter(~pl.col("is_correct"))["completion_bpt"],
    }
    values = columns.get(signal, log[signal] if signal in log.columns else None)
    for how in ("linear", "lower"):
        rows = ps.rubrics.thresholds(log, **level, interpolation=how)
        assert rows[threshold].item() == pytest.approx(np.quantile(values, q, method=how))
    default = ps.rubrics.thresholds(log)
    (rubric, *_) = (r for r in ps.rubrics.schemata(**level) if threshold in r.thresholds)
    (usual, *_) = (r for r in SCHEMATA if r.name == rubric.name)
    changed = log.select(rubric.expr()).to_series()
    numbers = ps.rubrics.thresholds(log, **level).row(0, named=True)
    assert numbers != default.row(0, named=True)
    assert changed.to_list() == log.select(usual.expr(thresholds=numbers)).to_series().to_list()


def test_nan_and_what_is_no_flag_are_missing():
    log = pl.DataFrame(
        {
            "repeated_pattern": [0, 0, 0, 1, None],
            "C": [0.1, float("nan"), 0.1, float("nan"), 0.9],
            "is_correct": [2, 1, 0, None, None],
        }
    )
    found = log.select(ps.rubrics.exact_match().expr()).to_series().to_list()
    assert found == [None, None, "wrong", "invalid", "invalid"]
    bits = pl.DataFrame({"completion_bpt": [1.0, 2.0, 3.0, float("nan"), None]})
    assert ps.rubrics.thresholds(bits, high_conf_q=0.5)["high_conf"].item() == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"C": None}, TypeError, "C must be a column name or an expression, got None"),
        ({"is_correct": 1}, TypeError, "is_correct must be a column name .*, got 1"),
        ({"invalid_at": "high"}, ValueError, "invalid_at must be a number from 0 to 1, got 'high'"),
        ({"A_high_at": True}, ValueError, "A_high_at must be a number from 0 to 1, got True"),
        ({"ood_q": 90}, ValueError, "ood_q must be a number from 0 to 1, got 90"),
        ({"high_conf_q": float("nan")}, ValueError, "high_conf_q must be .*, got nan"),
        ({"tokens_q": 0.5}, ValueError, "tokens_q must be two ascending .*, got 0.5"),
        ({"tokens_q": (0.1, 0.2, 0.3)}, ValueError, r"tokens_q must be two .*, got \(0.1, 0.2,"),
        ({"correct_conf_q": (0.7, 0.3)}, ValueError, r"correct_conf_q .* got \(0.7, 0.3\)"),
        ({"interpolation": "spline"}, ValueError, 'must be "linear" or .*, got .spline'),
        ({"is_corect": "x"}, TypeError, "unexpected keyword argument 'is_corect'"),
    ],
)
def test_wrong_readings_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ps.rubrics.exact_match(**options)
    with pytest.raises(error, match=message):
        ps.rubrics.thresholds(signalled(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "benchmark"}, "no column 'benchmark' for the thresholds; the columns are ['x'"),
        ({"over": pl.col("y")}, "no column 'y' for the thresholds"),
        ({"token_ratio": "tokens"}, "no column 'tokens' for the thresholds"),
        ({"over": "x"}, "none of 'completion_bpt', 'prompt_bpt' and 'token_ratio'; the columns"),
    ],
)
def test_thresholds_of_absent_columns_are_refused(options, message):
    with pytest.raises(ColumnNotFoundError, match=re.escape(message)):
        ps.rubrics.thresholds(pl.LazyFrame({"x": [1], "C": [0.1]}), **options)
