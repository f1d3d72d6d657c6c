"""`truerail nccl`: a job's NCCL log on the rails of the fabric, and whether the network slows the job."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall_options import LOCAL_SERVICE, Details, Format, Inventory, Service, Shown, TokenFile
from truerail.errors import CommandError

if TYPE_CHECKING:
    from datetime import datetime

    from truerail.analysis.round import Round
    from truerail.cli.evaluating import Seen
    from truerail.model import Fact, Plan, Reading
    from truerail.questions.nccl_answer import NcclAnswer

Logs: TypeAlias = "list[tuple[Path, tuple[Fact, ...]]]"
"""Logs, and what each of them shows."""
_MOST_HOSTS = 5
_HOST = re.compile(r"^([\w.-]{1,64}):\d{1,9}:\d{1,9} \[\d{1,3}\] NCCL INFO ", re.MULTILINE)
_KINDS = {" - GPU/": "a host's topology (GRAPH)", "# nThread ": "a table of nccl-tests", "NCCL WARN ": "warnings"}
"""What lines show that are neither ranks nor devices nor connections."""
Capture = Annotated[
    Path | None,
    typer.Option("--capture", "--from", metavar="CAPTURE", help="The fabric's state: a folder or tar archive."),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", metavar="PLAN", help="The plan. Without one it is inferred.")]


def nccl(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs of the job, with NCCL_DEBUG=INFO.")],
    plan: PlanFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Show which cable and rail each connection of a job uses, and the findings on its path.

    Logs with the subsystems INIT, NET, GRAPH and ENV of all hosts show both ends of each connection. The cabling is
    that of the running service, unless a capture, an inventory or a plan is given; without any of them the logs alone
    are shown. Ends with 0 if the path is known to be good, 1 if it has findings or is not known.
    """
    from truerail.cli import terminal_output
    from truerail.questions.nccl_answer import nccl_text

    if capture is not None and inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    hops = details or fmt is Format.JSON
    beside = _Beside()
    read = [(log, beside.facts_of(log)) for log in logs]
    if not any(facts for _, facts in read):
        answer = beside.answer(logs)
    elif plan is None and capture is None and inventory is None:
        answer = _of_service(read, service, token_file, hops=hops) or _here(read, None, None, None, hops=hops)
    else:
        answer = _here(read, plan, capture, inventory, hops=hops)
    if fmt is Format.JSON:
        import json

        from truerail.views.plain import as_json

        terminal_output.say(json.dumps(as_json(answer), indent=2))
    else:
        terminal_output.say(nccl_text(answer, details=details))
    raise typer.Exit(ExitCode.GOOD if answer.network == "good" else ExitCode.FOUND)


def _of_service(logs: Logs, service: str, token_file: Path | None, *, hops: bool) -> "NcclAnswer | None":
    """The answer of a service; None where none was named and none answers on this machine. Raises CommandError."""
    from urllib.error import HTTPError

    from truerail.cli import terminal_output
    from truerail.cli.nccl_service import of_service

    try:
        return of_service(logs, service, token_file, hops=hops)
    except CommandError as error:
        cause = error.__cause__
        if service != LOCAL_SERVICE or not isinstance(cause, OSError) or isinstance(cause, HTTPError):
            raise
    terminal_output.remark(
        f"no service answers at {service}: the log alone is shown; --plan or --capture has the cabling"
    )
    return None


def _here(logs: Logs, plan: Path | None, capture: Path | None, inventory: Path | None, *, hops: bool) -> "NcclAnswer":
    from truerail.questions.nccl import nccl_answer
    from truerail.rounds import evaluate

    round = _round(logs, plan, capture, inventory)
    assert round.nccl is not None  # noqa: S101 - a log has facts
    return nccl_answer(round, evaluate(round), round.nccl, hops=hops)


class _Beside:
    """What logs show beside ranks, devices and connections."""

    def __init__(self) -> None:
        self._lines, self._empty = 0, True
        self._kinds: dict[str, None] = {}
        self._hosts: set[str] = set()

    def facts_of(self, log: Path) -> "tuple[Fact, ...]":
        """What one log shows. Raises CommandError."""
        from collector._nccl_lines import MARK
        from collector.nccl_log import facts_of
        from truerail.cli.parse import parts_of
        from truerail.errors import OutOfBoundsError, UnreadableError
        from truerail.model.bounds import bounded
        from truerail.model.terminal import untouched

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

    def answer(self, logs: list[Path]) -> "NcclAnswer":
        """The answer for logs of NCCL without a rank, device or connection. Raises CommandError for empty ones."""
        from truerail.outputs.report_words import count
        from truerail.questions.nccl import nothing_shown

        if self._empty:
            raise CommandError(f"{', '.join(map(str, logs))}: no lines of NCCL")
        hosts = sorted(self._hosts)
        of = f" of {', '.join(hosts[:_MOST_HOSTS])}{', ...' * (len(hosts) > _MOST_HOSTS)}" if hosts else ""
        kinds = [words for words in _KINDS.values() if words in self._kinds]
        return nothing_shown(
            f"read: {', '.join([count(self._lines, 'line') + ' of NCCL' + of, *kinds])}",
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV writes ranks, devices and connections",
        )


def _round(logs: Logs, plan: Path | None, capture: Path | None, inventory: Path | None) -> "Round":
    """The round of the fabric with the logs among its readings."""
    from datetime import UTC, datetime

    from truerail.analysis.round import Round
    from truerail.cli.evaluating import inferred, load_plan, read
    from truerail.cli.plug_history import round_of
    from truerail.model import Plan, Snapshot

    intended = load_plan(plan) if plan else None
    if capture is None and inventory is None:
        at, known = datetime.now(UTC), intended or Plan({}, ())
        return Round(known, Snapshot(at, _logs(logs, known, at)))
    seen: Seen
    if capture is not None:
        seen = read(capture, intended)
    else:
        from truerail.cli import live, live_progress

        assert inventory is not None  # noqa: S101 - one of the two is given
        fleet = live.load_fleet(inventory, plan)
        intended = fleet.plan
        with live_progress.reported() as progress:
            seen = live.one_round(fleet, progress=progress)
    snapshot = seen.snapshot()
    if intended is None:
        intended, _ = inferred(snapshot)
    readings = [*snapshot.readings, *_logs(logs, intended, snapshot.at)]
    return round_of(intended, seen, Snapshot(snapshot.at, readings, snapshot.previous, snapshot.inventory))


def _logs(logs: Logs, plan: "Plan", at: "datetime") -> "list[Reading]":
    """The logs as readings."""
    from truerail.model import Reading
    from truerail.questions.nccl import devices_of

    devices = devices_of([log.name for log, _ in logs], plan)
    return [
        Reading(device, "nccl_log", at, facts, source=str(log))
        for (log, facts), device in zip(logs, devices, strict=True)
    ]
