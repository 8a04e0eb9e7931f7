"""The accessor: what goes in, what comes out, and what is left of it."""

import inspect
import rlcompleter
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from tests.accessors.all_uses import ASKS, METHODS, METRICS, VALUES, required
from tests.exported_metrics import EXPORTED
from tests.made_logs import long, unreadable
from tests.made_verdicts import verdicts


def all_of(function: Callable[..., object]) -> dict[str, Any]:
    """Arguments for all parameters."""
    parameters = inspect.signature(function).parameters
    return {name: VALUES.get(name, p.default) for name, p in parameters.items()}


PRIOR = long([[1, 1], [0, 1]])
OPTIONS = {"confidence": 0.5, "prior": PRIOR, "per": "question"}
# The methods that read the log at once, and return no frame of the kind of the log.
READERS = ["leaderboard", "plot", "write_card", "write_html"]
# The methods that are no metric.
OTHERS = [
    "report",
    "counts",
    "check",
    "describe",
    "population",
    "rubric",
    "compare",
    "best",
    "gate",
    "frontier",
    "judge_agreement",
    "regressions",
    "reruns",
    "questions",
    "rank",
    "trials_needed",
    "questions_needed",
    "next_trials",
    "trajectory",
    "convergence",
]


def test_the_usual_metrics_are_methods():
    public = {name for name in dir(ps.Scorio) if not name.startswith("_")}
    assert {*METHODS, *OTHERS, *READERS} == public - {"frame"}


# --- frames in, frames out


@pytest.mark.filterwarnings("ignore:one model .*nothing to compare:UserWarning")
@pytest.mark.every(3)
@pytest.mark.parametrize(
    "ask", [*EXPORTED, *OTHERS, "per question", "population", "half width", "pipe"]
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


@pytest.mark.every(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        pytest.param(required, {}, id="defaults"),
        pytest.param(required, {"prior": "population"}, id="pooled"),
        pytest.param(all_of, OPTIONS, id="all"),
    ],
)
def test_a_method_is_the_report_of_its_metric(r1, method, arguments, options):
    given = arguments(getattr(ps, method))
    metric = getattr(ps, method)(**given)
    log = r1.scorio(answer=pl.col("category").cast(pl.String))
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
        {"prior": "population"},
    ],
    ids=str,
)
def test_an_option_makes_a_difference(r1, options):
    assert not r1.scorio.report(*METRICS, **options).equals(r1.scorio.report(*METRICS))


@pytest.mark.every(3)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"model": None, "trial": None},
        {"success": 0, "n": 5, "validate": False},
        {"by": "trial", "trial": None, "question": pl.col("question") + 1},
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


@pytest.mark.parametrize("frame", [{"model": ["m"]}, [1, 2], None, pl.Series("model", ["m"])])
def test_the_function_wants_a_frame(frame):
    with pytest.raises(
        TypeError, match=r"^frame must be a Polars DataFrame, LazyFrame or Expr, got "
    ):
        ps.scorio(frame)


@pytest.mark.parametrize(
    ("library", "make", "cure"),
    [
        ("pandas", "DataFrame", r"got a pandas DataFrame: use pl\.from_pandas\(df\)$"),
        ("pyarrow", "table", r"got a pyarrow Table: use pl\.from_arrow\(table\)$"),
    ],
)
def test_frames_of_other_libraries_are_named_and_not_printed(library, make, cure):
    columns = {"model": ["a", "b"], "category": [0, 1]}
    frame = getattr(pytest.importorskip(library), make)(columns)
    with pytest.raises(TypeError, match=cure):
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


# How an accessor shows its roles, as text and as a table.


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


def test_the_accessor_says_the_confidence():
    rows = [(m, q, t, (q + t) % 3 > 0, q + t + p) for m, p in (("a", 1.0), ("b", 2.0))
            for q in range(6) for t in range(2)]  # fmt: skip
    names = ["model", "question", "trial", "category", "usd"]
    log = ps.scorio(pl.DataFrame(rows, names, orient="row"), cost="usd", confidence=0.5)
    narrow, wide = log.frontier(), log.frontier(confidence=0.95)
    assert (narrow["lo"] > wide["lo"]).all()
    assert (narrow["cost_hi"] < wide["cost_hi"]).all()


def test_eager_equals_lazy():
    log = verdicts()
    lazy = log.lazy().scorio(truth="human").judge_agreement()
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(log.scorio(truth="human").judge_agreement())


def test_the_confidence_of_the_accessor_counts():
    log = verdicts()
    chosen = log.scorio(truth="human", confidence=0.8).judge_agreement()
    assert chosen.equals(log.scorio(truth="human").judge_agreement(confidence=0.8))


def test_labels_must_be_named():
    with pytest.raises(ValueError, match=r'with truth=, as in df.scorio\(truth="human"\)'):
        verdicts().scorio.judge_agreement()
    grader = ps.judge(sensitivity=(9, 10), specificity=(9, 10))
    with pytest.raises(ValueError, match="with truth="):
        verdicts().scorio(judge=grader).judge_agreement()


def test_an_unknown_keyword_lists_the_known_ones():
    with pytest.raises(TypeError, match="It takes width, confidence"):
        verdicts().scorio(truth="human").judge_agreement(wdth=0.1)
