import polars as pl
import pytest

import polars_scorio as ps

RUN = "runs/v1/mmlu:subject=anatomy,method=multiple_choice_joint,model=openai_gpt-4o"


def stat(name, mean, split="test"):
    """One stat of an instance."""
    return {"name": {"name": name, "split": split}, "count": 1, "sum": mean, "mean": mean}


def instance(name, mean, trial=0, perturbation=None, split="test"):
    """One entry of per_instance_stats.json."""
    known = [stat("num_references", 4.0, split)]
    of = known if mean is None else [*known, stat("exact_match", mean, split)]
    entry = {"instance_id": name, "train_trial_index": trial, "stats": of}
    return entry | ({"perturbation": {"name": perturbation}} if perturbation else {})


@pytest.fixture
def stats(write):
    entries = [
        instance("id1", 1.0),
        instance("id1", 0.0, trial=1),
        instance("id2", 1.0),
        instance("id2", None, trial=1),
        instance("id1", 0.0, perturbation="typos"),
    ]
    return write(f"{RUN}/per_instance_stats.json", entries)


def test_model_and_benchmark_come_from_the_folder(table, stats):
    log = table(stats)
    assert log.columns == [
        "model", "benchmark", "perturbation", "question", "trial", "category", "score"
    ]  # fmt: skip
    benchmark = "mmlu:subject=anatomy,method=multiple_choice_joint"
    assert log.row(0) == ("openai_gpt-4o", benchmark, "", "id1", 0, 1.0, 1.0)
    assert log["category"].to_list() == [1.0, 0.0, 1.0, None, 0.0]


def test_the_specification_of_the_run_knows_the_model(table, stats, write):
    write(f"{RUN}/run_spec.json", {"name": "mmlu", "adapter_spec": {"model": "openai/gpt-4o"}})
    assert table(stats)["model"].unique().to_list() == ["openai/gpt-4o"]
    write(f"{RUN}/run_spec.json", {"name": "mmlu"})
    with pytest.raises(ValueError, match=r"run_spec\.json: expected .* lacks 'adapter_spec'"):
        table(stats)


def test_perturbed_instances_are_a_stratum(stats, summary):
    assert summary(ps.avg(), stats.parents[1], missing="drop") == [(3, 1, 0.75), (1, 0, 0.0)]


def test_perturbed_copies_are_the_cluster_of_their_instance(table, stats):
    copy = pl.concat_str("question", "perturbation", separator=" / ").alias("copy")
    roles = {"question": copy, "cluster": "question", "missing": "drop"}
    report = table(stats).scorio(by="benchmark", **roles).avg()
    assert report.select("questions", "clusters").row(0) == (3, 2)


def test_a_stat_that_is_not_there_is_named(table, stats):
    with pytest.raises(
        ValueError, match=r"has no stat 'f1': .*\['exact_match', 'num_references'\].*\{'mmlu': "
    ):
        table(stats, metric="f1")
    with pytest.raises(ValueError, match=r"in split='train', of the splits \['test'\]"):
        table(stats, split="train")


def test_only_instances_of_one_split_are_read(table, write):
    both = [instance("id1", 1.0), instance("id2", 0.0, split="valid"), instance("id3", None)]
    path = write("run/per_instance_stats.json", both)
    assert table(path).select("question", "category").rows() == [("id1", 1.0), ("id3", None)]
    assert table(path, split="valid").select("question", "category").rows() == [("id2", 0.0)]
    path = write("run/per_instance_stats.json", [instance("id2", 0.0, split="valid")])
    assert table(path)["category"].to_list() == [0.0]


def test_splits_of_other_names_must_be_named(table, write):
    path = write("run/per_instance_stats.json", [instance("id1", 1.0, split="dev")])
    assert table(path)["category"].to_list() == [1.0]
    both = [instance("id1", 1.0, split="dev"), instance("id2", 0.0, split="train")]
    path = write("run/per_instance_stats.json", both)
    with pytest.raises(ValueError, match=r"in the splits \['dev', 'train'\]: name one with split="):
        table(path)


@pytest.fixture
def scenarios(write):
    """A folder with the runs of two scenarios, which have different stats."""
    f1 = [{**instance("id1", None), "stats": [stat("f1_score", 0.25)]}]
    write("runs/narrative_qa:model=m/per_instance_stats.json", f1)
    both = [instance("id1", 1.0), instance("id2", 0.0, split="valid")]
    return write("runs/mmlu:subject=law,model=m/per_instance_stats.json", both).parents[1]


def test_metric_and_split_may_differ_by_scenario(table, scenarios):
    of = {"metric": {"narrative_qa": "f1_score"}}
    assert dict(table(scenarios, **of).select("benchmark", "category").rows()) == {
        "mmlu:subject=law": 1.0,
        "narrative_qa": 0.25,
    }
    split = {"mmlu:subject=law": "valid"}
    assert table(scenarios, **of, split=split)["category"].to_list() == [0.0, 0.25]


def test_a_dict_with_an_unknown_scenario_is_refused(table, scenarios):
    of = {"narrative_qa": "f1_score", "mmlo": "exact_match"}
    with pytest.raises(ValueError, match=r"metric= names \['mmlo'\].*\['mmlu', 'narrative_qa'\]"):
        table(scenarios, metric=of)


def test_the_specification_has_the_name_of_the_run(table, write):
    path = write("mmlu-subject=law,model=m/per_instance_stats.json", [instance("id1", 1.0)])
    assert table(path)["benchmark"].item() == "mmlu-subject=law"
    spec = {"name": "mmlu:subject=law,model=m", "adapter_spec": {"model": "m"}}
    write("mmlu-subject=law,model=m/run_spec.json", spec)
    assert table(path)["benchmark"].item() == "mmlu:subject=law"


def test_a_threshold_makes_fractions_a_success(table, write):
    path = write("run/per_instance_stats.json", [instance("id1", 0.6), instance("id2", None)])
    assert table(path)["category"].to_list() == [0.6, None]
    assert table(path, threshold=0.5)["category"].to_list() == [True, None]
