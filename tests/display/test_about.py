"""Every surface says in words which questions its numbers are about."""

import json
import re
from importlib import metadata

import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.display.phrases import installed_version
from polars_scorio.display.settings import Settings
from tests.display.html.logs import models
from tests.documents import ROOT

SAMPLE = {
    "benchmark": r"about these (\d+ )?questions",
    "population": r"about questions like these( \d+)?",
}
COMMANDS = {
    "summary": [],
    "rank": [],
    "compare": [],
    "compare ": ["--baseline", "m00"],
    "gate": ["--baseline", "m00", "--margin", "0.1"],
    "leaderboard": [],
    "report": ["-o", "-"],
}
PICTURES = {
    "intervals": lambda plot: plot.intervals(ps.avg()),
    "curve": lambda plot: plot.curve(4),
}


@pytest.fixture(scope="module")
def log():
    return models(3)


@pytest.mark.parametrize("target", SAMPLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_answer_of_the_command_says_it(log, command, target, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log.write_parquet("log.parquet")
    main([command.strip(), "log.parquet", *COMMANDS[command], "--target", target])
    assert re.search(SAMPLE[target], " ".join(capsys.readouterr().out.split()))


@pytest.mark.parametrize("target", SAMPLE)
def test_pages_cards_and_tables_say_it(log, target, tmp_path):
    asked = log.scorio(target=target)
    page = asked.write_html(tmp_path / "page.html").read_text(encoding="utf-8")
    headline = re.sub(r"<[^>]+>", " ", page.partition("</header>")[0])
    card = asked.write_card(tmp_path / "card.svg").read_text(encoding="utf-8")
    board = ps.to_markdown(asked.leaderboard())
    for text in (headline, re.sub(r"<[^>]+>", " ", card), board, ps.to_latex(asked.leaderboard())):
        assert re.search(SAMPLE[target], " ".join(text.split()))


@pytest.mark.parametrize("target", SAMPLE)
@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_say_it(log, picture, target):
    pytest.importorskip("altair")
    title = PICTURES[picture](log.scorio(target=target).plot).to_dict()["title"]
    words = {"benchmark": "these questions", "population": "questions like these"}
    assert words[target] in json.dumps(title)


def test_the_first_table_of_the_readme_says_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("```text\n")[2].partition("```")[0]
    assert "30 questions" in table
    assert re.search(SAMPLE["benchmark"], table)


# The version of the installed package.


def test_the_version_is_that_of_the_installed_package():
    assert ps.__version__ == installed_version() == metadata.version("polars-scorio")


def test_a_source_tree_that_is_not_installed_has_no_known_version(monkeypatch):
    def missing(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert installed_version.__wrapped__() == "0+unknown"


# The options of a page, in words and as keywords.


def test_a_page_is_calibrated_unless_somebody_names_a_prior():
    settings = Settings()
    assert settings.intervals.startswith("calibrated 95 % intervals")
    assert settings.prior_in_words.startswith(
        "the score has no prior; the width comes from 216 fixed populations"
    )
    assert settings.report == {
        "prior": None,
        "target": "benchmark",
        "confidence": 0.95,
    }


@pytest.mark.parametrize("options", [{"prior": "best"}, {"target": "world"}, {"confidence": 95}])
def test_an_option_that_no_page_has_is_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        Settings(**options)
