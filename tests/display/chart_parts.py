"""What a chart shows: its rows, its layers, its words."""

import polars as pl

from tests.made_logs import long


def plot_of(log: pl.DataFrame | pl.LazyFrame, by: str | tuple[str, ...] = "domain"):
    return log.scorio(by=by, success=[1, 2]).plot


def data_of(chart) -> pl.DataFrame:
    return pl.DataFrame(chart.data.values, infer_schema_length=None)


def layers_of(chart) -> list[dict]:
    drawn = chart.to_dict()
    return drawn.get("spec", drawn)["layer"]


def marks_of(chart) -> list[str]:
    return [layer["mark"]["type"] for layer in layers_of(chart)]


def subtitle_of(chart) -> str:
    return "; ".join(chart.to_dict()["title"]["subtitle"])


def ascending_models(number: int) -> pl.DataFrame:
    """A log of models, the later the better."""
    return pl.concat(
        long([[0] * (number - place) + [1] * place], f"m{place:02}") for place in range(number)
    )
