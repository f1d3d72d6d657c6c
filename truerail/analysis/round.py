"""One round: a plan, a snapshot, the counters, and the one owner of everything that is derived from them.

What is derived holds what it is made of and never the round, so a round is freed as soon as its last reader is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from truerail.analysis.cabling.joined import Wiring, join
from truerail.analysis.cabling.plugs import Plugs, Replugged
from truerail.analysis.counters.carried import Carried, carried_of
from truerail.analysis.counters.rail_balance import Rails, rails_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.counters.window import CounterView
from truerail.analysis.ecmp.dead import dead_members
from truerail.analysis.ecmp.flow_bounds import FlowBounds, flow_bounds
from truerail.analysis.ecmp.siblings import Siblings, siblings_of
from truerail.analysis.ecmp.uplink_balance import Balance, balance_of
from truerail.analysis.nccl import NcclJob, nccl_job
from truerail.analysis.pfc.culprits import Culprit, storm_culprits
from truerail.analysis.pfc.trees import Pauses, pauses_of
from truerail.analysis.running_jobs import Jobs, jobs_of
from truerail.analysis.trends.link_past import Past, begun
from truerail.analysis.trends.signal_levels import levels_of
from truerail.model.finding import Lasting
from truerail.model.owner import Owner
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Round(Owner):
    """A snapshot under a plan. Each derived value is computed when it is first read; one that raises, each time.

    `counters` are those of the last rounds; None if none were collected. `before` is what the rounds before it show of
    plugs, `earlier` what they show of the links' signals over days; None if they are not followed. `cabled` is the
    wiring of the round before, which is carried over where nothing changed.
    """

    plan: Plan
    snapshot: Snapshot
    counters: CounterView | None = None
    before: Plugs | None = None
    earlier: Past | None = None
    cabled: Wiring | None = None
    jobs_before: Jobs | None = None
    """The jobs of the round before: of schedulers that do not answer now they are the last ones known."""
    lasting: Lasting = field(default_factory=Lasting)
    """The causes of load of the rounds before."""

    @cached_property
    def cabling(self) -> Wiring:
        """The actual cabling, and the state of every planned cable."""
        carried = None if self.cabled is None else self.cabled.of(self.plan, self.snapshot)
        return carried or join(self.plan, self.snapshot, None if self.cabled is None else self.cabled.seen)

    @cached_property
    def nccl(self) -> NcclJob | None:
        """What the logs of NCCL in the snapshot show of jobs; None without any."""
        return nccl_job(self.cabling, self.snapshot)

    @cached_property
    def jobs(self) -> Jobs:
        """The running jobs, as far as schedulers are polled."""
        return jobs_of(self.cabling.index.devices, self.snapshot, self.jobs_before)

    @cached_property
    def plugs(self) -> Plugs:
        """What the rounds up to this one show of plugs, for the next one; without moves from before the counters."""
        oldest = inf if self.counters is None else self.counters.oldest
        return (self.before or Plugs()).after(self.cabling, oldest)

    @property
    def replugged(self) -> Replugged:
        """When plugs were moved; nothing is known of it if the rounds before are not followed."""
        return Replugged() if self.before is None else self.plugs.replugged

    @cached_property
    def telemetry(self) -> Telemetry:
        """The counters of every planned port."""
        return Telemetry(self.cabling, self.counters)

    @cached_property
    def past(self) -> Past:
        """The signals of all links over days, up to this round, for the next one."""
        earlier, plan = self.earlier, self.plan
        if earlier is not None and earlier.links.plan is plan and not earlier.due(self.snapshot.at.timestamp()):
            return earlier
        levels = levels_of(self.cabling, self.telemetry)
        return begun(plan, levels) if earlier is None else earlier.after(plan, levels, self.plugs.replugged.spans)

    @cached_property
    def carried(self) -> Carried:
        """What every planned port carries, in bytes per second."""
        return carried_of(self.telemetry)

    @cached_property
    def rails(self) -> Rails:
        """What the NICs of every host carry on their rails."""
        return rails_of(self.telemetry, self.carried)

    @cached_property
    def balance(self) -> Balance:
        """How evenly every switch spreads its upward traffic."""
        return balance_of(self.telemetry, self.carried)

    @cached_property
    def flow_bounds(self) -> FlowBounds:
        """The least number of flows behind the uplinks of each switch."""
        return flow_bounds(self.balance)

    @cached_property
    def siblings(self) -> tuple[Siblings, ...]:
        """Switches whose idle uplinks a repeated hash explains, or chance."""
        return siblings_of(self.balance, self.flow_bounds)

    @cached_property
    def dead_members(self) -> Mapping[int, float]:
        """Groups of `balance` with one dead uplink, and the chance that it is idle by chance."""
        return dead_members(self.balance, self.flow_bounds, self.siblings)

    @cached_property
    def pauses(self) -> Pauses:
        """The pause trees. Raises InsufficientDataError if no device counts pauses, if there are too few samples, or if
        only frames are counted and the link speed is unknown.
        """
        return pauses_of(self.telemetry)

    @cached_property
    def storm_culprits(self) -> tuple[Culprit, ...]:
        """Where each PFC storm begins. Raises InsufficientDataError like `pauses`."""
        return storm_culprits(self.pauses)
