"""How an accessor shows its roles, as text and as a table."""

import polars as pl

from tests.made_logs import unreadable


def test_an_accessor_shows_its_roles_and_their_dtypes(r1):
    log = r1.with_columns(step=1, seed=pl.lit("x"))
    accessor = log.lazy().scorio(
        model="llm", category=pl.col("category").alias("x"), success=[1, 2], by="step"
    )
    assert repr(accessor).split("\n") == [
        "<scorio of a LazyFrame>",
        "  model          llm                         no such column",
        "  question       question                    Int64",
        "  trial          trial                       Int64",
        '  category       col("category").alias("x")  Int64',
        "  by             step                        Int32",
        "  success        (1, 2)",
        "  other columns  model, seed",
    ]


def test_a_notebook_shows_the_roles_as_a_table(r1):
    html = r1.scorio(by=pl.lit("<b>").alias("x"))._repr_html_()
    assert html.startswith("<table><caption>scorio of a DataFrame</caption><tr><th>role</th>")
    assert "<tr><td>question</td><td>question</td><td>Int64</td></tr>" in html
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_an_accessor_shows_itself_where_its_log_cannot_be_read(tmp_path):
    shown = repr(pl.scan_parquet(tmp_path / "none.parquet").scorio)
    assert "question  question" in shown
    assert "unknown" in shown
    assert "none.parquet" in shown


def test_showing_an_accessor_reads_nothing_and_keeps_no_frame(r1):
    frame = unreadable(r1.schema)
    assert "Int64" in repr(frame.scorio) + frame.scorio._repr_html_()
    assert "scorio" not in vars(frame)
