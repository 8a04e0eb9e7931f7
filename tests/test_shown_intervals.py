"""No number that a surface shows lies outside the interval beside it."""

import io
import re
import warnings
from collections.abc import Iterable
from contextlib import redirect_stdout

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.study.request import ReportOptions
from tests.made_logs import law

ROUNDING = 1e-9  # a metric that is linear in the counts is summed in two ways
OPTIONS: list[ReportOptions] = [
    {"prior": "uniform"},
    {"prior": "population"},
    {},
    {"prior": "population", "target": "population"},
    {"target": "population"},
]
# A number and the interval beside it, as people write them.
MINUS = "\u2212"
SIGNED = rf"([+{MINUS}-]?[\d.]+)"
WRITTEN = re.compile(rf"{SIGNED} ?%? \[{SIGNED}, {SIGNED}\]")

confidences = st.sampled_from([0.001, 0.3, 0.5, 0.8, 0.95, 0.9999])


@st.composite
def logs(draw: st.DrawFn, least_models: int = 1) -> pl.DataFrame:
    """Logs of a few models on the same questions in two strata, with one to five trials each."""
    models, questions = draw(st.integers(least_models, 3)), draw(st.integers(2, 6))
    most = draw(st.sampled_from([1, 2, 4]))
    trials = st.integers(most, most + draw(st.sampled_from([0, 1])))
    rows = [
        (f"model {model}", question, question % 2, n, c)
        for model in range(models)
        for question in range(questions)
        for n in [draw(trials)]
        for c in [draw(st.one_of(st.sampled_from([0, n]), st.integers(0, n)))]
    ]
    columns = ["model", "question", "part", "n", "c"]
    return ps.from_successes(pl.DataFrame(rows, schema=columns, orient="row"))


def metrics_of(k: int) -> list[ps.Metric]:
    """Metrics of all kinds."""
    drawn = ps.pass_at_k, ps.pass_hat_k, ps.maj_at_k, ps.auc_at_k, ps.geom_at_k, ps.geom_ds_at_k
    return [ps.avg(), ps.bayes(), *(metric(k) for metric in drawn), ps.max_at_k(k)]


def number_of(rows: pl.DataFrame) -> str:
    """The number that the interval of a row is about: mu where there are posteriors."""
    return "mu" if "mu" in rows.columns else "estimate"


def refuse_outside(rows: pl.DataFrame, number: str, lo: str = "lo", hi: str = "hi") -> None:
    """Fail if a number lies outside its interval."""
    outside = (pl.col(number) < pl.col(lo) - ROUNDING) | (pl.col(number) > pl.col(hi) + ROUNDING)
    assert rows.filter(outside).is_empty(), rows.filter(outside)


def fewest_trials(log: pl.DataFrame) -> int:
    """The fewest trials of a question."""
    return log.group_by("model", "question").agg(pl.col("count").sum())["count"].min()


@law
@given(logs(), confidences, st.sampled_from(OPTIONS), st.booleans(), st.sampled_from([0, 1, 3]))
def test_reports_and_leaderboards_show_numbers_inside_their_intervals(
    log, confidence, options, divided, times
):
    scorio = log.scorio(count="count", by="part" if divided else ())
    overall = {"overall": "macro"} if divided else {}
    metrics = metrics_of(
        max(times * fewest_trials(log), 1)
    )  # one trial, all, or more than there are
    rows = scorio.report(*metrics, confidence=confidence, **options, **overall)
    refuse_outside(rows, number_of(rows))
    # The intervals of posteriors are about mu; the estimate is what was seen.
    if "prior" not in options:
        refuse_outside(rows.filter(pl.col("metric") != "bayes"), "estimate")
    wide = scorio.report(*metrics, confidence=confidence, wide=True, **options, **overall)
    for name in (column.removesuffix("_mu") for column in wide.columns if column.endswith("_mu")):
        refuse_outside(wide, f"{name}_mu", f"{name}_lo", f"{name}_hi")
    first = ps.avg() if options.get("target") == "population" else ps.pass_hat_k(1)
    board = scorio.leaderboard(first, ps.bayes(), confidence=confidence, **options, **overall)
    refuse_outside(board, "rank", "rank_lo", "rank_hi")
    for name in ("avg" if first.name == "avg" else "pass_hat_k_1", "bayes"):
        refuse_outside(board, name, f"{name}_lo", f"{name}_hi")


@law
@given(
    logs(least_models=2),
    confidences,
    st.sampled_from(["avg", "pass_at_k", "geom_at_k"]),
    st.sampled_from(["benchmark", "population"]),
)
def test_decisions_show_numbers_inside_their_intervals(log, confidence, name, target):
    k = fewest_trials(log)
    metric = ps.avg() if name == "avg" else getattr(ps, name)(k)
    options = {"confidence": confidence, "target": target}
    for by in ((), "part"):
        scorio = log.scorio(count="count", by=by)
        for simultaneous in (False, True):
            rows = scorio.compare(metric, simultaneous=simultaneous, **options)
            refuse_outside(rows, "diff")
            assert rows["prob_better"].is_between(0, 1).all()
        ranked = scorio.rank(metric, **options)
        refuse_outside(ranked, number_of(ranked))
        refuse_outside(ranked, "rank", "rank_lo", "rank_hi")
        best = scorio.best(metric, **options)
        refuse_outside(best, "estimate", "best_lo", "best_hi")
        refuse_outside(best, "best_mu", "best_lo", "best_hi")


