"""The tables of a page, as texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from polars_scorio.display.html.page_pictures import IntervalAxis
from polars_scorio.display.log_summary import metric_label
from polars_scorio.display.scopes import Scope
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import Column, Table, cell_text, interval_columns, rank_texts
from polars_scorio.display.verdict import (
    estimate_differs,
    lead_label,
    lead_rows,
    metric_rows,
    scale_of,
)
from polars_scorio.display.words import (
    MISSING,
    Scale,
    count_of,
    probability_text,
    range_text,
    short_name,
    visible_text,
)

_TOLD = 10  # questions of a table, half of the most
_SHOWN = 12  # categories in a cell
_TOP, _SPARED = 15, 2  # models that are not folded; so few more are not worth a fold
_WITH_INTERVALS = 8  # strata, of which a table has room for the intervals
_BROAD = 12  # strata, of which paper is to lie across
_PLANNED = 5  # pairs in a plan
_TWO = 2  # models, which are a pair


def leaderboard_tables(scope: Scope, settings: Settings, colours: dict[str, str]) -> list[Table]:
    """The models in their order: the first 15 of many, and the rest in a fold.

    Models without a class in `colours` are grey.
    """
    whole = _leaderboard_table(scope, settings, colours)
    rest = len(scope.models) - _TOP
    if rest <= _SPARED:
        return [whole]
    more = replace(whole.slice(_TOP), folded=f"{rest:,} more models", note="")
    return [whole.slice(0, _TOP), more]


def _leaderboard_table(scope: Scope, settings: Settings, colours: dict[str, str]) -> Table:
    """Rank, model, interval as picture and text, probability to be the best, other metrics."""
    models = scope.models
    (first, k), *others = [(metric, k) for metric in scope.metrics for k in metric.row_sizes]
    lead = _placed_rows(metric_rows(scope, first, k), models)
    scale, axis = scale_of(lead), IntervalAxis.of(lead, percent=scale_of(lead).percent)
    numbers = zip(*(lead[name] for name in ("mu", "lo", "hi", "estimate")), strict=True)
    pictures = [
        axis.picture(mu, lo, hi, estimate, colours.get(name, ""))
        for name, (mu, lo, hi, estimate) in zip(models, numbers, strict=True)
    ]
    columns = [
        name_column("model", models),
        Column(
            f"{settings.level} interval", pictures, right=False, drawn=axis.ticks_picture(scale)
        ),
        *_score_columns(metric_label(first, k, scope.each), lead),
    ]
    if len(models) > 1 and not scope.biased:
        columns.insert(0, Column("rank", [*rank_texts(scope.ranks)]))
    if shows_p_best(scope):
        columns.append(Column("P(best)", [*map(probability_text, scope.ranks["prob_best"])]))
    for metric, size in others:
        rows = _placed_rows(metric_rows(scope, metric, size), models)
        columns += _score_columns(metric_label(metric, size, scope.each), rows)
    sizes = [name for name in ("questions", "clusters") if name in scope.rows.columns]
    asked = " in ".join(count_of(max(scope.rows[name].to_list()), name[:-1]) for name in sizes)
    ends = int(scope.rows["trials"].min()), int(scope.rows["trials"].max())  # type: ignore[arg-type]  # integers
    note = f"{asked}, {range_text(*ends)} trials of each model."
    return Table(columns, note, f"Models by {metric_label(first, k, scope.each)}", "board")


def shows_p_best(scope: Scope) -> bool:
    """Whether the leaderboard has P(best): of two models the comparison has P(better) instead."""
    return len(scope.models) > _TWO and not scope.biased


def _placed_rows(rows: pl.DataFrame, models: Sequence[str]) -> pl.DataFrame:
    """Rows in the order of the models, with nulls for those that have none."""
    order = pl.DataFrame({"model": models}, schema={"model": rows.schema["model"]})
    return order.join(rows, on="model", how="left", maintain_order="left")


def _score_columns(head: str, rows: pl.DataFrame) -> list[Column]:
    """The posterior mean with its interval, and the estimate where it is another number."""
    estimates = rows["estimate"] if estimate_differs(rows).any() else None
    return interval_columns(head, scale_of(rows), rows.select("mu", "lo", "hi").rows(), estimates)


def strata_table(parts: Sequence[Scope], overall: Scope) -> Table:
    """Heat table of the leading metric: a row for each model, a column for each stratum.

    A cell has an outline where the model leaves the ranks that it has in the whole log.
    """
    order = overall.models
    placed = [_placed_rows(lead_rows(part), order) for part in parts]
    scale = scale_of(pl.concat([lead_rows(part) for part in parts]))
    means = [value for rows in placed for value in rows["mu"] if value is not None]
    low, high = min(means, default=0.0), max(means, default=0.0)
    wide = len(parts) <= _WITH_INTERVALS
    columns = [name_column("model", order)]
    for part, rows in zip(parts, placed, strict=True):
        leaves = _leaves_rank(part, overall)
        shades = [
            "" if mu is None else f"q{_shade_step(mu, low, high)}" + " out" * leaves[name]
            for name, mu in zip(order, rows["mu"], strict=True)
        ]
        cells = [
            scale.cell(*row) if wide else scale.text(row[0])
            for row in rows.select("mu", "lo", "hi").iter_rows()
        ]
        columns.append(Column(part.name, cells, shades=shades))
    unit = "percent" if scale.percent else "units of the metric"
    note = (
        f"In {unit}. Outlined: the ranks that are open to the model here are others than overall."
    )
    if not wide:
        note += " The intervals are in the data at the end of the page."
    kind = "heat broad" if len(parts) > _BROAD else "heat"
    return Table(columns, note, f"{lead_label(overall)} of each model in each stratum", kind)


def _leaves_rank(part: Scope, overall: Scope) -> dict[str, bool]:
    """Whether the ranks that a stratum leaves open to a model are disjoint from those overall."""
    ends = ["model", "rank_lo", "rank_hi"]
    both = overall.ranks.select(ends).join(part.ranks.select(ends), on="model", how="left")
    apart = (pl.col("rank_lo_right") > pl.col("rank_hi")) | (
        pl.col("rank_hi_right") < pl.col("rank_lo")
    )
    return dict(both.select("model", apart.fill_null(value=overall.biased)).iter_rows())


def _shade_step(value: float, low: float, high: float) -> int:
    """One of ten shades."""
    return 0 if high <= low else min(int(10 * (value - low) / (high - low)), 9)


def trials_needed_table(scope: Scope) -> Table:
    """Further trials that would distinguish neighbours in the ranking."""
    rows = scope.needed.head(_PLANNED).rows(named=True)

    def number(value: int | None) -> str:
        return "no difference in sight" if value is None else f"{value:,}"

    columns = [
        Column("better so far", [*map(short_name, (row["model_a"] for row in rows))], right=False),
        Column("than", [*map(short_name, (row["model_b"] for row in rows))], right=False),
        Column("trials now", [range_text(row["trials_min"], row["trials_max"]) for row in rows]),
        Column("further trials of each question", [number(row["extra_trials"]) for row in rows]),
        Column("in all", [number(row["total"]) for row in rows]),
    ]
    if "extra_questions" in scope.needed.columns:
        asked = [
            number(row["extra_questions"]) if row["extra_trials"] is None else MISSING
            for row in rows
        ]
        columns.append(Column("or further questions", asked))
    rest = scope.needed.height - _PLANNED
    note = f"{count_of(rest, 'more pair')} of neighbours: see the data." if rest > 0 else ""
    return Table(columns, note, "Further trials that would distinguish neighbours", "cards")


def hardest_questions(questions: pl.DataFrame, percent: Scale, models: int) -> Table:
    """The questions with the lowest scores, by so many models."""
    heads = {"score": "mean of the models", "least": "worst model", "most": "best model"}
    if models == 1:
        heads = {"score": "mean of the trials"}
    numbers = {
        f"{head}{percent.sign}": percent.texts(questions[name]) for name, head in heads.items()
    }
    note = _ties_note(percent.texts(questions["score"]), "score")
    return _told_questions(questions, numbers, note, _TOLD)


def telling_questions(analysed: pl.DataFrame, percent: Scale) -> Table:
    """The questions that separate the models best, from their analysis in this order."""
    texts = [f"{each:.2f}" for each in analysed["discrimination"]]
    about = "Discrimination: correlation with the other questions, without the noise of the trials."
    numbers = {
        f"mean of the models{percent.sign}": percent.texts(analysed["rate"]),
        "discrimination": texts,
    }
    note = f"{about} {_ties_note(texts, 'discrimination')}".strip()
    return _told_questions(analysed, numbers, note, _TOLD)


def reversed_questions(analysed: pl.DataFrame, percent: Scale) -> Table:
    """The questions that are called reversed, from their analysis."""
    numbers = {
        f"mean of the models{percent.sign}": percent.texts(analysed["rate"]),
        "correlation": [f"{value:.2f}" for value in analysed["rest_correlation"]],
        "q": [*map(probability_text, analysed["qvalue"])],
    }
    note = (
        "Correlation with the other questions, over the models; q: the false discovery rate at "
        "which a question is called reversed."
    )
    return _told_questions(analysed, numbers, note, 2 * _TOLD)


def _told_questions(
    rows: pl.DataFrame, numbers: dict[str, list[str]], note: str, most: int
) -> Table:
    """The first rows, with the numbers and the trials of each question."""
    trials = {"trials": [f"{trials:,}" for trials in rows["trials"]]}
    named = name_column("question", rows["question"])
    columns = [named, *(Column(head, texts) for head, texts in (numbers | trials).items())]
    return Table(columns, note).slice(0, most)


def name_column(head: str, names: Iterable[object]) -> Column:
    """The first column, whose names fit into a table."""
    return Column(head, [*map(short_name, names)], right=False, names=True)


def _ties_note(texts: Sequence[str], name: str, shown: int = _TOLD) -> str:
    """How many questions beyond those that are shown have the number of the last one.

    >>> _ties_note(["1.00", "1.00", "1.00", "0.98"], "discrimination", 1)
    '2 more questions have the discrimination of the last one.'
    """
    ties = texts[shown:].count(texts[shown - 1]) if texts[shown:] else 0
    have = "has" if ties == 1 else "have"
    return f"{count_of(ties, 'more question')} {have} the {name} of the last one." if ties else ""


def coverage_table(found: pl.DataFrame) -> Table:
    """Table of the coverage of a log."""
    columns = []
    for name, kind in found.schema.items():
        form = ".2g" if kind.is_float() else "," if kind.is_integer() else ""
        cells = [visible_text(cell_text(value, form, _SHOWN)) for value in found[name].to_list()]
        right = kind != pl.String and name != "categories"
        columns.append(Column(name, cells, right, names=name == "model"))
    return Table(columns, caption="Coverage of each model", kind="cards")
