"""The words of a log: who leads, what to know before the numbers, and of which models."""
