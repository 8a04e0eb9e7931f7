"""Laws of all logs: a number is a function of the rows, the roles and the options.

No filter of a lazy result, no other model, no name and no surface changes it (to 1e-12).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.counting.roles import Roles
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story, StoryOptions, read_story
from tests.golden.logs import Kind, kinds_of_logs
from tests.made_logs import log_of_runs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def faulty_logs() -> dict[str, Kind]:
    """Logs that tests of independence speak of, for the sake of one model; and named runs."""
    differ, fair = (log_of_runs(sd, seed=2, questions=60) for sd in (0.8, 0.0))
    last, of_m1 = pl.col("trial") == 3, pl.col("model") == "m1"
    copied = pl.concat(
        [fair.filter(~(last & of_m1)), fair.filter(of_m1, trial=1).with_columns(trial=3)],
        how="vertical_relaxed",
    )
    first = pl.col("trial").filter(pl.col("category") == 1).min().over("model", "question")
    return {
        "runs that differ": Kind(
            pl.concat([differ.filter(model="m0"), fair.filter(~(pl.col("model") == "m0"))])
        ),
        "a copied run": Kind(copied),
        "named runs": Kind(log_of_runs(0.8, seed=4, questions=60), {"run": "trial"}),
        "retries": Kind(fair.filter(~of_m1 | (pl.col("trial") <= first.fill_null(4)))),
    }


# A third of the pairs of a log and a way to ask has each log in several ways, and each way of
# several logs.
KINDS = kinds_of_logs() | faulty_logs()
ALIKE = {"rel_tol": 1e-12, "abs_tol": 1e-12}
# Roles and options of a report, where a log may have them.
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "uniform": ({}, {"prior": "uniform"}),
    "population": ({}, {"target": "population"}),
    "pooled": ({}, {"prior": "population"}),
    "questions": ({}, {"per": "question"}),
    "macro": ({}, {"overall": "macro"}),
    "micro": ({}, {"overall": "micro"}),
    "wide": ({}, {"wide": True}),
    "curves": ({}, {"simultaneous": True}),
    "confidence": ({}, {"confidence": 0.8}),
    "bounds": ({"missing": "bounds"}, {}),
    "first": ({"first": 1}, {}),
    "runs": ({"run": "trial"}, {}),
    "shared runs": ({"run": "trial", "run_effects": "shared"}, {}),
    "runs alike": ({"run": "trial", "run_effects": "alike"}, {}),
    "trusted": ({"validate": False}, {}),
}


def metrics_of(kind: Kind) -> tuple[ps.Metric, ...]:
    """The metrics of a log."""
    return (*kind.metrics, *((ps.avg(), ps.pass_at_k([1, 2])) if kind.successes else ()))


def answer(call: Callable[[], pl.DataFrame]) -> pl.DataFrame | str:
    """The result of a call, or why it is refused, without the place."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        return str(error)[:20]


def report_of(frame: Any, kind: Kind, asked: str) -> Any:
    """The report of a log in one of the ways to ask for it."""
    roles, options = ASKED[asked]
    return frame.scorio(**{**kind.roles, **roles}).report(
        *metrics_of(kind), **{**kind.options, **options}
    )


@cache
def whole_report(name: str, asked: str) -> pl.DataFrame | str:
    """The report of an eager log, or why it is refused."""
    return answer(lambda: report_of(KINDS[name].frame, KINDS[name], asked))


@pytest.mark.every(3)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", KINDS)
def test_a_filter_of_a_lazy_report_is_one_of_the_whole(name, asked):
    kind = KINDS[name]
    whole = whole_report(name, asked)
    kept = pl.col("model") == "m1"
    plan = answer(lambda: report_of(kind.frame.lazy(), kind, asked))
    found = plan if isinstance(plan, str) else answer(lambda: plan.filter(kept).collect())
    if isinstance(whole, str):
        assert isinstance(found, str) or found.height
        return
    assert_frame_equal(found, whole.filter(kept), **ALIKE)


@pytest.mark.parametrize("asked", ["plain", "population", "runs", "runs alike", "micro"])
def test_a_filter_of_a_lazy_report_may_keep_strata_metrics_and_several_models(asked):
    kind = KINDS["strata"]
    whole, plan = (report_of(frame, kind, asked) for frame in (kind.frame, kind.frame.lazy()))
    for kept in (
        pl.col("domain") == "b",
        pl.col("model").is_in(["m0", "m2"]) & (pl.col("domain") != "a"),
        pl.col("k") == 2,
        pl.col("estimate") > 0.3,
    ):
        assert_frame_equal(plan.filter(kept).collect(), whole.filter(kept), **ALIKE)


