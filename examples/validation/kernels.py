"""CPU time of the kernels: by k, by state, and of reports by prior. Run it without arguments."""

import resource
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import polars_scorio as ps
from polars_scorio.arguments import View
from polars_scorio.counting.categories import Classes
from polars_scorio.maths.best_of import best_moments, expected_best
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    credit_moments,
    excess_over_half,
    expected_credit,
    majority_gains,
)
from polars_scorio.maths.posteriors import Pooled, draw_moments
from polars_scorio.maths.questions import States
from polars_scorio.study.posterior import PosteriorInference
from polars_scorio.subjects.question_cells import QuestionCells

CREDITS = {
    "pass": any_success,
    "majority": majority_gains,
    "mG-Pass": excess_over_half,
    "AUC": area_under_curve,
}
# Those whose cost does not grow with k.
LONG = {
    "Pass@k": any_success,
    "Pass^k": all_success,
    "AUC@k": area_under_curve,
}


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def every_state(sizes: range) -> tuple[np.ndarray, np.ndarray]:
    """All n of `sizes`, with all c: what a ragged log can hold."""
    n = np.repeat(sizes, np.array(sizes) + 1)
    return n, np.concatenate([np.arange(size + 1) for size in sizes])


def draws() -> None:
    """Estimate and moments of the binary metrics."""
    print("| credit | k | states | estimate, states/s | moments, states/s |")
    print("|---|---|---|---|---|")
    for k, sizes in ((8, range(1, 301)), (64, range(1, 301)), (1024, range(1024, 1026))):
        n, c = every_state(sizes)
        a, b = 1.0 + c, 1.0 + n - c
        for name, gains in CREDITS.items():
            drawn = gains(k)
            estimate = n.size / seconds(lambda: expected_credit(n, c, drawn))  # noqa: B023
            moments = n.size / seconds(lambda: credit_moments(a, b, drawn))  # noqa: B023
            print(f"| {name} | {k} | {n.size:,} | {estimate:,.0f} | {moments:,.0f} |")


def draws_of(k: int) -> dict[str, Callable[[], object]]:
    """Estimate and posterior of draws of k, for 45,450 states: n = 1..300 and, to be drawn, k more.

    The estimates of Pass^k are of as many failures as those of Pass@k are of successes.
    """
    n, c = every_state(range(1, 301))
    a, b = 1.0 + c, 1.0 + n - c

    def estimate(gains: Callable[[int], np.ndarray]) -> object:
        return expected_credit(n + k, n + k - c if gains is all_success else c, gains(k))

    work: dict[str, Callable[[], object]] = {}
    for name, gains in LONG.items():
        work[f"{name}, estimate"] = lambda gains=gains: estimate(gains)
        work[f"{name}, posterior"] = lambda gains=gains: credit_moments(a, b, gains(k))
    return work


def sizes() -> None:
    """What k costs."""
    print("\n| 45,450 states | k | ms | to k = 64 |\n|---|---|---|---|")
    for name, base in draws_of(64).items():
        first = seconds(base)
        for k in (64, 1_024, 32_768, 1_000_000):
            found = first if k == 64 else seconds(draws_of(k)[name])
            print(f"| {name} | {k:,} | {1000 * found:.1f} | {found / first:.2f} |")


def report_of_states() -> None:
    """Twelve metrics on all states of ragged trials, as they come to a report."""
    n, c = every_state(range(1, 301))
    counts, zero = np.column_stack([n - c, c]), np.zeros(n.size, dtype=np.int64)
    states, sizes = States.tally(counts, 0 * counts, zero, zero + 1, 1), [1, 2, 4, 8, 16]
    metrics = ps.bayes(), ps.avg(), ps.pass_at_k(sizes), ps.pass_hat_k(sizes)

    cells = QuestionCells.from_states(states, Classes((0, 1), (1,)))
    asked: list[tuple[ps.Metric, View]] = [(metric, "success") for metric in metrics]

    def report() -> None:
        PosteriorInference(0.95).numbers(asked, cells)

    print(f"\nTwelve metrics on {n.size:,} states: {1000 * seconds(report):.0f} ms")


