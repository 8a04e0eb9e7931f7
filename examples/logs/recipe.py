"""What the recipes share: finding the files, the command line, and the report that it prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

import polars_scorio as ps

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def files(paths: Paths, pattern: str) -> list[Path]:
    """The files that are given, and those in the folders that are given which match a pattern."""
    given = [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]
    found = {file for path in given for file in (path.rglob(pattern) if path.is_dir() else [path])}
    if not found:
        raise FileNotFoundError(f"no file matches {pattern!r} in {[str(path) for path in given]}")
    return sorted(found)


def counts(totals: pl.LazyFrame) -> pl.LazyFrame:
    """Counts of each question, for ``.scorio(count="count")``.

    From the columns asked (trials), answered (trials with an outcome) and mean (successes / asked,
    null where nothing was scored); all other columns stay.
    """
    exact = pl.col("mean").fill_nan(None).fill_null(0) * pl.col("asked")
    # A mean of something else is no c / n: then the counts are null, which every report refuses.
    c = pl.when((exact - exact.round()).abs() < 1e-6).then(exact.round())  # noqa: PLR2004
    scored = pl.col("mean").fill_nan(None).is_not_null()
    n = pl.when(scored).then("answered").otherwise(0)
    return (
        totals.with_columns(
            category=pl.lit([0, 1, None], pl.List(pl.Int64)),
            count=pl.concat_list(n - c, c, pl.col("asked") - n).cast(pl.List(pl.Int64)),
        )
        .drop("asked", "answered", "mean")
        .explode("category", "count")
    )


def above(threshold: float | None, category: str = "category") -> pl.Expr:
    """The rewards, or whether they reach a threshold; a missing one stays missing."""
    reward = pl.col(category).fill_nan(None)
    return reward if threshold is None else reward >= threshold


def command_line(description: str | None, what: str) -> argparse.ArgumentParser:
    """A parser with the arguments that all recipes have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, help=f"{what}, or folders that hold them")
    parser.add_argument(
        "--missing",
        default="error",
        type=lambda text: int(text) if text.isdigit() else text,
        metavar="error|drop|CATEGORY",
        help="what a trial without an outcome means, one that crashed or was never scored: an "
        "error (the default); nothing, but it is counted as dropped; or a category, such as 0",
    )
    parser.add_argument(
        "--n",
        type=int,
        help="refuse questions without exactly so many trials: finds files that were read twice, "
        "also where trials carry no id",
    )
    parser.add_argument(
        "--k",
        type=lambda text: [int(k) for k in text.split(",")],
        metavar="1,2,4",
        help="draw sizes of pass@k and pass^k; default: 1, 2, 3, 4, 8, 16, ... up to the trials "
        "of a question",
    )
    return parser


def print_report(
    trials: pl.DataFrame | pl.LazyFrame,
    options: argparse.Namespace,
    w: dict[str, float] | None = None,
    **roles: Any,  # noqa: ANN401 - the keywords of the accessor
) -> None:
    """Print avg, pass@k and pass^k of each model (and stratum) with their intervals."""
    roles = {**roles, "missing": options.missing, "n": options.n}
    try:
        # Counted once: the number of trials that the questions have says which k there are.
        counted = ps.scorio(trials.lazy(), **roles).counts().collect()
        ks = options.k or _draw_sizes(counted)
        log = ps.scorio(counted, **{**roles, "count": "count"})
        metrics = ps.avg(w=w, name="avg"), ps.pass_at_k(ks), ps.pass_hat_k(ks)
        report = log.report(*metrics, pooling="partial", interval="beta")
    except (TypeError, ValueError) as error:
        hint = " Here: --missing drop, or --missing CATEGORY." if "missing=" in str(error) else ""
        sys.exit(f"{error}{hint}")
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=160,
        fmt_str_lengths=60,
        float_precision=3,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    ):
        print(report.drop("sigma"))


def _draw_sizes(counted: pl.DataFrame) -> list[int]:
    """Draw sizes for which every question has enough trials."""
    outcomes = counted.filter(pl.col("category").is_not_null())
    sizes = outcomes.group_by(pl.exclude("category", "count")).agg(pl.col("count").sum())
    fewest = sizes["count"].min() or 1
    return [k for k in (1, 2, 3, 4, 8, 16, 32, 64, 128, 256) if k <= fewest]
