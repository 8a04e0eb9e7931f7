"""Lines that are read lazily, with errors that name the file and the line."""

import gzip
import io
import json
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_scorio.logs import json_files
from polars_scorio.logs.inspect_ai import slim_sample
from polars_scorio.logs.json_files import (
    FileRows,
    describe_content,
    errors_name_file,
    kept_line_fields,
    parse_json,
    read_json,
    run_table,
    scan_lines,
)
from polars_scorio.logs.kept_fields import json_text, text_number
from polars_scorio.logs.reader_options import read_rows
from polars_scorio.logs.runs import Run

SCHEMA = {"task": pl.String, "reward": pl.Float64}
COLUMNS = {"question": pl.col("task"), "reward": pl.col("reward") * 2}


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [json.dumps({"task": f"t{i % 3}", "reward": i, "more": "x" * 50}) for i in range(5_000)]
    path.write_text("\n".join(rows))
    return path


def scan(path):
    return scan_lines(path, "lines of ours", SCHEMA, COLUMNS)


def test_a_scan_is_that_of_polars(lines):
    expected = pl.scan_ndjson(lines, schema=SCHEMA).select(**COLUMNS)
    assert scan(lines).collect_schema() == expected.collect_schema()
    assert_frame_equal(scan(lines).collect(), expected.collect())
    some = pl.col("question") == "t1"
    assert_frame_equal(
        scan(lines).filter(some).select("reward").head(3).collect(),
        expected.filter(some).select("reward").head(3).collect(),
    )
    assert scan(lines).select(pl.len()).collect().item() == 5_000
    both = pl.concat([scan(lines), scan(lines)])
    assert both.group_by("question").len().collect()["len"].sum() == 10_000


@pytest.mark.skipif(pl.__version__ < "2", reason="older Polars reads the files at once")
def test_nothing_is_read_before_a_query_is_collected(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("no JSON")
    scan(path).filter(pl.col("reward") > 0)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"task": "t", "rew', r"no JSON in line 3000 \("),
        ('{"task": "t", "reward": NaN}', r"something else in line 3000 \(.*TapeError"),
        ('{"task": "t", "reward": "high"}', r"something else in line 3000 \(cannot parse 'high'"),
        ("[1]", "a list of 1 in line 3000"),
    ],
)
def test_an_error_names_file_and_line(lines, line, found, compressed):
    rows = lines.read_text().splitlines()
    rows[2_999] = line
    text = "\n".join(rows)
    if compressed:
        lines = lines.with_suffix(".jsonl.gz")
        lines.write_bytes(gzip.compress(text.encode()))
    else:
        lines.write_text(text)
    with pytest.raises(ValueError, match=rf"{lines.name}: expected lines of ours, found {found}"):
        scan(lines).group_by("question").agg(pl.col("reward").sum()).collect()


def test_an_error_of_the_query_is_not_blamed_on_the_file(lines):
    query = scan(lines).filter(pl.col("question").cast(pl.Int64) > 0)
    with pytest.raises(pl.exceptions.InvalidOperationError, match="conversion"):
        query.collect()


HALF = json.dumps({"task": "\ud800", "reward": 1.0})


@pytest.mark.parametrize("compressed", [False, True])
def test_half_of_a_surrogate_pair_is_refused_with_its_line(lines, compressed):
    rows = lines.read_text().splitlines()
    rows[2_999] = HALF
    text = "\n".join(rows)
    if compressed:
        lines = lines.with_suffix(".jsonl.gz")
        lines.write_bytes(gzip.compress(text.encode()))
    else:
        lines.write_text(text)
    found = (
        rf"{lines.name}: expected lines of ours, found half of a surrogate .* 'task' of line 3000"
    )
    with pytest.raises(ValueError, match=found):
        scan(lines).group_by("question").len().collect()


def test_characters_are_no_half_pairs(tmp_path):
    path = tmp_path / "a.jsonl"
    # NUL itself, and a smiley that JSON writes as a pair; half a pair where nothing is read.
    tasks = [json.dumps({"task": task, "text": "\ud800"}) for task in ("\0", "\U0001f600")]
    path.write_text("\n".join(tasks))
    assert scan(path).collect()["question"].to_list() == ["\0", "\U0001f600"]


def test_more_files_than_threads_are_read(tmp_path):
    paths = [tmp_path / f"{number}.jsonl" for number in range(2 * pl.thread_pool_size())]
    for path in paths:
        path.write_text('{"task": "t", "reward": 1.0}')
    read = pl.concat([scan(path) for path in paths]).collect()
    assert read["reward"].sum() == 2 * len(paths)


def test_files_may_be_read_at_once(lines, monkeypatch):
    expected = scan(lines).collect()
    monkeypatch.setattr("polars_scorio.logs.json_files.NESTS", False)
    assert_frame_equal(scan(lines).collect(), expected)


