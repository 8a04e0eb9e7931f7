"""The accessor: what goes in, what comes out, and what is left of it."""

import gc
import inspect
import rlcompleter
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio import metrics
from tests.made_logs import long, unreadable

METHODS = [name for name in metrics.__all__ if name.islower()]
# A value for each parameter that some metric has, other than its default.
VALUES: dict[str, Any] = {
    "k": 2,
    "w": [0.5, 1],
    "tau": 0.25,
    "weights": (0.25, 0.5),
    "lam": 0.25,
    "pass_power": 0.25,
    "unanimous_power": 0.25,
    "alpha0": 0.5,
    "beta0": 2,
    "bounds": (0.4, 0.9),
    "name": "x",
}


def required(function: Callable[..., object]) -> dict[str, Any]:
    """Arguments for the parameters that must be given."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: VALUES[p.name] for p in parameters if p.default is p.empty}


def all_of(function: Callable[..., object]) -> dict[str, Any]:
    """Arguments for all parameters."""
    parameters = inspect.signature(function).parameters
    return {name: VALUES.get(name, p.default) for name, p in parameters.items()}


PRIOR = long([[1, 1], [0, 1]])
OPTIONS = {"confidence": 0.5, "inference": "published", "per": "question", "prior": PRIOR}
METRICS = (ps.bayes(), ps.pass_at_k([1, 2]))
FAILED = {"failed": pl.col("category") == 0}
SOLVED = ps.rubrics.rubric("outcome", FAILED, otherwise="solved", success="solved")
# The methods that are no metric.
# What reads the log at once, and returns no frame of the kind of the log.
READERS = ["leaderboard", "plot", "write_html"]
OTHERS = [
    "report",
    "counts",
    "coverage",
    "priors",
    "forecast",
    "rubric",
    "compare",
    "best",
    "rank",
    "trials_needed",
    "questions_needed",
    "next_trials",
    "trajectory",
    "convergence",
]
Ask = Callable[[Any], object]
# Every way to use an accessor.
ASKS: dict[str, Ask] = {
    **{
        method: lambda frame, method=method: getattr(frame.scorio(answer="category"), method)(
            **required(getattr(ps, method))
        )
        for method in METHODS
    },
    "report": lambda frame: frame.scorio.report(*METRICS),
    "per question": lambda frame: frame.scorio.report(*METRICS, per="question"),
    "prior": lambda frame: frame.scorio.report(*METRICS, prior=frame),
    "counts": lambda frame: frame.scorio.counts(),
    "priors": lambda frame: frame.scorio.priors(),
    "compare": lambda frame: frame.scorio.compare(),
    "population": lambda frame: frame.scorio.compare(target="population"),
    "coverage": lambda frame: frame.scorio.coverage(),
    "forecast": lambda frame: frame.scorio.forecast(4),
    "gaps": lambda frame: frame.scorio.coverage(per="question"),
    "best": lambda frame: frame.scorio.best(),
    "rank": lambda frame: frame.scorio.rank(),
    "trials_needed": lambda frame: frame.scorio.trials_needed(),
    "questions_needed": lambda frame: frame.scorio.questions_needed(),
    "half width": lambda frame: frame.scorio.trials_needed(half_width=0.1),
    "next_trials": lambda frame: frame.scorio.next_trials(5, models="m"),
    "trajectory": lambda frame: frame.scorio.trajectory(),
    "convergence": lambda frame: frame.scorio.convergence(replicates=5),
    "bar": lambda frame: frame.scorio.convergence(replicates=5, progress=True),
    "configured": lambda frame: frame.scorio(success=1).bayes(),
    "configured twice": lambda frame: frame.scorio(success=1)(model=None).counts(),
    "configured only": lambda frame: frame.scorio(trial=None),
    "rubric": lambda frame: frame.scorio.rubric(SOLVED).pass_at_k(2),
    "function": lambda frame: ps.scorio(frame, trial=None).bayes(),
    "pipe": lambda frame: frame.pipe(ps.scorio).bayes(),
}


def test_every_metric_is_a_method_and_every_method_a_metric():
    public = {name for name in dir(ps.Scorio) if not name.startswith("_")}
    assert {*METHODS, *OTHERS, *READERS} == public - {"frame"}


def test_the_frame_of_an_accessor_is_the_log(r1):
    assert r1.scorio(trial=None).frame is r1


# --- frames in, frames out


@pytest.mark.parametrize(
    "ask", [*METHODS, *OTHERS, "per question", "population", "half width", "pipe"]
)
def test_eager_gives_eager_and_lazy_gives_lazy(r1, ask):
    eager, lazy = ASKS[ask](r1), ASKS[ask](r1.lazy())
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), eager, check_exact=True)
    assert lazy.collect_schema() == eager.schema


@pytest.mark.parametrize("ask", [name for name in ASKS if name != "configured only"])
def test_nothing_is_read_before_collect(r1, ask):
    plan = ASKS[ask](unreadable(r1.schema))
    assert isinstance(plan, pl.LazyFrame)
    plan.collect_schema()
    with pytest.raises(AssertionError, match="the data were read"):
        plan.collect()


def test_prior_trials_are_not_read_before_collect(r1):
    for frame in (r1.lazy(), unreadable(r1.schema)):
        plan = frame.scorio.bayes(prior=unreadable(r1.schema))
        with pytest.raises(AssertionError, match="the data were read"):
            plan.collect()


@pytest.mark.parametrize("data", [pl.DataFrame.lazy, pl.DataFrame.clone])
@pytest.mark.parametrize("prior", [pl.DataFrame.lazy, pl.DataFrame.clone])
def test_prior_trials_are_eager_or_lazy_whatever_the_data_are(r2, r0, data, prior):
    metric = ps.bayes(w=[0, 0.5, 1])
    rows = data(r2).scorio.report(metric, prior=prior(r0)).lazy().collect()
    assert_frame_equal(rows, r2.scorio.report(metric, prior=r0), check_exact=True)


# --- a method is a report


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        pytest.param(required, {}, id="defaults"),
        pytest.param(required, {"inference": "pooled"}, id="pooled"),
        pytest.param(required, {"inference": "calibrated"}, id="calibrated"),
        pytest.param(all_of, OPTIONS, id="all"),
    ],
)
def test_a_method_is_the_report_of_its_metric(r1, method, arguments, options):
    given = arguments(getattr(ps, method))
    metric = getattr(ps, method)(**given)
    log = r1.scorio(answer="category")
    rows = getattr(log, method)(**given, **options)
    assert rows["metric"].unique().to_list() == [metric.name]
    assert_frame_equal(rows, log.report(metric, **options), check_exact=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_takes_positions_as_its_function_does(method):
    def positional(function: Callable[..., object]) -> list[tuple[str, object]]:
        parameters = inspect.signature(function).parameters.values()
        return [(p.name, p.default) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]

    assert positional(getattr(ps.Scorio, method))[1:] == positional(getattr(ps, method))


@pytest.mark.parametrize(
    "options",
    [
        {"confidence": 0.5},
        {"per": "question"},
        {"prior": PRIOR},
        {"inference": "pooled"},
        {"inference": "calibrated"},
    ],
    ids=str,
)
def test_an_option_makes_a_difference(r1, options):
    assert not r1.scorio.report(*METRICS, **options).equals(r1.scorio.report(*METRICS))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"model": None, "trial": None},
        {"success": 0, "n": 5, "validate": False},
        {"by": "trial", "question": pl.col("question") + 1},
    ],
    ids=["defaults", "unnamed", "checks", "expression"],
)
def test_the_function_and_pipe_are_the_accessor(r1, roles, lazy):
    frame = r1.lazy() if lazy else r1
    expected = r1.scorio(**roles).report(*METRICS)
    for accessor in (
        frame.scorio(**roles),
        ps.scorio(frame, **roles),
        frame.pipe(ps.scorio, **roles),
    ):
        assert isinstance(accessor, ps.Scorio)
        assert_frame_equal(accessor.report(*METRICS).lazy().collect(), expected, check_exact=True)


def test_what_is_not_configured_anew_has_its_default(r1):
    renamed = r1.rename({"model": "llm"})
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no column 'model'"):
        renamed.scorio(model="llm")(success=1).bayes()


@pytest.mark.parametrize("frame", [{"model": ["m"]}, [1, 2], None, pl.Series("model", ["m"])])
def test_the_function_wants_a_frame(frame):
    with pytest.raises(
        TypeError, match=r"^frame must be a Polars DataFrame, LazyFrame or Expr, got "
    ):
        ps.scorio(frame)


@pytest.mark.parametrize(
    "ask",
    [
        lambda frame: frame.scorio(modle="llm"),
        lambda frame: ps.scorio(frame, modle="llm"),
        lambda frame: frame.pipe(ps.scorio, modle="llm"),
        lambda frame: frame.scorio.report(ps.bayes(), modle="llm"),
        lambda frame: frame.scorio.bayes(modle="llm"),
        lambda frame: frame.scorio.pass_at_k(2, modle="llm"),
        *(
            lambda frame, method=method: getattr(frame.scorio, method)(modle="llm")
            for method in OTHERS
            if method != "next_trials"
        ),
        lambda frame: frame.scorio.next_trials(5, modle="llm"),
    ],
)
def test_an_unknown_keyword_is_refused_at_the_call(r1, ask):
    with pytest.raises(TypeError, match="unexpected keyword argument 'modle'"):
        ask(unreadable(r1.schema))


# --- memory


@pytest.fixture
def no_collector():
    """Nothing but reference counts frees memory."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("ask", ASKS)
