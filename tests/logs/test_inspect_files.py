"""Header and samples of inspect_ai, without what fills its files."""

import json

import pytest

from polars_scorio.logs.inspect_files import find_inspect_logs, read_inspect_log

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


def test_folders_hold_logs_without_a_date_too(tmp_path):
    log = {"version": 2, "status": "success", "eval": {"task": "t"}}
    names = ["2026-01-01_a.json", "b.eval", "c.json", "d.json", "e.json"]
    for name in names:
        (tmp_path / name).write_text(json.dumps(log, indent=2), encoding="utf-8")
    (tmp_path / "d.json").write_text('{"eval": {}}', encoding="utf-8")  # a file of EvalPlus
    (tmp_path / "e.json").write_text('{"version": 2, "results": []}', encoding="utf-8")
    assert [file.name for file in find_inspect_logs(tmp_path)] == names[:3]
    assert len(find_inspect_logs([tmp_path / "d.json", tmp_path])) == 4
    assert find_inspect_logs(tmp_path / "e.json") == [tmp_path / "e.json"]


def test_a_folder_without_logs_is_read_to_say_what_is_wrong(tmp_path):
    (tmp_path / "e.json").write_text("[]", encoding="utf-8")
    (tmp_path / "f.json.gz").write_text("no gzip", encoding="utf-8")
    assert len(find_inspect_logs(tmp_path)) == 2
