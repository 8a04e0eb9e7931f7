"""The contract of a metric: all of the package keep it, and each breach of it is named."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.testing import check_metric
from tests.metrics.test_family import FAMILY
from tests.own_metric import Agreement


@pytest.mark.slow
def test_all_metrics_keep_the_contract():
    check_metric(*FAMILY, answer=pl.col("category").cast(pl.String))
    check_metric(Agreement())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Changed(Agreement):
    """A metric whose numbers are changed."""

    change: Callable[[ps.Summary], ps.Summary]

    def summary(self, posterior, k):
        return self.change(Agreement.summary(self, posterior, k))


def made_by_chance(summary):
    return summary._replace(estimate=np.random.default_rng().random(summary.estimate.size))


@pytest.mark.parametrize(
    ("broken", "change", "k"),
    [
        ("another order of the rows gives other numbers: estimate is ", made_by_chance, None),
        ("depend on others: mu is ", lambda s: s._replace(mu=s.mu - s.mu.mean() + 0.5), None),
        (
            "not the mean over the questions: estimate is ",
            lambda s: s._replace(estimate=s.mu**2),
            None,
        ),
        ("outside its range from 0.0 to 1.0, at part='a'", lambda s: s._replace(mu=s.mu + 2), None),
        ("sigma is -", lambda s: s._replace(sigma=-s.sigma), None),
        (r"of \d trials: it is NaN if k exceeds them, .* k=40, prior='uniform'", lambda s: s, 40),
    ],
)
def test_a_broken_metric_is_told_what_is_broken(broken, change, k):
    with pytest.raises(AssertionError, match=broken):
        check_metric(Changed(change=change, k=(k,)))


def worse_alone(summary):
    """Numbers of single questions, which a report of models does not show, outside the range."""
    many = summary.mu.size > 6
    return summary._replace(mu=summary.mu + 2 * many)


def test_a_broken_number_names_the_metric_the_question_and_the_expected_one():
    with pytest.raises(
        AssertionError, match=r"mu is .*, at part='a', model='x', question=0, metric='agreement'"
    ):
        check_metric(Changed(change=worse_alone, k=(None,)))
    with pytest.raises(
        AssertionError, match=r": estimate is [\d.]+, expected [\d.]+, at part='a', model='x'"
    ):
        check_metric(Changed(change=made_by_chance, k=(None,)))


class Unequal(Agreement):
    """A metric that equals itself alone."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


def test_a_metric_is_a_value():
    with pytest.raises(AssertionError, match="differs from its copy: make it a frozen dataclass"):
        check_metric(Unequal())
