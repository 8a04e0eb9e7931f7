"""Verdicts of imperfect judges."""
