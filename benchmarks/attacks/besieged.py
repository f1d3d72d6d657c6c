"""A service over a simulated fabric with a hostile device of each kind; `benchmarks.attacks.siege` besieges it.

.venv/bin/python -m benchmarks.attacks.besieged FOLDER STATE HOSTS
"""

import asyncio
import mmap
import random
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.attacks.mutations import DEEP, mutation
from truerail.cli import demo_live
from truerail.errors import ConnectError
from truerail.model import Target
from truerail.model.steady import SteadyClock
from truerail.roles import judge as judge_role
from truerail.roles import service
from truerail.roles.post import Post
from truerail.service.logs import set_up
from truerail.service.plans import PlanInForce
from truerail.simulator.live import LivingFabric, living_fabric
from truerail.transport.protocol import Answer

INTERVAL_SECONDS = 30
_DRAWN = random.Random("siege")  # noqa: S311 - reproducible, and no secret
HOSTILE: dict[str, Callable[[str], str]] = {
    "newlines": lambda text: text[:200] + "\n" * (1 << 20) + text[200:],
    "blanks": lambda text: text + " " * (1 << 20) + "x\n",
    "one line": lambda text: "a" * (4 << 20),
    "16 MB": lambda text: (text or "x: 1\n") * ((16 << 20) // (len(text) or 5)),
    "brackets": lambda text: DEEP[2],
    "quotes": lambda text: '"' * 300_000,
    "octets": lambda text: "".join(map(chr, _DRAWN.choices(range(0xD800), k=5_000))),
    "mutations": lambda text: mutation(text, _DRAWN),
    "nothing": lambda text: "",
}
"""What devices of each kind answer in place of a text."""
KINDS = (*HOSTILE, "hangs", "refuses", "breaks")


class Besieged:
    """The `Transport` of a fabric, of which the last hosts and a spine are hostile. `state` has the step of the clock,
    then for each good device when it was last read, and the longest time that it was not.
    """

    def __init__(self, fabric: LivingFabric, state: Any) -> None:
        names = [target.name for target in fabric.targets]
        hosts = [name for name in names if fabric.living.world.is_host(name)]
        self._bad = dict(zip([*hosts[-len(KINDS) :], names[-1]], [*KINDS, "mutations"], strict=True))
        self._place = {name: place for place, name in enumerate(names, 1) if name not in self._bad}
        self._fabric, self._state, self._apart = fabric, state, len(names)

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order."""
        kind = self._bad.get(target.name)
        if kind == "hangs":
            await asyncio.sleep(1e6)
        if kind == "refuses":
            raise ConnectError(f"{target.address}: connection refused")
        if kind == "breaks":
            raise RuntimeError("a library's fault")
        answers = await self._fabric.transport.ask(target, commands)
        if kind:
            return [Answer(one.command, HOSTILE[kind](one.text), took_seconds=one.took_seconds) for one in answers]
        place, now = self._place[target.name], time.monotonic()
        if before := self._state[place]:
            self._state[place + self._apart] = max(self._state[place + self._apart], now - before)
        self._state[place] = now
        return answers

    async def close(self) -> None:
        """Nothing is open."""


def main(folder: Path, state: Path, hosts: int) -> None:
    """Serves until a signal, whose address is in STATE.url."""
    demo_live.ROUND_SECONDS, service.NICE = INTERVAL_SECONDS, 0  # beside others on its machine
    fabric = living_fabric(hosts + len(KINDS), 8)
    size = 8 * (1 + 2 * len(fabric.targets))
    state.write_bytes(bytes(size))
    with state.open("r+b") as file:
        shared: Any = memoryview(mmap.mmap(file.fileno(), size)).cast("d")
    url = state.with_suffix(".url")
    settings = demo_live.demo_settings(folder, "127.0.0.1", 0)
    set_up(settings.log)

    def wall() -> float:
        return time.time() + float(shared[0])

    clocks = {"clock": lambda: datetime.fromtimestamp(wall(), UTC), "steady": SteadyClock(wall)}
    judging: Any = judge_role
    judging.Watch = partial(judging.Watch, **clocks)  # with clocks that are set

    async def judge(post: Post) -> None:
        playing = asyncio.create_task(fabric.director.play())
        plan = PlanInForce(lambda: fabric.plan, fabric.plan)
        await judging.judge(
            settings, fabric.targets, plan, Besieged(fabric, shared), post, ready=url.write_text, stop=asyncio.Event()
        )
        playing.cancel()

    service.serve(settings, judge)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
