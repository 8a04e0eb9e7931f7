"""The methods of the accessor for people: leaderboards and pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.base import Accessor, FrameT
from polars_scorio.arguments import InferenceKind, Overall, check_choice, value_text
from polars_scorio.counting.roles import Category
from polars_scorio.display.settings import Settings
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import avg
from polars_scorio.reporting.options import DecisionOptions, InferenceOptions
from polars_scorio.signatures import takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_scorio.display.plots import Plots


class ReaderMethods(Accessor[FrameT]):
    """From estimates to what people read."""

    @property
    def plot(self) -> Plots:
        """Pictures of the log, as Altair charts; a LazyFrame is collected.

        Returns
        -------
        Plots
            It has the methods `intervals`, `curve`, `tail`, `forecast`, `over`, `comparison`,
            `ranks`, `trajectory`, `convergence`, `questions` and `frontier`.

        Raises
        ------
        ImportError
            If Altair is not installed: ``pip install "polars-scorio[plot]"``.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> chart = trials.scorio(trial=None).plot.intervals()
        >>> chart.to_dict()["title"]["text"]
        'avg@1'
        """
        from polars_scorio.display.plots import Plots

        return Plots(self._lazy(), self._roles, self._with(InferenceOptions()))

    @takes_options(DecisionOptions)
    def leaderboard(
        self,
        *metrics: Metric,
        overall: Overall | None = None,
        **options: Unpack[DecisionOptions],
    ) -> pl.DataFrame:
        """One row a model, the best first, with a column for each metric: a table to show.

        `ps.to_great_table`, `ps.to_markdown` and `ps.to_latex` write it for a page or a paper. A
        LazyFrame is collected, because the columns depend on the strata in the log.

        Parameters
        ----------
        *metrics : Metric
            What to show. The models are ranked by the first metric, at its smallest k. Default:
            `ps.avg()`.
        overall : "macro" or "micro", optional
            With strata: whether the columns over all strata are the mean of the strata, or all
            questions in one pool, as in `report`. Default: "micro", as on the pages of
            `write_html`.

        Returns
        -------
        DataFrame
            A row for each model, the best first:

            ======================  ============================================================
            rank, rank_lo, rank_hi  rank by the score alone, and the best and the worst rank that
                                    the data allow, as in `rank`
            model                   the model; the column has its name in the log
            could_be_best           whether the model may be the best, as in `rank`
            avg, avg_lo, avg_hi     for each metric and k: mu and the ends of its interval; with
                                    strata, over all of them
            avg_estimate,           the unbiased estimate, and sigma
            avg_sigma
            avg_judged,             with `truth` or `judge` alone: the estimate from the verdicts as
            avg_labels              they are, and the labels behind the correction
            retail__avg, ...        these columns for each stratum; if the stratum is a number, with
                                    the name of its column, as in ``temperature 0.7__avg``
            questions, trials,      as in `report`, over all strata
            dropped
            confidence, inference   confidence of the intervals, and how they were made, in words
            overall                 "macro" or "micro"; only with strata
            ======================  ============================================================

        Raises
        ------
        ValueError
            If two strata would give the same column name; and as `report` and `compare`.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> board = trials.scorio(trial=None).leaderboard(ps.avg(), ps.pass_at_k(1))
        >>> board.select("rank", "rank_lo", "rank_hi", "model", "avg", "pass_at_k_1").rows()
        [(1, 1, 2, 'ada', 1.0, 1.0), (2, 1, 2, 'bob', 0.0, 0.0)]
        """
        if overall is not None:
            check_choice("overall", overall, Overall)
        options = self._with(options)
        from polars_scorio.display.leaderboard import leaderboard

        return leaderboard(
            self._lazy(), self._roles, metrics or (avg(),), overall=overall, **options
        )

    @takes_options()
    def write_html(
        self,
        path: str | os.PathLike[str],
        *metrics: Metric,
        title: str | None = None,
        baseline: Category | None = None,
        inference: InferenceKind | None = None,
        target: Target | None = None,
        confidence: float | None = None,
        anytime: int | None = None,
    ) -> Path:
        """Write a report as one HTML file: which model leads, how sure that is, what is missing.

        A browser shows the file without network or scripts. The log is read once, or twice with the
        role `cost`. It needs the extra `report`: ``pip install "polars-scorio[report]"``.

        Parameters
        ----------
        path : str or path
            The file to write.
        *metrics : Metric
            What to report. The first metric, at its smallest k, ranks and compares the models.
            Default: `ps.avg()`, and Pass@k and Pass^k if the log has successes. A log with the role
            `cost` gets a section on costs in any case; metrics of costs are shown there.
        title : str, optional
            The headline of the page; default: the name of the file.
        baseline : category, optional
            A model that all others are compared with, in a section of its own: the margins with
            which a `gate` passes or fails, and the questions that broke or were repaired.
        inference, target, confidence, anytime : optional
            As in `report`.

        Returns
        -------
        Path
            The file that was written. From top to bottom it has:

            ============  ======================================================================
            headline      which model leads, and how sure that is
            warnings      missing questions and outcomes, unfinished runs, duplicates, unequal or
                          single trials, k beyond the trials
            scores        with intervals, and the ranks that the data allow
            leaderboard   over all strata, and for each stratum
            comparisons   of all pairs; with `baseline`, gates and changed questions
            curves        Pass@k and Pass^k against k
            questions     the hardest, those that separate the models best, and reversed ones
            plan          how many trials undecided pairs need
            basis         what the log contains, how the numbers were made, a hash of the counts,
                          and all numbers as JSON
            ============  ======================================================================

            Models are reported on the questions that all models of a stratum have.

        Raises
        ------
        ImportError
            If the extra `report` is not installed.
        TypeError, ValueError
            As `report`. If the rows of the log cause the error, the page that is written before it
            is raised has the message and the coverage of the log.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> path = trials.scorio(trial=None).write_html("report.html")  # doctest: +SKIP
        """
        from polars_scorio.display.html.page_request import Order
        from polars_scorio.display.html.write_page import write_page

        if title is not None and not isinstance(title, str):
            raise TypeError(f"title must be a word or None, got {value_text(title)}")
        path = Path(path)
        said = {
            "inference": inference,
            "target": target,
            "confidence": confidence,
            "anytime": anytime,
        }
        asked = {**self._chosen, **{name: word for name, word in said.items() if word is not None}}
        settings = Settings(**asked)  # type: ignore[arg-type]  # what is wrong is refused there
        order = Order.of(metrics, settings, self._roles, path.name, title=title, baseline=baseline)
        refusal = write_page(path, self._lazy(), self._roles, order, totals=self._tool_totals)
        if refusal is not None:
            raise refusal
        return path
