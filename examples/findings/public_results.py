"""Read public results from a clone of their repository, and write what the findings need."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import polars_scorio as ps


def run_git(clone: str | Path, *arguments: str) -> str:
    """The output of a git command in the clone."""
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout  # noqa: S603


def read_json(clone: str | Path, commit: str, name: str) -> Any:  # noqa: ANN401 - any JSON
    """The content of a JSON file as it is in a commit."""
    return json.loads(run_git(clone, "show", f"{commit}:{name}"))


def save_counts(counts: pl.DataFrame, path: Path) -> None:
    """Write the counts with names as categories and small integers."""
    small = counts.with_columns(
        pl.col(pl.String).cast(pl.Categorical), pl.col(pl.Int64).cast(pl.UInt8)
    )
    small.write_parquet(path, compression="zstd", compression_level=22)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def save_ranks(counts: pl.DataFrame, path: Path) -> None:
    """Draw the ranks that the counts allow each model."""
    import altair as alt  # noqa: PLC0415 - the counts need no Altair
    from PIL import Image  # noqa: PLC0415 - the counts need no Pillow

    totals = counts.select("model", "question", n="trials", c="successes")
    ranks = ps.from_successes(totals).scorio(count="count").rank()
    places = alt.Chart(ranks).encode(y=alt.Y("model", sort=None, title=None))
    bars = places.mark_rule().encode(x=alt.X("rank_lo", title="place"), x2="rank_hi")
    (bars + places.mark_point(filled=True).encode(x="rank")).save(path, scale_factor=2)
    picture = Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    picture.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def write_board(
    name: str,
    read_counts: Callable[[str], pl.DataFrame],
    ranked_counts: Callable[[pl.DataFrame], pl.DataFrame],
    counts_name: str | None = None,
) -> None:
    """Write the counts of the clone and their picture; the arguments are CLONE and FOLDER."""
    clone, folder = (*sys.argv[1:], ".")[:2]
    counts = read_counts(clone)
    save_counts(counts, Path(folder, f"{counts_name or name}.parquet"))
    save_ranks(ranked_counts(counts), Path(folder, f"{name}.png"))
