"""The data of glTF files: JSON, with buffers in it, beside it in the same folder, or behind it (``.glb``)."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import numpy as np

from supple.errors import BadFile
from supple.files.rigs.bones import MOST_NUMBERS
from supple.files.xml import read_bytes, shown
from supple.geometry.placements import Floats

MOST_BYTES = 512 * 1024 * 1024
TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MOST_OBJECTS = 4_000_000  # of JSON
PACKED = ("EXT_meshopt_compression",)


class Document:
    """A document and its data."""

    def __init__(self, data: bytes, file: str | None) -> None:
        self.file, self.binary = file, b""
        text = self._chunks(data) if data[:4] == b"glTF" else data
        if text.count(b"[") + text.count(b"{") > MOST_OBJECTS:
            self.refuse("the file has more objects than any skeleton")
        try:
            self.json: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.refuse(f"the JSON is broken: {error}")
        if not isinstance(self.json, dict) or "asset" not in self.json:
            self.refuse("this is no glTF file: it has no asset")
        asset = self.json["asset"]
        if not str(asset.get("version", "2.0") if isinstance(asset, dict) else "2.0").startswith("2"):
            self.refuse("only glTF 2 is read: convert the file")
        packed = [e for e in self.part(self.json, "extensionsRequired", list, []) if e in PACKED]
        if packed and self.items("animations"):
            self.refuse(f"its numbers are packed by {packed[0]}: write the file again without it")
        self.buffers: dict[int, bytes] = {}

    def refuse(self, message: str) -> NoReturn:
        """Complain about the file."""
        raise BadFile(message, file=self.file)

    def _chunks(self, data: bytes) -> bytes:
        """The JSON of a binary file; what stands behind it is kept."""
        at, text = 12, b""
        if data[4:8] == b"\1\0\0\0":
            self.refuse("only glTF 2 is read: convert the file")
        while at + 8 <= len(data):
            size, kind = struct.unpack_from("<I4s", data, at)
            chunk = data[at + 8 : at + 8 + size]
            if len(chunk) < size:
                self.refuse("the file ends too early")
            if kind == b"JSON" and not text:
                text = chunk
            elif kind == b"BIN\0" and not self.binary:
                self.binary = chunk
            at += 8 + size
        return text

    # ── reading JSON ─────────────────────────────────────────────────────────────────────────────────────────────────
    def part(self, holder: Any, key: str, kind: type, default: Any = None) -> Any:
        """A member of an object, of a kind."""
        value = holder.get(key, default) if isinstance(holder, dict) else default
        if value is default:
            return value
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.refuse(f"{shown(key)} must be {kind.__name__}, not {shown(str(value))}")
        return value

    def items(self, key: str) -> list[dict[str, Any]]:
        """A list of objects at the top."""
        found = self.part(self.json, key, list, [])
        if not all(isinstance(each, dict) for each in found):
            self.refuse(f"{shown(key)} must be a list of objects")
        return found

    def at(self, key: str, index: Any) -> dict[str, Any]:
        """One of such a list."""
        found = self.items(key)
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(found):
            self.refuse(f"there are {len(found)} {key}, none with the number {shown(str(index))}")
        return found[index]

    def numbers(self, holder: dict[str, Any], key: str, default: tuple[float, ...]) -> Floats:
        """Finite numbers of an object, as many as the default has."""
        values = self.part(holder, key, list, list(default))
        good = len(values) == len(default) and all(
            isinstance(v, int | float) and not isinstance(v, bool) for v in values
        )
        out = np.array(values, dtype=np.float64) if good and all(abs(v) < 1e30 for v in values) else None
        if out is None or not np.isfinite(out).all():
            self.refuse(f"{shown(key)} must be {len(default)} numbers")
        return out

    # ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────
    def buffer(self, index: int) -> bytes:
        """The bytes of a buffer."""
        if index not in self.buffers:
            uri = self.part(self.at("buffers", index), "uri", str)
            self.buffers[index] = self.binary if uri is None else self._fetched(uri)
        return self.buffers[index]

    def _fetched(self, uri: str) -> bytes:
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (binascii.Error, ValueError) as error:
                self.refuse(f"a data URI is broken: {error}")
        name = unquote(uri)
        if self.file is None or Path(name).name != name or name in ("", ".", ".."):
            self.refuse(f"the buffer {shown(uri)} is not in the folder of the file: put it there")
        return read_bytes(Path(self.file).parent / name, MOST_BYTES)

    def accessor(self, index: Any, kind: str) -> Floats:
        """The rows of an accessor of a kind, normalised numbers as numbers."""
        accessor = self.at("accessors", index)
        count, component = self.part(accessor, "count", int, 0), self.part(accessor, "componentType", int, 0)
        width = WIDTHS.get(kind, 0)
        if accessor.get("type") != kind or component not in TYPES or not 0 <= count <= MOST_NUMBERS // max(width, 1):
            self.refuse(f"accessor {index} is not of type {kind}")
        dtype = np.dtype(TYPES[component])
        out = self._viewed(accessor, count, width, dtype)
        sparse = self.part(accessor, "sparse", dict)
        if sparse is not None:
            n = self.part(sparse, "count", int, 0)
            indices, values = self.part(sparse, "indices", dict, {}), self.part(sparse, "values", dict, {})
            kind_of = TYPES.get(self.part(indices, "componentType", int, 0))
            if kind_of is None or not 0 <= n <= count:
                self.refuse(f"accessor {index} is sparse in no known way")
            rows = self._viewed(indices, n, 1, np.dtype(kind_of)).ravel().astype(np.int64)
            if ((rows < 0) | (rows >= count)).any():
                self.refuse(f"accessor {index} names rows that it does not have")
            out[rows] = self._viewed(values, n, width, dtype)
        if accessor.get("normalized") is True and dtype.kind in "iu":
            out = np.maximum(out / np.iinfo(dtype).max, -1.0)
        if not np.isfinite(out).all():
            self.refuse(f"accessor {index} holds numbers that are not finite")
        return out

    def _viewed(self, holder: dict[str, Any], count: int, width: int, dtype: np.dtype[Any]) -> Floats:
        """Rows of numbers from a view; zeros without one."""
        if "bufferView" not in holder:
            return np.zeros((count, width))
        view = self.at("bufferViews", holder["bufferView"])
        data = self.buffer(self.part(view, "buffer", int, -1))
        begin = self.part(view, "byteOffset", int, 0) + self.part(holder, "byteOffset", int, 0)
        size = width * dtype.itemsize
        stride = self.part(view, "byteStride", int, 0) or size
        if begin < 0 or stride < size or (count and begin + stride * (count - 1) + size > len(data)):
            self.refuse("an accessor reaches beyond its data")
        if not count:
            return np.zeros((0, width))
        raw = np.lib.stride_tricks.as_strided(np.frombuffer(data, np.uint8)[begin:], (count, size), (stride, 1))
        return np.ascontiguousarray(raw).view(dtype).astype(np.float64)
