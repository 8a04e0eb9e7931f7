"""Compare, rank, best, gate, judges, frontier, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import FailOn, Overall, Per, RankMethod, RankTies, Unmatched
from polars_scorio.counting.roles import Category
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import DecisionOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.decisions.case_gate import Cases


class DecisionMethods(Accessor[FrameT]):
    """From estimates to decisions, within each stratum."""

    @takes_options(DecisionOptions)
    def compare(
        self,
        metric: Metric | None = None,
        *,
        baseline: Category | None = None,
        simultaneous: bool = True,
        overall: Overall | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Differences between pairs of models, with intervals and verdicts [1]_.

        Parameters
        ----------
        metric : Metric, optional
            What to compare; default `ps.avg()`.
        baseline : category, optional
            Compare each model with this one; default: all pairs.
        simultaneous : bool
            Whether `confidence` is the chance that all verdicts of a stratum are right together,
            over all pairs (with a baseline: all pairs with it) and, for calibrated metrics of
            several k, all k. False: the chance of each verdict by itself.
        overall : "macro" or "micro", optional
            Add rows over all strata, with null in the `by` columns: "macro" compares the mean of
            the strata, "micro" all their questions in one pool. All models must have all strata.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, draw size and pair of models:

            ================  ==================================================================
            by..., model_a,   the stratum and the models; with a baseline it is `model_b`
            model_b
            metric, k         what was compared
            inference         what both numbers rest on, as in `report`
            adjusted_for      that for which `confidence` holds at once: "each pair alone", "all
                              pairs" of the stratum, "all with the baseline"; and "... and k"
            z                 critical value at which the interval of diff stops to hold zero,
                              positive if model_a is ahead
            prob_better       chance that model_a is better than model_b: Phi(z), of this pair alone
            first_better,     with `simultaneous` and several k alone: the model that is better from
            first_to          the smallest k on, and up to which k; null if none is
            last_better,      the model that is better up to the largest k, and from which k on
            last_from
            gain_to,          with a baseline too: first_to of a model that gains on it, last_from
            loss_from         of one that loses
            sigma             standard deviation of diff
            diff              score of model_a minus score of model_b
            lo, hi            two-sided interval of diff at `confidence`
            better            the better model if zero lies outside lo, hi; else null
            ================  ==================================================================

            If k exceeds the trials of a model, diff is the difference of two predictions, and there
            is no verdict. Rewards, judges, repeated looks and ``missing="bounds"`` bring more
            columns, which the guide's page on all columns lists.

        Raises
        ------
        TypeError, ValueError
            As `report`; and if models have different questions, or a stratum lacks the baseline.

        Warns
        -----
        PriorWarning
            If the uniform prior of `bayes`, which nobody named, decides between models.
        UserWarning
            If no stratum has two models: then there is no row.

        See Also
        --------
        rank : The order of the models.
        gate : Pass or fail against a baseline, with a margin.

        Notes
        -----
        For all pairs at once the critical value is that of the studentized range [2]_, with a
        baseline Dunnett's; verdicts are made step by step [3]_. Over several k at once they are
        made in one step, by a value that grows with the length of the path of the correlations of
        neighbouring k [4]_. The guide's chapter on comparisons has the intervals.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2.
        .. [2] A. J. Hayter (1984), Annals of Statistics 12(1), 61-75.
        .. [3] J. P. Romano, M. Wolf (2005), Journal of the American Statistical Association 100,
           94-108.
        .. [4] D. Q. Naiman (1986), Annals of Statistics 14, 896-906.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 5, 5, 1]}  # trials and successes
        >>> pair = ps.from_successes(pl.DataFrame(totals)).scorio(count="count").compare()
        >>> pair.select("model_a", pl.col("diff", "prob_better").round(3), "better").row(0)
        ('ada', 0.333, 0.99, 'ada')
        """
        from polars_scorio.decisions.compare import compare

        options = self._with(options)
        plan = compare(
            self._log_study(),
            self._roles,
            metric,
            baseline=baseline,
            simultaneous=simultaneous,
            overall=overall,
            warns=True,
            **options,
        )
        return self._returned(plan)

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
            By what; default `ps.avg()`. One draw size at a time.
        candidates : int, optional
            From how many models the best one was selected, if more were tried than the log has,
            such as checkpoints; default: the models of the stratum.
        overall : "macro" or "micro", optional
            Add a row for the best model over all strata, as in `rank`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum:

            ================  ==================================================================
            by..., model      the stratum, and the model with the best score
            candidates        from how many models it was selected
            inference         what its numbers rest on, as in `report`
            bounds            of real-valued rewards alone, as in `report`
            estimate          its score
            best_mu           its score, moved towards the mean of the models by the part of their
                              spread that is noise; for models of one kind, such as checkpoints
            best_lo, best_hi  its interval after selection, at `confidence`
            could_be_best     list of the models that may be the best, as in `rank`
            ================  ==================================================================

            All but the candidates are null, and the list is empty, if no model has a rank.

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
        The end that selection makes wrong has the tail ``1 - (1 - d)**(1 / L)`` in place of ``d =
        (1 - confidence) / 2``, L the number of candidates. `best_mu` is too low if one model is far
        better than many others.

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
        from polars_scorio.decisions.best import best

        options = self._with(options)
        plan = best(
            self._log_study(),
            self._roles,
            metric,
            candidates=candidates,
            overall=overall,
            **options,
        )
        return self._returned(plan)

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
        """Order of the models, with the ranks that the data allow each of them.

        `rank_lo` and `rank_hi` are for all models at once, `could_be_best` asks for the first rank
        alone, and `tier` counts the steps of models that were shown to be better.

        Parameters
        ----------
        metric : Metric, optional
            By what; default `ps.avg()`. One draw size at a time.
        method : "competition", "competition_max", "dense" or "average"
            Which rank tied models get: the best of their places (1, 2, 2, 4), the worst
            (1, 3, 3, 4), the best without a gap after them (1, 2, 2, 3), or the mean of their
            places (1, 2.5, 2.5, 4).
        ties : "z" or "overlap"
            When `rank_tied`, the rule of the paper, ties two neighbours [1]_: if z between them is
            below the one-sided quantile of `confidence`, or if their intervals overlap. Ties chain.
        simultaneous : bool
            Whether all ranges of a stratum hold at once with `confidence`, the default; or each by
            itself.
        overall : "macro" or "micro", optional
            Add rows over all strata, as in `compare`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model, the best first:

            ================  ==================================================================
            by..., rank       the stratum, and the rank by the score alone; scores within 1e-12 of
                              their neighbour are tied
            model             under its own name
            metric, k         what orders the models
            inference         what its numbers rest on, as in `report`
            rank_lo, rank_hi  the best and the worst rank that the data allow [2]_: 1 + the number
                              of models that are significantly better, and the number of models
                              minus those that are significantly worse, as `compare` decides
            rank_tied         the neighbour rule of the paper, with `ties`
            prob_best         chance to be the best, from z of the pairs [3]_; null with more than
                              200 models near the leader
            tier              1 if no model was shown to be better, else one more than the largest
                              tier among those that were
            z_next            z between the model and the next one, null for the last
            sigma, estimate,  as in `report` (with a prior mu, which orders, in place of estimate);
            lo, hi            about a population sigma is that of a mean over sampled questions
            could_be_best     whether the model is in the set that contains the best one with
                              `confidence` [4]_. It asks for the first place alone, and rank_lo for
                              all places at once: a model may have rank_lo 1 and yet be left out
            ================  ==================================================================

            Predictions for k beyond the trials are never ranked: all but lo and hi are null.

        Raises
        ------
        ValueError
            As `compare`; for several draw sizes.

        Warns
        -----
        PriorWarning
            As `compare`, of all pairs of a stratum.

        See Also
        --------
        compare : The differences behind the order.
        best : The score of the first model, corrected for being selected.

        Notes
        -----
        `prob_best` is ``E prod_j Phi(sqrt(2 B) z_ij + X)`` over the other models j, X standard
        normal, scaled to the sum 1; ``B = max(0, 1 - (K - 2) / Q)``, Q the squared z of all ordered
        pairs of the K models near the leader, over K. It is too high if all models are equal, by
        .25 for two models and .03 for fifty.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2 and table 1.
        .. [2] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), Inference for Ranks,
           Review of Economic Studies 91(1), 476-518.
        .. [3] B. Efron, C. Morris (1973), JASA 68, 117-130.
        .. [4] J. C. Hsu (1984), Annals of Statistics 12(3), 1136-1144.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 6, 5, 3]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> rows = log.rank()
        >>> rows.select("rank", "rank_lo", "rank_hi", "model", pl.col("prob_best").round(2)).rows()
        [(1, 1, 2, 'ada', 0.93), (2, 1, 2, 'bob', 0.07)]
        """
        from polars_scorio.decisions.rank import rank

        options = self._with(options)
        plan = rank(
            self._log_study(),
            self._roles,
            metric,
            method=method,
            ties=ties,
            simultaneous=simultaneous,
            overall=overall,
            lean=True,
            **options,
        )
        return self._returned(plan)


