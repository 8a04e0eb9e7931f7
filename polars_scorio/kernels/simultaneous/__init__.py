"""Many models at once: critical values, verdicts, rank ranges, and the chance to be the best.

Arrays have a row for each stratum and a column for each model; NaN says that a stratum does not
have the model, so that strata of different sizes share one array.
"""
