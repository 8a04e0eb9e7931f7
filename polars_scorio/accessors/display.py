"""Tables, pictures, pages, questions, frontier."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.accessors.base import Accessor, FrameT, ShownFrame, in_order
from polars_scorio.arguments import Overall, QuestionUnit, Unmatched, value_text
from polars_scorio.counting.roles import Category
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import Metric, Weights
from polars_scorio.metrics.weighted import avg
from polars_scorio.signatures import takes_options
from polars_scorio.study.request import (
    ConfidenceOptions,
    DecisionOptions,
    Prior,
    TargetOptions,
    chosen_first,
)

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
            It has the methods `intervals`, `curve`, `over` and `frontier`.

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
        'ada is ahead; bob may be as good.'
        """
        from polars_scorio.display.plots import Plots

        return Plots(self._log_study(), self._roles, self._chosen)

    @takes_options(DecisionOptions)
    def leaderboard(
        self, *metrics: Metric, overall: Overall | None = None, **options: Unpack[DecisionOptions]
    ) -> pl.DataFrame:
        """Leaderboard: a row for each model, the best first, and a column for each metric.

        `ps.to_great_table`, `ps.to_markdown` and `ps.to_latex` write it for a page or a paper. A
        LazyFrame is collected. `print` shows it as the command does, a notebook with the main
        finding and drawn intervals; `.frame` is the plain frame.

        Parameters
        ----------
        *metrics : Metric
            The metrics to show; the first one, at its smallest k, ranks the models. Default:
            `ps.avg()`.
        overall : "macro" or "micro" or dict, optional
            With strata: how the columns over all strata are made, as in `report`. Default:
            "macro", the mean of the strata, as in most papers.

        Returns
        -------
        DataFrame
            A row for each model, the best first:

            ======================  ============================================================
            model                   the model; the column has its name in the log
            questions, trials,      as in `report`, over all strata
            dropped
            confidence, inference   confidence of the intervals, and how they were made, in words
            rank, rank_lo, rank_hi  rank by the score, and the range of ranks, as in `rank`
            avg, avg_lo, avg_hi     for each metric and k: the score and its interval; with strata,
                                    over all of them
            avg_estimate,           `estimate` of a report, and its standard error
            avg_sigma
            avg_best                whether it is the best beyond doubt, by the test of `rank`
            retail__avg, ...        the same for each stratum, named after it
            overall                 "macro", "micro" or the weights in words; only with strata
            could_be_best, tier     as in `rank`
            ======================  ============================================================

        Raises
        ------
        ValueError
            If two strata would give the same column name; and as `report` and `compare`.

        See Also
        --------
        rank : The order of the models, as a tidy frame.
        report : Scores and intervals, as a tidy frame.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> board = trials.scorio(trial=None).leaderboard(ps.avg(), ps.pass_at_k(1))
        >>> board.select("rank", "rank_lo", "rank_hi", "model", "avg", "pass_at_k_1").rows()
        [(1, 1, 2, 'ada', 1.0, 1.0), (2, 1, 2, 'bob', 0.0, 0.0)]
        """
        from polars_scorio.display.leaderboard import leaderboard, number_columns
        from polars_scorio.display.media.terminal import board_text
        from polars_scorio.display.page import finding_table
        from polars_scorio.display.settings import Settings
        from polars_scorio.display.story import StoryOptions
        from polars_scorio.display.table import Table

        board = self._asked(leaderboard, metrics or (avg(),), overall=overall, **options)
        lead = number_columns((metrics or (avg(),))[:1], judged=False)[0]
        board = board.select(in_order(board.columns, self._roles, lead))
        made = board["overall"].first() if "overall" in board.columns else None
        said = self._options(leaderboard, {**options, "overall": overall or made})
        asked = StoryOptions(metrics, Settings.from_options(said))
        return ShownFrame.from_frame(
            board,
            lambda: finding_table(self._lazy(), self._roles, asked),
            lambda: board_text(Table.read(board, percent=None)),
        )

    @takes_options()
    def write_card(
        self,
        path: str | os.PathLike[str],
        metric: Metric | None = None,
        *,
        title: str | None = None,
        baseline: Category | None = None,
        margin: float | None = None,
        overall: Overall | None = None,
        confidence: float | None = None,
        target: Target | None = None,
    ) -> Path:
        """Write a picture for a chat or a slide: the finding as a sentence, and the best models.

        Parameters
        ----------
        path : str or path
            The file to write: a .png of 1,200 by 630, which needs the extra `plot`, or a .svg.
        metric : Metric, optional
            The metric that orders the models; default `ps.avg()`. A single k.
        title : str, optional
            A name of the log, in the line above the finding.
        baseline, margin : optional
            As in `gate`, of which the card then shows the finding; both or none.
        overall : "macro" or "micro" or dict, optional
            With strata: how the numbers are made, as in `report`. Default: "macro", their mean.
        confidence, target : optional
            As in `report`.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        ImportError
            If the extra `plot` is not installed, for a .png.
        TypeError, ValueError
            As `rank`; if the file has another ending.

        See Also
        --------
        write_html : A page with all results.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> path = trials.scorio(trial=None).write_card("card.png")  # doctest: +SKIP
        """
        from polars_scorio.display.media.card import card_svg, write_card
        from polars_scorio.display.page import story_card
        from polars_scorio.display.settings import Settings
        from polars_scorio.display.story import Story, StoryOptions, read_story

        if title is not None and not isinstance(title, str):
            raise TypeError(f"title must be a word or None, got {value_text(title)}")
        said = {"target": target, "confidence": confidence, "overall": overall}
        asked = chosen_first(self._chosen, said)
        metrics = () if metric is None else (metric,)
        wanted = StoryOptions(metrics, Settings(**asked), baseline, margin)
        *_, story = read_story(self._lazy(), self._roles, wanted, totals=self._tool_totals)
        if not isinstance(story, Story):
            raise story
        return write_card(Path(path), card_svg(story_card(story, title)))

    @takes_options()
    def write_html(
        self,
        path: str | os.PathLike[str],
        *metrics: Metric,
        title: str | None = None,
        baseline: Category | None = None,
        margin: float | None = None,
        overall: Overall | None = None,
        prior: Prior | None = None,
        target: Target | None = None,
        confidence: float | None = None,
    ) -> Path:
        """Write a report as one HTML file: which model leads, how sure that is, what is missing.

        A browser shows the file without network or scripts.

        Parameters
        ----------
        path : str or path
            The file to write.
        *metrics : Metric
            The metrics; the first one, at its smallest k, ranks the models. Default: `ps.avg()`,
            and Pass@k and Pass^k if outcomes are successes. The role `cost` adds a section on
            costs.
        title : str, optional
            The headline of the page. Default: the name of the file.
        baseline, margin : optional
            As in `gate`: the page then is about the gate, with the questions that broke or were
            repaired; both or none.
        overall : "macro" or "micro" or dict, optional
            With strata: how the numbers over all of them are made, as in `report`. Default:
            "macro", their mean.
        prior, target, confidence : optional
            As in `report`.

        Returns
        -------
        Path
            The file that was written. It has a finding as its title, alerts about the log, the
            leaderboard with intervals and ranks, sections on strata, pairs, curves, costs and
            questions as far as the log has them, what to do next, and how numbers were made. Models
            are compared on the questions that all models of a stratum have.

        Raises
        ------
        TypeError, ValueError
            As `report`. If rows of the log cause the error, a page with the message is written
            before it is raised.

        See Also
        --------
        write_card : A picture of the finding alone.
        leaderboard : The table of the page.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio
        >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
        >>> path = trials.scorio(trial=None).write_html("report.html")  # doctest: +SKIP
        """
        from polars_scorio.display.page import PageCall, made_page
        from polars_scorio.display.settings import Settings
        from polars_scorio.display.story import StoryOptions
        from polars_scorio.display.whole_files import refuse_missing_folder, write_whole

        if title is not None and not isinstance(title, str):
            raise TypeError(f"title must be a word or None, got {value_text(title)}")
        path = Path(path)
        said = {"overall": overall, "prior": prior, "target": target, "confidence": confidence}
        asked = {**self._chosen, **{name: word for name, word in said.items() if word is not None}}
        settings = Settings(**asked)  # type: ignore[arg-type]  # what is wrong is refused there
        options = StoryOptions(metrics, settings, baseline, margin)
        order = PageCall.from_options(options, self._roles, path.name, title=title)
        refuse_missing_folder(path)
        made, refusal = made_page(self._lazy(), self._roles, order, totals=self._tool_totals)
        write_whole(path, made.html())
        if refusal is not None:
            raise refusal
        return path


