"""Logs of inspect_ai in which people graded some of what a judge graded."""

import pytest

from polars_scorio.logs import inspect_ai
from tests.logs.inspect_samples import sample, write_samples


@pytest.fixture
def labelled(tmp_path):
    """Twenty questions that a judge graded twice; people looked at the first trial of each."""
    samples = []
    for question in range(20):
        for epoch in (1, 2):
            grades = {"judge": "CI"[question % 3 == 0]}
            people = {"human": "CI"[question % 4 == 0]} if epoch == 1 else {}
            samples.append(sample(question, epoch, grades | people))
    return write_samples(tmp_path, "labelled.eval", *samples)


@pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")  # the grades are made up
def test_the_scores_of_people_are_the_truth(labelled):
    read = inspect_ai(labelled, truth_scorer="human")
    assert read.frame["truth"].null_count() == 20
    assert read.frame["category"].null_count() == 0
    row = read.avg().row(0, named=True)
    assert (row["labels"], row["estimate_uncorrected"]) == (20, 13 / 20)
    assert row["estimate"] == pytest.approx(15 / 20)
    numbers = inspect_ai(labelled, truth_scorer="human", threshold=0.5).avg()
    assert numbers["estimate"].to_list() == pytest.approx([15 / 20])


def test_a_truth_that_no_sample_has_is_refused(labelled):
    with pytest.raises(ValueError, match="truth_scorer='people' names a score that no sample has"):
        inspect_ai(labelled, scorer="judge", truth_scorer="people")


def test_a_truth_of_another_kind_is_refused(tmp_path):
    mixed = write_samples(tmp_path, "mixed.eval", sample(1, 1, {"judge": "C", "human": 1}))
    with pytest.raises(ValueError, match=r"\['float'\], those of the scorer str: .*threshold="):
        inspect_ai(mixed, truth_scorer="human")
