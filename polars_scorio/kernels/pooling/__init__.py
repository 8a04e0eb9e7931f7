"""One population of questions, fitted to the counts of a group."""
