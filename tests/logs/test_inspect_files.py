"""Header and samples of inspect_ai, without what fills its files."""

import json

import pytest

from polars_scorio.logs.inspect_files import read_inspect_log

LARGE = {"messages": [{"role": "user"}], "events": [{}], "store": {"a": 1}, "attachments": {"b": 2}}


def test_what_no_table_needs_is_left_out(tmp_path):
    path = tmp_path / "2026-01-01_a.json"
    sample = {"id": 1, "epoch": 1, "scores": {}}
    log = {"eval": {"task": "t"}, "samples": [{**sample, **LARGE}, {**LARGE, **sample}]}
    path.write_text(json.dumps(log, indent=2), encoding="utf-8")
    assert read_inspect_log(path, 0) == {"eval": {"task": "t"}, "samples": [sample, sample]}


def test_files_of_other_tools_are_refused(tmp_path):
    path = tmp_path / "2026-01-01_a.json"
    path.write_text('{"samples": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.json: expected a log of inspect_ai.*\['samples'\]"):
        read_inspect_log(path, 0)
