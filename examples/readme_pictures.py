"""The pictures of the README and the guide. Run: python examples/readme_pictures.py [FOLDER]

Needs Pillow, which makes the files small: python -m pip install pillow
"""

import sys
from itertools import takewhile
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from method_by_hand import SUCCESSES, TRIALS, of_population, populations, report
from peeking import false_winners
from PIL import Image
from rollouts import rollouts

import polars_scorio as ps
from polars_scorio.display.media.marks import palette

TONES = palette()
SCHEMA = ["model", "step", "question", "trial", "category"]
SUBTITLE = "dot: mean over simulated settings; line: down to the worst of them; grey: 95 %"


def training() -> pl.DataFrame:
    """The log of two runs of a training, evaluated every 100 steps, as in the guide."""
    rng = np.random.default_rng(3)
    difficulty = rng.normal(0, 1.5, 40)
    rows = [
        (run, step, q, trial, int(rng.logistic() < gain * step / 400 - 0.5 - difficulty[q]))
        for run, gain in {"base": 1.0, "more entropy": 1.6}.items()
        for step in range(0, 401, 100)
        for q in range(40)
        for trial in range(4)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def agents() -> pl.DataFrame:
    """The log of three agents with the cost of each trial, as in the guide."""
    tasks = pl.DataFrame({"question": range(50)}).join(
        pl.DataFrame({"trial": range(4)}), how="cross"
    )
    parts = []
    for agent, rate, dollars in (("small", 0.35, 0.02), ("large", 0.6, 0.1), ("relay", 0.58, 0.3)):
        luck = (pl.col("question") * 0.7549 + pl.col("trial") * 0.5698 + 10 * rate) % 1
        ease = (pl.col("question") * 0.618 % 1 - 0.5) * 0.6
        parts.append(
            tasks.with_columns(
                model=pl.lit(agent),
                category=(luck < rate + ease).cast(pl.Int8),
                usd=(dollars * (0.7 + (3 * luck + 0.4) % 1 - ease)).round(4),
            )
        )
    return pl.concat(parts)


def coverage() -> alt.LayerChart:
    """How often intervals hold, from the table of the page on validation."""
    page = Path(__file__).parent / "validation" / "intervals.md"
    text = page.read_text(encoding="utf-8")
    lines = text[text.index("| about | inference |") :].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")[:5]] for line in lines]
    rows = [
        {"about": about, "inference": word, "mean": float(mean), "worst": float(worst)}
        for about, word, _, mean, worst in takewhile(lambda row: len(row) == 5, cells)
    ]
    words = alt.Scale(
        domain=["calibrated", "population posterior", "posterior"],
        range=[TONES["a"], TONES["mid"], TONES["b"]],
    )
    shared = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("about:N", sort=None, title=None),
        yOffset=alt.YOffset("inference:N", sort=words["domain"]),
        color=alt.Color("inference:N", scale=words, title=None).legend(orient="bottom"),
    )
    share = alt.X("mean:Q", title="share of 95 % intervals that hold the truth").axis(format="%")
    promised = alt.Chart().mark_rule(color="#888").encode(x=alt.datum(0.95))
    reach = shared.mark_rule(strokeWidth=2).encode(x=share, x2="worst:Q")
    mean = shared.mark_circle(size=70, opacity=1).encode(x=share)
    title = alt.Title("Do the intervals hold?", anchor="start", subtitle=SUBTITLE)
    return (
        alt.layer(promised, reach, mean)
        .properties(width=380, height=alt.Step(12), title=title)
        .configure_view(stroke=None)
    )


