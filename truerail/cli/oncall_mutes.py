"""`truerail ack` and `truerail maintenance`: mutes known faults and announced work, over the service's API."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode, refusing
from truerail.cli.oncall import LOCAL_SERVICE, Format, Service, Shown, TokenFile

Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="2h, 18:00, tomorrow 08:00, or ISO 8601; in UTC unless it has a zone."),
]
Because = Annotated[str | None, typer.Option(metavar="TEXT", help="The reason, one line; recorded with your name.")]
Listed = Annotated[bool, typer.Option("--list", help="List the open ones.")]
End = Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="End the one with this number.")]
_OPTIONS = {
    "target": "ID",
    "what": "WHAT",
    "reason": "--because",
    "until": "--until",
    "ends": "--until",
    "starts": "--from",
}
"""What the fields of the API are on the command line."""


def ack(
    target: Annotated[
        str | None, typer.Argument(metavar="ID", help="The id of a finding, or the key of a cause: 26f941061998.")
    ] = None,
    until: Until = None,
    because: Because = None,
    show: Listed = False,
    end: End = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    fmt: Shown = Format.TEXT,
) -> None:
    """Acknowledge a finding or a cause: it does not alert until the given time, or until it is resolved."""
    _one_of("ID, --list or --end NUMBER", target, show, end)
    api = _Api(service, token_file, fmt)
    if target is not None:
        body = {"target": target, "reason": _needed(because), "until": _time(until) if until else None}
        api.create("acknowledgements", body, "ack")
    api.other("acknowledgements", end)


def maintenance(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT", help="leaf-3, gpu-12, 'rail 3', 'pod p1', 'rack r05', 'r05 u12', 'gpu-[001-016]'."
        ),
    ] = None,
    until: Until = None,
    because: Because = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Start, as --until. [default: now]")
    ] = None,
    show: Listed = False,
    end: End = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    fmt: Shown = Format.TEXT,
) -> None:
    """Announce maintenance of a device, a rack, a rail, a pod or a node set: its faults do not alert meanwhile."""
    _one_of("WHAT, --list or --end NUMBER", what, show, end)
    api = _Api(service, token_file, fmt)
    if what is not None:
        if until is None:
            raise typer.BadParameter("maintenance needs an end: --until TIME")
        starts = _time(start) if start else datetime.now(UTC).isoformat()
        body = {"what": what, "starts": starts, "ends": _time(until), "reason": _needed(because)}
        api.create("maintenance", body, "maintenance")
    api.other("maintenance", end)


def _one_of(what: str, target: str | None, show: bool, end: int | None) -> None:
    if sum((target is not None, show, end is not None)) != 1:
        raise typer.BadParameter(f"give one of: {what}")


def _needed(because: str | None) -> str:
    if because is None:
        raise typer.BadParameter("give the reason: --because TEXT")
    return because


def _time(text: str) -> str:
    from truerail.errors import QueryError
    from truerail.questions.moments import end_of

    with refusing(QueryError):
        return end_of(text, datetime.now(UTC)).isoformat()


class _Api:
    """One of the two lists of the service."""

    def __init__(self, service: str, token_file: Path | None, fmt: Format) -> None:
        self._service, self._token_file, self._fmt = service, token_file, fmt

    def create(self, route: str, body: Mapping[str, Any], command: str) -> NoReturn:
        """Creates one and shows it."""
        made = self._send("POST", route, body)
        self._show(made, f"{_line(made)}\nEnd it early: truerail {command} --end {made.get('id')}")

    def other(self, route: str, end: int | None) -> NoReturn:
        """Ends one, or lists all."""
        if end is not None:
            self._send("DELETE", f"{route}/{end}", None)
            self._show({"ended": end}, f"number {end} has ended")
        found = self._send("GET", route, None)
        rows = found.get("items", []) if isinstance(found, dict) else []
        self._show(found, "\n".join(map(_line, rows)) or "none is open")

    def _send(self, method: str, route: str, body: Mapping[str, Any] | None) -> Any:
        from truerail.cli.oncall_service import sent

        return sent(method, self._service, route, body, self._token_file, _OPTIONS)

    def _show(self, value: Any, text: str) -> NoReturn:
        import json

        terminal_output.say(json.dumps(value, indent=2) if self._fmt is Format.JSON else text)
        raise typer.Exit(ExitCode.GOOD)


def _line(row: Mapping[str, Any]) -> str:
    """`3  leaf-3  2026-11-20 14:00 to 18:00 UTC  ann: new optics`."""
    from truerail.outputs.report_words import name, sentence

    target = row.get("target") or f"{row.get('scope')} {row.get('what')}"
    ends = row.get("until") or row.get("ends")
    until = f"until {_when(ends)}" if ends else "until it is resolved"
    starts = f"from {_when(row['starts'])} " if row.get("starts") else ""
    who, why = name(str(row.get("author"))), sentence(str(row.get("reason")))
    return f"{row.get('id')}  {name(str(target))}  {starts}{until}  {who}: {why}"


def _when(text: Any) -> str:
    try:
        return f"{datetime.fromisoformat(str(text)):%Y-%m-%d %H:%M:%S %Z}"
    except ValueError:
        return "time unknown"
