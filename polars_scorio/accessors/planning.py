"""The methods of the accessor that plan: how many more trials, and of what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Overall, Per, Unmatched
from polars_scorio.counting.roles import Category
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import ConvergenceOptions, DecisionOptions, PlanOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


class PlanMethods(Accessor[FrameT]):
    """How many trials are enough, within each stratum."""

    @takes_options(PlanOptions)
    def trials_needed(
        self,
        metric: Metric | None = None,
        *,
        half_width: float | None = None,
        confidence: float | None = None,
        power: float = 0.8,
        max_trials: int = 1_000_000,
        simultaneous: bool | None = None,
        unmatched: Unmatched = "error",
        overall: Overall | None = None,
        planned_trials: int | None = None,
        **options: Unpack[PlanOptions],
    ) -> FrameT:
        """Sample size: further trials of each question that tell neighbours apart.

        `extra_trials` is the number for two neighbours in the ranking, or with `half_width` for a
        model. Part of today's difference is luck, and further trials move it: after `extra_trials`
        of them, the interval of the difference excludes zero with the chance `power`.

        Parameters
        ----------
        metric : Metric, optional
            `ps.avg()`, the default, or `ps.bayes()`: for these the answer has a closed form.
        half_width : float, optional
            Instead of telling neighbours apart: how many trials until the interval of each model is
            mu -+ half_width, in units of the metric (0.02 is two points of a hundred).
        confidence : float, optional
            Of that interval, or of the interval of the difference; default: as the accessor says,
            else 0.95.
        power : float
            The chance that neighbours are told apart after these trials, whichever is the better
            one. The notes say how far it holds. Not used with `half_width`.
        max_trials : int
            The largest number of further trials of each question that is considered.
        simultaneous : bool, optional
            Whether to plan for verdicts that hold for all pairs of a stratum at once, as those of
            `compare` and `rank` do; default: yes, unless `half_width` is about each model.
        unmatched : "error" or "drop"
            As in `compare`; only for neighbours in the ranking.
        overall : "macro" or "micro", optional
            Add rows over all strata, as in `compare`: all questions get the further trials.
        planned_trials : int, optional
            Planned trials of each question, for looks again and again, as in `compare`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model, or per pair of neighbours in the ranking (`model_a` is the
            better one, the best pair comes first):

            ======================  ============================================================
            by...                   the stratum
            model                   or model_a, model_b
            trials_min, trials_max  trials of a question now
            extra_trials            further trials of each question, the same number for both models
                                    of a pair; null if `max_trials` are not enough
            total                   further trials of all questions (of both models)
            cost                    with the role `cost`: of them, at today's mean costs
            sigma                   expected sigma (of the difference) after them
            ======================  ============================================================

        Raises
        ------
        TypeError
            For any other metric.
        ValueError
            If `half_width` or `max_trials` is not positive, `power` is not between 0 and 1, or
            `simultaneous` comes with a half width; without one also as `compare`.

        See Also
        --------
        questions_needed : Further questions in place of trials.
        next_trials : How to spend a budget of trials.

        Notes
        -----
        Where the numbers are about other runs (`run`), each further trial of a question is one of a
        run of its own, and the interval is Student's by the number of runs.

        The answer is for one further look. Looking again and again makes false winners:
        `planned_trials`.
        For all pairs at once z is Tukey's critical value. The spread of all models
        counts: of the checkpoints of a training keep those that may be the `best`.

        A question with the posterior Dirichlet(nu), T = sum nu, has the variance v = S / (T + 1), S
        the variance of the weight of one trial; by the law of total variance one more trial is
        expected to leave v - Var(E[score | trial]) = v - S / (T + 1)^2 = v T / (T + 1), and m of
        them v T / (T + m). For `avg` that is rescaled by ((T + m) / (n + m))^2. The expected
        squared sigma is the sum over the questions divided by M^2.

        With d the difference now, s_0 and s_m its sigma now and then, the true difference is taken
        to be normal with mean B d and variance B s_0^2, where B is the share of the spread of all
        models of the stratum that is more than noise (see `rank`). With w = s_m^2 / s_0^2 the
        difference then is normal with mean e = abs(d) (w + (1 - w) B) and variance
        r^2 = s_0^2 (1 - w) (w + (1 - w) B), and the power is
        Phi((e - z s_m) / r) + Phi((-e - z s_m) / r). If B = 0, all of the spread may be noise, and
        no number is given. Pairs that `compare` tells apart today need nothing.

        In simulations of a goal of .8, of the pairs with a number .75 were told apart for 2 models
        that spread by a standard error, .79 for 5 and .80 for 10; .67 to .79 if they spread by .7
        of it, .42 to .65 by .3 (20,000 rows each). Without B 2 models had .66, .58 and .32.

        Calibrated numbers are planned with ``prior="population"``: the fitted prior is held fixed,
        v is the variance of a question under it and T its ratio to the expected variance of a
        trial's weight; what the questions share of the uncertainty of that prior shrinks with them.

        Examples
        --------
        One question with 0 of 1: v = 1/18, T = 3; sigma = 0.1 needs 1/18 * 3 / (3 + m) <= 0.01.

        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"model": ["ada"], "question": [1], "category": [0]})
        >>> uniform = trials.scorio(trial=None, prior="uniform")
        >>> needed = uniform.trials_needed(ps.bayes(), half_width=0.196)
        >>> needed.select("trials_max", "extra_trials", "total", pl.col("sigma").round(4)).row(0)
        (1, 14, 14, 0.099)
        """
        from polars_scorio.decisions.planner import trials_needed

        plan = trials_needed(
            self._log_study(),
            self._roles,
            metric,
            half_width=half_width,
            confidence=self._chosen.get("confidence", 0.95) if confidence is None else confidence,
            power=power,
            max_trials=max_trials,
            simultaneous=simultaneous,
            unmatched=unmatched,
            overall=overall,
            planned_trials=(
                self._chosen.get("planned_trials") if planned_trials is None else planned_trials
            ),
            **self._planning(options),
        )
        return self._returned(plan)

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
        """Sample size: further questions that show which of two neighbours is better.

        The plan is about the population of questions, also if the accessor has another `target`.

        Parameters
        ----------
        metric : Metric, optional
            What to compare; default `ps.avg()`. One draw size at a time.
        half_width : float, optional
            Wanted half-width of the interval. Default: plan until `compare` names a better model.
        margin : float, optional
            In its place: plan until it is decided whether `model_b` is worse by more than this. For
            a candidate and its baseline use `extra_trials` of ``gate(..., target="population")``.
        power : float
            The chance with which so many questions are enough, as in `trials_needed`.
        max_questions : int
            The most further questions that are considered.
        simultaneous : bool, optional
            As in `trials_needed`; default: yes, unless `margin` is that of one gate.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and pair of neighbours in the ranking; the best pair comes first:

            ================  ==================================================================
            by...             the stratum
            model_a, model_b  the models; `model_a` is the better one
            questions         questions now; with clusters, the independent ones that they equal
            extra_trials      further trials of each question, if runs differ; see below
            extra_questions   further questions; null if `max_questions` do not suffice
            total             `questions` and `extra_questions` together
            sigma             expected sigma of the difference with `total` questions
            ================  ==================================================================

        Raises
        ------
        ValueError
            If `half_width` or `max_questions` is not positive, `margin` is negative or comes with a
            half width or with `simultaneous`, or `power` is not between 0 and 1; and as
            `compare` of a population.

        See Also
        --------
        trials_needed : Further trials of the same questions.
        gate : Further questions that decide a gate.

        Notes
        -----
        The chance is the one of `trials_needed`, with w = M / (M + m) for m further questions,
        Student's quantile with M + m - 1 degrees of freedom, and s_0 the standard error of the
        paired differences without the allowance for outcomes that were never seen.
        `extra_questions` is 0 for pairs that `compare` tells apart today.

        Where the numbers are about other runs (`run`), no number of questions lowers what few runs
        leave open. Then `extra_trials` is the number of further trials of each question, each in a
        run of its own, with which questions and trials together are fewest; else it is 0.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 4 + ["bob"] * 4, "question": [1, 2, 3, 4] * 2}
        >>> totals = pl.DataFrame({**totals, "n": 8, "c": [8, 6, 5, 7, 6, 5, 3, 7]})
        >>> log = ps.from_successes(totals).scorio(count="count")
        >>> log.questions_needed(ps.avg()).select("questions", "extra_questions", "total").row(0)
        (4, 28, 32)
        """
        options = self._with(options)
        from polars_scorio.decisions.planner import questions_needed

        plan = questions_needed(
            self._log_study(),
            self._roles,
            metric,
            half_width=half_width,
            margin=margin,
            power=power,
            max_questions=max_questions,
            simultaneous=simultaneous,
            **options,
        )
        return self._returned(plan)

    @takes_options(PlanOptions)
    def next_trials(
        self,
        budget: int,
        metric: Metric | None = None,
        *,
        models: Category | Iterable[Category] | None = None,
        per: Per = "question",
        **options: Unpack[PlanOptions],
    ) -> FrameT:
        """Questions to try again: the spending of a budget that leaves the least noise.

        The allocation minimises the expected squared sigmas, summed over models and strata. Each
        further trial of a question gains less than the one before, so taking the largest gains one
        by one is optimal.

        Parameters
        ----------
        budget : int
            Number of trials, for all models and strata together.
        metric : Metric, optional
            `ps.avg()`, the default, or `ps.bayes()`.
        models : category or several of them, optional
            Spend on these models only; default: on all.
        per : "question" or "model"
            How much to spend on each question, the default; or a summary for each model.

        Returns
        -------
        DataFrame or LazyFrame
            Per question: by..., model, question, trials (until now) and extra, sorted by the keys;
            `extra_trials` sums up to the budget. Per model: by..., model, questions, trials, extra,
            and sigma now (`sigma`), as expected after the same budget is spread equally over all
            questions of these models (`sigma_equal`), and after this allocation (`sigma_next`).
            With the role `cost` both have `cost`, that of `extra_trials` at the mean of the model.

        Raises
        ------
        TypeError
            For any other metric.
        ValueError
            If the budget is not positive, or `models` are not in the log; for real-valued rewards,
            whose numbers assume that trials do not depend on them; and as `report`.

        See Also
        --------
        trials_needed : Further trials of each question.

        Notes
        -----
        The gain of trial m + 1 is v T / ((T + m) (T + m + 1)) / M^2, see `trials_needed`. Who
        spends this way lets the number of trials depend on outcomes: read the next report with
        ``ps.bayes()`` and ``prior="population"``. In simulations its error was smaller than that of
        `ps.avg()` in 14 of 14 cells, and its 95 % intervals held the truth in .95 of the cases, in
        the worst cell .90 (`ps.avg()`: .93, .80). A filter after it does not reach the scan.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": ["easy"] * 4 + ["hard"] * 4, "category": [1] * 4 + [0, 1] * 2}
        >>> trials = pl.DataFrame(columns)
        >>> trials.scorio(model=None, trial=None).next_trials(10).rows()
        [('easy', 4, 3), ('hard', 4, 7)]
        """
        from polars_scorio.decisions.planner import next_trials

        planned = self._planning(options)
        plan = next_trials(
            self._lazy(), self._roles, budget, metric, models=models, per=per, **planned
        )
        return self._returned(plan)

    @takes_options(DecisionOptions)
    def trajectory(
        self, metric: Metric | None = None, **options: Unpack[DecisionOptions]
    ) -> FrameT:
        """Scores and ranks as they developed: a report of the first n trials, for each n.

        Parameters
        ----------
        metric : Metric, optional
            What to follow; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, n = 1..N and model, sorted by these: by..., n, model, mu, sigma, lo,
            hi, rank. The trials of a question are in the order of their ids; one with fewer than n
            counts with all of them. A model has rows up to the trials of its longest question, with
            competition ranks by mu among those that have a row. All trials are held in memory.

        Raises
        ------
        ValueError
            If rows carry no trial ids, for several draw sizes, for the best or the worst of real-
            valued rewards (their `avg` is followed); and as `compare`.

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
        options = self._with(options)
        from polars_scorio.decisions.convergence import trajectory

        return self._returned(trajectory(self._lazy(), self._roles, metric, **options))

    @takes_options(ConvergenceOptions)
    def convergence(
        self, metric: Metric | None = None, **options: Unpack[ConvergenceOptions]
    ) -> FrameT:
        """Number of trials after which the ranking settles [1]_.

        A sequence of trials converges at the smallest n from which on the ranking after n trials of
        each question is that of all trials of the log.

        Parameters
        ----------
        metric : Metric, optional
            By what the models are ranked; default `ps.avg()`. One draw size at a time.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and n = 1..N, and a last one with n = null for what never converges,
            since it ends with another ranking: by..., n, share (of the replicates that converge at
            n), cumulative, and tau, the mean of Kendall's tau-b of the ranking after n trials
            against that of all trials (without replicates where it ties all models).

        Raises
        ------
        ValueError
            As `trajectory`; with ``scheme="trial"`` for different numbers of trials.
        ImportError
            If `progress` needs a package that is not there.

        See Also
        --------
        trajectory : Scores and ranks after the first n trials.
        trials_needed : Further trials that tell neighbours apart.

        Notes
        -----
        ``prior="population"`` fits one to each model, n and replicate, which takes long.

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
        options = self._planning(options)
        from polars_scorio.decisions.convergence import convergence_plan

        return self._returned(convergence_plan(self._lazy(), self._roles, metric, **options))
