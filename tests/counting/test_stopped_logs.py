"""Logs whose trials stopped on their outcomes, for methods that cannot answer them."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long


def retried(seed, model, questions=40, most=8):
    """Questions that are tried until they succeed, at most so often."""
    rng = np.random.default_rng(seed)
    sequences = []
    for rate in rng.random(questions):
        trials = (rng.random(most) < rate).astype(int).tolist()
        sequences.append(trials[: trials.index(1) + 1] if 1 in trials else trials)
    return long(sequences, model)


def uneven_by_chance(seed, model, questions=40):
    """Questions that lost some trials, whatever their outcomes were."""
    rng = np.random.default_rng(seed)
    return long(
        [(rng.random(rng.integers(4, 9)) < 0.5).astype(int).tolist() for _ in range(questions)],
        model,
    )


@pytest.mark.parametrize("target", ["benchmark", "population"])
def test_verdicts_about_trials_that_stopped_on_outcomes_are_refused(target):
    log = pl.concat([retried(1, "ada"), uneven_by_chance(2, "bob")])
    message = (
        "^trials stopped on their outcomes in 1 group, the first: ada: .* no interval holds"
        r".* See check\(\) for the evidence\.$"
    )
    with pytest.raises(ValueError, match=message):
        log.scorio(trial=None, planned_trials=16, planned_questions=60, target=target).compare(
            ps.avg()
        )


def test_the_message_counts_models_and_names_the_first_with_its_stratum():
    log = pl.concat(
        retried(seed, model).with_columns(domain=pl.lit(domain))
        for seed, (model, domain) in enumerate([("ada", "web"), ("bob", "air"), ("ada", "air")])
    )
    with pytest.raises(ValueError, match=r"in 3 groups, the first: ada \(domain='air'\)"):
        log.scorio(by="domain", trial=None, planned_trials=16).report(ps.avg())


def test_a_filter_leaves_only_the_models_that_it_keeps_to_be_checked():
    log = pl.concat([retried(1, "ada"), uneven_by_chance(2, "bob")]).lazy()
    rows = (
        log.scorio(trial=None, planned_trials=16)
        .report(ps.avg())
        .filter(pl.col("model") == "bob")
        .collect()
    )
    assert rows["model"].to_list() == ["bob"]


def test_trials_that_were_lost_by_chance_are_compared():
    log = pl.concat([uneven_by_chance(2, "ada"), uneven_by_chance(3, "bob")])
    assert log.scorio(planned_trials=16).compare(ps.avg()).height == 1


def test_the_unnamed_model_of_a_log_has_no_place():
    with pytest.raises(ValueError, match="in 1 group, the first: This model: "):
        retried(1, "ada").scorio(model=None, trial=None, planned_trials=16).report(ps.avg())


def test_the_same_log_without_anytime_is_reported_with_a_warning():
    with pytest.warns(ps.CheckWarning):
        assert retried(1, "ada").scorio.report(ps.avg()).height == 1
