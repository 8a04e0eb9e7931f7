"""Models whose questions are samples of their own, drawn from one population."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm

import polars_scorio as ps
from tests.made_logs import long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.RunWarning")  # by chance


def steps(models=(0, 100, 200), prompts=40, n=8, seed=1):
    """New prompts at each step, on which later steps are better."""
    rng = np.random.default_rng(seed)
    parts = []
    for step in models:
        rates = rng.beta(2 + step / 50, 3, prompts)
        outcomes = (rng.random((prompts, n)) < rates[:, None]).astype(int).tolist()
        each = long(outcomes, f"step {step:03}")
        parts.append(each.with_columns(question=pl.col("question") + 1000 * step))
    return pl.concat(parts)


LOG = steps().scorio(target="population")


@pytest.mark.parametrize("metric", [ps.avg(), ps.pass_at_k(3), ps.geom_at_k(2)], ids=str)
def test_the_difference_is_that_of_two_reports_with_the_variance_of_both(metric):
    found = LOG.compare(metric, unmatched="unpaired")
    known = {row["model"]: row for row in LOG.report(metric).rows(named=True)}
    for row in found.rows(named=True):
        a, b = (known[row[side]] for side in ("model_a", "model_b"))
        assert row["diff"] == pytest.approx(a["estimate"] - b["estimate"], abs=1e-12)
        assert row["sigma"] == pytest.approx(np.hypot(a["sigma"], b["sigma"]), rel=1e-9)
        # Square-and-add of the ends of both models (Zou and Donner 2008).
        below = np.hypot(a["estimate"] - a["lo"], b["hi"] - b["estimate"])
        above = np.hypot(a["hi"] - a["estimate"], b["estimate"] - b["lo"])
        assert row["lo"] == pytest.approx(row["diff"] - below, abs=1e-6)
        assert row["hi"] == pytest.approx(row["diff"] + above, abs=1e-6)


def test_rank_and_best_take_the_same_numbers():
    pairs = LOG.compare(unmatched="unpaired", simultaneous=True)
    ranks = LOG.rank(unmatched="unpaired")
    assert ranks["model"].to_list() == ["step 200", "step 100", "step 000"]
    better = pairs.filter(better="step 200").height
    assert ranks["rank_hi"][0] == 3 - better
    best = LOG.best(unmatched="unpaired")
    assert best["model"].item() == "step 200"
    assert "step 000" not in best["could_be_best"].item().to_list()


def test_shared_names_of_questions_mean_nothing():
    shared = steps().with_columns(question=pl.col("question") % 1000)
    found = shared.scorio(target="population").compare(unmatched="unpaired")
    assert_frame_equal(found, LOG.compare(unmatched="unpaired"))
    paired = shared.scorio(target="population").compare()
    assert not paired["sigma"].equals(found["sigma"])


def test_steps_may_have_different_numbers_of_prompts():
    log = pl.concat([steps((0,), 60), steps((200,), 15)]).scorio(target="population")
    row = log.compare(unmatched="unpaired").row(0, named=True)
    assert row["better"] == "step 200"
    with pytest.raises(ValueError, match="are compared with target"):
        log.compare()


def test_strata_are_compared_each_by_itself_and_over_all():
    log = pl.concat(steps(seed=seed).with_columns(domain=pl.lit(f"d{seed}")) for seed in (1, 2))
    scorio = log.scorio(by="domain", target="population")
    found = scorio.compare(unmatched="unpaired", overall="macro")
    first = found.filter(domain="d1").drop("domain")
    assert_frame_equal(first, LOG.compare(unmatched="unpaired"), abs_tol=1e-9)
    whole = found.filter(pl.col("domain").is_null())
    halves = found.drop_nulls("domain").group_by("model_a", "model_b").agg(pl.col("diff").mean())
    joined = whole.join(halves, on=["model_a", "model_b"], maintain_order="left")
    assert joined["diff"].to_numpy() == pytest.approx(joined["diff_right"].to_numpy())


def test_a_curve_of_unpaired_models_takes_the_paths_of_both():
    sizes = [1, 2, 4, 8]
    curve = LOG.compare(
        ps.pass_at_k(sizes), unmatched="unpaired", simultaneous=True, baseline="step 000"
    )
    alone = LOG.compare(ps.pass_at_k(sizes), unmatched="unpaired", baseline="step 000")
    assert (curve["lo"] < alone["lo"]).all()
    assert (curve["hi"] > alone["hi"]).all()
    bonferroni = LOG.compare(
        ps.pass_at_k(sizes), unmatched="unpaired", baseline="step 000", confidence=1 - 0.05 / 8
    )
    assert (curve["hi"] < bonferroni["hi"]).all()
    assert curve["adjusted_for"].unique().to_list() == ["all with the baseline and k"]


def test_real_valued_rewards_are_compared_too():
    rng = np.random.default_rng(2)
    rewards = pl.DataFrame(
        {
            "model": ["a", "b"] * 120,
            "question": np.arange(240) // 4 * 2 + np.arange(240) % 2,
            "category": rng.beta(2, 2, 240) * np.tile([1.0, 0.6], 120),
        }
    )
    log = rewards.scorio(trial=None, bounds=(0, 1), target="population")
    row = log.compare(unmatched="unpaired").row(0, named=True)
    assert row["better"] == "a"
    known = log.report(ps.avg())
    assert row["sigma"] == pytest.approx(np.hypot(*known["sigma"]), rel=1e-6)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda log: log.compare(unmatched="unpaired", target="benchmark"), "it needs target="),
        (lambda log: log.gate("step 000", margin=0.1, unmatched="unpaired"), "not to gate"),
        (lambda log: log.compare(ps.bayes(), unmatched="unpaired"), "bayes: unmatched="),
        (
            lambda log: log.compare(unmatched="unpaired", prior="population"),
            "compares calibrated numbers",
        ),
    ],
)
def test_refuses(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(LOG)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 8])
def test_equal_steps_are_rarely_told_apart(n):
    rng = np.random.default_rng(5)
    rates = rng.beta(0.6, 1, (200, 2, 40))
    solved = rng.binomial(n, rates)
    stratum, model, question = np.indices(solved.shape).reshape(3, -1)
    counts = pl.DataFrame(
        {"stratum": stratum, "model": model, "question": 100 * model + question, "n": n,
         "c": solved.ravel()}
    )  # fmt: skip
    log = ps.from_successes(counts).scorio(count="count", by="stratum", target="population")
    false = 200 - log.compare(unmatched="unpaired")["better"].null_count()
    assert false <= 200 * 0.05 + 2 * norm.isf(0.01) * np.sqrt(200 * 0.05 * 0.95)
