"""The method of the accessor about the judge whose verdicts a log holds."""

from __future__ import annotations

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.signatures import takes_options


class JudgeMethods(Accessor[FrameT]):
    """From verdicts and labels to the errors of a judge."""

    @takes_options()
    def judge_agreement(self, *, width: float = 0.1, confidence: float | None = None) -> FrameT:
        """How well does a judge agree with people, and how many labels are needed?

        It needs the labels of people on some of the trials, the role `truth`.

        Parameters
        ----------
        width : float
            A wished width of the whole interval of the accuracy, for `labels_needed`.
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
            labels_needed         labels on random trials by which `avg` would have an interval of
                                  that width; null if the trials themselves are too few
            ====================  ==============================================================

            If one of both verdicts was labelled more often than the other, as by
            `ps.sample_to_label`, the verdicts on all trials weigh the labels.

        Raises
        ------
        ColumnNotFoundError, TypeError, ValueError
            As `report`; and if no labels are named with ``truth=``.

        References
        ----------
        .. [1] J. Cohen (1960), A Coefficient of Agreement for Nominal Scales, Educational and
           Psychological Measurement 20, 37-46.
        .. [2] K. Gwet (2008), Computing inter-rater reliability and its variance in the presence of
           high agreement, British Journal of Mathematical and Statistical Psychology 61, 29-48.

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
        from polars_scorio.reporting.judge_agreement import (
            judge_agreement,
        )

        sure = self._chosen.get("confidence", 0.95) if confidence is None else confidence
        plan = judge_agreement(self._lazy(), self._roles, width=width, confidence=sure)
        return self._returned(plan)
