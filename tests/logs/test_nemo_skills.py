"""The reader of NeMo-Skills."""

import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers


def line(passed, problem="1 + 1", **more):
    return {"problem": problem, "predicted_answer": "2", "symbolic_correct": passed, **more}


@pytest.fixture
def seeds(write):
    """Two seeds of two questions of ada."""
    for seed, outcomes in enumerate([(True, False), (True, True)]):
        lines = [line(outcomes[0]), line(outcomes[1], "2 + 2")]
        path = write(f"ada/eval-results/sums/output-rs{seed}.jsonl", *lines)
    return path.parents[1]


def test_a_question_is_a_line_and_a_trial_a_seed(table, summary, seeds):
    assert table(seeds).drop("score").rows() == [
        ("ada", "sums", "", 0, 0, 1.0),
        ("ada", "sums", "", 1, 0, 0.0),
        ("ada", "sums", "", 0, 1, 1.0),
        ("ada", "sums", "", 1, 1, 1.0),
    ]
    assert summary(ps.pass_hat_k(2), seeds) == [(4, 0, 0.5)]


def test_a_seed_of_fewer_or_of_other_questions_is_refused(reader, seeds, write):
    name = "ada/eval-results/sums/output-rs2.jsonl"
    write(name, line(True))
    with pytest.raises(
        ValueError, match=r"has 2 lines and .*output-rs2\.jsonl 1: a question is its"
    ):
        reader(seeds)
    write(name, line(True, "2 + 2"), line(True))
    with pytest.raises(
        ValueError, match=r"different questions in line 1, \[\"1 \+ 1\", null\] and"
    ):
        reader(seeds)


def test_a_greedy_run_stands_alone(reader, table, seeds, write):
    greedy = write("ada/eval-results/sums/output.jsonl", line(True), line(True, "2 + 2"))
    with pytest.raises(ValueError, match=r"of two runs, of which output\.jsonl is the greedy one"):
        reader(seeds)
    assert table(greedy)["trial"].to_list() == [0, 0]
    left = write("ada/eval-results/sums/output-rs0.jsonl-async", line(True))
    with pytest.raises(ValueError, match="a part of a run, or of one that has not ended"):
        reader(left)
    greedy.unlink()
    write("ada/eval-results/sums/output-rs2_chunk_0.jsonl", line(True))
    assert table(seeds).height == 4


@pytest.mark.parametrize(("fields", "score"), [
    ({"symbolic_correct": False, "judgement": "Judgement: Yes"}, 0.0),
    ({"judgement": "Reasoning: it is 2.\n**Judgement:** Yes"}, 1.0),
    ({"judgement": "no idea"}, 0.0),
    ({"is_correct": True, "is_correct-plus": False}, 0.0),
    ({"is_correct": 0.5}, 0.5),
    ({"graded_list": [True]}, 1.0),
    ({"swe-bench-metrics": {"resolved": True}}, 1.0),
    ({"proof_status": "timeout"}, 0.0),
    ({"strict_eval": {"follow_all_instructions": True}}, 1.0),
    ({"passed": False}, 0.0),
    ({"status": "pass"}, 1.0),
])  # fmt: skip
def test_each_benchmark_has_its_outcome(table, write, fields, score):
    log = table(write("ada/eval-results/b/output-rs7.jsonl", fields, {"problem": "x"}))
    assert log.select("trial", "category").rows() == [(7, score), (7, None)]


def test_a_judge_and_a_rule_may_see_the_same_trials(reader, write):
    lines = [line(passed, judgement="Judgement: Yes") for passed in (True, False)]
    path = write("ada/eval-results/sums/output-rs0.jsonl", *lines)
    log = reader(path, metric="judgement", keep="symbolic_correct").frame
    assert log.select("category", "symbolic_correct").rows() == [(1.0, True), (1.0, False)]
    with pytest.raises(ValueError, match=r"metric must be one of .*got 'judge'"):
        reader(path, metric="judge")
    with pytest.raises(ValueError, match=r"no outcome 'passed' among \['judgement', 'pre"):
        reader(path, metric="passed")


@pytest.mark.parametrize("above", ["sums/", ""])
def test_means_of_all_seeds_are_compared(reader, seeds, write, above):
    means = {"num_entries": 2, "symbolic_correct": 75.0}
    content = {"sums": {"pass@1": means, "pass@1[avg-of-2]": means}}
    content = {"sums-_all_": content["sums"]} if above else content
    write(f"ada/eval-results/{above}metrics.json", content)
    assert reader(seeds).describe().select("planned", "reported").row(0) == (4, 0.75)
    with pytest.warns(ps.LogWarning, match=r"metrics\.json: 2 of 4 planned trials$"):
        reader(seeds / "sums" / "output-rs0.jsonl")
    means["symbolic_correct"] = 50.0
    write(f"ada/eval-results/{above}metrics.json", content)
    with pytest.warns(ps.LogWarning, match=r"the tool reports 0\.5, these rows 0\.75$"):
        reader(seeds)


def test_subsets_have_means_of_their_own(reader, write):
    lines = [line(place < 1, str(place), subset_for_metrics="ab"[place > 0]) for place in range(3)]
    path = write("ada/eval-results/sums/output-rs0.jsonl", *lines)
    write("ada/eval-results/sums/output-rs1.jsonl", *({**each, "x": 1} for each in lines))
    content = {
        f"sums-{subset}": {"pass@1[2]": {"num_entries": number, "symbolic_correct": percent}}
        for subset, number, percent in [("a", 1, 100.0), ("b", 2, 0.0), ("all", 3, 33.3)]
    }
    write("ada/eval-results/metrics.json", content)
    found = reader(path.parent).describe().select("subset", "planned", "reported")
    assert found.rows() == [("a", 2, 1.0), ("b", 4, 0.0)]
    whole = reader(path.parent, by="benchmark").describe().select("planned", "reported").row(0)
    assert whole == (6, pytest.approx(1 / 3))


def test_a_greedy_run_has_its_own_mean(reader, write):
    path = write("ada/eval-results/sums/output.jsonl", line(True), line(False, "2 + 2"))
    seeds = {"num_entries": 2, "symbolic_correct": 99.0}
    means = {"greedy": {"num_entries": 2, "symbolic_correct": 50.0}, "pass@1[avg-of-4]": seeds}
    write("ada/eval-results/metrics.json", {"sums": means})
    assert reader(path).describe().select("planned", "reported").row(0) == (2, 0.5)
    del means["greedy"]
    write("ada/eval-results/metrics.json", {"sums": means})
    assert "planned" not in reader(path).describe().columns


def test_two_folders_are_two_models(table, seeds, write):
    path = write("bob/eval-results/sums/output-rs0.jsonl", line(True), line(True, "2 + 2"))
    assert table([seeds, path])["model"].unique().sort().to_list() == ["ada", "bob"]
    assert table(path, model=r"(\w+)/eval-results")["model"].unique().to_list() == ["bob"]


@pytest.mark.parametrize("benchmark", ["gpqa", "hendrycks_math", "human-eval"])
def test_real_files_give_the_expected_numbers(reader, benchmark):
    part = expected_numbers("nemo_skills")[benchmark]
    folder = LOGS / "nemo_skills" / "eval-results" / benchmark
    assert_expected(lambda **o: reader(folder, **o), part, stratum="subset")
    means = {name: each for name, each in part["tool"].items() if name.startswith("pass@1[")}
    *_, last = means.values()
    name = {"human-eval": "passing_plus_tests"}.get(benchmark, "symbolic_correct")
    told = reader(folder, by="benchmark").describe()
    assert told["reported"].item() == pytest.approx(last[name] / 100)