@pytest.mark.parametrize("packed", [False, True])
def test_a_field_with_two_values_is_refused(lines, packed):
    rows = lines.read_text().splitlines()
    rows[4_711] = '{"reward": 1, "task": "t0", "reward": 0}'
    lines.write_text("\n\n".join(rows))
    if packed:
        lines = lines.with_name("a.jsonl.gz")
        lines.write_bytes(gzip.compress("\n\n".join(rows).encode()))
    said = "two values of the key 'reward' in line 9423"
    if not json_files.NESTS:  # old versions of Polars read all fields at once
        with pytest.raises(ValueError, match=said):
            scan(lines)
        return
    twice = scan(lines)
    for _ in range(2):
        with pytest.raises(Exception, match=said):
            twice.select("reward").collect()
    assert twice.select("question").collect().height == 5_000


def test_a_field_that_is_named_twice_with_one_value_or_in_another_object_is_read(lines):
    rows = ['{"task": "t0", "reward": 1, "of": {"reward": 0}}', '{"reward": 1, "reward": 1.0}']
    lines.write_text("\n".join([*rows, '{"task": "\\"reward\\": 1, \\"reward\\"", "reward": 1}']))
    assert scan(lines).collect()["reward"].to_list() == [2, 2, 2]


def test_objects_in_lines_have_no_key_twice(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"score": {"value": 1}}\n{"score": {"value": 1, "value": 0}}\n')
    schema = {"score": pl.Struct({"value": pl.Int64})}
    value = {"reward": pl.col("score").struct.field("value")}
    with pytest.raises(Exception, match="two values of the key 'value' in line 2"):
        scan_lines(path, "lines of ours", schema, value).collect()


# Values of JSON as text.


def test_the_text_does_not_depend_on_the_order_of_keys():
    assert json_text({"b": 1, "a": [None, "é"]}) == json_text({"a": [None, "é"], "b": 1})


def test_numbers_are_read_from_what_tools_write():
    texts = pl.Series(["1", "0.5", "true", "false", "null", None])
    assert pl.select(text_number(texts)).to_series().to_list() == [1, 0.5, 1, 0, None, None]


@pytest.mark.parametrize("encoded", [False, True])
def test_a_truncated_text_names_its_end(encoded):
    whole = json.dumps({"a": [1, 2.5e3, {"b": 'x\u00e9\n"q"'}], "t": True, "n": None, "v": -5})
    for end in range(1, len(whole)):
        text = whole[:end]
        column = len(text.rstrip()) + 1
        cut = rf"a\.json: .* at line 1, column {column} \(where it ends: the file may be truncated"
        with pytest.raises(ValueError, match=cut):
            parse_json(Path("a.json"), text.encode() if encoded else text, "a log")
    with pytest.raises(ValueError, match=r"bytes that are no text at its end: .* truncated$"):
        parse_json(Path("a.json"), '{"a": "\u00e9'.encode()[:-1], "a log")


@pytest.mark.parametrize(
    "text", ['{"a": 1,, "b": 2}', "[1 2]", '{"a": tru, "b": 1}', "xyz", "[1]]"]
)
def test_other_faults_of_json_are_named_where_they_are(text):
    with pytest.raises(ValueError, match=r"no JSON at line 1, column \d+: [A-Z]"):
        parse_json(Path("a.json"), text, "a log")


# Fields of JSON lines that become columns.


def test_lines_have_the_kinds_of_their_first():
    head = {"info": {"level": 3, "open": True, "name": "x"}}
    fields = kept_line_fields(["info.level", "info.open", "info.name"], head, {})
    lines = pl.DataFrame({"info": [json.dumps(head["info"]), '{"level": null, "open": false}']})
    assert lines.select(**fields.columns).rows() == [(3.0, True, "x"), (None, False, None)]
    with pytest.raises(ValueError, match=r"no field 'inf', .* they have \['info'\]"):
        kept_line_fields("inf.level", head, {})


def test_fields_that_a_reader_needs_are_read_once():
    head = {"ok": True, "out": {"why": "stop", "size": 3, "more": {"cost": 0.5}}, "gone": None}
    needed = {"ok": pl.Boolean, "out": pl.Struct({"why": pl.String, "size": pl.Float64})}
    names = ["ok", "out.why", "out.size", "out.more.cost", "gone"]
    fields = kept_line_fields(names, head, needed)
    assert {*fields.schema} == {"ok", "out", "gone"}
    text = json.dumps(head).encode() + b'\n{"ok": false, "out": {"size": 4}}'
    lines = pl.scan_ndjson(io.BytesIO(text), schema=dict(fields.schema))
    assert lines.select(**fields.columns).collect().rows() == [
        (True, "stop", 3.0, 0.5, None), (False, None, 4.0, None, None)
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"the object 'out': name a .* as in keep='out\.why'"):
        kept_line_fields("out", head, needed)


# Errors of JSON files name the file, the place and what was expected.


