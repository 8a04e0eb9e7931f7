"""Whether trial ids of a question repeat."""
