"""The reader of evalscope."""

import polars as pl
import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers

CONFIG = """\
dataset_args:
  math:
    few_shot_num: 0
  other:
    few_shot_num: 5
generation_config:
  batch_size: {batch}
  temperature: {temperature}
limit: null
model_id: ada
repeats: 2
"""


def review(index, value, generation=None, status="success", **score):
    """A line of a file of reviews."""
    sample = {
        "score": {"value": value, "status": status, **score},
        "sample_id": index,
        "group_id": index // 2,
        "sample_metadata": {"level": index // 2},
    }
    if generation is not None:
        sample["generation_index"] = generation
    return {"index": index, "messages": ["long"], "sample_score": sample}


def report(score, aggregation="mean", name="accuracy", **execution):
    """A report of one benchmark."""
    identity = {"name": name, "aggregation": aggregation, "dimensions": {}}
    summary = {"requested": execution.pop("requested", None), "subsets": execution}
    return {
        "model_name": "ada",
        "metrics": [{"identity": identity, "score": score}],
        "execution_summary": summary,
    }


@pytest.fixture
def work(write):
    """A run of two questions, two generations each, one of which failed."""

    def written(*lines, of=None, folder="20260101_120000", batch=1, temperature=0):
        path = write(f"{folder}/reviews/ada/math_all.jsonl", *lines)
        write(f"{folder}/reports/ada/math.json", of or report(2 / 3, all={"requested": 4}))
        config = path.parents[2] / "configs" / "task_config.yaml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(CONFIG.format(batch=batch, temperature=temperature))
        return path.parents[2]

    return written


SAMPLES = [review(0, {"acc": 1.0}, 0), review(3, {"acc": 0.0}, 1), review(2, {"acc": True}, 0)]


def test_a_generation_without_a_line_is_a_missing_trial(reader, work):
    log = reader(work(*SAMPLES, of=report(2 / 3, requested=4, all={"requested": 4})))
    found = log.frame.select("benchmark", "subset", "question", "trial", "category", "status")
    assert found.rows() == [
        ("math", "all", "all/0", 0, 1.0, "success"),
        ("math", "all", "all/1", 1, 0.0, "success"),
        ("math", "all", "all/1", 0, 1.0, "success"),
        ("math", "all", "all/0", 1, None, "errored"),
    ]
    with pytest.raises(ValueError, match="1 question has a missing category"):
        log.avg()
    coverage = reader(work(*SAMPLES), missing=0).describe()
    assert coverage.select("model", "reported").row(0) == ("ada", pytest.approx(2 / 3))


def test_a_question_that_failed_as_a_whole_is_known_from_the_plan(summary, work):
    folder = work(*SAMPLES, of=report(2 / 3, requested=6, all={"requested": 6}))
    assert summary(ps.avg(), folder, missing=0) == [(6, 0, 0.333)]


def test_a_plan_that_the_rows_do_not_reach_is_said(reader, work):
    with pytest.warns(ps.LogWarning, match=r"math_all\.jsonl: 4 of 9 planned trials; .* 0\.5, the"):
        reader(work(*SAMPLES, of=report(0.5, requested=9)))


def test_a_plan_out_of_proportion_is_refused(reader, work):
    wanted = "found 3 of 100,000 planned generations"
    with pytest.raises(ValueError, match=wanted):
        reader(work(*SAMPLES, of=report(1, all={"requested": 100_000})))


def test_samples_of_2025_have_no_number_of_a_generation(table, write):
    lines = [review(index, {"acc": 1.0}) for index in (1, 0, 2)]
    log = table(write("w/reviews/ada/math_all.jsonl", *lines))
    assert log.select("benchmark", "question", "trial", "category").rows() == [
        ("math_all", "/0", 1, 1.0),
        ("math_all", "/0", 0, 1.0),
        ("math_all", "/1", 0, 1.0),
        ("math_all", "/1", 1, None),
    ]


def test_the_longest_name_of_a_report_is_the_benchmark(table, write):
    path = write("w/reviews/ada/math_500_Level 1.jsonl", review(0, {"acc": 1.0}))
    for name in ("math", "math_500", "math_500_Lev"):
        write(f"w/reports/ada/{name}.json", report(1.0))
    assert table(path).select("benchmark", "subset").row(0) == ("math_500", "Level 1")


def test_the_main_score_counts_unless_another_is_named(reader, table, write):
    both = {"strict": 0.0, "loose": 1.0}
    name = "w/reviews/ada/ifeval_all.jsonl"
    assert table(write(name, review(0, both)))["category"].to_list() == [0.0]
    path = write(name, review(0, {}, status="excluded"), review(1, both, main_score_name="loose"))
    assert table(path)["category"].to_list() == [None, 1.0]
    for metric in ("strict", {"ifeval_all": "strict"}):
        assert table(path, metric=metric)["category"].to_list() == [None, 0.0]
    with pytest.raises(
        ValueError, match=r"without the score 'f1': they have \['strict', 'loose'\]"
    ):
        reader(path, metric="f1")
    with pytest.raises(ValueError, match=r"without a score: they have \[\]"):
        reader(write(name, review(0, {})))


def test_a_score_that_is_not_usable_is_missing(table, write):
    lines = [review(i, {"acc": 0.5}, status=s) for i, s in enumerate(["fallback", "judge_error"])]
    log = table(write("w/reviews/ada/m_all.jsonl", *lines), threshold=0.5)
    assert log.select("category", "score").rows() == [(True, 0.5), (None, None)]


def test_a_sample_that_is_logged_twice_is_refused(reader, write):
    path = write("w/reviews/ada/math_all.jsonl", *SAMPLES, SAMPLES[1])
    with pytest.raises(
        ValueError, match=r"the sample 3 twice, in lines 2 and 4: a run was resumed"
    ):
        reader(path)


def test_bayes_at_n_is_the_published_posterior_mean(reader, work):
    lines = [review(i, {"accuracy": float(i > 0)}, i % 2) for i in range(4)]
    log = reader(work(*lines, of=report(0.625, "bayes_at_n", requested=4)))
    assert log.describe().select("reported", "recomputed").rows() == [(0.625, 0.625)]
    assert log.bayes(prior="uniform")["mu"].to_list() == [0.625]
    with pytest.warns(ps.LogWarning, match=r"the tool reports 0\.75, these rows 0\.625"):
        other = reader(work(*lines, of=report(0.75, "bayes_at_n", requested=4)))
    assert other.describe().select("reported", "recomputed").rows() == [(0.75, 0.625)]


def test_runs_with_other_settings_do_not_merge(reader, work):
    work(*SAMPLES, batch=1)
    folder = work(*SAMPLES[1:], folder="20260102_120000", batch=8, of=report(0.5))
    with pytest.raises(ValueError, match="same trial twice"):
        reader(folder.parent, missing=0).avg()
    work(*SAMPLES[:2], folder="20260102_120000", temperature=1)
    with pytest.raises(ValueError, match=r"generation_config\.temperature is '0' and '1'\."):
        reader(folder.parent)


def test_predictions_have_no_scores(reader, write):
    path = write("w/predictions/ada/math_all.jsonl", {"index": 0, "model_output": {}})
    with pytest.raises(ValueError, match="lacks 'sample_score' in line 1"):
        reader(path.parent)
    write("w/reviews/ada/math_all.jsonl", review(0, {"acc": 1.0}))
    assert reader(path.parents[2]).frame.height == 1


def test_a_report_of_another_kind_is_refused(reader, work):
    with pytest.raises(
        ValueError, match=r"math\.json: expected .* with metrics, found a list of 1"
    ):
        reader(work(*SAMPLES, of=[1]))
    with pytest.raises(ValueError, match=r"math\.json: expected .* lacks 'name'"):
        reader(work(*SAMPLES, of={"metrics": [{"score": 1.0}]}))
    with pytest.raises(ValueError, match=r"the score 'acc' is 'high'"):
        reader(work(review(0, {"acc": "high"})))
    battle = review(0, {"score": 1.0}, metadata={"battle_result": {"games": []}})
    with pytest.raises(
        ValueError, match=r"in line 1 \(a battle of two models, which is not an outcome"
    ):
        reader(work(battle))
    with pytest.raises(ValueError, match=r"in line 1 \(the value is 3\)"):
        reader(work(review(0, 3)))


@pytest.mark.parametrize("name", ["complete", "errored", "v1_2025"])
def test_real_files_give_the_expected_numbers(reader, name):
    part = expected_numbers("evalscope")[name]
    folder = LOGS / "evalscope" / name
    assert_expected(lambda **o: reader(folder, **o), part, absent=len(part.get("absent", ())))
    log = reader(folder, missing="drop")
    told = dict(log.describe().select("model", "reported").rows())
    if name == "errored":
        micro = part["groups"][0]["micro_drop"]
        assert told == {"mock-c": pytest.approx(micro, abs=1e-4)}
        missing = log.frame.filter(pl.col("category").is_null())
        assert missing.select("question", "trial").rows() == [
            (f"mini/{group}", trial) for group, trial in part["absent"]
        ]
        assert reader(folder, missing=0).avg()["estimate"].to_list() == [pytest.approx(0.65)]
    else:
        assert told == part["tool"]