FILE = Path("/runs/a.json")


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (KeyError("reward"), "something that lacks 'reward' in line 2: it may be"),
        (TypeError("no list"), r"something of another shape in line 2 \(no list\): it may be"),
        (IndexError("too short"), r"something of another shape in line 2 \(too short\)"),
        (ValueError("no number"), r"a value that cannot be read in line 2 \(no number\)"),
        (OverflowError("too large"), r"a value that cannot be read in line 2 \(too large\)"),
        (RecursionError("too deep"), r"a value that cannot be read in line 2 \(too deep\)"),
        (pl.exceptions.ComputeError("a\nb"), r"a value that cannot be read in line 2 \(a\)"),
    ],
)
def test_a_foreign_error_is_replaced(error, found):
    message = rf"^/runs/a.json: expected a run, found {found}"
    with pytest.raises(ValueError, match=message), errors_name_file(FILE, "a run", " in line 2"):
        raise error


def test_an_error_that_names_the_file_stays():
    with pytest.raises(ValueError, match=r"^/runs/a.json has two scores$"):  # noqa: SIM117 - one line each
        with errors_name_file(FILE, "a run"):
            raise ValueError(f"{FILE} has two scores")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1, 2", r"text that is no JSON at line 1, column 6 \(where it ends"),
        ('[{"a": {"b": 1, "b": 2}}]', "two values of the key 'b'"),
        ("[1,\n x]", "text that is no JSON at line 2, column 2: Expecting"),
        (b"\xff", "bytes that are no text"),
        ("9" * 6_000, "JSON that is too large: .*digits"),
    ],
)
def test_a_text_that_is_no_json_is_refused(text, found):
    with pytest.raises(ValueError, match=f"^/runs/a.json: expected a run, found {found}"):
        parse_json(FILE, text, "a run")


def test_a_blank_file_is_called_empty():
    with pytest.raises(ValueError, match=r"^/runs/a.json is empty: expected a run$"):
        parse_json(FILE, " \n", "a run")


def test_a_value_that_does_not_fit_is_named_with_file_and_trial():
    rows = {Path("/runs/b.json"): [(1,)], FILE: [(1,), (None,), ("x" * 100,)]}
    parts = {path: FileRows(part, Run(name=path.stem)) for path, part in rows.items()}
    runs = {path: part.run for path, part in parts.items()}
    with pytest.raises(
        ValueError, match=r"a.json: .*the reward 'xxx.*\.\.\..*' in trial 3, where Float64"
    ):
        run_table(parts, runs, {"reward": pl.Float64}, "a run")


def test_files_of_another_kind_are_passed_over_unless_they_were_named(tmp_path):
    run, other = tmp_path / "run.json", tmp_path / "other.json"
    run.write_text("[1]")
    other.write_text('{"some": "thing"}')

    def rows(_, content):
        if isinstance(content, list):
            return FileRows([(value,) for value in content], Run(name="a"))
        return None

    found = read_rows(tmp_path, ("*.json",), "a run", rows, {})
    assert found.parts == {run: FileRows([(1,)], Run(name="a"))}
    with pytest.raises(ValueError, match=r"other.json: expected a run, found an object with the"):
        read_rows([run, other], ("*.json",), "a run", rows, {})


def test_contents_are_described_in_a_few_words():
    assert describe_content(dict.fromkeys("abcdefgh")).endswith("'f'] and 2 more")
    assert describe_content("text") == "'text'"


# Logs of inspect_ai without the large fields of their samples.


def test_a_sample_is_kept_without_its_large_fields(tmp_path):
    sample = {"id": 1, "epoch": 1, "scores": {"events": 2}}
    whole = {"version": 2, "eval": {"events": 3}, "samples": [{**sample, "events": [{"id": 4}]}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert read_json(path, "a log", slim_sample) == {**whole, "samples": [sample]}


@pytest.mark.parametrize("text", ["", "{", '{"samples": [1 2]}', '{"samples": []} {}', '{"a" 1}'])
def test_a_broken_file_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"a\.json: expected a log, found text that|a\.json is empty: "
    ):
        read_json(path, "a log", slim_sample)


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"samples": [{"events": 1, "id": 2, "epoch": 1}]}'))
    assert read_json(path, "a log", slim_sample) == {"samples": [{"id": 2, "epoch": 1}]}


@pytest.mark.slow
def test_only_one_sample_is_whole_at_a_time(tmp_path):
    path = tmp_path / "a.json"
    events = [{"text": "x" * 50} for _ in range(2_000)]
    path.write_text(json.dumps({"samples": [{"id": 1, "epoch": 1, "events": events}] * 100}))
    peaks = []
    for made in (slim_sample, dict):
        tracemalloc.start()
        assert len(read_json(path, "a log", made)["samples"]) == 100
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Beside the text, 12.8 MB.
    assert peaks[0] < 2.2 * path.stat().st_size < 0.5 * peaks[1]


@pytest.mark.parametrize(
    "text",
    [
        '{"samples": [], "samples": [{"score": 1}]}',
        '{"samples": [{"score": 1, "score": 0}]}',
        '{"samples": [], "eval": {"score": 1, "score": 0}}',
    ],
)
def test_a_key_with_two_values_is_refused(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"a\.json: expected a log, found two values of the key 's"
    ):
        read_json(path, "a log", slim_sample)
