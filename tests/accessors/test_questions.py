"""What `questions` promises, by simulation: rates are known there."""

import inspect

import numpy as np
import polars as pl

import polars_scorio as ps
from tests.decisions.counted import counted


def test_the_method_names_its_keywords():
    keywords = ["w", "fdr", "per", "unmatched", "confidence"]
    assert [*inspect.signature(ps.Scorio.questions).parameters][1:] == keywords


def test_reversed_questions_are_rarely_good_ones():
    # Forty strata of 25 models with 8 trials; 3 of 100 questions are reversed. Nominal: .1.
    rng = np.random.default_rng(1)
    ability, difficulty = rng.normal(0, 1, (40, 25, 1)), rng.normal(0, 1.3, (40, 1, 100))
    slope = np.where(np.arange(100) < 3, -1.5, np.where(np.arange(100) < 30, 0.0, 1.5))
    rates = 1 / (1 + np.exp(-slope * (ability - difficulty)))
    rows = counted(rng.binomial(8, rates), 8).questions().filter("reversed")
    faults = rows["question"] < 3
    assert (~faults).mean() < 0.1
    assert faults.sum() > 0.5 * 3 * 40


def test_the_chosen_confidence_holds():
    log = counted(np.random.default_rng(2).binomial(4, 0.5, (1, 4, 20)), 4).frame
    roles = {"by": "stratum", "count": "count"}
    chosen, said = log.scorio(**roles, confidence=0.8), log.scorio(**roles)
    assert chosen.questions().equals(said.questions(confidence=0.8))
    assert isinstance(log.lazy().scorio(**roles).questions(), pl.LazyFrame)
