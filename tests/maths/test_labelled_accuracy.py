import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.labels import LabelledQuestions
from tests.maths.vectors import VECTORS

CELL = st.integers(0, 3)


def questions_of(trials, verdicts, labels, group=None):
    labels = np.asarray(labels, dtype=float)
    group = np.zeros(len(labels), dtype=int) if group is None else np.asarray(group)
    numbers = (np.asarray(each, dtype=float) for each in (trials, verdicts))
    return LabelledQuestions(group, int(group.max()) + 1, *numbers, labels)


def test_accuracies_are_those_of_the_study():
    for row in VECTORS["labelled"]:
        names = ("labelled_1", "right_1", "labelled_0", "right_0")
        labels = np.stack([row[name] for name in names], axis=1)
        log = questions_of(row["trials"], row["verdicts"], labels)
        rate = log.accuracy(row["confidence"], row["target"])
        found = [rate.estimate.item(), rate.lo.item(), rate.hi.item()]
        assert found == pytest.approx([row["estimate"], row["lo"], row["hi"]], abs=1e-9)


@st.composite
def labelled_logs(draw):
    """Questions with four trials each, all of which are labelled."""
    rows = draw(st.lists(st.tuples(st.integers(0, 4), CELL, CELL), min_size=2, max_size=8))
    labels = [(v, min(a, v), 4 - v, min(b, 4 - v)) for v, a, b in rows]
    return np.array(labels, dtype=float)


@given(labelled_logs(), st.sampled_from(["benchmark", "population"]))
def test_all_trials_labelled_give_the_mean_of_the_labels(labels, target):
    rate = questions_of(np.full(len(labels), 4), labels[:, 0], labels).accuracy(0.95, target)
    truth = labels[:, [1, 3]].sum() / (4 * len(labels))
    assert rate.estimate == pytest.approx(truth)
    assert 0 <= rate.lo <= rate.estimate + 1e-12
    assert rate.estimate <= rate.hi + 1e-12 <= 1 + 1e-11


@given(labelled_logs())
def test_groups_are_independent(labels):
    trials = np.full(len(labels), 4)
    alone = questions_of(trials, labels[:, 0], labels).accuracy(0.9, "benchmark")
    twice = np.vstack([labels, labels])
    group = np.repeat([0, 1], len(labels))
    both = questions_of(np.tile(trials, 2), twice[:, 0], twice, group).accuracy(0.9, "benchmark")
    np.testing.assert_allclose(both.lo, np.repeat(alone.lo, 2), rtol=1e-9, atol=1e-12)


def test_longer_questions_count_as_much_as_shorter_ones():
    # Both questions are labelled in full: one of 8 trials is right throughout, one of 2 never.
    labels = [(8, 8, 0, 0), (0, 0, 2, 0)]
    rate = questions_of([8, 2], [8, 0], labels).accuracy(0.95, "benchmark")
    assert rate.estimate == pytest.approx(0.5)


def test_a_verdict_without_labels_takes_the_rate_of_all_labels():
    labels = [(2, 1, 0, 0), (2, 2, 0, 0), (0, 0, 0, 0)]
    rate = questions_of([2, 2, 2], [2, 2, 0], labels).accuracy(0.95, "benchmark")
    assert rate.estimate == pytest.approx(0.75)


def test_a_single_labelled_question_gives_no_number():
    labels = [(4, 3, 0, 0), (0, 0, 0, 0)]
    rate = questions_of([4, 4], [4, 2], labels).accuracy(0.95, "benchmark")
    assert np.isnan([rate.estimate, rate.lo, rate.hi, rate.sigma]).all()


def test_more_confidence_is_wider():
    labels = [(1, 1, 0, 0), (1, 0, 1, 1), (0, 0, 2, 0), (2, 2, 0, 0)]
    log = questions_of([4] * 4, [4, 2, 1, 3], labels)
    narrow, wide = log.accuracy(0.8, "benchmark"), log.accuracy(0.95, "benchmark")
    assert wide.lo < narrow.lo
    assert narrow.hi < wide.hi
