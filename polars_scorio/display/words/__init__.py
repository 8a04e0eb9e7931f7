"""What is said of facts, the same on every surface."""
