"""What metrics and intervals are called where people read of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from polars_scorio.arguments import InferenceKind
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.options import InferenceOptions

# Metrics as people write them; a metric with another name keeps it.
_SPOKEN = {
    "avg": "avg@{n}",
    "bayes": "Bayes@{n}",
    "pass_at_k": "Pass@{k}",
    "pass_hat_k": "Pass^{k}",
    "unanimous_at_k": "Unanimous@{k}",
    "g_pass_at_k": "G-Pass@{k}",
    "g_pass_at_k_tau": "G-Pass@{k}",
    "mg_pass_at_k": "mG-Pass@{k}",
    "maj_at_k": "Maj@{k}",
    "auc_at_k": "AUC@{k}",
    "max_at_k": "Max@{k}",
    "vote_at_k": "Vote@{k}",
    "geom_at_k": "Geom@{k}",
    "geom_ds_at_k": "Geom-DS@{k}",
    "geo_spectrum_at_k": "Geo-Spectrum@{k}",
    "geo_spectrum_star_at_k": "Geo-Spectrum*@{k}",
    "threshold_spectrum_at_k": "Threshold-Spectrum@{k}",
}
# The curve over thresholds, whose draw size is in its name.
_CURVE = re.compile(r"tail_pass\(k=(\d+)(?:, )?(.*)\)")
_CURVE_COLUMN = re.compile(r"tail_pass_k_(\d+)_(\d+)")
# How a leaderboard names them: with the draw size at the end.
_COLUMN = re.compile(rf"({'|'.join(sorted(_SPOKEN, key=len, reverse=True))})(?:_(\d+))?")

# What the intervals of a leaderboard or a picture rest on.
_INFERENCES = {
    "calibrated": "calibrated",
    "pooled": "fitted population",
    "published": "uniform prior, as published",
}


def spoken(name: str, k: int | None, trials: int | None = None) -> str:
    """A metric as people write it.

    Parameters
    ----------
    name : str
        Its name in a report.
    k : int or None
        Its draw size.
    trials : int, optional
        Trials of each question, where all have the same number.

    Examples
    --------
    >>> spoken("pass_at_k", 4), spoken("bayes", None, 8), spoken("g_pass_at_k_tau(tau=0.5)", 4)
    ('Pass@4', 'Bayes@8', 'G-Pass@4 (tau=0.5)')
    >>> spoken("tail_pass(k=8)", 3)  # a curve, of which this is the third threshold
    'TailPass@8 (t=3)'
    """
    curve = _CURVE.fullmatch(name)
    if curve is not None:
        drawn, more = curve.groups()
        shown = [*([] if k is None else [f"t={k}"]), *([more] if more else [])]
        return f"TailPass@{drawn}" + f" ({', '.join(shown)})" * bool(shown)
    function, bracket, arguments = name.partition("(")
    if function not in _SPOKEN:
        return name if k is None else f"{name}, k = {k:,}"
    size = ("n" if "{n}" in _SPOKEN[function] else "k") if k is None else k
    written = _SPOKEN[function].format(k=size, n=trials or "N")
    return f"{written} ({arguments}" if bracket else written


def spoken_column(name: str, trials: int | None = None) -> str:
    """The column of a leaderboard as people write its metric.

    >>> spoken_column("pass_hat_k_4"), spoken_column("bayes", 8), spoken_column("my_score")
    ('Pass^4', 'Bayes@8', 'my_score')
    """
    curve = _CURVE_COLUMN.fullmatch(name)
    if curve is not None:
        drawn, t = curve.groups()
        return spoken(f"tail_pass(k={drawn})", int(t))
    found = _COLUMN.fullmatch(name)
    if found is None:
        return name
    function, k = found.groups()
    return spoken(function, None if k is None else int(k), trials)


def inference_words(
    options: InferenceOptions | Mapping[str, object], metrics: Sequence[Metric]
) -> str:
    """What intervals of some metrics rest on, and what they are about.

    Posterior means are never calibrated, votes always are.

    >>> from polars_scorio.metrics.weighted import avg, bayes
    >>> inference_words({"inference": "pooled", "target": "population"}, [avg()])
    'fitted population, questions as a sample'
    >>> for metrics in ([avg()], [avg(), bayes()], [bayes()]):
    ...     inference_words({"inference": "calibrated"}, metrics)
    'calibrated'
    'calibrated (Bayes@N: fitted population)'
    'fitted population'
    """
    inference: InferenceKind = options.get("inference") or "published"  # type: ignore[assignment]  # checked by the report
    other = "pooled" if inference == "calibrated" else inference
    kinds = ["calibrated" if metric.priced(inference) else other for metric in metrics]
    first = inference if inference in kinds or not kinds else kinds[0]
    words = [_INFERENCES[first]]
    rest = [metric for metric, kind in zip(metrics, kinds, strict=True) if kind != first]
    if rest:
        names = ", ".join(spoken(metric.name, None) for metric in rest)
        words[0] += f" ({names}: {_INFERENCES[other if first == 'calibrated' else 'calibrated']})"
    if options.get("prior") is not None:
        words.append("with prior trials")
    if options.get("target") == "population":
        words.append("questions as a sample")
    return ", ".join(words)


def interval_words(confidence: float, inference: str) -> str:
    """What is in brackets, or between the ends of a line.

    >>> interval_words(0.95, "calibrated"), interval_words(0.9, "fitted population")
    ('calibrated 95 % intervals', '90 % intervals (fitted population)')
    >>> interval_words(0.95, "calibrated (Bayes@N: fitted population)")
    'calibrated 95 % intervals (Bayes@N: fitted population)'
    """
    level, calibrated = f"{100 * confidence:.10g} %", _INFERENCES["calibrated"]
    if inference.startswith(calibrated):
        return f"calibrated {level} intervals{inference.removeprefix(calibrated)}"
    return f"{level} intervals ({inference})"
