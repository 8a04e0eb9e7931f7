"""What do the logs of a tool say? Run: python examples/logs.py [TOOL PATH...]"""

import json
import sys
import tempfile
from pathlib import Path

import polars as pl

import polars_scorio as ps

pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
pl.Config.set_float_precision(3).set_tbl_cols(-1).set_tbl_rows(-1).set_tbl_width_chars(120)


def main(tool: str, *paths: str | Path) -> None:
    """Print a report; what crashed or was never scored is left out, and counted."""
    log = getattr(ps.logs, tool)(paths, missing="drop")
    metrics = ps.avg(), ps.pass_at_k([1, 2]), ps.pass_hat_k([1, 2])
    print(log.report(*metrics).lazy().collect().drop("sigma"))


if len(sys.argv) > 1:
    main(*sys.argv[1:])
else:
    rewards = [[1.0, 1.0], [1.0, 0.0], [0.9999999, 0.0]]
    runs = [
        {"task_id": task, "trial": trial, "reward": reward, "info": {}}
        for task, trials in enumerate(rewards)
        for trial, reward in enumerate(trials)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "agent.json"
        file.write_text(json.dumps(runs), encoding="utf-8")
        main("tau_bench", file)
