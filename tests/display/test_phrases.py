"""Numbers of things and lists, as sentences of a page have them."""

from polars_scorio.display.phrases import (
    count_of,
    name_list,
    number_list,
    range_text,
    short_name,
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
