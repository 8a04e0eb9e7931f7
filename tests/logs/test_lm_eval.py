import polars as pl
import pytest

import polars_scorio as ps
from tests.logs.expected_logs import LOGS, assert_expected, expected_numbers

RUN = "2026-01-01T12-00-00.123456"


def line(document, score, name="exact_match", repeats=1, **fields):
    """One line of samples_<task>_<date>.jsonl."""
    return {
        "doc_id": document,
        "doc": {"question": "1 + 1", "answer": 2},
        "target": "2",
        "arguments": {"gen_args_0": {"arg_0": "Q: 1 + 1", "arg_1": {"until": ["Q:"]}}},
        "resps": [["2"] * repeats],
        "filtered_resps": [["2"] * repeats] if repeats > 1 else ["2"],
        "filter": "none",
        "metrics": [name],
        "doc_hash": "d1",
        "prompt_hash": "p1",
        "target_hash": "t1",
        name: score,
        **fields,
    }


@pytest.fixture
def gsm8k(write):
    scores = {"strict-match": [1.0, 0.0, 0.0], "flexible-extract": [1.0, 1.0, 0.0]}
    lines = [
        line(document, score, filter=name)
        for name, found in scores.items()
        for document, score in enumerate(found)
    ]
    return write(f"out/org__ada/samples_gsm8k_{RUN}.jsonl", *lines)


@pytest.fixture
def humaneval(write):
    lines = [line(0, 0.25, "pass@1", 4), line(1, 1.0, "pass@1", 4), line(2, 1 / 3, "pass@1", 3)]
    return write(f"out/org__ada/samples_humaneval_64_{RUN}.jsonl", *lines)


def test_model_task_and_run_come_from_the_path(reader, gsm8k):
    log = reader(gsm8k).frame
    assert isinstance(log, pl.LazyFrame)
    row = log.drop("run", "source").collect().row(0, named=True)
    assert row == {
        "model": "org__ada",
        "benchmark": "gsm8k",
        "filter": "strict-match",
        "question": 0,
        "trial": RUN,
        "metric": "exact_match",
        "category": 1.0,
    }


def test_the_results_beside_the_samples_know_the_model(table, gsm8k, write):
    write(f"out/org__ada/results_{RUN}.json", {"model_name": "org/ada", "results": {}})
    assert table(gsm8k)["model"].unique().to_list() == ["org/ada"]
    assert table(gsm8k, model="(org__[a-z]+)/")["model"].unique().to_list() == ["org__ada"]


def test_two_filters_are_two_strata_and_never_two_trials(reader, gsm8k):
    report = reader(gsm8k).avg().collect()
    assert report.select("filter", "questions", "trials", pl.col("estimate").round(3)).rows() == [
        ("flexible-extract", 3, 3, 0.667),
        ("strict-match", 3, 3, 0.333),
    ]
    with pytest.raises(ValueError, match="3 questions have the same trial twice"):
        reader(gsm8k, by="benchmark").avg().collect()


def test_a_second_run_adds_trials(reader, gsm8k, write):
    again = [line(document, 1.0, filter="strict-match") for document in range(3)]
    write("out/org__ada/samples_gsm8k_2026-01-02T12-00-00.5.jsonl", *again)
    log = reader(gsm8k.parents[1]).frame.filter(filter="strict-match")
    report = log.scorio(n=2).avg().collect()
    assert report.select("questions", "trials", pl.col("estimate").round(3)).rows() == [
        (3, 6, 0.667)
    ]


def test_truth_values_and_missing_scores_are_read(table, write):
    scores = [True, False, None]
    lines = [line(i, score, "prompt_level_strict_acc") for i, score in enumerate(scores)]
    path = write(f"m/samples_ifeval_{RUN}.jsonl", *lines)
    assert table(path)["category"].to_list() == [1.0, 0.0, None]


def test_repeats_become_trials(table, summary, humaneval):
    log = table(humaneval)
    outcomes = log.group_by("question").agg("category").sort("question")["category"].to_list()
    assert outcomes == [[1, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0]]
    # (1/4 + 1 + 1/3) / 3, the mean that lm-eval prints.
    assert summary(ps.avg(), humaneval) == [(11, 0, 0.528)]


def test_what_a_filter_left_out_is_no_trial(table, write):
    first = line(0, 1.0, repeats=4, filter="first") | {"filtered_resps": ["2"]}
    two = line(0, 0.5, repeats=4, filter="two") | {"filtered_resps": [["2", "3"]]}
    log = table(write(f"m/samples_t_{RUN}.jsonl", first, two))
    assert log.select("filter", "category").rows() == [("first", 1.0), ("two", 1.0), ("two", 0.0)]


