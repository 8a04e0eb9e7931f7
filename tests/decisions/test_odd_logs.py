"""Odd logs have defined numbers, or are refused, by everything that is asked of models."""

import math

import polars as pl
import pytest

import polars_scorio as ps

ODD = {
    "one question": ([[4], [4]], [[3], [1]]),
    "one trial": ([[1] * 6] * 2, [[1, 1, 0, 1, 0, 1], [0, 1, 0, 0, 0, 1]]),
    "one trial of one question": ([[1]] * 2, [[1], [0]]),
    "all right": ([[4] * 6] * 2, [[4] * 6] * 2),
    "all wrong": ([[4] * 6] * 2, [[0] * 6] * 2),
    "right against wrong": ([[4] * 6] * 2, [[4] * 6, [0] * 6]),
    "unequal n": ([[1, 2, 4, 8, 3, 5], [2] * 6], [[1, 1, 2, 8, 0, 4], [0, 1, 2, 1, 0, 1]]),
    "one model": ([[4] * 6], [[4, 3, 2, 4, 0, 1]]),
    "two identical models": ([[4] * 6] * 2, [[4, 3, 2, 4, 0, 1]] * 2),
}
TARGETS = ["benchmark", "population"]


def accessor(name: str, target: str) -> ps.Scorio:
    """The log of this name."""
    rows = [
        (f"m{model}", question, n, c)
        for model, own in enumerate(zip(*ODD[name], strict=True))
        for question, (n, c) in enumerate(zip(*own, strict=True))
    ]
    totals = pl.DataFrame(rows, ["model", "question", "n", "c"], orient="row")
    return ps.from_successes(totals).scorio(count="count", target=target)


def without_nan(rows: pl.DataFrame) -> list[dict[str, object]]:
    """The rows, of which no number is NaN or infinite: what is not known is null."""
    found = rows.to_dicts()
    for row in found:
        for value in row.values():
            assert not isinstance(value, float) or math.isfinite(value)
    return found


def tells_nothing(name: str, target: str) -> bool:
    """Whether a single question is asked about a population."""
    return target == "population" and "one question" in name


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ODD)
def test_a_score_lies_in_its_interval(name, target):
    for row in without_nan(accessor(name, target).report(ps.avg(), ps.pass_at_k(1))):
        assert 0 <= row["estimate"] <= 1
        if tells_nothing(name, target):
            assert row["sigma"] is row["lo"] is row["hi"] is None
        else:
            assert 0 <= row["lo"] <= row["estimate"] <= row["hi"] <= 1
            assert row["lo"] < row["hi"]


@pytest.mark.filterwarnings("ignore:one model .*nothing to compare:UserWarning")
@pytest.mark.every(5)
@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ODD)
def test_a_difference_lies_in_its_interval(name, target, simultaneous):
    rows = without_nan(accessor(name, target).compare(ps.avg(), simultaneous=simultaneous))
    assert len(rows) == len(ODD[name][0]) - 1
    for row in rows:
        assert row["better"] == ("m0" if name == "right against wrong" else None)
        if tells_nothing(name, target):
            assert row["diff"] is row["lo"] is row["hi"] is row["prob_better"] is None
            continue
        assert -1 <= row["lo"] <= row["diff"] <= row["hi"] <= 1
        if row["diff"] == 0:
            assert row["prob_better"] == 0.5
            assert row["lo"] == -row["hi"] < 0


@pytest.mark.every(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ODD)
def test_ranks_and_the_best_agree(name, target):
    log = accessor(name, target)
    ranked, board = (without_nan(rows) for rows in (log.rank(ps.avg()), log.leaderboard(ps.avg())))
    for row, shown in zip(ranked, board, strict=True):
        assert row["rank_lo"] <= row["rank"] <= row["rank_hi"]
        assert all(row[name] == shown[name] for name in ("rank_lo", "rank_hi", "could_be_best"))
    possible = [row["model"] for row in ranked if row["could_be_best"]]
    assert possible == (["m0"] if name == "right against wrong" else [r["model"] for r in ranked])
    (best,) = without_nan(log.best(ps.avg()))
    assert best["model"] == "m0"
    assert best["could_be_best"] == possible
    if tells_nothing(name, target):
        assert best["best_lo"] is best["best_mu"] is best["best_hi"] is None
        assert all(row["prob_best"] is None for row in ranked)
    else:
        assert best["best_lo"] <= best["best_mu"] <= best["best_hi"]
        assert sum(row["prob_best"] for row in ranked) == pytest.approx(1)


