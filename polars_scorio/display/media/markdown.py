"""A page or an account as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polars_scorio.display.blocks import (
    Account,
    Column,
    Interval,
    PageBlocks,
    TableBlock,
    Title,
)
from polars_scorio.display.numbers import MINUS, plain_text
from polars_scorio.display.phrases import short_name
from polars_scorio.display.table import FrameColumn, Table, markdown_table, markdown_text

_INTERVAL = re.compile(rf"(?<= )\\\[([-+{MINUS}<>\d. ,]+)\\\](?=[ ;,.]|$)")
_DOT = " \N{MIDDLE DOT} "


def page_markdown(page: PageBlocks) -> str:
    """The page without its pictures and its data, for a terminal."""
    notes = [f"- **{each.title}.** {markdown_words(each.text)}" for each in page.alerts
             if each.text not in page.account.texts("alert")]  # fmt: skip
    parts = [*account_markdown(page.account, notes)]
    for section in page.sections:
        if section.title:
            parts.append(f"## {markdown_words(section.title)}")
            said = () if section.folded else filter(None, section.words)
            parts += [markdown_words(each) for each in said]
    steps = [f"- {markdown_words(step)}" for step in page.account.next.steps]
    parts += ["## What to do next", *steps] if steps else []
    parts.append("## How it was computed")
    parts.append(markdown_words(" ".join([*page.about.sentences, page.checked, page.outcomes])))
    facts = page.about.facts | page.about.formulas
    parts.append("\n".join(f"- {name}: {markdown_words(fact)}" for name, fact in facts.items()))
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_words(text: str) -> str:
    r"""Text that Markdown shows as it is; intervals need no escapes.

    >>> markdown_words("m_1 *leads* with 52.1 % [42.0, 62.0] (avg@4)")
    'm_1 \\*leads\\* with 52.1 % [42.0, 62.0] (avg@4)'
    """
    return _INTERVAL.sub(r"[\1]", markdown_text(plain_text(text)))


def account_markdown(account: Account, notes: Sequence[str] = ()) -> list[str]:
    """Titles, sentences, warnings, tables and clauses, as paragraphs."""
    parts = [
        f"# {markdown_words(each.words)}" for each in account.blocks if isinstance(each, Title)
    ]
    parts += map(markdown_words, account.texts("alert"))
    verdict = f"**{account.title.chip}** " if account.title.mark else ""
    parts.append(verdict + markdown_words(" ".join(account.texts("lede", "aside", "plain"))))
    parts += [markdown_words(_DOT.join(account.basis)), *notes]
    parts += [_table_markdown(each) for each in account.blocks if isinstance(each, TableBlock)]
    parts.append("\n".join(f"- {markdown_words(each)}" for each in account.texts("clause")))
    return [part for part in parts if part]


def _table_markdown(table: TableBlock) -> str:
    """A table, but for what pictures alone show."""
    kept = [each for each in table.columns if each.kind not in {"tier", "chance"}]
    return markdown_table(Table([_written_column(each, table) for each in kept]), markdown_words)


def _written_column(column: Column, table: TableBlock) -> FrameColumn:
    percent = " (%)" if column.kind == "interval" and table.centre is None and table.percent else ""
    cells = [
        f"{each.text} {each.ends}".strip() or "\N{EN DASH}"
        if isinstance(each, Interval)
        else short_name(plain_text(each.words))
        for each in column.cells
    ]
    left = column.kind in {"name", "verdict"}
    return FrameColumn((column.head or "part") + percent, cells, right=not left)
