"""Traffic over a simulated fabric: jobs, paths by hash, back-pressure, faults, and the counters that all of it leaves.

Flows are fluids: each step is one stretch of steady rates, not a run of packets. What is true of it is known.
"""

from truerail.simulator.flows.faults import KINDS, FlowFault, FlowFaultKind
from truerail.simulator.flows.habits import HABITS, LATER, Habits
from truerail.simulator.flows.hashing import Hash
from truerail.simulator.flows.jobs import Job, Pattern
from truerail.simulator.flows.paths import Switching
from truerail.simulator.flows.polling import Polls
from truerail.simulator.flows.simulation import FlowSimulation, flows
from truerail.simulator.flows.snapshots import seen_now, snapshot_after
from truerail.simulator.flows.truth import FlowTruth, Victim

__all__ = [
    "HABITS",
    "KINDS",
    "LATER",
    "FlowFault",
    "FlowFaultKind",
    "FlowSimulation",
    "FlowTruth",
    "Habits",
    "Hash",
    "Job",
    "Pattern",
    "Polls",
    "Switching",
    "Victim",
    "flows",
    "seen_now",
    "snapshot_after",
]
