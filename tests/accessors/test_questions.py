"""The keywords of `questions`, and the confidence that was chosen."""

import inspect

import numpy as np
import polars as pl

import polars_scorio as ps
from tests.decisions.counted import counted


def test_the_method_names_its_keywords():
    keywords = ["w", "per", "unmatched", "confidence"]
    assert [*inspect.signature(ps.Scorio.questions).parameters][1:] == keywords


def test_the_chosen_confidence_holds():
    log = counted(np.random.default_rng(2).binomial(4, 0.5, (1, 4, 20)), 4).frame
    roles = {"by": "stratum", "count": "count"}
    chosen, said = log.scorio(**roles, confidence=0.8), log.scorio(**roles)
    assert chosen.questions().equals(said.questions(confidence=0.8))
    assert isinstance(log.lazy().scorio(**roles).questions(), pl.LazyFrame)
