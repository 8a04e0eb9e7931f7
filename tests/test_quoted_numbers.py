"""One number for one claim: README, guide and docstrings quote the studies."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from examples.validation.promised_tables import (
    MARKED,
    PAGES,
    PRINTED,
    TABLES,
    markdown_cell,
    page_with_tables,
)
from examples.validation.quoted_numbers import STUDIES
from tests.documents import ROOT

# A sentence with both is about a study. Tables and blocks of code have none.
STUDY = re.compile(
    r"simulat(ed|ions?)\b|\b(of|in) the logs|\blogs (each|a cell)|\ba false winner in"
)
NUMBER = re.compile(r"\d ?%|[ (]\.\d|\d of \d")
# Each of these pages says on it which script measures its numbers.
MEASURED = re.compile(r"python (-m )?examples[./]validation")
SENTENCES = re.compile(r"(?<=[.:;]) (?=[A-Z`])")


def plain_text(page: str) -> str:
    """The text of a page with single spaces."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.settings[:30])
def test_each_page_has_the_numbers_of_the_study(study):
    for page, sentence in study.quotes:
        assert sentence.format(**study.numbers) in plain_text(page), f"{page} has another number"
    quoted = " ".join(sentence for _, sentence in study.quotes)
    assert all(f"{{{name}}}" in quoted for name in study.numbers)


@pytest.mark.parametrize("script", sorted({study.script for study in STUDIES}))
def test_the_script_of_a_study_is_a_module(script):
    name, *arguments = script.split()
    module = import_module(f"examples.validation.{name}")
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert all(argument.lstrip("-") in text for argument in arguments)


def text_paragraphs(page: Path) -> Iterator[str]:
    """Paragraphs of a Markdown page, or of the docstrings of a module."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        kinds = ast.Module, ast.ClassDef, ast.FunctionDef
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
        text = "\n\n".join(ast.get_docstring(node) or "" for node in nodes)
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        yield " ".join(line for line in paragraph.split() if not paragraph.startswith(("|", "#")))


PUBLIC_STUDY = ("report", "request")


def quoting_pages() -> Iterator[Path]:
    """README, chapters and public modules; without pages that name the script of their study."""
    # A site that was built leaves its reference here: the docstrings once more.
    written = ROOT.glob("examples/guide/**/*.md")
    chapters = [page for page in written if "reference" not in page.parts]
    public = [
        *ROOT.glob("polars_scorio/accessors/*.py"),
        *ROOT.glob("polars_scorio/metrics/*.py"),
        *ROOT.glob("polars_scorio/decisions/*.py"),
        *ROOT.glob("polars_scorio/subjects/*.py"),
        *(ROOT / f"polars_scorio/study/{name}.py" for name in PUBLIC_STUDY),
    ]
    for page in (ROOT / "README.md", *chapters, *public):
        if page.suffix == ".py" or not MEASURED.search(page.read_text(encoding="utf-8")):
            yield page


def quoted_sentences(page: str) -> list[str]:
    """The sentences of studies that a page quotes."""
    return [
        sentence.format(**study.numbers)
        for study in STUDIES
        for name, sentence in study.quotes
        if name == page
    ]


def test_no_sentence_about_a_simulation_is_typed_by_hand():
    typed = []
    for page in quoting_pages():
        name = page.relative_to(ROOT).as_posix()
        quoted = quoted_sentences(name)
        typed += [
            (name, said)
            for paragraph in text_paragraphs(page)
            if not MEASURED.search(paragraph)
            for said in SENTENCES.split(paragraph)
            if STUDY.search(said)
            and NUMBER.search(said)
            and not any(sentence in said or said in sentence for sentence in quoted)
        ]
    assert typed == []


# Pages of validation say what was measured: their tables are those of the files of the studies.


TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}


def test_every_page_has_its_tables_as_they_were_measured():
    marked = [name for page in TEXTS.values() for _, name, _ in MARKED.findall(page)]
    assert sorted(marked) == sorted({*TABLES, *(file.stem for file in PRINTED.glob("*.csv"))})
    for name, page in TEXTS.items():
        assert page == page_with_tables(page), (
            f"{name}: python -m examples.validation.promised_tables"
        )


def test_cells_have_three_decimals_and_no_zero_before_the_point():
    assert [markdown_cell(value) for value in (0.95, 1.0, 12.3, 30, None, "avg")] == [
        ".950", "1.000", "12", "30", "", "avg"
    ]  # fmt: skip
