"""Names of metrics and intervals for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polars_scorio.arguments import InferenceKind
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.from_text import named_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.choice import inference_kind
from polars_scorio.reporting.options import InferenceOptions

# What the intervals of a leaderboard or a picture rest on.
_INFERENCES = {
    "calibrated": "calibrated",
    "pooled": "fitted population",
    "published": "uniform prior, as published",
}


def row_heading(name: str, k: int | None, trials: int | None = None) -> str:
    """Metric of a row of a report, as people write it.

    A frame holds the name of a metric, not the metric; the name of one of this package is what one
    types to get it.

    Parameters
    ----------
    name : str
        Its name in a report.
    k : int or None
        Its draw size; for a curve over thresholds, the threshold.
    trials : int, optional
        Trials of each question, if all have the same number.

    Examples
    --------
    >>> row_heading("pass_at_k", 4), row_heading("bayes", None, 8), row_heading("my_score", 4)
    ('Pass@4', 'Bayes@8', 'my_score, k = 4')
    >>> row_heading("tail_pass(k=8)", 3)  # a curve, of which this is the third threshold
    'TailPass@8 (t=3)'
    """
    metric = named_metric(name, k)
    if metric is not None:
        return metric.heading(k, trials)
    return name if k is None else f"{name}, k = {k:,}"


def column_heading(name: str, trials: int | None = None) -> str:
    """Column of a report with metrics as columns, as people write its metric.

    Examples
    --------
    >>> column_heading("pass_hat_k_4"), column_heading("bayes", 8), column_heading("my_score")
    ('Pass^4', 'Bayes@8', 'my_score')
    """
    function, _, k = name.rpartition("_")
    metric = named_metric(function, int(k)) if k.isdecimal() else named_metric(name, None)
    return name if metric is None else metric.heading(metric.row_sizes[0], trials)


def inference_words(
    options: InferenceOptions | Mapping[str, object], metrics: Sequence[Metric]
) -> str:
    """Inference and target of the intervals of some metrics, in words.

    Posterior means are never calibrated, votes always are. About a population, neither are blends
    of the whole benchmark.

    >>> from polars_scorio.metrics.weighted import avg, bayes
    >>> inference_words({"inference": "pooled", "target": "population"}, [avg()])
    'fitted population, questions as a sample'
    >>> inference_words({"inference": "calibrated", "anytime": 16}, [avg()])
    'calibrated, which hold at every look (planned: 16 trials a question)'
    >>> for metrics in ([avg()], [avg(), bayes()], [bayes()]):
    ...     inference_words({"inference": "calibrated"}, metrics)
    'calibrated'
    'calibrated (Bayes@N: fitted population)'
    'fitted population'
    """
    chosen: InferenceKind | None = options.get("inference")  # type: ignore[assignment]  # checked by the report
    target: Target = options.get("target") or "benchmark"  # type: ignore[assignment]  # as above
    if chosen is None and options.get("prior") is not None:
        chosen = "published"  # as `InferenceChoice.inference_of`
    kinds = {metric: inference_kind(metric, chosen, target) for metric in metrics}
    wanted = chosen or "calibrated"
    first = wanted if wanted in kinds.values() or not kinds else next(iter(kinds.values()))
    words = [_INFERENCES[first]]
    for kind in dict.fromkeys(kind for kind in kinds.values() if kind != first):
        names = ", ".join(metric.heading() for metric in metrics if kinds[metric] == kind)
        words[0] += f" ({names}: {_INFERENCES[kind]})"
    if options.get("prior") is not None:
        words.append("with prior trials")
    if options.get("target") == "population":
        words.append("questions as a sample")
    if options.get("anytime") is not None:
        planned = "questions" if target == "population" else "trials a question"
        words.append(f"which hold at every look (planned: {options['anytime']:,} {planned})")
    return ", ".join(words)


def interval_words(confidence: float, inference: str) -> str:
    """Kind and confidence of intervals, in words.

    >>> interval_words(0.95, "calibrated"), interval_words(0.9, "fitted population")
    ('calibrated 95 % intervals', '90 % intervals (fitted population)')
    >>> interval_words(0.95, "calibrated (Bayes@N: fitted population)")
    'calibrated 95 % intervals (Bayes@N: fitted population)'
    """
    level, calibrated = f"{100 * confidence:.6g} %", _INFERENCES["calibrated"]
    if inference.startswith(calibrated):
        return f"calibrated {level} intervals{inference.removeprefix(calibrated)}"
    return f"{level} intervals ({inference})"
