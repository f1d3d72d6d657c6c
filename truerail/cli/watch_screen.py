"""The output of `truerail watch`: one redrawn screen on a terminal, a line for each change elsewhere."""

import signal
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, RenderableType
from rich.live_render import LiveRender

from truerail.analysis.cabling.plugs import Plugs
from truerail.analysis.counters import Window
from truerail.analysis.round import Round
from truerail.cli import terminal_output
from truerail.cli.evaluating import Seen, inferred
from truerail.cli.exit_codes import refusing
from truerail.errors import CaptureError
from truerail.model import Plan
from truerail.outputs.worklist import Worklist, line_of, screen, status_line, totals


class Watch:
    """Evaluates round after round and shows the state of the steps. A context manager: it owns the terminal meanwhile.

    Without a plan, the rails that the first round agrees on are the plan of all rounds.
    """

    def __init__(self, plan: Plan | None) -> None:
        self.plan = plan
        self.work = Worklist()
        self.window = Window()
        self.plugs = Plugs()
        self.answered = False
        self.used: tuple[str, ...] = ()
        """The maps of names that were shown last."""
        self._console, self._on_term = terminal_output.interactive(), signal.getsignal(signal.SIGTERM)
        self._drawn = LiveRender("")

    def __enter__(self) -> "Watch":
        """On a terminal, SIGTERM is Ctrl-C meanwhile, unless it is handled already."""
        if self._console and self._on_term is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        return self

    def __exit__(self, *problem: object) -> None:
        if self._console:
            terminal_output.say("")  # the cursor is at the end of the screen
            signal.signal(signal.SIGTERM, self._on_term)

    def greet(self, words: str) -> None:
        """Explains the first round on a terminal: it is the longest."""
        if self._console:
            self._draw(self._console, words)

    def _draw(self, console: Console, view: RenderableType) -> None:
        """Draws over what was drawn last, in one write. Unlike Rich's `Live` it never hides the cursor, so that nothing
        has to be restored, whenever a signal comes.
        """
        self._drawn.set_renderable(view)
        console.print(self._drawn.position_cursor(), self._drawn)

    def take(self, seen: Seen, read: int, asked: int, seconds: float) -> None:
        """Evaluates one round and shows it. Raises CommandError if there is no plan and none can be inferred."""
        from truerail.rounds import evaluate

        self.window.put(seen.readings)
        snapshot = seen.snapshot()
        if self.plan is None:
            self.plan, _ = inferred(snapshot)
        round = Round(self.plan, snapshot, self.window.view(), self.plugs)
        self.plugs = round.plugs
        changes, used = self.work.update(evaluate(round, notes=seen.notes)), round.cabling.identity.fit.used
        self.answered |= any(not reading.error for reading in seen.readings)
        at = snapshot.at.astimezone().strftime("%H:%M:%S")
        if console := self._console:
            (width, height), status = console.size, status_line(at, read, asked, seconds)
            self._draw(console, screen(self.work, self.plan, used, width=width, height=height, status=status))
            return
        for note in used if used != self.used else ():
            terminal_output.say(f"{at} {note}")
        self.used = used
        for change in changes:
            terminal_output.say(f"{at} {line_of(change, self.plan)}")
        if changes or self.work.round == 1:
            terminal_output.say(f"{at} {totals(self.work)}")


def replay(capture: Path, shown: Watch) -> Iterator[tuple[Seen, int, int]]:
    """The rounds of a capture, oldest first, with the numbers of devices polled and read. Raises CommandError."""
    from truerail.transport.replay import read_capture

    with refusing(CaptureError):
        for name in read_capture(capture, only=()).rounds or (None,):
            seen = read_capture(capture, devices=shown.plan.devices if shown.plan else None, round_name=name)
            answered = {reading.device for reading in seen.readings if not reading.error}
            yield seen, len(seen.devices_seen), len(answered)
