"""Rows over all strata as a part of the frame and of its plan: keys, order, filters, engines."""

import datetime as dt
from math import sqrt

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import uneven, unreadable

KEYS = ["domain", "model"]
METRICS = (ps.bayes(), ps.avg(), ps.pass_at_k([1, 3]), ps.geom_ds_at_k(2))
ENGINES = ("streaming", "in-memory")
KINDS = pytest.mark.parametrize("overall", ["macro", "micro"])


@pytest.fixture
def log():
    return uneven(11)


def report(log: pl.DataFrame, *metrics: ps.Metric, **options: object) -> pl.DataFrame:
    """A uniform prior unless said: the same plan in a twentieth of the time."""
    asked = {"prior": "uniform"} | options
    return log.scorio(by="domain", success=2).report(*(metrics or METRICS), **asked)


# --- keys and order


@KINDS
def test_strata_come_first_and_overall_rows_last_models_ascending(log, overall):
    rows = report(log, overall=overall)
    plain = report(log).select(*KEYS, "metric", "k").rows()
    expected = [(None, *row[1:]) for row in plain if row[0] == "air"]
    assert rows.select(*KEYS, "metric", "k").rows() == plain + expected


@KINDS
def test_several_strata_columns_are_all_null(log, overall):
    whole = pl.concat([log.with_columns(hot=pl.lit(value)) for value in (True, False)])
    accessor = whole.scorio(by=["hot", "domain"], success=2, prior="uniform")
    rows = accessor.report(*METRICS, overall=overall)
    assert rows["domain"].is_null().equals(rows["hot"].is_null())
    once = report(log, overall=overall)
    over_all = rows.filter(pl.col("hot").is_null()).drop("hot")
    # Every stratum is there twice: the same means, half of the variance.
    same = ["estimate", "mu"]
    expected = once.filter(pl.col("domain").is_null())
    # Twice as many terms in the sums: rounding.
    assert_frame_equal(over_all.select(same), expected.select(same), rel_tol=1e-12)
    wider = (over_all["sigma"] * sqrt(2)).to_list()
    # Twice as many terms in the sums, and a factor of sqrt(2): rounding.
    assert wider == pytest.approx(expected["sigma"].to_list(), rel=1e-12)


@pytest.mark.every(4)
@KINDS
@pytest.mark.parametrize("prior", ["uniform", "population", None])
def test_without_models_there_is_one_block_over_all_strata(log, overall, prior):
    options = {"overall": overall, "prior": prior}
    one = log.filter(model="b")
    rows = one.scorio(by="domain", success=2, model=None).report(*METRICS, **options)
    expected = report(one, **options).drop("model")
    # Polars adds up a single group in an order of its own.
    assert_frame_equal(rows, expected, rel_tol=1e-14)
    assert rows["domain"].null_count() == 5


STRATA, MODELS = ["web", "air", "sea"], ["b", "c", "a"]
DAYS = [dt.date(2026, 1, day) for day in (1, 2, 3)]


@KINDS
@pytest.mark.parametrize(
    ("strata", "models", "dtypes"),
    [
        pytest.param(STRATA, MODELS, (pl.Categorical,) * 2, id="Categorical"),
        pytest.param(STRATA, MODELS, (pl.Enum(STRATA), pl.Enum(MODELS)), id="Enum"),
        pytest.param([-1, 10, 9], [9, 8, 10], (pl.Int8, pl.UInt16), id="integers"),
        pytest.param(DAYS, DAYS[::-1], (pl.Date, pl.Date), id="dates"),
        pytest.param([0.5, -1.5, 2.5], ["", "é", "a"], (pl.Float32, pl.String), id="others"),
    ],
)
def test_keys_keep_their_dtypes(log, strata, models, dtypes, overall):
    renamed = (
        pl.col("domain").replace_strict(dict(zip(STRATA, strata, strict=True))),
        pl.col("model").replace_strict(dict(zip(MODELS, models, strict=True))),
    )
    cast = dict(zip(KEYS, dtypes, strict=True))
    expected = report(log, overall=overall).with_columns(renamed).cast(cast)
    expected = expected.sort(*KEYS, nulls_last=True, maintain_order=True)
    other = log.with_columns(renamed).cast(cast)
    # Strata of other names are in another order, and so are the terms of every sum over them.
    assert_frame_equal(report(other, overall=overall), expected, rel_tol=1e-14)
    plan = report(other.lazy(), overall=overall)
    assert plan.collect_schema() == expected.schema


