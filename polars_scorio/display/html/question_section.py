"""The part of a page on questions: how hard they are, which ones are dead, telling or reversed."""

from __future__ import annotations

import polars as pl

from polars_scorio.decisions.question_analysis import FALSE_DISCOVERIES
from polars_scorio.display.html import page_tables as tables
from polars_scorio.display.html import pictures
from polars_scorio.display.html.page import Section
from polars_scorio.display.number_format import Scale
from polars_scorio.display.question_sentences import question_sentences, reversed_sentence
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_rows, scale_of
from polars_scorio.display.verdict.scopes import Scope, holds_fractions

_SEPARATED = 5  # models; among fewer many questions separate them perfectly by chance


def questions_section(main: Scope, settings: Settings) -> Section:
    """Section on the questions that all models of a log, or of its first stratum, have."""
    judged, main = main.judged, main.of_verdicts()
    analysed = main.analysed_questions(settings)
    scale = Scale(percent=scale_of(lead_rows(main)).percent, digits=1)
    if holds_fractions(main.counts, main.roles):  # a reward above the least is hardly a solution
        reversals = reversed_sentence(analysed, "question", FALSE_DISCOVERIES)
        lines = ["By the mean reward of all models.", reversals]
    else:
        lines = question_sentences(analysed, "question", FALSE_DISCOVERIES)
    if judged:
        lines.insert(0, "By the verdicts of the judge as they are.")
    if len(main.models) == 1:  # nothing can be said of reversed questions
        lines.pop()
    shown = {}
    solved = analysed.filter(pl.col("status").is_not_null())  # never, or always
    decided = solved["question"].cast(pl.String).to_list()
    open_ones = main.per_question().filter(~pl.col("question").cast(pl.String).is_in(decided))
    if open_ones.height:
        one = len(main.models) == 1
        by_some = " that were solved at least once" if one else " that some model solved"
        words = by_some * ("never" in solved["status"])
        table = tables.hardest_questions(open_ones, scale, len(main.models))
        shown[f"The hardest questions{words}"] = table
    telling = analysed.filter(pl.col("discrimination") > 0)
    if telling.height and len(main.models) >= _SEPARATED:
        shown["The questions that separate the models best"] = tables.telling_questions(
            telling.sort(-pl.col("discrimination").round(12), -pl.col("rest_correlation")), scale
        )
    if analysed["reversed"].any():
        shown["Reversed questions"] = tables.reversed_questions(analysed.filter("reversed"), scale)
    figures = pictures.question_figures(main, settings)
    return Section("questions", "Which questions are hard?", lines, figures, shown)
