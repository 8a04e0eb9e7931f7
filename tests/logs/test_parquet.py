"""The columns of Parquet files, without reading their rows."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.files import kept_struct_fields, parquet_columns


def test_columns_are_those_of_the_file(tmp_path):
    pl.DataFrame({"step": [1], "prompt": ["x"]}).write_parquet(tmp_path / "a.parquet")
    schema = parquet_columns(tmp_path / "a.parquet", "completions")
    assert schema == {"step": pl.Int64, "prompt": pl.String}


def test_files_without_rows_or_of_another_format_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame(schema={"step": pl.Int64}).write_parquet(path)
    with pytest.raises(ValueError, match="expected completions, found no row"):
        parquet_columns(path, "completions")
    path.write_text("step\n1\n")
    with pytest.raises(ValueError, match="expected completions, found no whole Parquet file"):
        parquet_columns(path, "completions")


def test_a_path_leads_into_structs():
    dtype = pl.Struct({"b": pl.Struct({"c": pl.String}), "d": pl.Int64})
    schema = pl.Schema({"a": dtype, "x.y": pl.Int64})
    row = pl.DataFrame({"a": [{"b": {"c": "t"}, "d": 1}], "x.y": [2]}, schema=schema)
    assert row.select(**kept_struct_fields(["a.b.c", "a.d", "x.y"], schema)).row(0) == ("t", 1, 2)
    for wrong in ("z", "a.z", "a.d.z"):
        with pytest.raises(ValueError, match=rf"no field '{wrong}', which keep= asks for: its col"):
            kept_struct_fields(wrong, schema)


def test_readers_of_parquet_keep_fields(tmp_path):
    completions = {"step": 1, "prompt": "p", "completion": "c", "acc": 1.0, "advantage": 0.5}
    path = tmp_path / "completions_1.parquet"
    pl.DataFrame(completions).write_parquet(path)
    log = ps.logs.trl(path, keep=["completion", "advantage"]).frame.collect()
    assert log.select("completion", "advantage").row(0) == ("c", 0.5)
    answers = {
        "doc": {"task_name": "t", "id": "1", "query": "q"},
        "metric": {"avg@n:n=2": 0.5},
        "model_response": {"text": ["a", "b"]},
    }
    path = tmp_path / "details" / "m" / "1" / "details_t_1.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame([answers]).write_parquet(path)
    trials = ps.logs.lighteval(path, keep="doc.query").frame.collect()
    assert trials.select("category", "doc.query").rows() == [(1.0, "q"), (0.0, "q")]
