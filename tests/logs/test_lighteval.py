import polars as pl
import pytest

import polars_scorio as ps

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


def test_means_become_trials_and_lost_answers_are_missing(reader, details):
    log = reader(details("2026-01-01T12-00-00"), metric=METRIC).frame
    assert isinstance(log, pl.LazyFrame)
    names = ["model", "benchmark", "question", "trial", "category", "run", "source"]
    assert log.collect_schema().names() == names
    log = log.collect()
    assert log.row(0)[:5] == ("org/ada", "aime24", "a", "2026-01-01T12-00-00/0", 1.0)
    outcomes = log.group_by("question").agg("category").sort("question")["category"].to_list()
    assert outcomes == [[1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, None], [None] * 4]


def test_missing_answers_are_an_error_unless_they_are_failures(details, reader, summary):
    file = details("2026-01-01T12-00-00")
    with pytest.raises(ValueError, match=r"2 questions have a missing category"):
        reader(file, metric=METRIC).avg().collect()
    # As lighteval counts: (1 + 4 + 2 + 0) / 16.
    assert summary(ps.avg(), file, metric=METRIC, missing=0) == [(16, 0, 0.438)]


def test_a_second_run_adds_its_trials(details, summary):
    for run, mean in (("2026-01-01T12-00-00", 0.25), ("2026-01-02T12-00-00", 0.75)):
        folder = details(run, (mean, 1.0, 0.5, 0.0), (4,) * 4).parents[1]
    assert summary(ps.avg(), folder, metric=METRIC) == [(32, 0, 0.5)]


def test_one_of_several_metrics_has_to_be_named(details, table):
    file = details("2026-01-01T12-00-00")
    with pytest.raises(ValueError, match=r"parquet has the metrics \['pass@k:k=1.*metric="):
        table(file)
    with pytest.raises(ValueError, match=r"and not 'acc': name one with metric="):
        table(file, metric="acc")


def test_a_file_that_is_broken_off_is_refused(details, table):
    file = details("2026-01-01T12-00-00")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"details_aime24.*parquet: expected .*no whole Parquet"):
        table(file)


def test_two_trees_of_details_are_two_models(details, table, tmp_path):
    file = details("2026-01-01T12-00-00")
    copy = tmp_path / "later" / file.relative_to(tmp_path)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(file.read_bytes())
    models = table(tmp_path, metric=METRIC)["model"].unique().sort().to_list()
    assert models == ["later/details/org/ada", f"{tmp_path.name}/details/org/ada"]


def test_runs_with_other_settings_do_not_merge(reader, details, write):
    for run, temperature in {"2026-01-01": 0.0, "2026-01-02": 1.0}.items():
        file = details(run, means=(0.25, temperature, 0.5, None))
        settings = {"generation_parameters": {"temperature": temperature}, "cache_dir": run}
        write(f"results/org/ada/results_{run}.json", {"config_general": {"model_config": settings}})
    folder, name = file.parents[1], "model_config.generation_parameters.temperature"
    with pytest.raises(ValueError, match=rf"with different settings: {name} is 0\.0 and 1\.0\."):
        reader(folder, metric=METRIC)
    log = reader(folder, metric=METRIC, by=["benchmark", name]).frame.collect()
    assert log[name].unique().sort().to_list() == [0.0, 1.0]
    write("results/org/ada/results_2026-01-01.json", {"config": 3})
    with pytest.raises(ValueError, match=r"results_2026-01-01\.json: expected .* of lighteval"):
        reader(folder, metric=METRIC)
