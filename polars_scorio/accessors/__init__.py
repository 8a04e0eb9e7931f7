"""What users type: the accessor on frames and the one on expressions."""
