"""How many more trials, and of what; how small a difference an evaluation can find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import (
    CHANCE,
    CONFIDENCE,
    SHARE,
    Overall,
    Range,
    Unmatched,
    check_choice,
    check_confidence,
    check_count,
    check_number,
    value_text,
    value_tuple,
)
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import ConfidenceOptions, ConvergenceOptions, DecisionOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.maths.power import Design


class PlanMethods(Accessor[FrameT]):
    """How many trials are enough, within each stratum."""

    @takes_options(ConfidenceOptions)
    def trials_needed(
        self,
        metric: Metric | None = None,
        *,
        half_width: float | None = None,
        power: float = 0.8,
        max_trials: int = 1_000_000,
        simultaneous: bool | None = None,
        unmatched: Unmatched = "error",
        overall: Overall | None = None,
        **options: Unpack[ConfidenceOptions],
    ) -> FrameT:
        """Sample size: further trials of each question until neighbours in the ranking differ.

        After `extra_trials` more trials of each question, the interval of the difference of two
        neighbours excludes zero with probability `power`. Part of today's difference is luck, and
        the plan removes that part.

        Parameters
        ----------
        metric : Metric, optional
            `ps.avg()`, the default, if need be with its weights `w`; plans have no prior.
        half_width : float, optional
            Plan for the interval of each model instead, until it is the score -+ `half_width`: 0.02
            is two points of a hundred.
        power : float
            Probability that the neighbours differ after these trials; not used with `half_width`.
        max_trials : int
            The largest number of further trials of each question that is considered.
        simultaneous : bool, optional
            Whether to plan for verdicts about all pairs of a stratum together, as `compare` makes
            them. Default: yes, unless `half_width` is given.
        unmatched : "error" or "drop"
            What to do about questions that some model lacks: an error, or keep the common ones.
        overall : "macro" or "micro" or dict, optional
            Add rows over all strata, as in `report`: all questions get the further trials.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and pair of neighbours, the best pair first; with `half_width` a row
            per model:

            ======================  ============================================================
            by...                   the stratum
            model_a, model_b        the better and the worse neighbour; with `half_width`: model
            trials_min, trials_max  trials of a question now
            extra_trials            further trials of each question (for both models); null if
                                    `max_trials` are not enough or no difference is left
            total                   further trials of all questions (of both models)
            cost                    with a column of costs: their cost at today's mean
            sigma                   standard error of which the expected interval is made; it also
                                    has what is uncertain of the variance
            ======================  ============================================================

        Raises
        ------
        TypeError
            For any other metric.
        ValueError
            If an argument is out of range, or `simultaneous` comes with `half_width`; and as
            `compare`.

        See Also
        --------
        questions_needed : Further questions in place of trials.
        next_trials : Questions that lower the variance most, batch by batch.

        Examples
        --------
        Of each question 2 of 4 trials were right, and sigma falls with the root of their number.

        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"question": [1] * 4 + [2] * 4, "category": [0, 1] * 4})
        >>> needed = trials.scorio(model=None, trial=None).trials_needed(half_width=0.1)
        >>> needed.select("trials_max", "extra_trials", "total", pl.col("sigma").round(3)).row(0)
        (4, 42, 84, 0.051)
        """
        from polars_scorio.decisions.planner import trials_needed

        return self._rows(
            trials_needed, metric, half_width=half_width, power=power, max_trials=max_trials,
            simultaneous=simultaneous, unmatched=unmatched, overall=overall, **options,
        )  # fmt: skip

    @takes_options(DecisionOptions)
    def questions_needed(
        self,
        metric: Metric | None = None,
        *,
        half_width: float | None = None,
        margin: float | None = None,
        power: float = 0.8,
        max_questions: int = 1_000_000,
        simultaneous: bool | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Sample size: further questions until neighbours in the ranking differ.

        The plan is about the population of questions, whatever the `target` of the accessor is.

        Parameters
        ----------
        metric : Metric, optional
            The metric to compare; default `ps.avg()`. A single k.
        half_width : float, optional
            Half-width that the interval of the difference should have. Default: plan until
            `compare` names a better model.
        margin : float, optional
            Plan instead until it is decided whether `model_b` is worse by more than this margin.
        power : float
            Probability that so many questions are enough.
        max_questions : int
            The largest number of further questions that is considered.
        simultaneous : bool, optional
            As in `trials_needed`. Default: yes, unless `margin` is given.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and pair of neighbours in the ranking, the best pair first:

            ================  ==================================================================
            by...             the stratum
            model_a, model_b  the better and the worse neighbour
            questions         questions now; with clusters, the effective number of questions
            extra_trials      further trials of each question, if runs differ; else 0
            extra_questions   further questions; null if `max_questions` do not suffice, 0 for pairs
                              that differ significantly today
            total             `questions` and `extra_questions` together
            sigma             expected standard error of the difference with `total` questions
            ================  ==================================================================

        Raises
        ------
        ValueError
            If an argument is out of range, or `margin` comes with `half_width` or `simultaneous`;
            and as `compare`.

        See Also
        --------
        trials_needed : Further trials of the same questions.
        gate : Further questions that decide a gate.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 4 + ["bob"] * 4, "question": [1, 2, 3, 4] * 2}
        >>> totals = pl.DataFrame({**totals, "n": 8, "c": [8, 6, 5, 7, 6, 5, 3, 7]})
        >>> log = ps.from_successes(totals).scorio(count="count")
        >>> log.questions_needed(ps.avg()).select("questions", "extra_questions", "total").row(0)
        (4, 80, 84)
        """
        from polars_scorio.decisions.planner import questions_needed

        return self._rows(
            questions_needed, metric, half_width=half_width, margin=margin, power=power,
            max_questions=max_questions, simultaneous=simultaneous, **options,
        )  # fmt: skip

    @takes_options(ConfidenceOptions)
    def next_trials(
        self,
        budget: int,
        metric: Metric | None = None,
        *,
        half_width: float | None = None,
        **options: Unpack[ConfidenceOptions],
    ) -> FrameT:
        """Questions to try again: those whose next trial lowers the variance of a mean most.

        The protocol for intervals of a given width: run a few trials of each question, then repeat
        ``next_trials(batch, half_width=...)`` and run what it names, until every `extra_trials` is
        0.

        Parameters
        ----------
        budget : int
            Number of trials of the next batch, for all models and strata together; at most ten
            million.
        metric : Metric, optional
            `ps.avg()`, the default, if need be with its weights `w`.
        half_width : float, optional
            Spend nothing on a model once its interval is expected to be the score -+ `half_width`.
            Default: spend the whole budget.

        Returns
        -------
        DataFrame or LazyFrame
            A row per question and model: by..., model, question, `trials` (now), `extra_trials`.

        Raises
        ------
        TypeError
            For any other metric.
        ValueError
            If the budget or `half_width` is out of range; for real-valued rewards; and as `report`.

        See Also
        --------
        trials_needed : Further trials of each question, the same number of all.

        Notes
        -----
        Spending and stopping by the outcomes has a cost: after two batches the 95 % interval of
        `ps.avg()` contained the accuracy in .93 of the simulated logs, and in .82 for the worst
        kind of questions. Read ``ps.bayes()`` with ``prior="population"`` beside it, or fix the
        numbers of trials in advance.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": ["easy"] * 4 + ["hard"] * 4, "category": [1] * 4 + [0, 1] * 2}
        >>> log = pl.DataFrame(columns).scorio(model=None, trial=None)
        >>> log.next_trials(10).rows()
        [('easy', 4, 3), ('hard', 4, 7)]
        >>> log.next_trials(100, half_width=0.2)["extra_trials"].to_list()
        [4, 7]
        """
        from polars_scorio.decisions.planner import next_trials

        return self._rows(next_trials, budget, metric, half_width=half_width, **options)

    @takes_options(DecisionOptions)
    def trajectory(
        self, metric: Metric | None = None, **options: Unpack[DecisionOptions]
    ) -> FrameT:
        """Scores and ranks after the first n trials, for each n.

        Parameters
        ----------
        metric : Metric, optional
            The metric to follow; default `ps.avg()`. A single k.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, n and model: by..., n, model, mu, sigma, lo, hi, rank. Trials are
            taken in the order of their ids; a question with fewer than n trials counts with all of
            them.

        Raises
        ------
        ValueError
            If the log has no trial ids, for several draw sizes, for `max_at_k` and `min_at_k` of
            real-valued rewards; and as `compare`.

        See Also
        --------
        convergence : Trials after which the ranking settles.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"model": "ada", "question": 1, "trial": [0, 1, 2], "category": [1, 0, 0]}
        >>> trials = pl.DataFrame(columns)
        >>> trials.scorio.trajectory().select("n", pl.col("mu").round(3)).rows()
        [(1, 1.0), (2, 0.5), (3, 0.333)]
        """
        from polars_scorio.decisions.convergence import trajectory

        return self._rows(trajectory, metric, **options)

    @takes_options(ConvergenceOptions)
    def convergence(
        self, metric: Metric | None = None, **options: Unpack[ConvergenceOptions]
    ) -> FrameT:
        """Number of trials after which the ranking settles [1]_.

        The ranking settles at the smallest n from which on it equals the ranking after all trials.

        Parameters
        ----------
        metric : Metric, optional
            The metric that ranks the models; default `ps.avg()`. A single k.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and n: by..., n, `share` (of the bootstrap replicates that settle at
            n), `cumulative`, and `tau` (mean of Kendall's tau-b between the ranking after n trials
            and the one of the whole log). A last row with n = null has the share that ends
            differently.

        Raises
        ------
        ValueError
            As `trajectory`; for ``scheme="trial"`` if questions have different numbers of trials.
        ImportError
            If `progress` needs a package that is not installed.

        See Also
        --------
        trajectory : Scores and ranks after the first n trials.
        trials_needed : Further trials until neighbours differ.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 3.3 and figure 1.

        Examples
        --------
        Ada is ahead from the third trial on.

        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame(
        ...     {"model": ["ada"] * 4 + ["bob"] * 4, "question": 1, "trial": [0, 1, 2, 3] * 2,
        ...      "category": [0, 1, 1, 1, 1, 0, 0, 0]}
        ... )
        >>> trials.scorio.convergence(replicates=0).select("n", "share", "tau").rows()
        [(1, 0.0, -1.0), (2, 0.0, None), (3, 1.0, 1.0), (4, 0.0, 1.0), (None, 0.0, None)]
        """
        from polars_scorio.decisions.convergence import convergence_plan

        return self._rows(convergence_plan, metric, **options)


