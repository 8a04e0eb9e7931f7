"""Do trials count as many as they are? Vectors of a second calculation, laws, false alarms."""

import numpy as np
import pytest

from polars_scorio.maths import exchangeability as checks
from polars_scorio.maths.exchangeability import CheckResult
from tests.documents import study_numbers

VECTORS = study_numbers("checks")


def flags(numbers, runs):
    """The bits of integers: a row for each question, a column for each run."""
    return np.array([[number >> run & 1 for run in range(runs)] for number in numbers], bool)


def tables(log):
    runs = max(present.bit_length() for present in log["present"])
    return flags(log["present"], runs), flags(log["success"], runs)


def found_in(present, success):
    n, c = present.sum(1), success.sum(1)
    return {
        "stopping": checks.stopping(n, c),
        "order": checks.stopped_by_order(present, success),
        "runs": checks.runs(present, success),
        "copies": checks.copies(n, c, present, success),
    }


def is_as_in(found, expected):
    assert (found.p is None) == (expected["p"] is None)
    assert found.why == expected.get("why", "")
    if found.p is not None:
        assert found.p == pytest.approx(expected["p"], rel=1e-9)


def by_name(case):
    return case.get("name", "")


@pytest.mark.parametrize("log", VECTORS["logs"], ids=by_name)
def test_findings_of_logs(log):
    found, wanted = found_in(*tables(log)), log["copies"]
    is_as_in(found["runs"], {**log["runs"], "p": log["runs"].get("p_q")})
    is_as_in(found["copies"], wanted)
    if "pair" in wanted:
        assert (list(found["copies"].runs), found["copies"].observed) == (
            wanted["pair"],
            wanted["agree"],
        )
        assert found["copies"].questions == wanted["of"]
        assert found["copies"].expected == pytest.approx(wanted["expected"])
    wanted = log["stopping"]
    if wanted.get("by") == "order":  # the vectors have twice the smaller of two p-values
        assert min(1, 2 * found["order"].p) == pytest.approx(wanted["p"], rel=1e-9)
        assert found["order"].observed == wanted["seen"]
        assert found["order"].expected == pytest.approx(wanted["expected"])
    elif wanted.get("by") == "pattern":
        assert min(1, 2 * found["stopping"].p) == pytest.approx(wanted["p"], rel=1e-9)


@pytest.mark.parametrize("log", VECTORS["counts"], ids=by_name)
def test_findings_of_counts(log):
    n, c = np.array(log["n"]), np.array(log["c"])
    is_as_in(copies := checks.copies(n, c), log["copies"])
    assert copies.observed == log["copies"].get("times", copies.observed)
    is_as_in(stopping := checks.stopping(n, c), log["stopping"])
    assert (stopping.pattern and [*stopping.pattern]) == log["stopping"].get("pattern")


@pytest.mark.parametrize("case", VECTORS["pieces"])
def test_pieces(case):
    if "passing" in case:
        asked = case["passing"]
        stops = [(g, v) for g, v in asked["stops"]]
        found = checks.passing_chances(np.array([asked["n"]]), np.array([asked["c"]]), stops).item()
    else:
        found = checks.most_multiples(*case["most_multiples"])
    assert found == pytest.approx(case["value"], abs=1e-12)


@pytest.mark.parametrize("log", VECTORS["strata"], ids=by_name)
def test_questions_are_compared_with_each_other(log):
    each = [
        tuple(flags(model[name], model["runs"]) for name in ("present", "success"))
        for model in log["models"]
    ]
    questions = checks.repeated_questions(*(np.stack(own) for own in zip(*each, strict=True)))
    is_as_in(questions, log["questions"])
    if questions.p is not None:
        own = questions.observed, questions.questions
        assert own == (log["questions"]["pairs"], log["questions"]["repeated"])
        assert questions.expected == pytest.approx(log["questions"]["expected"])


def test_all_checks_of_a_log_share_one_level():
    models = [{"runs": CheckResult(0.004), "copies": CheckResult(None)} for _ in range(2)]
    assert checks.verdicts(models)[0] == {"runs": "alarm", "copies": "not tested"}
    assert checks.verdicts(models * 2)[0]["runs"] == "look"


def test_questions_of_many_trials_are_not_counted_for_copies():
    n = np.full(20, 10**9)
    assert checks.copies(n, np.full(20, 10**8)).why == "a question has more than 1,024 trials"


def made(seed, questions=60, runs=6):
    rng = np.random.default_rng(seed)
    success = rng.random((questions, runs)) < rng.beta(0.5, 0.5, (questions, 1))
    return np.ones_like(success), success


def test_a_copied_run_is_named():
    present, success = made(1)
    success[:, 4] = success[:, 1]
    found = checks.copies(present.sum(1), success.sum(1), present, success)
    assert found.runs == (1, 4)
    assert found.p < 1e-4
    assert found.observed == found.questions


def test_a_broken_run_is_named():
    present, success = made(2)
    success[:, 3] &= np.random.default_rng(2).random(60) < 0.3
    found = checks.runs(present, success)
    assert (found.kind, found.runs) == ("run", (3,))
    assert found.p < 1e-3
    assert found.observed < found.expected


@pytest.mark.parametrize("check", ["copies", "runs", "stopping", "order"])
def test_neither_the_names_of_questions_nor_their_order_counts(check):
    present, success = made(3)
    present &= np.random.default_rng(3).random(present.shape) > 0.2
    success &= present
    order = np.random.default_rng(4).permutation(len(present))
    found, other = found_in(present, success), found_in(present[order], success[order])
    assert found[check].p == pytest.approx(other[check].p)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("questions", "runs", "lost"), [(30, 4, 0.05), (100, 8, 0), (300, 4, 0.05)]
)
def test_honest_logs_hear_no_alarm(questions, runs, lost):
    rng = np.random.default_rng(questions)
    alarms = 0
    for _ in range(200):
        models = []
        for _ in range(3):
            rates = rng.beta(0.3, 0.4, (questions, 1))
            present = rng.random((questions, runs)) >= lost
            models.append(found_in(present, present & (rng.random(present.shape) < rates)))
        found = [verdict for model in checks.verdicts(models) for verdict in model.values()]
        alarms += "alarm" in found
    assert alarms <= 4
