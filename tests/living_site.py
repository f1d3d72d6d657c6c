"""A living fabric under a clock of the test's own, gathered and evaluated by the real code."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from truerail.analysis.round import Round
from truerail.model import Evaluation, Snapshot
from truerail.poller import Ambient, Gathered, Limits, Poller
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape
from truerail.simulator.live import LivingFabric, Pace, living_fabric
from truerail.simulator.traffic import FlowFault
from truerail.transport.kept_answers import KeptAnswers

BEGAN = datetime(2026, 11, 20, 14, tzinfo=UTC)
POD = Shape(hosts=16, rails=8, spines=4, uplinks=8)
NEVER = Pace(fault_seconds=(1e9, 1e9), repair_seconds=(1e9, 1e9))
QUICK = Limits(device_seconds=5.0, deadline_seconds=10.0, retries=1)


class Site:
    """A fabric that answers questions, and the time, which stands still between calls of `wait`."""

    def __init__(
        self,
        faults: Sequence[Fault] = (),
        *,
        shape: Shape = POD,
        seed: int = 1,
        pace: Pace = NEVER,
        began: datetime = BEGAN,
        troubles: Sequence[FlowFault] = (),
    ) -> None:
        self.seconds = 1000.0
        self._began = began
        ambient = Ambient(now=lambda: self.now, clock=lambda: self.seconds, sleep=self._sleep, random=lambda: 0.5)
        self.slept: list[float] = []
        self.fabric: LivingFabric = living_fabric(
            faults=faults, seed=seed, troubles=troubles, shape=shape, pace=pace, ambient=ambient
        )
        self.director = self.fabric.director
        self.gatherer = Poller(
            self.fabric.targets,
            self.fabric.transport,
            devices=self.fabric.plan.devices,
            limits=QUICK,
            ambient=ambient,
            kept=KeptAnswers(),  # as the service has it
        )

    @property
    def now(self) -> datetime:
        """The time of day."""
        return self._began + timedelta(seconds=self.seconds)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def wait(self, seconds: float) -> None:
        """Time passes, and whatever the script has for it happens."""
        self.seconds += seconds
        self.director.tick()

    def settle(self) -> None:
        """Waits until LLDP has forgotten what was before."""
        self.wait(self.fabric.living.ether.daemons.ttl_seconds + 1)

    @property
    def at_rest(self) -> bool:
        """Whether nothing has changed for as long as LLDP remembers."""
        return self.seconds - self.fabric.living.changed_at > self.fabric.living.ether.daemons.ttl_seconds

    def round(self, collectors: Collection[str] | None = None) -> Gathered:
        """One round over all devices, for everything or these collectors."""
        loop = asyncio.new_event_loop()  # asyncio.run writes the whole task, answers included, into an error it drops
        try:
            return loop.run_until_complete(self.gatherer.round(collectors=collectors))
        finally:
            loop.close()

    def snapshot(self, collectors: Collection[str] | None = None) -> Snapshot:
        """What one round saw."""
        return self.round(collectors).snapshot()

    def evaluated(self, collectors: Collection[str] | None = None) -> Evaluation:
        """What is said of one round."""
        return evaluate(Round(self.fabric.plan, self.snapshot(collectors)))
