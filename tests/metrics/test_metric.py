"""How metrics are made, checked, named and compared, and what a report makes of them."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio import metrics
from polars_scorio.metrics.from_text import read_metric
from polars_scorio.metrics.metric import Summary

FUNCTIONS = {name: getattr(ps, name) for name in metrics.__all__ if name.islower()}
# For the parameters that must be given.
GIVEN = {"k": 2, "tau": 0.5, "weights": (0.5, 0.5)}
NAN, INF = float("nan"), float("inf")

Make = Callable[..., ps.Metric]


def metrics_with(parameter: str, *, needed: bool = False) -> pytest.MarkDecorator:
    """Run a test for every metric that has (or needs) a parameter; all others are given."""
    params = []
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        required = {key for key, p in parameters.items() if p.default is p.empty}
        given = {key: GIVEN[key] for key in sorted(required - {parameter})}
        if parameter in (required if needed else parameters):
            params.append(pytest.param(functools.partial(function, **given), id=name))
    return pytest.mark.parametrize("make", params)


drawn = pytest.mark.parametrize(
    "function", [ps.pass_at_k, ps.pass_hat_k, ps.unanimous_at_k, ps.g_pass_at_k]
)


def got(value: object) -> str:
    """The end of a message that shows a value."""
    return re.escape(f"got {value!r}") + "$"


# --- arguments


@pytest.mark.every(5)
@metrics_with("k")
@pytest.mark.parametrize(
    "k",
    [
        *(0, -1, True, 1.0, 1.5, NAN, "2", b"2", {"k": 1}, [], [0, 1], [1, True], [2.0]),
        *(["1"], "12", [[1]], [None], np.array([1.0]), np.array([True]), range(2)),
    ],
    ids=repr,
)
def test_k_is_a_positive_int_or_several(make, k):
    with pytest.raises(ValueError, match=f"^k must be a positive int .*{got(k)}"):
        make(k=k)


@drawn
@pytest.mark.parametrize("k", [[1, 1], (4, 2, 4), np.array([2, 2])], ids=repr)
def test_k_names_each_draw_size_once(function, k):
    with pytest.raises(ValueError, match=f"^k must name each draw size once, {got(k)}"):
        function(k)


@drawn
@pytest.mark.parametrize(
    ("k", "sizes"),
    [
        *((3, (3,)), (np.int64(3), (3,)), (np.uint8(3), (3,)), ([4, 1, 2], (1, 2, 4))),
        *((np.array(3), (3,)), ({4, 1}, (1, 4)), (frozenset({2}), (2,))),
        *((range(1, 4), (1, 2, 3)), (np.array([2, 1]), (1, 2)), (pl.Series([2, 1]), (1, 2))),
    ],
    ids=["int", "int64", "uint8", "list", "scalar", "set", "frozenset", "range", "array", "series"],
)
def test_k_is_kept_as_ascending_ints(function, k, sizes):
    kept = function(k).k
    assert kept == sizes
    assert {type(size) for size in kept} == {int}


@metrics_with("k", needed=True)
def test_k_is_not_none_where_it_is_needed(make):
    with pytest.raises(ValueError, match=r"^k must be a positive int .* got None$"):
        make(k=None)


@metrics_with("w")
@pytest.mark.parametrize(
    "w",
    [
        *([], (), {}, np.array([]), 1, 0.5, "01", ["0", "1"], {"bad": "0"}, [0, "x"], [None, 1]),
        *([[0, 1]], [[0], [0, 1]], np.eye(2), {"bad": [0]}, [0, NAN], [0, INF], {"bad": -INF}),
        *([0, 1j], {0, 1}, object),
    ],
    ids=repr,
)
def test_weights_are_finite_numbers_in_one_dimension(make, w):
    with pytest.raises(ValueError, match=f"^w must be a flat sequence .* dict .*{got(w)}"):
        make(w=w)


@metrics_with("w")
@pytest.mark.parametrize(
    ("w", "largest"),
    [([-1e308, 1e308], "-1e+308"), ([1e308, 1e308], "1e+308"), ([0, 2e300], "2e+300")],
)
def test_weights_whose_sums_may_overflow_are_refused_under_any_prior(make, w, largest):
    with pytest.raises(
        ValueError, match=rf"^w must hold numbers between .* {re.escape(largest)}\. Div"
    ):
        make(w=w)


def test_levels_whose_sums_may_overflow_are_refused():
    log = pl.DataFrame({"question": [1, 2], "category": [0.0, 1e308]})
    graded = log.scorio(model=None, trial=None, levels=[0.0, 1e308])
    with pytest.raises(ValueError, match=r"^levels must hold numbers between .* 1e\+308"):
        graded.report(ps.avg())


@metrics_with("w")
def test_categories_of_weights_are_of_one_kind(make):
    w = {"bad": 0, 1: 1}
    with pytest.raises(TypeError, match=f"^the categories of w must be all labels .*{got(w)}"):
        make(w=w)


@metrics_with("w")
@pytest.mark.parametrize(
    ("w", "pairs"),
    [
        ([1, 0.5], ((0, 1.0), (1, 0.5))),
        (np.array([0, 2]), ((0, 0.0), (1, 2.0))),
        (np.float32([0, 0.5]), ((0, 0.0), (1, 0.5))),
        (pl.Series([0.0, 1.0]), ((0, 0.0), (1, 1.0))),
        (range(3), ((0, 0.0), (1, 1.0), (2, 2.0))),
        ({"b": 1, "a": 0}, (("a", 0.0), ("b", 1.0))),
        ({5: 1, -1: np.int64(3)}, ((-1, 3.0), (5, 1.0))),
        ([7], ((0, 7.0),)),
        (None, None),
    ],
    ids=repr,
)
def test_weights_are_kept_by_category(make, w, pairs):
    assert make(w=w).w == pairs


@pytest.mark.every(5)
@metrics_with("bounds")
@pytest.mark.parametrize(
    "bounds",
    [
        *((1, 0), (NAN, 1), (0, NAN), (0,), (0, 0.5, 1), (), 0, "01", ("0", "1"), (None, 1)),
        *((0, 1j), {}, [[0, 1], [0, 1]]),
    ],
    ids=repr,
)
def test_bounds_are_two_numbers_in_order(make, bounds):
    with pytest.raises(ValueError, match=f"^bounds must be None or two numbers.*{got(bounds)}"):
        make(bounds=bounds)


@pytest.mark.every(5)
@metrics_with("bounds")
@pytest.mark.parametrize(
    "bounds", [(0, 1), (-1.5, 2), (1, 1), (-INF, INF), [0, 1], np.array([0, 1]), None], ids=repr
)
def test_bounds_are_kept_as_a_pair_of_floats(make, bounds):
    kept = make(bounds=bounds).bounds
    assert kept == (None if bounds is None else (float(bounds[0]), float(bounds[1])))
    assert kept is None or {type(end) for end in kept} == {float}


@metrics_with("bounds")
@pytest.mark.parametrize("name", ["", 1, b"x", ["x"], pl.col("x")], ids=str)
def test_a_name_is_a_string_with_something_in_it(make, name):
    with pytest.raises(ValueError, match=r"^name must be a non-empty string or None, got "):
        make(name=name)


@metrics_with("bounds")
def test_default_bounds(make):
    assert make().bounds == (None if make.func in (ps.bayes, ps.avg) else (0.0, 1.0))


# --- names


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (ps.bayes(), "bayes"),
        (ps.bayes([0, 0.5, 1]), "bayes(w=[0, 0.5, 1])"),
        (ps.bayes([0, 1]), "bayes(w=[0, 1])"),
        (ps.avg({"wrong": 0, "right": 1}), "avg(w={'right': 1, 'wrong': 0})"),
        (ps.avg({2: 1, -1: 0.25}), "avg(w={-1: 0.25, 2: 1})"),
        (ps.avg({1: 1, 0: 0}), "avg(w=[0, 1])"),
        (ps.avg(bounds=(0, 1)), "avg(bounds=(0, 1))"),
        (ps.bayes([0, 2], bounds=(0, 0.5)), "bayes(w=[0, 2], bounds=(0, 0.5))"),
        (ps.bayes([0, 1e300]), "bayes(w=[0, 1e+300])"),
        (ps.pass_at_k([1, 2]), "pass_at_k"),
        (ps.pass_at_k(1, bounds=(0, 1)), "pass_at_k"),
        (ps.unanimous_at_k(1), "unanimous_at_k"),
        (ps.g_pass_at_k(1, bounds=None), "g_pass_at_k(bounds=None)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_shows_the_arguments_that_differ_from_the_default(metric, name):
    assert metric.name == name


@pytest.mark.parametrize(
    ("metric", "typed"),
    [
        (ps.pass_at_k([2, 1]), "pass_at_k([1, 2])"),
        (ps.pass_at_k(np.int64(4)), "pass_at_k(4)"),
        (ps.pass_hat_k(2, bounds=(0, 0.5)), "pass_hat_k(2, bounds=(0, 0.5))"),
        (ps.g_pass_at_k_tau(4, 0.6, name="x"), "g_pass_at_k_tau(4, tau=0.6, name='x')"),
        (ps.maj_at_k(), "maj_at_k()"),
        (ps.maj_at_k(3), "maj_at_k(3)"),
        (
            ps.threshold_spectrum_at_k(2, [0.5, 0.25]),
            "threshold_spectrum_at_k(2, weights=(0.5, 0.25))",
        ),
        (ps.geom_at_k(2, unanimous_power=1), "geom_at_k(2, unanimous_power=1)"),
        (ps.max_at_k(3, {"b": 0, "a": 1}), "max_at_k(3, w={'a': 1, 'b': 0})"),
        (ps.max_at_k(3, bounds=None), "max_at_k(3, bounds=None)"),
        (ps.avg([0, 1e300], name="a 'b'"), """avg(w=[0, 1e+300], name="a 'b'")"""),
        (ps.bayes(), "bayes()"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_metric_is_shown_as_one_would_type_it(metric, typed):
    assert repr(metric) == typed
    names = {name: getattr(ps, name) for name in ps.__all__}
    assert eval(typed, names) == metric  # noqa: S307 - what is written above


@metrics_with("bounds")
def test_a_given_name_is_the_whole_name(make):
    assert make(name="accuracy, in my way", bounds=(0, 2)).name == "accuracy, in my way"


@pytest.mark.parametrize("metric", [ps.pass_hat_k(2, bounds=None), ps.avg(name="accuracy")])
def test_the_result_shows_the_name(r1, metric):
    assert r1.scorio.report(metric)["metric"].to_list() == [metric.name]


# --- values


@metrics_with("bounds")
def test_a_metric_is_a_value(make):
    metric = make(bounds=(0, 2))
    assert metric == make(bounds=[0.0, 2.0])
    assert hash(metric) == hash(make(bounds=[0.0, 2.0]))
    assert metric != make()
    assert isinstance(metric, ps.Metric)
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError, AttributeError)):
        metric.name = "other"


@metrics_with("bounds")
def test_all_metrics_have_one_base(make):
    assert make.func.__name__ in dir(ps)
    assert issubclass(family := type(make()), ps.Metric)
    assert not hasattr(make(), "__dict__")
    own = {field.name for field in dataclasses.fields(ps.Metric)}
    # What a family repeats of the base would be two places to change.
    assert own.isdisjoint(vars(family).get("__annotations__", {}))


def test_a_metric_of_ones_own_joins_a_report(r1):
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True, repr=False)
    class Solved(ps.Metric):
        """The share of the questions with a success."""

        def summary(self, posterior, k):
            some = (posterior.states.counts[:, 1] > 0).astype(float)
            return Summary(posterior.states.mean(some), *np.zeros((2, 1)))

    rows = r1.scorio.report(Solved(function="solved"), ps.bayes())
    assert rows["metric"].to_list() == ["solved", "bayes"]
    assert rows["estimate"].to_list() == [1.0, 0.7]
    assert repr(Solved(function="solved")) == "solved()"
    with pytest.raises(TypeError, match=r"closed form, got solved\(\)"):
        r1.scorio.next_trials(3, Solved(function="solved"))


def test_metrics_are_equal_where_their_arguments_are():
    assert ps.bayes([0, 1]) == ps.bayes(np.array([0.0, 1.0])) == ps.bayes({1: 1, 0: 0})
    assert ps.pass_at_k([2, 1]) == ps.pass_at_k(np.array([1, 2]), bounds=(0, 1))
    different = [
        *(ps.bayes(), ps.bayes([0, 1]), ps.bayes([0, 2]), ps.avg(), ps.bayes(name="avg")),
        *(ps.pass_at_k(1), ps.pass_at_k(2), ps.pass_at_k(1, bounds=None), ps.pass_hat_k(1)),
        *(ps.pass_at_k(1, name="pass_hat_k"), ps.unanimous_at_k(1), ps.g_pass_at_k(1)),
    ]
    assert len(set(different)) == len(different)


# --- what a report takes


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([], r"^name at least one metric, for instance ps\.avg\(\)$"),
        ([ps.bayes], r"^report takes metrics .* got the function bayes: call it, as in ps\.bayes"),
        ([ps.pass_at_k], r"got the function pass_at_k: call it, as in ps\.pass_at_k\(4\)$"),
        ([[ps.bayes()]], r"such as ps\.avg\(\), got \[bayes\(\)\]: pass each metric by itself$"),
        ([ps.bayes(), "avg"], r"^report takes metrics .* got 'avg': write ps\.avg\(\)$"),
        (["pass_at_k"], r"got 'pass_at_k': write ps\.pass_at_k\(4\)$"),
        (["pass_at_k([1, 4])"], r": write ps\.pass_at_k\(\[1, 4\]\)$"),
        (["agv"], r"^report takes metrics .* got 'agv': did you mean 'avg'\?$"),
        ([pl.Series([1])], r"^report takes metrics such as ps\.avg\(\), got a polars Series$"),
        ([type(ps.bayes())], r"^report takes metrics .* got <class "),
        ([None], r"^report takes metrics .* got None$"),
    ],
)
def test_a_report_is_of_metrics(r1, metrics, message):
    with pytest.raises(TypeError, match=message):
        r1.lazy().scorio.report(*metrics)


@pytest.mark.parametrize(
    ("metrics", "name", "k"),
    [
        ([ps.bayes(), ps.avg(), ps.bayes()], "bayes", None),
        ([ps.pass_at_k([1, 2]), ps.pass_at_k([2, 3])], "pass_at_k", 2),
        ([ps.pass_at_k(2, name="x"), ps.pass_hat_k([1, 2], name="x")], "x", 2),
        ([ps.bayes(name="x"), ps.avg(name="x")], "x", None),
    ],
)
def test_rows_of_a_report_have_different_names(r1, metrics, name, k):
    message = rf"^the report has two rows of the metric '{name}' with k={k}: .* name=$"
    with pytest.raises(ValueError, match=message):
        r1.lazy().scorio.report(*metrics)


def test_rows_of_one_name_may_differ_in_k(r1):
    rows = r1.scorio.report(
        ps.pass_at_k([3, 1]), ps.avg(), ps.pass_at_k(2), ps.bayes(name="pass_at_k")
    )
    assert rows.select("metric", "k").rows() == [
        *(("pass_at_k", 1), ("pass_at_k", 3), ("avg", None), ("pass_at_k", 2), ("pass_at_k", None))
    ]


@pytest.mark.parametrize("confidence", [0, 1, -0.95, 95, NAN, INF, True, "0.95", [0.95]], ids=repr)
def test_confidence_lies_between_zero_and_one(r1, confidence):
    message = rf"^confidence must be a number between 0 and 1, exclusive, {got(confidence)}"
    with pytest.raises(ValueError, match=message):
        r1.lazy().scorio.bayes(confidence=confidence)


@pytest.mark.parametrize("confidence", [0.5, np.float64(0.5), np.float32(0.5)], ids=repr)
def test_confidence_is_any_kind_of_real_number(r1, confidence):
    row = r1.scorio.bayes(confidence=confidence).row(0, named=True)
    # Half of a normal distribution lies within 0.67449 standard deviations of its mean.
    # The quantile is given to ten digits.
    assert row["hi"] - row["mu"] == pytest.approx(0.6744897502 * row["sigma"], rel=1e-9)


@pytest.mark.parametrize(
    ("per", "error", "rest"),
    [
        ("models", ValueError, ": did you mean 'model'?"),
        ("Question", ValueError, ": did you mean 'question'?"),
        ("stratum", ValueError, ""),
        (None, TypeError, ""),
        (0, TypeError, ""),
        (["model"], TypeError, ""),
    ],
)
def test_a_report_is_per_model_or_per_question(r1, per, error, rest):
    message = f'per must be "model" or "question", got {per!r}{rest}'
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        r1.lazy().scorio.bayes(per=per)


def test_a_metric_at_the_first_of_its_sizes():
    first = [metric.at_row(0) for metric in (ps.pass_at_k([2, 4]), ps.avg())]
    assert first == [ps.pass_at_k(2), ps.avg()]


# Metrics that are read from texts: those of Python, and nothing that runs.


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("bayes", ps.bayes()),
        ("avg()", ps.avg()),
        ("pass_at_k(4)", ps.pass_at_k(4)),
        (" ps.pass_hat_k([1, 2, 4], bounds=None) ", ps.pass_hat_k([1, 2, 4], bounds=None)),
        ("pass_at_k(range(1, 9))", ps.pass_at_k(range(1, 9))),
        ("bayes(w={'C': 1, 'P': 0.5, 'I': 0})", ps.bayes(w={"C": 1, "P": 0.5, "I": 0})),
        ("max_at_k(2, [-1, 0, 1])", ps.max_at_k(2, [-1, 0, 1])),
        ("g_pass_at_k_tau(k=4, tau=.5)", ps.g_pass_at_k_tau(4, 0.5)),
    ],
)
def test_a_metric_as_one_types_it(text, metric):
    assert read_metric(text) == metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass_at_k(4", "pass_at_k(4 is no metric"),
        ("", " is no metric"),
        ("pass_at_n(4)", "there is no metric pass_at_n: did you mean 'pass_at_k'?"),
        ("xyz", "there is no metric xyz, only auc_at_k, avg, bayes"),
        ("Metric()", "there is no metric Metric"),
        ("pass_at_k(0)", "k must be a positive int"),
        ("pass_at_k()", "add how many trials are drawn, as in pass_at_k(4)"),
        ("pass_at_k(4, m=2)", "m"),
        ("pass_at_k(**{'k': 4})", "write keywords out"),
        ("pass_at_k(open('x'))", "open('x') is no number, word, list or dict"),
        ("pass_at_k(range(1, step=2))", "is no number"),
        ("pass_at_k([k for k in (1, 2)])", "is no number"),
        ("__import__('os').system('true')", "there is no metric __import__"),
        ("pass_at_k(4).name", "there is no metric pass_at_k(4).name"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_metric(text)
