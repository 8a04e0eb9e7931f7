"""The tables of a page, as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_scorio.display.cells import rank_texts
from polars_scorio.display.html.headline import estimate_differs, lead_rows, metric_rows, scale_of
from polars_scorio.display.html.labels import metric_label
from polars_scorio.display.html.scopes import Scope
from polars_scorio.display.number_format import MISSING, Scale, probability_text
from polars_scorio.display.phrases import count_of, range_text
from polars_scorio.display.question_sentences import question_name
from polars_scorio.display.tables import visible_text

_ROWS = 20  # of a table that could be long
_SHOWN = 12  # categories in a cell


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, and its cells."""

    head: str
    cells: Sequence[str]
    number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and what is to be said below them."""

    columns: Sequence[Column]
    note: str = ""

    @property
    def rows(self) -> list[tuple[tuple[Column, str], ...]]:
        """The cells of each row, with their columns."""
        rows = zip(*(column.cells for column in self.columns), strict=True)
        return [tuple(zip(self.columns, row, strict=True)) for row in rows]


def leaderboard_table(scope: Scope) -> Table:
    """The models in their order: the ranks that are open, and each metric with its interval."""
    models = scope.models
    columns = [
        Column("rank", [*rank_texts(scope.ranks)]),
        Column("model", models, number=False),
    ]
    if len(models) > 1:
        columns.insert(1, Column("P(best)", [*map(probability_text, scope.ranks["p_best"])]))
    for metric in scope.metrics:
        for k in metric.k:
            rows = metric_rows(scope, metric, k)
            columns += _number_columns(
                metric_label(metric, k, scope.each), _placed_rows(rows, models)
            )
    sizes = [name for name in ("questions", "clusters") if name in scope.rows.columns]
    asked = " in ".join(count_of(max(scope.rows[name].to_list()), name[:-1]) for name in sizes)
    note = f"{asked}, {_trials_text(scope)} of each model."
    return Table(columns, note)


def _trials_text(scope: Scope) -> str:
    each = scope.rows["trials"]
    return f"{range_text(int(str(each.min())), int(str(each.max())))} trials"


def _placed_rows(rows: pl.DataFrame, models: Sequence[str]) -> pl.DataFrame:
    """Rows in the order of the models, with nulls for those that have none."""
    order = pl.DataFrame({"model": models}, schema={"model": rows.schema["model"]})
    return order.join(rows, on="model", how="left", maintain_order="left")


def _number_columns(head: str, rows: pl.DataFrame) -> list[Column]:
    """The posterior mean with its interval, and the estimate where it is another number."""
    scale = scale_of(rows)
    numbers = rows.select("mu", "lo", "hi").rows()
    columns = [Column(head + scale.sign, [scale.cell(*row) for row in numbers])]
    if estimate_differs(rows).any():
        columns.append(Column("estimate", [scale.text(value) for value in rows["estimate"]]))
    return columns


def strata_table(parts: Sequence[Scope], order: Sequence[str]) -> Table:
    """The leading metric of each model in each stratum."""
    rows = pl.concat([lead_rows(part) for part in parts])
    scale = scale_of(rows)
    columns = [Column("model", order, number=False)]
    for part in parts:
        placed = _placed_rows(lead_rows(part), order).select("mu", "lo", "hi").rows()
        columns.append(Column(part.name, [scale.cell(*row) for row in placed]))
    return Table(columns, f"In {'percent' if scale.percent else 'units of the metric'}.")


def pairs_table(scope: Scope) -> Table:
    """The best model against each other one."""
    first, *others = scope.models
    scale = scale_of(lead_rows(scope))
    turned = pl.concat(
        [
            scope.pairs.select("model_a", "model_b", "diff", "lo", "hi", "prob", "better"),
            scope.pairs.select(
                model_a="model_b",
                model_b="model_a",
                diff=-pl.col("diff"),
                lo=-pl.col("hi"),
                hi=-pl.col("lo"),
                prob=1 - pl.col("prob"),
                better="better",
            ),
        ]
    )
    mine = turned.filter(model_a=first).rename({"model_b": "model"}).drop("model_a")
    placed = _placed_rows(mine, others)
    rows = placed.rows(named=True)
    differences = [scale.cell(*row) for row in placed.select("diff", "lo", "hi").rows()]
    return Table(
        [
            Column(f"{first} against", others, number=False),
            Column(f"difference{' (points)' * scale.percent}", differences),
            Column("probability to be better", [probability_text(row["prob"]) for row in rows]),
            Column("better", [row["better"] or "undecided" for row in rows], number=False),
        ]
    )


def trials_needed_table(scope: Scope) -> Table:
    """Further trials that would distinguish neighbours in the ranking."""
    rows = scope.needed.rows(named=True)

    def number(value: int | None) -> str:
        return "no difference in sight" if value is None else f"{value:,}"

    return Table(
        [
            Column("better so far", [row["model_a"] for row in rows], number=False),
            Column("than", [row["model_b"] for row in rows], number=False),
            Column(
                "trials now", [range_text(row["trials_min"], row["trials_max"]) for row in rows]
            ),
            Column("further trials of each question", [number(row["extra"]) for row in rows]),
            Column("in all", [number(row["total"]) for row in rows]),
        ]
    )


def hardest_questions(questions: pl.DataFrame, percent: Scale) -> Table:
    """The questions with the lowest scores."""
    rows = questions.head(_ROWS // 2)
    numbers = {"score": "mean of the models", "least": "worst model", "most": "best model"}
    scores = [
        Column(f"{words}{percent.sign}", [*map(percent.text, rows[name])])
        for name, words in numbers.items()
    ]
    return Table([_question_column(rows), *scores, _trials_column(rows)])


def telling_questions(analysed: pl.DataFrame, percent: Scale) -> Table:
    """The questions that separate the models best, from their analysis in this order."""
    rows = analysed.head(_ROWS // 2)
    return Table(
        [
            _question_column(rows),
            Column(f"mean of the models{percent.sign}", [*map(percent.text, rows["rate"])]),
            Column("discrimination", [f"{value:.2f}" for value in rows["discrimination"]]),
            _trials_column(rows),
        ],
        "Discrimination: correlation with the other questions, without the noise of the trials.",
    )


def reversed_questions(analysed: pl.DataFrame, percent: Scale) -> Table:
    """The questions that are called reversed, from their analysis."""
    rows = analysed.head(_ROWS)
    return Table(
        [
            _question_column(rows),
            Column(f"mean of the models{percent.sign}", [*map(percent.text, rows["rate"])]),
            Column("correlation", [f"{value:.2f}" for value in rows["rest_correlation"]]),
            Column("q", [*map(probability_text, rows["q_reversed"])]),
            _trials_column(rows),
        ],
        "Correlation with the other questions, over the models; q: the false discovery rate at "
        "which a question is called reversed.",
    )


def _question_column(rows: pl.DataFrame) -> Column:
    """The questions under names that fit into a table."""
    return Column("question", [*map(question_name, rows["question"].to_list())], number=False)


def _trials_column(rows: pl.DataFrame) -> Column:
    """The trials of all models at each question."""
    return Column("trials", [f"{trials:,}" for trials in rows["trials"]])


def coverage_table(found: pl.DataFrame) -> Table:
    """Table of the coverage of a log."""
    columns = []
    for name in found.columns:
        words = found.schema[name] == pl.String
        cells = [_cell_text(value) for value in found[name].to_list()]
        columns.append(Column(name, cells, number=not words and name != "categories"))
    return Table(columns)


def _cell_text(value: object) -> str:
    if isinstance(value, list):
        more = f" and {len(value) - _SHOWN:,} more" * (len(value) > _SHOWN)
        return visible_text(", ".join(map(str, value[:_SHOWN])) + more)
    if value is None:
        return MISSING
    if isinstance(value, float):
        return f"{value:.2g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
