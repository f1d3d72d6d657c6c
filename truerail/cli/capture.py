"""`truerail capture`: the devices' current answers in files, for later, for elsewhere, for a bug report."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode, refused_by_system
from truerail.cli.oncall import TokenFile
from truerail.errors import CommandError, FolderBusyError, ScrubError

if TYPE_CHECKING:
    from truerail.cli.live import Fleet
    from truerail.poller import Gathered, Row
    from truerail.transport.capture_writer import CaptureWriter


def capture(
    inventory: Annotated[Path, typer.Option(metavar="INVENTORY", help="Inventory of the devices to poll.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the round; its subfolder is named by the time.")
    ],
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Plan to scrub in the same way and write with the round.")
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="NODESET", help="Limit to these nodes.")] = None,
    tar: Annotated[bool, typer.Option("--tar", help="Pack the round into a .tar.gz.")] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Replace names, addresses, MACs and serials, so that it can be shared.")
    ] = False,
    deadline: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit for all devices.")] = 60.0,
    probes_from: Annotated[
        str | None,
        typer.Option("--probes-from", metavar="URL", help="Store what the probes of this service show now as well."),
    ] = None,
    token_file: TokenFile = None,
) -> None:
    """Poll every device and store the answers for `check --from`. An interrupted round is continued."""
    from truerail.cli import live
    from truerail.transport.capture_writer import CaptureWriter, alone_in, pack

    fleet = live.load_fleet(inventory, plan)
    now = datetime.now(UTC)
    try:
        with refused_by_system(out, by_file=True), alone_in(out, now) as alone:
            writer = CaptureWriter(out, now, alone=alone)
            _round(fleet, writer, only, deadline)
            if probes_from:
                _store_probes(probes_from, token_file, fleet, writer)
            done = writer.finish()
            made = [*_scrubbed(done, fleet)] if scrub else [done]
            if tar:
                made[0] = pack(made[0])
    except FolderBusyError as busy:
        raise CommandError(f"{out}: {busy}; wait for it, or set another folder with --out") from busy
    terminal_output.say("\n".join(map(str, made)))


def _round(fleet: "Fleet", writer: "CaptureWriter", only: str | None, deadline: float) -> None:
    """Collects a round. Raises CommandError if no device answers, Exit if Ctrl-C ends it."""
    if _gather(fleet, writer, only, deadline).interrupted:
        terminal_output.remark(f"interrupted: {writer.folder} holds the answers so far; run the same command to resume")
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not writer.answered():
        raise CommandError(f"{fleet.path}: no device could be polled, nothing was captured")
    writer.list_inventory(target.name for target in fleet.targets)


def _store_probes(service: str, token_file: Path | None, fleet: "Fleet", writer: "CaptureWriter") -> None:
    """Adds what the probes of a service recorded at the devices that the round has. Raises CommandError."""
    from truerail.cli.oncall_service import fetched
    from truerail.model.names import answer_file, device_key

    names = {device_key(target.name): target.name for target in fleet.targets}
    stored = 0
    cursor: str | None = ""
    while cursor is not None:
        page = fetched(service, "probe/recordings", {"limit": "20", "cursor": cursor or None}, token_file)
        for one in page["items"]:
            if (name := names.get(device_key(str(one["host"])))) is not None:
                stored += writer.add_file(name, answer_file("truerail-probe"), str(one["recording"]).encode())
        cursor = page["next"]
    terminal_output.remark(f"{service}: the probes of {stored:,} hosts are stored")


def _gather(fleet: "Fleet", writer: "CaptureWriter", only: str | None, deadline: float) -> "Gathered":
    """Polls the devices that the round lacks, and writes each answer as it arrives."""
    from collector import collectors
    from truerail.cli import live
    from truerail.cli.evaluating import named
    from truerail.poller import Limits
    from truerail.transport.capture_writer import folder_name

    names = [target.name for target in fleet.targets]
    wanted = named(only, names) if only else set(names)
    there = {name for name in wanted if folder_name(name) in writer.answered()}
    if there:
        terminal_output.remark(f"resuming the round of {writer.name}: {len(there):,} devices are done")

    def keep(row: "Row") -> None:
        writer.add(row.name, row.files())

    limits = Limits(deadline_seconds=deadline)
    return live.one_round(fleet, only=wanted - there, collectors=set(collectors()), limits=limits, keep=keep)


def _scrubbed(done: Path, fleet: "Fleet") -> list[Path]:
    """Replaces the round by a scrubbed one; a plan is written beside it."""
    import shutil

    from truerail.plans import dump_csv
    from truerail.scrub import scrub_round

    draft = done.with_name(f".{done.name}.scrubbed")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        plan = scrub_round(done, draft, fleet.plan, {target.name: target.role for target in fleet.targets})
    except ScrubError as error:
        raise CommandError(f"{error}; the incomplete round is in {done}") from error
    shutil.rmtree(done)
    draft.rename(done)
    if plan is None:
        return [done]
    beside = done.with_name(f"{done.name}.plan.csv")
    beside.write_text(dump_csv(plan), encoding="utf-8")
    return [done, beside]
