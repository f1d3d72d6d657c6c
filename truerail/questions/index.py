"""The on-call questions, in the order that `truerail --help` and the API show them.

The file of a question is imported when it is asked or when all are needed, not to list the commands.
"""

from typing import Final

SHORT: Final = {
    "status": "On call: what is wrong now, and what to do first.",
    "where": "On call: a port's path from GPU to uplinks.",
    "job": "On call: is the network slowing this job?",
    "blast": "On call: the impact if a device or port is down.",
    "path": "On call: the hops between two hosts.",
    "diff": "On call: what changed, by cause.",
    "why": "On call: the evidence of a finding or a cause.",
    "storm": "On call: PFC storms, their culprit and victims.",
    "rails": "On call: which rails are out of balance now.",
    "counters": "On call: a port's rates, errors, pauses and FEC.",
    "rates": "",
    "timeline": "On call: the events of a port or device.",
    "drain": "On call: can I take this out of service?",
    "plan-repair": "On call: what to repair first, and when.",
    "repair-diff": "On call: names to change, as text to review.",
    "jobs": "On call: which jobs are hurt, and by what?",
    "gate": "Before a job: are these hosts fit?",
    "scheduler-topology": "",
    "lint-topology": "Compare a scheduler's topology with what is seen.",
}
"""What the command of a question answers, by the question's name. Empty: it has no command."""
