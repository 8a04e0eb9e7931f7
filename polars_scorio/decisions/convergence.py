"""After how many trials a ranking holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    Unmatched,
    check_choice,
    check_count,
    check_flag,
)
from polars_scorio.counting.categories import Classes
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import Log, Trials, bind_roles, refuse_repeats, result_schema
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS, SEQUENCE, Sequences, question_rows
from polars_scorio.decisions.models import (
    aligned_questions,
    metric_of,
    named_model,
    per_stratum,
)
from polars_scorio.decisions.rank import rank_scores
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.prefix_rankings import Convergence, Scheme, ranking_convergence
from polars_scorio.maths.questions import Outcomes, States, prefix_states
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.request import (
    DecisionOptions,
    PlanOptions,
    Prior,
    Request,
    RewardUse,
    refuse_judge,
    view_of,
)
from polars_scorio.subjects.question_cells import (
    GROUP,
    PREFIX,
    QuestionCells,
    RewardSubject,
    count_matrix,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


_NUMBERS: dict[str, pl.DataType] = dict.fromkeys(("mu", "sigma", "lo", "hi"), pl.Float64())
# Each keeps a number for every trial: 0.8 GB with 100 trials.
_MOST_REPLICATES = 1_000_000
_SHARES: dict[str, pl.DataType] = {
    "n": pl.UInt32(),
    "share": pl.Float64(),
    "cumulative": pl.Float64(),
    "tau": pl.Float64(),
}


def trajectory(
    log: Log, roles: Roles, metric: Metric | None = None, **options: Unpack[DecisionOptions]
) -> pl.LazyFrame:
    """The plan of a trajectory; see `Scorio.trajectory`."""
    request = _ordered_request(bind_roles(log, roles), metric, "trajectory", options)
    trials = request.trials
    numbers = {**_NUMBERS, "rank": pl.UInt32()}
    schema = result_schema(trials.strata, {"n": pl.UInt32()}, trials.models, numbers)
    unmatched = options.get("unmatched", "error")
    questions = aligned_questions(unmatched, alone=trials.model is None)
    return per_stratum(
        request.groups(questions=questions), trials, partial(_trajectory_rows, request), schema
    )


def convergence_plan(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    replicates: int = 1000,
    scheme: Scheme = "trial",
    seed: int = 0,
    progress: bool = False,
    unmatched: Unmatched = "error",
    prior: Prior | None = None,
) -> pl.LazyFrame:
    """The plan of a convergence; see `Scorio.convergence`."""
    check_choice("scheme", scheme, Scheme)
    replicates = check_count("replicates", replicates, least=0, most=_MOST_REPLICATES)
    seed = check_count("seed", seed, least=0, most=None)
    progress = check_flag("progress", progress)
    options: PlanOptions = {"prior": prior}
    request = _ordered_request(bind_roles(log, roles), metric, "convergence", options)
    named_model(request.trials, "convergence")
    refuse_repeats([*request.trials.strata, *_SHARES])
    groups = request.groups(questions=aligned_questions(unmatched))
    made_bar = _progress_bar() if progress else lambda **_: nullcontext()

    def settled(groups: pl.DataFrame) -> pl.DataFrame:
        with made_bar(total=replicates) as bar:
            result = ranking_convergence(
                _trial_outcomes(groups, request),
                _ranked_values(groups, request),
                replicates=replicates,
                scheme=scheme,
                rng=np.random.default_rng(seed),
                progress=None if bar is None else bar.update,
            )
        return _share_rows(result)

    return per_stratum(groups, request.trials, settled, _SHARES)


def _ordered_request(
    trials: Trials, metric: Metric | None, method: str, options: DecisionOptions | PlanOptions
) -> Request:
    """The request for a log whose trials have an order."""
    metric = metric_of(metric, method, "it replays counts of successes, which hold no costs")
    refuse_judge(trials, method)
    if metric.looks_at == "answers":
        raise ValueError(
            f"{metric.name}: {method} follows the outcomes of trials, not their answers: follow "
            "ps.bayes() or ps.maj_at_k"
        )
    if trials.trial is None:
        raise ValueError(
            f"{method} takes the trials of a question in the order of their ids: name their column "
            "with trial="
        )
    known = {key: value for key, value in options.items() if key != "unmatched"}
    use: RewardUse = "allowed" if metric.averages_rewards else "never"
    request = Request.from_trials(trials, [metric], per="model", rewards=use, **known)  # type: ignore[arg-type]  # options of a report
    if view_of(metric, trials) == "rewards" and not metric.averages_rewards:
        raise ValueError(
            f"{metric.name}: rewards of any value have no posterior to follow; pass w= with a "
            "weight for each category"
        )
    return replace(request, classes=request.classes.needing(Sequences()))


def _ordered_sequences(groups: pl.DataFrame, question: str) -> pl.DataFrame:
    """The questions of some groups that have trials, by group and question."""
    rows = question_rows(groups, pl.int_range(pl.len()).alias(":group"))
    return rows.filter(pl.col(SEQUENCE).list.len() > 0).sort(":group", question)


def _trial_outcomes(groups: pl.DataFrame, request: Request) -> Outcomes:
    """The trials of all questions of some groups, by group and question."""
    question, classes = request.trials.question.name, request.classes
    ((_, view),) = request.metrics
    flat = _ordered_sequences(groups, question)
    sizes = flat[SEQUENCE].list.len().to_numpy()
    codes, prior = flat[SEQUENCE].explode(**AS_ROWS).to_numpy(), classes.columns(":d")
    before = (
        count_matrix(flat, prior)
        if request.prior
        else np.zeros((flat.height, classes.size), np.int64)
    )
    if classes.summed:  # `_unit_rewards` are beside them
        codes = np.zeros(codes.size, np.int64)
    if view == "success":
        codes = np.isin(codes, classes.successful).astype(np.int64)
        passed = before[:, classes.successful].sum(axis=1)
        before = np.column_stack([before.sum(axis=1) - passed, passed])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    group = flat[":group"].to_numpy().astype(np.int64)
    return Outcomes(codes, offsets, group, groups.height, before)


def _unit_rewards(groups: pl.DataFrame, question: str) -> Floats:
    """The rewards of the trials of `_trial_outcomes`, between 0 and 1."""
    # Rankings are those of the rewards, and models tie whose means differ by rounding alone.
    rewards = _ordered_sequences(groups, question)[SEQUENCE].explode(**AS_ROWS).to_numpy()
    low, high = rewards.min(initial=np.inf), rewards.max(initial=-np.inf)
    return np.asarray((rewards - low) / (high - low if high > low else 1.0))


def _question_cells(states: States, request: Request) -> QuestionCells:
    """The cells of `_outcomes`, which are failure and success for a metric of success."""
    ((_, view),) = request.metrics
    two = Classes((0, 1), (1,))
    return QuestionCells.from_states(states, two if view == "success" else request.classes)


def _prefix_cells(groups: pl.DataFrame, request: Request) -> tuple[QuestionCells, Ints, Ints]:
    """The cells of each model after each n, with the place of the model and n.

    Of real-valued rewards without given bounds, each n has a range of its own.
    """
    rewards = request.classes.need(RewardSubject)
    if rewards is None or not request.classes.summed:
        states, group, n = prefix_states(_trial_outcomes(groups, request))
        return _question_cells(states, request), group, n
    first = rewards.prefixes(groups, request.classes)
    n, group = first[PREFIX].to_numpy(), first[GROUP].to_numpy()
    return request.cells(first[QUESTIONS], strata=n - 1), group, n


def _trajectory_rows(request: Request, groups: pl.DataFrame) -> pl.DataFrame:
    """The scores and ranks of the models of a stratum after each n."""
    cells, group, n = _prefix_cells(groups, request)
    ((metric, view),) = asked = cells.settled(request.metrics)
    inference = request.choice.inference_of(metric, view)
    numbers = inference.numbers(asked, cells)[metric.name, metric.row_sizes[0]]
    frame = groups.drop(QUESTIONS)[group].with_columns(
        pl.Series("n", n),
        *(pl.Series(name, getattr(numbers, name), nan_to_null=True) for name in _NUMBERS),
    )
    lower = request.trials.roles.lower_is_better
    ranks = rank_scores(-pl.col("mu") if lower else "mu").over("n").alias("rank")
    return frame.sort("n", *request.trials.models).with_columns(ranks)


def _ranked_values(groups: pl.DataFrame, request: Request) -> Floats | Callable[[States], Floats]:
    """The rewards of the trials of some groups, or their scores after some trials: higher first."""
    sign = -1 if request.trials.roles.lower_is_better else 1
    if request.classes.summed:
        return sign * _unit_rewards(groups, request.trials.question.name)
    ((metric, view),) = request.metrics
    inference, k = request.choice.inference_of(metric, view), metric.row_sizes[0]

    def score(states: States) -> Floats:
        cells = _question_cells(states, request)
        return sign * inference.ranking_numbers(metric, view, k, cells)

    return score


def _share_rows(result: Convergence) -> pl.DataFrame:
    """The result as a frame; n is null for replicates that never settle."""
    n = np.arange(1, result.share.size + 1)
    columns = {"n": n, "share": result.share, "cumulative": np.cumsum(result.share)}
    by_n = pl.DataFrame(columns).with_columns(tau=pl.Series(result.tau).fill_nan(None))
    never = pl.DataFrame({"n": None, "share": result.never}, schema_overrides=by_n.schema)
    return pl.concat([by_n, never], how="diagonal")


def _progress_bar() -> Callable[..., Any]:
    """A progress bar, if the package for it is there."""
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            'progress=True needs tqdm: pip install "polars-scorio[progress]", or omit progress='
        ) from None
    return lambda total: tqdm(total=total, unit=" replicates")
