"""The metrics in SQL, for engines that Polars does not run."""

from importlib.resources import files


def duckdb_macros() -> str:
    """The text that defines Pass@k, Pass^k, Bayes@N and Max@k of counts as macros of DuckDB.

    Returns
    -------
    str
        Statements ``CREATE OR REPLACE MACRO`` with a comment before each.

    Examples
    --------
    >>> import duckdb
    >>> import polars_scorio as ps
    >>> connection = duckdb.connect()
    >>> _ = connection.execute(ps.sql.duckdb_macros())
    >>> connection.execute("SELECT round(pass_at_k(5, 3, 2), 6)").fetchone()
    (0.9,)
    """
    return files(__name__).joinpath("duckdb_macros.sql").read_text(encoding="utf-8")
