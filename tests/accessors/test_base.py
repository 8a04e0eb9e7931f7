"""The methods that all accessors share: a frame goes in, and is freed with its last name."""

import copy
import gc
import weakref
from pickle import dumps, loads

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.accessors.all_uses import ASKS
from tests.made_logs import long


def test_the_frame_of_an_accessor_is_the_log(r1):
    assert r1.scorio(trial=None).frame is r1


@pytest.fixture
def no_collector():
    """Nothing but reference counts frees memory."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.filterwarnings("ignore:one model .*nothing to compare:UserWarning")
@pytest.mark.every(5)
@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("ask", ASKS)
def test_a_frame_is_freed_when_its_last_name_goes(r1, ask, lazy):
    frame = r1.lazy().filter(pl.lit(value=True)) if lazy else r1.clone()
    alive = weakref.ref(frame)
    ASKS[ask](frame)
    assert alive() is frame
    del frame
    assert alive() is None


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    "ask",
    [
        lambda frame: frame.scorio(n=0),
        lambda frame: frame.scorio.pass_at_k(0),
        lambda frame: frame.scorio.bayes(w=[]),
        lambda frame: frame.scorio.report(),
        lambda frame: frame.scorio.report(ps.bayes(), per="trial"),
        lambda frame: frame.scorio(n=1).bayes(),
        lambda frame: frame.scorio.rank(ps.pass_at_k([1, 2])),
        lambda frame: frame.scorio.compare(baseline="x"),
    ],
    ids=["role", "k", "w", "no metric", "option", "collection", "draw sizes", "stratum"],
)
def test_a_frame_is_freed_after_an_error_too(r1, ask):
    frame = r1.clone()
    alive = weakref.ref(frame)
    with pytest.raises((TypeError, ValueError)):
        ask(frame)
    del frame
    assert alive() is None


def test_an_accessor_keeps_its_frame():
    accessor = ps.scorio(long([[0, 1]]), trial=None)
    assert accessor.avg()["estimate"].item() == 0.5


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda a: loads(dumps(a))])  # noqa: S301 - our own bytes
@pytest.mark.parametrize("lazy", [False, True])
def test_a_used_accessor_can_be_copied_and_sent(r1, copied, lazy):
    log = (r1.lazy() if lazy else r1).scorio(confidence=0.9, model=pl.lit("ada"))
    rows = log.avg().lazy().collect()
    for again in (copied(log), copied(copied(log))):
        assert_frame_equal(again.avg().lazy().collect(), rows, check_exact=True)
    assert copied(log.plot).intervals().to_dict() == log.plot.intervals().to_dict()


@pytest.mark.parametrize("roles", [None, {"success": 1}])
def test_changes_in_place_are_seen(r1, roles):
    frame = r1.clone()
    accessor = frame.scorio if roles is None else frame.scorio(**roles)
    assert accessor.bayes()["trials"].item() == 10
    more = long([[1], [1]]).with_columns(trial=pl.lit(99, pl.Int64))
    frame.extend(more)
    assert frame.scorio.bayes()["trials"].item() == 12
    assert accessor.bayes()["trials"].item() == 12
    frame.insert_column(0, pl.Series("domain", [*["a", "b"] * 6]))
    assert frame.scorio(by="domain").bayes()["domain"].to_list() == ["a", "b"]
    frame.replace_column(frame.get_column_index("category"), pl.Series("category", np.ones(12)))
    assert frame.scorio.avg()["estimate"].item() == accessor.avg()["estimate"].item() == 1
    uncounted = frame.scorio(validate=False)
    for trials in (24, 48):  # before its first count, and before its second
        frame.extend(frame.clone())
        assert uncounted.avg()["trials"].item() == trials
