"""Inferences: how mu, sigma and the interval of a metric are found."""
