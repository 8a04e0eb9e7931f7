"""Values of JSON as text."""

import polars as pl

from polars_scorio.logs.kept_fields import json_text, text_number


def test_the_text_does_not_depend_on_the_order_of_keys():
    assert json_text({"b": 1, "a": [None, "é"]}) == json_text({"a": [None, "é"], "b": 1})


def test_numbers_are_read_from_what_tools_write():
    texts = pl.Series(["1", "0.5", "true", "false", "null", None])
    assert pl.select(text_number(texts)).to_series().to_list() == [1, 0.5, 1, 0, None, None]
