"""A report as metrics of an MLflow run. Run: python examples/ecosystem/mlflow_report.py LOG [STORE]

Needs mlflow. STORE is a SQLAlchemy address; `mlflow ui --backend-store-uri STORE` shows the runs.
`python examples/rollouts.py rollouts.parquet` writes a log to try.
"""

import sys

import mlflow
import polars as pl

import polars_scorio as ps

path = sys.argv[1]
store = sys.argv[2] if len(sys.argv) > 2 else "sqlite:///mlflow.db"
mlflow.set_tracking_uri(store)
mlflow.set_experiment("service agents")

report = pl.read_parquet(path).scorio(by="domain").report(ps.avg(), ps.pass_hat_k([1, 4]))
for (model,), rows in report.group_by("model", maintain_order=True):
    with mlflow.start_run(run_name=str(model)):
        mlflow.log_param("model", model)
        # Names such as "retail/pass_hat_4/lo"; a run of MLflow is one model.
        metrics = ps.to_metrics(rows)
        mlflow.log_metrics(metrics)
        print(f"{model}: {len(metrics)} numbers")
