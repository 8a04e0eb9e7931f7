"""The numbers of a metric: what they leave alone."""

from threading import Thread

import numpy as np

import polars_scorio as ps
from tests.made_logs import long


def test_what_another_thread_ignores_stays_ignored():
    # NumPy 1 counts the threads that ignore something, and Polars evaluates groups in several.
    log = long([[0, 1]])
    with np.errstate(divide="ignore"):
        other = Thread(target=ps.scorio(log).bayes)
        other.start()
        other.join()
        assert np.divide(1.0, np.zeros(1)).item() == np.inf
