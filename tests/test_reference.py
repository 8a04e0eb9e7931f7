"""The reference is what the package says of itself, and nothing public is missing in it."""

import re

import polars_scorio as ps
from polars_scorio.display.plots import Plots
from tests.exported_metrics import EXPORTED
from tests.reference.__main__ import reference, write_reference
from tests.reference.markdown import as_markdown, called
from tests.reference.pages import CATEGORY, parts

MADE = reference()
ENTRIES = [entry for part in parts() for entry in part.entries]


def test_the_pages_are_written_once(tmp_path):
    folder = tmp_path / "reference"
    write_reference(folder)
    dates = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert dates.keys() == MADE.keys()
    write_reference(folder)
    assert dates == {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_all_that_is_public_has_an_entry():
    metrics = EXPORTED.keys()
    named = {f"ps.{name}" for name in ps.__all__} - {"ps.logs", "ps.rubrics", "ps.sql"}
    named -= {
        "ps.Scorio",
        "ps.ScorioExpr",
        "ps.spectrum_weights",
    }  # a module, and the accessors, of which the methods are there
    for prefix, owner in (
        ("df.scorio", ps.Scorio),
        ("df.scorio.plot", Plots),
        (CATEGORY, ps.ScorioExpr),
    ):
        named |= {f"{prefix}.{name}" for name in dir(owner) if name[0] != "_"} - {
            f"{prefix}.{metric}" for metric in metrics
        }
    assert named - {entry.name for entry in ENTRIES} == set()


def test_every_entry_has_a_page_of_its_own_that_is_found_by_its_last_word():
    files = [entry.file.lower() for entry in ENTRIES]
    assert len({*files}) == len(files) == len(MADE) - 1
    for entry in ENTRIES:
        page = MADE[f"{entry.file}.md"]
        assert page.startswith(f"```{{index}} ! {entry.name.rpartition('.')[2]}\n```\n")
        assert page.count(f"# {entry.name}\n") == 1


def test_readers_list_the_settings_that_they_compare():
    text = MADE["ps_logs_tau_bench.md"]
    assert text.endswith("two runs\n\n`strategy`, `temperature`, `user`\n")
    assert "Settings that distinguish" not in MADE["ps_logs_scorio.md"]


def test_links_lead_to_pages():
    linked = re.findall(r"\]\((\w+\.md)\)", "".join(MADE.values()))
    assert {*linked} >= MADE.keys() - {"README.md"}
    assert {*linked} <= MADE.keys()


def test_a_docstring_becomes_markdown():
    def between(low, *, high=1.0):
        """A number of ``low < x < high`` [1]_, or x* = *x*.

        Parameters
        ----------
        low, high : float
            The ends.

        Returns
        -------
        Frame
            Of:

            =====  ======
            a,     first
            b      and
            c      second
            =====  ======

        References
        ----------
        .. [1] Somebody.

        Examples
        --------
        >>> between(0)

        >>> between(1)  # doctest: +SKIP
        """

    assert called("ps.between", between) == "ps.between(low, *, high=1.0)"
    assert as_markdown(between.__doc__) == EXPECTED


EXPECTED = """\
A number of `low < x < high` [1], or x\\* = *x*.

**Parameters**

- `low, high` (float): The ends.

**Returns**

- Frame: Of:

  | | |
  |---|---|
  | a, b | first and |
  | c | second |

**References**

- [1] Somebody.

**Examples**

```pycon
>>> between(0)

>>> between(1)
```"""
