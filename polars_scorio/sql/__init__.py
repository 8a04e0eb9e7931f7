"""The metrics in SQL, for engines that Polars does not run."""

from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from polars_scorio.arguments import check_count, public_face

__all__ = ["duckdb_macros", "portable_query", "spark_functions"]

if not TYPE_CHECKING:  # checkers would take it for a promise of every name
    __getattr__, __dir__ = public_face(__name__, __all__)


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
    return _text("duckdb_macros.sql")


def spark_functions() -> list[str]:
    r"""The statements that define Pass@k, Pass^k and Bayes@N of counts as functions of Spark SQL.

    Returns
    -------
    list of str
        Statements ``CREATE OR REPLACE TEMPORARY FUNCTION`` of Spark 4, to be run one by one, in
        this order: ``pass_at_k(n, c, k)``, ``pass_hat_k(n, c, k)``, ``bayes_mu(n, c)``,
        ``bayes_var(n, c)``, ``pass_at_k_mean(n, c, k)``, ``pass_at_k_var(n, c, k)``, after those
        that they call. ``";\n".join(...)`` is a script for `spark-sql`.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> for statement in ps.sql.spark_functions():
    ...     spark.sql(statement)  # doctest: +SKIP
    >>> spark.sql("SELECT pass_at_k(5, 3, 2)").first()[0]  # doctest: +SKIP
    0.9
    """
    statements = _text("spark_functions.sql").split(";\n")
    return [statement.strip() for statement in statements if statement.strip()]


def portable_query(k: int, table: str = "trials") -> str:
    """A query for Pass@k and Bayes@N that SQLite, DuckDB and PostgreSQL can run.

    Parameters
    ----------
    k : int
        The largest draw size.
    table : str
        A table or view with the columns model, question and category (0 and 1, or false and true),
        one row per trial; a null category is a trial that does not count.

    Returns
    -------
    str
        A recursive query. Its result has a row for each model and k = 1, 2, ...: model, k,
        questions, trials, pass_at_k (the unbiased estimate, null where some question has fewer than
        k trials), pass_at_k_mean and bayes (posterior means under the uniform prior), and
        bayes_variance, the square of the standard deviation of bayes.

    Raises
    ------
    ValueError
        If `k` is not a positive int.

    Examples
    --------
    >>> import sqlite3
    >>> import polars_scorio as ps
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE trials (model, question, category)")
    >>> rows = [("ada", 1, outcome) for outcome in (1, 1, 0, 1, 0)]
    >>> _ = connection.executemany("INSERT INTO trials VALUES (?, ?, ?)", rows)
    >>> for row in connection.execute(ps.sql.portable_query(2)):
    ...     print(row[:4], round(row[4], 6))
    ('ada', 1, 1, 5) 0.6
    ('ada', 2, 1, 5) 0.9
    >>> connection.close()
    """
    name = '"' + table.replace('"', '""') + '"'
    return Template(_text("portable.sql")).substitute(k=check_count("k", k), table=name)


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
