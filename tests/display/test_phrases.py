"""Numbers of things and lists, as sentences of a page have them."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.phrases import (
    MISSING,
    NumberFormat,
    count_of,
    name_list,
    number_list,
    probability_text,
    range_text,
    short_name,
    sigma_values,
    text_list,
    visible_text,
)


def test_one_thing_has_no_plural():
    assert [count_of(number, "trial") for number in (0, 1, 2)] == [
        "0 trials",
        "1 trial",
        "2 trials",
    ]
    assert count_of(12_345, "pair") == "12,345 pairs"


def test_a_range_of_one_number_is_that_number():
    assert range_text(1000, 1000) == "1,000"
    assert range_text(3, 8) == "3 to 8"


def test_a_long_list_is_cut():
    names = ["a", "b", "c", "d", "e", "f"]
    assert name_list([]) == ""
    assert name_list(names[:2]) == "a and b"
    assert name_list(names) == "a, b, c, d, e and 1 more"
    assert number_list([("a", 1000)]) == "a: 1,000"


def test_a_long_name_keeps_both_ends_and_hidden_characters_are_shown():
    assert short_name("x" * 60) == "x" * 60
    assert short_name("a" * 40 + "b" * 40) == "a" * 30 + "…" + "b" * 29
    assert short_name("a" * 20 + "b" * 20, 30) == "a" * 15 + "…" + "b" * 14
    assert short_name("a\u202eb\nc") == "a(U+202E)b(U+000A)c"


def test_characters_that_command_terminals_or_break_xml_are_shown_by_their_codes():
    assert visible_text("\x1b[31m\x9b2J\r") == "(U+001B)[31m(U+009B)2J(U+000D)"
    assert visible_text("\u2028\u2066\ufffe\udcff") == "(U+2028)(U+2066)(U+FFFE)(U+DCFF)"
    assert visible_text("Grün 日本\tü\n👩\u200d🔬") == "Grün 日本\tü\n👩\u200d🔬"


def test_lists_of_names_cut_each_name_but_not_what_stands_behind_it():
    long = "x" * 61
    cut = "x" * 30 + "…" + "x" * 29
    assert name_list([long, 7]) == f"{cut} and 7"
    assert number_list([(long, 1000)]) == f"{cut}: 1,000"
    assert text_list([long, "b"]) == f"{long} and b"


# Numbers as tables and pages write them.


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.2, 1.0], NumberFormat(percent=True, digits=1)),
        ([0.2, 1.5], NumberFormat(percent=False, digits=3)),
        ([-0.2, 0.5], NumberFormat(percent=False, digits=3)),
    ],
)
def test_numbers_within_zero_and_one_are_percentages(values, scale):
    assert NumberFormat.from_values(values, [0.02]) == scale


def test_a_number_that_is_missing_is_a_dash():
    scale = NumberFormat(percent=True, digits=1)
    assert scale.cell(None, None, None) == MISSING
    assert scale.text(-0.0001) == "0.0"
    assert probability_text(None) == MISSING


def test_sigma_is_a_quarter_of_an_interval_if_it_is_missing_or_less():
    rows = pl.DataFrame({"sigma": [0.5, None, 0.001], "lo": 0.0, "hi": 1.0})
    assert sigma_values(rows) == [0.5, 0.25, 0.25]


def test_all_right_has_no_more_digits_than_its_interval_deserves():
    log = pl.DataFrame({"model": "ada", "question": [1, 2, 3, 4] * 4, "category": 1})
    rows = log.scorio(trial=None).report(ps.avg(), ps.pass_at_k(4), ps.pass_hat_k(4))
    texts = [NumberFormat.from_values([mu], sigma_values(rows[[place]])).text(mu)
             for place, mu in enumerate(rows["estimate"])]  # fmt: skip
    assert texts == ["100.0"] * 3
