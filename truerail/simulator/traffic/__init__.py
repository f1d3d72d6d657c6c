"""Traffic over a simulated fabric: jobs, paths by hash, back-pressure, faults, and the resulting counters.

Flows are fluids: each step is one interval of steady rates, not a run of packets. The truth is known.
"""

from truerail.simulator.traffic.counter_polls import Polls
from truerail.simulator.traffic.flow_faults import FlowFault, FlowFaultKind
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.flow_simulation import FlowSimulation, flows
from truerail.simulator.traffic.flow_truth import FlowTruth
from truerail.simulator.traffic.habits import HABITS, LATER, MISCONFIGURED, Habits
from truerail.simulator.traffic.hashing import Hash
from truerail.simulator.traffic.traffic_jobs import Job, Pattern

__all__ = [
    "HABITS",
    "LATER",
    "MISCONFIGURED",
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
    "flows",
]