class GateMethods(Accessor[FrameT]):
    """From two versions of a model to a verdict."""

    @takes_options(DecisionOptions)
    def gate(
        self,
        baseline: Category,
        metric: Metric | None = None,
        *,
        margin: float,
        stratum_margin: float | None = None,
        every_stratum: bool = False,
        simultaneous: bool = True,
        power: float = 0.8,
        max_trials: int = 1_000_000,
        overall: Overall = "macro",
        cost_margin: float | None = None,
        fail_on: FailOn | None = None,
        must_pass: Cases | None = None,
        quarantine: Cases | None = None,
        fdr: float = 0.1,
        ab_check: bool = False,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Non-inferiority test of each candidate against a baseline: "pass", "fail" or "undecided".

        Parameters
        ----------
        baseline : category
            The model that all others are compared with.
        metric : Metric, optional
            What to compare; default `ps.avg()`. Its k must not exceed the trials of any question.
        margin : float
            By how much a candidate may be worse, in units of the metric: 0.02 is two points of a
            hundred. 0: "pass" shows that it is better, "fail" that it is worse.
        stratum_margin : float, optional
            The margin of each single stratum; default: `margin`.
        every_stratum : bool
            Whether all strata must pass, not only all of them together, which costs power.
        simultaneous : bool
            Whether `confidence` holds for all candidates at once, by Bonferroni's adjustment.
            False: for each candidate by itself.
        power : float
            The chance with which the `extra_trials` decide the gate.
        max_trials : int
            The largest number of further trials of a question that is considered.
        overall : "macro" or "micro"
            With strata, the gate is about the mean over the strata, each weighing the same, or
            about all their questions in one pool.
        cost_margin : float, optional
            The factor by which the mean cost of a trial may grow: 1.1 allows ten percent. A
            candidate that is shown to cost more fails; one passes only if it is shown not to. With
            strata, the cost is judged over all of them. Not at repeated looks. Default: cost
            does not count.
        fail_on : "regressed", optional
            Whether single questions count. A candidate then fails if any question regressed, as
            `regressions` tests it, over all strata together. It is undecided if a question went
            from all right to all wrong, and its trials are too few to tell that from chance.
            Default: the score alone decides.
        must_pass : ids of questions or Path, optional
            Questions of which each trial of a candidate has to succeed; else it fails. A `Path`
            names a file with an id on each line; lines that begin with # are comments.
        quarantine : ids of questions or Path, optional
            Questions that do not count at all, such as known flaky ones. Ids that the log does not
            have are ignored.
        fdr : float
            False discovery rate of the regressed questions, for `fail_on`.
        ab_check : bool
            Whether to tell how often this gate would fail if nothing changed: the trials of the
            baseline are split in two halves at random, 100 times, and one half is judged against
            the other. It needs two trials of each question, for a metric of k draws 2 k.
        confidence : float
            Confidence of each verdict, above 0.5. A candidate exactly at the margin passes with a
            chance of about 1 - confidence, and fails with the same chance.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, draw size and candidate; with strata also a row of each candidate
            without a stratum, which has the verdict of the gate:

            ================  ==================================================================
            by..., model,     the stratum, the candidate, under its own name, and the baseline
            baseline
            metric, k         what was compared
            inference         what both numbers rest on, as in `compare`
            margin            the margin of the row
            pvalue_pass,      p-values: the smallest 1 - confidence at which the row would pass or
            pvalue_fail       fail by itself; null above 1/2
            extra_trials      further trials of each question, for both models, that decide the
                              row with the chance `power`; 0 if it is decided, null if
                              `max_trials` do not suffice (about a population: extra_questions)
            broken            questions that were mostly right under the baseline and are mostly
                              wrong now; null if rewards have other values than 0 and 1
            broken_by_chance  how many break on average if nothing changed
            pvalue_broken     chance that so many or more break if nothing changed
            cost_ratio,       with `cost_margin` alone: mean cost over that of the baseline, its
            cost_lo, cost_hi  one-sided ends, and their verdict, which enters `verdict` (null in
            cost_verdict      rows of a stratum); `extra_trials` is about the score alone
            not_passed        with `must_pass` alone: list of those of which a trial failed
            case_verdict      with either: what the questions say, which enters `verdict` (null in
                              rows of a stratum, as the lists)
            score_verdict     with `cost_margin` or either: the verdict of the score alone
            ab_failed         with `ab_check` alone: share of the splits of the baseline in which
                              the row fails
            diff, sigma       candidate minus baseline, as in `compare`
            lo, hi            one-sided ends, each at `confidence` for all candidates at once
            regressed,        with `fail_on` alone: lists of the questions that regressed, and of
            unclear           those that went from all right to all wrong by too few trials
            verdict           "pass": shown to be not worse by more than the margin; "fail": shown
                              to be worse by more (of strata: after Holm's adjustment); else
                              "undecided"
            ================  ==================================================================

            With strata, a candidate fails if it fails in some stratum or in all of them together,
            after Holm's adjustment. It passes if it does not fail and all strata together pass;
            with `every_stratum`, every stratum must pass too.

        Raises
        ------
        ValueError
            If a margin is negative or not inside the range of the metric, or `stratum_margin` is
            said without strata; if the log is empty, lacks the baseline or has no candidate; for
            posterior means, which are biased; if k exceeds the trials of a question; if the
            outcomes decided when trials stopped; for `cost_margin` at repeated looks; if
            `must_pass` lists a question that the log does not have; and as `compare`.

        See Also
        --------
        regressions : The questions that became worse.
        reruns : How far a score moves without any change.

        Notes
        -----
        The gate is for one look. Pass `planned_trials` before the first of several looks.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> old, new = [8, 7, 8, 6, 8, 7, 5, 8], [6, 3, 5, 4, 4, 3, 2, 5]
        >>> totals = {"model": ["v1"] * 8 + ["v2"] * 8, "question": [*range(8)] * 2}
        >>> log = ps.from_successes(pl.DataFrame({**totals, "n": 8, "c": old + new}))
        >>> row = log.scorio(count="count").gate("v1", margin=0.05).row(0, named=True)
        >>> row["verdict"], round(row["diff"], 3), round(row["hi"], 2), row["broken"]
        ('fail', -0.391, -0.26, 3)
        """
        from polars_scorio.decisions.gate import gate

        options = self._with(options)
        plan = gate(
            self._log_study(),
            self._roles,
            baseline,
            metric,
            margin=margin,
            stratum_margin=stratum_margin,
            every_stratum=every_stratum,
            simultaneous=simultaneous,
            power=power,
            max_trials=max_trials,
            overall=overall,
            cost_margin=cost_margin,
            fail_on=fail_on,
            must_pass=must_pass,
            quarantine=quarantine,
            fdr=fdr,
            ab_check=ab_check,
            **options,
        )
        several = metric is not None and (metric.looks_at == "costs" or len(metric.row_sizes) > 1)
        if several or overall != "macro" or quarantine is not None:  # a page has none of these
            return self._returned(plan)

        def drawn(rows: pl.DataFrame) -> str:
            from polars_scorio.display.html.notebook import finding_table
            from polars_scorio.display.html.story import Wishes
            from polars_scorio.display.settings import Settings

            metrics, settings = () if metric is None else (metric,), Settings.from_options(options)
            asked = Wishes(metrics, settings, baseline, margin, rows)
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
            False discovery rate: the expected share of unchanged questions among those that are
            named.
        improvements : bool
            Whether to look for questions that became better, in place of worse.
        unmatched : "error" or "drop"
            As in `compare`.

        Returns
        -------
        DataFrame or LazyFrame
            A row per candidate and question, over all strata; of each candidate the surest ones
            first:

            ================  ==================================================================
            by..., model,     the stratum, the candidate and the question, under their own names
            question
            trials_baseline,  trials of both versions
            trials
            pvalue            chance of so few successes of the candidate if nothing changed, given
                              the successes of both together (Fisher's exact test, one-sided)
            pvalue_min        the smallest p that is possible, given those successes
            qvalue            adjusted for all questions of the candidate [2]_, for rates up to
                              `fdr`
            broken            whether the question was mostly right and is mostly wrong now (if
                              improvements are wanted, the reverse, under the same name)
            broken_by_chance  the chance of breaking if nothing changed; its sum is the number of
                              questions that break by chance
            pvalue_broken     chance that so many questions of the candidate or more break if
                              nothing changed: the same for all of its questions
            rate_baseline,    success rates of both versions
            rate
            regressed         whether qvalue is at most `fdr`; named improved if improvements
                              are wanted
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
        Few trials cannot name a question: with 4 trials of both versions the smallest p is 1/70.

        References
        ----------
        .. [1] R. A. Fisher (1935), Journal of the Royal Statistical Society 98(1), 39-82.
        .. [2] S. Doehler, G. Durand, E. Roquain (2018), Electronic Journal of Statistics 12,
           1867-1900: the discrete step-up procedure.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["v1"] * 3 + ["v2"] * 3, "question": ["a", "b", "c"] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 1, 6, 4]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> tests = log.regressions("v1")
        >>> tests.select("question", pl.col("pvalue", "qvalue").round(3), "regressed").rows()
        [('a', 0.001, 0.001, True), ('c', 0.5, 1.0, False), ('b', 0.715, 1.0, False)]
        """
        from polars_scorio.decisions.regressed_questions import regressed_questions

        plan = regressed_questions(
            self._log_study(),
            self._roles,
            baseline,
            fdr=fdr,
            improvements=improvements,
            unmatched=unmatched,
        )
        return self._returned(plan)

    @takes_options()
    def reruns(
        self,
        metric: Metric | None = None,
        *,
        n: int | None = None,
        per: Per = "model",
        confidence: float | None = None,
    ) -> FrameT:
        """Noise floor of a rerun: how far a score moves by chance alone; flaky questions.

        Parameters
        ----------
        metric : Metric, optional
            Default `ps.avg()`. One draw size at a time.
        n : int, optional
            Trials of each question in the rerun; default: as many as the log has.
        per : "model" or "question"
            A row for each model, or one for each flaky question: those with both outcomes.
        confidence : float, optional
            Of the noise floor and the intervals; default: as the accessor says, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model:

            ================  ==================================================================
            by..., model,     the stratum, the model, and what is measured
            metric, k
            questions,        what the log has
            trials
            rerun_trials      trials of each question in the rerun
            flaky             questions that succeeded and failed
            flips, flips_lo,  share of the questions that change their outcome from one run to the
            flips_hi          next, with its interval; of single trials only bounds are known
            run_sd            how far one run moves the score beyond the noise of its trials; null
                              if the log does not show that its runs differ
            rerun_sd          standard deviation of the score of the rerun
            estimate          the score
            noise_floor       a larger difference of log and rerun is not chance alone, with
                              `confidence`; a smaller one may be
            ================  ==================================================================

            or per flaky question, the most flaky first: trials, successes, flips (the chance that
            two runs of it differ), and its rate with an interval. Of these intervals at most
            ``1 - confidence`` are wrong on average, however many are listed [1]_.

        Raises
        ------
        ValueError
            As `report`; for posterior means, costs and verdicts of a judge; if `n` is given for a
            metric of k draws.

        See Also
        --------
        compare : The difference of two logs, where both are at hand.

        Notes
        -----
        Trials of one run that share a seed, a server or a day move together, which makes the floor
        larger. It is so where the log names its runs (`run=`), or shows that they differ; a rerun
        has as many trials in a run as the log.

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
        (20, 0.292, 0.089)
        """
        from polars_scorio.decisions.reruns import reruns

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = reruns(self._log_study(), self._roles, metric, n=n, per=per, confidence=sure)
        return self._returned(plan)


class JudgeMethods(Accessor[FrameT]):
    """From verdicts and labels to the errors of a judge."""

    @takes_options()
    def judge_agreement(self, *, width: float = 0.1, confidence: float | None = None) -> FrameT:
        """Agreement of a judge with people, from the labels of `truth` on some of the trials.

        Parameters
        ----------
        width : float
            A wished width of the whole interval of the accuracy, for `extra_labels`.
        confidence : float, optional
            Of the intervals; default: as the accessor says, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model, and of several models one without a model for each
            stratum, over all their labels:

            ====================  ==============================================================
            by..., model          the keys, under their own names
            labels                trials with a verdict and a label
            labelled_questions    questions with a label
            sensitivity           share of the right answers that the judge called right, with the
                                  exact interval of Clopper and Pearson (`sensitivity_lo`,
                                  `sensitivity_hi`); null without right answers
            specificity           share of the wrong answers that the judge called wrong, likewise
            agreement             share of all trials on which judge and people agree
            kappa                 agreement beyond chance [1]_; it falls where nearly all answers
                                  are right, or wrong
            ac1                   agreement beyond chance as Gwet defines it [2]_, which does not
            extra_labels          labels on random trials by which `avg` would have an interval of
                                  that width; null if the trials themselves are too few
            ====================  ==============================================================

            If one of both verdicts was labelled more often than the other, as by
            `ps.sample_to_label`, the verdicts on all trials weigh the labels.

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
        from polars_scorio.subjects.agreement import judge_agreement

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = judge_agreement(self._lazy(), self._roles, width=width, confidence=sure)
        return self._returned(plan)
