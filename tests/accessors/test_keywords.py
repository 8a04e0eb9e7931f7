"""Every method names its keywords, in its signature and in its help, and answers for them."""

import inspect
import re
from inspect import Parameter, signature, unwrap

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.accessors.frame import MetricOptions
from polars_scorio.display.plots import Plots
from polars_scorio.signatures import option_keywords, takes_options
from polars_scorio.study.report import report
from polars_scorio.study.request import (
    InferenceOptions,
    PlanOptions,
    ReportOptions,
    Request,
)
from tests.accessors.all_uses import METHODS
from tests.exported_metrics import EXPORTED

# An argument for each parameter that must be given.
NEEDED = {
    "k": 2,
    "tau": 0.5,
    "weights": [0.5, 0.5],
    "budget": 5,
    "metric": ps.bayes(),
    "rubric": ps.rubrics.exact_match(),
    "frame": pl.DataFrame(),
    "path": "report.html",
    "baseline": "ada",
    "margin": 0.02,
    "step": "step",
}


def methods() -> list:
    """All public methods, and the functions that share keywords."""
    found = [pytest.param(ps.scorio, id="scorio")]
    found += [
        pytest.param(getattr(ps.rubrics, name), id=f"rubrics.{name}")
        for name in ["thresholds", "schemata", *(each.name for each in ps.rubrics.schemata())]
    ]
    for owner in (ps.Scorio, ps.ScorioExpr, Plots):
        for name in ["__call__", *dir(owner)]:
            method = getattr(owner, name, None)
            if inspect.isfunction(method) and (name == "__call__" or not name.startswith("_")):
                found.append(pytest.param(method, id=f"{owner.__name__}.{name}"))
    return found


def named(method) -> dict[str, inspect.Parameter]:
    return {name: p for name, p in inspect.signature(method).parameters.items() if name != "self"}


@pytest.mark.parametrize("method", methods())
def test_a_signature_names_every_keyword(method):
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(method).parameters.values())


@pytest.mark.parametrize("method", methods())
def test_help_describes_every_keyword(method):
    doc = inspect.getdoc(method)
    after = doc.partition("Parameters\n----------\n")[2]
    described = re.split(r"\n\n\w+\n---", after)[0]
    heads = " ".join(line.partition(" : ")[0] for line in described.split("\n") if line[:1].strip())
    assert re.findall(r"\w+", heads) == [*named(method)]


@pytest.mark.parametrize("method", [each for each in methods() if named(each.values[0])])
def test_an_unknown_keyword_is_answered_by_the_method_that_was_called(method):
    name = "scorio" if method.__name__ == "__call__" else method.__name__
    known = [key for key, p in named(method).items() if p.kind is not p.VAR_POSITIONAL]
    needed = [
        NEEDED[key] for key, p in named(method).items() if p.default is p.empty and key in known
    ]
    accessor = [None] if "self" in inspect.signature(method).parameters else []
    message = (
        rf"^{name}\(\) got an unexpected keyword argument 'modle'.* It takes {', '.join(known)}$"
    )
    with pytest.raises(TypeError, match=message):
        method(*accessor, *needed, modle="m")


def test_the_nearest_keyword_is_suggested(r1):
    with pytest.raises(TypeError, match=r"'confidnce': did you mean 'confidence'\? It takes k, "):
        r1.scorio.pass_at_k(2, confidnce=0.9)
    with pytest.raises(TypeError, match=r"'zzz'\. It takes prior, "):
        r1.scorio.report(ps.bayes(), zzz=1)


@pytest.mark.parametrize(
    ("options", "functions"),
    [
        (ReportOptions, (report, Request.from_trials)),
        (InferenceOptions, (Request.from_trials,)),
        (PlanOptions, (Request.from_trials, ps.Scorio.population)),
    ],
)
def test_a_default_is_what_it_is_where_nobody_says_it(options, functions):
    parameters = {
        key: parameter
        for function in functions
        for key, parameter in inspect.signature(function).parameters.items()
    }
    for key, (parameter, _) in option_keywords(options).items():
        assert parameters[key].default == parameter.default


def test_no_section_of_a_docstring_is_lost():
    @takes_options(PlanOptions)
    def planned(**options):
        """What is planned?

        Returns
        -------
        None
            Nothing.

        Raises
        ------
        ValueError
            Never.

        Warns
        -----
        UserWarning
            Never.

        See Also
        --------
        report

        Notes
        -----
        More.
        """

    titles = re.findall(r"(.*)\n-{3,}\n", inspect.getdoc(planned))
    assert titles == ["Parameters", "Returns", "Raises", "Warns", "See Also", "Notes"]


def test_none_leaves_the_choice_to_the_accessor(r1):
    """Signatures show None for what the accessor decides, and None is what leaving it out means."""
    for owner in (ps.Scorio, type(r1.scorio.plot)):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            if name.startswith("_"):
                continue
            parameters = inspect.signature(method).parameters
            for decided in {"target", "confidence", "prior"} & parameters.keys():
                assert parameters[decided].default is None, (owner, name)
    log = pl.concat([r1.with_columns(model=pl.lit(name)) for name in "ab"])
    chosen = log.scorio(confidence=0.8, target="population")
    for call in (
        lambda log, **said: log.report(ps.avg(), **said),
        lambda log, **said: log.compare(**said),
        lambda log, **said: log.rank(**said),
        lambda log, **said: log.best(**said),
        lambda log, **said: log.leaderboard(ps.avg(), **said).frame,
        lambda log, **said: log.trajectory(**said),
    ):
        said = call(log.scorio(), confidence=0.8, target="population")
        assert_frame_equal(call(chosen, confidence=None, target=None), said)
        assert_frame_equal(call(chosen), said)
    said = log.scorio().population(confidence=0.8)
    assert_frame_equal(chosen.population(), said)


# The methods of metrics are written out for readers and type checkers: as their functions are.


REPORT = [parameter for parameter, _ in option_keywords(ReportOptions).values()]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_shows_what_its_function_takes_and_what_a_report_takes(name):
    own = [*signature(EXPORTED[name]).parameters.values()]
    assert [*signature(getattr(ps.Scorio, name)).parameters.values()][1:] == [*own, *REPORT]


@pytest.mark.parametrize("name", METHODS)
def test_what_is_written_is_what_the_function_says(name):
    method, function = unwrap(getattr(ps.Scorio, name)), EXPORTED[name]
    written = dict([*signature(method).parameters.items()][1:])
    options = written.pop("options")
    expected = dict(signature(function).parameters)
    assert options.kind is Parameter.VAR_KEYWORD
    assert written == {key: expected[key] for key in written}
    assert {key for key in expected if key not in written} <= MetricOptions.__optional_keys__
    assert method.__doc__ == function.__doc__.partition("\n")[0].replace(" [1]_", "")


def test_an_expression_has_the_same_metrics_but_for_votes_over_answers():
    assert {name for name in EXPORTED if hasattr(ps.ScorioExpr, name)} == {*METHODS} - {"vote_at_k"}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("geom_at_k", "(ps.geom_at_k(4))"),
        ("mean_cost", "(ps.mean_cost())"),
        ("threshold_spectrum_at_k", "(ps.threshold_spectrum_at_k(4, weights))"),
    ],
)
def test_any_other_metric_is_answered_with_its_call(name, call):
    log = pl.DataFrame({"model": "a", "question": 1, "category": 1}).scorio
    for accessor, method in ((log, "report"), (pl.col("category").scorio, "estimate")):
        with pytest.raises(AttributeError, match=re.escape(f"{name!r}: write {method}{call}")):
            getattr(accessor, name)
