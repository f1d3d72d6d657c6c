"""Answers as messages of JSON, each text by zlib and base64.

`held` names all answers that the agent has, with their versions and ages: a receiver sees by it what it lacks, and asks
for it. No message names a command or a device: a command has an id, and the device is that of the subject.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Iterator
from hashlib import blake2b

from .allowed_commands import command_id
from .command_jobs import Result

SCHEMA = 2
_PART_BYTES = 512 << 10
"""A message with more is sent in parts: the least that a bus takes by default is 1 MiB."""


class Answer:
    """The newest end of one command."""

    def __init__(self, version: int, digest: bytes, packed: bytes, result: Result) -> None:
        self.version, self.digest, self.packed, self.sent = version, digest, packed, False
        self.status, self.why, self.complaint = result.status, result.why, result.complaint
        self.read_at, self.took_seconds = result.read_at, result.took_seconds


class Answers:
    """All newest answers by command, and what of them is to be sent."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._start = os.urandom(8).hex()
        self._number = self._versions = 0
        self._of: dict[str, Answer] = {}
        self._event = False

    @property
    def waiting(self) -> bool:
        """Whether there are answers that were not sent."""
        return any(not one.sent for one in self._of.values())

    def put(self, result: Result) -> bool:
        """Takes a result, and returns whether it is another than the one before, not only newer."""
        name = command_id(result.command)
        parts = (str(result.status).encode(), result.why.encode(), result.output)  # a complaint may have the time in it
        digest = blake2b(b"\0".join(parts), digest_size=16).digest()
        known = self._of.get(name)
        if known is not None and known.digest == digest:
            known.read_at, known.took_seconds = result.read_at, result.took_seconds
            return False
        self._versions += 1
        self._of[name] = Answer(self._versions, digest, zlib.compress(result.output, 1), result)
        return True

    def keep(self, commands: list[str], of: list[str]) -> None:
        """Of the commands `of` a question, only these were its last ones."""
        for command in of:
            if command not in commands:
                self._of.pop(command_id(command), None)

    def mark_event(self) -> None:
        """The next message follows from a change that the host reported."""
        self._event = True

    def resend(self) -> None:
        """The receiver lacks something: everything is sent again."""
        for answer in self._of.values():
            answer.sent = False

    def messages(self, now: float, most_bytes: int, *, begins: bool = False, ends: bool = False) -> Iterator[bytes]:
        """All that is to be sent now: at least one message, which is the sign of life. `now` by the agent's clock.
        While it `begins`, not every question has been asked once: what has no answer yet is then not refused.
        """
        part: list[tuple[str, Answer]] = []
        size = 0
        limit = min(_PART_BYTES, most_bytes // 2)
        for name, answer in self._of.items():
            if answer.sent:
                continue
            answer.sent = True
            if len(answer.packed) > limit:
                answer.why, answer.packed = "more than the bus takes in one message", zlib.compress(b"")
            if part and size + len(answer.packed) > limit:
                yield self._message(now, part, more=True, begins=begins)
                part, size = [], 0
            part.append((name, answer))
            size += len(answer.packed)
        yield self._message(now, part, more=False, begins=begins, ends=ends)
        self._event = False

    def _message(
        self, now: float, part: list[tuple[str, Answer]], *, more: bool, begins: bool, ends: bool = False
    ) -> bytes:
        self._number += 1
        message = {
            "schema": SCHEMA,
            "start": self._start,
            "number": self._number,
            "sent": round(now, 3),
            "agent": self._version,
            "event": self._event,
            "more": more,
            "begins": begins,
            "ends": ends,
            "held": [[name, one.version, round(now - one.read_at, 3)] for name, one in self._of.items()],
            "answers": [
                {
                    "id": name,
                    "version": one.version,
                    "status": one.status,
                    "why": one.why,
                    "complaint": one.complaint.decode("utf-8", "replace"),
                    "took": round(one.took_seconds, 4),
                    "text": base64.b64encode(one.packed).decode(),
                }
                for name, one in part
            ],
        }
        return json.dumps(message, separators=(",", ":")).encode()
