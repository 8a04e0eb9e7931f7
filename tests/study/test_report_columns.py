"""The columns of a report: their order, and which a report has."""

import re

import polars as pl

import polars_scorio as ps
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import Roles
from polars_scorio.study.evaluate import report_columns
from tests.documents import ROOT
from tests.made_logs import drawn, outcomes

LOG = outcomes({(2, 1): 2})


def test_the_columns_of_a_plain_report_are_those_of_the_manual():
    columns = report_columns(bind_roles(LOG.lazy(), Roles()))
    facts = ["questions", "trials", "dropped"]
    numbers = ["estimate", "mu", "sigma", "lo", "hi", "inference"]
    assert columns.visible == ["model", "metric", "k", *facts, *numbers]
    assert {*columns.visible} - {"mu"} == {*LOG.scorio.report(ps.avg()).columns}
    assert [*columns.facts] == facts


def test_clusters_and_unscored_questions_are_facts_of_models_alone():
    log = drawn(1, range(4), most=2).with_columns(passage=pl.col("question"))
    trials = bind_roles(
        log.lazy(), Roles(by=["domain"], cluster="passage", missing="drop", unscored="drop")
    )
    assert [*report_columns(trials).facts] == [
        *("questions", "clusters", "trials", "dropped", "unscored"),
    ]
    each = report_columns(trials, "question")
    assert [*each.facts] == ["questions", "trials", "dropped"]
    assert each.visible[:3] == ["domain", "model", "question"]


def test_the_help_of_report_and_its_page_name_every_column():
    log = drawn(1, range(8), most=4).filter(domain="web")
    log = log.with_columns(won=pl.col("category") > 0, usd=1.0, reward=pl.col("trial") / 4)
    log = log.with_columns(human="won", verdict=pl.col("won"))
    plain = ps.avg(), ps.tail_pass(1)
    page = (ROOT / "examples" / "guide" / "result_columns.md").read_text(encoding="utf-8")
    assert "page on all columns" in str(ps.Scorio.report.__doc__)
    named = {*re.findall(r"\w+", f"{ps.Scorio.report.__doc__} {page}")}
    for metrics, roles in (
        (plain, {"category": "won", "cluster": "question", "missing": "drop", "unscored": "drop"}),
        ((ps.cost_per_success(),), {"category": "won", "cost": "usd"}),
        ((ps.avg(),), {"category": "reward"}),
        ((ps.avg(),), {"category": "verdict", "truth": "human"}),
    ):
        assert {*log.scorio(**roles).report(*metrics).columns} <= named