class QuestionMethods(Accessor[FrameT]):
    """From outcomes to what they say of the questions."""

    @takes_options(ConfidenceOptions)
    def questions(
        self,
        w: Weights | None = None,
        *,
        per: QuestionUnit = "question",
        unmatched: Unmatched = "error",
        **options: Unpack[ConfidenceOptions],
    ) -> FrameT:
        """Questions from the hardest to the easiest, with those never or always solved.

        Parameters
        ----------
        w : sequence or dict of float, optional
            Weight of each category, as for `ps.avg`; a trial solves a question if its weight
            exceeds the lowest one. Default: success and failure, or the rewards.
        per : "question" or "cluster"
            A row for each question, the default, or for each `cluster`, with the mean of its
            questions.
        unmatched : "error" or "drop"
            What to do about questions that some model lacks: an error, or keep the common ones.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each question of a stratum, the hardest ones first:

            ================  ==================================================================
            by..., question   the stratum and the question, or the cluster
            models, trials    number of models, and of trials of all models
            solved_by         number of models with at least one success
            always_by         number of models whose trials all succeeded
            removable         share of the variance of a difference of two models on other questions
                              that more trials of these can remove; the same in all rows
            rate              success rate or mean reward, averaged over the models
            rate_lo, rate_hi  confidence limit of the rate of an "always" or a "never" question
            status            "never" if no trial of any model succeeded, "always" if all did
            ================  ==================================================================

            A number that models or trials are too few for is null.

        Raises
        ------
        ValueError
            If models have different questions, if ``per="cluster"`` has no cluster, if it is not
            known what success is; for verdicts of a judge; and as `report`.

        See Also
        --------
        regressions : Questions that became worse than under a baseline.
        reruns : Flaky questions, and the noise floor.

        Examples
        --------
        >>> import polars as pl
        >>> import polars_scorio as ps
        >>> totals = {"model": ["ada"] * 3 + ["bob"] * 3, "question": ["a", "b", "c"] * 2}
        >>> log = ps.from_successes(pl.DataFrame(totals | {"n": 8, "c": [8, 5, 0, 8, 2, 0]}))
        >>> log.scorio(count="count").questions().select("question", "rate", "status").rows()
        [('c', 0.0, 'never'), ('b', 0.4375, None), ('a', 1.0, 'always')]
        """
        from polars_scorio.decisions.question_analysis import question_analysis

        return self._rows(question_analysis, w, per=per, unmatched=unmatched, **options)


