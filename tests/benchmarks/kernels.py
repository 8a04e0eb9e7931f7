"""States per second of the kernels, and the cost of partial pooling. Run it without arguments."""

import time
from collections.abc import Callable

import numpy as np

from polars_scorio.kernels import credit
from polars_scorio.kernels.draws import credit_moments, expected_credit
from polars_scorio.kernels.posteriors import Pooled
from polars_scorio.kernels.rewards import best_moments, expected_best
from polars_scorio.kernels.states import States

CREDITS = {
    "pass": credit.any_success,
    "majority": credit.majority,
    "mG-Pass": credit.excess_over_half,
    "AUC": credit.area_under_curve,
}


def seconds(work: Callable[[], object]) -> float:
    """The shortest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
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
    print("\n| questions x trials | fit and accuracy | and pass@64 |")
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
            gains = credit.any_success(64)
            pooled = Pooled.fit(states, states, one, "benchmark")
            pooled.integrate(lambda nu, _: credit_moments(nu[:, 1], nu[:, 0], gains))

        milliseconds = [1000 * seconds(work) for work in (accuracy, pass_at_64)]
        print(f"| {questions:,} x {n} | {milliseconds[0]:.1f} ms | {milliseconds[1]:.1f} ms |")


if __name__ == "__main__":
    draws()
    rewards()
    pooling()
