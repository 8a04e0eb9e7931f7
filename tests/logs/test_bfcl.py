import pytest

import polars_scorio as ps

FOLDER = "score/ada/non_live"


def failure(name, error):
    """A line of a score file."""
    return {"id": name, "model_name": "ada", "valid": False, "prompt": {"id": name}, **error}


@pytest.fixture
def scores(write):
    totals = {"accuracy": 0.5, "correct_count": 2, "total_count": 4}
    write(
        "result/ada/non_live/BFCL_v4_simple_python_result.json",
        *({"id": f"simple_python_{i}", "result": []} for i in range(4)),
    )
    return write(
        f"{FOLDER}/BFCL_v4_simple_python_score.json",
        totals,
        failure("simple_python_1", {"error": ["..."], "error_type": "simple:wrong_count"}),
        failure("simple_python_3", {"error": {"error_type": "multi_turn:empty_turn"}}),
    )


def test_tests_that_are_no_failures_have_passed(table, scores):
    assert table(scores.parents[2]).rows() == [
        ("ada", "simple_python", "simple_python_0", True, None),
        ("ada", "simple_python", "simple_python_1", False, "simple:wrong_count"),
        ("ada", "simple_python", "simple_python_2", True, None),
        ("ada", "simple_python", "simple_python_3", False, "multi_turn:empty_turn"),
    ]


def test_the_mean_is_that_of_the_tool(summary, scores):
    assert summary(ps.avg(), scores) == [(4, 0, 0.5)]


def test_the_results_are_needed(table, scores):
    (scores.parents[3] / "result/ada/non_live/BFCL_v4_simple_python_result.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"simple_python_result\.json is missing, .*ids of"):
        table(scores)


def test_totals_that_contradict_the_lines_are_refused(table, scores, write):
    lines = scores.read_text(encoding="utf-8").splitlines()
    scores.write_text("\n".join(lines[:2]), encoding="utf-8")
    with pytest.raises(ValueError, match="2 correct and 4 tests, 1 failures, and 4 tests"):
        table(scores)
    write("result/ada/non_live/BFCL_v4_simple_python_result.json", {"id": "simple_python_1"})
    with pytest.raises(ValueError, match=r"1 failures, and 1 tests in .*_result\.json"):
        table(scores)


def test_other_files_are_refused(table, write):
    with pytest.raises(ValueError, match=r"a_score\.json: expected .*lacks 'total_count'"):
        table(write("score/ada/a_score.json", {"accuracy": 1.0}))


def test_two_versions_of_the_tests_do_not_merge(reader, scores, write):
    write("result/bob/BFCL_v3_simple_python_result.json", {"id": "simple_python_9"})
    totals = {"accuracy": 1.0, "correct_count": 1, "total_count": 1}
    write("score/bob/BFCL_v3_simple_python_score.json", totals)
    with pytest.raises(ValueError, match="with different settings: version is '4' and '3'"):
        reader(scores.parents[2], model="ada")
    report = reader(scores.parents[2], model="ada", by=["benchmark", "version"]).avg()
    assert report.select("version", "estimate").rows() == [("3", 1.0), ("4", 0.5)]


def test_the_coverage_has_the_totals(reader, scores):
    found = reader(scores).describe().select("trials", "planned", "reported")
    assert found.row(0) == (4, 4, 0.5)


@pytest.fixture
def of_2024(write):
    """Write a run of 2024, whose failures have the number of a line in the results, from 1."""

    def written(ids, failed, answers=None, prefix="BFCL_v3_"):
        answers = answers or ["f(x)"] * len(ids)
        results = [{"id": i, "result": answer} for i, answer in zip(ids, answers, strict=True)]
        write("result/ada/gorilla_openfunctions_v1_test_simple_result.json", *results)
        totals = {"accuracy": 0.5, "correct_count": len(ids) - len(failed), "total_count": len(ids)}
        lines = [{**failure(i, {"error_type": "e"}), "model_result_raw": "g(x)"} for i in failed]
        return write(f"score/ada/{prefix}simple_score.json", totals, *lines)

    return written


@pytest.mark.parametrize("prefix", ["", "BFCL_v2_", "BFCL_v3_"])
def test_failures_of_2024_count_lines_from_1(table, of_2024, prefix):
    log = table(of_2024([f"simple_{i}" for i in range(4)], [2, 4], prefix=prefix))
    assert log.select("question", "category", "error").rows() == [
        ("simple_0", True, None), ("simple_1", False, "e"),
        ("simple_2", True, None), ("simple_3", False, "e"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("failed", "answers", "solved"),
    [
        ([1, 4], None, ["1", "2"]),  # no id is 4
        ([0, 2], None, ["1", "3"]),  # no line is 0
        ([1, 3], ["g(x)", "f(x)", "g(x)", "f(x)"], ["1", "3"]),  # the answers are those of lines
        ([1, 3], ["f(x)", "g(x)", "f(x)", "g(x)"], ["0", "2"]),
    ],
)
def test_ids_that_are_numbers_are_those_that_fit(table, of_2024, failed, answers, solved):
    log = table(of_2024(range(4), failed, answers))
    assert log.filter("category")["question"].to_list() == solved


def test_ids_that_may_be_lines_as_well_are_refused(table, of_2024):
    said = r"the failures \[1, 3\] may be ids or line numbers from 1 of \[0, 1, 2, 3\]$"
    with pytest.raises(ValueError, match=said):
        table(of_2024(range(4), [1, 3]))
    with pytest.raises(ValueError, match=r"\['x', 'y'\] may be neither ids nor line numbers of"):
        table(of_2024(range(4), ["x", "y"]))


def test_files_of_the_first_version_are_read(table, write):
    write("result/ada/gorilla_openfunctions_v1_test_simple_result.json", {"id": "simple_0"})
    totals = {"accuracy": 1.0, "correct_count": 1, "total_count": 1}
    score = write("score/ada/simple_score.json", totals)
    assert table(score).rows() == [("ada", "simple", "simple_0", True, None)]
    named = score.rename(score.with_name("gorilla_openfunctions_v1_test_simple_score.json"))
    assert table(named)["benchmark"].to_list() == ["simple"]
