"""From an inventory to a round: code that `check`, `capture` and `watch` share."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from collector import at_once
from truerail.cli import terminal_output
from truerail.cli.evaluating import load_plan, named
from truerail.cli.exit_codes import refusing
from truerail.errors import CommandError
from truerail.model import Plan, Target
from truerail.model.names import device_key, printable
from truerail.poller import Gathered, Limits, Poller, Progress, Row
from truerail.transport.protocol import Transport

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fleet:
    """The devices to poll, and their plan, if any: the given one, else the inventory's own cables."""

    path: Path
    targets: tuple[Target, ...]
    plan: Plan | None

    def asked_for(self, only: str | None) -> set[str] | None:
        """The devices to poll for a user's node set: those, the far ends of their planned cables, and the devices that
        report the fabric.

        None without a node set, and without a plan: rails are then inferred from all. Raises CommandError.
        """
        if only is None or self.plan is None:
            return None
        wanted = named(only, (*self.plan.devices, *(target.name for target in self.targets)))
        keys = {device_key(target.name) for target in self.targets}
        for name in sorted(wanted):
            if device_key(name) not in keys:
                raise CommandError(f"--only {only}: {name} is not in the inventory {self.path}")
        ends = ({cable.a.device, cable.b.device} for cable in self.plan.cables)
        fabric = {target.name for target in self.targets if target.apart}
        return wanted.union(fabric, *(pair for pair in ends if pair & wanted))

    def gatherer(self, transport: Transport, limits: Limits | None = None) -> Poller:
        """The poller of these devices, with their names matched to the plan's."""
        return Poller(self.targets, transport, devices=self.plan.devices if self.plan else None, limits=limits)


def load_fleet(inventory: Path, plan: Path | None) -> Fleet:
    """Reads an inventory and a plan. Raises CommandError with a line for each problem."""
    from truerail.inventory import InventoryError, load_inventory

    with refusing(InventoryError):
        found = load_inventory(inventory)
    terminal_output.remark(*found.notes)
    if not found.targets:
        raise CommandError(f"{inventory}: has no devices, nothing to poll")
    return Fleet(inventory, found.targets, load_plan(plan) if plan else found.plan)


def open_transport() -> Transport:
    """The transport to devices. Opens no connection yet."""
    from truerail.transport.fleet_transport import Routes

    return Routes()


def one_round(
    fleet: Fleet,
    *,
    only: Collection[str] | None = None,
    collectors: Collection[str] | None = None,
    limits: Limits | None = None,
    keep: Callable[[Row], None] = lambda row: None,
    quiet: bool = False,
) -> Gathered:
    """Polls a fleet once, and reports it (`reported`). Ctrl-C ends the round early, with the answers collected by then.

    Without `collectors` all run except counters, which are useless in a single round. `keep` gets each row as it comes.
    """

    async def asking(transport: Transport, stop: asyncio.Event) -> Gathered:
        def progress(row: Row, done: int, total: int) -> None:
            keep(row)
            report(row, done, total)

        gatherer = fleet.gatherer(transport, limits)
        return await gatherer.round(only=only, collectors=collectors or at_once(), progress=progress, stop=stop)

    with reported(quiet=quiet) as report:
        return run(asking)


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a service manager that stops us, and the end of the terminal or of its SSH session."""


def run(
    body: Callable[[Transport, asyncio.Event], Awaitable[T]],
    signals: Collection[signal.Signals] = (signal.SIGINT,),
    at_once: asyncio.Event | None = None,
) -> T:
    """Runs `body` with a transport that is always closed afterwards, and an event that Ctrl-C sets, or each of
    `signals` that is not ignored, as by `nohup`.

    A second one sets `at_once`; without it, and the third time, nothing is awaited.
    """

    async def main() -> T:
        loop, stop, transport = asyncio.get_running_loop(), asyncio.Event(), open_transport()
        handled = [one for one in signals if signal.getsignal(one) is not signal.SIG_IGN]

        def ended() -> None:
            last = at_once is None or stop.is_set()
            (at_once if at_once is not None and stop.is_set() else stop).set()
            for one in handled if last else ():
                loop.remove_signal_handler(one)

        for one in handled:
            loop.add_signal_handler(one, ended)
        try:
            return await body(transport, stop)
        finally:
            await transport.close()
            for one in handled:
                loop.remove_signal_handler(one)

    return asyncio.run(main())


# ----------------------------------------------------------------------------------------------------------------------
# A round's progress on stderr: a bar on a terminal, a line for each failing device, a line at the end.


class RoundReported:
    """Counts rows and reports failing devices."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self.asked = 0
        self.reached = 0

    def line(self, row: Row) -> str:
        """Adds a finished row; returns its message, empty if all is well."""
        self.asked += 1
        self.reached += not row.error
        if self._quiet:
            return ""
        if row.error:
            return f"{row.name}: {row.error}"
        unread = [reading.collector for reading in row.readings if reading.error]
        return f"{row.name}: answered, not readable: {', '.join(unread)}" if unread else ""

    def remark(self, row: Row, done: int, total: int) -> None:
        """Adds a finished row, and prints its message."""
        if line := self.line(row):
            terminal_output.remark(line)

    def sum(self) -> str:
        """The line at the end."""
        missing = self.asked - self.reached
        tail = f", {missing:,} could not be polled" if missing else ""
        return f"polled {self.asked:,} device{'' if self.asked == 1 else 's'}, {self.reached:,} answered{tail}"


@contextmanager
def reported(*, quiet: bool = False) -> Iterator[Progress]:
    """Reports a round while the body runs; `quiet` leaves failing devices to the later report."""
    state = RoundReported(quiet)
    with _bar(state) if sys.stderr.isatty() else nullcontext(state.remark) as progress:
        yield progress
    terminal_output.remark(state.sum())


@contextmanager
def _bar(state: RoundReported) -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=terminal_output.drawn_beside(), transient=True) as bar:
        task = bar.add_task("polling devices", total=None)

        def progress(row: Row, done: int, total: int) -> None:
            if line := state.line(row):
                bar.console.print(Text(printable(line, 1000)))
            bar.update(task, completed=done, total=total, description=printable(row.name, 40))

        yield progress
