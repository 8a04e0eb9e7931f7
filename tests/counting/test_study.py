"""A study counts a log once, for all that is asked of it."""

import gc
import weakref

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.log import Study
from tests.made_logs import drawn

LOG = drawn(3, range(8), most=4).with_columns(category=pl.col("category") > 0)
METRICS = ps.avg(), ps.pass_at_k([1, 2])


def asked(log):
    return [log.compare(ps.avg()), log.rank(ps.avg()), log.best(ps.avg()), log.report(*METRICS)]


def test_methods_of_one_accessor_count_once(monkeypatch):
    counts, counted = [], Study.counted

    def counting(self, roles, key, plan):
        counts.append(not self.has_counted(roles, key))
        return counted(self, roles, key, plan)

    monkeypatch.setattr(Study, "counted", counting)
    asked(LOG.scorio(by="domain"))
    assert sum(counts) == 1 < len(counts)


def test_shared_counts_change_no_number():
    shared = LOG.scorio(by="domain")
    alone = [LOG.scorio(by="domain") for _ in range(4)]
    for first, second in zip(
        asked(shared), [asked(log)[place] for place, log in enumerate(alone)], strict=True
    ):
        assert_frame_equal(first, second, check_exact=True)


def test_a_frame_that_is_changed_in_place_is_counted_anew():
    log = LOG.filter(domain="web", model="a").drop("model")
    accessor = log.scorio(model=None)
    before = accessor.avg()["estimate"].item()
    place = log["category"].arg_min()
    log[place, "category"] = True
    assert accessor.avg()["estimate"].item() > before
    assert_frame_equal(accessor.avg(), log.scorio(model=None).avg(), check_exact=True)


def test_bad_rows_are_named_each_time():
    accessor = LOG.vstack(LOG.head(1)).scorio(by="domain")
    for _ in range(2):
        with pytest.raises(ValueError, match="1 question has the same trial twice"):
            accessor.avg()


def test_a_study_dies_with_its_accessor():
    frame = LOG.clone()
    accessor = frame.scorio(by="domain")
    accessor.avg()
    study = weakref.ref(vars(accessor)["_study"])
    del accessor
    gc.collect()
    assert study() is None


def test_questions_without_names_do_not_serve_those_who_need_them():
    log = LOG.with_columns(passage=pl.col("question") // 2).scorio(by="domain", cluster="passage")
    log.report(ps.avg())
    rows = log.report(ps.bayes(), per="question", prior="uniform")
    assert rows["question"].n_unique() == 8
