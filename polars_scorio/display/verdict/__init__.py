"""What a log says, in words: who leads, what to know before the numbers, and of which models."""
