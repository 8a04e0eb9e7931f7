"""How many frames Polars computes for a small log: what a report takes, beside the mathematics."""

import sys

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps

CALLS = {
    "report": (lambda log: log.report(ps.avg(), ps.pass_at_k([1, 2, 4])), 45),
    "compare": (lambda log: log.compare(ps.avg()), 60),
    "rank": (lambda log: log.rank(ps.avg()), 60),
}


def made_log(models):
    rng = np.random.default_rng(0)
    model, question, trial = np.indices((models, 20, 8)).reshape(3, -1)
    category = rng.binomial(1, rng.beta(0.6, 1, 20)[question])
    columns = {"model": model, "question": question, "trial": trial, "category": category}
    return pl.DataFrame(columns)


def collects_of(work):
    """Frames that are computed; Polars does so for each step of a DataFrame too."""
    found = 0

    def watch(_, event, called):
        nonlocal found
        found += event == "c_call" and called.__name__ == "collect"

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.filterwarnings("ignore:runs differ")
@pytest.mark.parametrize("name", CALLS)
def test_more_models_take_no_more_collects(name):
    call, most = CALLS[name]
    call(ps.scorio(made_log(3)))  # imports
    few, many = (collects_of(lambda m=models: call(ps.scorio(made_log(m)))) for models in (3, 12))
    assert many <= few <= most  # fewer where the checks of many models end early
