"""Plain NumPy and SciPy maths on arrays; nothing here knows of frames."""
