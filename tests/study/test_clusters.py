"""Questions as a sample of clusters: how much less they tell of all questions there could be."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import t

import polars_scorio as ps
from tests.differences import cluster_means, plus_two

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

TARGET = {"target": "population"}
KINDS = (None, "population")
BINARY = (
    *(ps.avg(), ps.bayes(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k([2, 4]), ps.maj_at_k(4)),
    *(ps.geom_at_k(2), ps.geom_ds_at_k(2), ps.max_at_k(2, w=[0, 1])),
)
W = [0, 0.5, 1]
GRADED = (ps.avg(w=W), ps.max_at_k([2, 4], w=W))
ALL_CASES = [(BINARY, [0, 1]), (GRADED, [0, 1, 2])]


def passages(
    categories: list[int], *, clusters: int = 9, size: int = 4, copies: bool = False
) -> pl.DataFrame:
    """Two models on passages of questions that are alike; or of copies of one question each."""
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(len(categories)), clusters)
    trials = [
        (model, passage * size + place, f"p{passage}", trial, int(category))
        for model in ("ada", "bob")
        for passage, share in enumerate(shares)
        for same in [rng.choice(categories, 4, p=share)]
        for place in range(size)
        for trial, category in enumerate(same if copies else rng.choice(categories, 4, p=share))
    ]
    columns = ["model", "question", "passage", "trial", "category"]
    return pl.DataFrame(trials, columns, orient="row")


def reports(log: pl.DataFrame, metrics: tuple[ps.Metric, ...], **roles: object) -> pl.DataFrame:
    """The kinds of inference that know a population of such outcomes."""
    accessor = log.scorio(**roles)
    kinds = KINDS if metrics == BINARY else KINDS[:1]
    each = {kind: accessor.report(*metrics, prior=kind, **TARGET) for kind in kinds}
    named = [rows.with_columns(kind=pl.lit(str(kind))) for kind, rows in each.items()]
    return pl.concat(named, how="diagonal")


@pytest.mark.slow
@pytest.mark.parametrize(("metrics", "categories"), ALL_CASES, ids=["binary", "graded"])
def test_clusters_of_one_question_change_nothing(metrics, categories):
    log = passages(categories)
    # Other names and another order than those of the questions.
    alone = log.with_columns(passage=pl.format("q{}", 999 - pl.col("question")))
    found = reports(alone, metrics, cluster="passage")
    assert found["clusters"].to_list() == found["questions"].to_list()
    # The same sums, question after question.
    assert_frame_equal(found.drop("clusters"), reports(log, metrics), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("metrics", "categories", "kind"),
    [
        *((BINARY, [0, 1], kind) for kind in ("uniform", *KINDS)),
        *((GRADED, [0, 1, 2], kind) for kind in ("uniform", None)),
    ],
)
def test_about_these_very_questions_clusters_change_no_byte(metrics, categories, kind):
    log = passages(categories)
    found = log.scorio(cluster="passage").report(*metrics, prior=kind)
    assert found.drop("clusters").equals(log.scorio.report(*metrics, prior=kind))


@pytest.mark.parametrize(("metrics", "categories"), ALL_CASES, ids=["binary", "graded"])
def test_clusters_widen_every_interval_about_the_population(metrics, categories):
    log = passages(categories)
    wide, plain = reports(log, metrics, cluster="passage"), reports(log, metrics)
    same = pl.col("^(model|metric|k|questions|trials|estimate|mu)$")
    assert_frame_equal(wide.select(same), plain.select(same), check_exact=True)
    # Passages of four alike questions: about twice the noise at most, less where k is large.
    assert (wide["sigma"] / plain["sigma"]).is_between(1.2, 2.2).all()
    width = (pl.col("hi") - pl.col("lo")).alias("width")
    assert (wide.select(width) / plain.select(width) > 1.2)["width"].all()


def test_copies_of_a_question_are_as_good_as_one():
    copied = passages([0, 1], copies=True)
    single = copied.filter(pl.col("question") % 4 == 0)
    metrics = (ps.avg(), ps.pass_at_k([1, 2, 4]), ps.pass_hat_k(2))
    found = copied.scorio(cluster="passage", validate=False).report(*metrics, **TARGET)
    alone = single.scorio(validate=False).report(*metrics, **TARGET)
    numbers = ["model", "metric", "k", "estimate", "sigma", "lo", "hi"]
    assert_frame_equal(found.select(numbers), alone.select(numbers), rel_tol=1e-12)


@pytest.mark.parametrize("sizes", [[4] * 9, [20, 4, 4, 4, 2, 1, 1]])
@pytest.mark.parametrize("metric", [ps.avg(), ps.pass_hat_k(2), ps.avg(w=W), ps.max_at_k(2, w=W)])
@pytest.mark.filterwarnings("ignore::polars_scorio.ClusterWarning")
def test_clusters_are_a_sample_by_their_shares(metric, sizes):
    log = passages([0, 1] if metric.w is None else [0, 1, 2])
    names = dict(enumerate(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    log = log.with_columns(passage=pl.col("question").replace_strict(names))
    found = log.scorio(cluster="passage").report(metric, **TARGET)
    each = log.scorio.report(metric, per="question", prior="uniform").join(
        log.select("question", "passage").unique(), on="question"
    )
    for model, *numbers in found.select("model", "sigma", "lo", "hi").rows():
        own = each.filter(model=model)
        means, shares = cluster_means(own["estimate"].to_list(), own["passage"].to_list())
        centre, sigma, freedom = plus_two(means, (0, 1), shares)
        reach = t.ppf(0.975, freedom) * sigma
        # The same sums in another order.
        expected = sigma, max(centre - reach, 0), min(centre + reach, 1)
        assert numbers == pytest.approx(expected, rel=1e-12)


def test_the_interval_has_students_tails_of_the_clusters():
    """Wider than the normal 1.96; a Beta distribution has less in its tails than Student's."""
    log = passages([0, 1], clusters=6)
    row = log.scorio(cluster="passage").avg(prior="population", **TARGET).row(0, named=True)
    half = (row["hi"] - row["lo"]) / 2 / row["sigma"]
    assert 2.0 < half < 2.571  # the quantile of t with 5 degrees of freedom


