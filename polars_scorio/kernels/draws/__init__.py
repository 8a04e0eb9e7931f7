"""Draws of k trials from a question: their credit, and its mean and variance."""
