"""Completion in a notebook: what follows ``df.scorio.`` is there before it is run."""

import polars as pl
import pytest

import polars_scorio as ps

completer = pytest.importorskip("IPython.core.completer")


@pytest.fixture
def complete():
    """What completion offers after some text."""
    df = pl.DataFrame({"model": ["m"], "question": [1], "category": [1]})
    names = {"pl": pl, "ps": ps, "df": df, "lf": df.lazy(), "category": pl.col("category")}
    own = completer.IPCompleter(namespace={**names, "log": ps.scorio(df)})

    def texts(text: str) -> list[str]:
        with completer.provisionalcompleter():
            return [completion.text for completion in own.completions(text, len(text))]

    return texts


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["df", "lf"])
def test_an_accessor_offers_its_methods(complete, frame):
    offered = {*complete(f"{frame}.scorio.")}
    assert {"report", "compare", "pass_at_k", "plot", "counts"} <= offered
    assert complete(f"{frame}.scorio.pass_h") == ["pass_hat_k"]


@pytest.mark.slow
def test_an_expression_offers_its_metrics(complete):
    assert complete("category.scorio.g_pass") == ["g_pass_at_k_tau"]


@pytest.mark.slow
@pytest.mark.parametrize("call", ["pass_at_k(4, ", "report(ps.bayes(), ", "rank("])
def test_a_method_offers_its_keywords(complete, call):
    assert "confidence=" in complete(f"log.{call}conf")
    assert "prior=" in complete(f"log.{call}pri")
