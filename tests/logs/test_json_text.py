"""Values of JSON as text."""

import json
from pathlib import Path

import polars as pl
import pytest

from polars_scorio.logs.json_files import parse_json
from polars_scorio.logs.kept_fields import json_text, text_number


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
