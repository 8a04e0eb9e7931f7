"""Lists made rows, by the same rule in every Polars."""

import inspect

import polars as pl

# Arguments of `explode`. An empty list is a null: the only way of Polars 1.35, no longer the
# default of 2.0, and 1.42 to 1.44 warn where nothing is said.
AS_ROWS = {
    name: True for name in inspect.signature(pl.Expr.explode).parameters if name == "empty_as_null"
}
