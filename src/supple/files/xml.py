"""XML without its dangers: text in, a small unchanging tree out.

Model files need elements, attributes and text, nothing else. So a document type declaration is refused, and with it
every entity and every reference to another file; what remains is bounded in bytes, depth, number and length, and
whatever is wrong is a `BadFile` that names the file and the line. Namespaces are not resolved: a prefix stays part of
its name, and their declarations (``xmlns``, ``xmlns:…``) are dropped.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn
from xml.parsers import expat

from supple.errors import BadFile, BadValue, UnknownName

MOST_BYTES = 64 * 1024 * 1024
MOST_ELEMENTS = 1_000_000
MOST_DEPTH = 100
MOST_ATTRIBUTES = 1_000  # of one element
LONGEST_NAME = 1_000
LONGEST_VALUE = 1_000_000
LARGEST_NUMBER = 1e9  # of a length, an angle, a mass: beyond it products of a few numbers would overflow


@dataclass(frozen=True, eq=False)
class Element:
    """One element of a file, with the line on which it begins."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[Element, ...]
    text: str
    line: int
    file: str | None = None

    def all(self, tag: str) -> Iterator[Element]:
        """The children of that tag, in the order of the file."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child of that tag, if there is one."""
        return next(self.all(tag), None)

    def needed(self, tag: str) -> Element:
        """The first child of that tag, which must be there."""
        child = self.first(tag)
        if child is None:
            raise self.bad(f"{self.label} has no <{tag}>")
        return child

    @property
    def label(self) -> str:
        """How messages call this element: its tag, and its name if it has one."""
        name = self.attributes.get("name")
        return f"<{self.tag}>" if name is None else f"{self.tag} {shown(name)}"

    def bad(self, message: str) -> BadFile:
        """The error to raise about this element."""
        return BadFile(message, file=self.file, line=self.line)

    def attribute(self, name: str) -> str:
        """An attribute that must be there and must say something."""
        value = self.attributes.get(name)
        if value is None:
            raise self.bad(f"{self.label} has no attribute {name!r}")
        if not value.strip():
            raise self.bad(f"the attribute {name!r} of {self.label} is empty")
        return value

    def number(self, name: str, default: float | None = None, largest: float = LARGEST_NUMBER) -> float:
        """An attribute that holds one finite number; it must be there if there is no default."""
        if default is not None and name not in self.attributes:
            return default
        return self.numbers(name, 1, largest=largest)[0]

    def numbers(
        self, name: str, count: int, default: tuple[float, ...] | None = None, largest: float = LARGEST_NUMBER
    ) -> tuple[float, ...]:
        """An attribute that holds `count` finite numbers with blanks between them."""
        if default is not None and name not in self.attributes:
            return default
        return self._numbers(self.attribute(name), f"the attribute {name!r} of {self.label}", count, largest)

    def listed(self, count: int | None = None, largest: float = LARGEST_NUMBER) -> tuple[float, ...]:
        """The finite numbers that the element's text holds, `count` of them if that is given."""
        return self._numbers(self.text, f"the text of {self.label}", count, largest)

    def _numbers(self, text: str, what: str, count: int | None, largest: float) -> tuple[float, ...]:
        words = text.split()
        if count is not None and len(words) != count:
            wanted = "a number" if count == 1 else f"{count} numbers"
            raise self.bad(f"{what} must be {wanted}, not {shown(' '.join(words))}")
        return tuple(self._number(word, what, largest) for word in words)

    def _number(self, word: str, what: str, largest: float) -> float:
        try:
            value = float(word) if word.isascii() and "_" not in word else None
        except ValueError:
            value = None
        if value is None:
            raise self.bad(f"{what} must be a number, not {shown(word)}")
        if not math.isfinite(value):
            raise self.bad(f"{what} must be finite, not {shown(word)}")
        if abs(value) > largest:
            raise self.bad(f"{what} must not exceed {largest:g} in size, not be {shown(word)}")
        return value


