"""Traffic over a simulated fabric: jobs, paths by hash, back-pressure, faults, and the resulting counters.

Flows are fluids: each step is one interval of steady rates, not a run of packets. The truth is known.
"""

from truerail.simulator.traffic.counter_polls import Polls as Polls
from truerail.simulator.traffic.flow_faults import FlowFault as FlowFault
from truerail.simulator.traffic.flow_faults import FlowFaultKind as FlowFaultKind
from truerail.simulator.traffic.flow_faults import FlowTruth as FlowTruth
from truerail.simulator.traffic.flow_routes import Switching as Switching
from truerail.simulator.traffic.flow_simulation import FlowSimulation as FlowSimulation
from truerail.simulator.traffic.flow_simulation import flows as flows
from truerail.simulator.traffic.habits import HABITS as HABITS
from truerail.simulator.traffic.habits import LATER as LATER
from truerail.simulator.traffic.habits import MISCONFIGURED as MISCONFIGURED
from truerail.simulator.traffic.habits import Habits as Habits
from truerail.simulator.traffic.hashing import Hash as Hash
from truerail.simulator.traffic.traffic_jobs import Job as Job
from truerail.simulator.traffic.traffic_jobs import Pattern as Pattern
