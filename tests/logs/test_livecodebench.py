import pytest

import polars_scorio as ps

NAME = "Scenario.codegeneration_2_0.2_eval_all.json"


def problem(name, graded, difficulty="easy"):
    """One entry of a file."""
    return {
        "question_id": name,
        "question_content": "...",
        "graded_list": graded,
        "difficulty": difficulty,
        "platform": "leetcode",
        "contest_date": "2023-08-21T00:00:00",
        "pass@1": sum(graded) / len(graded),
    }


@pytest.fixture
def problems(write):
    return write(
        f"output/ada/{NAME}", [problem("1", [True, False]), problem("2", [False] * 2, "hard")]
    )


def test_each_program_is_a_trial(table, problems):
    log = table(problems)
    assert log.row(0) == ("ada", "1", 0, True, "easy", "leetcode", "2023-08-21T00:00:00")
    assert log["category"].to_list() == [True, False, False, False]


def test_difficulty_may_be_a_stratum(reader, problems):
    report = reader(problems, by="difficulty").pass_at_k(2)
    assert report.select("difficulty", "estimate").rows() == [("easy", 1.0), ("hard", 0.0)]


def test_a_file_of_another_name_is_its_model(table, write):
    path = write("runs/ada_eval_all.json", [problem("1", [True])])
    assert table(path)["model"].to_list() == ["ada"]


def test_two_settings_of_a_model_are_no_more_trials(table, problems, write):
    write("output/ada/Scenario.codegeneration_2_0.8_eval_all.json", [problem("1", [True])])
    with pytest.raises(ValueError, match="would both be the model 'ada'"):
        table(problems.parent)


def test_the_name_of_a_file_has_its_settings(reader, write):
    for run, temperature in {"a": 0.2, "b": 0.8}.items():
        name = f"Scenario.codegeneration_1_{temperature}_eval_all.json"
        path = write(f"{run}/ada/{name}", [problem("1", [run == "a"])])
    with pytest.raises(ValueError, match=r"'ada', with different settings: temperature is '0\.2'"):
        reader(path.parents[2], model="ada")
    strata = reader(path.parents[2], model="ada", by="temperature").avg()
    assert strata.select("temperature", "estimate").rows() == [("0.2", 1.0), ("0.8", 0.0)]


def test_a_file_says_how_many_programs_there_are_and_what_they_achieve(reader, write, problems):
    wanted = reader(problems).describe().select("trials", "planned", "reported").row(0)
    assert wanted == (4, 4, 0.25)
    cut = {**problem("1", [True, False]), "graded_list": [True]}
    with pytest.warns(ps.LogWarning, match="1 of 2 planned .* reports 0.5, these rows 1$"):
        reader(write(f"output/ada/{NAME}", [cut]))


def test_the_mean_is_that_of_the_tool(summary, problems):
    assert summary(ps.avg(), problems) == [(4, 0, 0.25)]


def test_fields_of_problems_are_kept(table, problems):
    log = table(problems, keep=["question_content", "pass@1"])
    assert log.select("question_content", "pass@1").row(0) == ("...", 0.5)
    assert log["pass@1"].to_list() == [0.5, 0.5, 0.0, 0.0]
