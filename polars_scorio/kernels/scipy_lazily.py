"""The functions of SciPy that kernels call, imported with the first call of one of them.

Importing `scipy.special` takes longer than all of this package, which many programs import only to
count, or to say that they could.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.linalg import cho_factor, cho_solve, eigh_tridiagonal
    from scipy.sparse import csr_array
    from scipy.special import (
        betainc,
        betainccinv,
        betaincinv,
        betaln,
        chdtr,
        chdtri,
        expit,
        fdtr,
        fdtri,
        gammaln,
        ndtr,
        ndtri,
        stdtr,
        stdtrit,
        xlog1py,
        xlogy,
    )
else:
    import scipy

    _HOMES = {
        **dict.fromkeys(("cho_factor", "cho_solve", "eigh_tridiagonal"), "linalg"),
        "csr_array": "sparse",
    }

    def __getattr__(name: str) -> object:
        """A function that calls one of SciPy; what is not from elsewhere is from its `special`."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

        def called(*arguments: object, **options: object) -> object:
            # SciPy imports its modules when they are asked for.
            return getattr(getattr(scipy, _HOMES.get(name, "special")), name)(*arguments, **options)

        return called


__all__ = [
    "betainc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "chdtr",
    "chdtri",
    "cho_factor",
    "cho_solve",
    "csr_array",
    "eigh_tridiagonal",
    "expit",
    "fdtr",
    "fdtri",
    "gammaln",
    "ndtr",
    "ndtri",
    "stdtr",
    "stdtrit",
    "xlog1py",
    "xlogy",
]