def priors() -> None:
    """Reports under each prior, from counts: 100 strata x 1,000 questions x 100 trials."""
    random = np.random.default_rng(0)
    strata, questions, trials = 100, 1_000, 100
    c = random.binomial(trials, random.beta(0.6, 1, (strata, questions)))
    counts = pl.DataFrame(
        {
            "stratum": np.repeat(np.arange(strata), questions),
            "question": np.tile(np.arange(questions), strata),
            "1": c.ravel(),
        }
    ).with_columns((trials - pl.col("1")).alias("0"))
    log = counts.unpivot(
        ["0", "1"], index=["stratum", "question"], variable_name="category", value_name="count"
    ).with_columns(pl.col("category").cast(pl.Int64))
    print("\n| Pass@1, 4, 16, 64 | CPU s | to uniform |")
    print("|---|---|---|")
    base = None
    for prior in ("uniform", "population", None):
        accessor = log.scorio(by="stratum", model=None, count="count", prior=prior)
        found = seconds(lambda: accessor.report(ps.pass_at_k([1, 4, 16, 64])))  # noqa: B023
        base = base or found
        print(f"| {prior} | {found:.2f} | {found / base:.1f} |")


def repeated_sampling() -> None:
    """Calibrated reports of two models with 128 questions and many trials, from counts."""
    random = np.random.default_rng(0)
    print("\n| trials of 128 questions | CPU s | peak MB so far |\n|---|---|---|")
    for n in (1_000, 10_000, 100_000):
        c = random.binomial(n, random.beta(0.3, 1, 256))
        model, question = np.divmod(np.arange(256), 128)
        log = pl.DataFrame(
            {
                "model": np.repeat(model, 2),
                "question": np.repeat(question, 2),
                "category": np.tile([0, 1], 256),
                "count": np.stack([n - c, c], axis=1).ravel(),
            }
        ).scorio(count="count")
        found = seconds(lambda: log.report(ps.pass_at_k([1, 100])))  # noqa: B023
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {n:,} | {found:.2f} | {peak:,.0f} |")


def rewards() -> None:
    """Estimate and moments of Max@k for a million states of four categories."""
    random = np.random.default_rng(1)
    counts = random.multinomial(100, [0.4, 0.3, 0.2, 0.1], 1_000_000)
    w = np.array([0.0, 0.3, 0.5, 1.0])
    estimate = seconds(lambda: expected_best(counts, w, 64))
    moments = seconds(lambda: best_moments(1.0 + counts, w, 64))
    print(f"\nMax@64 of 1,000,000 states: estimate {estimate:.1f} s, moments {moments:.1f} s")


def pooling() -> None:
    """Fit and integration of a group."""
    random = np.random.default_rng(1)
    print("\n| questions x trials | weights and accuracy | and pass@64 |")
    print("|---|---|---|")
    for questions, n in ((30, 4), (120, 80), (1_000_000, 100)):
        c = random.binomial(n, random.beta(0.5, 1, questions))
        counts, zeros = np.column_stack([n - c, c]), np.zeros(questions, dtype=np.int64)
        states = States.tally(counts, 0 * counts, zeros, zeros + 1, 1)
        one = np.zeros(1, dtype=np.int64)

        def accuracy(states: States = states, one: np.ndarray = one) -> Pooled:
            pooled = Pooled.fit(states, states, one, "benchmark")
            pooled.weighted(np.array([0.0, 1.0]))
            return pooled

        def pass_at_64(states: States = states, one: np.ndarray = one) -> None:
            gains = any_success(64)
            pooled = Pooled.fit(states, states, one, "benchmark")
            pooled.integrate(draw_moments(lambda _: iter([(slice(None), gains)])))

        milliseconds = [1000 * seconds(work) for work in (accuracy, pass_at_64)]
        print(f"| {questions:,} x {n} | {milliseconds[0]:.1f} ms | {milliseconds[1]:.1f} ms |")


if __name__ == "__main__":
    repeated_sampling()
    sizes()
    report_of_states()
    priors()
    draws()
    rewards()
    pooling()
