"""What users type: the accessor of frames and the one of expressions."""
