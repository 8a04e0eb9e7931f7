"""Numbers of things and lists, as sentences of a page have them."""

from polars_scorio.display.phrases import count_of, name_list, number_list, range_text


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