# Trials per question of both models, or of each.
Trials: TypeAlias = int | tuple[int, int]

_CORRELATION = Range("a number from -1 to 1", -1, 1, closed=True)
_CLUSTER = Range("a number of at least 1", 1, 1e9, closed=True)
_MOST_MODELS = 10_000
_USUAL = {"rate": 0.5, "spread": 0.6, "correlation": 0.6}
_RANGE = ((0.8, 0.7), (0.4, 0.5))  # spread and correlation of most benchmarks lie between these
_DIFFERENCES = ("difference", "lowest", "highest")
_COLUMNS = ("questions", "trials", "trials_b", *_DIFFERENCES)


def detectable_difference(
    questions: int | list[int],
    trials: Trials | list[int],
    *,
    rate: float | None = None,
    spread: float | None = None,
    correlation: float | None = None,
    like: Accessor[Any] | None = None,
    target: Target = "benchmark",
    confidence: float = CONFIDENCE,
    power: float = 0.8,
    models: int = 2,
    cluster_size: float = 1.0,
    icc: float = 0.0,
) -> pl.DataFrame:
    """Smallest true difference of two models that an evaluation finds: a power analysis [1]_.

    It is the difference of `ps.avg()` for which `compare` names the better model with probability
    `power`, if both models get the same questions.

    Parameters
    ----------
    questions : int or list of int
        Number of questions, at least two.
    trials : int, tuple of two ints, or list of int
        Trials per question: of both models, or ``(n_a, n_b)``.
    rate : float, optional
        Mean success rate of both models; default 0.5.
    spread : float, optional
        Variance of the success rates between questions, as a share of ``rate (1 - rate)``: 0 if all
        questions are equally hard, 1 if each is always or never solved; default 0.6.
    correlation : float, optional
        Correlation between the rates of both models over the questions; default 0.6.
    like : Scorio, optional
        A log of similar models, ``df.scorio(...)``, with two trials or more of each question, from
        which rate, spread and correlation are taken.
    target : "benchmark" or "population"
        Whether the difference is about these questions, or about all that could have been asked.
    confidence : float
        Confidence of the comparison.
    power : float
        Probability that the comparison names the better model.
    models : int
        Number of models that are compared, all pairs at once.
    cluster_size, icc : float
        With ``target="population"``: questions per cluster, and the correlation of differences
        within a cluster.

    Returns
    -------
    DataFrame
        A row for each combination: `questions`, `trials` (or `trials_a` and `trials_b`),
        `difference` (infinite if none is found), and its range over most benchmarks: `lowest`
        (spread 0.8, correlation 0.7) and `highest` (0.4 and 0.5).

    Raises
    ------
    TypeError, ValueError
        If an argument is not of the stated kind or out of its range, or if no two models have such
        a spread and correlation.

    Notes
    -----
    The difference is the expected half-width of the interval plus ``Phi^-1(power)`` standard
    errors. For metrics with k > 1, simulate.

    References
    ----------
    .. [1] E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640.

    Examples
    --------
    More trials help on these questions. About the population mostly more questions do.

    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> table = ps.detectable_difference(100, [1, 4])
    >>> table.select("trials", pl.col("difference", "lowest", "highest").round(3)).rows()
    [(1, 0.152, 0.123, 0.173), (4, 0.068, 0.05, 0.081)]
    >>> table = ps.detectable_difference([100, 500], [1, 16], target="population")
    >>> table.select("questions", "trials", pl.col("difference").round(3)).rows()
    [(100, 1, 0.162), (100, 16, 0.108), (500, 1, 0.071), (500, 16, 0.046)]
    """
    from polars_scorio.maths.power import smallest_difference

    given = {"rate": rate, "spread": spread, "correlation": correlation}
    chosen = {**_USUAL, **({} if like is None else _log_design(like))}
    chosen |= {name: x for name, x in given.items() if x is not None}
    check_choice("target", target, Target)
    about_all = target == "population"
    design = _checked_design(chosen, models, confidence)
    power = check_number("power", power, CHANCE)
    # So many questions in clusters say as much as one that belongs to no cluster.
    cluster_size = check_number("cluster_size", cluster_size, _CLUSTER)
    effect = 1 + (cluster_size - 1) * check_number("icc", icc, SHARE)
    if not about_all and (cluster_size != 1 or icc != 0):
        raise ValueError(
            "cluster_size and icc change only a difference about the population, got target="
            '"benchmark": pass target="population", or omit them'
        )
    about = [design, *(replace(design, spread=s, correlation=r) for s, r in _RANGE)]

    def differences(asked: int, each: tuple[int, int]) -> list[float]:
        if asked <= effect:
            return [float("inf")] * len(_DIFFERENCES)
        runs = (replace(plan, questions=asked / effect, trials=each) for plan in about)
        smallest = [smallest_difference(run, power, population=about_all) for run in runs]
        return [smallest[0], min(smallest), max(smallest)]

    sizes = [check_count("questions", size, least=2) for size in value_tuple(questions)]
    designs = product(sizes, _trial_pairs(trials))
    rows = [(size, *pair, *differences(size, pair)) for size, pair in designs]
    table = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    if isinstance(trials, tuple):
        return table.rename({"trials": "trials_a"})
    return table.drop("trials_b")


