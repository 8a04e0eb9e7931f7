import polars as pl
import pytest

METRIC = "pass@k:k=1&n=4"


@pytest.fixture
def details(tmp_path):
    """A detail file: of question c one answer is lost, and d was not scored."""

    def written(run, means=(0.25, 1.0, 0.5, None), answers=(4, 4, 3, 0)):
        columns = {
            "doc": [
                {"query": "Q", "choices": [""], "gold_index": [0], "id": i, "task_name": "aime24"}
                for i in "abcd"
            ],
            "metric": [{METRIC: mean, "pass@k:k=4&n=4": 1.0} for mean in means],
            "model_response": [
                {"input": "Q", "text": ["A"] * n, "output_tokens": [[1]] * n} for n in answers
            ],
        }
        file = tmp_path / f"details/org/ada/{run}/details_aime24_{run}.parquet"
        file.parent.mkdir(parents=True)
        pl.DataFrame(columns).write_parquet(file)
        return file

    return written


def test_means_become_counts_and_lost_answers_are_missing(recipe, details):
    log = recipe.trials(details("2026-01-01T12-00-00"), METRIC)
    assert isinstance(log, pl.LazyFrame)
    names = ["model", "benchmark", "run", "question", "category", "count"]
    assert log.collect_schema().names() == names
    log = log.collect()
    assert log.row(0) == ("org/ada", "aime24", "2026-01-01T12-00-00", "a", 0, 3)
    assert log["category"].to_list() == [0, 1, None] * 4
    assert log["count"].to_list() == [3, 1, 0, 0, 4, 0, 1, 2, 1, 0, 0, 4]


def test_missing_answers_are_an_error_unless_they_are_failures(details, printed):
    file = details("2026-01-01T12-00-00")
    with pytest.raises(SystemExit, match=r"2 questions have a missing category.*--missing drop"):
        printed(file, "--metric", METRIC)
    # As lighteval counts: (1 + 4 + 2 + 0) / 16.
    assert "┆ 0.438" in printed(file, "--metric", METRIC, "--missing", "0")


def test_a_second_run_adds_its_trials(recipe, details):
    for run in ("2026-01-01T12-00-00", "2026-01-02T12-00-00"):
        folder = details(run, (0.25, 1.0, 0.5, 0.0), (4,) * 4).parents[1]
    log = recipe.trials(folder, METRIC)
    assert log.scorio(count="count", by="benchmark").avg().collect()["trials"].to_list() == [32]
    assert log.scorio(count="count", by="run").avg().collect()["trials"].to_list() == [16, 16]