class CostMethods(Accessor[FrameT]):
    """From outcomes and costs to the models that are worth their cost."""

    @takes_options(TargetOptions)
    def frontier(
        self,
        metric: Metric | None = None,
        *,
        unmatched: Unmatched = "error",
        **options: Unpack[TargetOptions],
    ) -> FrameT:
        """Pareto frontier of score and mean cost, with the probability of each model to be on it.

        A model is on the frontier if no other model is at least as good and costs at most as much.

        Parameters
        ----------
        metric : Metric, optional
            The score; default `ps.avg()`. A single k.
        unmatched : "error" or "drop"
            What to do about questions that some model lacks: an error, or keep the common ones.

        Returns
        -------
        DataFrame or LazyFrame
            A row for each stratum and model, the cheapest first:

            ================  ==================================================================
            by..., model      the stratum and the model
            metric, k         the metric, and its draw size
            mean_cost,        mean cost of a trial, with its interval
            cost_lo, cost_hi
            prob_on_frontier  share of 4,000 simulated scores and costs of all models in which it
                              is on the frontier
            dominated         whether another model is significantly better and cheaper, with
                              `confidence` for all models together
            estimate, lo, hi  the score, with its interval
            on_frontier       whether it is on the frontier of the estimates
            ================  ==================================================================

        Raises
        ------
        ValueError
            If the accessor has no `cost`; for metrics without a value for single questions, and for
            several draw sizes; if models have different questions; and as `report`.

        See Also
        --------
        mean_cost : The average cost of a trial.
        rank : The order by the score alone.

        Notes
        -----
        `dominated` needs both differences from some other model to be significant, each at an error
        of ``(1 - confidence) / (L (L - 1))`` for L models (intersection-union test, Bonferroni).
        With single trials the questions are taken as a sample, which is conservative.

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

        return self._rows(frontier, metric, unmatched=unmatched, **options)
