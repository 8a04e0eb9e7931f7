"""The methods of the accessor that compare a candidate with its baseline: may it be shipped?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Overall
from polars_scorio.counting.roles import Category
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
        each: bool = False,
        simultaneous: bool = False,
        assurance: float = 0.8,
        max_trials: int = 1_000_000,
        overall: Overall = "macro",
        cost_margin: float | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Is a candidate not worse than the baseline by more than a margin?

        There are three verdicts. "pass": the log shows that the candidate is not worse by more than
        the margin. "fail": the log shows that it is worse by more than the margin. "undecided": the
        log shows neither; `further` says how many more trials would probably decide.

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
        each : bool
            Whether all strata must pass, not only all of them together. It costs power: five equal
            strata of 100 questions with 4 trials all passed at margin .05 in .26 of the logs (.00
            to .68 by the population).
        simultaneous : bool
            Whether the error chance holds for all candidates at once; default: for each candidate
            by itself.
        assurance : float
            The chance with which the `further` trials decide the gate.
        max_trials : int
            The largest number of further trials of a question that is considered.
        overall : "macro" or "micro"
            With strata, the gate is about the mean over the strata, each weighing the same, or
            about all their questions in one pool.
        cost_margin : float, optional
            The factor by which the mean cost of a trial may grow: 1.1 allows ten percent. A
            candidate that is shown to cost more fails; one passes only if it is shown not to cost
            more. With strata, the cost is judged over all of them together, in the rows without a
            stratum. Not with `anytime`. Default: the cost does not count.
        confidence : float
            Confidence of each verdict, above 0.5. A candidate exactly at the margin passes with a
            chance of about 1 - confidence, and fails with the same chance: at 95 % .041 to .050 in
            simulations of 100 and 500 questions (worst population .059), .016 to .049 with 30
            (.075). With `cost_margin`, score and cost are two tests at this confidence: if both lie
            exactly at their margins, the chance of a false fail is up to twice that.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, draw size and candidate; with strata also a row of each candidate
            without a stratum, which has the verdict of the gate:

            ================  ==================================================================
            by..., metric, k  the stratum and what was compared
            model, baseline   the candidate, under its own name, and the baseline
            diff, sigma       mu of the candidate minus mu of the baseline, as in `compare`
            lo, hi            one-sided ends, each at `confidence`
            margin            the margin of the row
            p_pass, p_fail    p-values: the smallest 1 - confidence at which the row would pass or
                              fail by itself; null above 1/2
            verdict           "pass": lo lies above -margin; "fail": hi lies below -margin (of
                              strata: by p_fail after Holm's adjustment); else "undecided"
            further           further trials of each question, for both models, that decide the
                              row with the chance `assurance` (about a population: further
                              questions); 0 if it is decided, null if `max_trials` do not suffice
            broken            questions that were mostly right under the baseline and are mostly
                              wrong now; null if rewards have other values than 0 and 1
            broken_by_chance  how many break on average if nothing changed
            p_broken          chance that so many or more break if nothing changed
            bounds            of real-valued rewards alone, as in `report`
            information       with `anytime` alone: as in `compare`
            cost_ratio,       with `cost_margin` alone: mean cost over that of the baseline, its
            cost_lo, cost_hi  one-sided ends, and their verdict, which enters `verdict` (null in
            cost_verdict      rows of a stratum); `further` is about the score alone
            score_verdict     with `cost_margin` alone: the verdict of the score alone
            ================  ==================================================================

            With strata: a candidate fails if it fails in some stratum or in all of them together,
            after Holm's adjustment, so that the chance of any false fail is at most that of a
            single test. It passes if it does not fail and all strata together pass; with `each`,
            every stratum must pass too, which needs no adjustment.

        Raises
        ------
        ValueError
            If a margin is negative or not inside the range of the metric, or `stratum_margin` is
            said without strata; if the log is empty, lacks the baseline or has no candidate; for
            posterior means, which are biased; if k exceeds the trials of a question; if the
            outcomes decided when trials stopped; for `cost_margin` with `anytime`; and as
            `compare`.

        Notes
        -----
        The gate is for one look. Asked again after the `further` trials were added to the log, it
        gave a false pass in up to .11 and a false fail in up to .10 of the logs (60 and 100
        questions, eight populations). Say ``confidence=0.975`` in both gates, or pass `anytime`
        before the first look. A gate that was asked after each of 16 rounds gave a false pass or
        fail in up to .24 of the logs, with ``anytime=16`` in up to .04 (nominal .05).

        lo and hi are the ends of `compare` with the one-sided quantile (1.645 at 95 %). Together
        they are a two-sided interval at 90 %.

        `further` assumes, as `trials_needed` does, that the true difference is normal around a part
        of today's difference: the part of the spread of all versions of the log that is more than
        noise, so that another version changes it. The chance is a mean over such differences. The
        variance is to fall as that of an average does, which is too slow for k-metrics.

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
            self._lazy(),
            self._roles,
            baseline,
            metric,
            margin=margin,
            stratum_margin=stratum_margin,
            each=each,
            simultaneous=simultaneous,
            assurance=assurance,
            max_trials=max_trials,
            overall=overall,
            cost_margin=cost_margin,
            **options,
        )
        return self._returned(plan)

    @takes_options()
    def regressions(
        self, baseline: Category, *, fdr: float = 0.1, improvements: bool = False
    ) -> FrameT:
        """Which questions became worse from the baseline to a candidate [1]_?

        Between two equal models with one trial of each of 100 questions whose rates are .5, 25
        questions "break" by chance. This method says which questions changed more than that.

        Parameters
        ----------
        baseline : category
            The model that all others are compared with.
        fdr : float
            False discovery rate: the expected share of unchanged questions among those that are
            named.
        improvements : bool
            Whether to look for questions that became better, in place of worse.

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
            rate_baseline,    success rates of both versions
            rate
            p                 chance of so few successes of the candidate if nothing changed, given
                              the successes of both together (Fisher's exact test, one-sided)
            p_min             the smallest p that is possible, given those successes
            p_adjusted        adjusted for all questions of the candidate [2]_, for rates up to
                              `fdr`
            regressed         whether p_adjusted is at most `fdr`; named improved if improvements
                              are wanted
            broken            whether the question was mostly right and is mostly wrong now (if
                              improvements are wanted, the reverse, under the same name)
            broken_by_chance  the chance of breaking if nothing changed; its sum is the number of
                              questions that break by chance
            p_broken          chance that so many questions of the candidate or more break if
                              nothing changed: the same for all of its questions
            ================  ==================================================================

        Raises
        ------
        ValueError
            As `gate`; if it is not known what success is.

        Notes
        -----
        Few trials cannot name a question: with 4 trials of both versions the smallest p is 1/70,
        and one broken question of 500 cannot be named unless most others never or always succeed,
        which cannot be false discoveries. With 16 trials, .86 of the questions that
        broke to a tenth of their rate were found, with 4 trials .31 among 30 questions (400
        simulated logs).

        References
        ----------
        .. [1] R. A. Fisher (1935), The Logic of Inductive Inference, Journal of the Royal
           Statistical Society 98(1), 39-82: the exact test.
        .. [2] S. Doehler, G. Durand, E. Roquain (2018), Electronic Journal of Statistics 12,
           1867-1900: the discrete step-up procedure, which does not waste what few trials leave.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["v1"] * 3 + ["v2"] * 3, "question": ["a", "b", "c"] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 1, 6, 4]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> tests = log.regressions("v1")
        >>> tests.select("question", pl.col("p", "p_adjusted").round(3), "regressed").rows()
        [('a', 0.001, 0.001, True), ('c', 0.5, 1.0, False), ('b', 0.715, 1.0, False)]
        """
        from polars_scorio.decisions.regressed_questions import regressed_questions

        plan = regressed_questions(
            self._lazy(), self._roles, baseline, fdr=fdr, improvements=improvements
        )
        return self._returned(plan)
