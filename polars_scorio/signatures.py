"""Signatures and help that are put together from parts, so that each keyword is described once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import indent
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NoReturn,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from polars_scorio.arguments import nearest_hint

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

# The sections of numpydoc that a function may have, in its order.
_ORDER = (
    *("Parameters", "Returns", "Yields", "Raises", "Warns", "Warnings", "See Also", "Notes"),
    *("References", "Examples"),
)


@dataclass(frozen=True, slots=True)
class Option:
    """Default and help of a keyword that several methods have, as annotation in a `TypedDict`.

    Type checkers read the type, and `takes_options` the rest.
    """

    default: object
    doc: str  # one paragraph

    def parameter(self, name: str, kind: object) -> Parameter:
        """The keyword in a signature."""
        return Parameter(name, Parameter.KEYWORD_ONLY, default=self.default, annotation=kind)

    def entry(self, name: str, kind: object) -> str:
        """The keyword in the help of a method."""
        return f"{name} : {type_text(kind)}\n{indent(cleandoc(self.doc), '    ')}"


# What a signature and what help say of a keyword.
Keyword: TypeAlias = "tuple[Parameter, str]"


def takes_options(
    options: Callable[..., Any] | None = None,
    *,
    as_in: str = "",
    usual: type[DataclassInstance] | None = None,
) -> Callable[[FunctionT], FunctionT]:
    """Let a function answer for its keywords: name them all, and refuse all others.

    `options` are a TypedDict of `Option` (or of fields of `usual`, which then has their order and
    defaults), or a function with a default for each; help describes them here, or names the
    function that does (`as_in`).
    """
    shared: Mapping[str, Keyword] = {}
    if options is not None:
        listed = is_typeddict(options)
        shared = option_keywords(options, usual) if listed else _keywords_of(options)

    def decorated(function: FunctionT) -> FunctionT:
        written = signature(function)
        kept = [p for p in written.parameters.values() if not shared or p.kind is not p.VAR_KEYWORD]
        full = written.replace(parameters=[*kept, *(parameter for parameter, _ in shared.values())])
        return with_signature(function, full, function.__doc__, shared_entries(shared, as_in))

    return decorated


def shared_entries(shared: Mapping[str, Keyword], as_in: str = "") -> dict[str, str]:
    """The help of each shared keyword; one entry for all if another function describes them."""
    if as_in:
        return dict.fromkeys(shared, f"{', '.join(shared)} : optional\n    As in `{as_in}`.")
    return {name: entry for name, (_, entry) in shared.items()}


def with_signature(
    function: FunctionT,
    public: Signature,
    doc: str | None,
    entries: Mapping[str, str],
    names: Iterable[str] = (),
    **sections: str,
) -> FunctionT:
    """The function with this signature; it refuses keywords outside of it and of `names`.

    Its help is a text with the `entries` of its parameters, and these `sections`.
    """
    doc = described_parameters(doc, public, entries, **sections)
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    known = [*(p.name for p in _named_parameters(public) if p.kind not in several), *names]
    kinds = {p.name: p.kind for p in public.parameters.values()}
    by_position = [name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD]
    most = None if Parameter.VAR_POSITIONAL in kinds.values() else len(by_position)
    defaults = {p.name for p in public.parameters.values() if p.default is not p.empty}
    required = {name for name, kind in kinds.items() if kind not in several} - defaults

    @wraps(function)
    def answered(*arguments: object, **given: object) -> object:
        if most is not None and len(arguments) > most:
            _refuse_surplus(function.__name__, by_position, len(arguments))
        refuse_unknown(function.__name__, given, known)
        if lacking := required - given.keys() - {*by_position[: len(arguments)]}:
            _refuse_lack(function.__name__, [name for name in kinds if name in lacking], doc)
        return function(*arguments, **given)

    answered.__signature__ = public  # type: ignore[attr-defined]  # which inspect reads
    answered.__doc__ = doc
    return cast("FunctionT", answered)


@cache
def option_keywords(
    options: Callable[..., Any], usual: type[DataclassInstance] | None = None
) -> Mapping[str, Keyword]:
    """The keywords of a `TypedDict`: fields of `usual` in its order, then each `Option`."""
    hints = get_type_hints(options, include_extras=True)
    plain = {} if usual is None else {each.name: Option(each.default, "") for each in fields(usual)}
    keywords = {}
    for name, hint in sorted(hints.items(), key=lambda item: [*plain, *hints].index(item[0])):
        kind, option = get_args(hint) if get_origin(hint) is Annotated else (hint, plain[name])
        keywords[name] = option.parameter(name, kind), option.entry(name, kind)
    return keywords


def _keywords_of(function: Callable[..., Any]) -> dict[str, Keyword]:
    """The keywords of a function."""
    _, sections = sections_of(function.__doc__ or "")
    entries = entries_of(sections.get("Parameters", ""))
    parameters = _named_parameters(signature(function))
    named = [p.replace(kind=p.KEYWORD_ONLY) for p in parameters if p.default is not p.empty]
    # Under `python -OO` no docstring is there to be read, and none to be written.
    return {p.name: (p, entries.get(p.name, "")) for p in named}


def _shown_name(function: str) -> str:
    """The name by which users call a function."""
    return "scorio" if function == "__call__" else function


def _named_parameters(public: Signature) -> list[Parameter]:
    return [p for p in public.parameters.values() if p.name != "self"]


def _refuse_surplus(function: str, by_position: list[str], given: int) -> NoReturn:
    """Refuse values without a name beyond those that a function takes."""
    taken = [name for name in by_position if name != "self"]
    given -= len(by_position) - len(taken)
    each = ", and call it once for each metric" if "metric" in taken else ""
    raise TypeError(
        f"{_shown_name(function)}() got {given} arguments by position and takes "
        f"{', '.join(taken) or 'none'} there: name the others{each}"
    )


def _refuse_lack(function: str, lacking: list[str], doc: str | None) -> NoReturn:
    """Refuse a call without arguments that have no default, with the help of each."""
    entries = entries_of(sections_of(doc or "")[1].get("Parameters", ""))
    needs = []
    for name in lacking:
        text = " ".join(entries.get(name, "").partition("\n")[2].split())
        sentence = text.partition(". ")[0].rstrip(".")
        needs.append(f"{name}{f' ({sentence[0].lower()}{sentence[1:]})' if sentence else ''}")
    raise TypeError(f"{_shown_name(function)}() needs {' and '.join(needs)}")


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a keyword that a function does not have, with the nearest, and all that it has."""
    known = list(known)
    for name in given:
        if name not in known:
            hint = nearest_hint(name, known) or "."
            raise TypeError(
                f"{_shown_name(function)}() got an unexpected keyword argument {name!r}{hint} It "
                f"takes {', '.join(known)}"
            )


