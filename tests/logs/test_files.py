"""Logs in files of several formats, by name, folder and glob."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.logs.files import kept_struct_fields, parquet_columns, scan_files
from tests.made_logs import long

LOG = long([[0, 1], [1, 1]])
WRITERS = {
    "log.parquet": pl.DataFrame.write_parquet,
    "log.csv": pl.DataFrame.write_csv,
    "log.tsv": lambda log, path: log.write_csv(path, separator="\t"),
    "log.json": pl.DataFrame.write_json,
    "log.jsonl": pl.DataFrame.write_ndjson,
    "LOG.NDJSON": pl.DataFrame.write_ndjson,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_the_same_log(tmp_path, name):
    WRITERS[name](LOG, tmp_path / name)
    assert_frame_equal(scan_files([str(tmp_path / name)]).collect(), LOG)


def test_folders_and_globs_hold_several_files(tmp_path):
    (tmp_path / "deep").mkdir()
    LOG.write_parquet(tmp_path / "a.parquet")
    LOG.write_parquet(tmp_path / "deep" / "b.parquet")
    (tmp_path / "notes.txt").write_text("nothing of it")
    assert scan_files([str(tmp_path)]).collect().height == 8
    assert scan_files([str(tmp_path / "*.parquet")]).collect().height == 4
    assert scan_files([str(tmp_path / "**" / "b.parquet")]).collect().height == 4


def test_arrays_of_json_are_tables_where_they_are_named(tmp_path):
    named = tmp_path / "log.json"
    named.write_text('[{"reward": NaN, "step": 1}, {"reward": 0.5}]')
    log = scan_files(named).collect()
    assert (log["step"].to_list(), log["reward"].is_nan().sum()) == ([1, None], 1)
    LOG.write_parquet(tmp_path / "a.parquet")
    assert_frame_equal(scan_files(tmp_path).collect(), LOG)
    for text, found in (
        ('{"a": 1}', "an object with the keys"),
        ("[1]", "a list of 1"),
        ("[", "no J"),
    ):
        named.write_text(text)
        with pytest.raises(
            ValueError, match=rf"log\.json: expected a JSON array .*found .*{found}"
        ):
            scan_files(named)
    with pytest.raises(ValueError, match="download it, as an array is read whole"):
        scan_files("s3://bucket/log.json")


def test_files_that_cannot_be_one_log_are_refused(tmp_path):
    LOG.write_parquet(tmp_path / "a.parquet")
    LOG.write_csv(tmp_path / "a.csv")
    (tmp_path / "a.txt").write_text("nothing of it")
    with pytest.raises(
        ValueError, match=r"several formats, \['.csv', '.parquet'\]: if they are one"
    ):
        scan_files([str(tmp_path)])
    with pytest.raises(ValueError, match=r"a.txt is none of .parquet, .csv"):
        scan_files([str(tmp_path / "a.txt")])
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        scan_files([str(tmp_path / "b.parquet")])


@pytest.mark.parametrize(("name", "content"), [("a.csv", b"\n"), ("a.parquet", b"no table")])
def test_a_file_that_is_no_table_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}: no table of the format {name[1:]}: "):
        scan_files([tmp_path / name])


def test_parts_of_a_log_may_be_of_several_formats(tmp_path):
    for (name, write), model in zip(WRITERS.items(), "abcdef", strict=True):
        write(LOG.with_columns(model=pl.lit(model)), tmp_path / name)
    joined = scan_files([tmp_path / name for name in WRITERS]).collect()
    expected = [LOG.with_columns(model=pl.lit(model)) for model in "abcdef"]
    assert_frame_equal(joined, pl.concat(expected), check_row_order=False)
    assert scan_files([tmp_path / "*.csv", tmp_path / "log.parquet"]).collect().height == 8


def test_parts_of_several_formats_have_the_same_columns(tmp_path):
    csv, lines, parquet = (tmp_path / f"a.{ending}" for ending in ("csv", "jsonl", "parquet"))
    LOG.write_csv(csv)
    LOG.select(*reversed(LOG.columns)).with_columns(pl.col("category") == 1).write_ndjson(lines)
    joined = scan_files([csv, lines]).collect()
    assert (joined.columns, joined["category"].dtype) == (LOG.columns, pl.Int64)
    assert joined["category"].sum() == 6
    LOG.with_columns(step=1).write_parquet(parquet)
    with pytest.raises(ValueError, match=r"\.csv and \.parquet differ in the columns \['step'\]"):
        scan_files([csv, parquet])
    LOG.with_columns(pl.format("q{}", "question").alias("question")).write_parquet(parquet)
    with pytest.raises(ValueError, match=r"question is Int64 in the files of \.csv and String in"):
        scan_files([csv, parquet])


def test_what_polars_reads_from_elsewhere_is_left_to_polars(monkeypatch):
    asked = []
    monkeypatch.setattr(pl, "scan_ndjson", lambda urls: asked.append(urls) or LOG.lazy())
    assert_frame_equal(scan_files("hf://datasets/a/b/log.jsonl.gz").collect(), LOG)
    assert asked == [["hf://datasets/a/b/log.jsonl.gz"]]
    with pytest.raises(ValueError, match=r"log\.txt is none of"):
        scan_files("s3://bucket/log.txt")
    with pytest.raises(
        ValueError, match=r"memory://log\.csv is not on this .*: download it\. Polars"
    ):
        scan_files("memory://log.csv")


# The columns of Parquet files, without reading their rows.


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
