"""Reads a file, and rejects unusable ones before anything is parsed."""

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder
from pathlib import Path

from truerail.files.problems import FileError, Problem


def read_text(path: Path, most_bytes: int, error: type[FileError]) -> str:
    """The UTF-8 text of a file, without a byte order mark. Raises `error` if it is unreadable, larger than
    `most_bytes`, or not UTF-8.
    """
    return decoded(read_bytes(path, most_bytes, error), str(path), error)


def read_bytes(path: Path, most_bytes: int, error: type[FileError]) -> bytes:
    """The content of a file, or of what a process writes into a pipe; a pipe without one is empty. Raises `error` if it
    is unreadable or larger than `most_bytes`.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as handle:
            os.set_blocking(handle.fileno(), True)
            content = handle.read(most_bytes + 1)
    except OSError as failure:
        raise error([Problem(str(path), 0, "", f"cannot be read: {failure.strerror or failure}")]) from failure
    if len(content) > most_bytes:
        raise error([Problem(str(path), 0, "", f"larger than {most_bytes:,} bytes")])
    return content


def utf16_text(raw: bytes) -> str | None:
    """The text of a file that begins with a byte order mark of UTF-16, as PowerShell's `>` writes it; None for any
    other. What is no UTF-16 in it becomes U+FFFD.
    """
    return raw.decode("utf-16", "replace") if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else None


def decoder_of(first: bytes) -> IncrementalDecoder:
    """Decodes any file, UTF-16 with a byte order mark among them, by its first bytes; bytes that are no text become
    U+FFFD.
    """
    wide = first.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return getincrementaldecoder("utf-16" if wide else "utf-8")("replace")


def text_of(raw: bytes) -> str:
    """The whole content of any file."""
    return decoder_of(raw).decode(raw, True)


def decoded(raw: bytes, file: str, error: type[FileError]) -> str:
    """The text of a file's content, without a byte order mark. Raises `error` if it is not UTF-8, and not UTF-16 with a
    byte order mark.
    """
    if (wide := utf16_text(raw)) is not None:
        return wide
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        byte = f"0x{raw[failure.start]:02x}"
        raise error([Problem(file, line, byte, "not UTF-8; save the file as UTF-8")]) from None
