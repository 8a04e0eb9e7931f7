"""Which questions belong together: found in the one pass over the log, refused where unclear."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.made_logs import long, scans

# Six questions in three passages.
LOG = pl.concat(
    long([[0, 1], [1, 1], [0, 0], [0, 1], [1, 0], [1, 1]], model).with_columns(
        passage=pl.format("p{}", pl.col("question") // 2)
    )
    for model in ("ada", "bob")
)
SAMPLE = {"target": "population"}
KINDS = {
    "words": pl.col("passage"),
    "categorical": pl.col("passage").cast(pl.Categorical),
    "enum": pl.col("passage").cast(pl.Enum(["p2", "p0", "p1"])),
    "float": (pl.col("question") // 2).cast(pl.Float64).alias("passage"),
    "date": pl.date(2026, 1, pl.col("question") // 2 + 1).alias("passage"),
}


def with_passage(value: object, *where: pl.Expr) -> pl.DataFrame:
    """The log with another passage in some rows."""
    other = pl.when(*where).then(pl.lit(value, pl.String)).otherwise("passage")
    return LOG.with_columns(passage=other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trial", ["trial", None])
def test_a_report_says_how_many_clusters_there_are(kind, trial):
    named = LOG.scorio(trial=trial, cluster=KINDS[kind]).avg(**SAMPLE)
    assert named.columns[2:6] == ["k", "questions", "clusters", "trials"]
    assert named.select("questions", "clusters").rows() == [(6, 3), (6, 3)]
    assert named.schema["clusters"] == pl.UInt32
    words = LOG.scorio(trial=trial, cluster="passage").avg(**SAMPLE)
    assert_frame_equal(named, words)


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_are_of_any_plain_dtype(kind):
    accessor = LOG.scorio(cluster=KINDS[kind])
    dtype = LOG.select(KINDS[kind]).schema["passage"]
    assert accessor.counts().schema["passage"] == dtype
    words = LOG.scorio(cluster="passage").compare(ps.avg(), target="population")
    assert_frame_equal(accessor.compare(ps.avg(), target="population"), words)


def test_without_clusters_and_by_question_there_is_no_such_column():
    assert "clusters" not in LOG.scorio.avg().columns
    assert "clusters" not in LOG.scorio(cluster="passage").avg(per="question").columns


def test_clusters_are_counted_among_the_questions_that_are_left():
    first = pl.col("question") < 2
    log = LOG.with_columns(category=pl.when(first).then("category"))
    left = log.scorio(cluster="passage", missing="drop", unscored="drop").avg()
    assert left.select("questions", "clusters", "unscored").rows() == [(2, 1, 4)] * 2


@pytest.mark.parametrize("trial", ["trial", None])
@pytest.mark.parametrize("method", ["avg", "counts"])
def test_a_question_in_two_clusters_is_refused_with_its_place(trial, method):
    log = with_passage("q", pl.col("model") == "bob", pl.col("question") > 3, pl.col("trial") == 1)
    found = r"2 questions have more than one cluster in 'passage', .* question=4: 'p2' and 'q'\."
    with pytest.raises(ValueError, match=found):
        getattr(log.scorio(trial=trial, cluster="passage"), method)()


@pytest.mark.parametrize("trial", ["trial", None])
def test_a_question_without_a_cluster_is_refused_with_its_place(trial):
    log = with_passage(None, pl.col("question") == 3, pl.col("trial") == 1)
    found = r"^2 questions have a null cluster in 'passage', .* model='ada', question=3\. Give"
    with pytest.raises(ValueError, match=found):
        log.scorio(trial=trial, cluster="passage").avg()


def test_nan_is_no_cluster():
    log = LOG.with_columns(passage=pl.lit(float("nan")))
    with pytest.raises(ValueError, match="12 questions have a null or NaN cluster in 'passage'"):
        log.scorio(cluster="passage").avg()


def test_one_cluster_is_no_sample():
    accessor = with_passage("p", pl.col("model") == "bob").scorio(cluster="passage")
    found = r"1 model has only one cluster of questions in 'passage', .*'bob': 'p', with 6 questi"
    with pytest.raises(ValueError, match=found):
        accessor.avg(**SAMPLE)
    assert accessor.avg()["clusters"].to_list() == [3, 1]  # these questions are no sample


def test_one_question_is_as_little_as_without_clusters():
    log = LOG.filter(question=0)
    alone = log.scorio(cluster="passage").avg(**SAMPLE)
    assert_frame_equal(alone.drop("clusters"), log.scorio.avg(**SAMPLE))


def test_a_large_cluster_is_warned_of_with_model_and_share():
    log = with_passage("p", pl.col("model") == "bob", pl.col("question") < 3)
    log = log.with_columns(pl.when(pl.col("passage") == "p").then("passage").otherwise("question"))
    found = r"in 1 model one .* at model='bob': 'p' in 'passage' has 50% of 6\. .* 4 clus.* as 3\.0"
    with pytest.warns(ps.ClusterWarning, match=found):
        log.scorio(cluster="passage").avg(**SAMPLE)
    log.scorio(cluster="passage").avg()  # it has no say: no warning


@pytest.mark.parametrize("trial", ["trial", None])
def test_counts_keep_the_clusters(trial):
    accessor = LOG.scorio(trial=trial, cluster="passage")
    counts = accessor.counts()
    assert counts.columns == ["model", "question", "passage", "category", "count"]
    assert counts.row(0) == ("ada", 0, "p0", 0, 1)
    again = counts.scorio(count="count", cluster="passage")
    assert again.avg(**SAMPLE).equals(accessor.avg(**SAMPLE))
    assert again.counts().equals(counts)


def test_totals_keep_the_clusters():
    totals = LOG.group_by("model", "question", "passage").agg(n=pl.len(), c=pl.sum("category"))
    counted = ps.from_successes(totals).scorio(count="count", cluster="passage")
    assert counted.avg(**SAMPLE).equals(LOG.scorio(cluster="passage").avg(**SAMPLE))


def test_coverage_counts_clusters_and_shows_where_they_are_unclear():
    log = with_passage("q", pl.col("question") == 5, pl.col("trial") == 1)
    log = log.with_columns(pl.when(pl.col("question") != 2).then("passage"))
    accessor = log.scorio(cluster="passage")
    assert {"model", "questions", "clusters"} < {*accessor.describe().columns}
    assert accessor.describe()["clusters"].to_list() == [4, 4]
    unclear = accessor.describe(per="question").select("question", "clusters")
    assert unclear.rows() == [(2, 0), (5, 2)] * 2


def test_filters_reach_the_scan_and_no_more_columns_are_read(tmp_path):
    LOG.write_parquet(tmp_path / "log.parquet")
    plan = pl.scan_parquet(tmp_path / "log.parquet").scorio(cluster="passage").avg(**SAMPLE)
    ((columns, by),) = scans(plan.filter(model="bob"))
    assert "bob" in by
    ((fewer, _),) = scans(pl.scan_parquet(tmp_path / "log.parquet").scorio.avg())
    assert columns in {"5/5", "*/5"}  # all of them, as Polars has it
    assert fewer == "4/5"


def test_prior_trials_need_no_clusters():
    prior = LOG.drop("passage")
    assert LOG.scorio(cluster="passage").bayes(prior=prior)["clusters"].to_list() == [3, 3]


# Clusters as a sample: several, none of them most of it.


def log(clusters: list[str]) -> ps.Scorio:
    """Each question of one model is in a cluster, and succeeds every other time."""
    questions = range(len(clusters))
    columns = {"model": "m", "question": questions, "passage": clusters}
    frame = pl.DataFrame(columns).with_columns(category=pl.col("question") % 2)
    return frame.scorio(trial=None, cluster="passage", target="population")


def test_one_cluster_says_nothing_of_others():
    with pytest.raises(ValueError, match=r"^1 model has only one cluster .* 'a', with 4 questions"):
        log(["a"] * 4).avg()


def test_a_large_cluster_is_warned_of_with_its_share():
    said = r"^in 1 model one cluster has .* most at model='m': 'a' in 'passage' has 50% of 8\."
    with pytest.warns(ps.ClusterWarning, match=said):
        log(["a"] * 4 + ["b", "b", "c", "c"]).avg()


def test_clusters_of_one_size_are_a_sample():
    log(["a", "a", "b", "b", "c", "c"]).avg()
