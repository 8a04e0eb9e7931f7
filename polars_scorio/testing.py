"""The contracts of a metric and of a reader of your own, as functions that your tests call.

Each raises an AssertionError with a sentence on what is broken, and else returns nothing. The
metrics and readers of the package keep the same contracts.
"""

from __future__ import annotations

import copy
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.testing import assert_frame_equal

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Per
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.request import RoleOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NEAR = 1e-9  # of the range of a metric
_KEYS = ["part", "model"]


def check_metric(metric: Metric, *further: Metric, **roles: Unpack[RoleOptions]) -> None:
    """Check that a metric keeps its contract in reports; several are asked for together.

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
        With the metric, what is broken, and where.

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
    earlier = _made_log(categories, range(3, 8))
    for prior in (None, "uniform", earlier):
        asked = [m for m in metrics if (m.calibrated if prior is None else _has_range(m))]
        if asked:
            _Reports({each.name: each for each in asked}, categories, prior, roles).check()


def _has_range(metric: Metric) -> bool:
    """Whether a metric has a largest value: others have no posterior."""
    return math.isfinite(metric.support[1])


def _made_log(
    categories: Sequence[Any], questions: range, most: int = 4, only: int | None = None
) -> pl.DataFrame:
    """Three models in two parts, up to `most` trials of a question; all end as `only` says."""
    rows = []
    for part, model, question in product("ab", "xyz", questions):
        for trial in range(1 + (question + ord(model)) % most):
            mixed = (trial + (trial + ord(model)) * question + ord(part)) % len(categories)
            category = categories[mixed if only is None else only]
            rows.append((part, model, question, trial, category))
    return pl.DataFrame(rows, schema=[*_KEYS, "question", "trial", "category"], orient="row")


@dataclass(frozen=True, slots=True, eq=False)
class _Reports:
    """Reports of some metrics on logs that are made, under one prior."""

    metrics: dict[str, Metric]
    categories: Sequence[Any]
    prior: Any
    roles: RoleOptions

    def report(
        self, log: pl.DataFrame | pl.LazyFrame, per: Per = "model", count: str | None = None
    ) -> pl.DataFrame:
        """The rows of all metrics."""
        prior = self.prior
        if count and isinstance(prior, pl.DataFrame):
            prior = Scorio(prior)(by="part").counts()
        roles: dict[str, Any] = {"by": "part", "success": self.categories[-1], **self.roles}
        asked = Scorio(log)(**roles, count=count, validate=False)  # type: ignore[type-var]  # either
        return asked.report(*self.metrics.values(), prior=prior, per=per).lazy().collect()

    def check(self) -> None:
        """Check the contract."""
        log = _made_log(self.categories, range(5))
        rows = self.report(log)
        self.check_numbers(rows, log)
        turned = log.sample(fraction=1, shuffle=True, seed=1)
        self.same(self.report(turned), rows, "another order of the rows gives other numbers")
        self.same(self.report(log.lazy()), rows, "a lazy log gives other numbers")
        alone = [self.report(part) for _, part in log.group_by(_KEYS, maintain_order=True)]
        self.same(pl.concat(alone), rows, "numbers of a model depend on others", rounded=True)
        if self.prior is not None:
            counts = Scorio(log)(by="part").counts()
            self.same(self.report(counts, count="count"), rows, "counts give other numbers")
        if isinstance(self.prior, pl.DataFrame):
            return
        for most, only in product((1, 8), (0, -1, None)):
            extreme = _made_log(self.categories, range(2), most, only)
            self.check_numbers(self.report(extreme), extreme)
        if self.prior is not None:
            means = pl.col("metric").is_in([n for n, m in self.metrics.items() if m.per_question])
            keys = [name for name in (*_KEYS, "metric", "k", "t") if name in rows.columns]
            value = pl.col("estimate")
            known = pl.when(value.null_count() == 0).then(value.mean())
            mean = self.report(log, "question").filter(means).group_by(keys).agg(known)
            expected = rows.filter(means).select(mean.columns)
            self.same(mean, expected, "its mean over the questions is another", rounded=True)

    def same(
        self, rows: pl.DataFrame, expected: pl.DataFrame, broken: str, *, rounded: bool = False
    ) -> None:
        """Check that two reports have the same rows, to the bit unless sums may be `rounded`."""
        keys = [name for name in (*_KEYS, "k", "t") if name in rows.columns]
        for name in self.metrics:
            one, other = (each.filter(metric=name).sort(keys) for each in (rows, expected))
            try:
                assert_frame_equal(
                    one, other, check_exact=not rounded, rel_tol=1e-12, abs_tol=1e-14
                )
            except AssertionError as error:
                raise AssertionError(f"{name}: {broken}: {error}") from error

    def check_numbers(self, rows: pl.DataFrame, log: pl.DataFrame) -> None:
        """Check the numbers of each row by themselves."""
        sizes = log.group_by(*_KEYS, "question").len("n").group_by(_KEYS).agg(pl.col("n").min())
        for row in rows.join(sizes, on=_KEYS).iter_rows(named=True):
            for broken in _broken_numbers(row, self.metrics[row["metric"]]):
                where = f"{row['metric']}, k={row['k']}, of {row['n']} trials, prior={self.prior!r}"
                raise AssertionError(f"{where}: {broken}")


def _broken_numbers(row: dict[str, Any], metric: Metric) -> Iterator[str]:
    """Sentences on what is wrong with the numbers of a row."""
    estimate, sigma, lo, hi = (row[name] for name in ("estimate", "sigma", "lo", "hi"))
    mu, drawn = row.get("mu", estimate), row["k"]
    (low, high), near = metric.support, _NEAR * metric.unit
    if drawn is not None and _has_range(metric) and (estimate is None) != (drawn > row["n"]):
        yield f"the estimate is {estimate}: it is NaN if k exceeds the trials, and only then"
    for name, value in {"estimate": estimate, "mu": mu}.items():
        if value is not None and not low - near <= value <= high + near:
            yield f"{name} is {value}, outside its range from {low} to {high}"
    if estimate is None or not _has_range(metric):
        return
    if not (sigma is not None and 0 <= sigma < math.inf):
        yield f"sigma is {sigma}, and a standard deviation is a number from 0 on"
    elif not (None not in {lo, hi} and lo - near <= mu <= hi + near):
        yield f"the interval from {lo} to {hi} does not contain mu, {mu}"


def check_reader(
    reader: Callable[..., Scorio[Any]], file: str | Path, folder: str | Path | None = None
) -> None:
    """Check that a reader of the logs of a tool keeps its contract.

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

    Examples
    --------
    >>> from polars_scorio.testing import check_reader
    >>> check_reader(my_reader, "tests/data/trials.jsonl")  # doctest: +SKIP
    """
    root = Path(file).parent if folder is None else Path(folder)
    log = reader(root)
    _must_hold(isinstance(log, Scorio), "the reader returns no accessor: end it with .scorio(...)")
    rows = _trials_of(log)
    _must_hold(rows.height > 0, "the reader finds no trial")
    _must_hold(_trials_of(reader(root)).equals(rows), "it gives other trials the second time")
    listed = _trials_of(reader([str(file)]))
    _must_hold(listed.height == rows.height, "a list of files gives others than their folder")
    named = _trials_of(reader(root, model="someone")).get_column("model", default=pl.Series())
    _must_hold({*named} == {"someone"}, 'model="someone" does not name the model')
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
