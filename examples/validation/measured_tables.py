"""Tables of what `coverage.py` and `verdicts.py` measured, for their output and for the guide."""

import polars as pl

from examples.validation.interval_studies import STUDIES, Cell

COVERAGE_KEY = [*Cell._fields, "inference", "target", "metric"]
VERDICT_KEY = ["family", "models", "questions", "n", "target", "metric"]
Z = 1.959963984540054


def cell_rows(measured: pl.DataFrame) -> pl.DataFrame:
    """A row for each cell and metric: coverage, mean width, and its ratio to the oracle's.

    The oracle knows how far estimates lie from the truth: its width is twice 1.96 times the root of
    their mean squared error. The last measurement of a cell counts. The variance of a metric of
    draws of k trials about these questions is identified if each question has 2k trials.
    """
    latest = measured.filter(pl.col("seed") == pl.col("seed").max().over(COVERAGE_KEY))
    k = pl.col("metric").str.extract(r"k=(\d+)").cast(pl.Int64).fill_null(1)
    fewest = pl.col("n").str.extract(r"^(\d+)").cast(pl.Int64).fill_null(1)  # null: Poisson
    oracle = 2 * Z * (pl.col("squared_error") / pl.col("replicates")).sqrt()
    width = pl.col("width") / pl.col("replicates")
    return latest.with_columns(
        coverage=pl.col("held") / pl.col("replicates"),
        width=width,
        ratio=pl.when(oracle > 0).then(width / oracle),
        identified=pl.when(pl.col("target") == "benchmark").then(
            (2 * k <= fewest) & ~pl.col("metric").str.starts_with("geom_at_k")
        ),
    ).drop("held", "squared_error")


def study_table(measured: pl.DataFrame) -> pl.DataFrame:
    """A row for each study, confidence, target and inference."""
    coverage = pl.col("coverage")
    order = {study: place for place, study in enumerate(STUDIES)}
    return (
        cell_rows(measured)
        .group_by("study", "confidence", "target", "inference")
        .agg(
            pl.len().alias("settings"),
            coverage.mean().alias("mean"),
            coverage.min().alias("worst"),
            *(
                pl.when(pl.col("confidence") == 0.95).then(coverage < least).sum().alias(name)
                for name, least in (("below .92", 0.92), ("below .90", 0.9))
            ),
            pl.col("width").median().alias("median width"),
        )
        .sort(pl.col("study").replace_strict(order), "confidence", "target", "inference")
    )


def planned_cells(study: str) -> int:
    """How many cells the study has at one confidence and target."""
    cells = [*STUDIES[study].cells(study)]
    metrics = sum(len(STUDIES[study].asked(cell.n)) for cell in cells)
    return metrics // len(STUDIES[study].confidences)


def promised_coverage(measured: pl.DataFrame) -> pl.DataFrame:
    """The calibrated rows of the studies, with how many cells each study has in all."""
    table = study_table(measured).filter(inference="calibrated").drop("inference")
    planned = {study: planned_cells(study) for study in STUDIES}
    of_all = pl.col("study").replace_strict(planned, return_dtype=pl.Int64).alias("of")
    return table.select(
        pl.col("study", "confidence", "target", "settings"), of_all, pl.nth(range(4, table.width))
    )


def failing_cells(measured: pl.DataFrame) -> pl.DataFrame:
    """The cells whose calibrated 95 % intervals held the truth in less than .9, lowest first."""
    return (
        cell_rows(measured)
        .filter(pl.col("coverage") < 0.9, confidence=0.95, inference="calibrated")
        .sort("coverage", "metric", "population")
        .select(
            "study",
            "metric",
            "questions",
            pl.col("n").alias("trials"),
            "population",
            pl.col("target").alias("about"),
            "coverage",
            pl.col("replicates").alias("logs"),
        )
    )


def width_table(measured: pl.DataFrame) -> pl.DataFrame:
    """Width over the oracle's, of equal numbers of trials, by size and by what is identified."""
    # An oracle that is narrower than this knows that nearly all questions are the same.
    rows = cell_rows(measured).filter(
        pl.col("study") == "equal n",
        pl.col("inference") == "calibrated",
        pl.col("width") / pl.col("ratio") > 0.0015,
    )
    ratio = pl.col("ratio")
    return (
        rows.group_by("target", "identified", "questions")
        .agg(
            pl.len().alias("settings"),
            pl.col("coverage").mean().alias("mean coverage"),
            pl.col("coverage").min().alias("worst coverage"),
            ratio.median().alias("median ratio"),
            ratio.quantile(0.9).alias("90 % of ratios"),
            ratio.max().alias("largest ratio"),
            (ratio > 1.3).sum().alias("ratios above 1.3"),
        )
        .sort("target", "identified", "questions", descending=[False, True, False])
    )


def verdict_rows(measured: pl.DataFrame) -> pl.DataFrame:
    """Shares of each cell and metric, of its last measurement."""
    latest = measured.filter(pl.col("seed") == pl.col("seed").max().over(VERDICT_KEY))
    logs, pairs = pl.col("replicates"), pl.col("pairs")
    return latest.select(
        *VERDICT_KEY,
        "replicates",
        "seed",
        false_winners=pl.col("false_winners") / logs,
        power=pl.when(pl.col("true_differences") > 0).then(
            pl.col("named_differences") / pl.col("true_differences")
        ),
        tables_held=pl.col("tables_held") / logs,
        pair_width=pl.col("pair_width") / pairs,
        ranks_held=pl.col("ranks_held") / logs,
        best_in_set=pl.col("best_held") / logs,
        best_set_size=pl.col("best_set_size") / logs,
    )


def family_table(measured: pl.DataFrame) -> pl.DataFrame:
    """A row for each target, number of trials and number of models."""
    false, held, ranks = (pl.col(x) for x in ("false_winners", "tables_held", "ranks_held"))
    return (
        verdict_rows(measured)
        .group_by("target", "n", "models")
        .agg(
            pl.len().alias("settings"),
            false.mean().alias("false winners"),
            false.max().alias("worst"),
            (false > 0.06).sum().alias("above .06"),
            held.mean().alias("all intervals hold"),
            held.min().alias("least"),
            ranks.min().alias("all ranks hold, least"),
            pl.col("power").mean(),
            pl.col("best_in_set").min().alias("least best in set"),
            pl.col("best_set_size").mean().alias("size of set"),
        )
        .sort("target", "n", "models")
    )
