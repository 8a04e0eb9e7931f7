"""The truth behind verdicts, through reports: vectors of kernels are tested beside them."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_verdicts import verdicts

LOG = verdicts()
GRADER = ps.judge(sensitivity=(88, 100), specificity=(80, 100))
PERFECT = ps.judge(sensitivity=(10**9, 10**9), specificity=(10**9, 10**9))
METRICS = ps.avg(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k(2)
NUMBERS = ["estimate", "sigma", "lo", "hi"]
ROLES = pytest.mark.parametrize("role", [{"truth": "human"}, {"judge": GRADER}], ids=str)


def test_a_perfect_judge_changes_no_estimate():
    corrected = LOG.scorio(judge=PERFECT).report(*METRICS)
    plain = LOG.scorio.report(*METRICS)
    assert_frame_equal(corrected.select("estimate"), plain.select("estimate"), abs_tol=1e-6)
    wide = pl.col("hi") - pl.col("lo")
    ratio = corrected.select(wide).to_series() / plain.select(wide).to_series()
    assert ratio.is_between(0.9, 1.15).all()  # Wilson's interval in place of Clopper and Pearson's


def test_all_trials_labelled_are_the_labels_themselves():
    report = LOG.scorio(truth="truth").avg()
    expected = LOG.scorio(category="truth").avg()
    assert_frame_equal(report.select("estimate"), expected.select("estimate"))


@ROLES
def test_reports_have_the_uncorrected_estimate_and_the_labels(role):
    report = LOG.scorio(**role).report(*METRICS)
    plain = LOG.scorio.report(*METRICS)
    assert report["estimate_uncorrected"].to_list() == pytest.approx(
        plain["estimate"].to_list(), rel=1e-9
    )
    assert report["labels"].dtype == pl.UInt64
    assert report["inference"].unique().to_list() == ["calibrated"]
    assert {"estimate_uncorrected", "labels"} < {*report.columns}


def test_a_report_without_a_judge_has_no_such_columns():
    assert {"estimate_uncorrected", "labels"}.isdisjoint(LOG.scorio.report(*METRICS).columns)


@ROLES
@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_intervals_hold_the_estimate_inside_the_range(role, target):
    report = LOG.scorio(**role, target=target).report(*METRICS)
    inside = report.select((pl.col("lo") >= 0) & (pl.col("lo") <= pl.col("estimate"))).to_series()
    assert inside.all()
    assert (
        report.select((pl.col("estimate") <= pl.col("hi")) & (pl.col("hi") <= 1)).to_series().all()
    )


@ROLES
def test_one_trial_draws_are_the_accuracy(role):
    report = LOG.scorio(**role).report(ps.avg(), ps.pass_at_k(1), ps.maj_at_k(1))
    for _, rows in report.group_by("model"):
        assert rows.select(NUMBERS).n_unique() == 1


@ROLES
def test_eager_equals_lazy_and_filters_change_nothing(role):
    eager = LOG.scorio(**role).report(*METRICS)
    lazy = LOG.lazy().scorio(**role).report(*METRICS)
    assert_frame_equal(lazy.collect(), eager)
    assert_frame_equal(lazy.filter(model="b").collect(), eager.filter(model="b"))


@ROLES
def test_the_order_of_the_rows_changes_no_byte(role):
    first = LOG.scorio(**role).report(*METRICS)
    other = LOG.sample(fraction=1, shuffle=True, seed=3).scorio(**role).report(*METRICS)
    assert_frame_equal(first, other, check_exact=True)


def test_a_population_is_less_well_known():
    wide = pl.col("hi") - pl.col("lo")
    # Without draws of all trials, whose noise the questions show better than the populations.
    metrics = ps.avg(), ps.pass_at_k([1, 2]), ps.pass_hat_k(2)
    here = LOG.scorio(judge=GRADER).report(*metrics).select(wide).to_series()
    everywhere = LOG.scorio(judge=GRADER, target="population").report(*metrics)
    assert (everywhere.select(wide).to_series() > 0.85 * here).all()


def test_judges_of_models_serve_their_model():
    sample = pl.DataFrame(
        {
            "model": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
            "verdict": [1, 0] * 6,
            "truth": [1, 1, 0, 0] * 3,
            "count": [95, 5, 10, 90, 88, 12, 20, 80, 80, 20, 20, 80],
        }
    )
    report = LOG.scorio(judge=sample).report(*METRICS)
    for model, sensitivity, specificity in (("a", 95, 90), ("c", 80, 80)):
        one = ps.judge(sensitivity=(sensitivity, 100), specificity=(specificity, 100))
        expected = LOG.filter(model=model).scorio(judge=one).report(*METRICS)
        assert_frame_equal(report.filter(model=model), expected)


def test_means_over_strata_of_one_sample_share_its_errors():
    both = pl.concat([LOG.with_columns(level=pl.lit(level)) for level in "xy"])
    plain = LOG.scorio(judge=GRADER).avg()
    macro = (
        both.scorio(judge=GRADER, by="level").avg(overall="macro").filter(pl.col("level").is_null())
    )
    columns = ["estimate", "lo", "hi", "estimate_uncorrected", "labels"]
    assert_frame_equal(macro.select(columns), plain.select(columns))
    micro = (
        both.scorio(judge=GRADER, by="level").avg(overall="micro").filter(pl.col("level").is_null())
    )
    assert (micro["hi"] - micro["lo"] < plain["hi"] - plain["lo"]).all()


def test_means_over_strata_with_labels_of_their_own_are_better_known():
    both = pl.concat([LOG.with_columns(level=pl.lit(level)) for level in "xy"])
    plain = LOG.scorio(truth="human").avg()
    macro = (
        both.scorio(truth="human", by="level")
        .avg(overall="macro")
        .filter(pl.col("level").is_null())
    )
    assert (macro["hi"] - macro["lo"] < plain["hi"] - plain["lo"]).all()
    assert macro["labels"].to_list() == [2 * labels for labels in plain["labels"]]


@pytest.mark.parametrize("roles", [{"truth": "human"}, {"judge": GRADER}])
def test_clusters_of_one_question_change_nothing(roles):
    log = LOG.with_columns(passage=pl.col("question") * 7)
    plain = log.scorio(**roles, target="population").avg()
    clustered = log.scorio(**roles, target="population", cluster="passage").avg()
    assert_frame_equal(clustered.drop("clusters"), plain)


@pytest.mark.parametrize("roles", [{"truth": "human"}, {"judge": GRADER}])
def test_repeated_questions_in_a_cluster_are_one_question(roles):
    again = LOG.with_columns(question=pl.col("question") + 1_000)
    log = pl.concat([LOG, again]).with_columns(passage=pl.col("question") % 1_000)
    options = {**roles, "target": "population"}
    once = LOG.scorio(**options).avg()
    wrong, right = log.scorio(**options).avg(), log.scorio(cluster="passage", **options).avg()
    width, shorter, longer = ((each["hi"] - each["lo"]).to_numpy() for each in (once, wrong, right))
    assert (shorter < longer).all()
    np.testing.assert_allclose(longer, width, rtol=0.1)
    about_these = log.scorio(**roles, cluster="passage").avg()
    assert_frame_equal(about_these.drop("clusters"), log.scorio(**roles).avg())


def test_a_corrected_value_outside_its_bounds_is_refused():
    grader = ps.judge(sensitivity=(90, 100), specificity=(90, 100))
    log = pl.DataFrame({"model": "m", "question": range(8), "category": [0, 1] * 4})
    accessor = log.scorio(trial=None, judge=grader)
    with pytest.raises(ValueError, match=r"^avg\(bounds=\(0\.9, 1\)\): the value of some model"):
        accessor.avg(bounds=(0.9, 1))
    assert accessor.avg(bounds=(0.4, 0.6)).select("lo", "hi").row(0) == (0.4, 0.6)