@contextmanager
def blaming(element: Element) -> Iterator[None]:
    """Turn a complaint about a value that came out of `element` into one about its line of the file."""
    try:
        yield
    except BadFile:
        raise
    except (BadValue, UnknownName) as error:
        raise element.bad(str(error)) from error


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The content of a plain file of at most `most` bytes."""
    name = str(path)
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise BadFile("this is not a plain file", file=name)
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadFile(f"the file cannot be read: {reason}", file=name) from error
    if len(data) > most:
        raise BadFile(f"the file has more than {most} bytes", file=name)
    return data


def read_xml(path: str | Path) -> Element:
    """The root element of a file, in the encoding that it declares."""
    return parse_xml(read_bytes(path), str(path))


def parse_xml(text: str | bytes, file: str | None = None) -> Element:
    """The root element of a text; `file` is what messages call it."""
    if isinstance(text, str):
        try:
            text = text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise BadFile("the text holds half of a surrogate pair", file=file, line=line) from error
        encoding = "utf-8"
    else:
        encoding = None
    if len(text) > MOST_BYTES:
        raise BadFile(f"the text has more than {MOST_BYTES} bytes", file=file)
    if not text.removeprefix(codecs.BOM_UTF8).strip():
        raise BadFile("the file is empty", file=file, line=1)
    return _Builder(file, encoding).build(text)


class _Open:
    """An element whose end has not come yet."""

    def __init__(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: list[Element] = []
        self.text: list[str] = []


class _Builder:
    """Collects what expat reports; the only state of this module, and it lives for one parse."""

    def __init__(self, file: str | None, encoding: str | None) -> None:
        self.file = file
        self.open: list[_Open] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.doctype
        parser.ExternalEntityRefHandler = self.doctype

    def build(self, data: bytes) -> Element:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            where = f"; <{self.open[-1].tag}> of line {self.open[-1].line} is still open" if self.open else ""
            raise BadFile(f"the XML is broken: {reason}{where}", file=self.file, line=error.lineno) from error
        except BadFile:
            raise
        except (LookupError, ValueError, TypeError) as error:  # an encoding that Python lacks, or that is no encoding
            raise BadFile(f"the declared encoding cannot be used: {error}", file=self.file, line=1) from error
        if self.root is None:
            raise BadFile("the file has no element", file=self.file, line=1)
        return self.root

    def refuse(self, message: str) -> NoReturn:
        raise BadFile(message, file=self.file, line=self.parser.CurrentLineNumber)

    def doctype(self, *_: object) -> NoReturn:
        self.refuse("document types and entities are not allowed in model files: delete the <!DOCTYPE …>")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            self.refuse(f"the file has more than {MOST_ELEMENTS} elements")
        if len(self.open) >= MOST_DEPTH:
            self.refuse(f"elements are nested more than {MOST_DEPTH} deep")
        if len(attributes) > MOST_ATTRIBUTES:
            self.refuse(f"an element has more than {MOST_ATTRIBUTES} attributes")
        kept = {k: v for k, v in attributes.items() if k != "xmlns" and not k.startswith("xmlns:")}
        if len(tag) > LONGEST_NAME or any(len(name) > LONGEST_NAME for name in attributes):
            self.refuse(f"a tag or the name of an attribute is longer than {LONGEST_NAME} characters")
        for name, value in kept.items():
            if len(value) > LONGEST_VALUE:
                self.refuse(f"the attribute {name!r} of <{tag}> is longer than {LONGEST_VALUE} characters")
        self.open.append(_Open(tag, MappingProxyType(kept), self.parser.CurrentLineNumber))

    def end(self, _: str) -> None:
        done = self.open.pop()
        text = "".join(done.text).strip()
        element = Element(done.tag, done.attributes, tuple(done.children), text, done.line, self.file)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element

    def data(self, text: str) -> None:
        self.open[-1].text.append(text)


def shown(text: str) -> str:
    """A text in quotes, shortened if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "…")
