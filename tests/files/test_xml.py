"""The XML reader: what it keeps, and everything it must refuse with a file and a line."""

from __future__ import annotations

import dataclasses

import pytest

from supple.errors import BadFile, BadValue
from supple.files import xml
from supple.files.xml import Element, blaming, parse_xml, read_bytes, read_xml


def test_a_tree_keeps_tags_attributes_text_order_and_lines():
    root = parse_xml('<?xml version="1.0"?>\n<!-- note -->\n<a x="1">\n  <b/>hey<c\n   y="2"/>\n<b z="é"/> you</a>')
    assert (root.tag, dict(root.attributes), root.line, root.text) == ("a", {"x": "1"}, 3, "hey\n you")
    assert [(child.tag, child.line) for child in root.children] == [("b", 4), ("c", 4), ("b", 6)]
    assert [child.attributes.get("z") for child in root.all("b")] == [None, "é"]
    assert root.first("c") is root.children[1]
    assert root.first("d") is None
    assert root.needed("b") is root.children[0]


def test_a_tree_cannot_be_changed():
    root = parse_xml('<a x="1"/>')
    with pytest.raises(dataclasses.FrozenInstanceError):
        root.tag = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        root.attributes["x"] = "2"  # type: ignore[index]


def test_namespace_declarations_are_dropped_and_prefixes_kept():
    root = parse_xml('<a xmlns="u" xmlns:p="v" p:x="1"><p:b/></a>')
    assert dict(root.attributes) == {"p:x": "1"}
    assert root.children[0].tag == "p:b"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_bytes_are_read_in_the_encoding_that_they_declare(encoding: str):
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    data = f'<?xml version="1.0" encoding="{declared}"?><a name="Gelénk"/>'.encode(encoding)
    assert parse_xml(data).attributes["name"] == "Gelénk"


def test_text_is_text_whatever_encoding_it_declares():
    assert parse_xml('\ufeff<?xml version="1.0" encoding="utf-16"?><a name="é"/>').attributes["name"] == "é"


ENTITIES = '<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;">'
REFUSED = [
    ("", 1, "empty"),
    (" \n ", 1, "empty"),
    ("<a>\n<b>\n</a>", 3, "mismatched tag; <b> of line 2 is still open"),
    ("<a>\n<b/>\n", 3, "<a> of line 1 is still open"),
    ("<a/>\n<b/>", 2, "junk after document element"),
    ("hello", 1, "syntax error"),
    ("<a/>\n\n\0", 3, "the XML is broken"),
    ('<a>\n<b x="\0"/></a>', 2, "not well-formed"),
    ('<a\nx="1" x="2"/>', 2, "duplicate attribute"),
    ("<a>\n&nothing;</a>", 2, "undefined entity"),
    ("<a>&#0;</a>", 1, "reference to invalid character number"),
    ("<?xml version='1.0'?>\n<!DOCTYPE a>\n<a/>", 2, "delete the <!DOCTYPE"),
    (f"<!DOCTYPE a [{ENTITIES}]>\n<a>&b;</a>", 1, "delete the <!DOCTYPE"),
    ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<a>&e;</a>', 1, "delete the <!DOCTYPE"),
    ('<!DOCTYPE a SYSTEM "http://localhost/a.dtd">\n<a/>', 1, "delete the <!DOCTYPE"),
    (b"<a>\n\xff</a>", 2, "not well-formed"),
    (b"<?xml version='1.0' encoding='nothing'?><a/>", 1, "encoding"),
    (b"<?xml version='1.0' encoding='zlib'?><a/>", 1, "encoding"),
    (b"<?xml version='1.0' encoding='shift_jis'?><a/>", 1, "encoding"),
    (b"<?xml version='1.0' encoding='utf-16'?><a/>", 1, "encoding"),
    ('<a>\n<b x="\ud800"/></a>', 2, "surrogate"),
    ("<a>\n" * 101 + "</a>" * 101, 101, "nested more than 100 deep"),
    ("<a>\n<" + "b" * 1001 + "/></a>", 2, "longer than 1000 characters"),
    ("<a>\n<b x='" + "1" * 1_000_001 + "'/></a>", 2, "longer than 1000000 characters"),
    ("<a " + " ".join(f"x{k}='1'" for k in range(1001)) + "/>", 1, "more than 1000 attributes"),
]


