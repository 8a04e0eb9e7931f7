"""How often do the intervals of votes over answers hold? Run: python -m examples.validation.votes

Its output is kept in votes.csv, from which the guide has its table.
Eight populations of questions, three to nine answers each; of each cell several sets of questions,
whose true vote success is that of ten million trials each, and several logs of each set. Prints the
mean and the least coverage over the populations, the mean width, and the largest bias.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.ballots import Ballots, Ties, Votes, vote_estimate, vote_success

CELLS = [(1, 1), (2, 1), (2, 2), (4, 1), (4, 3), (4, 4), (16, 1), (16, 4), (16, 8), (16, 16),
         (64, 1), (64, 4), (64, 16), (64, 32)]  # fmt: skip
QUESTIONS = (1, 3, 10, 30, 100)
SETS = 10  # of questions, in each cell
BANK = 10**7  # trials that are as good as any number

Shares = Callable[[np.random.Generator, int], Floats]
# How often questions are answered right, and how unevenly the wrong answers are shared.
POPULATIONS: dict[str, tuple[Shares, float]] = {
    "uniform": (lambda rng, size: rng.beta(1, 1, size), 0.5),
    "ends": (lambda rng, size: rng.beta(0.3, 0.3, size), 1.0),
    "good": (lambda rng, size: rng.beta(6, 1, size), 0.3),
    "half always": (lambda rng, size: np.where(rng.random(size) < 0.5, 1, rng.beta(1, 2, size)), 2),
    "some never": (
        lambda rng, size: np.where(rng.random(size) < 0.4, 0, rng.beta(0.6, 2, size)),
        0.5,
    ),
    "two kinds": (lambda rng, size: np.where(rng.random(size) < 0.5, 0.95, 0.05), 0.5),
    "same": (lambda _, size: np.full(size, 0.5), 1.0),
    "nearly perfect": (lambda _, size: np.full(size, 0.97), 1.0),
}


def rates(population: str, questions: int, rng: np.random.Generator) -> Floats:
    """How often each answer is given; the first is right."""
    share, evenness = POPULATIONS[population]
    right = share(rng, questions)
    wrong = rng.dirichlet(np.full(int(rng.integers(2, 9)), evenness), questions)
    return np.column_stack([right, (1 - right)[:, None] * wrong])


def ballots(votes: np.ndarray) -> Ballots:
    """Questions of which the first answer is right."""
    right = np.zeros(votes.shape, dtype=np.bool_)
    right[:, 0] = True
    return Ballots(votes, right, np.zeros(len(votes), dtype=np.int64))


def covered(
    population: str, n: int, k: int, questions: int, logs: int, ties: Ties, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Coverage at 95 %, mean width, bias."""
    found = []
    for _ in range(SETS):
        of = rates(population, questions, rng)
        truth = vote_success(ballots(np.floor(of * BANK).astype(np.int64)), k, ties).mean()
        drawn = np.concatenate([rng.multinomial(n, of) for _ in range(logs)])
        owner = np.repeat(np.arange(logs), questions)
        noisy = vote_estimate(Votes.tally(ballots(drawn), owner, logs), k, ties)
        lo, hi = noisy.ends(0.025)
        holds = (lo <= truth + 1e-9) & (truth - 1e-9 <= hi)  # the bank is not endless
        found.append((holds.mean(), (hi - lo).mean(), (noisy.mu - truth).mean()))
    coverage, width, bias = np.mean(found, axis=0)
    return float(coverage), float(width), float(bias)


def main() -> None:
    """Print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=40, help="of each set of questions")
    parser.add_argument("--ties", choices=("split", "fail"), default="split")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print("n,k,questions,mean,least,width,bias")
    for n, k in CELLS:
        for questions in QUESTIONS:
            rows = [covered(population, n, k, questions, asked.logs, asked.ties, rng)
                    for population in POPULATIONS]  # fmt: skip
            coverage, width, bias = np.array(rows).T
            print(f"{n},{k},{questions},{coverage.mean():.3f},{coverage.min():.3f},"
                  f"{width.mean():.3f},{np.abs(bias).max():.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
