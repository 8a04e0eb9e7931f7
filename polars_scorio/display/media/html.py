"""A page, or what a notebook shows of it, as HTML."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape

from polars_scorio.display.blocks import Account, Alert, Figure, Next, PageBlocks, Section
from polars_scorio.display.media.drawings import figures_html
from polars_scorio.display.media.marks import file_text
from polars_scorio.display.media.tables import table_html
from polars_scorio.display.numbers import html_text, plain_text
from polars_scorio.display.phrases import visible_text

_CLAUSE = re.compile(r"(.*?)(?:([.,:](?= |$))|$)(.*)", re.DOTALL)  # the first one of a sentence
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath d='M1 8h14' stroke='%230b63c0' stroke-width='3' stroke-linecap='round'/%3E"
    "%3Ccircle cx='9' cy='8' r='4' fill='%230b63c0'/%3E%3C/svg%3E"
)
_DOT = " \N{MIDDLE DOT} "
# Characters that an attribute, or an address, would read as something else.
_ESCAPES = {ord(each): f"%{ord(each):02X}" for each in "%#&'<>\\ \n\r\t?"}
_KINDS = {"json": "application/json", "csv": "text/csv"}


def page_html(page: PageBlocks, files: Mapping[str, str]) -> str:
    """The page as one file, which holds others."""
    account, title = page.account, page.account.title
    aside = f" <em>{html_text(account.aside)}</em>" if account.aside else ""
    lede = f'<p class="lede">{html_text(account.lede)}{aside}</p>\n'
    basis = _DOT.join(map(html_text, account.basis))
    body = "".join(section_html(section) for section in page.sections)
    each = "".join(f"<p>{_alert_html(alert)}</p>" for alert in page.alerts)
    alerts = f'<div class="alert" id="alerts" role="note">{each}</div>\n' if each else ""
    notes = "".join(f'<p class="note">{html_text(each)}</p>' for each in account.texts("note"))
    return visible_text(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="generator" content="polars-scorio">\n'
        f"<title>{escape(plain_text(title.words))}</title>\n"
        f'<meta name="description" content="{escape(plain_text(account.lede))}">\n'
        f'<link rel="icon" href="{_ICON}">\n<style>\n{file_text("page.css")}</style></head>\n'
        f'<body><main>\n<div class="mast"><span class="what"><b><bdi>{escape(page.title)}</bdi>'
        f"</b> \N{MIDDLE DOT} {escape(page.summary)}</span>"
        f'<span class="chip {title.mood}">{escape(title.chip)}</span></div>\n'
        f'{alerts}<h1 id="headline">{html_text(title.words)}</h1>\n{lede}'
        f'<p class="basis">{basis}</p>\n'
        f'<div class="hero" id="leaderboard">{figures_html(page.figures)}{notes}</div>\n'
        f"{body}{next_html(account.next)}{_foot_html(page, files)}</main>\n"
        f"<script>\n{file_text('page.js')}</script>\n</body></html>\n"
    )


def _foot_html(page: PageBlocks, files: Mapping[str, str]) -> str:
    facts = page.about.facts
    read = " ".join(filter(None, [*page.about.sentences, page.checked]))
    links = [
        f"<a download='report.{kind}' href='{_data_link(text, kind)}'>{kind.upper()}</a>"
        for kind, text in files.items()
    ]
    made = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>"
        for name, fact in (facts | page.about.formulas).items()
        if name not in {"call", "counts, SHA-256"}
    )
    tables = {title: table_html(table) for title, table in page.folds.items()}
    tables["Tests of the trials"] = _tests_html(page.tests)
    folds = "".join(
        f"<details><summary>{title}</summary>{table}</details>"
        for title, table in tables.items()
        if table
    )
    # A long call breaks before its method rather than inside the name of a file.
    call = escape(facts["call"]).replace(").write_html(", ")<wbr>.write_html(")
    return (
        f"<footer><div><h2>How it was computed</h2>{f'<p>{escape(read)}</p>' if read else ''}"
        f"<details><summary>Assumptions and formulas</summary><dl>{made}</dl></details></div>\n"
        f"<div><h2>The log</h2><p>{escape(page.summary)}. {escape(page.outcomes)}</p>"
        f"<p>SHA-256 of the counts <code>{facts['counts, SHA-256'][:12]}</code></p>"
        f"<p><code>{call}</code></p></div>\n"
        f"<div><h2>Files inside this page</h2><p>{_DOT.join(links)}</p>"
        f"<p>{escape(facts['made by'])}<br>{escape(facts['made on'])}</p></div>\n"
        f'<div class="folds">{folds}</div></footer>\n'
    )


def _tests_html(tests: Sequence[tuple[str, str, str, str]]) -> str:
    """A row for each test."""
    rows = "".join(
        f'<tr><th scope="row" class="nm">{escape(asks)}</th><td class="n">{escape(p)}</td>'
        f'<td class="n">{verdict}</td><td class="said">{escape(sentence)}</td></tr>'
        for asks, p, verdict, sentence in tests
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("", "p", "verdict", "found"))
    head = f'<caption class="away">Tests of the trials</caption><thead><tr>{heads}</tr></thead>'
    return f'<table class="plain tests">{head}<tbody>{rows}</tbody></table>' if rows else ""


def _alert_html(alert: Alert) -> str:
    """A warning, whose text may begin with its title."""
    title, text = escape(alert.title), escape(alert.text)
    rest = text.removeprefix(title)
    return f"<b>{title}</b>{rest}" if rest != text else f"<b>{title}.</b> {text}"


def _data_link(text: str, kind: str) -> str:
    """A link to a file that it holds, for an attribute in single quotes."""
    return f"data:{_KINDS[kind]};charset=utf-8,{text.translate(_ESCAPES)}"


def next_html(block: Next) -> str:
    """The box of what to do next, whose first clause is bold."""
    if not block.steps:
        return ""
    first, *rest = block.steps
    clause, mark, remainder = _CLAUSE.match(first).groups()  # type: ignore[union-attr]  # any text
    lead = f"<b>{html_text(clause)}{mark}</b>{html_text(remainder)}"
    items = "".join(f"<li>{each}</li>" for each in [lead, *map(html_text, rest)])
    typed = f"<pre>{escape(block.command)}</pre>" if block.command else ""
    return f'<section class="next"><h2>What to do next</h2><ul>{items}</ul>{typed}</section>\n'


def section_html(section: Section) -> str:
    """A finding and its picture; nothing without a picture."""
    figure = figures_html(section.figures)
    if not figure:
        return ""
    read = "".join(f"<p>{html_text(each)}</p>" for each in section.words if each)
    title = f"<h2>{html_text(section.title)}</h2>"
    if section.folded:
        fold = f"<details><summary>{title}</summary>{read}{figure}</details>"
        return f'<section class="one" id="{section.anchor}">{fold}</section>\n'
    head = f"<header>{title}{read}</header>"
    return f'<section class="s" id="{section.anchor}">{head}<div>{figure}</div></section>\n'


def finding_html(account: Account, figures: Sequence[Figure]) -> str:
    """Title, numbers and first picture, for a notebook."""
    drawn = figures_html(figures)
    # Outputs of a notebook share one page, and an id is there once.
    drawn = drawn.replace('grid"', f'grid-{hashlib.sha256(drawn.encode()).hexdigest()[:8]}"')
    facts = _DOT.join(map(html_text, (account.lede, *account.basis)))
    alert = "".join(f'<p class="l">{html_text(each)}</p>' for each in account.texts("alert"))
    title = html_text(account.title.words)
    return scoped_html(f'<p class="t">{title}</p>{alert}<p class="l">{facts}</p>{drawn}')


def scoped_html(body: str) -> str:
    """HTML of a notebook with its own style."""
    style = file_text("notebook.css")
    return f'<div class="scorio"><style>{style}</style>{visible_text(body)}</div>'
