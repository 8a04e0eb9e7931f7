"""What users type: the accessor on frames and the one on expressions, imported at first use."""

import sys
from importlib import import_module

import polars as pl


class _Namespace:
    """`.scorio` of a class of Polars, as its own decorators register it, but not imported yet."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def accessor(self) -> type:
        """Import the class itself."""
        found: type = getattr(import_module(f"{__name__}.{self._module}"), self._name)
        return found

    def __get__(self, instance: object | None, owner: type) -> object:
        return self.accessor() if instance is None else self.accessor()(instance)


def register() -> None:
    """Give frames and expressions their `.scorio`."""
    of_frames, of_expressions = (
        _Namespace("frame", "Scorio"),
        _Namespace("expressions", "ScorioExpr"),
    )
    pl.DataFrame.scorio = pl.LazyFrame.scorio = of_frames  # type: ignore[attr-defined]
    pl.Expr.scorio = of_expressions  # type: ignore[attr-defined]
    if "IPython" in sys.modules:  # whose completion reads annotations, which need the classes
        of_frames.accessor()
        of_expressions.accessor()
