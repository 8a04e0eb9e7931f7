"""Gates on a score that models have to reach, with or without a baseline."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


def log_of(rates, questions=60, trials=5, seed=0):
    """Models by their success rates, each on the same questions."""
    rng = np.random.default_rng(seed)
    return pl.concat(
        long((rng.random((questions, trials)) < rate).astype(int).tolist(), name)
        for name, rate in rates.items()
    )


def verdicts(rows):
    return dict(rows.select("model", "verdict").rows())


THREE = log_of({"high": 0.97, "low": 0.6, "near": 0.91})


def test_a_score_passes_or_fails_beyond_noise_and_else_is_undecided():
    rows = THREE.scorio.gate(at_least=0.9)
    assert verdicts(rows) == {"high": "pass", "low": "fail", "near": "undecided"}
    report = THREE.scorio.avg()
    assert rows["estimate"].to_list() == report["estimate"].to_list()
    for row in rows.iter_rows(named=True):
        reached, missed = row["lo"] > 0.9, row["hi"] < 0.9
        assert row["verdict"] == ("pass" if reached else "fail" if missed else "undecided")
        assert ((row["pvalue_pass"] or 1) <= 1 - 0.95 ** (1 / 3)) == reached
        assert (row["extra_trials"] == 0) == (row["verdict"] != "undecided")


def test_the_ends_are_one_sided_ones_of_the_report():
    confidence = 0.95 ** (1 / 3)
    rows = THREE.scorio.gate(at_least=0.9)
    report = THREE.scorio.avg(confidence=2 * confidence - 1)
    np.testing.assert_allclose(rows["lo"], report["lo"], rtol=1e-9)
    np.testing.assert_allclose(rows["hi"], report["hi"], rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [{"target": "population"}, {"planned_trials": 16}, {"metric": ps.pass_hat_k(2)}],
    ids=str,
)
def test_other_targets_looks_and_metrics_have_ends_and_a_verdict(options):
    metric = options.pop("metric", None)
    row = THREE.filter(model="high").scorio.gate(None, metric, at_least=0.7, **options)
    assert row["verdict"].item() == "pass"
    assert row["lo"].item() > 0.7


def test_the_nearer_the_score_the_more_trials_decide():
    log = log_of({"a": 0.89}, questions=100).scorio
    plans = [log.gate(at_least=goal).row(0, named=True) for goal in (0.9, 0.89, 0.88)]
    assert {row["verdict"] for row in plans} == {"undecided"}
    extra = [row["extra_trials"] for row in plans]
    assert 1 < extra[0] < extra[1] < extra[2]


@pytest.mark.slow
def test_the_further_trials_mostly_decide():
    rng, decided = np.random.default_rng(4), []
    for _ in range(60):
        rates = rng.beta(9, 1.5, 100)
        goal = float(rates.mean()) + 0.04
        outcomes = (rng.random((100, 400)) < rates[:, None]).astype(int)
        first = long(outcomes[:, :3].tolist(), "a").scorio.gate(at_least=goal, power=0.8)
        if first["verdict"].item() == "undecided":
            n = min(400, 3 + first["extra_trials"].item())
            second = long(outcomes[:, :n].tolist(), "a").scorio.gate(at_least=goal)
            decided.append(second["verdict"].item() != "undecided")
    assert len(decided) > 10
    assert np.mean(decided) > 0.6


def in_strata(log):
    return log.with_columns(domain=pl.col("question") % 2)


def test_all_strata_must_reach_the_score():
    uneven = pl.concat(
        [
            log_of({"a": 0.99}, seed=1).with_columns(domain=0),
            log_of({"a": 0.75}, seed=2).with_columns(domain=1),
        ]
    ).scorio(by="domain")
    rows = uneven.gate(at_least=0.85)
    assert rows.select("domain", "verdict").rows() == [(0, "pass"), (1, "fail"), (None, "fail")]
    rows = uneven.gate(at_least=0.7)
    assert rows["verdict"].to_list()[0] == "pass"
    assert rows["verdict"].to_list()[2] == rows["verdict"].to_list()[1]


def test_lower_is_better_turns_the_score_round():
    for goal, verdict in ((0.2, "pass"), (0.01, "fail")):
        errors = log_of({"a": 0.08}).scorio(lower_is_better=True)
        assert errors.gate(at_least=goal)["verdict"].item() == verdict
    each = errors.gate(each_at_least=0.6, at_least=0.2).row(0, named=True)
    assert each["below"] == [
        question
        for (question,), rows in log_of({"a": 0.08}).group_by("question", maintain_order=True)
        if rows["category"].mean() > 0.4
    ]


def test_beside_a_baseline_the_score_is_a_further_condition():
    log = log_of({"old": 0.7, "new": 0.7}, questions=200)
    alone = log.scorio.gate("old", margin=0.1)
    assert alone["verdict"].item() == "pass"
    both = log.scorio.gate("old", margin=0.1, at_least=0.8).row(0, named=True)
    assert (both["verdict"], both["gap_verdict"], both["level_verdict"]) == ("fail", "pass", "fail")
    assert (both["diff"], both["lo"]) == alone.select("diff", "lo").row(0)
    assert both["estimate_lo"] < both["estimate"] < both["estimate_hi"] < 0.8
    assert both["extra_trials"] == 0
    reached = log.scorio.gate("old", margin=0.1, at_least=0.5).row(0, named=True)
    assert reached["verdict"] == "pass"
    near = log.scorio.gate("old", margin=0.1, at_least=0.7).row(0, named=True)
    assert (near["verdict"], near["level_verdict"]) == ("undecided", "undecided")


# Each case passes at least 8 of its 10: 49 pass 10, and c49 passes none.
CASES = pl.DataFrame(
    [(f"c{case}", trial, int(case != 49)) for case in range(50) for trial in range(10)],
    ["question", "trial", "category"],
    orient="row",
)


def test_each_question_passes_its_share_of_the_trials_as_they_were_seen():
    row = CASES.scorio(model=None).gate(each_at_least=0.8).row(0, named=True)
    assert (row["verdict"], row["below"]) == ("fail", ["c49"])
    eight = CASES.with_columns(category=(pl.col("trial") < 8).cast(pl.Int64))
    assert eight.scorio(model=None).gate(each_at_least=0.8)["verdict"].item() == "pass"
    row = CASES.scorio(model=None).gate(each_at_least=0.8, at_least=0.9).row(0, named=True)
    assert (row["verdict"], row["score_verdict"], row["case_verdict"]) == ("fail", "pass", "fail")


def test_models_alone_may_have_different_questions():
    rows = THREE.filter(~((pl.col("model") == "low") & (pl.col("question") < 5)))
    assert verdicts(rows.scorio.gate(at_least=0.9))["low"] == "fail"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            "gate: neither a baseline nor a score to reach is named: pass a baseline with its",
        ),
        ({"margin": 0.1}, "a baseline and its margin= go together"),
        ({"baseline": "low"}, "a baseline and its margin= go together"),
        ({"at_least": 0.9, "every_stratum": True}, "are about changes: pass a baseline"),
        ({"at_least": 90}, "at_least must be a score between 0 and 1, exclusive, got 90"),
        ({"at_least": 0}, "at_least must be a score between 0 and 1"),
        ({"at_least": "high"}, "at_least must be a score .*, got 'high'"),
        ({"each_at_least": 1.5}, "each_at_least must be a number from 0 to 1, got 1.5"),
    ],
    ids=str,
)
def test_gates_that_ask_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        THREE.scorio.gate(**options)


def test_a_score_is_not_asked_for_where_missing_outcomes_may_be_anything():
    with pytest.raises(ValueError, match=r'missing="bounds" is about differences'):
        THREE.scorio(missing="bounds").gate(at_least=0.9)
