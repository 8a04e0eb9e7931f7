"""A second call of a configured accessor: what it does not name stays, None restores a default."""

import inspect
import re
from dataclasses import fields

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.counting.roles import Roles
from polars_scorio.study.request import InferenceOptions, RoleOptions

LOG = pl.DataFrame({"model": "ada", "question": [1, 1, 2], "trial": [0, 1, 0], "category": 1})
KEYWORDS = {
    name: parameter.default
    for name, parameter in inspect.signature(ps.Scorio.__call__).parameters.items()
    if name != "self"
}
JUDGE = ps.judge(sensitivity=(88, 100), specificity=(78, 100))
# A value of each keyword; of roles that need another one, or exclude a usual one, beside them.
SAID = {
    "model": {"model": None},
    "question": {"question": "task"},
    "trial": {"trial": "id"},
    "category": {"category": "grade"},
    "by": {"by": ("domain",)},
    "success": {"success": (2,)},
    "threshold": {"threshold": 0.5},
    "missing": {"missing": "drop"},
    "n": {"n": 80},
    "first": {"first": 3},
    "count": {"count": "rows"},
    "levels": {"levels": (0.0, 0.5)},
    "cluster": {"cluster": "passage"},
    "run": {"run": "seed"},
    "run_effects": {"run_effects": "shared", "run": "seed"},
    "answer": {"answer": "said"},
    "truth": {"truth": "human"},
    "judge": {"judge": JUDGE},
    "cost": {"cost": "usd"},
    "bounds": {"bounds": (0.0, 1.0)},
    "lower_is_better": {"lower_is_better": True},
    "validate": {"validate": False},
    "unscored": {"unscored": "drop", "missing": "drop"},
    "prior": {"prior": "uniform"},
    "target": {"target": "population"},
    "confidence": {"confidence": 0.9},
}


def kept(accessor: ps.Scorio) -> dict[str, object]:
    """All that an accessor keeps of what was said, by keyword."""
    roles = {each.name: getattr(vars(accessor)["_roles"], each.name) for each in fields(Roles)}
    return {
        **roles,
        **dict.fromkeys(InferenceOptions.__optional_keys__),
        **vars(accessor)["_chosen"],
    }


def test_each_keyword_is_a_role_or_an_option():
    """The three lists of keywords: those of a call, of type checkers, and of what is kept."""
    assert {*KEYWORDS} == {*RoleOptions.__optional_keys__} == {*kept(LOG.scorio)}
    assert kept(LOG.scorio) == KEYWORDS


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_second_call_keeps_what_it_does_not_name(keyword):
    said = SAID[keyword]
    first = LOG.scorio(**said)
    assert kept(first)[keyword] == said[keyword] != KEYWORDS[keyword]
    other = {"cluster": "other"} if keyword == "answer" else {"answer": "other"}
    assert kept(first(**other)) == {**kept(first), **other}
    assert kept(first()) == kept(first)


@pytest.mark.parametrize("keyword", [*KEYWORDS][4:])  # None of the first four says something
def test_none_restores_the_default(keyword):
    first = LOG.scorio(**SAID[keyword])
    assert kept(first(**dict.fromkeys(SAID[keyword]))) == KEYWORDS


def test_an_empty_tuple_clears_strata():
    assert kept(LOG.scorio(by="domain")(by=())) == KEYWORDS


def test_strata_stay_so_ids_do_not_collide():
    """Both benchmarks number their questions from 1."""
    outcomes = {"a": [[1, 1], [1, 1]], "b": [[0, 0], [0, 1], [0, 0], [0, 0]]}
    log = pl.DataFrame(
        [
            {"model": "ada", "benchmark": name, "question": question, "category": outcome}
            for name, questions in outcomes.items()
            for question, trials in enumerate(questions)
            for outcome in trials
        ]
    ).scorio(by="benchmark", trial=None)
    rows = log(confidence=0.9).avg()
    assert rows.select("benchmark", "questions", "estimate").rows() == [
        ("a", 2, 1.0),
        ("b", 4, 0.125),
    ]


def test_a_reversed_ranking_stays_reversed():
    log = pl.DataFrame(
        {"model": ["clean"] * 20 + ["toxic"] * 20, "question": [*range(20)] * 2,
         "category": [0] * 19 + [1] * 20 + [0]}
    )  # fmt: skip
    asked = log.scorio(lower_is_better=True, trial=None)
    assert asked(confidence=0.9).rank()["model"].to_list() == ["clean", "toxic"]


def test_what_was_set_earlier_is_named_where_it_contradicts():
    log = LOG.scorio(success=1)
    message = re.escape("omit success=. An earlier call set success=: None clears a role")
    with pytest.raises(ValueError, match=message):
        log(threshold=0.5)
    assert kept(log(success=None, threshold=0.5))["threshold"] == 0.5
    with pytest.raises(ValueError, match=r"omit success=$"):
        LOG.scorio(success=1, threshold=0.5)


def test_an_expression_keeps_the_meaning_of_its_categories():
    grades = pl.DataFrame({"grade": ["good", "bad", None]})
    grade = pl.col("grade").scorio(success="good")
    assert grades.select(grade(missing="drop").avg()).item() == 0.5
    with pytest.raises(ValueError, match=r"success="):
        grades.select(grade(success=None, missing="drop").avg())


def test_an_accessor_of_a_reader_keeps_its_roles(tmp_path):
    rows = [
        {"task_id": task, "completion": "x", "result": "", "passed": task == "a"} for task in "ab"
    ]
    pl.DataFrame(rows).write_ndjson(tmp_path / "samples.jsonl_results.jsonl")
    log = ps.logs.human_eval(tmp_path)
    assert kept(log(confidence=0.9)) == {**kept(log), "confidence": 0.9}
