"""How often verdicts about models are wrong. Run: python -m examples.validation.verdicts --help.

Families of 2 to 20 models, through `compare` and `rank`; the replicates of a cell are strata of one
log. A family-wise false winner is a log in which any of all pairs gets a wrong verdict. Means over
strata take a call for each log, and each call judges all pairs of all strata: they have few cells.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_scorio as ps
from examples.validation.interval_studies import EASIEST_TO_HARDEST, trials_per_question
from examples.validation.measured_cells import batches, in_random_order, measure_cells, print_tables
from examples.validation.measured_tables import VERDICT_KEY, family_table, verdict_rows
from examples.validation.model_families import FAMILIES
from examples.validation.true_values import Asked, accuracy, at_k

Floats = np.ndarray
Ints = np.ndarray

MEASURED = Path(__file__).with_name("verdicts.parquet")
TARGETS = ("benchmark", "population")
SAME = 0.006  # truths of a population, from many questions, that differ by less are the same
ROUNDING = 1e-12
MANY_QUESTIONS = 100_000  # that stand for a population
BATCH = 100  # logs of one frame
BY_MODEL = "1, 4, 16 by model"


class Cell(NamedTuple):
    """Models of a family, which answer some questions a number of times."""

    family: str
    models: int
    questions: str  # "30"; in strata "50 x 3" or "2 + 10 + 100"
    n: str

    @property
    def stratum_of_questions(self) -> Ints:
        """The stratum of each question."""
        strata, _, size = self.questions.partition(" x ")
        sizes = [int(size)] * int(strata) if size else [*map(int, self.questions.split(" + "))]
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def stratum_scales(self) -> Floats:
        """What rates are multiplied by in each stratum, the easiest one first."""
        return np.linspace(*EASIEST_TO_HARDEST, self.stratum_of_questions[-1] + 1)

    def random_numbers(self, seed: int) -> np.random.Generator:
        """A generator that depends on the cell and on a seed."""
        return np.random.default_rng([seed, *"/".join(map(str, self)).encode()])


def trials_of_models(cell: Cell, shape: tuple[int, int, int], rng: np.random.Generator) -> Ints:
    """Trials per log, model and question; each model has the same questions."""
    if cell.n == BY_MODEL:
        of_model = np.array([1, 4, 16])[np.arange(cell.models) % 3]
        return np.broadcast_to(of_model[:, None], shape)
    return trials_per_question(cell.n, shape, rng)


def simulated_counts(cell: Cell, n: Ints, c: Ints) -> pl.DataFrame:
    """Counts of failure and success by log, stratum, model and question."""
    log, model, question = np.indices(c.shape).reshape(3, -1)
    keys = {"log": log, "model": model, "question": question}
    totals = {"stratum": cell.stratum_of_questions[question], "n": n.ravel(), "c": c.ravel()}
    return ps.from_successes(pl.DataFrame(keys | totals))


def asked_of_logs(cell: Cell, counts: pl.DataFrame, method: str, **asked: object) -> pl.DataFrame:
    """What `compare` or `rank` says of each log: the mean over its strata, if it has some."""
    roles = {"count": "count"}
    if cell.stratum_of_questions[-1] == 0:
        return getattr(counts.scorio(by="log", **roles), method)(**asked)
    rows = (
        getattr(log.scorio(by="stratum", **roles), method)(**asked, overall="macro")
        .filter(pl.col("stratum").is_null())
        .with_columns(pl.lit(number).alias("log"))
        for (number,), log in counts.group_by("log", maintain_order=True)
    )
    return pl.concat(rows)


def true_scores(asked: Asked, p: Floats, cell: Cell, target: str) -> Floats:
    """The true score of each model, shape (logs, models): the mean over the strata."""
    owner, scales = cell.stratum_of_questions, cell.stratum_scales
    if target == "benchmark":
        return np.mean([asked.truth(p[..., owner == s]) for s in range(scales.size)], axis=0)
    many = FAMILIES[cell.family](np.random.default_rng(0), (1, cell.models, MANY_QUESTIONS))
    score = np.mean([asked.truth(scale * many)[0] for scale in scales], axis=0)
    # Models of one kind have one score: the random numbers alone make them differ.
    for place in range(cell.models):
        alike = np.abs(score - score[place]) < SAME
        score[alike] = score[alike].mean()
    return np.broadcast_to(score, p.shape[:2])


def verdict_sums(
    cell: Cell, counts: pl.DataFrame, asked: Asked, truth: Floats, target: str
) -> dict[str, float]:
    """Sums over the logs: wrong verdicts, named differences, intervals that hold, best sets.

    An interval of a pair by itself depends on the pair alone: two models show how often it holds.
    """
    question = {"metric": asked.metric, "target": target}
    at_once = asked_of_logs(cell, counts, "compare", **question, simultaneous=True)
    gap, sign = true_gaps(at_once, truth), verdict_signs(at_once)
    lo, hi = at_once["lo"].to_numpy(), at_once["hi"].to_numpy()
    inside = (lo <= gap + ROUNDING) & (gap - ROUNDING <= hi)
    wrong = (sign != 0) & (sign != np.sign(gap))
    logs = at_once.select("log", wrong=pl.Series(wrong), held=pl.Series(inside)).group_by("log")
    tables = logs.agg(pl.col("wrong").any(), pl.col("held").all())
    return {
        "replicates": len(truth),
        "pairs": gap.size,
        "false_winners": tables["wrong"].sum(),
        "tables_held": tables["held"].sum(),
        "true_differences": int((gap != 0).sum()),
        "named_differences": int(((gap != 0) & (sign == np.sign(gap))).sum()),
        "pairs_held": int(inside.sum()),
        "pair_width": float((hi - lo).sum()),
        **rank_sums(asked_of_logs(cell, counts, "rank", **question), truth),
    }


def true_gaps(pairs: pl.DataFrame, truth: Floats) -> Floats:
    """True differences of the pairs, exactly 0 for equal models."""
    a, b = (truth[pairs["log"], pairs[side]] for side in ("model_a", "model_b"))
    return np.where(np.abs(a - b) < ROUNDING, 0.0, a - b)


def verdict_signs(pairs: pl.DataFrame) -> Floats:
    """1 where model_a is named as better, -1 where model_b is, 0 without a verdict."""
    named = pairs["better"].is_not_null().to_numpy()
    return np.where(named, np.where(pairs["better"].eq_missing(pairs["model_a"]), 1, -1), 0)


def rank_sums(ranked: pl.DataFrame, truth: Floats) -> dict[str, float]:
    """Logs with all true ranks in their ranges, or a best model in the set of the best; its size.

    Equal models have several true ranks: a range holds the ranks that their order may give them.
    """
    log, model = (ranked[name].to_numpy() for name in ("log", "model"))
    others, mine = truth[log], truth[log, model][:, None]
    above = (others > mine + ROUNDING).sum(axis=1)
    below = (others < mine - ROUNDING).sum(axis=1)
    lo, hi = (ranked[name].to_numpy() for name in ("rank_lo", "rank_hi"))
    inside = pl.Series((lo <= 1 + above) & (truth.shape[1] - below <= hi))
    each = ranked.with_columns(inside=inside, best=pl.Series(above == 0)).group_by("log")
    held = each.agg(pl.col("inside").all(), (pl.col("could_be_best") & pl.col("best")).any())
    return {
        "ranks_held": int(held["inside"].sum()),
        "best_held": int(held["could_be_best"].sum()),
        "best_set_size": int(ranked["could_be_best"].sum()),
    }


def asked_of(cell: Cell) -> list[Asked]:
    """Accuracy; of few models also success in some and in all of the trials."""
    if not cell.n.isdigit() or int(cell.n) == 1 or cell.models > 5:
        return [accuracy()]
    kept = {"pass_at_k", "pass_hat_k"}
    return [accuracy(), *(each for each in at_k(int(cell.n)) if each.metric.name in kept)]


def cell_sums(cell: Cell, replicates: int, seed: int) -> pl.DataFrame:
    """A row for each metric and target of a cell."""
    rng, rows = cell.random_numbers(seed), []
    owner = cell.stratum_of_questions
    for logs in batches(replicates, BATCH):
        p = FAMILIES[cell.family](rng, (logs, cell.models, owner.size))
        p = p * cell.stratum_scales[owner]
        n = trials_of_models(cell, p.shape, rng)
        counts = simulated_counts(cell, n, rng.binomial(n, p))
        for asked, target in product(asked_of(cell), TARGETS):
            truth = true_scores(asked, p, cell, target)
            key = cell._asdict() | {"target": target, "metric": asked.label}
            rows.append(key | verdict_sums(cell, counts, asked, truth, target))
    return (
        pl.DataFrame(rows).group_by(VERDICT_KEY, maintain_order=True).sum().with_columns(seed=seed)
    )


def all_cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """The cells of the study: of all kinds, and a few of means over strata."""
    every = product(FAMILIES, arguments.models, arguments.questions, arguments.trials)
    yield from map(Cell._make, every)
    yield from map(Cell._make, product(FAMILIES, (5,), arguments.strata, ("1",)))


def worst_cells(measured: pl.DataFrame, replicates: int) -> list[Cell]:
    """The eight cells with the most false winners that have fewer logs."""
    few = verdict_rows(measured).filter(pl.col("replicates") < replicates)
    order = few.sort("false_winners", descending=True).select(Cell._fields)
    return [Cell(*row) for row in order.unique(maintain_order=True).head(8).rows()]


def main() -> None:
    """Simulate as the command line asks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200, help="logs per cell; default: 200")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after them")
    parser.add_argument("--models", nargs="+", type=int, default=[2, 5, 10, 20])
    parser.add_argument("--questions", nargs="+", default=["15", "30", "100"])
    parser.add_argument("--strata", nargs="*", default=["50 x 3", "2 + 10 + 100"])
    parser.add_argument("--trials", nargs="+", default=["1", "4", "1 or 64", BY_MODEL])
    parser.add_argument("--again", action="store_true", help="measure the worst cells again")
    parser.add_argument("--show", action="store_true", help="no simulation, only the tables")
    parser.add_argument("--file", type=Path, default=MEASURED, help="default: the one of the guide")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ps.PriorWarning)
    file = arguments.file
    measured = pl.read_parquet(file) if file.exists() else None
    seed = 1 if measured is None else int(measured["seed"].max()) + arguments.again
    if arguments.again:
        cells = worst_cells(measured, arguments.replicates)
    else:
        done = set() if measured is None else set(measured.select(Cell._fields).unique().rows())
        cells = [cell for cell in in_random_order(all_cells(arguments)) if cell not in done]
    if not arguments.show:
        measure_cells(
            cells,
            lambda cell: cell_sums(cell, arguments.replicates, seed),
            file,
            arguments.minutes,
        )
    measured = pl.read_parquet(file)
    rows = verdict_rows(measured).drop("seed")
    print_tables(
        family_table(measured),
        rows.sort("false_winners", descending=True).head(15),
        rows.sort("tables_held").head(10),
        rows.sort("best_in_set").head(10),
    )


if __name__ == "__main__":
    main()
