import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy.stats import hypergeom

import polars_scorio as ps
from tests.made_logs import law, long, unreadable

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


def versions(seed, trials=8, questions=30, broken=3, models=("v1", "v2")):
    """A log in which the first questions always succeed, and never under the last model."""
    rng = np.random.default_rng(seed)
    rates = rng.random(questions)
    logs = []
    for model in models:
        own = np.where(np.arange(questions) < broken, float(model != models[-1]), rates)
        outcomes = (rng.random((questions, trials)) < own[:, None]).astype(int)
        logs.append(long(outcomes.tolist(), model))
    return pl.concat(logs)


def test_questions_that_lose_all_of_their_successes_come_first():
    tests = versions(1).scorio.regressions("v1")
    assert tests["question"].head(3).to_list() == [0, 1, 2]
    assert tests["regressed"].sum() == 3
    first = tests.row(0, named=True)
    assert (
        first["pvalue"]
        == pytest.approx(hypergeom.cdf(0, 16, 8, 8))
        == pytest.approx(first["pvalue_min"])
    )
    assert (first["rate_baseline"], first["rate"], first["broken"]) == (1.0, 0.0, True)
    assert {*tests.columns} == {
        "model", "question", "trials_baseline", "trials", "rate_baseline", "rate", "pvalue",
        "pvalue_min", "qvalue", "regressed", "broken", "broken_by_chance", "pvalue_broken",
    }  # fmt: skip


@pytest.mark.parametrize(("others", "named"), [(2, False), (4, True), (0, True)])
def test_four_trials_name_one_of_500_questions_only_if_the_others_cannot_be_named(others, named):
    totals = {"model": ["v1"] * 500 + ["v2"] * 500, "question": [*range(500)] * 2, "n": 4}
    totals |= {"c": [4, *[others] * 499, 0, *[others] * 499]}
    log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
    row = log.regressions("v1").filter(question=0).row(0, named=True)
    assert row["pvalue"] == row["pvalue_min"] == pytest.approx(1 / 70)
    assert row["regressed"] is named


def test_the_sum_of_the_chances_is_what_gates_print():
    log = versions(2).scorio
    tests, gate = log.regressions("v1"), log.gate("v1", margin=0.05).row(0, named=True)
    assert tests["broken"].sum() == gate["broken"]
    assert tests["broken_by_chance"].sum() == pytest.approx(gate["broken_by_chance"])
    assert tests["pvalue_broken"].unique().to_list() == [pytest.approx(gate["pvalue_broken"])]


def test_improvements_are_regressions_of_the_other_version():
    log = versions(3).scorio
    better = log.regressions("v2", improvements=True)
    worse = log.regressions("v1").rename({"regressed": "improved"})
    swapped = {"trials_baseline": "trials", "trials": "trials_baseline"}
    swapped |= {"rate_baseline": "rate", "rate": "rate_baseline"}
    assert_frame_equal(
        better.drop("model"), worse.drop("model").rename(swapped).select(better.columns[1:])
    )
    assert better["model"].unique().to_list() == ["v1"]


def test_all_questions_of_a_candidate_are_one_family_over_its_strata():
    log = versions(4).with_columns(
        domain=pl.when(pl.col("question") < 9).then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    whole = log.scorio.regressions("v1")
    strata = log.scorio(by="domain").regressions("v1")
    assert strata.columns[0] == "domain"
    assert_frame_equal(strata.drop("domain"), whole, check_row_order=False)


@law
@given(st.integers(0, 20), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_other_candidates_matter(seed, random):
    log = versions(seed, models=("v1", "v2", "v3"), questions=8)
    own = log.filter(pl.col("model") != "v2").scorio.regressions("v1")
    mixed = log.sample(fraction=1, shuffle=True, seed=random.randint(0, 9)).lazy()
    rows = mixed.scorio.regressions("v1").filter(pl.col("model") == "v3").collect()
    assert_frame_equal(rows, own)


def test_nothing_is_read_before_collect():
    log = unreadable(versions(1).schema)
    assert isinstance(log.scorio.regressions("v1"), pl.LazyFrame)


def test_an_empty_log_has_an_empty_result():
    empty = versions(1).clear().scorio.regressions("v1")
    assert empty.height == 0
    assert empty.schema["regressed"] == pl.Boolean


@pytest.mark.parametrize("fdr", [0, 1, -0.1, True, "0.1"])
def test_a_rate_that_is_no_chance_is_refused(fdr):
    with pytest.raises(ValueError, match=r"^fdr must be a number between 0 and 1, exclusive"):
        versions(1).scorio.regressions("v1", fdr=fdr)


def test_a_log_without_the_baseline_or_with_other_questions_is_refused():
    log = versions(1)
    with pytest.raises(ValueError, match="baseline='v9' is none of the models"):
        log.scorio.regressions("v9")
    with pytest.raises(ValueError, match="1 model lacks questions that others have"):
        log.filter((pl.col("question") > 2) | (pl.col("model") == "v1")).scorio.regressions("v1")
    with pytest.raises(ValueError, match=r"^regressions needs several models"):
        log.scorio(model=None, trial=None).regressions("v1")


def test_graded_categories_need_a_success():
    log = versions(1).with_columns(pl.col("category").cast(pl.String))
    assert log.scorio(success="1").regressions("v1")["regressed"].sum() == 3
    with pytest.raises(ValueError, match="success"):
        log.scorio.regressions("v1")
    assert ps.scorio(versions(1)).regressions("v1").height == 30
