"""From rows to counts of each question, and the checks on the way."""
