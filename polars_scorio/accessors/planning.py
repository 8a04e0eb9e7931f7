"""The methods of the accessor that plan: how many more trials, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Overall, Unmatched
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import ConfidenceOptions, ConvergenceOptions, DecisionOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
