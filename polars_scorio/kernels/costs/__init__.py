"""Costs of trials: ratios of mean costs and mean successes, and the models that none dominates."""
