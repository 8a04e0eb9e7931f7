"""Each subject of a log in one file: what it counts, what it refuses, how it scores."""