@pytest.mark.every(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [name for name in ODD if name != "one model"])
def test_gates_and_plans_agree(name, target):
    log = accessor(name, target)
    (judged,) = without_nan(log.gate("m0", margin=0.1))
    assert judged["verdict"] == ("fail" if name == "right against wrong" else "undecided")
    extra = "extra_questions" if target == "population" else "extra_trials"
    assert (judged[extra] == 0) == (judged["verdict"] == "fail")
    plan = log.questions_needed if target == "population" else log.trials_needed
    (needed,) = without_nan(plan(ps.avg()))
    assert (needed[extra] == 0) == (name == "right against wrong")
    # Between equal models there is no difference in sight.
    if name in {"all right", "all wrong", "two identical models"}:
        assert needed[extra] is None


@pytest.mark.parametrize("target", TARGETS)
def test_one_model_has_no_pair_and_no_gate(target):
    log = accessor("one model", target)
    with pytest.warns(UserWarning, match=r"^one model \('m0'\): nothing to compare$"):
        assert log.compare(ps.avg()).is_empty()
    assert log.trials_needed(ps.avg()).is_empty()
    assert log.questions_needed(ps.avg()).is_empty()
    with pytest.raises(ValueError, match="has only the baseline 'm0', and no candidate"):
        log.gate("m0", margin=0.1)


def lacking_question(target: str) -> tuple[ps.Scorio, ps.Scorio]:
    """A log of which the second model lacks a question, and that of the questions of both."""
    log = accessor("unequal n", target).frame
    shared = pl.col("question") < 5
    parts = log.filter((pl.col("model") == "m0") | shared), log.filter(shared)
    first, second = (part.scorio(count="count", target=target) for part in parts)
    return first, second


@pytest.mark.parametrize(
    "ask",
    [
        lambda log: log.compare(ps.avg()),
        lambda log: log.rank(ps.avg()),
        lambda log: log.best(ps.avg()),
        lambda log: log.leaderboard(ps.avg()),
        lambda log: log.gate("m0", margin=0.1),
        lambda log: log.trials_needed(ps.avg()),
        lambda log: log.questions_needed(ps.avg()),
    ],
    ids=["compare", "rank", "best", "leaderboard", "gate", "trials", "questions"],
)
def test_models_with_different_questions_are_not_compared(ask):
    lacking, _ = lacking_question("benchmark")
    with pytest.raises(ValueError, match=r"1 model lacks questions that others have"):
        ask(lacking)


@pytest.mark.parametrize("target", TARGETS)
def test_models_with_different_questions_have_scores_and_common_questions(target):
    lacking, shared = lacking_question(target)
    assert lacking.report(ps.avg())["questions"].to_list() == [6, 5]
    common = lacking.compare(ps.avg(), unmatched="drop")
    assert common.equals(shared.compare(ps.avg()))


def suite(**solved: int) -> pl.DataFrame:
    """Versions that solve all of five trials of their first questions of 30, and no other trial."""
    keys = [
        (name, q, t, int(q < most))
        for name, most in solved.items()
        for q in range(30)
        for t in range(5)
    ]
    return pl.DataFrame(keys, ["model", "question", "trial", "category"], orient="row")


def test_a_suite_without_a_mixed_question_has_plain_numbers():
    log = suite(all=30, most=28, none=0)
    metrics = ps.avg(), ps.pass_at_k(2), ps.pass_hat_k([3, 5])
    rows = log.scorio.report(*metrics)
    for (name,), own in rows.group_by("model"):
        share = {"all": 1.0, "most": 28 / 30, "none": 0.0}[str(name)]
        assert own["estimate"].to_list() == pytest.approx([share] * 4)
        assert {*own["trials"]} == {150}
        assert {*own["inference"]} == {"calibrated"}
        assert own.select("sigma", "lo", "hi").null_count().sum_horizontal().item() == 0


def test_one_mixed_question_is_no_cliff():
    stable = suite(m=27)
    mixed = stable.with_columns(category=pl.when(question=0, trial=0).then(0).otherwise("category"))
    plain, other = (log.scorio.report(ps.avg(), ps.pass_hat_k(5)) for log in (stable, mixed))
    for stable_row, row in zip(
        plain.iter_rows(named=True), other.iter_rows(named=True), strict=True
    ):
        widths = [each["hi"] - each["lo"] for each in (stable_row, row)]
        assert widths[0] < widths[1] < 3 * widths[0]


def test_a_stable_suite_is_decided_by_its_broken_questions():
    scorio = suite(old=28, new=26).scorio
    (pair,) = scorio.compare().iter_rows(named=True)
    assert pair["better"] == "old"
    assert pair["diff"] == pytest.approx(-2 / 30)
    verdicts = [scorio.gate("old", margin=margin)["verdict"].item() for margin in (0.05, 0.04)]
    assert verdicts == ["undecided", "fail"]
    broken = scorio.regressions("old").filter("regressed")["question"].sort().to_list()
    gate = scorio.gate("old", margin=0.05, fail_on="regressed")
    assert (broken, gate["regressed"].item().to_list()) == ([26, 27], [26, 27])
    assert gate["verdict"].item() == "fail"
