"""How far off a mean over questions may be where these are a sample: CALIBRATED.md, rule 8."""


def variance_of_mean(values, width, clusters=None):
    """What is seen, and what may have been missed, by plain sums."""
    questions = len(values)
    mean = sum(values) / questions
    if clusters is None:
        clusters = range(questions)
    of_cluster = dict.fromkeys(clusters, 0.0)
    for value, cluster in zip(values, clusters, strict=True):
        of_cluster[cluster] += (value - mean) * len(of_cluster) / questions
    size = len(of_cluster)
    square = sum(each**2 for each in of_cluster.values())
    fourth = sum(each**4 for each in of_cluster.values())
    events = square**2 / fourth if fourth else 0.0
    total = square * size / (size - 1)
    return total / size**2 + (total + 2 * width**2) / ((events + 1) * size * (size + 1))
