"""A report as one file: what it says, which pictures and tables it has, and the page.

Importing this package needs the extra `report`.
"""

try:
    import altair as alt  # noqa: F401 - so that one message says what is missing
    import jinja2  # noqa: F401 - as above
    import vl_convert  # noqa: F401 - as above
except ImportError:
    raise ImportError(
        'a page needs Jinja2, Altair and vl-convert: pip install "polars-scorio[report]"'
    ) from None
