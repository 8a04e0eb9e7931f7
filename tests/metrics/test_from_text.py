"""Metrics that are read from texts: those of Python, and nothing that runs."""

import re

import pytest

import polars_scorio as ps
from polars_scorio.metrics.from_text import read_metric


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("bayes", ps.bayes()),
        ("avg()", ps.avg()),
        ("pass_at_k(4)", ps.pass_at_k(4)),
        (" ps.pass_hat_k([1, 2, 4], bounds=None) ", ps.pass_hat_k([1, 2, 4], bounds=None)),
        ("pass_at_k(range(1, 9))", ps.pass_at_k(range(1, 9))),
        ("bayes(w={'C': 1, 'P': 0.5, 'I': 0})", ps.bayes(w={"C": 1, "P": 0.5, "I": 0})),
        ("max_at_k(2, [-1, 0, 1])", ps.max_at_k(2, [-1, 0, 1])),
        ("g_pass_at_k_tau(k=4, tau=.5)", ps.g_pass_at_k_tau(4, 0.5)),
    ],
)
def test_a_metric_as_one_types_it(text, metric):
    assert read_metric(text) == metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass_at_k(4", "pass_at_k(4 is no metric"),
        ("", " is no metric"),
        ("pass_at_n(4)", "there is no metric pass_at_n: did you mean 'pass_at_k'?"),
        ("xyz", "there is no metric xyz, only auc_at_k, avg, bayes"),
        ("Metric()", "there is no metric Metric"),
        ("pass_at_k(0)", "k must be a positive int"),
        ("pass_at_k()", "say how many trials are drawn, as in pass_at_k(4)"),
        ("pass_at_k(4, m=2)", "m"),
        ("pass_at_k(**{'k': 4})", "write keywords out"),
        ("pass_at_k(open('x'))", "open('x') is no number, word, list or dict"),
        ("pass_at_k(range(1, step=2))", "is no number"),
        ("pass_at_k([k for k in (1, 2)])", "is no number"),
        ("__import__('os').system('true')", "there is no metric __import__"),
        ("pass_at_k(4).name", "there is no metric pass_at_k(4).name"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_metric(text)
