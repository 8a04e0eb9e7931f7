"""Plain maths on arrays.

SciPy is called by full names, as in `scipy.special.ndtr`: it imports its modules when they are
first asked for, and importing them takes longer than importing all of this package.

`populations`, `credits` and `interval`: the interval of a mean over questions, as tables and rules.

Arrays have a row for each stratum and a column for each model; NaN says that a stratum does not
have the model, so that strata of different sizes share one array.
"""
