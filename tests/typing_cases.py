# pyright: reportUnnecessaryTypeIgnoreComment=error
"""What type checkers make of the package. Checked by mypy --strict, pyright and pyrefly; never run.

A wrong use is marked with `type: ignore`, and a mark where a checker sees nothing wrong is an error
for that checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

import polars_scorio as ps
from polars_scorio.decisions.rank import best
from polars_scorio.decisions.reruns import reruns

if TYPE_CHECKING:
    from typing_extensions import assert_type  # noqa: TC004 - never run

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def frames_come_out_as_they_go_in(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    assert_type(ps.scorio(df), ps.Scorio[pl.DataFrame])
    assert_type(ps.scorio(lf), ps.Scorio[pl.LazyFrame])
    assert_type(ps.scorio(df).report(ps.bayes(), ps.pass_at_k([1, 2])), pl.DataFrame)
    assert_type(ps.scorio(lf).report(ps.bayes(), ps.pass_at_k([1, 2])), pl.LazyFrame)
    assert_type(ps.scorio(df).counts(), pl.DataFrame)
    assert_type(ps.scorio(lf).counts(), pl.LazyFrame)
    assert_type(ps.scorio(df).population(), pl.DataFrame)
    assert_type(ps.scorio(lf).population(prior=df), pl.LazyFrame)
    assert_type(ps.scorio(df).bayes(), pl.DataFrame)
    assert_type(ps.scorio(lf).avg([0, 1]), pl.LazyFrame)
    assert_type(ps.scorio(df).pass_at_k(2), pl.DataFrame)
    assert_type(ps.scorio(lf).pass_hat_k([1, 2]), pl.LazyFrame)
    assert_type(ps.scorio(df).report(ps.unanimous_at_k(2)), pl.DataFrame)
    assert_type(ps.scorio(lf).report(ps.g_pass_at_k(2)), pl.LazyFrame)
    assert_type(ps.scorio(df).maj_at_k(), pl.DataFrame)
    assert_type(ps.scorio(lf).report(ps.geo_spectrum_at_k(2, lam=0.25)), pl.LazyFrame)
    assert_type(ps.scorio(df).max_at_k([1, 2], w=[0, 1], bounds="range"), pl.DataFrame)


def what_people_read(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    board = ps.scorio(lf).leaderboard(ps.bayes(), confidence=0.9, overall="micro")
    assert_type(board, pl.DataFrame)
    assert_type(ps.to_markdown(board), str)
    assert_type(ps.to_latex(board, percent=False), str)
    assert_type(ps.to_metrics(board), dict[str, float])
    ps.to_markdown(lf)  # type: ignore[arg-type]
    plot = ps.scorio(df).plot
    plot.intervals(ps.bayes(), overall="macro", confidence=0.9).save("picture.png")
    plot.curve(16)
    plot.curve([1, 2], prior="population")
    plot.curve([1, 2]).properties(title="x")
    plot.intervals(wide=True)  # type: ignore[call-arg]
    plot.pie()  # type: ignore[attr-defined]


def pipe_is_a_way_in(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    assert_type(df.pipe(ps.scorio), ps.Scorio[pl.DataFrame])
    assert_type(lf.pipe(ps.scorio), ps.Scorio[pl.LazyFrame])
    assert_type(df.pipe(ps.scorio, model=None, trial=None).bayes(), pl.DataFrame)
    assert_type(lf.pipe(ps.scorio, model=None, n=4).pass_at_k(2), pl.LazyFrame)
    df.pipe(ps.scorio, modle=None)  # type: ignore[arg-type]
    lf.pipe(ps.scorio, n="4")  # type: ignore[arg-type]


def either_kind_of_frame(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame | pl.LazyFrame:
    assert_type(ps.scorio(frame), "ps.Scorio[pl.DataFrame] | ps.Scorio[pl.LazyFrame]")
    return ps.scorio(frame, trial=None).report(ps.bayes())


def the_same_kind_of_frame(frame: FrameT) -> FrameT:
    return ps.scorio(frame, trial=None).report(ps.bayes())


def roles(df: pl.DataFrame, names: list[str], labels: list[str]) -> None:
    configured = ps.scorio(df, by=names, success=labels, missing="drop", validate=False)
    assert_type(configured, ps.Scorio[pl.DataFrame])
    assert_type(configured(model="llm", success=2, missing=0, n=80), ps.Scorio[pl.DataFrame])
    ps.scorio(df, model=None, trial=None, by=("a", pl.col("b")), count="rows", success=True)
    ps.scorio(df)(category="reward", threshold=0.5, model=pl.concat_str("a", "b"), by="domain")
    ps.scorio(df)(modle="llm")  # type: ignore[call-arg]
    ps.scorio(df)(question=None)  # type: ignore[arg-type]
    ps.scorio(df)(by=3)  # type: ignore[arg-type]
    ps.scorio(names)  # type: ignore[call-overload]


def metrics_are_values(df: pl.DataFrame) -> None:
    metrics: list[ps.Metric] = [ps.bayes(), ps.avg(), ps.pass_at_k(2), ps.pass_hat_k([1, 2])]
    metrics += [ps.unanimous_at_k(range(1, 4)), ps.g_pass_at_k(np.arange(1, 4))]
    assert_type(ps.scorio(df).report(*metrics), pl.DataFrame)
    assert_type({metric.name for metric in metrics}, set[str])
    assert_type(metrics[0].k, "tuple[int | None, ...]")
    metrics[0].name = "x"  # type: ignore[misc]
    ps.scorio(df).report(ps.bayes)  # type: ignore[arg-type]
    ps.scorio(df).report("bayes")  # type: ignore[arg-type]


def arguments_of_metrics(by_label: dict[str, float], by_code: dict[int, float]) -> None:
    ps.bayes(w=[0, 0.5, 1], bounds=(0, 1), name="x")
    ps.bayes(w=by_label)
    ps.avg(w=by_code)
    ps.avg({"wrong": 0, "right": 1})
    ps.avg(w=np.array([0.0, 1.0]), bounds=None)
    ps.bayes(w=pl.Series([0.0, 1.0]))
    ps.pass_at_k([1, 2], bounds=None)
    ps.pass_at_k("2")  # type: ignore[arg-type]
    ps.pass_at_k(1.5)  # type: ignore[arg-type]
    ps.pass_at_k()  # type: ignore[call-arg]
    ps.bayes(bounds=(0, 0.5, 1))  # type: ignore[arg-type]
    ps.bayes(w={0: "a"})  # type: ignore[arg-type]


def options(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    assert_type(ps.scorio(df).bayes(confidence=0.9, per="question", prior=lf), pl.DataFrame)
    assert_type(ps.scorio(lf).report(ps.bayes(), prior=df), pl.LazyFrame)
    assert_type(ps.scorio(lf).pass_at_k(2, prior=None, confidence=0.5, name="x"), pl.LazyFrame)
    assert_type(ps.scorio(df).pass_at_k(4, confidence=0.9), pl.DataFrame)
    accessor = ps.scorio(df)
    accessor.bayes(confidnce=0.9)  # type: ignore[call-arg]
    accessor.avg(confidence="0.9")  # type: ignore[arg-type]
    accessor.avg(prior="wald")  # type: ignore[arg-type]
    accessor.avg(per="models")  # type: ignore[arg-type]
    accessor.pass_at_k(2, pass_power=0.5)  # type: ignore[call-arg]
    accessor.counts(per="model")  # type: ignore[call-arg]


def rubrics(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    rubric = ps.rubrics.ood_robustness(is_correct="solved", prompt_bpt=pl.col("bits"), ood_q=0.8)
    assert_type(rubric, ps.rubrics.Rubric)
    assert_type(ps.rubrics.schemata(), "tuple[ps.rubrics.Rubric, ...]")
    assert_type(rubric.expr(over=["dataset"]), pl.Expr)
    assert_type(rubric.weights(invalid=-1), dict[str, float])
    kept = ps.rubrics.thresholds(df, over="dataset", tokens_q=(0.2, 0.8))
    assert_type(kept, pl.DataFrame)
    assert_type(ps.rubrics.thresholds(lf), pl.LazyFrame)
    assert_type(ps.scorio(df).rubric(rubric, over="dataset"), ps.Scorio[pl.DataFrame])
    assert_type(ps.scorio(lf).rubric(rubric, thresholds={"ood": 1}), ps.Scorio[pl.LazyFrame])
    ps.scorio(lf).rubric(rubric, over="dataset", thresholds=kept).bayes(rubric.weights())
    ps.rubrics.rubric("r", {"slow": pl.col("seconds") > 60}, otherwise="fast", success="fast")
    ps.rubrics.rubric("r", {"slow": True}, otherwise="fast")  # type: ignore[dict-item]
    ps.rubrics.rubric("r", {"slow": pl.lit(1)})  # type: ignore[call-arg]
    ps.rubrics.exact_match(is_corect="solved")  # type: ignore[call-arg]


def decisions(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    assert_type(ps.scorio(df).compare(ps.pass_at_k([1, 2]), baseline="m"), pl.DataFrame)
    assert_type(ps.scorio(lf).compare(unmatched="drop"), pl.LazyFrame)
    assert_type(
        ps.scorio(df).gate("m", margin=0.02, every_stratum=True, planned_trials=16), pl.DataFrame
    )
    assert_type(ps.scorio(lf).regressions("m", fdr=0.1), pl.LazyFrame)
    assert_type(ps.scorio(df, cost="usd").frontier(ps.avg()), pl.DataFrame)
    assert_type(ps.scorio(df).questions(per="cluster", unmatched="drop"), pl.DataFrame)
    assert_type(ps.scorio(df).rank(ps.avg(), method="dense", ties="overlap"), pl.DataFrame)
    assert_type(ps.scorio(lf).rank(prior="population", target="population"), pl.LazyFrame)
    assert_type(ps.scorio(df).trials_needed(half_width=0.02), pl.DataFrame)
    assert_type(ps.scorio(lf).trials_needed(ps.avg(), max_trials=100), pl.LazyFrame)
    assert_type(ps.scorio(df).next_trials(100, ps.avg(), half_width=0.1), pl.DataFrame)
    assert_type(ps.scorio(lf).next_trials(100, confidence=0.9), pl.LazyFrame)
    assert_type(ps.scorio(df).trajectory(ps.pass_at_k(2), confidence=0.9), pl.DataFrame)
    assert_type(ps.scorio(lf).convergence(replicates=0, scheme="question"), pl.LazyFrame)
    assert_type(ps.rank_scores("mu", method="average", tol=0.01), pl.Expr)
    assert_type(ps.rank_scores(pl.col("mu")).over("domain"), pl.Expr)
    accessor = ps.scorio(df)
    accessor.compare(per="question")  # type: ignore[call-arg]
    accessor.compare(unmatched="any")  # type: ignore[arg-type]
    accessor.rank(ties="ci")  # type: ignore[arg-type]
    accessor.trials_needed(target="population")  # type: ignore[call-arg]
    accessor.trials_needed(half_width="0.1")  # type: ignore[arg-type]
    accessor.next_trials()  # type: ignore[call-arg]
    accessor.next_trials(10, per="model")  # type: ignore[call-arg]
    accessor.trajectory(unmatched=True)  # type: ignore[arg-type]
    accessor.convergence(scheme="trials")  # type: ignore[arg-type]
    ps.rank_scores("mu", method="min")  # type: ignore[arg-type]


def methods_are_checked_against_what_answers(df: pl.DataFrame) -> None:
    rows = ps.scorio(df)._rows  # noqa: SLF001 - by which all methods answer
    assert_type(rows(best, candidates=2, confidence=0.9), pl.DataFrame)
    rows(best, candidats=2)  # type: ignore[call-arg]
    rows(reruns, n="two")  # type: ignore[arg-type]


def registered_namespaces_are_unknown(df: pl.DataFrame, lf: pl.LazyFrame) -> None:
    df.scorio.bayes()  # type: ignore[attr-defined]
    lf.scorio.bayes()  # type: ignore[attr-defined]


def expressions(df: pl.DataFrame) -> None:
    category = ps.scorio(pl.col("category"))
    assert_type(category, ps.ScorioExpr)
    assert_type(category(success=["good", "fair"], missing="drop"), ps.ScorioExpr)
    assert_type(ps.scorio(pl.col("category"), success=2), ps.ScorioExpr)
    assert_type(category.pass_at_k(4), pl.Expr)
    assert_type(category.g_pass_at_k_tau(4, tau=0.5), pl.Expr)
    assert_type(category.bayes(w=[0, 0.5, 1]), pl.Expr)
    assert_type(category.posterior(ps.pass_at_k(4), confidence=0.9), pl.Expr)
    assert_type(ps.pass_at_k(4).expr(n="n", successes=pl.col("c")), pl.Expr)
    assert_type(ps.bayes().posterior_expr(n="n", successes="c", confidence=0.8), pl.Expr)
    category.pass_at_k()  # type: ignore[call-arg]
    category.pass_at_k(4, w=[0, 1])  # type: ignore[call-arg]
    category(model="llm")  # type: ignore[call-arg]
    ps.scorio(pl.col("category"), model="llm")  # type: ignore[call-overload]
    ps.pass_at_k(4).expr("n", "c")  # type: ignore[call-arg]
    df.select(pl.col("category").scorio.bayes())  # type: ignore[attr-defined]
    ps.bayess()  # type: ignore[attr-defined]
