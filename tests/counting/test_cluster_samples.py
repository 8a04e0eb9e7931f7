"""Clusters as a sample: several, none of them most of it."""

import polars as pl
import pytest

import polars_scorio as ps


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
