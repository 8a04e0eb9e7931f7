"""Kinds of bad questions: how each comes about, and what is said of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

import polars_scorio as ps

THREE = ((pl.col("model") == "b") & pl.col("question").is_in([3, 7])) | (
    (pl.col("model") == "c") & (pl.col("question") == 1)
)
FIRST = pl.col("trial") == 0
ENGINES = ["streaming", "in-memory"]
METRICS = (ps.bayes(), ps.pass_at_k([1, 2]))

Spoiler = Callable[[pl.DataFrame, pl.Expr], pl.DataFrame]


def made(models: Sequence[str], questions: int, trials: int) -> pl.DataFrame:
    """A log where all is well."""
    log = pl.DataFrame({"model": models})
    for column, size in (("question", questions), ("trial", trials)):
        log = log.join(pl.DataFrame({column: range(size)}), how="cross")
    outcome = (pl.col("question") + pl.col("trial")) % 2
    return log.with_columns(domain=pl.lit("x"), rows=pl.lit(1), category=outcome)


def shuffled(log: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    """The same rows in another order."""
    return log.sample(fraction=1, shuffle=True, seed=seed)


def put(column: str, value: object, trials: pl.Expr = FIRST) -> Spoiler:
    """Put a value into some trials of the bad questions."""

    def spoil(log: pl.DataFrame, bad: pl.Expr) -> pl.DataFrame:
        return log.with_columns(
            pl.when(bad & trials).then(pl.lit(value)).otherwise(column).alias(column)
        )

    return spoil


def lose(log: pl.DataFrame, bad: pl.Expr) -> pl.DataFrame:
    """Leave a trial of the bad questions out."""
    return log.filter(~(bad & FIRST))


def repeat(log: pl.DataFrame, bad: pl.Expr) -> pl.DataFrame:
    """Repeat a trial of the bad questions."""
    return pl.concat([log, log.filter(bad & FIRST)])


def misname(log: pl.DataFrame, bad: pl.Expr) -> pl.DataFrame:
    """Name the outcomes, those of the bad questions with a word that is not known."""
    words = pl.col("category").replace_strict([0, 1], ["bad", "good"])
    return put("category", "worse")(log.with_columns(words), bad)


@dataclass(frozen=True)
class Case:
    """A kind of bad question: how it comes about, and what is said of it."""

    spoil: Spoiler
    what: str
    found: str
    way_out: str
    roles: dict[str, object] = field(default_factory=dict)

    def bad(self, log: pl.DataFrame) -> pl.DataFrame:
        """The log with three bad questions, in disorder."""
        return shuffled(self.spoil(log, THREE))

    @property
    def said(self) -> str:
        """What is said of them, up to the way out."""
        return f"3 questions have {self.what}, the first at model='b', question=3{self.found}. "


MISSING = "a missing category (null or NaN in 'category')"
OUTSIDE = "a category that is neither 0 nor 1 in 'category'"
LABELS = "a category outside ['bad', 'good'] in 'category'"
PROMISED = "a number of trials other than n=4"
TWICE = "the same trial twice (a repeated id in 'trial')"
NO_ID = "a null trial id in 'trial'"
COUNTS = "null or negative counts in 'rows'"
EMPTY = "no trial with a category"

GRADED = "threshold=0.5: from there on a reward is a success. Or name all rewards, as in levels="
MISSING_WAY_OUT = 'missing="drop" .* dropped; .*missing=0'
COUNTED = {"count": "rows"}
# Found whatever the metric is.
ROWS = {
    "null": Case(put("category", None), MISSING, ": 1 trial", MISSING_WAY_OUT),
    "nan": Case(put("category", float("nan")), MISSING, ": 1 trial", MISSING_WAY_OUT),
    "lost": Case(lose, PROMISED, ": 3 trials", "lost trials", {"n": 4}),
    "read twice": Case(repeat, PROMISED, ": 5 trials", "read twice", {"n": 4, "trial": None}),
    "repeated": Case(repeat, TWICE, ": 5 trials, 4 distinct ids", "by= .* validate=False"),
    "no id": Case(put("trial", None), NO_ID, ": 1 trial", "Fill .* trial=None"),
    "null count": Case(put("rows", None), COUNTS, ": 1 row", "0, 1, 2", COUNTED),
    "negative count": Case(put("rows", -1), COUNTS, ": 1 row", "0, 1, 2", COUNTED),
}
# Found where the categories are known.
CATEGORIES = {
    "outside": Case(put("category", 2), OUTSIDE, ": 2", "Recode it, pass w= .* success="),
    "negative": Case(put("category", -1), OUTSIDE, ": -1", "Recode it"),
    "fraction": Case(put("category", 0.5), OUTSIDE, ": 0.5", "^If it is a reward, pass threshold="),
    "infinite": Case(put("category", float("inf")), OUTSIDE, ": inf", "Recode it"),
    "label": Case(misname, LABELS, ": 'worse'", "w= with a weight for every category"),
}
# Nothing is left of the question: fine for prior trials.
NOTHING = {
    "no counts": Case(
        put("rows", 0, pl.lit(True)), EMPTY, ": 0 trials, 0 of them missing", "skips", COUNTED
    ),
    "all dropped": Case(
        put("category", None, pl.lit(True)),
        EMPTY,
        ": 4 trials, 4 of them missing",
        "missing=",
        {"missing": "drop"},
    ),
}
