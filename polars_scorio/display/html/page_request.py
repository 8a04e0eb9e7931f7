"""The request for a page, and the call that repeats it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.roles import Category, Roles
from polars_scorio.display.installed_version import installed_version
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.request import check_metrics


@dataclass(frozen=True, slots=True)
class Order:
    """Metrics, options and title of a page.

    Attributes
    ----------
    metrics : tuple of Metric
        What to report; none: what suits the log.
    settings : Settings
        How.
    title, call, version : str
        What the page says about itself.
    baseline : category or None
        The model that all others are compared with.
    """

    metrics: tuple[Metric, ...]
    settings: Settings
    title: str
    call: str
    version: str
    baseline: Category | None = None

    @classmethod
    def of(
        cls,
        metrics: Sequence[Metric],
        settings: Settings,
        roles: Roles,
        name: str,
        *,
        title: str | None = None,
        call: str | None = None,
        baseline: Category | None = None,
    ) -> Order:
        """Request of a method or a command.

        Parameters
        ----------
        metrics, settings, title
            As above; without a title the name of the file is it.
        roles : Roles
            Which column plays which part.
        name : str
            Of the file.
        call : str, optional
            The command; default: the call of the method.
        baseline : category, optional
            As above.
        """
        if not isinstance(baseline, Category | None):
            raise TypeError(f"baseline must be a model or None, got {value_text(baseline)}")
        if metrics:
            check_metrics(metrics, "write_html")
        against = [] if baseline is None else [f"baseline={baseline!r}"]
        typed = [repr(name), *map(str, metrics), *against, *_typed_keywords(settings)]
        call = call or _typed_call(roles, typed)
        return cls(tuple(metrics), settings, title or name, call, installed_version(), baseline)


def _typed_call(roles: Roles, arguments: Sequence[str]) -> str:
    named = f"({', '.join(_typed_keywords(roles))})" if _typed_keywords(roles) else ""
    return f"df.scorio{named}.write_html({', '.join(arguments)})"


def _typed_keywords(options: Roles | Settings) -> list[str]:
    """The options that differ from their defaults, as one would type them."""
    given = [(part.name, getattr(options, part.name), part.default) for part in fields(options)]
    return [
        f"{name}={_typed_option(value)}"
        for name, value, usual in given
        if repr(value) != repr(usual)
    ]


def _typed_option(value: object) -> str:
    """A value as one would type it: a single one of several without brackets."""
    if isinstance(value, tuple) and len(value) == 1:
        return _typed_option(value[0])
    return str(value) if isinstance(value, pl.Expr) else repr(value)
