"""The methods of the accessor that judge the benchmark: its questions, and what to buy next."""

from __future__ import annotations

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Compared, QuestionUnit
from polars_scorio.metrics.metric_arguments import Weights
from polars_scorio.signatures import takes_options


class QuestionMethods(Accessor[FrameT]):
    """From outcomes to what they say of the questions."""

    @takes_options()
    def questions(
        self,
        w: Weights | None = None,
        *,
        fdr: float = 0.1,
        per: QuestionUnit = "question",
        questions: Compared = "same",
        confidence: float | None = None,
    ) -> FrameT:
        """Which questions are dead, which ones separate the models, and which have a wrong key?

        A question that strong models fail and weak ones solve is reversed: more often than not its
        key is wrong. By chance alone 14 % of good questions look reversed with 8 models and one
        trial, so that a correlation below zero accuses nobody; the q-value does.

        Parameters
        ----------
        w : sequence or dict of float, optional
            The weight of each category, as for `ps.avg`; a question is solved by a trial above the
            lowest weight. Default: success and failure, the rewards, or the levels of the accessor.
        fdr : float
            False discovery rate: the expected share of good questions among those that are called
            reversed.
        per : "question" or "cluster"
            A row for each question, the default, or for each `cluster` of questions, by the mean of
            its questions; the rest are then the questions outside the cluster.
        questions : "same" or "common"
            The models of a stratum must have the same questions, the default; or only those count
            that all of them have.
        confidence : float, optional
            Of rate_min and rate_max; default: as the accessor says, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each question of a stratum; in each stratum the most suspect ones first:

            ================  ==================================================================
            by..., question   the stratum and the question (or the cluster, and `questions`, the
                              number of its questions), under their own names
            models, trials    number of models, and of their trials together
            rate              mean of the models: success rate or mean reward
            solved_by         models with a success
            always_by         models with successes alone
            status            "never" if no trial of any model succeeded, "always" if all did;
                              else null
            rate_min          least rate of an "always" question that the trials allow; else null
            rate_max          largest rate of a "never" question that the trials allow; else null
            spread            standard deviation of the models, without the noise of the trials;
                              null with a single trial
            rest_correlation  correlation over models with the mean of all other questions; null if
                              all models are alike
            discrimination    this correlation without the noise of the trials; null below four
                              trials of a question, with a single trial of any other one, and if
                              noise dominates
            p_reversed        chance of so low a correlation if question and rest are unrelated; 1
                              if all models are alike, null below four models
            q_reversed        p_reversed, adjusted for all questions of the stratum [1]_
            reversed          whether q_reversed is at most `fdr`
            ================  ==================================================================

        Raises
        ------
        ValueError
            If models have different questions (how many and which), if ``per="cluster"`` and no
            cluster is named, if it is not known what success is, if a judge has to be corrected;
            and as `report`.

        Notes
        -----
        The models are given; nothing is said about other models. Trials are independent, and so are
        models: several versions of one model vote together, and count as one. Trials that stopped
        on their outcomes bias rates; `coverage` finds them.

        A single model, or a single question, has no rest_correlation, p or q. Real-valued rewards
        have means and correlations; without `bounds` nobody knows which reward is a failure, so
        that solved_by, always_by, status, rate_min and rate_max are null.

        discrimination is ``cov / sqrt((v - e)(v_r - e_r))``, v and v_r the sample variances over
        models of the question and of the rest, e and e_r their noise; null if at most .3 of v or
        v_r is left. p is the lower tail of Student's t with A - 2 degrees of freedom, A models.

        Below about 15 models with 4 trials it finds next to nothing; that it names no question
        proves nothing then. In simulations of 300 questions (3 % reversed, 30 % without any
        relation to the others, 60 logs each; ``python tests/benchmarks/questions.py reversed``)
        this share of the reversed questions was found with 1, 4 and 16 trials: 8 models .01, .06,
        .36; 15 models .04, .36, .81; 25 models .16, .59, .92; 60 models .53, .88, .99. At most .05
        of the questions that were called reversed were not.

        References
        ----------
        .. [1] Y. Benjamini, Y. Hochberg (1995), Journal of the Royal Statistical Society B 57(1),
           289-300.

        Examples
        --------
        Six models, ever better at the questions a to e; the key of f is wrong.

        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> solved = {"a": "012488", "b": "113478", "c": "002568", "d": "113588", "e": "124678"}
        >>> solved |= {"f": "876420", "g": "000000"}  # successes of 8 trials
        >>> rows = [(m, q, int(c)) for q, each in solved.items() for m, c in enumerate(each)]
        >>> totals = pl.DataFrame(rows, schema=["model", "question", "c"], orient="row")
        >>> log = ps.from_successes(totals.with_columns(n=8)).scorio(count="count")
        >>> shown = ["question", "status", pl.col("rate_max", "q_reversed").round(2), "reversed"]
        >>> log.questions().select(shown).rows()[:2]
        [('f', None, None, 0.0, True), ('a', None, None, 1.0, False)]
        >>> log.questions().select(shown).filter(status="never").rows()
        [('g', 'never', 0.07, 1.0, False)]
        """
        from polars_scorio.decisions.question_analysis import question_analysis

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = question_analysis(
            self._lazy(), self._roles, w, fdr=fdr, per=per, questions=questions, confidence=sure
        )
        return self._returned(plan)

    @takes_options()
    def variance(
        self,
        w: Weights | None = None,
        *,
        questions: Compared = "same",
        confidence: float | None = None,
    ) -> FrameT:
        """Do models, questions or trials make outcomes differ, and which of them to buy next?

        Parameters
        ----------
        w, questions : optional
            As in `questions`.
        confidence : float, optional
            Of the intervals; default: as the accessor says, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            Four rows for each stratum:

            ================  ==================================================================
            by...             the stratum
            models,           their numbers; trials are those of all models
            questions, trials
            source            "models" (some are better), "questions" (some are harder),
                              "interaction" (models differ in what they are good at), "trials" (one
                              trial of a question comes out other than the next)
            variance          its part of the variance of one trial of any model at any question,
                              in squared units of the outcome; may be negative, as an unbiased
                              estimate of a small part has to be
            share, lo, hi     the share of it, with an interval at `confidence`
            sigma_benchmark   noise of the difference of two models on these questions
            sigma_population  the same on as many other questions of their kind
            removable         share of the squared sigma_population that further trials of the same
                              questions can remove
            advice            trials or questions: what to buy next, in one sentence
            ================  ==================================================================

            The columns from sigma_benchmark on are the same in all rows of a stratum.

        Raises
        ------
        ValueError
            As `questions`.

        Notes
        -----
        With A models, M questions and n trials: MS is the residual mean square of the table of
        means; interaction is MS less the mean noise e / n, questions the variance of their means
        less MS / A, models that of theirs less MS / M, trials e, the mean variance of a trial [1]_.
        ``sigma_benchmark^2 = 2 e / (n M)``, ``sigma_population^2 = 2 (interaction + e / n) / M``,
        removable is their ratio. Ends: the jackknife over questions, Student's t with M - 1 degrees
        of freedom. In simulations of 5 to 25 models, 50 and 100 questions and 2 to 16 trials they
        held in .91 to .97 of the logs (nominal .95, 100 logs each), and shares were off by at most
        .005 on average (``python tests/benchmarks/questions.py variance``).

        Twice as many questions of the same kind halve the squared sigma_population, twice as many
        trials remove half of `removable`: trials are advised while they can remove most of it.

        With a single trial of some question, interaction and trials are null, and what follows from
        them: only their sum is known. All shares are null for one model or one question; ends need
        three questions. Questions are taken as independent, also those of one cluster.

        References
        ----------
        .. [1] R. L. Brennan (2001), Generalizability Theory, Springer, chapter 3: the design of
           persons and items.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 4 + ["bob"] * 4, "question": [1, 2, 3, 4] * 2}
        >>> totals |= {"n": 8, "c": [8, 6, 5, 1, 7, 4, 2, 0]}  # trials and successes
        >>> log = ps.from_successes(pl.DataFrame(totals)).scorio(count="count")
        >>> log.variance().select("source", pl.col("share").round(2)).rows()
        [('models', 0.08), ('questions', 0.44), ('interaction', -0.04), ('trials', 0.52)]
        >>> print(log.variance()["advice"][0][:44])
        Buy trials: more trials of these questions c
        """
        from polars_scorio.decisions.variance_sources import variance_sources

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = variance_sources(self._lazy(), self._roles, w, questions=questions, confidence=sure)
        return self._returned(plan)