def peeking_chart() -> alt.LayerChart:
    """Evaluations that have named a false winner so far."""
    rows = false_winners().unpivot(index="rounds", variable_name="how", value_name="share")
    colours = alt.Scale(domain=["peeking", "anytime"], range=[TONES["b"], TONES["a"]])
    lines_of = alt.Chart(rows).encode(
        x=alt.X("rounds:Q", title="rounds of trials, each followed by a look").axis(grid=False),
        y=alt.Y("share:Q", title="evaluations with a false winner so far").axis(format="%"),
        color=alt.Color("how:N", scale=colours, title=None).legend(orient="bottom"),
    )
    promised = alt.Chart().mark_rule(color="#888", strokeDash=[4, 3]).encode(y=alt.datum(0.05))
    subtitle = "two equal models, 30 questions, 200 simulated evaluations; dashed: 5 %"
    title = alt.Title("What peeking finds", anchor="start", subtitle=subtitle)
    return (
        alt.layer(promised, lines_of.mark_line(point=True))
        .properties(width=380, height=220, title=title)
        .configure_view(stroke=None)
    )


def explained_counts() -> alt.FacetChart:
    """Questions of two models by their successes, and how many the weighted populations expect."""
    rows = []
    for model in ("ada", "cyd"):
        questions = np.bincount(SUCCESSES[model], minlength=TRIALS + 1)
        weight, chances = populations(questions)
        expected = questions.sum() * (chances @ weight)
        rows += zip([model] * len(questions), range(TRIALS + 1), questions, expected, strict=True)
    frame = pl.DataFrame(rows, schema=["model", "successes", "questions", "expected"], orient="row")
    base = alt.Chart().encode(x=alt.X("successes:O", title="successes of 8 trials"))
    bars = base.mark_bar(color=TONES["line"]).encode(y=alt.Y("questions:Q", title="questions"))
    dots = base.mark_point(filled=True, size=60, color=TONES["a"]).encode(y="expected:Q")
    subtitle = "bars: 12 questions of a model; dots: expected by the weighted populations"
    title = alt.Title("216 populations explain the counts", anchor="start", subtitle=subtitle)
    panels = alt.layer(bars, dots, data=frame).properties(width=190, height=160)
    return panels.facet(alt.Column("model:N", title=None)).properties(title=title)


def both_intervals() -> alt.LayerChart:
    """Intervals of three models about their questions and about questions like these."""
    abouts = {"these questions": report, "questions like these": of_population}
    rows = [
        (model, about, *method("avg", 1, successes)[-2:])
        for model, successes in SUCCESSES.items()
        for about, method in abouts.items()
    ]
    frame = pl.DataFrame(rows, schema=["model", "about", "lo", "hi"], orient="row")
    colours = alt.Scale(domain=[*abouts], range=[TONES["a"], TONES["b"]])
    lines = alt.Chart(frame).mark_rule(size=5, strokeCap="round").encode(
        x=alt.X("lo:Q", title="avg@8", scale=alt.Scale(domain=[0, 1])).axis(format="%"),
        x2="hi:Q",
        y=alt.Y("model:N", title=None),
        yOffset=alt.YOffset("about:N", sort=[*abouts]),
        color=alt.Color("about:N", scale=colours, title=None).legend(orient="bottom"),
    )  # fmt: skip
    title = alt.Title("95 % intervals of three models", anchor="start")
    return alt.layer(lines).properties(width=420, height=alt.Step(18), title=title)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
folder.mkdir(exist_ok=True)
plot = rollouts().scorio(by="domain").plot
pictures = {
    "intervals": plot.intervals(overall="macro"),
    "curve": plot.curve(ps.pass_hat_k([1, 2, 4, 8]), highlight=["comet-70b", "atlas-7b"]),
    "coverage": coverage(),
    "looks": peeking_chart(),
    "method_populations": explained_counts(),
    "method_intervals": both_intervals(),
    "frontier": agents().scorio(cost="usd").plot.frontier(),
    "training": training().scorio.plot.over("step", ps.avg()),
}
for name, picture in pictures.items():
    path = folder / f"{name}.png"
    picture.save(path, scale_factor=2)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(
        path, optimize=True
    )
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