@KINDS
@pytest.mark.parametrize("wide", [False, True])
def test_no_trials_have_no_overall_rows(log, overall, wide):
    rows = report(log.clear(), overall=overall, wide=wide)
    assert rows.height == 0
    assert rows.schema == report(log, overall=overall, wide=wide).schema


# --- the plan


@KINDS
@pytest.mark.parametrize("prior", ["uniform", pytest.param(None, marks=pytest.mark.slow)])
def test_lazy_equals_eager_in_both_engines_and_reads_nothing_before(log, overall, prior):
    options = {"overall": overall, "prior": prior}
    expected = report(log, **options)
    plan = report(log.lazy(), **options)
    assert plan.collect_schema() == expected.schema
    for engine in ENGINES:
        assert_frame_equal(plan.collect(engine=engine), expected, check_exact=True)
    untouched = report(unreadable(log.schema), **options)
    with pytest.raises(AssertionError, match="the data were read"):
        untouched.collect()


@KINDS
def test_thousands_of_models_give_the_same_bits_in_every_run(overall):
    question, domain, model = np.indices((3, 3, 2_000)).reshape(3, -1)
    category = np.random.default_rng(0).integers(0, 3, model.size)
    columns = {"model": model, "domain": domain, "question": question, "category": category}
    many, expected = pl.DataFrame(columns), None
    for seed in range(4):
        shuffled = many.sample(fraction=1, shuffle=True, seed=seed).lazy()
        accessor = shuffled.scorio(by="domain", trial=None)
        plan = accessor.report(ps.bayes([0.1, 0.3, 0.7]), overall=overall)
        for engine in ENGINES:
            rows = plan.collect(engine=engine)
            expected = rows if expected is None else expected
            assert_frame_equal(rows, expected, check_exact=True)
    assert rows["model"].to_list()[-2_000:] == list(range(2_000))


@pytest.mark.every(5)
@KINDS
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "predicate",
    [
        pl.col("domain").is_null(),
        pl.col("domain") == "web",
        pl.col("model") == "b",
        pl.col("domain").is_null() & pl.col("model").is_in(["a", "c"]),
        pl.col("questions") > 7,
        pl.int_range(pl.len()) > 3,
    ],
    ids=str,
)
def test_a_filter_keeps_the_rows_that_it_would_keep_afterwards(log, overall, wide, predicate):
    plan = report(log.lazy(), overall=overall, wide=wide)
    whole = plan.collect()
    expected = whole.filter(predicate)
    assert 0 < expected.height < whole.height
    for engine in ENGINES:
        rows = plan.filter(predicate).collect(engine=engine)
        assert_frame_equal(rows, expected, check_exact=True)


@KINDS
@pytest.mark.parametrize(
    "after",
    [
        pytest.param(lambda plan: plan.head(2), id="head"),
        pytest.param(lambda plan: plan.tail(2), id="tail"),
        pytest.param(lambda plan: plan.select("mu"), id="select"),
        pytest.param(lambda plan: plan.sort("model", "mu", descending=True).head(1), id="top"),
        pytest.param(
            lambda plan: plan.join(pl.LazyFrame({"model": ["b"]}), on="model", how="semi"),
            id="join",
        ),
    ],
)
def test_what_follows_does_not_change_what_is_averaged(log, overall, after, tmp_path):
    log.write_parquet(tmp_path / "log.parquet")
    plan = report(pl.scan_parquet(tmp_path / "log.parquet"), ps.bayes(), overall=overall)
    expected = after(plan.collect().lazy()).collect()
    keys = [name for name in KEYS if name in expected.columns]
    rows = after(plan).collect()
    assert_frame_equal(rows.sort(*keys, "mu"), expected.sort(*keys, "mu"), check_exact=True)


# --- wide


@KINDS
def test_wide_reports_have_their_overall_rows_last(log, overall):
    tidy = report(log, overall=overall)
    rows = report(log, overall=overall, wide=True)
    assert rows.select(KEYS).rows() == tidy.select(KEYS).unique(maintain_order=True).rows()
    passed = tidy.filter(metric="pass_at_k", k=3)
    for number, column in (("estimate", "pass_at_k_3"), ("hi", "pass_at_k_3_hi")):
        assert rows[column].to_list() == passed[number].to_list()
