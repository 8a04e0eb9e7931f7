import pytest

import polars_scorio as ps


def question(name, correct, answers=3):
    """One entry of details: a list for each field, one value for each run."""
    return {
        "example_abbr": name,
        "G-Pass@2_0.5": 0.5,
        "pred": ["2"] * answers,
        "answer": ["2"] * answers,
        "correct": correct,
    }


@pytest.fixture
def results(write):
    details = [
        question("test_0", [True, True, False]),
        question("test_1", [False, True, False]),
        question("test_2", [True, None, False]),
        question("test_3", [False, True]),  # the judge lost one of the three answers
    ]
    accuracy = {"accuracy (3 runs average)": 50.0, "G-Pass@2_0.5": 66.7}
    return write("results/ada-7b/aime2025.json", {**accuracy, "details": details})


def test_the_lists_are_the_trials(table, results):
    log = table(results)
    assert log.columns == ["model", "benchmark", "question", "trial", "category"]
    assert log.row(0) == ("ada-7b", "aime2025", "test_0", 0, True)
    assert log["trial"].to_list() == [0, 1, 2] * 4


def test_a_run_without_verdict_has_no_outcome(table, results):
    category = table(results)["category"].to_list()
    assert category[:6] == [True, True, False, False, True, False]
    assert category[6:] == [True, None, False, False, True, None]


@pytest.mark.parametrize("verdict", ["is_correct", "cascade_correct"])
def test_other_names_of_the_verdict_are_known(table, write, verdict):
    entry = {"example_abbr": "test_0", "pred": ["1", "2"], verdict: [1, 0]}
    path = write("m/d.json", {"details": [entry]})
    assert table(path)["category"].to_list() == [True, False]


def test_the_dict_of_one_run_is_read(table, write):
    prompt = [{"role": "HUMAN", "prompt": "1 + 1"}, {"role": "BOT", "prompt": ""}]
    entries = {
        str(i): {"prompt": prompt, "predictions": "2", "references": "2", "correct": correct}
        for i, correct in enumerate([True, False])
    }
    entries["2"] = {"prompt": prompt, "predictions": "", "references": "2"}
    path = write("m/d.json", {"accuracy": 50.0, "details": {"type": "GEN", **entries}})
    assert table(path).drop("model", "benchmark").rows() == [
        ("0", 0, True),
        ("1", 0, False),
        ("2", 0, None),
    ]


def test_results_without_details_are_refused(table, write):
    with pytest.raises(ValueError, match=r"d\.json: expected .*--dump-eval-details"):
        table(write("m/d.json", {"accuracy": 50.0}))


def test_the_report_says_what_became_of_lost_verdicts(results, reader, summary):
    with pytest.raises(ValueError, match="2 questions have a missing category"):
        reader(results.parents[1]).avg()
    # The mean of 2/3, 1/3, 1/2 and 1/2, and of 2/3, 1/3, 1/3 and 1/3.
    assert summary(ps.avg(), results, missing="drop") == [(10, 2, 0.5)]
    assert summary(ps.avg(), results, missing=0) == [(12, 0, 0.417)]


def test_predictions_beside_the_results_are_passed_over(results, table, write):
    write("predictions/ada-7b/aime2025.json", {"0": {"prediction": "2", "gold": "2"}})
    assert table(results.parents[2])["model"].unique().to_list() == ["ada-7b"]


def filed(flat, runs):
    """Runs of a file in the order of AISBench's evaluator: a list cut into questions."""
    entries = [flat[start : start + runs] for start in range(0, len(flat), runs)]
    return [
        {
            "example_abbr": f"s_{place}",
            "pred": [answer if correct else "X" for answer, correct in entry],
            "answer": [answer for answer, _ in entry],
            "correct": [correct for _, correct in entry],
        }
        for place, entry in enumerate(entries)
    ]


# The right answers of four questions; two of them are always solved, two never.
SHIFTED = [("A", True), ("B", True), ("C", False), ("D", False)] * 3


def test_runs_under_other_questions_are_regrouped(reader, write):
    path = write("m/toy.json", {"pass@3": 100.0, "details": filed(SHIFTED, 3)})
    said = r"toy\.json: 4 of 4 questions .* of 's_0' differ.* every 4th run"
    with pytest.warns(ps.LogWarning, match=said):
        log = reader(path)
    assert log.frame["question"].to_list() == [f"s_{i}" for i in range(4) for _ in range(3)]
    assert log.frame["category"].to_list() == [True] * 6 + [False] * 6
    report = log.report(ps.pass_at_k(3), ps.pass_hat_k(3))
    assert report["estimate"].to_list() == [0.5, 0.5]


def test_runs_that_no_order_explains_are_refused(table, write):
    flat = [*SHIFTED[1:3], *SHIFTED[:1], *SHIFTED[3:]]
    path = write("m/toy.json", {"details": filed(flat, 3)})
    with pytest.raises(
        ValueError, match=r"the right answers of 's_0' differ, \['\"A\"', .*'\"C\"'\]"
    ):
        table(path)
    lost = filed(SHIFTED, 3)
    del lost[1]["pred"][0], lost[1]["answer"][0], lost[1]["correct"][0]
    with pytest.raises(ValueError, match="runs of several questions under one"):
        table(write("m/toy.json", {"details": lost}))
