import hashlib
import json
import re

import polars as pl
import pytest

import polars_scorio as ps

ABOUT = {"benchmark": "tau", "organization": "ours", "retrieved": 1_760_000_000}
NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json")


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def test_each_model_has_a_record(report, tmp_path):
    bob, ada = ps.to_every_eval_ever(report, tmp_path, **ABOUT)
    assert ada.parent == tmp_path / "data/tau/org/ada"
    assert bob.parent == tmp_path / "data/tau/unknown/bob"
    assert NAME.fullmatch(ada.name)
    record = read(ada)
    assert record["evaluation_id"] == "tau/org/ada/1760000000"
    assert record["model_info"]["developer"] == "org"
    assert len(record["evaluation_results"]) == 4


def test_a_result_has_its_interval(report, tmp_path):
    named = report.with_columns(inference=pl.lit("calibrated"))
    bob, _ = ps.to_every_eval_ever(named, tmp_path, **ABOUT)
    result = read(bob)["evaluation_results"][1]
    row = report.filter(domain="air", model="bob", metric="pass_hat_k").row(0, named=True)
    assert result["evaluation_name"] == "tau / air"
    assert result["metric_config"] == {
        "metric_id": "pass_hat_2", "metric_name": "Pass^2", "lower_is_better": False,
        "score_type": "continuous", "min_score": 0.0, "max_score": 1.0,
        "metric_parameters": {"k": 2},
    }  # fmt: skip
    details = result["score_details"]
    interval = details["uncertainty"]["confidence_interval"]
    assert (details["score"], interval["lower"], interval["upper"]) == (0.5, row["lo"], row["hi"])
    assert interval["confidence_level"] == 0.95
    assert interval["method"] == "calibrated interval of polars-scorio"
    assert details["uncertainty"]["num_samples"] == 4


def test_samples_stand_beside_the_record(report, trials, tmp_path):
    samples = trials.with_columns(score="category", input=pl.lit("1 + 1"))
    files = ps.to_every_eval_ever(report, tmp_path, **ABOUT, samples=samples)
    bob, of_bob, ada, of_ada = files
    lines = [json.loads(line) for line in of_ada.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 8
    assert lines[0]["input"] == {"raw": "1 + 1", "reference": []}
    assert lines[1]["evaluation"] == {"score": 0.0, "is_correct": False}
    detail = read(ada)["detailed_evaluation_results"]
    assert detail["file_path"] == of_ada.relative_to(tmp_path).as_posix()
    assert detail["total_rows"] == 8
    assert detail["checksum"] == hashlib.sha256(of_ada.read_bytes()).hexdigest()
    assert of_bob.name == f"{bob.stem}_samples.jsonl"
    # And back: the reader of this database gives the estimates of the report.
    means = ps.logs.every_eval_ever(tmp_path).avg().collect()
    assert means["estimate"].to_list() == [0.75] * 4


def test_the_same_report_is_the_same_file(report, tmp_path):
    first = ps.to_every_eval_ever(report, tmp_path, **ABOUT)
    assert ps.to_every_eval_ever(report, tmp_path, **ABOUT) == first
    other = ps.to_every_eval_ever(report, tmp_path, **{**ABOUT, "retrieved": 1})
    assert not {*other} & {*first}


def test_what_the_schema_cannot_hold_is_refused(report, trials, tmp_path):
    beyond = trials.scorio(by="domain").pass_at_k(4)
    with pytest.raises(ValueError, match=r"Pass@4 of 'tau / air' has no estimate"):
        ps.to_every_eval_ever(beyond, tmp_path, **ABOUT)
    with pytest.raises(ValueError, match=r"samples= lacks the columns \['score'\]"):
        ps.to_every_eval_ever(report, tmp_path, **ABOUT, samples=trials)
    scored = trials.with_columns(score="category")
    with pytest.raises(ValueError, match="samples= has no trial of the model 'bob'"):
        ps.to_every_eval_ever(report, tmp_path, **ABOUT, samples=scored.filter(model="org/ada"))
    with pytest.raises(ValueError, match="relationship"):
        ps.to_every_eval_ever(report, tmp_path, **ABOUT, relationship="friend")


def test_the_schemas_own_validator_accepts_the_files(report, trials, tmp_path):
    core = pytest.importorskip("every_eval_ever.validator.validation_core")
    samples = trials.with_columns(score="category")
    for file in ps.to_every_eval_ever(report, tmp_path, **ABOUT, samples=samples):
        assert core.check_path_structure(file.relative_to(tmp_path).as_posix()) == []
        assert core.validate_file(file).errors == []


def test_records_say_whether_lower_scores_are_better(report, trials, tmp_path):
    turned, _ = ps.to_every_eval_ever(report, tmp_path, **ABOUT, lower_is_better=True)
    priced = trials.with_columns(usd=pl.lit(0.5)).scorio(by="domain", cost="usd")
    costs, _ = ps.to_every_eval_ever(priced.report(ps.mean_cost()), tmp_path, **ABOUT)
    for file in (turned, costs):
        results = read(file)["evaluation_results"]
        assert {each["metric_config"]["lower_is_better"] for each in results} == {True}
