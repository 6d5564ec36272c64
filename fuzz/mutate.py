"""Ways to break a file: each takes bytes and a random generator and gives bytes back.

None knows what the bytes mean beyond "text with numbers, quoted attributes and lines", so the same ones serve every
text format; those that need something the file does not have give it back as it is. `mutate` applies a few in a row,
`mutate_binary` those that suit files that are no text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
ATTRIBUTE = re.compile(rb"\s[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')")
VALUE = re.compile(rb"=\s*\"([^\"<]*)\"")
WORD = re.compile(rb"[A-Za-z_][\w.:-]*")
TAG = re.compile(rb"<[A-Za-z][^<>]*>")
WHOLE = re.compile(rb"<([A-Za-z][\w:.-]*)[^<>]*(?:/>|>[^<]*(?:<[^<>]*/>[^<]*)*</\1>)")
ODD_NUMBERS = (
    b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"1e308", b"-1e308", b"1e-320", b"-0", b"0", b"1e400", b"-1",
    b"99999999999999999999999999999999", b"2147483648", b"4294967295", b"0x10", b"1_000", b"1,5", b"", b" ",
    b"1e", b"--1", b"1e16", b"-1e16", b"1e-13", "١".encode(), b"9" * 5000,
)  # fmt: skip
ODD_BYTES = (
    b"\x00", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x1b[31m",
    "é".encode(), "\u202e".encode(), "\U0001f9be".encode(), "\u0000".encode(), b"\r", b"\x85", "\u2028".encode(),
    b"&#0;", b"&#xD800;", b"&#x41;", b"&amp;", b"&undefined;", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?", b"?>",
)  # fmt: skip
DOCTYPES = (
    b'<!DOCTYPE robot SYSTEM "file:///dev/zero">',
    b'<!DOCTYPE robot [<!ENTITY e SYSTEM "file:///dev/urandom">]>',
    b'<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>',
    b'<!DOCTYPE robot [<!ENTITY % p SYSTEM "http://localhost/x.dtd"> %p;]>',
    b"<!DOCTYPE robot [<!ATTLIST robot name CDATA 'x'>]>",
)
ODD_WORDS = (
    b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\x50", b"\x54", b"\x55", b"\x56", b"\x00\x00", b"\xff\xff",
    b"\xff\x7f", b"\x00\x80", b"\x01\x00", b"\x00\x00\x80\x7f", b"\x00\x00\xc0\x7f", b"\x00\x00\x80\xff", b"\xff\xff\x7f\x7f",
    b"\x01\x00\x00\x00", b"\x00\x00\x80\xbf", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80",
)  # fmt: skip
NEAR = 20_000
Mutation = Callable[[bytes, random.Random], bytes]


def _span(data: bytes, rng: random.Random, longest: int = 400) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(1, longest))


def _hits(pattern: re.Pattern[bytes], data: bytes) -> list[re.Match[bytes]]:
    """Where a pattern occurs, near the beginning only: the rest of a file that was blown up is more of the same."""
    return list(pattern.finditer(data, 0, NEAR))


def _replace_one(pattern: re.Pattern[bytes], data: bytes, rng: random.Random, new: bytes, group: int = 0) -> bytes:
    found = _hits(pattern, data)
    if not found:
        return data
    hit = rng.choice(found)
    return data[: hit.start(group)] + new + data[hit.end(group) :]


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    """Change single bits or bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8) if changed else 0):
        k = rng.randrange(len(changed))
        changed[k] = changed[k] ^ (1 << rng.randrange(8)) if rng.random() < 0.5 else rng.randrange(256)
    return bytes(changed)


def truncate(data: bytes, rng: random.Random) -> bytes:
    """Keep only the beginning."""
    return data[: rng.randrange(len(data) + 1)]


def duplicate_chunk(data: bytes, rng: random.Random) -> bytes:
    """Say something twice."""
    a, b = _span(data, rng)
    return data[:b] + data[a:b] + data[b:]


def delete_chunk(data: bytes, rng: random.Random) -> bytes:
    """Leave something out."""
    a, b = _span(data, rng)
    return data[:a] + data[b:]


def swap_chunks(data: bytes, rng: random.Random) -> bytes:
    """Exchange two pieces."""
    (a, b), (c, d) = sorted((_span(data, rng), _span(data, rng)))
    c, d = max(b, c), max(b, d)
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def duplicate_line(data: bytes, rng: random.Random) -> bytes:
    """Repeat a line somewhere else."""
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def delete_line(data: bytes, rng: random.Random) -> bytes:
    """Leave a line out."""
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def swap_lines(data: bytes, rng: random.Random) -> bytes:
    """Exchange two lines."""
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def odd_number(data: bytes, rng: random.Random) -> bytes:
    """Put a number that is none, or none that anybody wants."""
    return _replace_one(NUMBER, data, rng, rng.choice(ODD_NUMBERS))


