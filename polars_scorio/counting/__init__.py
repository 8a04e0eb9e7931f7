"""From rows to counts of each question to states, and what is checked on the way."""
