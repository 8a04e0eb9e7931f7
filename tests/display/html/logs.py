"""Logs of many models, and what a page says of them."""

from html.parser import HTMLParser
from pathlib import Path
from random import Random
from types import SimpleNamespace

import polars as pl

from polars_scorio.counting.roles import Roles
from polars_scorio.display.media.drawings import figures_html
from polars_scorio.display.page import Page, PageCall, made_page
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import StoryOptions
from polars_scorio.metrics.metric import Metric

_VOID = {"meta", "link", "br", "wbr"}
_USUAL = Settings()
_PAGES: dict[tuple[bytes, str, str], Page] = {}


def models(number: int, strata: int = 0, questions: int = 12, trials: int = 4) -> pl.DataFrame:
    """Outcomes of models, of which the first ones are the better ones, in some strata."""
    random = Random(5)  # noqa: S311 - nothing here is secret
    rows = [
        (f"m{model:02}", f"bench {stratum}", question, trial, int(random.random() < skill))
        for stratum in range(max(strata, 1))
        for model in range(number)
        for question in range(questions)
        for skill in [(question + 1) / (questions + 1) * (1 - model / (2 * number))]
        for trial in range(trials)
    ]
    columns = ["model", "bench", "question", "trial", "category"]
    log = pl.DataFrame(rows, schema=columns, orient="row")
    return log if strata else log.drop("bench")


def retried(*names: str, questions: int = 60) -> pl.DataFrame:
    """Outcomes of models whose questions are repeated until a success, at most eight times."""
    random = Random(3)  # noqa: S311 - nothing here is secret
    rows = []
    for place, model in enumerate(names or ("ada", "bob")):
        for question in range(questions):
            rate = (0.8 - 0.1 * place) * random.random()
            for trial in range(8):
                rows.append((model, question, trial, int(random.random() < rate)))
                if rows[-1][-1]:
                    break
    columns = ["model", "question", "trial", "category"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def page_of(
    log: pl.DataFrame,
    *metrics: Metric,
    settings: Settings = _USUAL,
    baseline: str | None = None,
    margin: float | None = None,
    **roles: object,
) -> Page:
    """The page of a log; of a gate with a margin of two points unless another is given.

    A page is made once for all tests that ask for it with the same rows and options.
    """
    margin = 0.02 if margin is None and baseline is not None else margin
    options = StoryOptions(metrics, settings, baseline, margin)
    key = log.serialize(), repr(options), repr(roles)
    if key not in _PAGES:
        _PAGES[key] = new_page(log, options, Roles(**roles))
    return _PAGES[key]


def new_page(log: pl.DataFrame, options: StoryOptions, roles: Roles) -> Page:
    """The page of a log, which is made now."""
    made, _ = made_page(log.lazy(), roles, PageCall.from_options(options, roles, "log.html"))
    return made


class Checked(HTMLParser):
    """The elements of a page, after a check that every one is closed where it should be."""

    def __init__(self, text: str | Path) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text.read_text(encoding="utf-8") if isinstance(text, Path) else text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def values(self, *names: str) -> list[str]:
        """The values of some attributes."""
        found = (attrs.get(name) for _, attrs in self.elements for name in names)
        return [value for value in found if value is not None]


def drawn_sections(page: Page) -> list[SimpleNamespace]:
    """The sections of a page: what each says, and its figures as HTML."""
    return [
        SimpleNamespace(anchor=each.anchor, title=each.title, words=each.words,
                        figure=figures_html(each.figures))
        for each in page.sections
    ]  # fmt: skip


def picture_of(page: Page) -> str:
    """The first figures of a page as HTML."""
    return figures_html(page.figures)


def page_text(path: str) -> str:
    """All texts of a page."""
    return "".join(Checked(Path(path)).texts)
