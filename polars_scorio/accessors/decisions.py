"""The methods of the accessor that decide: which model is better, and in which order they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Overall, RankMethod, RankTies
from polars_scorio.counting.roles import Category
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


class DecisionMethods(Accessor[FrameT]):
    """From estimates to decisions, within each stratum."""

    @takes_options(DecisionOptions)
    def compare(
        self,
        metric: Metric | None = None,
        *,
        baseline: Category | None = None,
        simultaneous: bool = False,
        overall: Overall | None = None,
        **options: Unpack[DecisionOptions],
    ) -> FrameT:
        """Which of two models is better, by how much, and how sure is that [1]_?

        Each pair of models has a row with the interval of its difference. `better` names the better
        model if the interval excludes zero, and is null if the data cannot tell.

        Parameters
        ----------
        metric : Metric, optional
            What to compare; default `ps.avg()`.
        baseline : category, optional
            Compare each model with this one; default: all pairs.
        simultaneous : bool
            Whether `confidence` is the chance that all verdicts of a stratum (and draw size) are
            right together; default: each verdict by itself. The more models you compare, the more
            often one of two equal models is called better by luck. With True that is to happen in
            one of twenty logs at 0.95: it did in at most .048 of the simulated logs of a kind, .068
            in the worst setting.
        overall : "macro" or "micro", optional
            Add rows over all strata, with null in the `by` columns: "macro" compares the mean of
            the strata, each with the same weight; "micro" has all their questions in one pool. All
            models must have all strata.
        target : "benchmark" or "population"
            Whether the models differ on these very questions, the default, or on all questions that
            could have been asked, of which these are a sample. The paired differences of single
            questions then decide [2]_; pooled numbers and prior trials are an error.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum, draw size and pair of models, in the order of the models:

            ================  ==================================================================
            by..., metric, k  the stratum and what was compared
            model_a, model_b  the models; with a baseline it is `model_b`
            diff              mu of model_a minus mu of model_b
            sigma             standard deviation of diff
            z                 diff in units of sigma; 0 if there is no difference
            prob              probability that model_a is better than model_b: Phi(z)
            lo, hi            two-sided interval of diff at `confidence`, or with `simultaneous` of
                              all pairs at once
            better            the better model if zero lies outside lo, hi; else null
            holds             the pairs for which `confidence` holds at once: "each pair" by itself,
                              "all pairs" of the stratum, "all with the baseline"
            judged, labels    with `truth` or `judge` alone: the difference of the verdicts as they
                              are, and the labels behind both models
            bounds            of real-valued rewards alone, as in `report`
            information       with `anytime` alone: information so far over the planned one, that of
                              the model that has less
            ================  ==================================================================

            The distribution of diff depends on `inference`. Published: normal, clipped to the
            bounds. Pooled: a Beta distribution on the range of the metric. Calibrated: one of two
            intervals. The first adds the noise of both models, and near a bound the rest of their
            intervals [3]_. The second takes the variance of the differences of single questions,
            with Student's distribution, as with ``target="population"`` but without clusters. Both
            hold, because trials are independent given the question; a pair has the second, unless
            the first is clearly shorter (by a factor of .85). With one trial of each question it
            has the second. If k exceeds the trials of a model, diff is the difference of two
            predictions, lo and hi are the worst ends of two ranges, and there is no verdict.

            With ``target="population"``: diff is the mean of the differences d of the questions,
            sigma its standard error, ``sigma^2 = s_d^2 / M + (M s_d^2 + 2 R^2) / ((E + 1) M (M +
            1))``. R is the range of the metric, ``E = (sum (d - diff)^2)^2 / sum (d - diff)^4`` the
            number of questions that make the variance: the fewer there are, the more are priced
            that differ by all of R but were not seen, so that M questions on which both do the same
            leave something open (R unknown: the first term alone). prob and lo, hi by Student's
            distribution with M - 1 degrees of freedom; all null for a single question, and where k
            exceeds the trials of a question.

            With `judge`, one judge for all models: its errors do not change which model is better
            in `avg` on these questions, but they change by how much, so the difference is
            corrected. A judge who favours one model makes false winners; only labels on the trials
            of both models (`truth`) repair that.

        Raises
        ------
        ValueError
            At the call: no model column, unknown choices; ``target="population"`` with a blend of
            the whole benchmark, or with what has no say in it; ``questions="adjusted"`` without
            this target. At collection: models with different questions (how many and which), no
            common question, with ``questions="adjusted"`` models that no questions connect (which),
            a stratum without the baseline; and as `report`.
        TypeError
            For what is no metric.

        Warns
        -----
        PriorWarning
            Once, when it is collected, if the difference of the unbiased estimates lies outside
            lo, hi in some pairs: the uniform prior decides there, not the trials. One and the same
            model with 16 and with 2 trials of 100 hard questions is better than itself with prob
            above .999. ``inference="calibrated"`` is the cure.
        UserWarning
            When it is collected, if no stratum has two models: then there is no row.

        Notes
        -----
        All of this holds for one look at the log. Comparing again and again while it grows makes
        false winners: say `anytime` before the first look.

        `prob` above 95 % (or below 5 %) asks for a z of 1.645, an interval without zero for one of
        1.960.

        With `simultaneous` a critical value c replaces z (or Student's t). For all pairs it is that
        of the studentized range (Tukey and Kramer [4]_), with a baseline Dunnett's, about a
        population that of the largest t under the estimated covariance, by draws with a fixed seed.
        Verdicts are made step by step [5]_: once some pairs differ, the others need a smaller c.
        A pair that differs in a later step has the interval at the c of that step, so that lo and
        hi agree with `better`; all other pairs have the interval of the first step. Which of its
        two intervals a calibrated pair has does not depend on c.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2.
        .. [2] E. Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640: paired differences.
        .. [3] C. J. Clopper, E. S. Pearson (1934), Biometrika 26(4), 404-413: the interval of a
           side, with an effective number of questions.
        .. [4] A. J. Hayter (1984), Annals of Statistics 12(1), 61-75.
        .. [5] J. P. Romano, M. Wolf (2005), Journal of the American Statistical Association 100,
           94-108.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 5, 5, 1]}  # trials and successes
        >>> pair = ps.from_successes(pl.DataFrame(totals)).scorio(count="count").compare()
        >>> pair.select("model_a", "model_b", pl.col("diff", "prob").round(3), "better").row(0)
        ('ada', 'bob', 0.333, 0.997, 'ada')
        """
        from polars_scorio.decisions.compare import compare

        options = self._with(options)
        plan = compare(
            self._lazy(),
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
        """Which model is the best, and what is its score, corrected for being selected?

        The best of many candidates owes part of its score to luck: its score in a report is too
        high on average, and its interval there contains the true score less often than promised.
        `best_mu`, `best_lo` and `best_hi` correct for that.

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
            by...             the stratum
            model             the model with the highest mu, under its own name
            candidates        from how many models it was selected
            estimate          its mu
            best_mu           its mu, moved towards the mean of the models by the part of their
                              spread that is noise; for models of one kind, such as the checkpoints
                              of a run
            best_lo, best_hi  its interval after selection, at `confidence`
            could_be_best     list of the models that may be the best, as in `rank`
            bounds            of real-valued rewards alone, as in `report`
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

        Notes
        -----
        best_lo is the lower end of the leader's interval with the tail 1 - (1 - d)^(1 / L) instead
        of d = (1 - confidence) / 2, L the number of candidates; best_hi is its upper end, which
        selection does not make worse. In simulations of 2, 10 and 60 equal models the interval had
        the score in .99 on average, at least .97 (nominal .95; without the correction: .76, at
        least .15). It is 8 % (2 models) to 37 % (60) wider.

        best_mu is m + B (mu - m), m the mean weighted by 1 / sigma^2 and B that of `rank`. If one
        model is far better than many others, it is too low.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 6, 5, 3]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> row = log.best(ps.avg(), inference="calibrated").row(0, named=True)
        >>> row["model"], round(row["estimate"], 3), row["could_be_best"]
        ('ada', 0.792, ['ada', 'bob'])
        """
        from polars_scorio.decisions.best import best

        options = self._with(options)
        plan = best(
            self._lazy(), self._roles, metric, candidates=candidates, overall=overall, **options
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
        """In which order are the models, and which ranks may each of them have?

        `rank` is the place by the score alone. `rank_lo` and `rank_hi` are the best and the worst
        rank that the data allow: models whose ranges overlap may be in another order.

        Parameters
        ----------
        metric : Metric, optional
            By what; default `ps.avg()`. One draw size at a time.
        method : "competition", "competition_max", "dense" or "average"
            Which rank tied models get: the best of their places (1, 2, 2, 4), the worst
            (1, 3, 3, 4), the best without a gap after them (1, 2, 2, 3), or the mean of their
            places (1, 2.5, 2.5, 4).
        ties : "z" or "overlap"
            When `rank_ci`, the rule of the paper, ties two neighbours in the list [1]_: if z
            between them is below the one-sided quantile of `confidence` (1.645 at 95 %), or if
            their intervals overlap. Ties chain: 20 models that are one point apart can all share
            the first place, though the first and the last differ by z = 12.
        simultaneous : bool
            Whether all ranges of a stratum hold at once with `confidence`, the default; or each by
            itself.
        overall : "macro" or "micro", optional
            Add rows over all strata, as in `compare`: the ranking of all models over all strata.

        Returns
        -------
        DataFrame or LazyFrame
            A row per stratum and model, the best first:

            ================  ==================================================================
            by..., metric, k  the stratum and what orders the models
            rank              by mu alone; scores within 1e-12 of their neighbour are tied
            rank_lo, rank_hi  the best and the worst rank that the data allow [2]_: 1 + the number
                              of models that are significantly better, and the number of models
                              minus those that are significantly worse, as `compare` decides
            rank_ci           the neighbour rule of the paper, with `ties`
            model             under its own name
            mu, sigma, lo,    as in `report`
            hi
            p_best            chance to be the best, if the numbers are normal and independent, and
                              the models normal around a mean of their own [3]_
            could_be_best     whether the model may be the best: the set of these models contains
                              the best one with `confidence` [4]_
            z_next            z between the model and the next one, null for the last
            bounds            of real-valued rewards alone, as in `report`
            information       with `anytime` alone: information so far over the planned one
            ================  ==================================================================

            Calibrated predictions for k beyond the trials are never ranked: all of these are null
            but mu, lo and hi.

            With ``target="population"``: mu is the estimate; lo and hi are the interval of the
            calibrated report; sigma is that of a mean over sampled questions, by the formula of
            `compare` with the scores in place of the differences; ranges, z_next, ties by z and
            p_best are those of the paired differences and their covariance. With
            ``questions="adjusted"`` the interval is that of Student's t.

        Raises
        ------
        ValueError
            As `compare`; for several draw sizes.

        Warns
        -----
        PriorWarning
            As `compare`, of all pairs of a stratum.

        Notes
        -----
        The leader of many models owes part of its lead to luck. Therefore `p_best` takes
        ``sqrt(B)`` of the gaps, ``B = max(0, 1 - (L - 3/2) / Q)``, with Q the squared distances of
        the L models from their weighted mean in units of sigma. In simulations of
        normal scores `p_best` of the leader is within .06 of how often it is the best if the models
        spread by at least a third of sigma. It is too high if they are equal, by .15 for two models
        and .03 for fifty: few models cannot tell luck from a lead, so that of two to four models
        `p_best` is a guess. One model far ahead of many equal ones has too low a `p_best`.

        References
        ----------
        .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.7.2 and table 1.
        .. [2] M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024), Inference for Ranks,
           Review of Economic Studies 91(1), 476-518.
        .. [3] B. Efron, C. Morris (1973), Stein's estimation rule and its competitors, Journal of
           the American Statistical Association 68, 117-130.
        .. [4] J. C. Hsu (1984), Annals of Statistics 12(3), 1136-1144: a model is left out if some
           other one is better than it, one-sided, at once for all others.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": [1, 2, 3] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 6, 5, 3]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> rows = log.rank()
        >>> rows.select("rank", "rank_lo", "rank_hi", "model", pl.col("p_best").round(2)).rows()
        [(1, 1, 2, 'ada', 0.93), (2, 1, 2, 'bob', 0.07)]
        """
        from polars_scorio.decisions.rank import rank

        options = self._with(options)
        plan = rank(
            self._lazy(),
            self._roles,
            metric,
            method=method,
            ties=ties,
            simultaneous=simultaneous,
            overall=overall,
            **options,
        )
        return self._returned(plan)
