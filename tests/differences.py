"""The mean of a population of which questions are a sample, by plain sums."""

from math import sqrt

from scipy.stats import norm, t


def plus_two(values, ends, shares=None):
    """Centre, standard error and degrees of freedom, with one more value at each end of a range.

    After "plus four" (A. Agresti, B. A. Coull 1998, The American Statistician 52, 119-126).
    """
    shares = [1 / len(values)] * len(values) if shares is None else shares
    number = 1 / sum(share**2 for share in shares)
    every = [*values, *ends]
    weight = [share * number / (number + 2) for share in shares] + [1 / (number + 2)] * 2
    centre = sum(w * x for w, x in zip(weight, every, strict=True))
    square = sum(w * (x - centre) ** 2 for w, x in zip(weight, every, strict=True))
    return centre, sqrt(square / (number + 1)), number + 1


def cluster_means(values, clusters):
    """The mean of each cluster, and its share of the questions."""
    means, shares = [], []
    for cluster in dict.fromkeys(clusters):
        members = [x for x, name in zip(values, clusters, strict=True) if name == cluster]
        means.append(sum(members) / len(members))
        shares.append(len(members) / len(values))
    return means, shares


def difference_numbers(differences, width, confidence=0.95, shares=None):
    """Difference, sigma, z, chance to be better, and both ends of a pair of models."""
    centre, sigma, freedom = plus_two(differences, (-width, width), shares)
    shares = [1 / len(differences)] * len(differences) if shares is None else shares
    diff = sum(share * x for share, x in zip(shares, differences, strict=True))
    reach = t.ppf((1 + confidence) / 2, freedom) * sigma
    # From the smaller tail: the other one loses its digits.
    z = -norm.ppf(t.cdf(-abs(centre) / sigma, freedom)) * (1 if centre > 0 else -1)
    ends = max(centre - reach, -width), min(centre + reach, width)
    return [diff, sigma, z, t.cdf(centre / sigma, freedom), *ends]
