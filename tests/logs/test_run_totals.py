"""What tools planned and reported, against the rows of their logs."""

from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.runs import (
    RowTally,
    Totals,
    mean_of_means,
    mean_or_none,
    totals_difference,
    totals_frame,
    warn_of_totals,
)

FILE = Path("/runs/a.json")


@pytest.mark.parametrize(
    ("totals", "words"),
    [
        (Totals(planned=3, read=3, reported=0.7504, score=0.75), None),
        (Totals(planned=3, reported=0.5), None),
        (Totals(read=3, score=0.5), None),
        (Totals(planned=2_000, read=3), "3 of 2,000 planned trials"),
        (Totals(planned=3, read=4), "4 trials, where 3 were planned"),
        (Totals(reported=0.75, score=1 / 3), "the tool reports 0.75, these rows 0.3333"),
        (Totals(read=3, planned=3, status="error"), "the status of the run is 'error'"),
        (Totals(keys={"filter": "maj"}, planned=2, read=1), "filter 'maj': 1 of 2 planned trials"),
    ],
)
def test_differences_are_said_in_words(totals, words):
    assert totals_difference(totals) == words


def test_one_warning_lists_all_runs():
    whole, part = Totals(planned=1, read=1), Totals(planned=2, read=1)
    warn_of_totals([(FILE, whole)])
    with pytest.warns(ps.LogWarning, match=r"^/runs/a\.json: 1 of 2 planned trials$"):
        warn_of_totals([(FILE, whole), (FILE, part)])
    wanted = r"what the tool says of its runs:(\n- /runs/a\.json: 1 of 2.*){5}\n- and 3 more$"
    with pytest.warns(ps.LogWarning, match=wanted):
        warn_of_totals([(FILE, part)] * 8)


def test_means_leave_out_what_is_not_known():
    assert mean_or_none([]) is None
    assert mean_of_means([]) is None
    assert mean_of_means([("a", None), ("b", 1.0)]) == 1


def test_totals_have_the_keys_of_run_and_part():
    of_filter = Totals(
        keys={"filter": "maj"}, planned=6, reported=0.5, score=0.25, rows_are_trials=False
    )
    parts = [({"model": "ada"}, of_filter), ({"model": "bob"}, Totals(planned=3))]
    frame = totals_frame(parts)
    assert frame is not None
    assert frame.columns == ["model", "filter", "planned", "reported", "recomputed", "skipped"]
    assert frame.sort("model").rows() == [
        ("ada", "maj", None, 0.5, 0.25, None),
        ("bob", None, 3, None, None, None),
    ]
    assert totals_frame([({"model": "ada"}, Totals(read=3))]) is None


def test_a_tally_adds_the_batches_of_a_file():
    totals = [Totals(keys={"filter": name}, planned=3, reported=1.0) for name in ("first", "maj")]
    tally = RowTally(FILE, totals, "score", by="filter")
    tally.add(pl.DataFrame({"filter": ["first", "maj"], "score": [1.0, 0.0]}))
    tally.add(pl.DataFrame({"filter": ["first", "first", "maj"], "score": [1.0, 1.0, None]}))
    wanted = r"filter 'maj': 2 of 3 planned trials; the tool reports 1, these rows 0$"
    with pytest.warns(ps.LogWarning, match=wanted):
        tally.warn()


def test_totals_of_a_whole_file_stand_beside_those_of_its_parts():
    whole, part = Totals(planned=4), Totals(keys={"filter": "maj", "split": ""}, planned=2)
    tally = RowTally(FILE, [whole, part], "score", by="filter")
    tally.add(pl.DataFrame({"filter": ["first", "maj", "maj"], "score": [1.0, 0.0, 1.0]}))
    with pytest.warns(ps.LogWarning, match=r"^/runs/a\.json: 3 of 4 planned trials$"):
        tally.warn()


def test_a_warning_names_the_file_of_the_totals():
    totals = Totals(planned=2, read=1, file=Path("/runs/job.json"))
    with pytest.warns(ps.LogWarning, match=r"^/runs/job\.json: 1 of 2 planned trials$"):
        warn_of_totals([(FILE, totals)])


def test_a_tally_begins_anew_with_each_reading_and_warns_once():
    tally = RowTally(FILE, [Totals(planned=1, reported=0.0)], "score")
    for _ in range(2):
        tally.add(pl.DataFrame({"score": [0.0]}))
        tally.warn()
    with pytest.warns(ps.LogWarning, match="0 of 1 planned trials$"):
        tally.warn()
    tally.warn()  # a second warning would be an error here


@pytest.mark.parametrize("wrong", ["5", True, [1]])
def test_totals_are_numbers(wrong):
    with pytest.raises(TypeError, match="the number reported is"):
        Totals(reported=wrong)
    with pytest.raises(OverflowError, match="the number planned is 1000000000"):
        Totals(planned=10**30)
