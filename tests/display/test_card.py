"""The card: its numbers, and the drawing."""

from datetime import date
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from examples.site.landing import card_title, in_the_dark
from polars_scorio.command_line.main import main
from polars_scorio.counting.roles import Roles
from polars_scorio.display.media.card import card_svg
from polars_scorio.display.media.marks import palette
from polars_scorio.display.numbers import Unit
from polars_scorio.display.page import story_card
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story, StoryOptions, read_story
from tests.display.html.logs import models, page_of
from tests.display.html.test_sections import improving_run
from tests.made_logs import long

DAY = date(2026, 11, 24)


def log_of(rates, questions=60, trials=4, seed=2):
    random = np.random.default_rng(seed)
    return pl.concat(
        long((random.random((questions, trials)) < rate).astype(int).tolist(), f"m{place}")
        for place, rate in enumerate(rates)
    )


def found(log, metric=None, **roles) -> Story:
    asked = StoryOptions(() if metric is None else (metric,), Settings())
    *_, story = read_story(log.lazy(), Roles(**roles), asked)
    assert isinstance(story, Story)
    return story


def gated_story(log, **roles) -> Story:
    *_, story = read_story(log.lazy(), Roles(**roles), StoryOptions((), Settings(), "m00", 0.02))
    assert isinstance(story, Story)
    return story


def test_the_numbers_are_those_of_the_report():
    log = log_of((0.7, 0.4))
    story = found(log, ps.pass_hat_k(2))
    rows = log.scorio.pass_hat_k(2).sort("estimate", descending=True)
    board = story.sheet.board
    for name, values in (("estimate", board.score), ("lo", board.lo), ("hi", board.hi)):
        assert rows[name].to_list() == pytest.approx(values.tolist())
    drawn = card_svg(story_card(story))
    said = drawn.replace("\N{NO-BREAK SPACE}", " ")
    assert f"{100 * board.score[0]:.1f} % against {100 * board.score[1]:.1f} %: +" in said


def test_a_card_of_one_model_names_its_lines_whole():
    drawn = card_svg(story_card(found(models(1))))
    assert ">these 12 questions</text>" in drawn
    assert ">questions like these</text>" in drawn


def test_rewards_are_in_their_own_units():
    rewards = 10 * np.random.default_rng(2).random((20, 3))
    log = pl.concat([long(rewards.tolist(), "a"), long((rewards / 2).tolist(), "b")])
    assert not found(log).sheet.board.unit.percent
    assert "%" not in found(log).account.lede


def test_the_drawing_is_well_formed_and_stays_on_the_card():
    names = ["a" * 90, "<b> & 'c'", *"cdefgh"]
    log = log_of(np.linspace(0.9, 0.1, 8)).with_columns(
        pl.col("model").replace_strict({f"m{place}": name for place, name in enumerate(names)})
    )
    card = found(log)
    root = ET.fromstring(card_svg(story_card(card, 'my "log" <1>'), DAY))  # noqa: S314 - our own
    assert (root.get("width"), root.get("height")) == ("1200", "630")
    texts = [text for text in root.iter() if text.tag.endswith("text")]
    assert all(0 < float(text.get("y")) < 630 for text in texts)
    assert any("24 November 2026" in (text.text or "") for text in texts)
    assert sum(text.tag.endswith("circle") for text in root.iter()) == 6 + 1
    shown = " ".join(text.text or "" for text in texts)
    assert "<b> & 'c'" in shown
    assert "about these 60 questions" in shown
    assert card_svg(story_card(card), DAY) == card_svg(story_card(card), DAY)


def test_two_models_fill_a_card_and_its_axis_has_a_unit():
    texts = texts_of(card_svg(story_card(found(log_of((0.8, 0.3)))), DAY))
    rows = [float(text.get("y")) for text in texts if text.text in {"m0", "m1"}]
    assert rows[1] - rows[0] > 100
    ticks = [text.text for text in texts if text.get("y") == "572.0"]
    assert len(ticks) >= 3
    assert all(tick.isdigit() for tick in ticks[:-1])
    assert ticks[-1].endswith("\N{NO-BREAK SPACE}%")


def test_a_card_says_how_many_models_it_leaves_out():
    said = [text.text for text in texts_of(card_svg(story_card(found(log_of((0.5,) * 9))), DAY))]
    assert "and 3 more" in said
    assert not any("more" in each for each in (
        text.text for text in texts_of(card_svg(story_card(found(log_of((0.5,) * 6))), DAY))
    ))  # fmt: skip


