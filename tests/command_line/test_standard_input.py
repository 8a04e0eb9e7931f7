"""Logs on standard input, in all formats of files."""

import gzip
import io
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from polars_scorio.command_line.main import main
from tests.display.html.logs import models

WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda log, file: log.write_csv(file, separator="\t"),
    "json": pl.DataFrame.write_json,
    "jsonl": pl.DataFrame.write_ndjson,
}


def give_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("kind", WRITERS)
def test_standard_input_is_a_log(capsys, monkeypatch, kind):
    models(2).write_parquet("log.parquet")
    assert main(["rank", "log.parquet", "--format", "csv"]) == 0
    expected = capsys.readouterr().out
    data = io.BytesIO()
    WRITERS[kind](models(2), data)
    give_input(monkeypatch, data.getvalue())
    assert main(["rank", "-", "--format", "csv"]) == 0
    assert capsys.readouterr().out == expected


def zstd_bytes(data):
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(data)
    return packed.getvalue().to_pybytes()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("compress", [gzip.compress, zstd_bytes])
def test_compressed_input_is_unpacked(capsys, monkeypatch, kind, compress):
    WRITERS[kind](models(2), f"log.{kind}")
    assert main(["rank", f"log.{kind}", "--format", "json"]) == 0
    expected = capsys.readouterr().out
    give_input(monkeypatch, compress(Path(f"log.{kind}").read_bytes()))
    assert main(["rank", "-", "--format", "json"]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("data", "logs", "message"),
    [
        pytest.param(b" \n", ["-"], "standard input is empty", id="empty"),
        pytest.param(gzip.compress(b"a,b")[:-9], ["-"], "damaged or broken off", id="damaged"),
        pytest.param(b"a,b\n", ["-", "-"], "name - once", id="twice"),
    ],
)
def test_input_that_is_no_log_says_so(capsys, monkeypatch, data, logs, message):
    give_input(monkeypatch, data)
    assert main(["describe", *logs]) == 2
    assert message in capsys.readouterr().err
