"""Records of all that is said and shown: a medium knows these and nothing else.

Names in words have marks (`numbers.named`); numbers of a table are values with their texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from polars_scorio.maths.array_rows import Floats

Mood = Literal["", "yes", "no"]
Style = Literal["", "strong", "open", "pass", "fail"]
Kind = Literal["rank", "tier", "name", "interval", "number", "spare", "chance", "verdict", "other"]
TableKind = Literal["scores", "parts", "steps", "gaps", "gains", "gate", "plain", "beside"]
Tone = Literal["alert", "lede", "aside", "basis", "plain", "note", "clause"]


@dataclass(frozen=True, slots=True)
class Title:
    """The sentence that answers, its chip, and its verdict."""

    words: str
    chip: str = ""
    mood: Mood = ""
    mark: Style = ""  # of the verdict in front of it


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence; its role says which media have it, and where."""

    role: Tone
    words: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its ends, as values and as written."""

    lo: float
    mid: float
    hi: float
    text: str
    ends: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of a table."""

    words: str
    style: Style = ""
    share: float | None = None  # of a bar


@dataclass(frozen=True, slots=True)
class Column:
    """Cells of one kind; `side` is what a page writes above the ends of intervals."""

    kind: Kind
    head: str
    cells: Sequence[Cell | Interval]
    side: str = ""

    @property
    def words(self) -> list[str]:
        """The texts of the cells."""
        return [each.text if isinstance(each, Interval) else each.words for each in self.cells]


@dataclass(frozen=True, slots=True)
class TableRow:
    """Marks of a row: its colour, whether it is bright, and whether a tier starts with it."""

    hue: str = "o"
    bright: bool = False
    starts: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows whose intervals are on one axis."""

    kind: TableKind
    columns: Sequence[Column]
    rows: Sequence[TableRow]
    percent: bool = True
    centre: float | None = None  # of no difference
    margin: float = 0.0  # with its sign
    lower: bool = False  # whether lower numbers are better
    margin_text: str = ""
    caption: str = ""  # for those who do not see it

    def column(self, kind: Kind) -> Column:
        """The first column of a kind; without cells if there is none."""
        return next((each for each in self.columns if each.kind == kind), Column(kind, "", ()))

    @property
    def intervals(self) -> list[Interval]:
        """The numbers of the rows."""
        return [each for each in self.column("interval").cells if isinstance(each, Interval)]


@dataclass(frozen=True, slots=True)
class Next:
    """Steps to take next, and the command for them."""

    steps: Sequence[str]
    command: str = ""


Block: TypeAlias = "Title | Text | TableBlock | Next"


@dataclass(frozen=True, slots=True)
class Account:
    """An answer: from the sentence that is its title to the steps to take next."""

    blocks: Sequence[Block]

    @property
    def title(self) -> Title:
        """The first title."""
        return next(each for each in self.blocks if isinstance(each, Title))

    @property
    def table(self) -> TableBlock | None:
        """The first table."""
        return next((each for each in self.blocks if isinstance(each, TableBlock)), None)

    @property
    def next(self) -> Next:
        """Steps to take next, if any."""
        return next((each for each in self.blocks if isinstance(each, Next)), Next(()))

    @property
    def lede(self) -> str:
        """The sentence of numbers below the title."""
        return " ".join(self.texts("lede"))

    @property
    def aside(self) -> str:
        """The sentences behind it in grey."""
        return " ".join(self.texts("aside"))

    @property
    def basis(self) -> list[str]:
        """Metric, confidence and family, target."""
        return self.texts("basis")

    def texts(self, *roles: Tone) -> list[str]:
        """The sentences of some roles."""
        return [each.words for each in self.blocks if isinstance(each, Text) and each.role in roles]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve of some colour, and its band; thin ones are drawn without."""

    hue: str
    numbers: Floats  # mid, lo and hi, (3, S)
    thin: bool = False
    at: Sequence[float] = ()  # places, in percent of the width


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: its numbers and words as its kind of drawing takes them, and what it says."""

    kind: str
    data: Mapping[str, Any]
    label: str = ""  # for those who do not see it


Figure: TypeAlias = "Drawing | TableBlock | Text"


@dataclass(frozen=True, slots=True)
class Section:
    """A finding and how to read it, and beside it what shows it; names in words have marks."""

    anchor: str
    title: str
    words: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    folded: bool = False  # nothing is decided: one line, and the rest in a fold


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning on a page: its title and its text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class MethodNotes:
    """How a page was made."""

    sentences: Sequence[str]  # meaning of the numbers, without statistics
    facts: dict[str, str]  # assumptions, and by what it was made
    formulas: dict[str, str]  # metrics as people write them, with their formula


@dataclass(frozen=True, slots=True)
class CardBlocks:
    """A picture of a finding: its account, what it is about, and the table that it draws."""

    account: Account
    about: str
    table: TableBlock | None
    lower: bool = False  # lower scores are better


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBlocks:
    """All that a reader of a page sees."""

    title: str  # of the log
    summary: str  # how large the log is
    account: Account
    refused: bool = False  # there is no report
    alerts: Sequence[Alert]
    figures: Sequence[Figure]  # the first ones, across the page
    sections: Sequence[Section] = ()
    outcomes: str  # what counted as success and as failure
    checked: str = ""  # what the checks found
    about: MethodNotes
    folds: Mapping[str, TableBlock] = field(
        default_factory=dict
    )  # tables at the foot by their titles
    tests: Sequence[tuple[str, str, str, str]] = ()  # what each asks, p, verdict, what it found