@pytest.mark.parametrize("number", [3, 5, 9])
def test_the_lines_of_a_title_are_balanced(number):
    """The last word of a title stood on a line of its own."""
    texts = texts_of(card_svg(story_card(found(log_of((0.5,) * number))), DAY))
    lines = [text.text for text in texts if text.get("font-weight") == "700"
             and int(text.get("font-size")) > 40]  # fmt: skip
    assert len(lines) == 2
    assert all(" " in line for line in lines)
    assert max(map(len, lines)) <= 2 * min(map(len, lines))


def texts_of(drawn: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("text")]  # noqa: S314


def test_the_card_of_a_gate_has_the_differences_of_its_page():
    story = gated_story(models(2, strata=3, questions=20), by="bench")
    texts = [text.text for text in texts_of(card_svg(story_card(story), DAY))]
    gate = story.gated.gate
    assert len(gate.lines) == 4
    for line in gate.lines:
        ends = gate.unit.gaps(line.lo, line.hi)
        place = texts.index(line.label)
        assert {ends, gate.unit.gap(line.diff)} == {*texts[place + 1 : place + 3]}
    assert {"0 points", "\N{MINUS SIGN}2"} <= {*texts}


def test_the_card_of_a_run_has_the_gain_at_each_k():
    story = found(improving_run(), by="step", model=None, validate=False)
    texts = [text.text for text in texts_of(card_svg(story_card(story), DAY))]
    assert [text for text in texts if text.endswith((" try", " tries"))] == [
        "1 try", "2 tries", "4 tries",
    ]  # fmt: skip
    curve = story.run.curve
    assert texts[texts.index("1 try") + 1] == Unit().gaps(curve.lo[0], curve.hi[0])


def test_the_card_of_a_run_says_how_many_draw_sizes_it_leaves_out():
    trials = pl.DataFrame({"trial": range(64)}).join(
        pl.DataFrame({"question": range(10)}), how="cross"
    )
    right = (pl.col("trial") + pl.col("question")) % 4
    log = pl.concat([trials.with_columns(step=pl.lit(step), category=(right < most).cast(int))
                     for step, most in ((0, 1), (10, 3))])  # fmt: skip
    story = found(log, by="step", model=None, validate=False)
    assert len(story.run.curve.k) == 7
    assert "and 1 more" in [text.text for text in texts_of(card_svg(story_card(story), DAY))]


def test_the_lines_at_the_foot_of_a_card_do_not_touch():
    story = gated_story(models(5, questions=40, trials=8))
    *_, mark, foot = texts_of(card_svg(story_card(story), DAY))
    wide = 0.52 * float(foot.get("font-size")) * len(foot.text)
    assert float(foot.get("x")) - wide > 112 + 0.56 * 21 * len(mark.text)


def test_numbers_on_a_card_stay_with_their_units():
    log = log_of((0.9,) * 6)
    for each in texts_of(card_svg(story_card(found(log)), DAY)):
        assert not (each.text or "").startswith(("% ", "points "))
        assert "0 %" not in (each.text or "").replace("\N{NO-BREAK SPACE}%", "")


def test_files_are_a_png_or_an_svg(tmp_path):
    log = log_of((0.7, 0.4)).scorio
    png = log.write_card(tmp_path / "card.png", title="suite")
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert log.write_card(tmp_path / "card.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(ValueError, match=r"a card is a \.png or a \.svg, got 'card\.gif'"):
        log.write_card(tmp_path / "card.gif")
    with pytest.raises(TypeError, match="title must be a word"):
        log.write_card(tmp_path / "card.svg", title=3)


def test_a_log_without_a_finding_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the log holds no trials"):
        log_of((0.5,)).clear().scorio.write_card(tmp_path / "card.svg")


def test_the_command_writes_the_card_and_says_the_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log_of((0.9, 0.2)).write_parquet("log.parquet")
    assert main(["card", "log.parquet", "-o", "card.svg"]) == 0
    assert capsys.readouterr().out.startswith("m0 beats m1. ")
    assert "log.parquet" in (tmp_path / "card.svg").read_text(encoding="utf-8")


def test_the_gallery_has_the_cards_of_its_pages_in_the_light_and_in_the_dark(tmp_path):
    path = tmp_path / "card.svg"
    title = card_title(models(2).scorio(), path, baseline="m00", margin=0.02)
    assert title == page_of(models(2), baseline="m00").headline
    card = path.read_text(encoding="utf-8")
    light, dark = palette(), palette("dark")
    assert f'fill="{light["bg"]}"' in card
    for name in ("bg", "ink", "soft"):
        assert f'"{light[name]}"' not in in_the_dark(card)
        assert in_the_dark(card).count(dark[name]) == card.count(light[name])