def test_a_frame_is_freed_when_its_last_name_goes(r1, ask, lazy):
    frame = r1.lazy().filter(pl.lit(value=True)) if lazy else r1.clone()
    alive = weakref.ref(frame)
    ASKS[ask](frame)
    assert alive() is frame
    del frame
    assert alive() is None


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    "ask",
    [
        lambda frame: frame.scorio(n=0),
        lambda frame: frame.scorio.pass_at_k(0),
        lambda frame: frame.scorio.bayes(w=[]),
        lambda frame: frame.scorio.report(),
        lambda frame: frame.scorio.report(ps.bayes(), per="trial"),
        lambda frame: frame.scorio(n=1).bayes(),
        lambda frame: frame.scorio.rank(ps.pass_at_k([1, 2])),
        lambda frame: frame.scorio.compare(baseline="x"),
    ],
    ids=["role", "k", "w", "no metric", "option", "collection", "draw sizes", "stratum"],
)
def test_a_frame_is_freed_after_an_error_too(r1, ask):
    frame = r1.clone()
    alive = weakref.ref(frame)
    with pytest.raises((TypeError, ValueError)):
        ask(frame)
    del frame
    assert alive() is None


def test_an_accessor_keeps_its_frame():
    accessor = ps.scorio(long([[0, 1]]), trial=None)
    assert accessor.avg()["mu"].item() == 0.5


