"""Names as a page can show them: of models, questions, strata, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from polars_scorio.display.phrases import visible_text
from polars_scorio.metrics.metric import Metric

_PARTS = " / "
_NUMBER = re.compile("0*([0-9]+)")
_LABEL, _UNNAMED = ":label", "This model"


def key_labels(frame: pl.DataFrame, names: Iterable[str]) -> pl.Series:
    """One label for each row: the same for the same keys, another one for others.

    As an Enum, of which rows hold numbers: many questions are grouped much faster than by words.
    Its order is that of people, with "level 9" before "level 10".

    Parameters
    ----------
    frame : DataFrame
        The rows.
    names : iterable of str
        The columns that make a label; none where there is nothing to name.

    Examples
    --------
    >>> frame = pl.DataFrame({"domain": ["web", None], "level": [1, 2]})
    >>> key_labels(frame, ["domain", "level"]).to_list()
    ['web / 1', 'null / 2']
    """
    keys = frame.select(*names)
    if not keys.width:
        return pl.Series("label", [_UNNAMED] * frame.height, pl.Enum([_UNNAMED]))
    distinct = keys.unique(maintain_order=True)
    rows = distinct.select(pl.all().cast(pl.String).fill_null("null")).rows()
    texts = [visible_text(_PARTS.join(row)) for row in rows]
    texts = [text if text.strip() else f'"{text}"' for text in texts]  # a name is to be seen
    if len(set(texts)) < len(texts):  # "a / b" in one column is not "a" and "b" in two
        texts = [visible_text(repr(row)) for row in distinct.rows()]
    order = pl.Enum(sorted(texts, key=natural_key))
    labelled = distinct.with_columns(pl.Series(_LABEL, texts, order))
    on = {"on": keys.columns, "how": "left", "nulls_equal": True, "maintain_order": "left"}
    return keys.join(labelled, **on)[_LABEL].alias("label")  # type: ignore[arg-type]  # as named


def natural_key(text: str) -> tuple[str, str]:
    """Key by which texts sort as people count.

    >>> sorted(["level 10", "level 9", "level"], key=natural_key)
    ['level', 'level 9', 'level 10']
    """
    return _NUMBER.sub(_with_length, text), text


def _with_length(number: re.Match[str]) -> str:
    """Digits behind their count: of whole numbers the longer one is the larger one."""
    return f"{len(number[1]):09}{number[1]}"


def metric_label(metric: Metric, k: int | None = None, trials: int | None = None) -> str:
    """Metric as people write it, without characters that would hide what it says.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> metric_label(ps.pass_at_k(4), 4), metric_label(ps.bayes(name="a\u202eb"))
    ('Pass@4', 'a(U+202E)b')
    """
    return visible_text(metric.heading(k, trials))
