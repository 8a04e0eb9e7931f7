"""The method of polars_scorio by hand, with NumPy and SciPy and nothing of the package.

Three models answered 12 questions 8 times each. A test holds the numbers to those of
`log.scorio.report` and `log.scorio.compare`; `examples/guide/method.md` explains each step.
"""

import numpy as np
from scipy.special import betainc, betaincinv, comb, ndtr, stdtrit
from scipy.stats import binom, studentized_range

TRIALS, CONFIDENCE = 8, 0.95
TAIL = (1 - CONFIDENCE) / 2
SUCCESSES = {  # of each question
    "ada": [8, 8, 7, 8, 6, 5, 8, 3, 7, 8, 4, 2],
    "bob": [8, 7, 5, 6, 2, 4, 8, 1, 5, 6, 0, 0],
    "cyd": [7, 4, 2, 1, 0, 3, 6, 0, 2, 1, 0, 0],
}
# 216 populations of success rates: Beta distributions with 12 means and 6 correlations of trials,
# in which a share of 0, .1 or .4 of the questions is replaced by questions of any rate.
MEANS = np.sin(np.pi / 2 * (np.arange(12) + 0.5) / 12) ** 2
SIZES = 1 / np.array([0.003, 0.03, 0.1, 0.25, 0.5, 0.8]) - 1
A, B = (np.append(np.outer(mean, SIZES), 1.0) for mean in (MEANS, 1 - MEANS))  # the last: uniform
RATES = np.sin(np.pi / 2 * np.arange(241) / 240) ** 2
EDGES = np.concatenate([[0], np.sin(np.pi / 2 * (np.arange(240) + 0.5) / 240) ** 2, [1]])
MASS = np.diff(betainc(A[:, None], B[:, None], EDGES), axis=1)


def mixed(rows):
    """Numbers under the 72 Beta distributions and the uniform one, under all 216 populations."""
    return np.hstack([(1 - e) * rows[:, :-1] + e * rows[:, -1:] for e in (0, 0.1, 0.4)])


def credit(metric, k):
    """A metric at each rate, its unbiased estimate by 0 to 8 successes, and one of its variance."""
    c = np.arange(TRIALS + 1)
    if metric == "avg":
        return RATES, c / TRIALS, c / TRIALS * (1 - c / TRIALS) / (TRIALS - 1)
    fails = metric == "pass"  # Pass@k: not all of k trials fail; Pass^k: all of them succeed
    every, twice = (comb(TRIALS - c if fails else c, j) / comb(TRIALS, j) for j in (k, 2 * k))
    at_rates = (1 - RATES if fails else RATES) ** k
    shown = every**2 - twice  # needs 2 k trials
    return (1 - at_rates, 1 - every, shown) if fails else (at_rates, every, shown)


def populations(questions):
    """Weight of each population, by the chance that it gives the counts, and these chances."""
    chances = mixed(binom.pmf(np.arange(TRIALS + 1)[:, None], TRIALS, RATES) @ MASS.T)
    logs = questions @ np.log(chances)
    weight = np.exp(logs - logs.max())
    return weight / weight.sum(), chances


def noise(metric, k, questions):
    """Variance of the mean, its uncertainty, and the mean that the populations expect."""
    (g, u, shown), m, (weight, chances) = credit(metric, k), questions.sum(), populations(questions)
    at_rates = binom.pmf(np.arange(TRIALS + 1)[:, None], TRIALS, RATES)
    plain = [at_rates * each @ MASS.T for each in (g, at_rates.T @ u**2 - g**2)]
    (g, v), uniform = (mixed(each) / chances for each in plain), (at_rates @ MASS[-1])
    g_flat, v_flat = (each[:, -1] / uniform for each in plain)

    def spread(each, total):  # variance of a sum, by the sampling of questions
        return questions @ each**2 / m**4 - total**2 / m

    of_population, flat, seen = (questions @ each / m**2 for each in (v, v_flat, shown))
    smooth = weight @ of_population
    off = np.sqrt(m / (m - 1) * spread(shown, seen) + np.abs(shown).max() ** 2 / m**4)
    most = min(flat, 4 * smooth, seen + off)
    share = (most - smooth) / (flat - smooth) if most > smooth else 0.0
    variance = max(smooth, most, seen - off)
    between = weight @ of_population**2 - smooth**2 + spread(v @ weight, smooth)
    error = np.sqrt((1 - share) ** 2 * between + share**2 * spread(v_flat, flat))
    mean = ((1 - share) * questions @ g @ weight + share * questions @ g_flat) / m
    return variance, 1 + error / variance, mean


def interval(metric, k, successes, tail):
    """Estimate, and Clopper and Pearson's interval of the questions that have this variance."""
    m, u = len(successes), credit(metric, k)[1][successes].mean()
    variance, factor, mean = noise(metric, k, np.bincount(successes, minlength=TRIALS + 1))
    t = min(u, 1 - u) ** 2 / (min(u, 1 - u) ** 2 + variance)
    expected = max(mean * (1 - mean), m * variance)
    size = (t * u * (1 - u) + (1 - t) * expected) / (variance * factor)
    lo = betaincinv(size * u, size * (1 - u) + 1, tail) if u > 0 else 0.0
    return u, lo, betaincinv(size * u + 1, size * (1 - u), 1 - tail) if u < 1 else 1.0


def report(metric, k, successes):
    """Estimate and interval about these questions; Pass@k is at least Pass@j of a smaller j."""
    u, lo, hi = interval(metric, k, successes, TAIL)
    for j in (2**i for i in range((k - 1).bit_length())):
        _, least, most = interval(metric, j, successes, TAIL)
        lo, hi = (max(lo, least), hi) if metric == "pass" else (lo, min(hi, most))
    return u, lo, hi


def of_population(metric, k, successes):
    """Interval about questions like these: one that is right and one that is wrong join them."""
    values = np.append(credit(metric, k)[1][successes], [0, 1])
    half = -stdtrit(len(values) - 1, TAIL) * values.std(ddof=1) / len(values) ** 0.5
    return max(values.mean() - half, 0), min(values.mean() + half, 1)


def difference(one, other, models):
    """Difference of two of some models, by their own intervals; those of all pairs hold at once."""
    tail = ndtr(-studentized_range.ppf(CONFIDENCE, models, np.inf) / 2**0.5)
    (u, low, high), (v, lo, hi) = (interval("avg", 1, each, tail) for each in (one, other))
    return u - v, u - v - np.hypot(u - low, hi - v), u - v + np.hypot(high - u, v - lo)


if __name__ == "__main__":
    for model, successes in SUCCESSES.items():
        for metric, k in (("avg", 1), ("pass", 4), ("hat", 4)):
            print(model, metric, k, *np.round(report(metric, k, successes), 4))
        print(
            model, "avg of questions like these", *np.round(of_population("avg", 1, successes), 4)
        )
    for one, other in ("ada", "bob"), ("ada", "cyd"), ("bob", "cyd"):
        ends = difference(SUCCESSES[one], SUCCESSES[other], len(SUCCESSES))
        print(one, "less", other, *np.round(ends, 4))
