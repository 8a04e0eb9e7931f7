"""Verdicts of an imperfect judge: how often the judge errs, and numbers of the truth behind it."""
