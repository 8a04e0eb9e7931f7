"""The methods of the accessor that set what models can do against what they cost."""

from __future__ import annotations

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import Compared
from polars_scorio.metrics.metric import Metric
from polars_scorio.signatures import takes_options


class CostMethods(Accessor[FrameT]):
    """From outcomes and costs to the models that are worth their cost."""

    @takes_options()
    def frontier(
        self,
        metric: Metric | None = None,
        *,
        confidence: float | None = None,
        questions: Compared = "same",
    ) -> FrameT:
        """Which models are worth their cost? The frontier of score and mean cost.

        A model is on the frontier if no other model is at least as good and at most as dear, one of
        both strictly. Chance has a say: two models that are equally good and equally dear were both
        on the frontier of the estimates in only 20 to 47 % of the simulated logs. Therefore
        `p_frontier` says how probable it is that a model is on the frontier, and `dominated` which
        models are not worth their cost, at the level `confidence` for all models at once.

        Parameters
        ----------
        metric : Metric, optional
            What is set against the cost; default `ps.avg()`. One draw size at a time.
        confidence : float, optional
            Of the intervals and of `dominated`; default: as the accessor says, else 0.95.
        questions : "same" or "common"
            The models of a stratum must have the same questions, the default; or only those count
            that all of them have.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each stratum and model, the cheapest first:

            ================  ==================================================================
            by..., model      the keys, under their own names
            metric, k         what is set against the cost
            estimate, lo, hi  the metric
            mean_cost,        the mean cost of a trial
            cost_lo, cost_hi
            on_frontier       whether it is on the frontier of the estimates
            p_frontier        chance to be on it: its share in 4,000 fixed normal draws of all
                              scores and (logs of) costs, which vary together
            dominated         whether another model is surely better and surely cheaper; with the
                              given confidence no model is called so that is on the frontier
            ================  ==================================================================

            All of them are about the population that the questions (or clusters) are a sample of;
            about these very questions, they err to the safe side.

        Raises
        ------
        ValueError
            If the accessor has no `cost`; for metrics without a value for single questions (blends
            of the benchmark), and for several draw sizes; if models have different questions; and
            as `report`.

        Notes
        -----
        `dominated` needs both paired differences of some other model to exceed Student's quantile
        at 1 - (1 - confidence)/(L (L - 1)) for L models: an intersection-union test within a pair,
        and Bonferroni over the pairs. Simulated with 5 models, two of them tied and one dominated,
        200 logs each of 30, 100 and 500 questions with 1, 4 and 16 trials: no model of the frontier
        was called dominated in any of the 1,800 logs; with 4 trials the dominated one was found in
        1 % (30 questions), 16 % (100) and 88 % (500) of them.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> columns = {"question": [1, 2, 3, 4], "category": [1, 1, 1, 0]}
        >>> ada = pl.DataFrame(columns).with_columns(model=pl.lit("ada"), usd=pl.col("question"))
        >>> bob = ada.with_columns(model=pl.lit("bob"), usd=3 * pl.col("usd"))
        >>> log = pl.concat([ada, bob]).scorio(trial=None, cost="usd")
        >>> log.frontier().select("model", "mean_cost", "on_frontier", "dominated").rows()
        [('ada', 2.5, True, False), ('bob', 7.5, False, False)]
        """
        from polars_scorio.decisions.frontier import frontier

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = frontier(self._lazy(), self._roles, metric, confidence=sure, questions=questions)
        return self._returned(plan)
