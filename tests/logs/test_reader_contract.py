"""The contract of a reader: all of the package keep it, and each breach of it is named."""

import json
from itertools import count
from pathlib import Path

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.logs.read import TOOLS
from polars_scorio.testing import check_reader
from tests.logs.test_compressed_files import FILES, SIDE

TABLES = {
    "lighteval": (
        "details/m/1/details_t_1.parquet",
        {
            "doc": {"task_name": "t", "id": "1", "query": "q"},
            "metric": {"avg@n:n=2": 0.5},
            "model_response": {"text": ["a", "b"]},
        },
    ),
    "trl": ("completions_1.parquet", {"step": 1, "prompt": "p", "completion": "c", "acc": 1.0}),
}


def written(folder: Path, tool: str) -> Path:
    """A small log of a tool."""
    if tool in TABLES:
        name, row = TABLES[tool]
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([row]).write_parquet(folder / name)
        return folder / name
    files = {FILES[tool][0]: FILES[tool][1]}
    if tool in SIDE:
        files[SIDE[tool][0]] = [SIDE[tool][1]]
    for name, objects in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    return folder / FILES[tool][0]


@pytest.mark.parametrize("tool", TOOLS)
def test_all_readers_keep_the_contract(tool, tmp_path):
    check_reader(getattr(ps.logs, tool), written(tmp_path, tool), tmp_path)


def frame_alone(paths, **roles):
    return ps.logs.verl(paths, **roles).frame


def no_model(paths, model=None, **roles):  # noqa: ARG001 - the fault
    return ps.logs.verl(paths, **roles)


def any_keyword(paths, no_such_role=None, **roles):  # noqa: ARG001 - the fault
    return ps.logs.verl(paths, **roles)


def nameless_error(paths, **roles):
    try:
        return ps.logs.verl(paths, **roles)
    except ValueError:
        raise ValueError("a file is broken") from None


TURNS = count(1)


def growing(paths, **roles):  # noqa: ARG001 - the fault
    return ps.from_array([[1] * next(TURNS)])


def no_error(paths, **roles):
    try:
        return ps.logs.verl(paths, **roles)
    except (ValueError, FileNotFoundError):
        return pl.DataFrame().scorio


@pytest.mark.parametrize(
    ("reader", "broken"),
    [
        (frame_alone, "returns no accessor"),
        (no_model, r"""model="someone" gives the models \["""),
        (any_keyword, "takes 'no_such_role' without an error"),
        (no_error, "takes '.*empty' without an error"),
        (nameless_error, r"does not name '1\.jsonl': a file is broken"),
        (growing, "gives other trials the second time"),
    ],
)
def test_a_broken_reader_is_told_what_is_broken(reader, broken, tmp_path):
    with pytest.raises(AssertionError, match=broken):
        check_reader(reader, written(tmp_path, "verl"))
