"""The contracts of a metric and of a reader of your own, as functions that your tests call.

Each raises an AssertionError with a sentence on what is broken, and else returns nothing. The
metrics and readers of the package keep the same contracts.
"""

from __future__ import annotations

import copy
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Per, row_place, value_text
from polars_scorio.metrics.metric import NUMBERS, Metric
from polars_scorio.study.request import Frame, RoleOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KEYS = ("part", "model", "question", "metric", "k", "t")


def check_metric(metric: Metric, *further: Metric, **roles: Unpack[RoleOptions]) -> None:
    """Contract of a metric, checked in reports on made logs; several metrics are asked together.

    A metric is a value: a copy equals it. Its estimate is null where k exceeds the trials of a
    question, and nowhere else if it has a k. Numbers are finite and inside its range, also where
    all trials fail or succeed. They do not depend on the order of the rows or on other models, and
    are the same for lazy logs and for counts. The estimate of a model is the mean over its
    questions, unless `per_question` is False.

    Parameters
    ----------
    metric, *further : Metric
        The metrics.
    **roles
        Roles that they need beside these: by="part", model, question, trial and category, which
        are the columns of the logs that are made.

    Raises
    ------
    AssertionError
        With the metric, the model or question, what is broken, the number and the expected one.

    See Also
    --------
    check_reader : The contract of a reader.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> from polars_scorio.testing import check_metric
    >>> check_metric(ps.pass_at_k([1, 4]))
    """
    metrics = (metric, *further)
    for each in metrics:
        twin = copy.deepcopy(each)
        same = each == twin and hash(each) == hash(twin)
        _must_hold(same, f"{each!r} differs from its copy: make it a frozen dataclass of values")
    categories = sorted({category for each in metrics for category, _ in each.w or ()}) or [0, 1]
    usual = {"by": "part", "success": categories[-1], "validate": False, **roles}
    for prior in (None, "uniform", _made_log(categories, range(1, 8))):
        # Metrics without a largest value have no posterior.
        asked = [m for m in metrics if (m.calibrated if prior is None else m.support[1] < math.inf)]
        if asked:
            _Reports({each.name: each for each in asked}, categories, usual, prior).check()


def _made_log(
    categories: Sequence[Any], questions: range, most: int = 4, only: int | None = None
) -> pl.DataFrame:
    """Three models in two parts, up to `most` trials of a question; all end as `only` says."""
    rows = [
        (part, model, question, trial, categories[mixed if only is None else only], 1)
        for part, model, question in product("ab", "xyz", questions)
        for trial in range(1 + (question + ord(model)) % most)
        for mixed in [(trial + (trial + ord(model)) * question + ord(part)) % len(categories)]
    ]
    return pl.DataFrame(rows, schema=[*_KEYS[:3], "trial", "category", "count"], orient="row")


@dataclass(frozen=True, slots=True, eq=False)
class _Reports:
    """Reports of some metrics on logs that are made, under one prior."""

    metrics: Mapping[str, Metric]
    categories: Sequence[Any]
    roles: Mapping[str, Any]
    prior: Any

    def rows(self, log: Frame, per: Per = "model", count: str | None = None) -> pl.DataFrame:
        """The rows of all metrics."""
        asked = Scorio(log)(**self.roles, count=count)  # type: ignore[type-var]  # of either kind
        return asked.report(*self.metrics.values(), prior=self.prior, per=per).lazy().collect()

    def check(self) -> None:
        """Check the contract."""
        log = _made_log(self.categories, range(5))
        rows, turned = self.sound_rows(log), log.sample(fraction=1, shuffle=True, seed=1)
        _check_same(rows, self.rows(turned), "another order of the rows gives other numbers")
        _check_same(rows, self.rows(log.lazy()), "a lazy log gives other numbers")
        alone = [self.rows(part) for _, part in log.group_by("part", "model")]
        _check_same(rows, pl.concat(alone), "numbers of a model depend on others", 1e-12)
        for most, only in product((1, 8), (0, -1, None)):
            self.sound_rows(_made_log(self.categories, range(2), most, only))
        if self.prior is not None:
            counts = self.rows(Scorio(log)(by="part").counts(), count="count")
            _check_same(rows, counts, "counts give other numbers")
            named = pl.col("metric").is_in([n for n, m in self.metrics.items() if m.per_question])
            keys, value = [key for key in _KEYS if key in rows.columns], pl.col("estimate")
            mean = pl.when(value.null_count() == 0).then(value.mean())
            means = self.sound_rows(log, "question").filter(named).group_by(keys).agg(mean)
            whole = rows.filter(named).select(means.columns)
            _check_same(means, whole, "it is not the mean over the questions", 1e-12)

    def sound_rows(self, log: pl.DataFrame, per: Per = "model") -> pl.DataFrame:
        """The rows of all metrics, whose numbers are checked each by itself."""
        rows, keys = self.rows(log, per), [*_KEYS[: 2 if per == "model" else 3]]
        sizes = log.group_by(_KEYS[:3]).len("n").group_by(keys).agg(pl.col("n").min())
        for row in rows.join(sizes, on=keys, maintain_order="left").iter_rows(named=True):
            for broken in _broken_numbers(row, self.metrics[row["metric"]]):
                place = row_place(row, [*keys, "metric", "k"])
                raise AssertionError(f"{broken},{place}, prior={value_text(self.prior)}")
        return rows


