"""JSON files that are read piece by piece."""

import gzip
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.logs import json_files
from polars_scorio.logs.json_files import read_slim_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(["id", "events", "scores"]), VALUES)
FILES = st.dictionaries(st.sampled_from(["eval", "status", "a"]), VALUES)


@pytest.mark.slow
@given(FILES, st.lists(OBJECTS | VALUES, max_size=4), st.sampled_from([None, 1]), st.integers(1, 9))
def test_it_is_the_whole_file_without_the_fields(tmp_path_factory, head, samples, indent, chunk):
    path = tmp_path_factory.mktemp("stream") / "a.json"
    whole = {**head, "samples": samples, "end": 1}
    path.write_text(json.dumps(whole, indent=indent, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_CHUNK", chunk)
        found = read_slim_json(path, "a log", "samples", {"events"})
    slim = [
        {name: value for name, value in sample.items() if name != "events"}
        if isinstance(sample, dict) else sample
        for sample in samples
    ]  # fmt: skip
    assert found == {**whole, "samples": slim}


@pytest.mark.parametrize("text", [
    "[1, 2]", "3", '{"samples": 3}', '{"samples": [], "a": NaN}', '{"samples": {"events": 1}}',
])  # fmt: skip
def test_other_content_is_that_of_python(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    expected = json.dumps(json.loads(text))
    assert json.dumps(read_slim_json(path, "a log", "samples", {"events"})) == expected


@pytest.mark.parametrize("text", ["", "{", '{"samples": [1 2]}', '{"samples": []} {}', '{"a" 1}'])
def test_a_broken_file_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"a\.json: expected a log, found text that|a\.json is empty: "
    ):
        read_slim_json(path, "a log", "samples", {"events"})


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"samples": [{"events": 1, "id": 2}]}'))
    assert read_slim_json(path, "a log", "samples", {"events"}) == {"samples": [{"id": 2}]}


@pytest.mark.slow
def test_the_memory_is_that_of_one_sample(tmp_path):
    path = tmp_path / "a.json"
    sample = {"id": 1, "events": [{"text": "x" * 50} for _ in range(2_000)]}
    path.write_text(json.dumps({"samples": [sample] * 100}), encoding="utf-8")
    tracemalloc.start()
    assert len(read_slim_json(path, "a log", "samples", {"events"})["samples"]) == 100
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 12.8 MB; two windows of 1 MB, and a sample in Python.
    assert peak < 0.6 * path.stat().st_size


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
        read_slim_json(path, "a log", "samples", {"events"})
