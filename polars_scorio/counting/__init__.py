"""From rows to the counts of questions to groups, and what is checked on the way."""