def delete_attribute(data: bytes, rng: random.Random) -> bytes:
    """Leave an attribute out."""
    return _replace_one(ATTRIBUTE, data, rng, b"")


def copy_value(data: bytes, rng: random.Random) -> bytes:
    """Give one attribute the value of another: duplicate names, cycles, unknown types."""
    values = [hit.group(1) for hit in _hits(VALUE, data)]
    return _replace_one(VALUE, data, rng, rng.choice(values), 1) if values else data


def delete_element(data: bytes, rng: random.Random) -> bytes:
    """Leave out an element that has no elements in it, or only empty ones."""
    return _replace_one(WHOLE, data, rng, b"")


def copy_element(data: bytes, rng: random.Random) -> bytes:
    """Put one such element in the place of another, or behind it."""
    found = _hits(WHOLE, data)
    if not found:
        return data
    old, new = rng.choice(found), rng.choice(found).group()
    start = old.start() if rng.random() < 0.5 else old.end()
    return data[:start] + new + data[old.end() :]


def copy_word(data: bytes, rng: random.Random) -> bytes:
    """Put one word of the file in the place of another."""
    words = [hit.group() for hit in _hits(WORD, data)]
    return _replace_one(WORD, data, rng, rng.choice(words)) if words else data


def nest_deeply(data: bytes, rng: random.Random) -> bytes:
    """Open something very many times."""
    depth = rng.choice((50, 101, 1_000, 20_000))
    tags = [hit.group() for hit in _hits(TAG, data)]
    opening = rng.choice(tags).rstrip(b"/>") + b">" if tags and rng.random() < 0.7 else rng.choice((b"{\n", b"<a>"))
    k = rng.randrange(len(data) + 1)
    return data[:k] + opening * min(depth, 400_000 // len(opening)) + data[k:]


def long_string(data: bytes, rng: random.Random) -> bytes:
    """Make a word very long."""
    letter, length = rng.choice((b"a", b"\xc3\xa9", b"9", b" ")), rng.choice((300, 5_000, 200_000))
    return _replace_one(WORD, data, rng, letter * length)


def odd_bytes(data: bytes, rng: random.Random) -> bytes:
    """Insert bytes that text should not hold."""
    k = rng.randrange(len(data) + 1)
    return data[:k] + rng.choice(ODD_BYTES) * rng.randint(1, 3) + data[k:]


def add_doctype(data: bytes, rng: random.Random) -> bytes:
    """Declare entities, and perhaps use one."""
    first = data.find(b"?>") + 2 if data.startswith(b"<?xml") else 0
    data = data[:first] + rng.choice(DOCTYPES) + data[first:]
    return _replace_one(VALUE, data, rng, rng.choice((b"&e;", b"&c;", b"&a;")), 1) if rng.random() < 0.5 else data


def other_encoding(data: bytes, rng: random.Random) -> bytes:
    """Declare an encoding, true or not."""
    name = rng.choice((b"utf-16", b"latin-1", b"cp037", b"zlib", b"idna", b"rot13", b"shift_jis", b"utf-7", b"nothing"))
    body = data[data.find(b"?>") + 2 :] if data.startswith(b"<?xml") else data
    if rng.random() < 0.2:
        body = body.decode("utf-8", "replace").encode("utf-16")
    return b'<?xml version="1.0" encoding="' + name + b'"?>' + body


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes, truncate, duplicate_chunk, delete_chunk, swap_chunks, duplicate_line, delete_line, swap_lines,
    *[odd_number] * 6, *[delete_attribute] * 3, *[copy_value] * 6, *[delete_element] * 3, *[copy_element] * 3,
    copy_word, copy_word, nest_deeply, long_string, odd_bytes, add_doctype, other_encoding,
)  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A few mutations in a row, mostly one, so that most files get past the first check."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(MUTATIONS)(data, rng)
    return data


def odd_word(data: bytes, rng: random.Random) -> bytes:
    """Put an extreme byte, integer or real somewhere, mostly where binary files keep what they say about themselves."""
    if not data:
        return data
    new = rng.choice(ODD_WORDS)
    k = rng.randrange(min(len(data), rng.choice((32, 2_048, len(data)))))
    return data[:k] + new + data[k + len(new) :]


BINARY: tuple[Mutation, ...] = (
    flip_bytes, truncate, duplicate_chunk, delete_chunk, swap_chunks, copy_word, long_string, odd_bytes, *[odd_word] * 12,
)  # fmt: skip


def mutate_binary(data: bytes, rng: random.Random) -> bytes:
    """A few mutations in a row of a file that is no text."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        data = rng.choice(BINARY)(data, rng)
    return data
