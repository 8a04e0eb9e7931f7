"""Summaries of metrics: columns of their numbers, and what they leave alone."""

from threading import Thread

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.metrics.metric import INFINITE, number_column, quiet_infinities
from tests.made_logs import long


def test_what_another_thread_ignores_stays_ignored():
    # NumPy 1 counts the threads that ignore something, and Polars evaluates groups in several.
    log = long([[0, 1]])
    with np.errstate(divide="ignore"):
        other = Thread(target=ps.scorio(log).bayes)
        other.start()
        other.join()
        assert np.divide(1.0, np.zeros(1)).item() == np.inf


def test_a_number_that_is_not_known_is_null():
    column = number_column(np.array([0.5, np.nan, np.inf]))
    assert column.to_list() == [0.5, None, np.inf]


def test_only_metrics_that_can_be_infinite_silence_numpy():
    negative, plain = ps.geom_ds_at_k(2, pass_power=-1), ps.geom_ds_at_k(2)
    with quiet_infinities(negative):
        assert np.divide(1.0, np.zeros(1)).item() == np.inf
    with quiet_infinities(plain), pytest.warns(RuntimeWarning, match="divide by zero"):
        np.divide(1.0, np.zeros(1))


def test_an_infinite_number_or_a_lost_sigma_is_infinite():
    rows = pl.DataFrame({"estimate": [0.5, np.inf, 0.5], "mu": 0.5, "sigma": [0.1, 0.1, None]})
    assert rows.select(INFINITE).to_series().to_list() == [False, True, True]