def test_the_choices_of_a_question_are_no_repeats(table, write):
    choices = [["-0.1", "False"], ["-0.5", "False"]]
    scored = {"resps": [[choice] for choice in choices], "filtered_resps": choices}
    log = table(write(f"m/samples_t_{RUN}.jsonl", line(0, 1.0, "acc") | scored))
    assert log["category"].to_list() == [1.0]


def test_a_document_that_was_not_scored_has_missing_trials(summary, write):
    path = write(f"m/samples_t_{RUN}.jsonl", line(0, None, "pass@1", 2), line(1, 0.5, "pass@1", 2))
    assert summary(ps.avg(), path, missing=0) == [(4, 0, 0.25)]


def test_a_mean_that_is_no_share_of_the_repeats_is_refused(table, write):
    path = write(f"m/samples_t_{RUN}.jsonl", line(0, 0.6, "pass@1", 4))
    with pytest.raises(ValueError, match="'pass@1' is not the share of right answers"):
        table(path)


def test_tasks_with_other_metrics_have_them_named(table, gsm8k, write):
    both = line(0, 1.0, "acc") | {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0}
    write(f"out/org__ada/samples_arc_{RUN}.jsonl", both)
    with pytest.raises(
        ValueError, match=r"tasks have several metrics: \{'arc': \['acc', 'acc_norm"
    ):
        table(gsm8k.parent)
    with pytest.raises(
        ValueError, match=r"tasks lack the metric 'acc': \{'gsm8k': \['exact_match'"
    ):
        table(gsm8k.parent, metric="acc")
    log = table(gsm8k.parent, metric={"arc": "acc_norm"}).filter(benchmark="arc")
    assert log.select("metric", "category").rows() == [("acc_norm", 0.0)]


def test_a_file_of_another_name_is_refused(table, write):
    with pytest.raises(
        ValueError, match=r"expected samples_<task>_<date>.*found the name 's.jsonl'"
    ):
        table(write("m/s.jsonl", line(0, 1.0)))


@pytest.mark.parametrize("named", ["doc.story.id", pl.col("doc.story.id").str.to_uppercase()])
def test_a_field_of_the_documents_is_the_cluster(reader, write, named):
    lines = [
        line(document, 1.0, doc={"story": {"id": story, "text": "Once."}, "question": "Who?"})
        for document, story in enumerate(["a", "a", "b", "b", "b"])
    ]
    log = reader(write(f"out/org__ada/samples_coqa_{RUN}.jsonl", *lines), cluster=named)
    assert log.frame.collect()["doc.story.id"].to_list() == ["a", "a", "b", "b", "b"]
    assert log.avg().collect().select("questions", "clusters").row(0) == (5, 2)


def test_a_field_that_documents_lack_is_no_cluster(reader, gsm8k):
    with pytest.raises(ValueError, match=r"have a null cluster in 'doc\.passage'"):
        reader(gsm8k, cluster="doc.passage").avg().collect()


def shots(write, date, number, metric=1.0, **fields):
    """A run of one document with so many examples in its prompt."""
    config = {"num_fewshot": number, "generation_kwargs": {"do_sample": False}}
    write(
        f"out/org__ada/results_{date}.json",
        {"model_name": "org/ada", "n-shot": {"gsm8k": number}, "configs": {"gsm8k": config}},
    )
    sample = line(0, metric, prompt_hash=f"p{number}", **fields)
    return write(f"out/org__ada/samples_gsm8k_{date}.jsonl", sample)


def test_runs_with_other_shots_do_not_merge(reader, write):
    shots(write, "2026-01-01T12-00-00.5", 0)
    folder = shots(write, "2026-01-02T12-00-00.5", 5, 0.0).parent
    with pytest.raises(ValueError, match="different settings: n-shot is 0 and 5, num_fewshot is 0"):
        reader(folder)
    report = reader(folder, by=["benchmark", "n-shot"]).avg().collect()
    assert report.select("n-shot", "estimate").rows() == [(0, 1.0), (5, 0.0)]


def test_prompts_tell_runs_apart_where_their_results_are_missing(reader, write):
    for date, number in (("2026-01-01T12-00-00.5", 0), ("2026-01-02T12-00-00.5", 5)):
        folder = shots(write, date, number).parent
        (folder / f"results_{date}.json").unlink()
    with pytest.raises(ValueError, match="prompt_hash of document 0 is 'p0' and 'p5'"):
        reader(folder)


def test_a_run_that_was_moved_is_the_same_run(reader, write):
    shots(write, RUN, 5)
    folder = write(f"out/copy/samples_gsm8k_{RUN}.jsonl", line(0, 1.0), line(1, 1.0)).parent
    write(f"out/copy/results_{RUN}.json", {"model_name": "org/ada"})
    with pytest.raises(ValueError, match=f"are the same run, '{RUN}': they have the same id"):
        reader(folder.parent)


