"""Within a stratum: which model is better, in which order, and how many more trials."""