@pytest.mark.parametrize(("text", "line", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_is_broken_or_hostile_is_refused_with_its_line(text: str | bytes, line: int, message: str):
    with pytest.raises(BadFile) as caught:
        parse_xml(text, "bad.xml")
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("bad.xml", line)
    assert str(caught.value).startswith(f"bad.xml:{line}: ")


def test_a_hundred_levels_are_allowed():
    element, depth = parse_xml("<a>" * 100 + "</a>" * 100), 1
    while element.children:
        element, depth = element.children[0], depth + 1
    assert depth == 100


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(xml, "MOST_ELEMENTS", 10)
    parse_xml("<a>" + "<b/>" * 9 + "</a>")
    with pytest.raises(BadFile, match="more than 10 elements"):
        parse_xml("<a>" + "<b/>" * 10 + "</a>")
    monkeypatch.setattr(xml, "MOST_BYTES", 20)
    with pytest.raises(BadFile, match="more than 20 bytes"):
        parse_xml("<a>                     </a>")
    (tmp_path / "long").write_bytes(b"x" * 21)
    assert read_bytes(tmp_path / "long", most=21) == b"x" * 21
    with pytest.raises(BadFile, match="more than 20 bytes"):
        read_bytes(tmp_path / "long", most=20)


def test_files_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "good.xml").write_text("<a/>")
    assert read_xml(tmp_path / "good.xml").file == str(tmp_path / "good.xml")
    for name, message in [("none.xml", "cannot be read"), ("", "not a plain file"), ("a\0b", "cannot be read")]:
        with pytest.raises(BadFile, match=message):
            read_xml(tmp_path / name if name != "a\0b" else name)


SAMPLE = parse_xml('<a><n one="1.5" three=" 1\n-2 3e-1 " empty=" " word="one" few="1 2" name="x"/></a>', "f")
NUMBER: Element = SAMPLE.children[0]


def test_numbers_are_read():
    assert NUMBER.number("one") == 1.5
    assert NUMBER.numbers("three", 3) == (1.0, -2.0, 0.3)
    assert NUMBER.number("absent", 7.0) == 7.0
    assert NUMBER.numbers("absent", 2, (7.0, 8.0)) == (7.0, 8.0)


@pytest.mark.parametrize(
    ("name", "count", "message"),
    [
        ("absent", 1, "n 'x' has no attribute 'absent'"),
        ("empty", 1, "the attribute 'empty' of n 'x' is empty"),
        ("word", 1, "'word' of n 'x' must be a number, not 'one'"),
        ("few", 3, "'few' of n 'x' must be 3 numbers, not '1 2'"),
        ("few", 1, "must be a number, not '1 2'"),
    ],
)
def test_other_than_numbers_is_refused(name: str, count: int, message: str):
    with pytest.raises(BadFile, match=message):
        NUMBER.numbers(name, count)


@pytest.mark.parametrize("word", ["nan", "NAN", "inf", "-Infinity", "1e999", "1e10", "1_0", "٣", "0x1p3", "1,0", "--1"])
def test_odd_numbers_are_refused(word: str):
    with pytest.raises(BadFile) as caught:
        parse_xml(f'<a>\n<b x="{word}"/></a>', "f").children[0].number("x")
    assert caught.value.line == 2


def test_blame_falls_on_the_line_that_held_the_value():
    with pytest.raises(BadFile, match=r"^f:1: too heavy$"), blaming(NUMBER):
        raise BadValue("too heavy")
    with pytest.raises(BadFile, match=r"^g:9: mine$"), blaming(NUMBER):
        raise BadFile("mine", file="g", line=9)


def test_long_values_are_shown_short():
    with pytest.raises(BadFile) as caught:
        parse_xml(f'<a x="{"z" * 5000}"/>').number("x")
    assert len(str(caught.value)) < 200
