"""Names as a page shows them: one label for each key, and another for each other."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.facts.log_summary import key_labels, metric_label, natural_key


def labels_of(**columns: list[object]) -> list[str]:
    return key_labels(pl.DataFrame(columns), columns).to_list()


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        ({"model": ["ada", "bob", "ada"]}, ["ada", "bob", "ada"]),
        ({"model": ["ada", None], "level": [1, 2]}, ["ada / 1", "null / 2"]),
        ({"model": ["", " "]}, ['""', '" "']),
        ({"model": ["a\u202eb"]}, ["a(U+202E)b"]),
        ({"x": ["a / b", "a"], "y": ["c", "b / c"]}, ["('a / b', 'c')", "('a', 'b / c')"]),
        ({"model": ["null", None]}, ["('null',)", "(None,)"]),
    ],
    ids=["one", "joined", "blank", "hidden", "ambiguous", "null"],
)
def test_different_keys_have_different_labels(columns, labels):
    assert labels_of(**columns) == labels


def test_labels_are_an_enum_whose_order_is_that_of_the_words():
    labels = key_labels(pl.DataFrame({"model": ["b", "a", "b"]}), ["model"])
    assert labels.dtype == pl.Enum(["a", "b"])
    assert labels.name == "label"


def test_rows_without_any_key_are_one_model():
    assert key_labels(pl.DataFrame({"x": [1, 2]}), []).to_list() == ["This model"] * 2


def test_a_metric_is_written_with_its_draw_size_or_its_trials():
    assert metric_label(ps.pass_hat_k([2, 4]), 4) == "Pass^4"
    assert metric_label(ps.avg(), None, 8) == "avg@8"
    assert metric_label(ps.avg(), None) == "avg@N"
    assert metric_label(ps.avg(name="a\u202eb")) == "a(U+202E)b"


def test_labels_are_in_the_order_in_which_people_count():
    labels = key_labels(pl.DataFrame({"question": [10, 9, 2, 100]}), ["question"])
    assert labels.sort().to_list() == ["2", "9", "10", "100"]
    assert sorted(["b10", "b007", "b9", "a"], key=natural_key) == ["a", "b007", "b9", "b10"]
