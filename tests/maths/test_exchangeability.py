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
        "stopping": checks.stopping(n, c, present, success),
        "runs": checks.runs(present, success, ordered=True),
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
    for check, found in found_in(*tables(log)).items():
        is_as_in(found, log[check])
        own = log[check]
        if check == "copies" and "pair" in own:
            assert (list(found.runs), found.observed) == (own["pair"], own["agree"])
            assert found.questions == own["of"]
            assert found.expected == pytest.approx(own["expected"])
        elif check == "stopping" and "by" in own:
            assert (found.kind, found.observed) == (own["by"], own["seen"])
            assert found.expected == pytest.approx(own["expected"])


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


def test_verdicts_of_a_log():
    logs = {log["name"]: log for log in VECTORS["logs"]}
    names = (
        *("2, 6 more if they disagree", "honest 60 x 8", "run 5 broken"),
        *("run 4 copies run 1", "all copies"),
    )
    found = checks.verdicts([found_in(*tables(logs[name])) for name in names])
    expected = [(v["model"], v["check"], v["verdict"]) for v in VECTORS["verdicts"]]
    assert [(i, *each) for i, model in enumerate(found) for each in model.items()] == expected


@pytest.mark.parametrize("log", VECTORS["strata"], ids=by_name)
def test_questions_and_models_are_compared_with_each_other(log):
    each = [
        tuple(flags(model[name], model["runs"]) for name in ("present", "success"))
        for model in log["models"]
    ]
    questions = checks.repeated_questions(*(np.stack(own) for own in zip(*each, strict=True)))
    models = checks.shared_runs(each)
    is_as_in(questions, log["questions"])
    is_as_in(models, log["models_share"])
    if questions.p is not None:
        own = questions.observed, questions.questions
        assert own == (log["questions"]["pairs"], log["questions"]["repeated"])
        assert questions.expected == pytest.approx(log["questions"]["expected"])
        shared = log["models_share"]
        assert ([*models.models], [*models.runs]) == (shared["models"], shared["pair"])
        assert (models.observed, models.questions) == (shared["agree"], shared["of"])
    found = checks.verdicts(
        [*(found_in(*own) for own in each), {"questions": questions, "models": models}]
    )
    names = [*range(len(each)), None]
    own = [
        [name, *said] for name, model in zip(names, found, strict=True) for said in model.items()
    ]
    assert own == log["verdicts"]


def test_what_another_check_explains_is_a_look():
    model = {"stopping": CheckResult(1e-6), "runs": CheckResult(1e-6), "copies": CheckResult(1e-6)}
    assert [*checks.verdicts([model])[0].values()] == ["alarm", "look", "look"]
    assert checks.verdicts([{"runs": CheckResult(0.004)} for _ in range(5)])[0] == {"runs": "look"}


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
    found = checks.runs(present, success, ordered=False)
    assert (found.kind, found.runs) == ("run", (3,))
    assert found.p < 1e-3
    assert found.observed < found.expected


@pytest.mark.parametrize("check", ["copies", "runs", "stopping"])
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
        alarms += bool({"alarm", "once"} & {*found})
    assert alarms <= 4
