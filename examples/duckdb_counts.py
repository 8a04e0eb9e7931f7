"""How good is each model, when DuckDB counts the log where it lies?

Needs polars-scorio[engines] and duckdb. Run: python examples/duckdb_counts.py
"""

import tempfile

import duckdb
import polars as pl

import polars_scorio as ps

pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
pl.Config.set_float_precision(3).set_tbl_cols(-1).set_tbl_width_chars(120)

GENERATED = """
    SELECT model, question, trial, random() < skill * (1 + question % 4) / 4 AS category
    FROM (VALUES ('atlas-7b', 0.5), ('borea-13b', 0.7)) AS models (model, skill),
         range(200) AS questions (question), range(16) AS trials (trial)
"""

with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
    connection.execute("SET threads = 1; SELECT setseed(0.5)")
    connection.execute(f"COPY ({GENERATED}) TO '{folder}' (FORMAT parquet, PARTITION_BY model)")
    log = connection.sql(f"FROM read_parquet('{folder}/*/*.parquet', hive_partitioning = true)")
    trials = log.count("*").fetchall()[0][0]
    counts = ps.count_trials(log)

print(f"DuckDB counted {trials:,} trials. Polars was given {counts.height:,} counts:")
print(counts.head(3))
print("\nThey are all that a report needs:")
accessor = counts.scorio(count="count")
report = accessor.report(ps.avg(), ps.pass_at_k([1, 4]), ps.pass_hat_k(4))
print(report.select("model", "metric", "k", "questions", "trials", "estimate", "lo", "hi"))
