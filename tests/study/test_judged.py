"""The truth behind verdicts, through reports: vectors of kernels are tested beside them."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_verdicts import RATES, verdicts

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


HARSH_GRADER = ps.judge(sensitivity=(88, 100), specificity=(78, 100))
SHORT = verdicts(questions=12)


@pytest.fixture(params=["truth", "judge"])
def log(request):
    role = {"truth": {"truth": "human"}, "judge": {"judge": HARSH_GRADER}}[request.param]
    return SHORT.scorio(**role)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (
            ps.bayes(),
            r"bayes: the errors .* not corrected .* use ps.avg\(\) or a metric of the Pass@k",
        ),
        (ps.geom_ds_at_k(2), "geom_ds_at_k: the errors of a judge are not"),
        (ps.geom_at_k(2), "geom_at_k: the errors of a judge are not"),
        (ps.avg([0, 1]), "not for weights: omit w="),
        (ps.max_at_k(2, [0, 1]), "not for weights: omit w="),
        (ps.vote_at_k(2), "votes over answers have no correction"),
    ],
)
def test_metrics_without_a_correction_are_refused(log, metric, said):
    with pytest.raises(ValueError, match=said):
        log.report(metric)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prior": "uniform"}, "posterior means are biased: omit prior="),
        ({"prior": "population"}, "posterior means are biased"),
        ({"prior": SHORT}, "posterior means are biased"),
        ({"per": "question"}, 'omit per="question"'),
    ],
)
def test_options_without_a_correction_are_refused(log, options, said):
    with pytest.raises(ValueError, match=said):
        log.report(ps.avg(), **options)


def test_looks_without_a_correction_are_refused(log):
    with pytest.raises(
        ValueError, match="planned_trials= has no intervals of numbers that are corr"
    ):
        log.compare(ps.avg(), planned_trials=16)


def test_draws_over_a_population_of_clusters_are_refused():
    log = SHORT.scorio(judge=HARSH_GRADER, cluster="question", target="population")
    with pytest.raises(ValueError, match=r"pass_at_k: with judge= and cluster=, only ps\.avg\(\)"):
        log.pass_at_k(2)
    assert log.pass_at_k(1).height == log.pass_at_k(2, target="benchmark").height


def test_more_draws_than_trials_are_refused(log):
    with pytest.raises(ValueError, match=r"pass_at_k: k=5 is more than the 4 trials of some"):
        log.pass_at_k(5)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("population", ()),
        ("trials_needed", ()),
        ("next_trials", (9,)),
        ("questions_needed", ()),
        ("questions", ()),
        ("convergence", ()),
        ("trajectory", (ps.avg(),)),
    ],
)
def test_methods_that_know_no_correction_are_refused(log, method, arguments):
    with pytest.raises(ValueError, match=f"{method} does not correct for the errors of a judge"):
        getattr(log, method)(*arguments)


def test_a_judge_like_a_coin_has_no_number_and_says_why():
    coin = ps.judge(sensitivity=(6, 10), specificity=(5, 10))
    said = (
        r"avg: 3 of 3 groups have no number, .* better than a coin \(sensitivity 0\.60 of 10, spec"
    )
    with pytest.warns(ps.JudgeWarning, match=said):
        report = LOG.scorio(judge=coin).avg()
    assert report.select("estimate", "sigma", "lo", "hi").null_count().row(0) == (3,) * 4
    assert report["estimate_uncorrected"].null_count() == 0


def test_large_draws_under_a_poor_judge_have_no_number_and_say_why():
    poor = ps.judge(sensitivity=(70, 100), specificity=(62, 100))
    with pytest.warns(ps.JudgeWarning, match="noise of the corrected draws exceeds the range"):
        report = LOG.scorio(judge=poor).pass_at_k([1, 4])
    assert report.filter(k=4)["estimate"].null_count() == 3
    assert report.filter(k=1)["estimate"].null_count() == 0


def test_a_judge_who_favours_a_model_is_warned_of():
    kind, harsh = (0.95, 0.5), (0.7, 0.95)
    logs = [verdicts([name], 200, rates=rates) for name, rates in (("a", kind), ("b", harsh))]
    with pytest.warns(ps.JudgeWarning, match="not equally reliable everywhere: in 2 of 2 groups"):
        pl.concat(logs).scorio(truth="human").avg()


def reviewed_failures(*models: str) -> pl.DataFrame:
    """The log with labels on the verdicts "wrong" alone of some models."""
    alone = pl.col("model").is_in(models) & pl.col("category")
    return LOG.with_columns(human=pl.when(~alone).then("human"))


def test_labels_on_failures_alone_give_no_corrected_number_and_say_what_to_label():
    said = (
        r"avg: 1 of 3 groups has no corrected number\. In the first of them, of the verdicts "
        r"'right' 0 of 69 are labelled: label at least 5, better 30"
    )
    with pytest.warns(ps.JudgeWarning, match=said):
        report = reviewed_failures("a").scorio(truth="human").avg()
    assert report.select("estimate", "sigma", "lo", "hi").null_count().row(0) == (1,) * 4
    assert report["estimate_uncorrected"].null_count() == 0
    whole = LOG.scorio(truth="human").avg()
    assert report["estimate"].to_list()[1:] == whole["estimate"].to_list()[1:]


@pytest.mark.parametrize(("labels", "known"), [(4, False), (5, True)])
def test_a_verdict_needs_five_labels(labels, known):
    right = LOG.filter(model="a").filter("category").with_columns(human="truth")
    some = right.with_columns(human=pl.when(pl.int_range(pl.len()) < labels).then("human"))
    wrong = LOG.filter(model="a").filter(~pl.col("category"))
    log = pl.concat([some, wrong]).scorio(truth="human")
    if known:
        assert log.avg()["estimate"].null_count() == 0
    else:
        with pytest.warns(ps.JudgeWarning, match=r"'right' 4 of 69 are labelled"):
            assert log.avg()["estimate"].null_count() == 1


def test_all_trials_of_a_verdict_may_be_few():
    wrong = LOG.filter(model="a").filter(~pl.col("category"))
    few = LOG.filter(model="a").filter("category").head(3).with_columns(human="truth")
    report = pl.concat([wrong, few]).scorio(truth="human").avg()
    assert report["estimate"].null_count() == 0


@pytest.mark.slow
def test_a_page_with_a_model_of_unknown_truth_is_written(tmp_path):
    log = reviewed_failures("a").scorio(truth="human")
    log.write_html(tmp_path / "page.html", ps.avg())
    said = "1 number is missing: fewer than 5 trials of a verdict are labelled"
    assert said in (tmp_path / "page.html").read_text("utf-8")


def test_rates_are_those_of_the_labels():
    log = verdicts(share=0.5)
    rows = log.scorio(truth="human").judge_agreement()
    for row in rows.to_dicts():
        of_model = log if row["model"] is None else log.filter(model=row["model"])
        labelled = of_model.drop_nulls("human")
        right = labelled.filter(pl.col("human"))
        assert row["labels"] == labelled.height
        assert row["labelled_questions"] == labelled.select("model", "question").n_unique()
        assert row["sensitivity"] == pytest.approx(right["category"].mean())
        assert row["sensitivity_lo"] < row["sensitivity"] < row["sensitivity_hi"]


def test_several_models_have_a_row_together():
    rows = verdicts().scorio(truth="human").judge_agreement()
    assert rows["model"].to_list() == ["a", "b", "c", None]
    assert rows["labels"][3] == rows["labels"][:3].sum()


def test_one_model_has_no_second_row():
    assert verdicts(["a"]).scorio(truth="human").judge_agreement().height == 1
    assert verdicts(["a"]).scorio(model=None, truth="human").judge_agreement().height == 1


def test_each_stratum_has_rows_of_its_own():
    both = pl.concat([verdicts(seed=seed).with_columns(level=pl.lit(seed)) for seed in (1, 2)])
    rows = both.scorio(truth="human", by="level").judge_agreement()
    assert rows.filter(pl.col("model").is_null())["level"].sort().to_list() == [1, 2]


def test_labels_chosen_by_verdict_are_weighed():
    log = verdicts(["a"], questions=2_000, power=4.0, share=1.0)
    number = pl.int_range(pl.len()).over("category")
    few = log.with_columns(human=pl.when(number < 400).then("truth"))
    (row,) = few.scorio(truth="human").judge_agreement().to_dicts()
    # The binomial standard error of each is about .02.
    assert (row["sensitivity"], row["specificity"]) == pytest.approx(RATES, abs=0.06)


def test_a_model_without_labels_has_nulls():
    log = verdicts().with_columns(human=pl.when(pl.col("model") != "b").then("human"))
    row = log.scorio(truth="human").judge_agreement().row(1, named=True)
    assert (row["labels"], row["sensitivity"], row["kappa"]) == (0, None, None)


def test_shorter_intervals_need_more_labels():
    log = verdicts(questions=200).scorio(truth="human")
    wide, narrow = (log.judge_agreement(width=width)["extra_labels"] for width in (0.2, 0.1))
    assert (narrow > 3 * wide).all()


def test_a_width_that_no_labels_reach_is_null():
    found = verdicts(questions=12).scorio(truth="human").judge_agreement(width=0.01)
    assert found["extra_labels"].null_count() == 4


def test_a_width_is_between_0_and_1():
    with pytest.raises(ValueError, match="width must be a number between 0 and 1"):
        verdicts().scorio(truth="human").judge_agreement(width=2)
