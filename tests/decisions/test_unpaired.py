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
    found = LOG.compare(metric, unmatched="unpaired", simultaneous=False)
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


def test_a_curve_of_unpaired_models_is_wider_than_single_draw_sizes():
    sizes = [1, 2, 4, 8]
    curve = LOG.compare(
        ps.pass_at_k(sizes), unmatched="unpaired", simultaneous=True, baseline="step 000"
    )
    alone = LOG.compare(
        ps.pass_at_k(sizes), unmatched="unpaired", baseline="step 000", simultaneous=False
    )
    assert (curve["lo"] < alone["lo"]).all()
    assert (curve["hi"] > alone["hi"]).all()
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


def test_a_gate_judges_the_difference_of_both_samples():
    sure = {"margin": 0.02, "unmatched": "unpaired", "simultaneous": False}
    found = LOG.gate("step 000", **sure)
    known = {row["model"]: row for row in LOG.report(ps.avg()).rows(named=True)}
    shorter = norm.ppf(0.95) / norm.ppf(0.975)  # one-sided ends from those of the report
    for row in found.rows(named=True):
        a, b = known[row["model"]], known["step 000"]
        below = np.hypot(a["estimate"] - a["lo"], b["hi"] - b["estimate"])
        above = np.hypot(a["hi"] - a["estimate"], b["estimate"] - b["lo"])
        assert row["diff"] == pytest.approx(a["estimate"] - b["estimate"], abs=1e-12)
        assert row["lo"] == pytest.approx(row["diff"] - shorter * below, abs=1e-9)
        assert row["hi"] == pytest.approx(row["diff"] + shorter * above, abs=1e-9)
    assert found["verdict"].to_list() == ["undecided", "pass"]
    assert found["broken"].null_count() == 2
    assert LOG.gate("step 200", **sure)["verdict"].to_list() == ["fail", "fail"]
    rare = steps().scorio(target="population", lower_is_better=True)
    assert rare.gate("step 200", **sure)["verdict"].to_list() == ["pass", "pass"]
    assert_frame_equal(
        steps().lazy().scorio(target="population").gate("step 000", **sure).collect(), found
    )


def test_further_prompts_of_both_steps_decide_a_gate():
    """The noise of a mean of M prompts falls as 1/M: solved for the power by trying numbers."""
    log = pl.concat([steps((0,), 40, seed=2), steps((1,), 80, seed=3)]).scorio(target="population")
    row = log.gate("step 000", margin=0.1, unmatched="unpaired").row(0, named=True)
    assert row["verdict"] == "undecided"
    old, new = log.report(ps.avg()).sort("model").rows(named=True)
    assert (old["questions"], new["questions"]) == (40, 80)
    down, up = new["estimate"] - new["lo"], old["hi"] - old["estimate"]

    def reach(more):  # of the lower end, as many standard deviations as 95 % have
        return np.hypot(down * np.sqrt(80 / (80 + more)), up * np.sqrt(40 / (40 + more)))

    most = 10_000_000
    ask = {"margin": 0.1, "unmatched": "unpaired", "max_trials": most}
    few, many = (log.gate("step 000", power=p, **ask)["extra_questions"][0] for p in (0.6, 0.9))
    assert 1 < few < row["extra_questions"] < many
    # The gap of today, as it is, must lie beyond the end of one side by then.
    z = norm.ppf(0.95)
    assert row["diff"] + 0.1 > z / norm.ppf(0.975) * reach(row["extra_questions"])
    assert row["diff"] + 0.1 < z / norm.ppf(0.975) * reach(0)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda log: log.compare(unmatched="unpaired", target="benchmark"), "pass target="),
        (
            lambda log: log.gate("step 000", margin=0.1, unmatched="unpaired", must_pass=[1]),
            "fail_on=, must_pass= and each_at_least= need questions",
        ),
        (
            lambda log: log.gate("step 000", margin=0.1, unmatched="unpaired", target="benchmark"),
            "pass target=",
        ),
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


@pytest.mark.slow
def test_a_gate_at_its_margin_rarely_passes():
    rng, passed, logs = np.random.default_rng(6), 0, 200
    for _ in range(logs):
        rates = rng.beta(4, 4, (2, 60)) - [[0.05], [-0.05]]
        won = rng.binomial(4, rates.clip(0, 1))
        rows = {"model": np.repeat(["new", "old"], 60), "question": range(120), "n": 4}
        log = ps.from_successes(pl.DataFrame({**rows, "c": won.ravel()})).scorio(count="count")
        row = log.gate("old", margin=0.1, unmatched="unpaired", target="population")
        passed += row["verdict"].item() == "pass"
    assert passed <= 0.05 * logs + 2.5 * np.sqrt(0.05 * 0.95 * logs)
