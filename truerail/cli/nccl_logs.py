"""A job's NCCL logs on the rails of the fabric: joined with the wiring of a running service, of a capture, of polled
devices, or alone.
"""

import re
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from urllib.error import HTTPError

from collector.formats.nccl_lines import MARK
from collector.nccl_log import facts_of
from truerail.analysis.round import Round
from truerail.cli import terminal_output
from truerail.cli.evaluating import inferred, load_plan, round_of
from truerail.cli.oncall import LOCAL_SERVICE
from truerail.cli.oncall_local import round_asked
from truerail.cli.oncall_service import sent, versions_named
from truerail.cli.oncall_source import Source
from truerail.cli.parse import parts_of
from truerail.errors import CommandError, OutOfBoundsError, UnreadableError
from truerail.link.codec import packed
from truerail.model import Fact, Plan, Reading, Snapshot
from truerail.model.bounds import bounded
from truerail.model.terminal import untouched
from truerail.outputs.report_words import count
from truerail.questions.nccl import devices_of, nccl_answer, nothing_shown
from truerail.questions.nccl_answer import NcclAnswer
from truerail.rounds import evaluate
from truerail.views.plain import answer_from_json

Logs: TypeAlias = list[tuple[Path, tuple[Fact, ...]]]
"""Logs, and what each of them shows."""
_MOST_HOSTS = 5
_HOST = re.compile(r"^([\w.-]{1,64}):\d{1,9}:\d{1,9} \[\d{1,3}\] NCCL INFO ", re.MULTILINE)
_KINDS = {" - GPU/": "a host's topology (GRAPH)", "# nThread ": "a table of nccl-tests", "NCCL WARN ": "warnings"}
"""What lines show that are neither ranks nor devices nor connections."""


def nccl_of(logs: list[Path], source: Source, *, hops: bool) -> NcclAnswer:
    """What the logs show on the fabric of a source; `hops`: with every hop. Raises CommandError."""
    beside = _Beside()
    read = [(log, beside.facts_of(log)) for log in logs]
    if not any(facts for _, facts in read):
        return beside.answer(logs)
    if source.plan is None and not source.local and (answer := _of_service(read, source, hops=hops)) is not None:
        return answer
    return _here(read, source, hops=hops)


def _of_service(logs: Logs, source: Source, *, hops: bool) -> NcclAnswer | None:
    """The answer of a service; None where none was named and none answers on this machine. Raises CommandError."""
    try:
        body = {
            "logs": [{"name": log.name, "facts": b64encode(packed(facts)).decode("ascii")} for log, facts in logs],
            "hops": hops,
        }
        with versions_named(source.service, source.token_file, "nccl"):
            return answer_from_json(NcclAnswer, sent("POST", source.service, "nccl", body, source.token_file, {}))
    except CommandError as error:
        cause = error.__cause__
        if source.service != LOCAL_SERVICE or not isinstance(cause, OSError) or isinstance(cause, HTTPError):
            raise
    terminal_output.remark(
        f"no service answers at {source.service}: the log alone is shown; --plan or --from has the cabling"
    )
    return None


def _here(logs: Logs, source: Source, *, hops: bool) -> NcclAnswer:
    round = _round(logs, source)
    assert round.nccl is not None  # noqa: S101 - a log has facts
    return nccl_answer(round, evaluate(round), round.nccl, hops=hops)


class _Beside:
    """What logs show beside ranks, devices and connections."""

    def __init__(self) -> None:
        self._lines, self._empty = 0, True
        self._kinds: dict[str, None] = {}
        self._hosts: set[str] = set()

    def facts_of(self, log: Path) -> tuple[Fact, ...]:
        """What one log shows. Raises CommandError."""

        def part(text: str) -> str:
            self._lines += text.count(MARK)
            self._empty = self._empty and not text.strip()
            self._kinds |= {words: None for mark, words in _KINDS.items() if mark in text}
            if len(self._hosts) <= _MOST_HOSTS:
                self._hosts.update(found[1] for found in _HOST.finditer(text))
            return untouched(text)

        try:
            return tuple(bounded(facts_of(map(part, parts_of(log, MARK)), log.name)))
        except (UnreadableError, OutOfBoundsError) as error:
            raise CommandError(f"{log}: {error}") from error

    def answer(self, logs: list[Path]) -> NcclAnswer:
        """The answer for logs of NCCL without a rank, device or connection. Raises CommandError for empty ones."""
        if self._empty:
            raise CommandError(f"{', '.join(map(str, logs))}: no lines of NCCL")
        hosts = sorted(self._hosts)
        of = f" of {', '.join(hosts[:_MOST_HOSTS])}{', ...' * (len(hosts) > _MOST_HOSTS)}" if hosts else ""
        kinds = [words for words in _KINDS.values() if words in self._kinds]
        return nothing_shown(
            f"read: {', '.join([count(self._lines, 'line') + ' of NCCL' + of, *kinds])}",
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV writes ranks, devices and connections",
        )


def _round(logs: Logs, source: Source) -> Round:
    """The round of the fabric with the logs among its readings."""
    if not source.local:
        at, known = datetime.now(UTC), load_plan(source.plan) if source.plan else Plan({}, ())
        return Round(known, Snapshot(at, _logs(logs, known, at)))
    intended, seen, _ = round_asked(source)
    snapshot = seen.snapshot()
    if intended is None:
        intended, _ = inferred(snapshot)
    readings = [*snapshot.readings, *_logs(logs, intended, snapshot.at)]
    return round_of(intended, seen, Snapshot(snapshot.at, readings, snapshot.previous, snapshot.inventory))


def _logs(logs: Logs, plan: Plan, at: datetime) -> list[Reading]:
    """The logs as readings."""
    devices = devices_of([log.name for log, _ in logs], plan)
    return [
        Reading(device, "nccl_log", at, facts, source=str(log))
        for (log, facts), device in zip(logs, devices, strict=True)
    ]
