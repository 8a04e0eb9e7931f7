"""Sentences about facts, the same on every surface."""
