"""Signatures and help that are put together from parts."""

import inspect
from collections.abc import Iterable
from typing import Annotated, Literal, TypedDict

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.signatures import (
    Option,
    described_parameters,
    entries_of,
    extended_entry,
    option_keywords,
    refuse_unknown,
    sections_of,
    takes_options,
    type_text,
)


class Options(TypedDict, total=False):
    """Two keywords that methods share."""

    confidence: Annotated[float, Option(0.95, "Of the intervals.")]
    per: Annotated[Literal["model", "question"] | None, Option(None, "What a row is.")]


def report(metric: object, confidence: float = 0.5) -> tuple[object, float]:
    """A report.

    Parameters
    ----------
    metric : Metric
        What to report.
    confidence : float
        Of this function.
    """
    return metric, confidence


def test_keywords_have_the_order_defaults_and_help_of_their_options():
    assert {
        name: parameter.default for name, (parameter, _) in option_keywords(Options).items()
    } == {
        "confidence": 0.95,
        "per": None,
    }
    assert [*option_keywords(Options)] == ["confidence", "per"]
    assert option_keywords(Options)["confidence"][1] == "confidence : float\n    Of the intervals."


def test_options_replace_the_keywords_of_a_signature():
    @takes_options(Options)
    def ranked(metric: object, **options: object) -> object:
        """Rank.

        Parameters
        ----------
        metric : Metric
            What to rank by.
        """
        return metric, options

    kinds = {name: p.kind.name for name, p in inspect.signature(ranked).parameters.items()}
    assert kinds == {
        "metric": "POSITIONAL_OR_KEYWORD",
        "confidence": "KEYWORD_ONLY",
        "per": "KEYWORD_ONLY",
    }
    assert ranked("avg", per="model") == ("avg", {"per": "model"})
    titled = "Rank.\n\nParameters\n----------\nmetric : Metric\n    What to rank by.\nconfidence"
    assert inspect.getdoc(ranked).startswith(titled)


def test_keywords_may_be_those_of_a_function():
    @takes_options(report)
    def drawn(path: str, **options: object) -> object:
        """Draw.

        Parameters
        ----------
        path : str
            Where to.
        """
        return path, options

    (path, confidence) = inspect.signature(drawn).parameters.values()
    assert (path.name, confidence.name, confidence.default) == ("path", "confidence", 0.5)
    assert confidence.kind is confidence.KEYWORD_ONLY
    assert inspect.getdoc(drawn).endswith("confidence : float\n    Of this function.")
    with pytest.raises(TypeError, match=r"It takes path, confidence$"):
        drawn("x", metric="avg")


def test_an_unknown_keyword_names_the_nearest_and_all():
    refuse_unknown("rank", ["per"], ["per", "n"])
    message = r"^rank\(\) got an unexpected keyword argument 'pre': did you mean 'per'\? It takes "
    with pytest.raises(TypeError, match=message + "per, n$"):
        refuse_unknown("rank", ["n", "pre"], iter(["per", "n"]))
    with pytest.raises(TypeError, match=r"^scorio\(\) got .* 'zzz'\. It takes per$"):
        refuse_unknown("__call__", ["zzz"], ["per"])


def test_more_arguments_by_position_than_a_function_takes_say_what_to_do():
    log = pl.DataFrame({"model": "ada", "question": [1, 2], "trial": 0, "category": [0, 1]})
    message = r"^compare\(\) got 2 arguments by position and takes metric there: name the others, "
    with pytest.raises(TypeError, match=message + "and call it once for each metric$"):
        log.scorio.compare(ps.avg(), ps.pass_at_k(1))
    message = r"^over\(\) got 3 arguments by position and takes step, metric there: name the others"
    with pytest.raises(TypeError, match=message):
        log.scorio.plot.over("question", ps.avg(), ps.pass_at_k(1))
    assert log.scorio.report(ps.avg(), ps.pass_at_k(1)).height == 2  # as many as one likes


def test_an_argument_that_is_lacking_is_named_with_its_help():
    log = pl.DataFrame({"model": ["a", "b"], "question": 1, "trial": 0, "category": 1}).scorio
    said = r"baseline \(the model that all others are compared with\)$"
    with pytest.raises(TypeError, match=rf"^regressions\(\) needs {said}"):
        log.regressions()
    with pytest.raises(TypeError, match=r"^next_trials\(\) needs budget \("):
        log.next_trials()
    assert log.gate("a", margin=0.1).height == 1


def test_a_parameter_that_nobody_describes_is_an_error():
    with pytest.raises(KeyError, match="confidence"):
        described_parameters("A report.", inspect.signature(report), {"metric": "metric : Metric"})
    assert described_parameters(None, inspect.signature(report), {}) is None


def test_entries_that_describe_several_parameters_are_shown_once():
    both = "metric, confidence : object\n    Both."
    doc = described_parameters(
        "A report.", inspect.signature(report), {"metric": both, "confidence": both}
    )
    assert doc == f"A report.\n\nParameters\n----------\n{both}\n"


def test_sections_are_put_in_the_order_of_numpydoc():
    doc = "A report.\n\nNotes\n-----\nMore.\n\nRaises\n------\nValueError\n    Never."
    made = described_parameters(doc, inspect.Signature(), {}, Returns="None\n    Nothing.")
    head, sections = sections_of(made)
    assert head == "A report."
    assert [*sections] == ["Returns", "Raises", "Notes"]
    assert sections["Raises"] == "ValueError\n    Never."


def test_sections_of_a_docstring_without_any():
    assert sections_of("A report.\n") == ("A report.", {})
    assert entries_of("") == {}


def test_entries_of_parameters_that_are_listed_together_are_the_same():
    body = "lo, hi : float\n    Ends.\nk : int\n    Draw size."
    ends = "lo, hi : float\n    Ends."
    assert entries_of(body) == {"lo": ends, "hi": ends, "k": "k : int\n    Draw size."}


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("k : float\n    Mine.", "k : float\n    Mine."),
        ("k\n    Mine too.", "k : int\n    Draw size.\n    Mine too."),
        ("k", "k : int\n    Draw size."),
    ],
    ids=["with a type", "without a type", "without a text"],
)
def test_an_entry_without_a_type_is_added_to_the_shared_one(own, expected):
    assert extended_entry("k : int\n    Draw size.", own) == expected


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "int"),
        (Literal["a", 2], '"a" or "2"'),
        (str | None, "str, optional"),
        (int | Iterable[int] | None, "int or several of them, optional"),
        (list, "list"),
    ],
    ids=str,
)
def test_types_as_help_spells_them(kind, words):
    assert type_text(kind) == words