def described_parameters(
    doc: str | None, public: Signature, entries: Mapping[str, str], **sections: str
) -> str | None:
    """A docstring whose parameters are those of the signature, in its order.

    A description of its own is kept (one without a type is added to `entries`); a parameter that
    nobody describes is a `KeyError`. `sections` replace those of the docstring.
    """
    if doc is None:
        return None
    head, described = sections_of(doc)
    known = {**entries}
    for name, entry in entries_of(described.get("Parameters", "")).items():
        known[name] = extended_entry(entries[name], entry) if name in entries else entry
    body = "\n".join(
        dict.fromkeys(known[parameter.name] for parameter in _named_parameters(public))
    )
    described = {**described, **({"Parameters": body} if body else {}), **sections}
    titled = [
        f"{title}\n{'-' * len(title)}\n{described[title]}" for title in _ORDER if title in described
    ]
    return "\n\n".join([head, *titled]) + "\n"


def with_shared_help(function: FunctionT, entries: Mapping[str, str], **sections: str) -> FunctionT:
    """Add entries of parameters, and sections that its own docstring does not have."""
    _, written = sections_of(function.__doc__ or "")
    lacking = {title: body for title, body in sections.items() if title not in written}
    function.__doc__ = described_parameters(
        function.__doc__, signature(function), entries, **lacking
    )
    return function


def extended_entry(shared: str, addition: str) -> str:
    """The entry `addition` if it states a type, otherwise the shared entry followed by its text."""
    named, _, text = addition.partition("\n")
    return addition if " : " in named else f"{shared}\n{text}".rstrip()


def sections_of(doc: str) -> tuple[str, dict[str, str]]:
    """Text before the first section of a docstring, and the text of each section."""
    head, *rest = re.split(r"^(\w[\w ]*)\n-{3,}\n", cleandoc(doc), flags=re.MULTILINE)
    bodies = (body.strip("\n") for body in rest[1::2])
    return head.strip("\n"), dict(zip(rest[::2], bodies, strict=True))


def entries_of(body: str) -> dict[str, str]:
    """The entry of each parameter in a section; parameters listed together share one."""
    entries: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", body) if body else []:
        names = entry.partition("\n")[0].partition(" : ")[0]
        entries |= dict.fromkeys(re.findall(r"\w+", names), entry)
    return entries


def type_text(kind: object) -> str:
    """A type as help spells it.

    >>> print(type_text(Literal["macro", "micro"] | None))
    "macro" or "micro", optional
    """
    if get_origin(kind) is Literal:
        return " or ".join(f'"{choice}"' for choice in get_args(kind))
    if get_origin(kind) is Iterable:
        return "several of them"
    if get_origin(kind) is Mapping:
        return "dict"
    members = get_args(kind)
    if get_origin(kind) is tuple:
        return f"tuple of {type_text(members[0])}"
    if not members:
        return getattr(kind, "__name__", str(kind))
    words = " or ".join(type_text(member) for member in members if member is not NoneType)
    return words + (", optional" if NoneType in members else "")