def test_the_results_say_how_many_documents_there_are(reader, write):
    mean = {"metric": "exact_match", "aggregation": "mean"}
    results = {
        "n-samples": {"gsm8k": {"original": 9, "effective": 2}},
        "results": {"gsm8k": {"exact_match,none": 0.5, "exact_match_stderr,none": 0.1}},
        "configs": {"gsm8k": {"metric_list": [mean]}},
    }
    path = write(f"m/samples_gsm8k_{RUN}.jsonl", line(0, 1.0))
    write(f"m/results_{RUN}.json", results)
    with pytest.warns(ps.LogWarning, match="1 of 2 planned trials; the tool reports 0.5, these ro"):
        assert reader(path).avg().collect().height == 1
    # A query that asks for a part of the rows, or a filter of it, says nothing less.
    with pytest.warns(ps.LogWarning, match="1 of 2 planned trials"):
        assert reader(path).frame.filter(question=7).collect().height == 0
    write(f"m/samples_gsm8k_{RUN}.jsonl", line(0, 1.0), line(1, 0.0))
    assert reader(path).describe().collect().select("planned", "reported").row(0) == (2, 0.5)


def test_a_score_that_is_no_mean_is_not_compared(reader, write):
    perplexity = {"metric": "exact_match", "aggregation": "perplexity"}
    results = {
        "results": {"gsm8k": {"exact_match,none": 12.5}},
        "configs": {"gsm8k": {"metric_list": [perplexity]}},
    }
    path = write(f"m/samples_gsm8k_{RUN}.jsonl", line(0, 1.0))
    write(f"m/results_{RUN}.json", results)
    assert "reported" not in reader(path).describe().collect().columns


def test_samples_before_november_2024_have_no_filter(table, write):
    line = {"doc_id": 1, "resps": [["x"]], "filtered_resps": ["x"], "acc": 1.0, "target": "B"}
    path = write("m/samples_t_2024-05-01T00-00-00.0.jsonl", line)
    assert table(path).select("filter", "question", "category").row(0) == ("none", 1, 1.0)


def test_samples_of_lmms_eval_are_read(reader, table, write):
    line = {"doc_id": 0, "target": "B", "filtered_resps": ["B"], "doc_hash": "x", "exact": 1.0}
    path = write("m__ada/20260101_120000_samples_science_qa.jsonl", line, {**line, "doc_id": 1})
    assert table(path).row(0) == (
        *("m__ada", "science_qa", "none", 0, "20260101_120000", "exact", 1.0),
    )
    results = {
        "model_name": "m/ada",
        "date": "20260101_120000",
        "n-samples": {"science_qa": {"effective": 3}},
        "results": {"science_qa": {"exact,none": 0.5}},
    }
    write("m__ada/20260101_120000_results.json", results)
    with pytest.warns(ps.LogWarning, match=r"2 of 3 planned trials; the tool reports 0\.5, these "):
        found = reader(path.parent).describe().collect()
    assert found.select("model", "planned", "reported").rows() == [("m/ada", 3, 0.5)]


def test_a_metric_of_lmms_eval_may_be_part_of_an_object(reader, table, write):
    line = {"doc_id": 0, "filtered_resps": ["B"], "doc": {"x": 1}, "mme": {"id": "a", "score": 1}}
    path = write("m/20260101_120000_samples_mme.jsonl", line, {**line, "doc_id": 1, "mme": None})
    assert table(path).select("metric", "category").rows() == [
        ("mme.score", 1),
        ("mme.score", None),
    ]
    with pytest.raises(ValueError, match=r"lack the metric 'mme': \{'mme': \['mme.score'\]\}"):
        reader(path, metric="mme")
    del line["mme"]
    with pytest.raises(ValueError, match=r"have no number as a metric: \{'mme': \[\]\}"):
        reader(write("m/20260101_120000_samples_mme.jsonl", line))


def test_real_files_of_lmms_eval_give_the_expected_numbers(reader):
    expected = expected_numbers("lmms_eval")
    folder = LOGS / "lmms_eval"
    wanted = "200 of 2,017 planned trials; the tool reports 0.6951, these rows 0.68"
    with pytest.warns(ps.LogWarning, match=wanted):
        assert_expected(lambda **options: reader(folder, **options), expected["rows_kept"])
    with pytest.warns(ps.LogWarning, match=wanted):
        found = reader(folder).describe().collect()
    told = expected["tool"]
    assert found.select("planned", "reported").row(0) == (
        told["planned"],
        pytest.approx(told["exact_match"]),
    )
