"""The manual as pages: all of them are built, linked, and found from each other."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.documents import ROOT

NEEDED = ("sphinx", "myst_nb", "furo", "sphinx_copybutton")
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, NEEDED)), reason="the extra `docs` is not installed"
)

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(EXAMPLES / "site" / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{folder}/index.html"
    return folder


@pytest.mark.slow
def test_the_script_stops_where_sphinx_fails(tmp_path):
    file = tmp_path / "no folder"
    file.touch()
    command = [sys.executable, str(EXAMPLES / "site" / "build.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "is not a directory" in done.stderr
    assert "landing.py" not in done.stderr
    assert "index.html" not in done.stdout


def text(page):
    return page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_page_is_built_and_in_the_sidebar(site):
    sidebar, _, _ = text(site / "guide" / "looks.html").partition("<article")
    for page in (*EXAMPLES.glob("guide/**/*.md"), *EXAMPLES.glob("findings/*.md")):
        target = page.relative_to(EXAMPLES).with_suffix(".html")
        assert (site / target).is_file()
        if page.parent == EXAMPLES / "guide" and page.stem not in ("README", "looks"):
            assert f'href="{target.name}"' in sidebar
    assert 'href="../findings/README.html"' in sidebar
    assert 'href="../validation/README.html"' in sidebar
    captions = ("How-to", "Data", "Concepts", "Metrics", "Reference", "Validation", "Findings")
    assert all(f">{caption}<" in sidebar for caption in captions)


@pytest.mark.slow
def test_every_link_and_picture_leads_to_a_file(site):
    dead = [
        f"{page.relative_to(site)}: {address}"
        for page in site.rglob("*.html")
        for address in re.findall(r'(?:href|src)="([^"#?:]+)[^":]*"', text(page))
        if not (page.parent / address).exists()
    ]
    assert dead == []


@pytest.mark.slow
def test_chapters_link_the_functions_that_they_name(site):
    gate = text(site / "guide" / "gate.html")
    assert 'href="reference/df_scorio_gate.html"' in gate


@pytest.mark.slow
@pytest.mark.parametrize("word", ["rank", "gate", "pass_at_k", "write_html", "tau2_bench"])
def test_a_search_for_a_word_finds_its_method(site, word):
    found = re.fullmatch(r"Search\.setIndex\((.*)\)", text(site / "searchindex.js"), re.DOTALL)
    index = json.loads(found.group(1))
    entries = index["indexentries"][word]
    page = {"pass_at_k": "ps_pass_at_k", "tau2_bench": "ps_logs_tau2_bench"}
    wanted = f"guide/reference/{page.get(word, f'df_scorio_{word}')}"
    assert wanted in {index["docnames"][entry[0]] for entry in entries}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("is model A better", "guide/compare"),
        ("confidence interval pass@k", "guide/metrics/success"),
        ("how many samples", "guide/trials"),
        ("regression gate", "guide/gate"),
        ("noise floor", "guide/reruns"),
    ],
)
def test_a_search_for_a_question_finds_its_page_first(site, question, page):
    found = re.fullmatch(r"Search\.setIndex\((.*)\)", text(site / "searchindex.js"), re.DOTALL)
    index = json.loads(found.group(1))
    # Sphinx scores the share of an entry that was typed by 100, that of a title by 15.
    scores = {
        index["docnames"][place]: len(question) / len(entry)
        for entry, places in index["indexentries"].items()
        if question.lower() in entry
        for place, *_ in places
    }
    assert max(scores, key=scores.__getitem__) == page
    assert scores[page] == 1


@pytest.mark.slow
def test_the_first_page_shows_findings_a_gallery_and_buttons_that_copy(site):
    page = text(site / "index.html")
    assert re.search(r"On SWE-bench only \d+ of \d+ neighbouring pairs are decided", page)
    assert page.count('href="gallery/') == 8
    assert page.count("data-copy=") == 6
    assert str(site) not in page
    assert 'rel="icon" href="_static/favicon.svg"' in page


@pytest.mark.slow
def test_each_page_has_the_icon_and_buttons_that_copy_its_code(site):
    for folder in ("guide", "findings", "validation"):
        for built in site.glob(f"{folder}/*.html"):
            assert 'icon" href="../_static/favicon.svg"' in text(built)
            assert "_static/copybutton.js" in text(built)


@pytest.mark.slow
def test_llms_txt_lists_the_source_of_each_page(site):
    listed = re.findall(r"\]\((.*?)\)", text(site / "llms.txt"))
    assert all((site / address).is_file() for address in listed)
    pages = [*EXAMPLES.glob("guide/**/*.md"), *EXAMPLES.glob("findings/*.md")]
    pages += EXAMPLES.glob("validation/*.md")
    wanted = {f"_sources/{page.relative_to(EXAMPLES)}.txt" for page in pages}
    assert wanted <= {*listed}
