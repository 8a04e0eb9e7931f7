"""What a number on the page rests on: formulas, options, version, and a hash of the counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import polars as pl

from polars_scorio.display.html.labels import spoken
from polars_scorio.display.settings import Settings
from polars_scorio.metrics.metric import Metric

# Of a question with n trials, c of them successes, from which k are drawn; then the mean over the
# questions. J is the number of successes of a draw.
_FORMULAS = {
    "avg": "the mean weight of the trials of a question",
    "bayes": "the posterior mean of the expected weight of a trial",
    "pass_at_k": "1 - C(n - c, k) / C(n, k): at least one of k trials succeeds",
    "pass_hat_k": "C(c, k) / C(n, k): all k trials succeed",
    "unanimous_at_k": "C(c, k) / C(n, k): all k trials succeed",
    "g_pass_at_k": "C(c, k) / C(n, k): all k trials succeed",
    "g_pass_at_k_tau": "P(J >= tau k): at least the share tau of k trials succeeds",
    "mg_pass_at_k": "E[2/k max(J - ceil(k/2), 0)]: how far the successes exceed half",
    "maj_at_k": "P(J >= floor(k/2) + 1): most of k trials succeed",
    "auc_at_k": "the area under Pass@1, ..., Pass@k",
    "threshold_spectrum_at_k": "E[w_1 + ... + w_J]: a weight for each success of a draw",
    "geom_at_k": "Pass@k and Pass^k of each question, as a geometric mean",
    "geom_ds_at_k": "Pass@k and Pass^k of the benchmark, as a geometric mean",
    "geo_spectrum_at_k": "Pass@k and a threshold spectrum of the benchmark, as a geometric mean",
    "geo_spectrum_star_at_k": "Pass@k and mG-Pass@k of the benchmark, as a geometric mean",
    "max_at_k": "E[the largest reward of k trials]",
}
_TARGETS = {
    "benchmark": "these very questions",
    "population": "the population of questions that these are a sample of",
}


@dataclass(frozen=True, slots=True)
class About:
    """How a page was made.

    Attributes
    ----------
    facts : dict of str
        What was assumed, and by what it was made.
    formulas : dict of str
        Metrics as people write them, and their formula in a line.
    """

    facts: dict[str, str]
    formulas: dict[str, str]


def about(
    counts: pl.DataFrame,
    metrics: Sequence[Metric],
    settings: Settings,
    *,
    call: str,
    version: str,
    now: datetime | None = None,
) -> About:
    """How the page of some counts was made.

    Parameters
    ----------
    counts : DataFrame
        The counts of the log, in a fixed order.
    metrics : sequence of Metric
        What it reports.
    settings : Settings
        Its options.
    call : str
        The call that makes it again.
    version : str
        Of the package.
    now : datetime, optional
        When; default: `build_time`.
    """
    when = (now or build_time()).strftime("%Y-%m-%d %H:%M UTC")
    facts = {
        "intervals": settings.intervals,
        "prior": settings.prior,
        "target": _TARGETS[settings.target],
        "made by": f"polars-scorio {version}, polars {pl.__version__}",
        "made on": when,
        "call": call,
        "counts, SHA-256": fingerprint(counts),
    }
    return About(facts, formulas(metrics))


def build_time() -> datetime:
    """When a page is made: now, or the time that SOURCE_DATE_EPOCH sets for reproducible builds.

    Raises
    ------
    ValueError
        If SOURCE_DATE_EPOCH is set to something else than seconds since 1970.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(timezone.utc)
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be whole seconds since 1970, got {epoch!r}: set it so, or "
            "unset it"
        ) from None


def formulas(metrics: Sequence[Metric]) -> dict[str, str]:
    """Metrics as people write them, with their formula; without those that were renamed.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> formulas([ps.pass_hat_k([2, 4])])
    {'Pass^k': 'C(c, k) / C(n, k): all k trials succeed'}
    """
    found = {}
    for metric in metrics:
        formula = _FORMULAS.get(metric.name.partition("(")[0])
        if formula:
            name = spoken(metric.name, None).replace("@N", "@k" if metric.k[0] else "@N")
            found[name.replace("^N", "^k")] = formula
    return found


def fingerprint(counts: pl.DataFrame) -> str:
    """A hash of the counts: the same for the same trials, in whatever order, anywhere.

    Examples
    --------
    >>> fingerprint(pl.DataFrame({"category": [0, 1], "count": [3, 5]}))[:12]
    'bbce923d941b'
    """
    return hashlib.sha256(counts.write_csv().encode()).hexdigest()
