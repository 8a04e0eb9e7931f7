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

        A question that strong models fail and weak ones solve is reversed: its key may be wrong, so
        look at it. A correlation below zero is no proof: with 8 models and one trial, 13 % of
        good questions have one by chance. The q-value takes that into account.

        Parameters
        ----------
        w : sequence or dict of float, optional
            The weight of each category, as for `ps.avg`; a trial solves a question if its weight
            exceeds the lowest one. Default: success and failure, the rewards, or the levels of the
            accessor.
        fdr : float
            False discovery rate: the expected share of good questions among those that are called
            reversed.
        per : "question" or "cluster"
            "question", the default: a row for each question. "cluster": a row for each `cluster`,
            with the mean of its questions; "all other questions" are then those of other clusters.
        questions : "same" or "common"
            "same", the default: the models of a stratum must have the same questions. "common":
            only questions count that all models of the stratum have.
        confidence : float, optional
            Confidence of rate_min and rate_max; default: that of the accessor, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each question of a stratum; in each stratum the most suspect ones first:

            ================  ==================================================================
            by..., question   the stratum and the question, under their names in the log; with
                              ``per="cluster"`` the cluster, and `questions`, their number
            models, trials    number of models, and of trials of all models
            rate              success rate or mean reward, averaged over the models
            solved_by         number of models with at least one success
            always_by         number of models whose trials all succeeded
            status            "never" if no trial of any model succeeded, "always" if all did;
                              else null
            rate_min          lower bound of the rate of an "always" question; else null
            rate_max          upper bound of the rate of a "never" question; else null
            spread            standard deviation of the rates of the models, without the noise of
                              the trials; null with a single trial
            rest_correlation  correlation, over the models, of the rate of this question and the
                              mean of all other questions; null if all models are alike
            discrimination    rest_correlation without the noise of the trials; null below four
                              models, below four trials of this question, with a single trial of
                              another one, and if noise dominates
            p_reversed        chance of so low a correlation if the question is unrelated to the
                              others; 1 if all models are alike, null below four models
            q_reversed        p_reversed, adjusted for all questions of the stratum [1]_
            reversed          whether q_reversed is at most `fdr`
            ================  ==================================================================

        Raises
        ------
        ValueError
            If models have different questions (the message says how many and which), if
            ``per="cluster"`` and the accessor has no cluster, if it is not known what success is,
            if a judge has to be corrected; and as `report`.

        Notes
        -----
        The numbers are about these models only. Trials are taken as independent, and so are models:
        several versions of one model agree with each other, and are worth little more than one.
        Rates are biased if the outcomes decided when trials stopped; `coverage` finds such logs.

        With a single model, or a single question, rest_correlation, p and q are null. For
        real-valued rewards without `bounds` it is unknown which reward is a failure: solved_by,
        always_by, status, rate_min and rate_max are null.

        discrimination is ``cov / sqrt((v - e)(v_r - e_r))``, v and v_r the sample variances over
        models of the question and of the rest, e and e_r their noise; null if at most .3 of v or
        v_r is left. p is the lower tail of Student's t with A - 2 degrees of freedom, A models.

        With fewer than about 15 models of 4 trials few reversed questions are found: an empty list
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
        """Why do outcomes differ: models, questions or chance? And are questions or trials missing?

        Parameters
        ----------
        w, questions : optional
            As in `questions`.
        confidence : float, optional
            Confidence of the intervals; default: that of the accessor, else 0.95.

        Returns
        -------
        DataFrame or LazyFrame
            Four rows for each stratum:

            ================  ==================================================================
            by...             the stratum
            models,           number of models, of questions, and of trials of all models
            questions, trials
            source            "models" (some are better), "questions" (some are harder),
                              "interaction" (models are good at different questions), "trials" (two
                              trials of one question differ)
            variance          the part of this source in the variance of a single trial, in squared
                              units of the outcome; an unbiased estimate, which may be negative if
                              the part is small
            share, lo, hi     `variance` as a share of the total, with an interval at `confidence`
            sigma_benchmark   noise of the difference of two models on these questions
            sigma_population  noise of that difference on as many other questions of the same kind
            removable         share of the squared sigma_population that further trials of the same
                              questions can remove
            advice            whether to buy trials or questions next, in one sentence
            ================  ==================================================================

            All rows of a stratum have the same numbers from sigma_benchmark on.

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

        Twice as many questions halve the squared sigma_population; twice as many trials remove half
        of `removable`. Trials are advised as long as `removable` is at least one half.

        If a question has a single trial, only the sum of interaction and trials is known: both are
        null, and so are the numbers that need them. All shares are null for one model or one
        question; lo and hi need three questions. Questions are taken as independent, also within
        a cluster.

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
