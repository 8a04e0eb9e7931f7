"""Facts of a log: read once from the frames of the public methods; no sentences."""