def _checked_design(chosen: Mapping[str, float], models: int, confidence: float) -> Design:
    """Two models with the chosen rate, spread and correlation, of so many that are compared."""
    from polars_scorio.maths.families import tukey_critical
    from polars_scorio.maths.power import Design

    number = np.array([check_count("models", models, least=2, most=_MOST_MODELS)])
    design = Design(
        questions=2,
        trials=(1, 1),
        rate=check_number("rate", chosen["rate"], CHANCE),
        spread=check_number("spread", chosen["spread"], SHARE),
        correlation=check_number("correlation", chosen["correlation"], _CORRELATION),
        critical=float(tukey_critical(number, check_confidence(confidence))[0]),
    )
    _check_correlated_spread(design)
    return design


def _log_design(like: Accessor[Any]) -> dict[str, float]:
    """Rate, spread and correlation of the models of a log; of one model no correlation."""
    from polars_scorio.decisions.question_analysis import shared_difficulty

    if not isinstance(like, Accessor):
        raise TypeError(
            f"like must be a log with its roles, df.scorio(...), got {value_text(like)}"
        )
    return shared_difficulty(like._log_study(), like._roles)  # noqa: SLF001 - of this room


def _trial_pairs(trials: Trials | list[int]) -> list[tuple[int, int]]:
    """Trials of both models of each design."""
    counts = [check_count("trials", each) for each in value_tuple(trials)]
    if not isinstance(trials, tuple):
        return [(each, each) for each in counts]
    if len(counts) != 2:
        raise ValueError(
            "trials must be a positive int, a tuple of two for both models, or a list of ints, got "
            f"{value_text(trials)}"
        )
    return [(counts[0], counts[1])]


def _check_correlated_spread(design: Design) -> None:
    """Refuse a spread that two models with the given mean rate and correlation cannot have.

    Raises
    ------
    ValueError
        With the largest spread that there is.
    """
    rarer = min(design.rate, 1 - design.rate)
    largest = 1.0
    if design.correlation < 0:  # the covariance of two such rates is at least -rarer^2
        largest = min(1.0, rarer / ((1 - rarer) * -design.correlation))
    if design.spread > largest + 1e-9:
        raise ValueError(
            f"no two models have spread={design.spread:g} with correlation={design.correlation:g} "
            f"and rate={design.rate:g}: the spread is at most {largest:.3g} then"
        )
    if design.spread == 1 and design.correlation == 1:
        raise ValueError(
            "spread=1 with correlation=1 means that both models solve the same questions: there is "
            "no difference to find. Pass a smaller spread or correlation"
        )
