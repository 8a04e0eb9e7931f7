"""An evaluation that verifiers itself has run, read, against its own episodes."""

import importlib
import sys
from pathlib import Path

import pytest

import polars_scorio as ps

# What verifiers 0.4.0 and the libraries of Hugging Face set off.
pytestmark = [
    pytest.mark.verifiers,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """The folder of the traces, and the episodes in memory."""
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed: see its extra")
    folder = tmp_path_factory.mktemp("verifiers")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        patch.setenv("HF_HUB_OFFLINE", "1")
        episodes = importlib.import_module("verifiers_run").evaluation(folder)
    del sys.modules["verifiers_run"]
    return folder, episodes


@pytest.mark.filterwarnings("ignore:some rewards of verifiers:polars_scorio.LogWarning")
def test_the_table_holds_what_verifiers_has_in_memory(evaluated):
    folder, episodes = evaluated
    log = ps.logs.verifiers(folder).frame.collect()
    assert log.select("model", "benchmark").unique().rows() == [("org/ada", "verifiers_run")]
    assert sorted(log.select("question", "trial", "category").rows(), key=str) == sorted(
        (
            (str(e.task.data.idx), e.id, sum(t.reward for t in e.traces) if e.ok else None)
            for e in episodes
        ),
        key=str,
    )
    assert log["error"].value_counts().sort("error").rows() == [(None, 11), ("ProviderError", 5)]


def test_the_estimates_are_those_of_the_answers(evaluated):
    folder, _ = evaluated
    with pytest.raises(ValueError, match="2 questions have a missing category"):
        ps.logs.verifiers(folder).pass_at_k(2).collect()
    scored = ps.logs.verifiers(folder, missing="drop", unscored="drop").pass_at_k([1, 2]).collect()
    assert scored.select("questions", "trials", "dropped", "unscored").row(0) == (3, 11, 5, 1)
    # a: 3 of 4, b: 1 of 4, c: 3 of 3; 1 - C(wrong, 2) / C(n, 2).
    assert scored["estimate"].to_list() == pytest.approx([(0.75 + 0.25 + 1) / 3, (1 + 0.5 + 1) / 3])
    failed = ps.logs.verifiers(folder, missing=0).pass_at_k(1).collect()
    assert failed["estimate"].item() == pytest.approx(7 / 16)
