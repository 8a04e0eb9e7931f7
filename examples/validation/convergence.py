"""Seconds and peak memory of convergence@n. Run it with --help."""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import polars_scorio as ps
from polars_scorio.maths.posteriors import SeparatePosteriors
from polars_scorio.maths.prefix_rankings import ranking_convergence
from polars_scorio.maths.questions import Outcomes

BINARY = [ps.pass_at_k(8), ps.pass_hat_k(8), ps.maj_at_k(8), ps.maj_at_k(), ps.geom_ds_at_k(8)]


def log(models: int, questions: int, trials: int, classes: int) -> Outcomes:
    """Models from weak to strong; questions of all difficulties."""
    random = np.random.default_rng(1)
    size = models * questions
    strength = np.repeat(np.linspace(0.5, 2, models), questions)
    rate = random.beta(strength, 1)
    outcomes = random.binomial(classes - 1, rate[:, None], (size, trials)).ravel()
    prior = np.zeros((size, classes), dtype=np.int64)
    group = np.repeat(np.arange(models), questions)
    return Outcomes(outcomes, np.arange(size + 1) * trials, group, models, prior)


def main() -> None:
    """One line for each metric and scheme."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (
        ("models", 20), ("questions", 30), ("trials", 80), ("replicates", 10_000), ("classes", 2)
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--schemes", nargs="+", default=["trial", "question"])
    parser.add_argument("--only", help="a metric by name")
    options = parser.parse_args()
    outcomes = log(options.models, options.questions, options.trials, options.classes)
    w = None if options.classes == 2 else range(options.classes)
    metrics = [ps.bayes(w), ps.avg(w), *(BINARY if options.classes == 2 else [])]
    print("| metric | k | scheme | seconds | on the CPU | peak memory so far, MB | never |")
    print("|---|---|---|---|---|---|---|")
    for metric in metrics:
        if options.only not in (None, metric.name):
            continue
        for scheme in options.schemes:
            start, start_cpu = time.perf_counter(), time.process_time()
            result = ranking_convergence(
                outcomes,
                lambda states, metric=metric: (
                    metric.summary(SeparatePosteriors(states), metric.k[0]).mu
                ),
                replicates=options.replicates,
                scheme=scheme,
                rng=np.random.default_rng(0),
            )
            seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            times = f"{seconds:.1f} | {cpu:.1f} | {peak:.0f} | {result.never:.4f}"
            print(f"| {metric.name} | {metric.k[0]} | {scheme} | {times} |")


if __name__ == "__main__":
    main()
