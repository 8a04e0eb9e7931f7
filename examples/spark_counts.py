"""How good is each model, when a Spark cluster counts the log?

Needs polars-scorio[engines], pyspark and Java. Run: python examples/spark_counts.py
"""

import polars as pl
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's own documents do

import polars_scorio as ps

pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
pl.Config.set_float_precision(3).set_tbl_cols(-1).set_tbl_width_chars(120)

# A real log is spark.read.parquet("s3a://...") or spark.table("rollouts"), on a real cluster.
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
models = spark.createDataFrame([("atlas-7b", 0.5), ("borea-13b", 0.7)], ["model", "skill"])
questions = spark.range(200).withColumnRenamed("id", "question")
trials = spark.range(16).withColumnRenamed("id", "trial")
luck = F.abs(F.hash("model", "question", "trial")) % 1000 / 1000
log = models.crossJoin(questions).crossJoin(trials).select(
    "model", "question", "trial",
    (luck < F.col("skill") * (1 + F.col("question") % 4) / 4).alias("category"),
)  # fmt: skip

counts = ps.count_trials(log)
print(f"Spark counted {log.count():,} trials. The driver was given {counts.height:,} counts:")
print(counts.head(3))
spark.stop()

print("\nThey are all that a report needs:")
accessor = counts.scorio(count="count")
report = accessor.report(ps.avg(), ps.pass_at_k([1, 4]), ps.pass_hat_k(4))
print(report.select("model", "metric", "k", "questions", "trials", "estimate", "lo", "hi"))
