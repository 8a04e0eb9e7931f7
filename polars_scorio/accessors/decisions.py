"""Compare, rank, best, gate, judges, frontier, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Overall, Per, RankMethod, RankTies, Unmatched
from polars_scorio.counting.roles import Category
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import (
    ConfidenceOptions,
    DecisionOptions,
    GateOptions,
    GateRules,
    SequentialOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class DecisionMethods(Accessor[FrameT]):
    """From estimates to decisions, within each stratum."""

    @takes_options(SequentialOptions)
    def compare(
        self,
        metric: Metric | None = None,
        *,
        baseline: Category | None = None,
        simultaneous: bool = True,
        overall: Overall | None = None,
        **options: Unpack[SequentialOptions],
    ) -> FrameT:
        """Paired differences between models, with confidence intervals and verdicts [1]_.

        Parameters
        ----------
        metric : Metric, optional
            The metric to compare; default `ps.avg()`.
        baseline : category, optional
            Compare every other model with this one. Default: all pairs of models.
        simultaneous : bool
            True, the default: all intervals of a stratum hold together with `confidence` [2]_: m
            pairs with a baseline at ``confidence ** (1 / m)`` each, all pairs at Tukey's critical
            value; the k of a curve count as ``1 + log2(k_max / k_min)`` statements. False: each
            interval by itself, as is a row whose k exceeds the trials of a model.
        overall, prior, target, confidence : optional
            As in `report`.
        planned_trials, planned_questions : int, optional
            For early stopping: the trials of each question that you planned before you saw any
            results, or with ``target="population"`` the questions. Intervals and verdicts are then
            valid at any time. Default: only once.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, k and pair of models:

            ================  ==================================================================
            by..., model_a,   the stratum and the pair; a baseline is `model_b`
            model_b
            metric, k         the metric, and its draw size
            inference         the kind of interval, as in `report`
            adjusted_for      the verdicts that are right together: "all pairs", "all with the
                              baseline" or "each pair alone"; with several k also "... and k"
            z                 standardized difference: the critical value at which the interval
                              begins to exclude zero; positive if model_a is ahead
            prob_better       probability that model_a is better, for this pair by itself: Phi(z)
            sigma             standard error of diff
            diff              score of model_a minus score of model_b
            lo, hi            confidence interval of diff
            better            the better model if the interval excludes zero; else null
            ================  ==================================================================

            If k exceeds the trials of a model, there is no verdict. The guide's page on all columns
            lists those that several k, rewards, judges and `planned_trials` add.

        Raises
        ------
        TypeError, ValueError
            As `report`; if models have different questions, or a stratum lacks the baseline.

        Warns
        -----
        PriorWarning
            If a verdict depends on the default prior of `bayes`.
        UserWarning
            If no stratum has two models; the result has no rows then.

        See Also
        --------
        rank : The order of the models.
        gate : Pass or fail against a baseline, with a margin.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2.
        .. [2] Z. Sidak (1967), JASA 62, 626-633; all pairs: A. J. Hayter (1984), Annals of
           Statistics 12(1), 61-75.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 5, 5, 1]}  # trials and successes
        >>> pair = ps.from_successes(pl.DataFrame(totals)).scorio(count="count").compare()
        >>> pair.select("model_a", pl.col("diff", "prob_better").round(3), "better").row(0)
        ('ada', 0.333, 0.983, 'ada')
        """
        from polars_scorio.decisions.compare import compare

        return self._rows(
            compare, metric, baseline=baseline, simultaneous=simultaneous, overall=overall,
            warns=True, **options,
        )  # fmt: skip

    @takes_options(DecisionOptions)
    def best(
        self,
        metric: Metric | None = None,
        *,
        candidates: int | None = None,
        overall: Overall | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Best model of each stratum, with its score corrected for being selected (winner's curse).

        Parameters
        ----------
        metric : Metric, optional
            The metric that selects; default `ps.avg()`. A single k.
        candidates : int, optional
            Number of models from which the best was selected, if more were tried than the log has,
            such as checkpoints. Default: the models of the stratum.
        overall : "macro" or "micro" or dict, optional
            Add a row for the best model over all strata, as in `report`.
        prior, target, confidence, unmatched : optional
            As in `report`, and `unmatched` as in `compare`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum; if no model can be ranked, all but `candidates` is null or empty:

            ================  ==================================================================
            by..., model      the stratum, and the model with the best score
            candidates        number of models from which it was selected
            inference         the kind of interval, as in `report`
            bounds            for real-valued rewards: "given" or "observed" range
            estimate          its score
            best_mu           its score, shrunk towards the mean of all models to remove luck; for
                              similar models, such as checkpoints
            best_lo, best_hi  its confidence interval, corrected for the selection
            could_be_best     list of the models that may be the best, as in `rank`
            ================  ==================================================================

        Raises
        ------
        ValueError
            As `rank`; if `candidates` is smaller than the number of models of a stratum.

        Warns
        -----
        PriorWarning
            As `rank`.

        See Also
        --------
        rank : The order of all models.

        Notes
        -----
        The end of the interval that the selection biases has the tail probability
        ``1 - (1 - d)**(1 / L)`` with ``d = (1 - confidence) / 2`` and L candidates. `best_mu` is
        too low if one model is far better than many others.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 6, 5, 3]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> row = log.best(ps.avg()).row(0, named=True)
        >>> row["model"], round(row["estimate"], 3), row["could_be_best"]
        ('ada', 0.792, ['ada', 'bob'])
        """
        from polars_scorio.decisions.rank import best

        return self._rows(best, metric, candidates=candidates, overall=overall, **options)

    @takes_options(DecisionOptions)
    def rank(
        self,
        metric: Metric | None = None,
        *,
        method: RankMethod = "competition",
        ties: RankTies = "z",
        simultaneous: bool = True,
        overall: Overall | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Order of the models, with the range of ranks that the data allow for each model.

        Parameters
        ----------
        metric : Metric, optional
            The metric that orders the models; default `ps.avg()`. A single k.
        method : "competition", "competition_max", "dense" or "average"
            Rank of tied models: the best of their places (1, 2, 2, 4), the worst (1, 3, 3, 4), the
            best without gaps (1, 2, 2, 3), or the mean of the places (1, 2.5, 2.5, 4).
        ties : "z" or "overlap"
            When `rank_tied` ties two neighbours [1]_: if z between them is below the one-sided
            quantile of `confidence`, or if their intervals overlap.
        simultaneous : bool
            Whether `confidence` holds for the ranges of all models together, the default, with the
            verdicts of `compare`, or for the range of each model by itself: its L - 1 pairs.
        overall : "macro" or "micro" or dict, optional
            Add rows over all strata, as in `report`.
        prior, target, confidence, unmatched : optional
            As in `report`, and `unmatched` as in `compare`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model, the best first:

            ================  ==================================================================
            by..., rank       the stratum, and the rank by the score alone
            model             the model, under its own name
            metric, k         the metric, and its draw size
            inference         the kind of interval, as in `report`
            rank_lo, rank_hi  best and worst rank that the data allow [2]_: 1 + the number of
                              significantly better models, and the number of all models minus the
                              significantly worse ones
            rank_tied         the rank by the rule of `ties`
            prob_best         probability to be the best; null with over 200 models near the leader
            tier              1 if no model is significantly better; else one more than the
                              largest tier of the better models
            z_next            z of the difference to the next model; null for the last one
            sigma, estimate,  as in `report`; with a prior, mu in place of estimate
            lo, hi
            could_be_best     whether the model may be the best, at `confidence` [3]_: no other has
                              `prob_better` above ``confidence ** (1 / (L - 1))``; sharper than
                              ``rank_lo == 1``, which is about all ranks together
            ================  ==================================================================

            If k exceeds the trials, all but lo and hi are null: ranges are not ranked.

        Raises
        ------
        ValueError
            As `compare`; for several draw sizes.

        Warns
        -----
        PriorWarning
            As `compare`.

        See Also
        --------
        compare : The differences behind the order.
        best : The score of the first model, corrected for being selected.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2 and table 1.
        .. [2] M. Mogstad et al. (2024), Review of Economic Studies 91(1), 476-518.
        .. [3] J. C. Hsu (1984), Annals of Statistics 12(3), 1136-1144.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 6, 5, 3]}  # trials and successes
        >>> rows = ps.from_successes(pl.DataFrame(totals)).scorio(count="count").rank()
        >>> rows.select("rank", "rank_lo", "rank_hi", "model", pl.col("prob_best").round(2)).rows()
        [(1, 1, 2, 'ada', 0.9), (2, 1, 2, 'bob', 0.1)]
        """
        from polars_scorio.decisions.rank import rank

        return self._rows(
            rank, metric, method=method, ties=ties, simultaneous=simultaneous, overall=overall,
            lean=True, **options,
        )  # fmt: skip


class GateMethods(Accessor[FrameT]):
    """From two versions of a model to a verdict."""

    @takes_options(GateOptions, usual=GateRules)
    def gate(
        self,
        baseline: Category | None = None,
        metric: Metric | None = None,
        *,
        margin: float | None = None,
        **options: Unpack[GateOptions],
    ) -> FrameT:
        """Non-inferiority test against a baseline, or a score: "pass", "fail" or "undecided".

        Parameters
        ----------
        baseline : category, optional
            The model that all others are compared with. Default: `at_least` or `each_at_least`.
        metric : Metric, optional
            The metric to compare; default `ps.avg()`. k must not exceed the trials of a question.
        margin : float, optional
            By how much a candidate may be worse, in units of the metric: 0.02 is two points of a
            hundred. 0: "pass" shows that it is better, "fail" that it is worse.
        stratum_margin, every_stratum : float, optional, and bool
            Margin of a single stratum (default: `margin`), and whether each must pass too.
        simultaneous : bool
            Whether all C candidates share `confidence`, at ``confidence ** (1 / C)`` [1]_; no k do.
        power, max_trials : float and int
            Probability with which `extra_trials` decide the gate, and their largest number.
        overall : "macro" or "micro" or dict, optional
            With strata: what the gate is about, as in `report`. Default: "macro", their mean.
        at_least, each_at_least : float, optional
            Score that each candidate (and each stratum) must reach beyond noise (at most this, if
            lower is better), and share of its trials that each question passed. Beside a baseline
            all must pass, each at its own confidence.
        fail_on, fdr : "regressed" and float, optional
            Whether one regressed question fails it (default: no), and their FDR (default: 0.1).
        must_pass, quarantine : ids of questions or Path, optional
            Questions that must succeed in every trial of a candidate, and questions that do not
            count, such as flaky ones. A `Path` names a file with one id on each line.
        prior, target, confidence, unmatched, planned_trials, planned_questions : optional
            As in `report` and `compare`; `confidence` is that of each verdict, and above 0.5.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and candidate; with strata also one over all of them:

            ================  ==================================================================
            by...             the stratum; null in the row over all of them
            model, baseline   the candidate and the baseline
            metric, k         the metric, and its draw size; `inference` as in `report`
            margin            accepted loss; of a single stratum the `stratum_margin`
            pvalue_pass       p-value of the test behind "pass", for this row by itself
            pvalue_fail       p-value of the test behind "fail"
            extra_trials      further trials of each question that decide the gate with probability
                              `power` (about a population: extra_questions)
            broken            questions that went from mostly right to mostly wrong;
                              chance explains `broken_by_chance` of them
            diff, sigma       score of the candidate minus score of the baseline; its standard error
            lo, hi            one-sided confidence limits of diff; without a baseline of `estimate`
            verdict           "pass": the loss is shown to be at most the margin; "fail": it is
                              shown to be larger; else "undecided"
            ================  ==================================================================

            Other conditions and tests of the log add columns: see the guide.

        Raises
        ------
        ValueError
            For invalid margins, logs without baseline or candidate, posterior means, k beyond the
            trials; and as `compare`.

        See Also
        --------
        regressions : The questions that became worse.
        reruns : How far a score moves without any change.

        References
        ----------
        .. [1] Z. Sidak (1967), JASA 62, 626-633.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> old, new = [8, 7, 8, 6, 8, 7, 5, 8], [6, 3, 5, 4, 4, 3, 2, 5]
        >>> totals = {"model": ["v1"] * 8 + ["v2"] * 8, "question": [*range(8)] * 2}
        >>> log = ps.from_successes(pl.DataFrame({**totals, "n": 8, "c": old + new}))
        >>> row = log.scorio(count="count").gate("v1", margin=0.05).row(0, named=True)
        >>> row["verdict"], round(row["diff"], 3), round(row["hi"], 2), row["broken"]
        ('fail', -0.391, -0.24, 3)
        """
        from polars_scorio.decisions.gate import gate

        plan = self._asked(gate, baseline, metric, margin=margin, **options)
        several = metric is not None and (metric.looks_at == "costs" or len(metric.row_sizes) > 1)
        if several or baseline is None or options.get("quarantine") is not None:  # of no page
            return self._returned(plan)

        def drawn(rows: pl.DataFrame) -> str:
            from polars_scorio.display.page import finding_table
            from polars_scorio.display.settings import Settings
            from polars_scorio.display.story import StoryOptions

            metrics = () if metric is None else (metric,)
            settings = Settings.from_options(self._options(gate, options))
            asked = StoryOptions(metrics, settings, baseline, margin, rows)
            return finding_table(self._lazy(), self._roles, asked)

        return self._drawn_rows(plan, drawn)

    @takes_options()
    def regressions(
        self,
        baseline: Category,
        *,
        fdr: float = 0.1,
        improvements: bool = False,
        unmatched: Unmatched = "error",
    ) -> FrameT:
        """Questions that became worse from a baseline to a candidate, tested one by one [1]_.

        Parameters
        ----------
        baseline : category
            The model that all others are compared with.
        fdr : float
            False discovery rate: expected share of unchanged questions among those that are named.
        improvements : bool
            Whether to look for questions that became better instead.
        unmatched : "error" or "drop"
            What to do about questions that some model lacks: an error, or keep the common ones.

        Returns
        -------
        DataFrame or LazyFrame
            A row per candidate and question, over all strata, the surest first:

            ================  ==================================================================
            by...             the stratum
            model, question   the candidate and the question, under their own names
            trials_baseline,  trials of both versions
            trials
            pvalue            Fisher's exact test, one-sided: probability of so few successes of the
                              candidate if nothing changed
            pvalue_min        smallest possible pvalue, given the successes of both
            qvalue            pvalue, adjusted for all questions of the candidate [2]_
            broken            whether the question was mostly right and is mostly wrong now
            broken_by_chance  probability of breaking if nothing changed
            pvalue_broken     probability that so many questions break if nothing changed
            rate_baseline,    success rates of both versions
            rate
            regressed         whether qvalue is at most `fdr`; with `improvements` named improved
            ================  ==================================================================

        Raises
        ------
        ValueError
            As `gate`; if it is not known what success is.

        See Also
        --------
        gate : The verdict about all questions together.

        Notes
        -----
        Few trials cannot show a change: with 4 trials of both versions the smallest p-value is
        1/70.

        References
        ----------
        .. [1] R. A. Fisher (1935), Journal of the Royal Statistical Society 98(1), 39-82.
        .. [2] S. Doehler et al. (2018), Electronic Journal of Statistics 12, 1867-1900.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["v1"] * 3 + ["v2"] * 3, "question": ["a", "b", "c"] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 1, 6, 4]}  # trials and successes
        >>> tests = ps.from_successes(pl.DataFrame(totals)).scorio(count="count").regressions("v1")
        >>> tests.select("question", pl.col("pvalue", "qvalue").round(3), "regressed").rows()
        [('a', 0.001, 0.001, True), ('c', 0.5, 1.0, False), ('b', 0.715, 1.0, False)]
        """
        from polars_scorio.decisions.regressed_questions import regressed_questions

        return self._rows(
            regressed_questions, baseline, fdr=fdr, improvements=improvements, unmatched=unmatched
        )

    @takes_options(ConfidenceOptions)
    def reruns(
        self,
        metric: Metric | None = None,
        *,
        n: int | None = None,
        per: Per = "model",
        **options: Unpack[ConfidenceOptions],
    ) -> FrameT:
        """Noise floor of a rerun: how far a score moves by chance alone; flaky questions.

        Parameters
        ----------
        metric : Metric, optional
            Default `ps.avg()`. A single k.
        n : int, optional
            Trials of each question in the rerun. Default: as many as the log has.
        per : "model" or "question"
            A row for each model, or for each flaky question (one with both outcomes).

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model:

            ================  ==================================================================
            by..., model,     the stratum, the model, the metric, and its draw size
            metric, k
            questions,        number of questions and trials in the log
            trials
            rerun_trials      trials of each question in the rerun
            flaky             questions that both succeeded and failed
            flips, flips_lo,  share of the questions that change their outcome from one run to the
            flips_hi          next, with its interval; single trials show only the interval
            run_sd            standard deviation of a score between runs, beyond the noise of
                              trials; null without `run`, or if runs do not differ visibly
            rerun_sd          standard deviation of the score of the rerun
            estimate          the score
            noise_floor       largest difference between log and rerun that chance explains
            ================  ==================================================================

            or per flaky question, the most flaky first: trials, successes, flips (probability that
            two runs differ), and its rate with a selective confidence interval [1]_.

        Raises
        ------
        ValueError
            As `report`; for posterior means, costs and verdicts of a judge; if `n` is given for a
            metric of k draws.

        See Also
        --------
        compare : The difference of two logs, if both exist.

        Notes
        -----
        Trials of one run share a seed, a server or a day, which makes the floor larger. It is
        included if the log names its runs (`run=`).

        References
        ----------
        .. [1] Y. Benjamini, D. Yekutieli (2005), JASA 100, 71-81.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": "v1", "question": range(40), "n": 4, "c": [4, 3, 2, 0] * 10}
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> log.reruns().select("flaky", pl.col("flips", "noise_floor").round(3)).row(0)
        (20, 0.292, 0.09)
        """
        from polars_scorio.decisions.reruns import reruns

        return self._rows(reruns, metric, n=n, per=per, **options)


class JudgeMethods(Accessor[FrameT]):
    """From verdicts and labels to the errors of a judge."""

    @takes_options(ConfidenceOptions)
    def judge_agreement(
        self, *, width: float = 0.1, **options: Unpack[ConfidenceOptions]
    ) -> FrameT:
        """Agreement of a judge with people, from the human labels of `truth` on some of the trials.

        Parameters
        ----------
        width : float
            Wanted width of the interval of the accuracy, for `extra_labels`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model; of several models also one over all of them:

            ====================  ==============================================================
            by..., model          the stratum and the model
            labels                trials with a verdict and a label
            labelled_questions    questions with a label
            sensitivity           share of the right answers that the judge called right, with the
                                  Clopper-Pearson interval (`sensitivity_lo`, `sensitivity_hi`)
            specificity           share of the wrong answers that the judge called wrong, likewise
            agreement             share of all trials on which judge and people agree
            kappa                 agreement beyond chance [1]_; low if nearly all answers are right
            ac1                   agreement beyond chance as defined by Gwet [2]_, which is not
            extra_labels          further random labels until the interval of `avg` has that width;
                                  null if the trials are too few
            ====================  ==============================================================

            If one verdict was labelled more often, as by `ps.sample_to_label`, labels are weighted
            by the verdicts on all trials.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`; and if no labels are named with ``truth=``.

        See Also
        --------
        report : Scores that are corrected for the judge.

        References
        ----------
        .. [1] J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.
        .. [2] K. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": range(40), "category": [1] * 20 + [0] * 20}
        >>> log = pl.DataFrame({**columns, "human": [1] * 18 + [0] * 2 + [1] * 4 + [0] * 16})
        >>> judged = log.scorio(model=None, trial=None, truth="human")
        >>> numbers = judged.judge_agreement().select("sensitivity", "specificity", "kappa", "ac1")
        >>> numbers.select(pl.all().round(2)).row(0)
        (0.82, 0.89, 0.7, 0.7)
        """
        from polars_scorio.subjects.of_verdicts import judge_agreement

        return self._rows(judge_agreement, width=width, **options)
