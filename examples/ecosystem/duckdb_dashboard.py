"""Tables for a dashboard in DuckDB. Run: python examples/ecosystem/duckdb_dashboard.py LOG [DB]

Needs duckdb. A dashboard that reads DuckDB (as Metabase or Superset do) sends QUERY.
`python examples/rollouts.py rollouts.parquet` writes a log to try.
"""

import sys

import duckdb
import polars as pl

import polars_scorio as ps

# A line per domain and model: the score, its interval, and the ranks that the log allows.
QUERY = """
    SELECT domain, model, round(100 * estimate, 1) AS score,
           format('{:.1f} to {:.1f}', 100 * lo, 100 * hi) AS interval_95,
           format('{} to {}', rank_lo, rank_hi) AS ranks
    FROM report JOIN ranks USING (domain, model)
    WHERE report.metric = 'avg'
    ORDER BY domain, score DESC
"""


def write_tables(log: pl.DataFrame, database: str) -> None:
    """Write, or replace, the tables `report` and `ranks` of a database."""
    accessor = log.scorio(by="domain")
    frames = {
        "report": accessor.report(ps.avg(), ps.pass_hat_k(4)),
        "ranks": accessor.rank(ps.avg()).select("domain", "model", "rank", "rank_lo", "rank_hi"),
    }
    with duckdb.connect(database) as connection:
        for name, frame in frames.items():
            connection.register("frame", frame)
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM frame")


database = sys.argv[2] if len(sys.argv) > 2 else "dashboard.duckdb"
write_tables(pl.read_parquet(sys.argv[1]), database)
with duckdb.connect(database, read_only=True) as connection:
    for row in connection.execute(QUERY).fetchall():
        print(*row, sep=" | ")
