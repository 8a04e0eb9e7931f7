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
        ("another order of the rows gives other numbers", made_by_chance, None),
        ("depend on others", lambda s: s._replace(mu=s.mu - s.mu.mean() + 0.5), None),
        ("its mean over the questions is another", lambda s: s._replace(estimate=s.mu**2), None),
        ("outside its range from 0.0 to 1.0", lambda s: s._replace(mu=s.mu + 2), None),
        ("sigma is -", lambda s: s._replace(sigma=-s.sigma), None),
        (r"k=40, of \d trials.*is NaN if k exceeds the trials, and only", lambda s: s, 40),
    ],
)
def test_a_broken_metric_is_told_what_is_broken(broken, change, k):
    with pytest.raises(AssertionError, match=broken):
        check_metric(Changed(change=change, k=(k,)))


class Unequal(Agreement):
    """A metric that equals itself alone."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


def test_a_metric_is_a_value():
    with pytest.raises(AssertionError, match="differs from its copy: make it a frozen dataclass"):
        check_metric(Unequal())