def independent(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that do not say that models share something, as a caller chose."""
    shared = pl.lit(value=False)
    if "inference" in rows.columns:
        shared |= pl.col("inference").str.contains("other runs alike")
    if "bounds" in rows.columns:
        shared |= pl.col("bounds") == "observed"
    return rows.filter(~shared)


@pytest.mark.every(3)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", KINDS)
def test_the_row_of_a_model_depends_on_no_other_model(name, asked):
    kind, own = KINDS[name], pl.col("model") == "m1"
    whole = whole_report(name, asked)
    alone = answer(lambda: report_of(kind.frame.filter(own), kind, asked))
    if not isinstance(whole, str):
        assert_frame_equal(independent(alone), independent(whole.filter(own)), **ALIKE)


def test_what_models_share_is_named_in_their_rows():
    kind, own = KINDS["equal trials"], pl.col("model") == "m1"
    whole = report_of(kind.frame, kind, "runs alike").filter(own)
    alone = report_of(kind.frame.filter(own), kind, "runs alike")
    assert {*whole["inference"]} == {"calibrated, other runs alike"}
    assert not whole["lo"].equals(alone["lo"])


def lead_of(kind: Kind) -> ps.Metric:
    """A metric with an estimate that models of a log are compared by."""
    if "answer" in kind.roles:
        return ps.vote_at_k(3)
    return ps.avg(w=[0, 0.5, 1]) if kind.roles.get("success") == 2 else ps.avg()


NAMES = {"m0": "z", "m1": "y", "m2": "x", "m3": "w"}
OLD = {new: old for old, new in NAMES.items()}


def renamed(kind: Kind) -> Kind:
    """The log whose models have other names, in another order."""
    frame = kind.frame.with_columns(pl.col("model").replace_strict(NAMES))
    options = dict(kind.options)
    if "prior" in options:
        options["prior"] = options["prior"].with_columns(pl.col("model").replace_strict(NAMES))
    return Kind(frame, kind.roles, kind.metrics, kind.successes, options)


def with_old_names(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the names of the log before, in one order; pairs are there both ways."""
    names = [name for name in ("model", "model_a", "model_b", "better") if name in rows.columns]
    rows = rows.with_columns(pl.col(names).replace(OLD))
    if "model_a" in rows.columns:
        kept = [*{"domain"} & {*rows.columns}, "metric", "k", "model_a", "model_b"]
        rows = rows.select(*kept, "sigma", "diff", "lo", "hi", "prob_better", "better")
        turned = rows.with_columns(
            model_a="model_b", model_b="model_a", diff=-pl.col("diff"), lo=-pl.col("hi"),
            hi=-pl.col("lo"), prob_better=1 - pl.col("prob_better"),
        )  # fmt: skip
        rows = pl.concat([rows, turned])
    keys = ["domain", "model", "model_a", "model_b", "question", "metric", "k"]
    return rows.sort([key for key in keys if key in rows.columns])


@pytest.mark.every(3)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", KINDS)
def test_the_names_of_models_change_no_number_of_a_report(name, asked):
    kind = KINDS[name]
    found = answer(lambda: report_of(renamed(kind).frame, renamed(kind), asked))
    whole = whole_report(name, asked)
    if not isinstance(whole, str):
        assert_frame_equal(with_old_names(found), with_old_names(whole), **ALIKE)


# Calls with the name of a baseline.
DECIDED = {
    "compare": lambda log, metric, _: log.compare(metric),
    "compare pairs": lambda log, metric, _: log.compare(metric, simultaneous=False),
    "compare baseline": lambda log, metric, name: log.compare(metric, baseline=name),
    "rank": lambda log, metric, _: log.rank(metric),
    "best": lambda log, metric, _: log.best(metric).drop("could_be_best"),
    "gate": lambda log, metric, name: log.gate(name, metric, margin=0.05).drop("baseline", "note"),
    "plan": lambda log, metric, _: log.trials_needed(metric, half_width=0.05),
    "regressions": lambda log, _, name: log.regressions(name),
    "population": lambda log, metric, _: log.compare(metric, target="population"),
    "population rank": lambda log, metric, _: log.rank(metric, target="population"),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("call", DECIDED)
@pytest.mark.parametrize("name", KINDS)
def test_the_names_of_models_change_no_decision(name, call):
    kind = KINDS[name]
    metric, ask = lead_of(kind), DECIDED[call]
    whole = answer(lambda: ask(kind.frame.scorio(**kind.roles), metric, "m1"))
    found = answer(lambda: ask(renamed(kind).frame.scorio(**kind.roles), metric, "y"))
    if isinstance(whole, str):
        assert isinstance(found, str)
        return
    names = [name for name in ("inference",) if name in whole.columns and "model_a" in whole]
    found, whole = (with_old_names(rows).drop(names, strict=False) for rows in (found, whole))
    assert_frame_equal(found, whole, **ALIKE)


# The options of a command that a role is.
OPTIONS = {"by": "--by", "cluster": "--cluster", "cost": "--cost", "answer": "--answer",
           "truth": "--truth", "success": "--success", "target": "--target",
           "run": "--run"}  # fmt: skip


def printed_rows(capsys: pytest.CaptureFixture[str], kind: Kind, *command: str) -> pl.DataFrame:
    """The rows that a command prints of a log."""
    kind.frame.write_parquet("log.parquet")
    options = [
        text
        for role, value in kind.roles.items()
        for text in (["--bounds", "0", "1"] if role == "bounds" else [OPTIONS[role], str(value)])
    ]
    metric = str(lead_of(kind))
    main([command[0], "log.parquet", *options, "--metric", metric, "--format", "csv", *command[1:]])
    return pl.read_csv(capsys.readouterr().out.encode(), infer_schema_length=None)


def story_of(kind: Kind) -> Story:
    """The story that a page, a card and the terminal tell of a log."""
    accessor = vars(kind.frame.scorio(**kind.roles))
    roles, settings = accessor["_roles"], Settings.from_options(accessor["_chosen"])
    assert isinstance(roles, Roles)
    *_, story = read_story(kind.frame.lazy(), roles, StoryOptions((lead_of(kind),), settings))
    assert isinstance(story, Story), story
    return story


NUMBERS = ["model", "estimate", "lo", "hi"]


def numbers_of_report(kind: Kind) -> tuple[list[str], pl.DataFrame]:
    """The strata of a log, and the numbers of its report."""
    strata = [*{"domain"} & {*kind.frame.columns}]
    rows = kind.frame.scorio(**kind.roles).report(lead_of(kind))
    return strata, rows.select(*strata, *NUMBERS).sort(*strata, "model")


@pytest.mark.parametrize("name", KINDS)
def test_decisions_have_the_numbers_of_a_report(name):
    kind = KINDS[name]
    metric, log = lead_of(kind), kind.frame.scorio(**kind.roles)
    strata, rows = numbers_of_report(kind)
    ranks = log.rank(metric).select(*strata, *NUMBERS).sort(*strata, "model")
    assert_frame_equal(ranks, rows, **ALIKE)
    if "judge" in kind.roles:  # differences by its sample have rates of their own
        return
    inside = rows.filter(pl.col("estimate").is_between(0, 1, closed="none"))
    score = inside.select(*strata, "model", "estimate")
    for pairs, (a, b) in (
        (log.compare(metric), ("model_a", "model_b")),
        (log.gate("m0", metric, margin=0.1), ("model", "baseline")),
    ):
        known = pairs.join(score, left_on=[*strata, a], right_on=[*strata, "model"]).join(
            score, left_on=[*strata, b], right_on=[*strata, "model"]
        )
        gap = known["estimate"] - known["estimate_right"]
        assert known["diff"].to_list() == pytest.approx(gap.to_list(), abs=1e-12)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", KINDS)
def test_pages_and_commands_have_the_numbers_of_the_methods(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    kind = KINDS[name]
    metric, log = lead_of(kind), kind.frame.scorio(**kind.roles)
    strata, rows = numbers_of_report(kind)
    if "answer" not in kind.roles:  # a page counts no answers
        verdict = story_of(kind).verdict
        scopes = verdict.parts if strata else [verdict.main]
        account = pl.concat(
            scope.rows.filter(metric=metric.name).select(
                *(pl.lit(scope.name).alias(column) for column in strata), *NUMBERS
            )
            for scope in scopes
        )
        assert_frame_equal(account.sort(*strata, "model"), rows, **ALIKE)
    if "judge" not in kind.roles:  # a command reads the sample of a judge from a file
        for command, whole in (
            (["rank"], log.rank(metric)),
            (["compare"], log.compare(metric)),
            (["gate", "--baseline", "m0", "--margin", "0.1"], log.gate("m0", metric, margin=0.1)),
        ):
            said = printed_rows(capsys, kind, *command)
            numbers = [each for each in ("estimate", "diff", "lo", "hi") if each in whole.columns]
            assert_frame_equal(said.select(numbers), whole.select(numbers), **ALIKE)
