"""The card: its sentence, by exact rules, and the drawing."""

import re
from datetime import date
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.command_line.main import main
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.display.card import Finding, card_finding, card_svg
from tests.made_logs import long

DAY = date(2026, 11, 24)


def log_of(rates, questions=60, trials=4, seed=2):
    random = np.random.default_rng(seed)
    return pl.concat(
        long((random.random((questions, trials)) < rate).astype(int).tolist(), f"m{place}")
        for place, rate in enumerate(rates)
    )


def found(log, metric=None, **roles) -> Finding:
    return card_finding(log.lazy(), Roles(**roles), metric)


def finding(names, tier, gap=(0.1, -0.1, 0.3), **changes) -> Finding:
    size = len(names)
    score = np.linspace(0.8, 0.4, size)
    numbers = {"score": score, "lo": score - 0.1, "hi": score + 0.1, "first_tier": np.array(tier)}
    rest = {"reliable": None, "questions": 60, "trials": 4, "percent": True, "heading": "avg@4"}
    own = {"gap": gap if size > 1 else None, "confidence": 0.95, "target": "benchmark"}
    return Finding(**{"models": names, **numbers, **rest, **own, **changes})


@pytest.mark.parametrize(
    ("made", "title"),
    [
        (finding(["a"], [True]), "a gets 80.0 % of 60 questions right."),
        (
            finding(["a"], [True], reliable=0.25),
            "a gets 80.0 % right at one try, and 25.0 % all 4 times.",
        ),
        (finding(["a", "b"], [True, False], (0.2, 0.1, 0.3)), "a beats b."),
        (finding(["a", "b"], [True, True]), "a is ahead; b may be as good."),
        (finding(["a", "b"], [True, True], (0.0, -0.1, 0.1)), "a and b have the same score."),
        (finding([*"abc"], [True] * 3), "Nothing is decided between 3 models."),
        (finding([*"abc"], [True, False, False]), "a is the best of 3 models."),
        (finding([*"abc"], [True, True, False]), "a is ahead; b may be as good."),
        (finding([*"abcd"], [True, True, True, False]), "a is ahead; b and c may be as good."),
        (finding([*"abcde"], [True] * 4 + [False]), "a is ahead; 3 others may be as good."),
    ],
)
def test_each_kind_of_ranking_has_its_sentence(made, title):
    assert made.title() == title


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.9, 0.2), (0.6, 0.5, 0.1), (0.5,) * 4])
def test_a_winner_is_named_only_where_the_comparison_names_one(rates):
    log = log_of(rates)
    card = found(log)
    ranks = log.scorio.rank()
    assert card.models == ranks["model"].to_list()
    assert card.first_tier.tolist() == (ranks["rank_lo"] == 1).to_list()
    pairs = log.scorio.compare(simultaneous=True)
    named = set(pairs["better"].drop_nulls())
    says = re.search(r"^(\w+) (beats|is the best)", card.title())
    assert (says is not None) == (card.first_tier.sum() == 1)
    assert says is None or says[1] in named
    first = pairs.filter(
        pl.col("model_a").is_in(card.models[:2]), pl.col("model_b").is_in(card.models[:2])
    )
    assert abs(card.gap[0]) == pytest.approx(abs(first["diff"][0]))
    assert card.gap[0] >= 0


def test_the_numbers_are_those_of_the_report():
    log = log_of((0.7, 0.4))
    card = found(log, ps.pass_hat_k(2))
    rows = log.scorio.pass_hat_k(2).sort("estimate", descending=True)
    for name, values in (("estimate", card.score), ("lo", card.lo), ("hi", card.hi)):
        assert rows[name].to_list() == pytest.approx(values.tolist())
    assert card.lede().startswith(
        f"{100 * card.score[0]:.1f} % against {100 * card.score[1]:.1f} %: +"
    )


def test_strata_weigh_the_same():
    log = pl.concat(
        log_of(rates, questions, seed=seed).with_columns(by=pl.lit(by))
        for seed, (by, rates, questions) in enumerate(
            [("x", (0.9, 0.2), 10), ("y", (0.3, 0.4), 90)]
        )
    )
    card = found(log, by=["by"])
    whole = log.scorio(by="by").report(ps.avg(), overall="macro").filter(pl.col("by").is_null())
    assert sorted(card.score) == pytest.approx(sorted(whole["estimate"]))
    assert card.questions == 100


def test_one_model_says_how_reliable_it_is_if_its_trials_are_a_power_of_two():
    assert "all 4 times" in found(log_of((0.7,))).title()
    assert "of 60 questions right" in found(log_of((0.7,), trials=3)).title()
    assert "of 60 questions right" in found(log_of((0.7,), trials=1)).title()


def test_rewards_are_in_their_own_units():
    rewards = 10 * np.random.default_rng(2).random((20, 3))
    log = pl.concat([long(rewards.tolist(), "a"), long((rewards / 2).tolist(), "b")])
    card = found(log)
    assert not card.percent
    assert "%" not in card.lede()


def test_the_drawing_is_well_formed_and_stays_on_the_card():
    names = ["a" * 90, "<b> & 'c'", *"cdefgh"]
    card = finding(names, [True, True, *[False] * 6])
    root = ET.fromstring(card_svg(card, 'my "log" <1>', DAY))  # noqa: S314 - our own
    assert (root.get("width"), root.get("height")) == ("1200", "630")
    texts = [text for text in root.iter() if text.tag.endswith("text")]
    assert all(0 < float(text.get("y")) < 630 for text in texts)
    assert any("24 November 2026" in (text.text or "") for text in texts)
    assert sum(text.tag.endswith("circle") for text in root.iter()) == 6 + 1
    shown = " ".join(text.text or "" for text in texts)
    assert "<b> & 'c'" in shown
    assert "about these questions" in shown
    assert card_svg(card, None, DAY) == card_svg(card, None, DAY)


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
    with pytest.raises(ValueError, match="no model with an interval"):
        log_of((0.5,)).clear().scorio.write_card(tmp_path / "card.svg")
    with pytest.raises(ValueError, match="takes no metric of costs"):
        log_of((0.5,)).with_columns(usd=1.0).scorio(cost="usd").write_card(
            tmp_path / "card.svg", ps.mean_cost()
        )


def test_a_log_without_models_has_a_card():
    log = log_of((0.7,)).drop("model")
    assert found(log, model=None).title().startswith("this model gets ")
    assert bind_roles(log.lazy(), Roles(model=None)).model is None


def test_the_command_writes_the_card_and_says_the_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log_of((0.9, 0.2)).write_parquet("log.parquet")
    assert main(["card", "log.parquet", "-o", "card.svg"]) == 0
    assert capsys.readouterr().out.startswith("m0 beats m1. ")
    assert "log.parquet" in (tmp_path / "card.svg").read_text(encoding="utf-8")