def test_strata_and_their_pool_have_their_own_clusters():
    log = passages([0, 1]).with_columns(half=pl.col("question") % 2)
    options = {**TARGET}
    accessor = log.scorio(cluster="passage", by="half")
    pool = accessor.avg(overall="micro", **options).filter(pl.col("half").is_null()).drop("half")
    assert pool.equals(log.scorio(cluster="passage").avg(**options))
    macro = accessor.avg(overall="macro", **options)
    assert macro["clusters"].to_list() == [9, 9, 9, 9, 18, 18]
    strata = macro.filter(half=0, model="ada")["sigma"], macro.filter(half=1, model="ada")["sigma"]
    mean = macro.filter(pl.col("half").is_null(), model="ada")["sigma"].item()
    # The root of the squares, half of it: strata are independent samples.
    assert mean == pytest.approx(np.hypot(strata[0].item(), strata[1].item()) / 2, rel=1e-12)


def test_draws_beyond_the_trials_are_pooled_by_clusters_too():
    log = passages([0, 1])
    wide, plain = (
        reports(log, (ps.pass_at_k(8),), cluster="passage"),
        reports(log, (ps.pass_at_k(8),)),
    )
    pooled = pl.col("kind") == "population"
    ratio = wide.filter(pooled)["sigma"] / plain.filter(pooled)["sigma"]
    assert ratio.is_between(1.3, 2.2).all()


def test_row_order_and_laziness_change_nothing():
    log = passages([0, 1])
    report = log.scorio(cluster="passage").report(*BINARY, **TARGET)
    mixed = log.sample(fraction=1, shuffle=True, seed=3)
    again = mixed.lazy().scorio(cluster="passage")
    assert again.report(*BINARY, **TARGET).collect().equals(report)


def test_metrics_as_columns_keep_the_clusters():
    log = passages([0, 1]).scorio(cluster="passage", target="population")
    wide = log.report(ps.avg(), wide=True)
    assert wide.columns[:5] == ["model", "questions", "clusters", "trials", "dropped"]
    assert wide["clusters"].to_list() == [9, 9]


def test_a_negative_power_of_zero_is_refused_at_its_model():
    log = passages([0, 1]).with_columns(category=0).scorio(cluster="passage", validate=False)
    found = r"2 results have a negative power .* model='ada', metric='geom_ds_at_k"
    with pytest.raises(ValueError, match=found):
        log.report(ps.geom_ds_at_k(2, pass_power=-1, unanimous_power=-1, bounds=None))


@pytest.mark.parametrize(("kind", "freedom"), [(None, 4.4), ("population", 2.4)])
def test_a_cluster_with_half_of_the_questions_leaves_few_degrees_of_freedom(kind, freedom):
    log = passages([0, 1], clusters=12)
    half = pl.when(pl.col("question") < 24).then(pl.lit("p")).otherwise("passage")
    accessor = log.with_columns(half.alias("passage")).scorio(cluster="passage")
    # 48**2 / (24**2 + 6 * 4**2) = 3.4 clusters, to which the default adds two.
    with pytest.warns(ps.ClusterWarning, match=r"50% of 48.* 7 clusters count as 3\.4"):
        row = accessor.avg(prior=kind, **TARGET).row(0, named=True)
    assert row["clusters"] == 7
    reach = (row["hi"] - row["lo"]) / 2 / row["sigma"]
    # A posterior is a Beta distribution, with less in its tails than Student's.
    least, most = (0.99, 1.01) if kind is None else (0.75, 1.0)
    assert least < reach / t.ppf(0.975, freedom) < most
