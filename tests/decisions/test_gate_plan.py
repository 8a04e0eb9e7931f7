"""How many further trials, or questions, decide a gate."""

import numpy as np
import polars as pl
import pytest

import polars_scorio  # noqa: F401 - registers the namespace
from polars_scorio.maths.power import decision_chance, trials_with_assurance
from tests.documents import study_numbers
from tests.made_logs import long


def test_without_other_models_the_number_is_that_of_the_study():
    # The study takes the difference as it is (a share of 1) and both variances.
    vectors = study_numbers("decisions")
    for case in vectors["gate"]["verdicts"][:1]:  # the others reach less far than their noise
        z = 1.6448536269514722
        half = (case["hi"] - case["lo"]) / 2 / z  # near enough to the root of the variances
        found = trials_with_assurance(
            np.array([case["diff"]]), lambda m, s=half: s * np.sqrt(4 / (4 + m)), z, 1.0, 0.8,
            10_000, case["margin"],
        )  # fmt: skip
        assert found.item() == pytest.approx(case["further_avg_only"], rel=0.15)


def test_of_equal_models_the_chance_is_that_the_margin_is_seen():
    # All of the difference is noise: the estimate will move to 0, the margin above it.
    now, then = np.array([0.05]), np.array([0.01])
    found = decision_chance(np.array([-0.04]), now, then, 1.645, 0.0, margin=0.05)
    # w = 1/25; mean -.04 w + .05 = .0484 with sd sqrt((.05^2 - .01^2) w) = .0098; z s_m = .01645.
    assert found == pytest.approx(0.99944, abs=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")  # by chance
def test_gates_are_decided_about_as_often_as_promised():
    # Undecided gates of equal models, margin .05, goal .8: about 15 logs.
    rng, settled, asked = np.random.default_rng(3), 0, 0
    for _ in range(24):
        rates = rng.random(30)
        log = pl.concat(sample(rng, rates, 8, name) for name in ("v1", "v2"))
        row = log.scorio.gate("v1", margin=0.05, max_trials=300).row(0, named=True)
        if row["verdict"] != "undecided" or row["extra_trials"] is None:
            continue
        more = pl.concat(sample(rng, rates, row["extra_trials"], name, 8) for name in ("v1", "v2"))
        asked += 1
        settled += pl.concat([log, more]).scorio.gate("v1", margin=0.05)["verdict"].item() != (
            "undecided"
        )
    assert asked > 8
    assert settled / asked > 0.6


def sample(rng, rates, trials, name, first=0):
    """A log of so many trials of questions with these rates."""
    outcomes = (rng.random((rates.size, trials)) < rates[:, None]).astype(int)
    return long(outcomes.tolist(), name).with_columns(pl.col("trial") + first)


def test_more_confidence_assurance_or_a_smaller_margin_need_more():
    rng = np.random.default_rng(5)
    rates = rng.random(40)
    log = pl.concat(sample(rng, rates, 6, name) for name in ("v1", "v2")).scorio

    def further(**options):
        return log.gate("v1", **{"margin": 0.03, **options})["extra_trials"].item()

    usual = further()
    assert usual > 0
    assert further(confidence=0.99) > usual
    assert further(power=0.95) > usual
    assert further(margin=0.01) > usual
    assert further(max_trials=max(1, usual - 1)) is None