@law
@given(logs(least_models=2), confidences, st.sampled_from(["uniform", "population"]))
def test_posterior_decisions_show_numbers_inside_their_intervals(log, confidence, prior):
    scorio = log.scorio(count="count", prior=prior, confidence=confidence)
    for metric in (ps.avg(), ps.bayes(), ps.pass_hat_k(2)):
        refuse_outside(scorio.compare(metric, simultaneous=True), "diff")
        refuse_outside(scorio.rank(metric), "mu")
        refuse_outside(scorio.best(metric), "best_mu", "best_lo", "best_hi")


@law
@given(st.lists(st.integers(0, 1), min_size=1, max_size=6), confidences)
def test_expressions_show_numbers_inside_their_intervals(outcomes, confidence):
    column = pl.DataFrame({"category": outcomes}).select(
        pl.col("category").scorio.posterior(ps.pass_at_k(2), confidence=confidence)
    )
    refuse_outside(column.unnest("category"), "mu")


@law
@given(
    logs(least_models=2),
    st.sampled_from([0.501, 0.8, 0.95, 0.9999]),
    st.sampled_from(["benchmark", "population"]),
    st.sampled_from([0, 0.05, 0.5]),
)
def test_gates_show_numbers_inside_their_intervals(log, confidence, target, margin):
    scorio = log.scorio(count="count", by="part", confidence=confidence, target=target)
    rows = scorio.gate("model 0", margin=margin, metric=ps.pass_at_k(fewest_trials(log)))
    refuse_outside(rows, "diff")


def written_outside(text: str) -> Iterable[str]:
    """The numbers of a text that lie outside the interval beside them."""
    for match in WRITTEN.finditer(text):
        number, lo, hi = (float(part.replace(MINUS, "-")) for part in match.groups())
        if not lo <= number <= hi:
            yield match.group()


@pytest.mark.slow
@law
@given(logs(least_models=2), confidences, st.sampled_from(["benchmark", "population"]))
def test_pictures_and_pages_show_numbers_inside_their_intervals(
    tmp_path_factory, log, confidence, target
):
    scorio = log.scorio(count="count", confidence=confidence, target=target)
    metric = ps.pass_hat_k(fewest_trials(log))
    for picture in (scorio.plot.intervals(metric), scorio.plot.curve(3)):
        refuse_outside(pl.DataFrame(picture.data.to_dict()["values"]), "mu")
    assert not [*written_outside(ps.to_markdown(scorio.leaderboard(metric)))]
    file = tmp_path_factory.mktemp("page") / "page.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.ClusterWarning)
        scorio.write_html(file, metric, ps.avg())
    assert not [*written_outside(re.sub("<[^>]*>", "", file.read_text(encoding="utf-8")))]


@law
@given(
    logs(least_models=2),
    st.sampled_from([0.501, 0.8, 0.95]),
    st.sampled_from(["avg", "geom"]),
    st.sampled_from(["benchmark", "population"]),
)
def test_the_command_prints_numbers_inside_their_intervals(
    tmp_path_factory, log, confidence, name, target
):
    metric = "avg" if name == "avg" else f"geom_at_k({fewest_trials(log)})"
    file = tmp_path_factory.mktemp("log") / "log.parquet"
    log.write_parquet(file)
    asked = [str(file), "--count", "count", "--confidence", str(confidence), "--target", target]
    asked += ["--metric", metric]
    compared, ranked = (
        printed_rows([command, *asked, "--format", "csv"]) for command in ("compare", "rank")
    )
    refuse_outside(compared, "diff")
    refuse_outside(ranked, number_of(ranked))
    for command in (["gate", "--baseline", "model 0", "--margin", "0.05"], ["summary"]):
        with redirect_stdout(io.StringIO()) as printed:
            main([*command, *asked])
        assert not [*written_outside(printed.getvalue())]


@pytest.mark.slow
@law
@given(logs(least_models=2), confidences, st.sampled_from(["benchmark", "population"]))
def test_the_report_command_prints_numbers_inside_their_intervals(
    tmp_path_factory, log, confidence, target
):
    file = tmp_path_factory.mktemp("log") / "log.parquet"
    log.write_parquet(file)
    options = ["--count", "count", "--confidence", str(confidence), "--target", target]
    with redirect_stdout(io.StringIO()) as printed:
        assert main(["report", str(file), *options, "-o", "-"]) == 0
    numbers = [*WRITTEN.finditer(printed.getvalue())]
    assert numbers
    assert not [*written_outside(printed.getvalue())]


def printed_rows(arguments: list[str]) -> pl.DataFrame:
    """The table that the command prints."""
    with redirect_stdout(io.StringIO()) as printed:
        assert main(arguments) == 0
    return pl.read_csv(io.StringIO(printed.getvalue()), infer_schema_length=None)