# --- changes, help


@pytest.mark.parametrize("roles", [None, {"success": 1}])
def test_changes_in_place_are_seen(r1, roles):
    frame = r1.clone()
    accessor = frame.scorio if roles is None else frame.scorio(**roles)
    assert accessor.bayes()["trials"].item() == 10
    more = long([[1], [1]]).with_columns(trial=pl.lit(99, pl.Int64))
    frame.extend(more)
    assert frame.scorio.bayes()["trials"].item() == 12
    assert accessor.bayes()["trials"].item() == 12
    frame.insert_column(0, pl.Series("domain", [*["a", "b"] * 6]))
    assert frame.scorio(by="domain").bayes()["domain"].to_list() == ["a", "b"]
    frame.replace_column(frame.get_column_index("category"), pl.Series("category", np.ones(12)))
    assert frame.scorio.avg()["mu"].item() == accessor.avg()["mu"].item() == 1


@pytest.mark.parametrize("lazy", [False, True])
def test_notebooks_complete_the_methods(r1, lazy):
    frame = r1.lazy() if lazy else r1
    names = {"df": frame, "accessor": ps.scorio(frame), "ps": ps}
    complete = rlcompleter.Completer(names)
    assert [complete.complete("df.scor", 0), complete.complete("df.scor", 1)] == [
        "df.scorio(",
        None,
    ]
    for owner in ("df.scorio", "accessor"):
        found = [complete.complete(f"{owner}.pa", i) for i in range(3)]
        assert found == [f"{owner}.pass_at_k(", f"{owner}.pass_hat_k(", None]
    assert "scorio" in dir(frame)
    for accessor in (frame.scorio, ps.scorio(frame), frame.scorio(n=5)):
        assert {*METHODS, *OTHERS} <= set(dir(accessor))


@pytest.mark.parametrize("method", [*METHODS, *OTHERS, *READERS, "__call__"])
def test_help_shows_what_a_method_does(method):
    described = inspect.getdoc(getattr(ps.Scorio, method))
    assert described is not None
    assert ">>> " in described


def test_an_accessor_shows_its_roles_and_their_dtypes(r1):
    log = r1.with_columns(step=1, seed=pl.lit("x"))
    accessor = log.lazy().scorio(
        model="llm", category=pl.col("category").alias("x"), success=[1, 2], by="step"
    )
    assert repr(accessor).split("\n") == [
        "<scorio of a LazyFrame>",
        "  model          llm                         no such column",
        "  question       question                    Int64",
        "  trial          trial                       Int64",
        '  category       col("category").alias("x")  Int64',
        "  by             step                        Int32",
        "  success        (1, 2)",
        "  other columns  model, seed",
    ]


def test_a_notebook_shows_the_roles_as_a_table(r1):
    html = r1.scorio(by=pl.lit("<b>").alias("x"))._repr_html_()
    assert html.startswith("<table><caption>scorio of a DataFrame</caption><tr><th>role</th>")
    assert "<tr><td>question</td><td>question</td><td>Int64</td></tr>" in html
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_an_accessor_shows_itself_where_its_log_cannot_be_read(tmp_path):
    shown = repr(pl.scan_parquet(tmp_path / "none.parquet").scorio)
    assert "question  question" in shown
    assert "unknown" in shown
    assert "none.parquet" in shown


def test_showing_an_accessor_reads_nothing_and_keeps_no_frame(r1):
    frame = unreadable(r1.schema)
    assert "Int64" in repr(frame.scorio) + frame.scorio._repr_html_()
    assert "scorio" not in vars(frame)
