"""Values of JSON as text, and numbers in texts."""

from __future__ import annotations

import json

import polars as pl


def json_text(value: object) -> str:
    """A value as JSON; objects with the same keys in another order give the same text.

    >>> json_text({"b": [1, "é"], "a": None})
    '{"a": null, "b": [1, "é"]}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def text_number(text: pl.Expr) -> pl.Expr:
    """The number in a text, for fields in which tools write 1, 1.0 or true.

    >>> pl.select(text_number(pl.Series(["true", "0.5", None]))).to_series().to_list()
    [1.0, 0.5, None]
    """
    return text.replace({"true": "1", "false": "0", "null": None}).cast(pl.Float64)