def _broken_numbers(row: Mapping[str, Any], metric: Metric) -> Iterator[str]:
    """Sentences on what is wrong with the numbers of a row."""
    estimate, sigma, lo, hi = (row[name] for name in ("estimate", "sigma", "lo", "hi"))
    mu, k, n = row.get("mu", estimate), row["k"], row["n"]
    (low, high), near = metric.support, 1e-9 * metric.unit
    for name, value in {"estimate": estimate, "mu": mu}.items():
        if value is not None and not low - near <= value <= high + near:
            yield f"{name} is {value}, outside its range from {low} to {high}"
    if high < math.inf and k is not None and (estimate is None) != (k > n):
        yield f"the estimate is {estimate} of {n} trials: it is NaN if k exceeds them, else never"
    if high < math.inf and estimate is not None:
        if not (sigma is not None and 0 <= sigma < math.inf):
            yield f"sigma is {sigma}, and a standard deviation is a number from 0 on"
        if None in {lo, hi} or not lo - near <= mu <= hi + near:
            yield f"the interval from {lo} to {hi} does not contain mu, {mu}"


def _check_same(want: pl.DataFrame, got: pl.DataFrame, broken: str, near: float = 0.0) -> None:
    """Check that two reports have the same numbers, to the bit unless sums may be rounded."""
    keys = [key for key in _KEYS if key in want.columns]
    both = want.join(got, on=keys, how="full", coalesce=True, nulls_equal=True, suffix=":")
    for row in both.sort(keys).iter_rows(named=True):
        for name in NUMBERS:
            one, two = row.get(name, 0.0), row.get(f"{name}:", 0.0)
            known = None not in {one, two}
            same = math.isclose(one, two, rel_tol=near, abs_tol=near) if known else one == two
            what = f"{name} is {two}, expected {one},{row_place(row, keys)}"
            _must_hold(same, f"{broken}: {what}")


def check_reader(
    reader: Callable[..., Scorio[Any]], file: str | Path, folder: str | Path | None = None
) -> None:
    """Contract of a reader of the logs of a tool, checked on a small log.

    It takes a file, a list of files or a folder, gives the same trials each time, and returns an
    accessor whose columns are there. ``model=`` names the model, keywords that it does not have are
    refused, others are roles. A file that is empty or broken off, or a folder without logs, is an
    error that names it.

    Parameters
    ----------
    reader : callable
        The function: paths, then keywords.
    file : str or Path
        A small log of the tool, under the name that the tool gives to it.
    folder : str or Path, optional
        The folder that has all that the reader needs. Default: that of the file.

    Raises
    ------
    AssertionError
        With what is broken.

    See Also
    --------
    check_metric : The contract of a metric.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import polars_scorio as ps
    >>> from polars_scorio.testing import check_reader
    >>> file = Path(mkdtemp(), "a.jsonl_results.jsonl")
    >>> _ = file.write_text('{"task_id": "t", "passed": true, "result": "passed"}')
    >>> check_reader(ps.logs.human_eval, file)
    """
    root = Path(file).parent if folder is None else Path(folder)
    rows = _trials_of(reader(root))
    _must_hold(rows.height > 0, "the reader finds no trial")
    _must_hold(_trials_of(reader(root)).equals(rows), "it gives other trials the second time")
    number = _trials_of(reader([str(file)])).height
    _must_hold(number == rows.height, f"[file] gives {number} trials, its folder {rows.height}")
    named = _trials_of(reader(root, model="someone")).get_column("model", default=pl.Series())
    _must_hold({*named} == {"someone"}, f'model="someone" gives the models {[*named.unique()]}')
    _check_refusal(TypeError, "no_such_role", lambda: reader(root, no_such_role=1))
    with TemporaryDirectory() as made:
        empty = Path(made) / "empty"
        empty.mkdir()
        _check_refusal(Exception, str(empty), lambda: reader(empty))
        copied = Path(shutil.copytree(root, Path(made) / "copy"))
        broken = copied / Path(file).relative_to(root)
        whole = broken.read_bytes()
        for content in (b"", whole.rstrip()[:-3]):
            broken.write_bytes(content)
            _check_refusal(Exception, broken.name, lambda: reader(copied))


def _trials_of(log: Scorio[Any]) -> pl.DataFrame:
    """The table of a log."""
    _must_hold(isinstance(log, Scorio), "the reader returns no accessor: end it with .scorio(...)")
    log.describe().lazy().collect()  # which looks for the columns of all roles
    return log.frame.lazy().collect()  # type: ignore[no-any-return]  # of a frame of any kind


def _check_refusal(kind: type[Exception], word: str, call: Callable[[], object]) -> None:
    """Check that a call raises an error that names something."""
    try:
        call()
    except kind as error:
        _must_hold(word in str(error), f"an error of the reader does not name {word!r}: {error}")
    else:
        raise AssertionError(f"the reader takes {word!r} without an error")


def _must_hold(condition: object, broken: str) -> None:
    """Raise if a condition does not hold."""
    if not condition:
        raise AssertionError(broken)
