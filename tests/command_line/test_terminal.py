"""What the command prints, in pipes of all kinds."""

import os
import subprocess
import sys

import polars as pl
import pytest


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])  # of the pipes of Windows
def test_pipes_that_lack_characters_have_tables_without(log, encoding):
    frame = pl.read_parquet(log)
    frame.with_columns(model=pl.concat_str(pl.lit("β"), "model")).write_parquet(log)
    for call in (["coverage", log], ["report", log, "-o", "-"]):
        command = [sys.executable, "-m", "polars_scorio", *call, "--by", "bench"]
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603
        assert "| ?" in done.stdout.decode(encoding)
