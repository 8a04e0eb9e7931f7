"""Does the best model stay the best when the rubric changes? Twelve rubrics over one log.

Run: python examples/rubrics.py [picture.png]
"""

import argparse
import importlib.util
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import polars_scorio as ps

pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
pl.Config.set_tbl_cols(-1).set_tbl_rows(-1).set_tbl_width_chars(120)

# What each model is like: skill on usual and on unusual prompts, how often it boxes its answer and
# how often it gets lost in repetition, length, and bits per token when it is correct or wrong.
MODELS = pl.DataFrame(
    {
        "model": ["accurate", "overconfident", "verbose", "unboxed", "terse", "erratic"],
        "skill": [1.2, 1.0, 1.1, 1.0, 0.4, 1.3],
        "unusual": [0.9, 0.2, 1.0, 0.9, 0.3, -0.6],
        "boxes": [0.92, 0.96, 0.93, 0.45, 0.95, 0.85],
        "loops": [0.02, 0.02, 0.07, 0.02, 0.01, 0.10],
        "length": [0.30, 0.25, 0.60, 0.30, 0.10, 0.35],
        "sure": [0.9, 0.5, 1.1, 1.0, 0.8, 1.2],
        "doubt": [1.4, 0.6, 1.5, 1.6, 1.1, 1.3],
    }
)
UNUSUAL = 2.5  # bits per token of a prompt
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00"]  # Okabe and Ito


def rollouts(questions: int, trials: int, seed: int) -> pl.DataFrame:
    """A log with the signals of every trial, of two datasets."""
    rng = np.random.default_rng(seed)
    asked = pl.DataFrame({"question": range(2 * questions)}).with_columns(
        dataset=pl.Series(["aime"] * questions + ["hmmt"] * questions),
        difficulty=rng.normal(0, 1.5, 2 * questions),
        prompt_bpt=rng.gamma(9, 0.2, 2 * questions),
    )
    log = MODELS.join(asked, how="cross").join(pl.DataFrame({"trial": range(trials)}), how="cross")
    n = log.height
    ability = pl.when(pl.col("prompt_bpt") > UNUSUAL).then("unusual").otherwise("skill")
    log = log.with_columns(
        is_correct=ability - pl.col("difficulty") + pl.Series(rng.logistic(size=n)) > 0,
        has_box=pl.Series(rng.random(n)) < pl.col("boxes"),
        repeated_pattern=pl.Series(rng.random(n)) < pl.col("loops"),
        token_ratio=(pl.col("length") * pl.Series(rng.gamma(6, 1 / 6, n))).clip(0, 1),
    )
    bits = pl.when("is_correct").then("sure").otherwise("doubt")
    # What the verifier leans to, between correct, wrong and off-task.
    lean = pl.when("is_correct").then(1.5).otherwise(-1.5) + pl.Series(rng.logistic(size=n))
    verified = (1 - pl.col("C")) / (1 + (-lean).exp())
    return log.with_columns(
        completion_bpt=bits * pl.Series(rng.gamma(16, 1 / 16, n)), C=pl.Series(rng.beta(1, 12, n))
    ).with_columns(A=verified, B=1 - pl.col("C") - verified)


def scores(log: pl.DataFrame) -> pl.DataFrame:
    """The score of each model under each rubric, and its competition rank there."""
    accessor = log.scorio(prior="uniform")  # as the paper ranks
    reports = [
        accessor.rubric(rubric, over="dataset").bayes(rubric.weights(), name=rubric.name)
        for rubric in ps.rubrics.schemata()
    ]
    rank = pl.col("mu").rank("min", descending=True).over("metric")
    return pl.concat(reports).select("metric", "model", "mu", "sigma", "lo", "hi", rank=rank)


def draw(ranks: pl.DataFrame, path: Path) -> None:
    """A line for each model: its rank under each rubric."""
    import altair as alt  # noqa: PLC0415 - only the picture needs it

    names = ranks["metric"].unique(maintain_order=True).to_list()
    words = alt.Axis(
        labelAngle=-40, labelLimit=300, labelExpr="replace(datum.label, /_/g, ' ')", title=None
    )
    places = alt.Axis(values=[*range(1, MODELS.height + 1)], format="d", grid=False, offset=100)
    base = alt.Chart(ranks).encode(
        x=alt.X("metric:N", sort=names, axis=words),
        y=alt.Y("rank:Q", axis=places, title="rank, 1 is best", scale=alt.Scale(
            domain=[0.5, MODELS.height + 0.5], nice=False, reverse=True)),
        color=alt.Color("model:N", legend=None, scale=alt.Scale(
            domain=MODELS["model"].to_list(), range=COLOURS)),
    )  # fmt: skip
    lines = base.mark_line(strokeWidth=3, opacity=0.8)
    points = base.mark_circle(size=130, opacity=1, stroke="white", strokeWidth=1.5)
    ends = [
        base.transform_filter(alt.datum.metric == name)
        .mark_text(align=align, dx=dx, fontSize=13, fontWeight="bold")
        .encode(text="model:N")
        for name, align, dx in ((names[0], "right", -12), (names[-1], "left", 12))
    ]
    picture = alt.layer(lines, points, *ends).properties(
        width=760, height=320, title="Rank of each model under the example weights of each rubric"
    )
    picture = picture.configure_axis(labelFontSize=12, titleFontSize=13, domain=False, ticks=False)
    picture.configure_view(stroke=None).configure_title(fontSize=16).save(path, scale_factor=2)


def main() -> None:
    """Print the ranks, and draw them."""
    parser = argparse.ArgumentParser(description="Ranks of six models under twelve rubrics.")
    parser.add_argument("picture", nargs="?", type=Path, help="where to draw: .png, .svg or .html")
    path = parser.parse_args().picture
    ranks = scores(rollouts(questions=40, trials=8, seed=11))
    print("The rank of each model under the example weights of each rubric (1 is best):")
    print(ranks.pivot("model", index="metric", values="rank"))
    print("\nThe scores of two rubrics that disagree:")
    two = ranks.filter(pl.col("metric").is_in(["exact_match", "format_confidence"]))
    print(two.sort("metric", "rank").with_columns(pl.col("mu", "sigma", "lo", "hi").round(3)))
    if importlib.util.find_spec("altair") is None or importlib.util.find_spec("vl_convert") is None:
        print('\nThe picture needs the extra "plot": pip install "polars-scorio[plot]"')
        return
    if path is None:
        path = Path(tempfile.mkdtemp(prefix="rubrics-")) / "ranks.png"
    draw(ranks, path)
    print(f"\nThe picture: {path}")


if __name__ == "__main__":
    main()
