"""Gates that look at single questions."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from tests.made_logs import long

pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")


def versions(old, new):
    """A log of two versions, a list of outcomes for each question."""
    return pl.concat([long(old, "v1"), long(new, "v2")])


def mixed(questions=60, trials=5, seed=0):
    """Outcomes of two equal versions whose questions succeed at all rates."""
    rng = np.random.default_rng(seed)
    rates = rng.random(questions)[:, None]
    return [(rng.random((questions, trials)) < rates).astype(int) for _ in range(2)]


def broken_case(mixed_others):
    """Sixty cases, of which the last one broke from 5/5 to 0/5."""
    old, new = mixed() if mixed_others else (np.ones((60, 5), int), np.ones((60, 5), int))
    old[59], new[59] = 1, 0
    return versions(old.tolist(), new.tolist())


@pytest.mark.parametrize("mixed_others", [False, True])
def test_one_broken_case_of_sixty_does_not_pass_a_gate_that_looks(mixed_others):
    log = broken_case(mixed_others)
    sure = log.scorio(validate=mixed_others)  # others have no mixed outcomes
    assert sure.gate("v1", margin=0.06)["verdict"].item() == "pass"
    row = sure.gate("v1", margin=0.06, fail_on="regressed").row(0, named=True)
    assert (row["verdict"], row["score_verdict"], row["case_verdict"]) == ("fail", "pass", "fail")
    assert (row["regressed"], row["unclear"]) == ([59], [])
    tests = log.scorio.regressions("v1").filter("regressed")
    assert row["regressed"] == tests["question"].to_list()


def test_a_case_that_too_few_trials_saw_turn_leaves_the_gate_undecided():
    old, new = mixed(trials=2)
    old[7], new[7] = 1, 0
    log = versions(old.tolist(), new.tolist())
    row = log.scorio.gate("v1", margin=0.2, fail_on="regressed").row(0, named=True)
    assert row["score_verdict"] == "pass"
    assert row["verdict"] == "undecided"
    assert 7 in row["unclear"]
    assert row["regressed"] == []


def test_a_question_that_must_pass_fails_the_gate_with_one_failed_trial():
    log = versions([[1] * 4] * 10, [[1, 1, 1, 0]] + [[1] * 4] * 9)
    asked = log.scorio
    assert asked.gate("v1", margin=0.3, must_pass=range(1, 10))["verdict"].item() == "pass"
    row = asked.gate("v1", margin=0.3, must_pass=[0, 1]).row(0, named=True)
    assert (row["verdict"], row["not_passed"]) == ("fail", [0])
    assert "regressed" not in row


def test_questions_in_quarantine_do_not_count_at_all():
    log = broken_case(mixed_others=True)
    without = log.filter(pl.col("question") != 59)
    left = log.scorio.gate("v1", margin=0.06, fail_on="regressed", quarantine=[59, 1_000])
    assert left.equals(without.scorio.gate("v1", margin=0.06, fail_on="regressed"))


def test_lists_of_questions_are_read_from_files(tmp_path):
    log = broken_case(mixed_others=True).with_columns(
        question="q" + pl.col("question").cast(pl.String)
    )
    path = tmp_path / "flaky.txt"
    path.write_text("# known to be flaky\n\n q59 \n", encoding="utf-8")
    found = log.scorio.gate("v1", margin=0.06, quarantine=path)
    assert found.equals(log.scorio.gate("v1", margin=0.06, quarantine="q59"))
    numbers = broken_case(mixed_others=True).scorio
    path.write_text("59\n", encoding="utf-8")
    assert numbers.gate("v1", margin=0.06, must_pass=path)["not_passed"].item().to_list() == [59]


def test_cases_of_all_strata_count_in_the_row_over_all_of_them():
    log = broken_case(mixed_others=True).with_columns(half=pl.col("question") % 2)
    rows = log.scorio(by="half").gate("v1", margin=0.5, fail_on="regressed", must_pass=[59])
    assert rows["regressed"].to_list() == [None, None, [59]]
    assert rows["not_passed"].to_list() == [None, None, [59]]
    assert rows["verdict"].to_list() == [*rows["score_verdict"][:2], "fail"]


def test_where_lower_is_better_a_case_breaks_by_succeeding():
    log = broken_case(mixed_others=True).with_columns(category=1 - pl.col("category"))
    attacks = log.scorio(lower_is_better=True)
    row = attacks.gate("v1", margin=0.06, fail_on="regressed", must_pass=[59]).row(0, named=True)
    assert (row["verdict"], row["score_verdict"]) == ("fail", "pass")
    assert (row["regressed"], row["not_passed"]) == ([59], [59])


BAD = {
    "a question that is not there": (
        {"must_pass": [0, 70, 80]},
        r"must_pass= lists 2 of 3 questions that the log does not have: 70, 80\. A question in qua",
    ),
    "a question in quarantine that must pass": (
        {"must_pass": 0, "quarantine": 0},
        r"must_pass= lists 1 question that the log does not have: 0\. A question in quarant",
    ),
    "an id of another kind": ({"must_pass": "q1"}, r"must_pass: 'q1' cannot be a question of this"),
    "another word": ({"fail_on": "broken"}, 'fail_on must be "regressed", got'),
    "a metric of costs": (
        {"metric": ps.mean_cost()},
        r"gate takes no metric of costs, got mean_cost: compare\(\) and frontier\(\) answer",
    ),
    "a rate without its rule": ({"fdr": 0.2}, "gate: fdr= is .* rate of .* that fail_on="),
    "a rate that is none": ({"fail_on": "regressed", "fdr": 2}, "fdr must be a number between"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_refuses(options, message):
    log = broken_case(mixed_others=False)
    with pytest.raises(ValueError, match=message):
        log.scorio(validate=False).gate("v1", **{"margin": 0.06, **options})


def test_refuses_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="quarantine: there is no file "):
        broken_case(mixed_others=False).scorio.gate("v1", margin=0.1, quarantine=tmp_path / "x")


def test_fractions_are_no_failures():
    log = versions([[1, 1]] * 3, [[0, 1]] * 3).with_columns(pl.col("category") * 0.5)
    with pytest.raises(ValueError, match="conditions on questions need success and failure, and"):
        log.scorio.gate("v1", margin=0.1, fail_on="regressed")
    thresholded = log.scorio(threshold=0.5)
    assert thresholded.gate("v1", margin=0.1, must_pass=0)["verdict"].item() == "fail"


def test_unpaired_questions_have_no_pairs_of_cases():
    log = broken_case(mixed_others=False).scorio
    with pytest.raises(ValueError, match=r'need questions that both .*: pass unmatched="drop"'):
        log.gate("v1", margin=0.1, fail_on="regressed", target="population", unmatched="unpaired")
