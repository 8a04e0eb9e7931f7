"""Does a draw succeed at all, does it succeed throughout? Pass@k, Pass^k and its other names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.metrics.metric import (
    UNIT,
    Bounds,
    Description,
    DrawMetric,
    DrawSizes,
    draw_metric,
    with_parameter_help,
)

P = ParamSpec("P")


@with_parameter_help
def pass_at_k(k: DrawSizes, *, bounds: Bounds | None = UNIT, name: str | None = None) -> DrawMetric:
    """Pass@k: share of draws of k trials with at least one success [1]_.

    Raises
    ------
    ValueError
        If `k` is not positive, or `bounds` are reversed.

    Notes
    -----
    If c of n trials succeeded, the estimate of a question is 1 - C(n - c, k) / C(n, k); the result
    is the mean over the questions. With a ``prior=(alpha, beta)``, p ~ Beta(alpha + c,
    beta + n - c); mu and sigma are those of the mean of 1 - (1 - p)^k over the questions.

    References
    ----------
    .. [1] M. Chen et al. (2021), Evaluating Large Language Models Trained on Code,
       arXiv:2107.03374, eq. 1.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.pass_at_k([1, 2]))
    >>> report.select("k", pl.col("estimate").round(4)).rows()
    [(1, 0.75), (2, 1.0)]
    """
    described = Description(
        "pass_at_k", "Pass@{k}", "1 - C(n - c, k) / C(n, k): at least one of k trials succeeds"
    )
    return draw_metric(described, any_success, k, bounds, name)


@with_parameter_help
def pass_hat_k(
    k: DrawSizes, *, bounds: Bounds | None = UNIT, name: str | None = None
) -> DrawMetric:
    """Pass^k: share of draws of k trials that all succeed [1]_.

    Notes
    -----
    If c of n trials succeeded, the estimate of a question is C(c, k) / C(n, k); the result is the
    mean over the questions. mu and sigma are those of the mean of p^k, with the posterior of
    `pass_at_k`. `unanimous_at_k` and `g_pass_at_k` are other published names of this metric.

    References
    ----------
    .. [1] S. Yao et al. (2024), tau-bench, arXiv:2406.12045.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.pass_hat_k([1, 2]))
    >>> report.select("k", pl.col("estimate").round(4)).rows()
    [(1, 0.75), (2, 0.5)]
    """
    described = Description("pass_hat_k", "Pass^{k}", "C(c, k) / C(n, k): all k trials succeed")
    return draw_metric(described, all_success, k, bounds, name)


_ALIAS = """{title}: share of draws whose k trials all succeed [1]_. `pass_hat_k` by another name.

Notes
-----
All numbers are those of `pass_hat_k`: C(c, k) / C(n, k) if c of n trials succeeded.

References
----------
.. [1] {source}

Examples
--------
>>> import polars_scorio as ps
>>> ps.{name}(4).name
'{name}'
"""


def _alias_of(
    metric: Callable[P, DrawMetric], name: str, title: str, source: str
) -> Callable[P, DrawMetric]:
    """Another published name of a metric, which results show if it was called."""

    @wraps(metric)
    def named(*arguments: P.args, **options: P.kwargs) -> DrawMetric:
        return replace(metric(*arguments, **options), function=name, title=f"{title}@{{k}}")

    named.__name__ = named.__qualname__ = name
    named.__doc__ = _ALIAS.format(title=f"{title}@k", name=name, source=source)
    return with_parameter_help(named)


_LIU = (
    "J. Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147: tau = 1."
)
_GEOM = """scorio 0.2.3, where it is an alias of `pass_hat_k`, which comes from S. Yao et al.
   (2024), tau-bench, arXiv:2406.12045. *Geom@k: Stable Evaluation and Fast Rank Recovery for
   LLM Reasoning* blends it with Pass@k."""

g_pass_at_k = _alias_of(pass_hat_k, "g_pass_at_k", "G-Pass", _LIU)
unanimous_at_k = _alias_of(pass_hat_k, "unanimous_at_k", "Unanimous", _GEOM)
