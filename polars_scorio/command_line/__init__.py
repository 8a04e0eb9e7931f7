"""The command `polars-scorio`."""
