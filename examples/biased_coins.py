"""How many trials does a ranking take? Eleven models as biased coins, of which two are equal.

Run: python examples/biased_coins.py [picture.png]

The experiment of section 2.7 of Don't Pass@k (arXiv:2510.04265), with other coins: the true rates
are known, so that rankings by Bayes@N and by Pass@k can be compared with the truth.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import kendalltau

import polars_scorio as ps

MEANS = (0.20, 0.26, 0.33, 0.38, 0.45, 0.45, 0.52, 0.615, 0.62, 0.70, 0.78)  # two are equal
QUESTIONS, TRIALS, EXPERIMENTS = 30, 80, 20
PUBLISHED = {"prior": "uniform"}  # the numbers of the paper, for k beyond the trials too
METRICS = {
    "Bayes@N": ps.bayes(),
    "Pass@2": ps.pass_at_k(2),
    "Pass@4": ps.pass_at_k(4),
    "Pass@8": ps.pass_at_k(8),
}
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7"]  # of Okabe and Ito, for all eyes
MODELS = [f"LLM{i:02}" for i in range(1, len(MEANS) + 1)]


def coins(rng: np.random.Generator) -> np.ndarray:
    """True success rates, a row for each model, whose means are exactly `MEANS`."""
    skills = rng.normal(0, 1.5, (len(MEANS), QUESTIONS))
    shifts = [
        brentq(lambda x, s=s, mean=mean: expit(s + x).mean() - mean, -20, 20)
        for s, mean in zip(skills, MEANS, strict=True)
    ]
    return expit(skills + np.array(shifts)[:, None])


def flips(rates: np.ndarray, rng: np.random.Generator) -> pl.DataFrame:
    """A log in which every model answers every question `TRIALS` times, in each experiment."""
    outcomes = rng.random((EXPERIMENTS, TRIALS, *rates.shape)) < rates
    experiment, trial, model, question = np.indices(outcomes.shape).reshape(4, -1)
    keys = {"experiment": experiment, "trial": trial, "question": question}
    names = pl.Series(MODELS).gather(model)
    return pl.DataFrame({**keys, "model": names, "category": outcomes.ravel()})


def agreement(log: pl.DataFrame) -> pl.DataFrame:
    """Mean Kendall tau-b of the ranking after n trials and the true one, for each metric."""
    curves = []
    for name, metric in METRICS.items():
        ranks = log.scorio(by="experiment", **PUBLISHED).trajectory(metric)
        curve = ranks.group_by("experiment", "n").agg(pl.col("rank").sort_by("model"))
        tau = [kendalltau(rank, -np.array(MEANS)).statistic for rank in curve["rank"]]
        curves.append(curve.select(pl.lit(name).alias("metric"), "n", tau=pl.Series(tau)))
    mean = pl.concat(curves).group_by("metric", "n").agg(pl.col("tau").mean())
    return mean.cast({"metric": pl.Enum([*METRICS])}).sort("metric", "n")


def table(log: pl.DataFrame) -> pl.DataFrame:
    """The true ranking, that by Bayes@N, and that with ties of what is not told apart."""
    gold = pl.DataFrame({"model": MODELS, "mean": MEANS})
    gold = gold.with_columns(ps.rank_scores("mean", method="dense").alias("gold standard"))
    ranks = log.scorio(**PUBLISHED).rank(ps.bayes(), method="dense")
    ours = ranks.rename({"rank": "without CI", "rank_tied": "with CI"})
    both = gold.join(ours, on="model").sort("mean", "model", descending=[True, False])
    columns = "gold standard", "without CI", "with CI"
    return both.select(*columns).transpose(
        include_header=True, header_name="ranking", column_names=both["model"].to_list()
    )


def picture(curves: pl.DataFrame, path: Path) -> None:
    """Draw the mean tau against n."""
    import altair as alt  # noqa: PLC0415 - the extra `plot`

    chart = (
        alt.Chart(curves)
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("n:Q", title="trials per question"),
            alt.Y("tau:Q", title="mean Kendall tau-b with the true ranking").scale(zero=False),
            alt.Color("metric:N", title=None, sort=[*METRICS]).scale(range=COLOURS),
        )
        .properties(width=480, height=300, title="How fast rankings come near the truth")
    )
    chart.save(path, scale_factor=2)


def main() -> None:
    """Print the table and the curves, and draw them."""
    rng = np.random.default_rng(2510)
    rates = coins(rng)
    log = flips(rates, rng)
    first = log.filter(experiment=0).drop("experiment")

    pl.Config.set_tbl_hide_dataframe_shape(True).set_tbl_hide_column_data_types(True)
    pl.Config.set_tbl_rows(-1).set_tbl_cols(-1).set_tbl_width_chars(120).set_float_precision(3)
    print("Ranks after 80 trials of 30 questions, the best model first:")
    print(table(first))

    curves = agreement(log)
    print("\nMean Kendall tau-b with the true ranking after n trials:")
    shown = curves.filter(pl.col("n").is_in([1, 2, 5, 10, 20, 40, 80]))
    print(shown.pivot("n", index="metric", values="tau"))

    print("\nAfter how many trials one log has settled on its own final ranking (cumulative):")
    published = first.scorio(**PUBLISHED)
    settled = published.convergence(ps.bayes(), replicates=200, scheme="question", seed=1)
    print(settled.filter(pl.col("n").is_in([10, 20, 40, 80]) | pl.col("n").is_null()))

    path = Path(*sys.argv[1:2]) if sys.argv[1:] else Path(tempfile.mkdtemp()) / "biased_coins.png"
    try:
        picture(curves, path)
    except ImportError:
        print('\nThe picture needs Altair: pip install "polars-scorio[plot]"')
    else:
        print(f"\nThe curves: {path}")


if __name__ == "__main__":
    main()
