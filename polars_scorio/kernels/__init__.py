"""Plain NumPy and SciPy maths on arrays; nothing here knows of frames.

SciPy is called by full names, as in `scipy.special.ndtr`: it imports its modules when they are
first asked for, and importing them takes longer than importing all of this package.
"""
