"""What the reference shows, and on which page."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc, isfunction

import polars_scorio as ps
from polars_scorio import testing
from polars_scorio.accessors.base import Accessor
from polars_scorio.accessors.decisions import DecisionMethods, GateMethods, JudgeMethods
from polars_scorio.accessors.display import CostMethods, QuestionMethods, ReaderMethods
from polars_scorio.accessors.planning import PlanMethods
from polars_scorio.arrays import QuestionCounts
from polars_scorio.display.plots import Plots
from tests.exported_metrics import EXPORTED
from tests.reference.markdown import as_markdown, called, inline

CATEGORY = 'pl.col("category").scorio'


@dataclass(frozen=True)
class Entry:
    """A public name, as one types it, and what it is."""

    name: str
    value: Callable[..., object] | property

    @property
    def doc(self) -> str:
        """What help says."""
        return getdoc(self.value) or ""

    @property
    def summary(self) -> str:
        """The first paragraph of it."""
        first = " ".join(self.doc.partition("\n\n")[0].split())
        return inline(re.sub(r" ?\[\d\]_", "", first))

    @property
    def file(self) -> str:
        """The name of its page; a class beside a function of its name is told apart by more than
        capitals, which not all file systems keep.
        """
        words = re.sub(r"\W+", "_", self.name.replace('pl.col("category")', "expr")).strip("_")
        return f"{words}_class" if self.name == "ps.rubrics.Rubric" else words

    def __str__(self) -> str:
        """The page: found in a search by its last word, as `rank` for `df.scorio.rank`."""
        values = isinstance(self.value, property) or self.name.endswith("Warning")
        shown = self.name if values else called(self.name, self.value)  # type: ignore[arg-type]
        word = self.name.rpartition(".")[2]
        index = f"```{{index}} ! {word}\n```\n"
        text = as_markdown(self.doc) + compared_settings(self)
        return f"{index}\n# {self.name}\n\n```python\n{shown}\n```\n\n{text}\n"


def compared_settings(entry: Entry) -> str:
    """The settings that distinguish two runs, of a reader that compares them."""
    module = sys.modules[getattr(entry.value, "__module__", __name__)]
    names = getattr(module, "SETTINGS", ()) if entry.name.startswith("ps.logs.") else ()
    listed = ", ".join(f"`{name}`" for name in names)
    return f"\n\n## Settings that distinguish two runs\n\n{listed}" if names else ""


@dataclass(frozen=True)
class Part:
    """A part of the reference: entries about one thing."""

    title: str
    intro: str
    entries: tuple[Entry, ...]

    @property
    def index(self) -> str:
        """A line for each entry, with a link to its page."""
        lines = [f"- [`{each.name}`]({each.file}.md): {each.summary}\n" for each in self.entries]
        return "".join([f"## {self.title}\n\n{self.intro}\n\n", *lines])


def named(prefix: str, module: object, *names: str) -> tuple[Entry, ...]:
    """What a module exports by these names."""
    return tuple(Entry(f"{prefix}.{name}", getattr(module, name)) for name in names)


def methods(prefix: str, owner: type) -> tuple[Entry, ...]:
    """The methods and properties that a class defines, in its order; metrics have their page."""
    return tuple(
        Entry(prefix if name == "__call__" else f"{prefix}.{name}", value)
        for name, value in vars(owner).items()
        if name == "__call__" or not name.startswith("_")
        if name not in EXPORTED
        if isfunction(value) or isinstance(value, property)
    )


def parts() -> tuple[Part, ...]:
    """All parts, in the order in which one reads them."""
    return (
        Part(
            "A log and its report",
            "`df.scorio` takes the default column names, `df.scorio(...)` and `ps.scorio(df, ...)` "
            "say which column plays which part; `df` is a DataFrame or a LazyFrame, and results "
            "are of its kind.",
            (
                *named("ps", ps, "scorio"),
                *methods("df.scorio", ps.Scorio),
                *methods("df.scorio", Accessor),
                *methods("df.scorio", JudgeMethods),
                *named("ps", ps, "judge", "sample_to_label"),
                *named("ps", ps, "PriorWarning", "SuccessWarning", "ClusterWarning", "LogWarning"),
                *named("ps", ps, "JudgeWarning"),
                *named("ps", ps, "CheckWarning", "RunWarning"),
                *named("ps", ps, "CostWarning"),
            ),
        ),
        Part(
            "Metrics",
            "Each is a value, to be given to `report` and all other methods. The usual ones are "
            "methods too, with the same arguments: `df.scorio.pass_at_k([1, 4])` is the report of "
            "that metric alone and takes the options of [`report`](df_scorio_report.md); "
            f"`{CATEGORY}.pass_at_k(4)` is an [expression](expr_scorio.md).",
            (
                *(Entry(f"ps.{name}", each) for name, each in EXPORTED.items()),
                *named("ps.spectrum_weights", ps.spectrum_weights, *ps.spectrum_weights.__all__),
                Entry("metric.expr", ps.Metric.expr),
                Entry("metric.posterior_expr", ps.Metric.posterior_expr),
                *named("ps", ps, "Metric", "Summary"),
            ),
        ),
        Part(
            "Decisions",
            "Which model is better, in which order do they come, and how many trials does it take "
            "to know? Each stratum has its own answers.",
            (
                *methods("df.scorio", DecisionMethods),
                *methods("df.scorio", GateMethods),
                *methods("df.scorio", QuestionMethods),
                *methods("df.scorio", CostMethods),
                *named("ps", ps, "rank_scores"),
                *methods("df.scorio", PlanMethods),
                *named("ps", ps, "detectable_difference"),
                *named("ps", ps, "miss_rate", "runs_to_fail"),
            ),
        ),
        Part(
            "Tables, pictures and pages",
            "What people read. Their numbers are calibrated unless one says otherwise.",
            (
                *methods("df.scorio", ReaderMethods),
                *named("ps", ps, "to_markdown", "to_latex", "to_great_table", "to_metrics"),
                *methods("df.scorio.plot", Plots),
            ),
        ),
        Part(
            "Expressions",
            "Estimates wherever Polars takes an expression: in groups, windows and time windows. "
            f"`{CATEGORY}` has the usual metrics as methods, and what follows.",
            methods(CATEGORY, ps.ScorioExpr),
        ),
        Part(
            "The logs of other tools",
            "Each reader returns the accessor with its roles set: a report is one line more, and "
            "`.frame` is the table. [The chapter](../logs.md) has a line for each tool.",
            named("ps.logs", ps.logs, *ps.logs.__all__),
        ),
        Part(
            "Rubrics",
            "From logged signals to categories. All schemata take the keywords of "
            "[`Reading`](ps_rubrics_Reading.md), the columns of their signals and the levels of "
            "their percentiles.",
            (
                *named("ps.rubrics", ps.rubrics, *rubric_names()),
                Entry("rubric.expr", ps.rubrics.Rubric.expr),
                Entry("rubric.weights", ps.rubrics.Rubric.weights),
            ),
        ),
        Part(
            "Counts, arrays and SQL",
            "Where outcomes are not the rows of a Polars frame.",
            (
                *named("ps", ps, "count_trials", "from_successes", "from_array"),
                Entry("polars_scorio.arrays.QuestionCounts", QuestionCounts),
                *methods("QuestionCounts", QuestionCounts),
                *named("ps.sql", ps.sql, "duckdb_macros", "spark_functions", "portable_query"),
            ),
        ),
        Part(
            "Tests of your own metrics and readers",
            "The contract that all metrics and readers of the package keep; "
            "[the chapter](../your_own.md) has one of each.",
            named("polars_scorio.testing", testing, "check_metric", "check_reader"),
        ),
    )


def rubric_names() -> list[str]:
    """The names of the rubrics' module, what makes and describes them before the schemata."""
    first = ["rubric", "thresholds", "schemata", "scorio_schemata", "Reading", "Rubric"]
    return [*first, *(name for name in ps.rubrics.__all__ if name not in first)]
