import polars as pl
import pytest

RUN = "2026-01-01T12-00-00.123456"


def line(document, score, name="exact_match", repeats=1, **fields):
    """One line of samples_<task>_<date>.jsonl."""
    return {
        "doc_id": document,
        "doc": {"question": "1 + 1", "answer": 2},
        "target": "2",
        "arguments": {"gen_args_0": {"arg_0": "Q: 1 + 1", "arg_1": {"until": ["Q:"]}}},
        "resps": [["2"] * repeats],
        "filtered_resps": ["2"],
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


def test_model_task_and_run_come_from_the_path(recipe, gsm8k):
    log = recipe.trials(gsm8k)
    assert isinstance(log, pl.LazyFrame)
    row = log.collect().row(0, named=True)
    assert row == {
        "model": "org__ada",
        "benchmark": "gsm8k",
        "filter": "strict-match",
        "question": 0,
        "trial": RUN,
        "category": 1.0,
    }


def test_two_filters_are_two_strata_and_never_two_trials(recipe, gsm8k, printed):
    report = recipe.trials(gsm8k).scorio(by=("benchmark", "filter")).avg().collect()
    assert report.select("filter", "questions", "trials", pl.col("mu").round(3)).rows() == [
        ("flexible-extract", 3, 3, 0.667),
        ("strict-match", 3, 3, 0.333),
    ]
    with pytest.raises(ValueError, match="3 questions have the same trial twice"):
        recipe.trials(gsm8k).scorio(by="benchmark").avg().collect()
    assert "flexible" not in printed(gsm8k.parents[1], "--filter", "strict-match")


def test_a_second_run_adds_trials(recipe, gsm8k, write):
    again = [line(document, 1.0, filter="strict-match") for document in range(3)]
    write("out/org__ada/samples_gsm8k_2026-01-02T12-00-00.5.jsonl", *again)
    log = recipe.trials(gsm8k.parents[1]).filter(filter="strict-match")
    report = log.scorio(n=2).avg().collect()
    assert report.select("questions", "trials", pl.col("mu").round(3)).rows() == [(3, 6, 0.667)]


def test_truth_values_and_missing_scores_are_read(recipe, write):
    scores = [True, False, None]
    lines = [line(i, score, "prompt_level_strict_acc") for i, score in enumerate(scores)]
    path = write(f"m/samples_ifeval_{RUN}.jsonl", *lines)
    log = recipe.trials(path, "prompt_level_strict_acc").collect()
    assert log["category"].to_list() == [1.0, 0.0, None]


def test_repeats_become_counts(recipe, humaneval, printed):
    log = recipe.repeats(humaneval).collect().sort("question", "category", nulls_last=True)
    assert log["count"].to_list() == [3, 1, 0, 0, 4, 0, 2, 1, 0]
    assert log["category"].to_list() == [0, 1, None] * 3
    # (1/4 + 1 + 1/3) / 3, the mean that lm-eval prints.
    assert "┆ 0.528" in printed(humaneval, "--repeats", "--metric", "pass@1")


def test_a_document_that_was_not_scored_has_missing_trials(recipe, write):
    path = write(f"m/samples_t_{RUN}.jsonl", line(0, None, "pass@1", 2), line(1, 0.5, "pass@1", 2))
    log = recipe.repeats(path).scorio(count="count", by="benchmark", missing=0)
    assert log.avg().collect().select("trials", "estimate").rows() == [(4, 0.25)]


def test_a_mean_that_is_no_share_of_the_repeats_is_refused(recipe, write):
    path = write(f"m/samples_t_{RUN}.jsonl", line(0, 0.6, "pass@1", 4))
    with pytest.raises(ValueError, match="null or negative counts"):
        recipe.repeats(path).scorio(count="count").avg().collect()
