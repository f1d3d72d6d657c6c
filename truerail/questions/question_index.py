"""The on-call questions, in the order that `truerail --help` and the API show them.

The file of a question is imported when it is asked or when all are needed, not to list the commands.
"""

from typing import Final

SHORT: Final = {
    "status": "What is wrong now, and what to do first.",
    "where": "A port's path from GPU to uplinks.",
    "job": "Is the network slowing this job?",
    "blast": "The impact if a device or port is down.",
    "path": "The hops between two hosts.",
    "diff": "What changed, by cause.",
    "why": "The evidence of a finding or a cause.",
    "storm": "PFC storms, their culprit and victims.",
    "rails": "Which rails are out of balance now.",
    "counters": "A port's rates, errors, pauses and FEC.",
    "rates": "",
    "timeline": "The events of a port or device.",
    "drain": "Can I take this out of service?",
    "plan-repair": "What to repair first, and when.",
    "repair-diff": "Names to change, as text to review.",
    "jobs": "Which jobs are affected, and by what?",
    "gate": "Before a job: are these hosts fit?",
    "scheduler-topology": "",
    "lint-topology": "Compare a scheduler's topology with what is seen.",
}
"""What the command of a question answers, by the question's name. Empty: it has no command."""
