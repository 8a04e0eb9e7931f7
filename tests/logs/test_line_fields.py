"""Fields of JSON lines that become columns."""

import io
import json

import polars as pl
import pytest

from polars_scorio.logs.json_files import kept_line_fields


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
