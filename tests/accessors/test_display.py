"""The methods of the accessor for people: what they pass on, and what they refuse."""

from types import SimpleNamespace

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display import leaderboard as board_module
from polars_scorio.display import page as page_module
from polars_scorio.display.plots import Plots
from tests.made_logs import unreadable


def test_pictures_have_the_log_the_roles_and_the_choices_of_the_accessor(r1):
    plot = r1.scorio(trial=None, confidence=0.8).plot
    assert isinstance(plot, Plots)
    assert "80 %" in " ".join(plot.intervals().to_dict()["title"]["subtitle"])


def test_a_leaderboard_is_of_the_average_unless_a_metric_is_named(r1):
    assert {"avg", "avg_lo"} <= {*r1.scorio.leaderboard().columns}
    assert {"bayes", "pass_at_k_2"} <= {*r1.scorio.leaderboard(ps.bayes(), ps.pass_at_k(2)).columns}


def test_a_lazy_log_gives_a_leaderboard_that_is_collected(r1):
    assert isinstance(r1.lazy().scorio.leaderboard(), pl.DataFrame)


def test_choices_of_the_accessor_reach_the_leaderboard_and_the_call_wins(r1, monkeypatch):
    asked = []
    board = r1.scorio.leaderboard()
    monkeypatch.setattr(
        board_module, "leaderboard", lambda *_, **options: (asked.append(options), board)[1]
    )
    accessor = r1.scorio(confidence=0.8)
    accessor.leaderboard()
    accessor.leaderboard(confidence=0.5, overall="macro")
    assert asked == [
        {"overall": None, "confidence": 0.8},
        {"overall": "macro", "confidence": 0.5},
    ]


def test_a_page_has_the_choices_of_the_accessor_and_the_call_wins(r1, monkeypatch, tmp_path):
    orders = []

    def pages(order, refusal):
        orders.append(order)
        return SimpleNamespace(html=lambda: ""), refusal

    monkeypatch.setattr(page_module, "made_page", lambda *given, **_: pages(given[-1], None))
    accessor = r1.scorio(confidence=0.8, prior="population")
    path = accessor.write_html(str(tmp_path / "x.html"), ps.bayes(), title="X", confidence=0.5)
    (order,) = orders
    assert path == tmp_path / "x.html"
    assert (order.title, order.asked.metrics) == ("X", (ps.bayes(),))
    assert (order.asked.settings.confidence, order.asked.settings.prior) == (0.5, "population")


def test_why_a_page_has_no_report_is_raised_after_it_is_written(r1, monkeypatch, tmp_path):
    refusal = ValueError("no report")
    made = SimpleNamespace(html=lambda: "")
    monkeypatch.setattr(page_module, "made_page", lambda *_, **__: (made, refusal))
    with pytest.raises(ValueError, match="no report"):
        r1.scorio.write_html(tmp_path / "x.html")


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda a: a.leaderboard(overall="all"), ValueError, "overall"),
        (lambda a: a.write_html("x.html", title=3), TypeError, "title must be a word or None"),
        (lambda a: a.write_html("x.html", confidence=2), ValueError, "confidence"),
        (lambda a: a.write_html("x.html", target="all"), ValueError, "target"),
    ],
    ids=["overall", "title", "confidence", "target"],
)
def test_wrong_arguments_are_refused_before_the_log_is_read(r1, ask, error, message):
    with pytest.raises(error, match=message):
        ask(unreadable(r1.schema).scorio)
