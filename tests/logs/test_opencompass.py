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
