"""`truerail watch`: the technician's live list. Open steps in walking order; repaired ones are ticked off."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError

if TYPE_CHECKING:
    import asyncio

    from truerail.cli.watch_screen import Watch
    from truerail.transport.protocol import Transport

FIRST_ROUND_SECONDS = 60.0
"""The first round logs in everywhere; later ones use the open connections and end with their interval."""


def watch(
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Plan file. Without it the plan is inferred from the first round."),
    ] = None,
    inventory: Annotated[
        Path | None, typer.Option(metavar="INVENTORY", help="Poll the devices of this inventory.")
    ] = None,
    capture: Annotated[
        Path | None, typer.Option("--from", metavar="CAPTURE", help="Replay the rounds of this capture instead.")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.0, metavar="SECONDS", help="Time between rounds.")] = 5.0,
    rounds: Annotated[int, typer.Option(min=0, metavar="N", help="Number of rounds; 0: until Ctrl-C.")] = 0,
) -> None:
    """Show the open steps, round after round: done steps are ticked off, new faults come on top."""
    if (capture is None) == (inventory is None):
        raise typer.BadParameter("give either --from CAPTURE or --inventory INVENTORY")
    if inventory is not None:
        shown = _live(inventory, plan, interval, rounds)
    else:
        assert capture is not None  # noqa: S101 - one of the two is there, see above
        shown = _replayed(capture, plan, interval, rounds)
    if not shown.answered:
        raise CommandError(f"{capture or inventory}: no device gave a readable answer, nothing was evaluated")
    raise typer.Exit(ExitCode.FOUND if shown.work.left or shown.work.unread else ExitCode.GOOD)


def _live(inventory: Path, plan: Path | None, interval: float, rounds: int) -> "Watch":
    import asyncio

    from collector import at_once
    from truerail.cli import live
    from truerail.cli.watch_screen import Watch
    from truerail.outputs.report_words import count
    from truerail.poller import Limits

    fleet = live.load_fleet(inventory, plan)
    later = max(interval, 1.0)
    first = Limits(deadline_seconds=FIRST_ROUND_SECONDS)
    others = Limits(device_seconds=later, deadline_seconds=later, retries=1)

    async def body(transport: "Transport", stop: asyncio.Event) -> Watch:
        loop = asyncio.get_running_loop()
        gatherer = fleet.gatherer(transport)
        with Watch(fleet.plan) as shown:
            shown.greet(f"logging in to {count(len(fleet.targets), 'device')}")
            while not stop.is_set():
                began = loop.time()
                limits = others if shown.work.round else first
                seen = await gatherer.round(collectors=at_once(), stop=stop, limits=limits)
                if seen.interrupted and shown.work.round:
                    break
                shown.take(seen, len(seen.rows) - len(seen.unreached), len(seen.rows), loop.time() - began)
                if rounds and shown.work.round >= rounds:
                    break
                await _pause(stop, began + interval - loop.time())
        return shown

    return live.run(body, live.ENDING)


async def _pause(stop: "asyncio.Event", seconds: float) -> None:
    """Waits, or returns early on stop."""
    import asyncio

    if seconds > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stop.wait()


def _replayed(capture: Path, plan: Path | None, interval: float, rounds: int) -> "Watch":
    import time
    from itertools import islice

    from truerail.cli.evaluating import load_plan
    from truerail.cli.watch_screen import Watch, replay

    with Watch(load_plan(plan) if plan else None) as shown, suppress(KeyboardInterrupt):
        # no `if` ends the loop: Python 3.13 raises a Ctrl-C at the jump back from one outside of both contexts
        for seen, asked, read in islice(replay(capture, shown), rounds or None):
            if shown.work.round:
                time.sleep(interval)
            shown.take(seen, read, asked, 0.0)
    return shown
